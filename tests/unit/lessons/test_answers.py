from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.content import fill
from ultr_core.errors import InputError
from ultr_core.lessons import Exercise, Mistake, read_number
from ultr_core.lessons.answers import MORE_DIGITS, TRIES_BEFORE_SOLUTION, WRONG_SIGN

EXERCISE = Exercise(
    question="?", answer="right", unit="", tolerance=0.02,
    mistakes=(Mistake("upside_down", "It is {upside_down:.2f} upside down."),),
    hint="Think of {right:.0f}.", solution="It is {right:.0f}.", share="percent",
)  # fmt: skip
NUMBERS = {"right": 50.0, "upside_down": 0.02}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.25", 0.25), ("0,25", 0.25), (" 1/4 ", 0.25), ("25 %", 0.25), ("25%", 0.25),
        ("1,000", 1000.0), ("1,000.5", 1000.5), ("0,125", 0.125), ("−3", -3.0), ("1e-3", 0.001),
        (".5", 0.5), ("5.", 5.0), ("22/1,024", 22 / 1024), ("12,34", 12.34),
        ("0.132*0.2*1000", 26.4), ("3 × 2", 6.0), ("2·3/4", 1.5), ("6 ÷ 2 / 3", 1.0),
        ("25 percent", 0.25), ("(13.22-11.09)/3.16", 0.67405), ("1e-3 - 1", -0.999),
        ("-(2 + 1,000)", -1002.0), ("1 − 0.5", 0.5), ("(5 + 4)/2 clicks", 4.5), ("--1", 1.0),
        ("10^0.7", 10**0.7), ("10**0.7", 10**0.7), ("(1/10)^-0.7", 10**0.7), ("10²/52", 100 / 52),
        ("(1+1+1+7)²/(1+1+1+49)", 100 / 52), ("2*(10+1)/2^10", 22 / 1024), ("√9", 3.0),
        ("sqrt(9)", 3.0), ("9·√9/9", 3.0), ("9^1.5/9", 3.0), ("10⁻²", 0.01), ("2^3^2", 512.0),
        ("-2^2", -4.0), ("1000 × 13.2% × 0.2", 26.4), ("100% - 33%", 0.67),
        ("0.7x3.7", 2.59), ("3 x √9", 9.0), ("1 : 4", 0.25), ("(1 + 1 + 1 + 7)**2 / 52", 100 / 52),
        ("13.2 % × (1/5)", 0.0264), ("2 x 2^10 x (3 - 1)", 4096.0), ("4^.5", 2.0),
    ],
)  # fmt: skip
def test_numbers_are_read_as_students_write_them(text: str, value: float) -> None:
    assert read_number(text, "clicks") == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "nan",
        "inf",
        "1/0",
        "1//2",
        "(1",
        "()",
        "2(3)",
        "1e-3+",
        "[1][0]",
        "1_0",
        "1e999",
        "٣",
        "1" * 70,
        "1 2",
        "%",
        "2*",
        "*2",
        "5 apples",
        "10^1000",
        "9^9^9^9^9",
        "0^-1",
        "√-1",
        "(-8)^(1/3)",
        "(1e200*1e200)^-1",
        "x3",
        "3^",
        "sqrt",
        "√",
        "2²2",
        "2***3",
        "3x",
        "1/0*0",
    ],
)
def test_what_is_no_number_gets_one_sentence(text: str) -> None:
    with refused("not_a_number" if text.strip() else "no_answer"):
        read_number(text)


@pytest.mark.parametrize("text", ["3x", "3 ×", "3 x", "3 times", "9^1.5/9 x"])
def test_an_x_behind_a_number_is_times_where_times_are_asked_for(text: str) -> None:
    assert read_number(text, "times as large") == pytest.approx(3)
    with pytest.raises(InputError):
        read_number(text, "clicks")


