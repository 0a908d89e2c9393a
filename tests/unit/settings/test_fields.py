"""Fields: one meaning of "not a number", "out of range" and "nearest step" at both doors."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.fields import (
    Choice,
    Choices,
    Field,
    Letters,
    Number,
    Switch,
    Text,
    read_fields,
    set_checked,
    write_fields,
)
from ultr_core.jobs.propensities import Ranks

DAYS = Number("days", "Days", 2, 366, default=21)
SHARE = Number("share", "Share", 0.0, 1.0, default=0.5, decimals=2, step=0.05)
SNAPPED = Number("snapped", "Snapped", 0.0, 1.0, default=0.5, decimals=2, step=0.05, snaps=True)
EXACT = Number("exact", "Exact", 0.0, 1.0, default=0.5, decimals=None)
SLIDER = Number("many", "Many", 10, 10**6, default=1_000, stops=(100, 1_000, 45_000))
PRECISION = Number(
    "precision", "Precision", 0.001, 1, default=0.1, decimals=None, stops=(0.05, 0.1, 0.2),
    on_stops=True, percent=True,
)  # fmt: skip
WAY = Choice("way", "Way", {"slow": "By hand", "fast": "By machine"})
BROKEN = Switch("broken", "Broken")
WORDS = Text("words", "Words", longest=5)
CHOSEN = Letters("chosen", "Chosen", "abc", default=("a",))
ALL = (DAYS, SHARE, SNAPPED, EXACT, SLIDER, PRECISION, WAY, BROKEN, WORDS, CHOSEN)


@pytest.mark.parametrize(
    ("field", "asked", "used", "exactly"),
    [
        (DAYS, "30", 30, True), (DAYS, "3e1", 30, True), (DAYS, "367", 21, False),
        (DAYS, "30.5", 21, False), (DAYS, ["4", "5"], 5, False), (DAYS, [], 21, False),
        (SHARE, "0.33", 0.33, True), (SHARE, "0.333", 0.33, False), (SHARE, "-0", 0.0, True),
        (SNAPPED, "0.33", 0.35, False), (SNAPPED, "0.15", 0.15, True),
        (EXACT, "0.12345", 0.12345, True),
        (SLIDER, "40,000", 40_000, True), (SLIDER.on_its_stops(), "40,000", 45_000, False),
        (SLIDER.on_its_stops(), "45,000", 45_000, True), (SLIDER, "4,0", 1_000, False),
        (PRECISION, "20%", 0.2, True), (PRECISION, "0.2", 0.2, True),
        (PRECISION, "15%", 0.2, False), (PRECISION, "x%", 0.1, False),
        (WAY, "fast", "fast", True), (WAY, "By machine", "fast", True), (WAY, "", "slow", False),
        (BROKEN, "True", True, True), (BROKEN, "1", False, False),
        (WORDS, "abcde", "abcde", True), (WORDS, "abcdef", "", False), (WORDS, "a\n", "", False),
        (CHOSEN, "ca", ("a", "c"), True), (CHOSEN, ["b", "c"], ("b", "c"), True),
        (CHOSEN, "-", (), True), (CHOSEN, "ad", ("a",), False),
    ],
)  # fmt: skip
def test_what_a_link_says(field: Field, asked: Any, used: Any, exactly: bool) -> None:
    value, notice = field.read(asked)
    assert (value, notice is None) == (used, exactly)
    assert notice is None or field.label in notice


@pytest.mark.parametrize("field", ALL, ids=lambda field: field.key)
def test_a_default_is_possible_and_comes_back(field: Field) -> None:
    assert field.checked(field.default) == field.default
    assert field.read(field.write(field.default)) == (field.default, None)
    assert field.name == field.key


@given(st.sampled_from(ALL), st.one_of(st.text(), st.floats(), st.none(), st.lists(st.text())))
def test_the_forgiving_door_never_raises_the_strict_agrees(field: Field, asked: Any) -> None:
    value, _ = field.read(asked)
    assert field.checked(value) == value
    assert field.read(field.write(value)) == (value, None)


@pytest.mark.parametrize(
    "value", [True, None, "", "x", "1_0", "٣", math.nan, math.inf, 10**400, []]
)
@pytest.mark.parametrize(
    "field", [DAYS, SHARE, SNAPPED, EXACT, SLIDER], ids=lambda field: field.key
)
def test_the_strict_door_names_the_field(field: Number, value: Any) -> None:
    with pytest.raises(InputError) as raised:
        field.checked(value)
    assert raised.value.about == field.name
    assert mentions(raised.value, field.label, field.wanted)


def test_a_number_as_a_text_has_its_type() -> None:
    assert type(DAYS.checked("5")) is type(DAYS.checked(5.0)) is int
    assert type(SHARE.checked(1)) is float


def test_a_lower_limit_may_be_left_out() -> None:
    clip = Number("clip", "Clip", 0, 1, above=True, decimals=None)
    assert clip.checked("1e-9") == 1e-9
    with refused("clip", 0, 1):
        clip.checked(0)


def test_a_step_stays_within_a_range_that_ends_between_two() -> None:
    noise = Number("noise", "Noise", 0.02, 0.99, default=0.1, decimals=2, step=0.05, snaps=True)
    assert [noise.checked(n) for n in (0.02, 0.03, 0.22, 0.97, 0.99)] == [
        0.05,
        0.05,
        0.2,
        0.95,
        0.95,
    ]
    assert noise.read("0.99")[0] == 0.95


def test_a_design_is_checked_attribute_by_attribute() -> None:
    design = SimpleNamespace(days="30", share=0.333)
    set_checked(design, (DAYS, SHARE))
    assert (design.days, design.share) == (30, 0.33)
    with refused("days", 1):
        set_checked(SimpleNamespace(days=1), (DAYS,))


def test_a_copy_for_a_page_keeps_the_name_in_python() -> None:
    narrow = replace(DAYS, key="live_days", high=30)
    assert (narrow.key, narrow.name) == ("live_days", "days")
    assert narrow.read("31") == (21, narrow.read("31")[1])


def test_a_link_holds_what_differs_from_the_defaults() -> None:
    found, notices = read_fields(ALL, {"days": "30", "way": "no", "share": "0.5", "other": "1"})
    assert found == {field.key: field.default for field in ALL} | {"days": 30}
    assert len(notices) == 1
    assert write_fields(ALL, found) == {"days": "30"}


@pytest.mark.parametrize(
    ("field", "asked", "twice"),
    [
        (Choices("methods", "Methods", {"naive": "Naive", "ips": "IPS"}), "ips,naive, ips", "ips"),
        (Ranks("ranks", "Ranks"), "2,3,2", 2),
    ],
)
def test_a_list_has_each_entry_once(field: Field, asked: str, twice: Any) -> None:
    with refused(field.name, field.label, twice):
        field.checked(asked)
    assert len(field.checked(asked[: asked.rindex(",")])) == 2
