from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultr_core.errors import InputError
from ultr_core.lessons import Exercise, Mistake, read_number

EXERCISE = Exercise(
    question="?", answer="right", unit="", tolerance=0.02,
    mistakes=(Mistake("upside_down", "It is {upside_down:.2f} upside down."),),
    hint="Think of {right:.0f}.", solution="It is {right:.0f}.", percent=True,
)  # fmt: skip
NUMBERS = {"right": 50.0, "upside_down": 0.02}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.25", 0.25), ("0,25", 0.25), (" 1/4 ", 0.25), ("25 %", 0.25), ("25%", 0.25),
        ("1,000", 1000.0), ("1,000.5", 1000.5), ("0,125", 0.125), ("−3", -3.0), ("1e-3", 0.001),
        (".5", 0.5), ("5.", 5.0), ("22/1,024", 22 / 1024), ("12,34", 12.34),
    ],
)  # fmt: skip
def test_numbers_are_read_as_students_write_them(text: str, value: float) -> None:
    assert read_number(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", " ", "abc", "nan", "inf", "1/0", "1//2", "--1", "1e999", "٣", "1" * 50, "1 2", "%"]
)
def test_what_is_no_number_gets_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"write (it|a number)") as caught:
        read_number(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(InputError):
        assert abs(read_number(text)) < float("inf")


@given(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6))
def test_written_numbers_come_back(value: float) -> None:
    assert read_number(f"{value:.8g}") == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("text", ["50", "49.1", "50 %", "100/2"])
def test_right_answers_within_the_tolerance(text: str) -> None:
    verdict = EXERCISE.judge(text, NUMBERS)
    assert verdict.right
    assert verdict.words == "It is 50."


def test_wrong_answers_get_the_hint_that_fits() -> None:
    assert EXERCISE.judge("48.9", NUMBERS).words == "Think of 50."
    known = EXERCISE.judge("0.02", NUMBERS)
    assert not known.right
    assert known.words == "It is 0.02 upside down."
