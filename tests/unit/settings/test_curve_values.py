"""Curves in the settings: what is accepted, what a link keeps, what is said and never raised."""

from __future__ import annotations

import math
from urllib.parse import parse_qs

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.curve_values import CURVES, MOST_RANKS, in_few_digits
from ultr_core.errors import InputError
from ultr_core.proofs.small_world import curve_from_text
from ultr_core.settings import Settings

curves = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40)


@given(curves, curves)
def test_a_link_keeps_every_digit(users: list[float], learner: list[float]) -> None:
    settings = Settings(curve=users, assumed_curve=learner)  # type: ignore[arg-type]
    assert Settings.from_query(parse_qs(settings.to_query())) == (settings, ())
    assert Settings(**settings.as_dict()) == settings
    assert hash(settings) == hash(Settings(**settings.as_dict()))
    assert max(settings.curve) == max(settings.assumed_curve) == 1.0


def test_a_curve_is_named_in_link_and_dictionary_only_where_it_is_given() -> None:
    settings = Settings(curve=(1.0, 0.62, 0.45))
    assert settings.to_query() == "p=1,0.62,0.45"
    assert settings.as_dict()["curve"] == [1.0, 0.62, 0.45]
    assert "assumed_curve" not in settings.as_dict()
    assert "curve" not in Settings().as_dict()


def test_only_ratios_are_kept_and_the_scale_is_said() -> None:
    settings, notices = Settings.from_options({"curve": [0.5, 0.25], "assumed_curve": [1, 2]})
    assert (settings.curve, settings.assumed_curve) == ((1.0, 0.5), (0.5, 1.0))
    users, learner = notices
    assert mentions(users, CURVES["curve"].label, "0.5", "rank", 1)
    assert mentions(learner, CURVES["assumed_curve"].label, 2, "rank 2")
    (by_link,) = Settings.from_query({"p": "0.5,0.7"})[1]
    assert mentions(by_link, CURVES["curve"].label, "0.7", "rank 2")


def test_belief_is_right_when_both_are_told_the_same() -> None:
    assert Settings().belief_is_right
    assert not Settings(eta=0.5).belief_is_right
    assert not Settings(curve=(1, 0.5)).belief_is_right
    assert not Settings(assumed_curve=(1, 0.5)).belief_is_right
    assert Settings(curve=(1, 0.5), assumed_curve=(2, 1), eta=0.5).belief_is_right


@pytest.mark.parametrize("name", sorted(CURVES))
@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((1, 0), ("0", "rank 2")),
        ((0, 0), ("0", "rank 1")),
        ((5e-324, 0), ("0", "rank 2")),
        ((-1, -2), ("-1", "rank 1")),
        ((1e-317, 5e-324), ("4.94066e-324", "rank 2")),
        ((1, -0.5), ("-0.5", "rank 2")),
        ((1, math.nan), ("nan", "rank 2")),
        ((math.inf, 1), ("inf", "rank 1")),
        ((1, 1e-9), ("1e-09", "rank 2")),
        ((1, True), ("True", "rank 2")),
        ((1, "x"), ("'x'", "rank 2")),
        ((1, None), ("None", "rank 2")),
        ((1,) * (MOST_RANKS + 1), (MOST_RANKS + 1, MOST_RANKS)),
        ("1,0.5", ("ranks",)),
        (0.5, ("ranks",)),
        (None, ("ranks",)),
        (np.array(1.0), ("ranks",)),
        ({"1": 1}, ("ranks",)),
    ],
)
def test_what_is_no_curve_is_refused_with_the_rank(
    name: str, values: object, named: tuple[object, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        Settings(**{name: values})  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith(f"{CURVES[name].label} ")
    assert caught.value.about == name
    assert mentions(message, *named)
    assert len(message) < 250


@given(st.lists(st.floats(0, 1e308), min_size=1, max_size=4))
def test_what_is_taken_is_taken_again_and_has_no_zero(values: list[float]) -> None:
    try:
        settings = Settings(curve=tuple(values))
    except InputError:
        return
    assert min(settings.curve) > 0
    assert settings.with_values(eta=0.5).curve == settings.curve


@pytest.mark.parametrize("top", [3.0, 7.0, 1e308])
def test_a_millionth_of_the_largest_is_enough(top: float) -> None:
    assert Settings(curve=(top, top * 1e-6)).curve[1] > 0


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("name", sorted(CURVES))
@pytest.mark.parametrize(
    "value",
    [
        "x", ",,", "1,,x", "1,nan", "1,inf", "1,-1", "1,0", "0", "1e400", "1," * 300, "9" * 99_999,
        "\0", "1;drop", None, True, 1, 1j, object(), b"1,0.5", {"a": 1}, [None], [[1]],
        10**5000, nested(100_000),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_hostile_curve_in_a_link_gives_one_notice_and_the_power_law(
    name: str, value: object
) -> None:
    settings, notices = Settings.from_query({CURVES[name].key: value})
    assert settings == Settings()
    assert len(notices) == 1
    assert mentions(notices[0], CURVES[name].label)
    assert len(notices[0]) < 300


@pytest.mark.parametrize("text", ["", "  ", []])
def test_an_empty_curve_is_the_power_law(text: object) -> None:
    assert Settings.from_query({"p": text}) == (Settings(), ())


@pytest.mark.parametrize(
    "text", ["1,0.62,0.45", "1, 0.62; 0.45", "1 0.62 0.45", "1\t0.62\n0.45\n", " 1,0.62,0.45,"]
)
def test_pasted_numbers_may_be_separated_in_the_usual_ways(text: str) -> None:
    assert Settings.from_query({"p": text})[0].curve == (1.0, 0.62, 0.45)


@pytest.mark.parametrize(
    ("text", "rank"), [("1,,0.25", 2), ("1;;2", 2), (",1", 1), ("1, 0.5 0.3, ;2", 4), ("1,2,,", 3)]
)
def test_an_empty_place_is_refused_for_it_would_shift_the_ranks(text: str, rank: int) -> None:
    with refused("curve", "rank", rank):
        CURVES["curve"].from_text(text)
    with refused("", "rank", rank):
        curve_from_text(text, "examination", 5)


def test_an_estimate_is_handed_over_with_four_digits() -> None:
    assert in_few_digits([1.0, 0.123456, 0.00098761]) == (1.0, 0.1235, 0.0009876)