@given(st.text(max_size=60) | st.text("0123456789.,()+-*/^%x√²³⁻eE :", max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(InputError):
        assert abs(read_number(text)) < float("inf")


@given(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6))
def test_written_numbers_come_back(value: float) -> None:
    assert read_number(f"{value:.8g}") == pytest.approx(value, rel=1e-6)


def test_only_wrong_numbers_count_before_the_solution() -> None:
    tries = ("-50", "apples", "50", "48.9", "0.02")
    wrong = [text for text in tries if EXERCISE.wrong((text,), NUMBERS)]
    assert wrong == ["48.9", "0.02"]
    assert EXERCISE.wrong(tries, NUMBERS) == 2 == TRIES_BEFORE_SOLUTION
    assert EXERCISE.solution_is_due(tries, NUMBERS)
    assert not EXERCISE.solution_is_due(tries[:-1], NUMBERS)


@pytest.mark.parametrize(
    "text", ["50", "49.1", "50 %", "100/2", "0.5", "0.50", "1/2", "50 percent"]
)
def test_right_answers_within_the_tolerance(text: str) -> None:
    verdict = EXERCISE.judge(text, NUMBERS)
    assert verdict.right
    assert verdict.words == fill(EXERCISE.solution, NUMBERS)


def test_wrong_answers_get_the_hint_that_fits() -> None:
    assert EXERCISE.judge("48.9", NUMBERS).words == fill(EXERCISE.hint, NUMBERS)
    known = EXERCISE.judge("0.02", NUMBERS)
    assert not known.right
    assert known.words in {fill(mistake.hint, NUMBERS) for mistake in EXERCISE.mistakes}
    assert mentions(known.words, "0.02")


FRACTION = Exercise(
    question="?", answer="right", unit="share of clicks", tolerance=0.02,
    mistakes=(Mistake("near", "Near."), Mistake("far", "Far.")),
    hint="Think.", solution="Yes.", share="fraction",
)  # fmt: skip
SHARES = {"right": 0.2351, "near": 0.2413, "far": 4.25}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.24", "Yes."), ("0.235", "Yes."), ("23.5", "Yes."), ("24 %", "Yes."), ("24", "Yes."),
        ("0.0838/0.3562", "Yes."), ("23.5 percent", "Yes."), ("0.235 clicks", "Yes."),
        ("0.2", MORE_DIGITS), ("20 %", "Think."), ("0.241", "Near."), ("24.13 %", "Near."),
        ("4.25", "Far."), ("425", "Far."), ("0.239", "Near."), ("0.237", "Yes."), ("0.3", "Think."),
    ],
)  # fmt: skip
def test_a_share_is_read_in_every_notation_and_the_nearest_reading_wins(
    text: str, words: str
) -> None:
    verdict = FRACTION.judge(text, SHARES)
    assert verdict.words == words
    assert verdict.right == (words == "Yes.")
    assert verdict.counts == (words != MORE_DIGITS)


@given(
    st.floats(1e-4, 1e4), st.floats(-0.05, 0.05), st.integers(2, 9),
    st.sampled_from(["", "fraction"]),
)  # fmt: skip
def test_no_rounding_to_two_digits_or_more_is_refused_or_called_a_mistake(
    right: float, off: float, digits: int, share: str
) -> None:
    exercise = Exercise(
        question="?", answer="right", unit="", tolerance=0.001,
        mistakes=(Mistake("wrong", "Wrong."),), hint="", solution="",
        share="fraction" if share else "",
    )  # fmt: skip
    numbers = {"right": right, "wrong": right * (1 + off)}
    assert exercise.judge(f"{right:.{digits - 1}e}", numbers).right


@given(st.floats(0.01, 100), st.floats(0.001, 0.5), st.booleans())
def test_the_tolerance_never_swallows_a_mistake(right: float, off: float, below: bool) -> None:
    wrong = right * (1 - off if below else 1 + off)
    exercise = Exercise(
        question="?", answer="right", unit="", tolerance=0.03,
        mistakes=(Mistake("wrong", "Wrong."),), hint="", solution="",
    )  # fmt: skip
    verdict = exercise.judge(f"{wrong:.8e}", {"right": right, "wrong": wrong})
    assert not verdict.right
    assert verdict.words == "Wrong."


@pytest.mark.parametrize("text", ["-50", "-0.5", "1 - 51", "−50%"])
def test_a_wrong_sign_is_told_and_is_no_try(text: str) -> None:
    verdict = EXERCISE.judge(text, NUMBERS)
    assert (verdict.right, verdict.words, verdict.counts) == (False, WRONG_SIGN, False)
    assert EXERCISE.judge("-40", NUMBERS).words != WRONG_SIGN
