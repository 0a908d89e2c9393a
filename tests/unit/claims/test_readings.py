"""Conventions and errata: one entry a place, and numbers under both readings where they differ."""

from __future__ import annotations

import math

import pytest

from tests.meaning import mentions, refused
from ultr_core.claims import (
    COMPARISONS,
    CONVENTIONS,
    READINGS,
    Compared,
    compare,
    small_corpus,
)
from ultr_core.claims.readings import LOGS
from ultr_core.lab import METHODS, Lab


@pytest.fixture(scope="module")
def small() -> Lab:
    return small_corpus()


def rows(found: Compared) -> dict[str, tuple[float, float]]:
    return {label: (ours, other) for label, ours, other in found.rows}


def test_every_erratum_and_question_is_there_once() -> None:
    ids = [name for reading in READINGS for name in reading.ids]
    assert len(ids) == len(set(ids))
    assert {f"E{n}" for n in range(1, 15)} | {f"Q{n}" for n in range(1, 16)} <= set(ids)
    assert len({c.name for c in CONVENTIONS}) == len(CONVENTIONS)
    kinds = {name: reading.kind for reading in READINGS for name in reading.ids}
    assert {name for name, kind in kinds.items() if kind == "misprint"} == {
        "E1", "E2", "E3", "E4", "E6", "E7", "E9",
    }  # fmt: skip
    assert {kinds[name] for name in ("E13", "E14")} == {"omission"}
    assert {kinds[name] for name in ("E5", "E8", "E10", "E11", "E12")} == {"ambiguity"}
    for reading in READINGS:
        assert (reading.kind == "open question") == reading.key.startswith("Q")
        assert all((reading.place, reading.unclear, reading.taken, reading.why))


def test_readings_with_another_have_numbers_and_no_others() -> None:
    assert [r.key for r in READINGS if r.other] == list(COMPARISONS)


@pytest.mark.parametrize("key", COMPARISONS)
def test_both_readings_are_finite_and_differ(key: str, small: Lab) -> None:
    found = compare(key, small)
    assert found == compare(key, small)
    assert all(math.isfinite(n) for _, ours, other in found.rows for n in (ours, other))
    assert any(ours != other for _, ours, other in found.rows)
    assert found.as_dict()["rows"][0]["taken"] == found.rows[0][1]


def test_what_the_readings_do(small: Lab) -> None:
    empty = compare("Q2", small)
    factors = {round(other / ours, 9) for _, ours, other in empty.rows}
    assert len(factors) == 1
    assert f"{factors.pop():.2f} times" in empty.sentence
    log = small.logs().train
    for ours, other in rows(compare("E5", small)).values():
        assert other == pytest.approx(ours * log.query_draws / log.total_clicks)
    assert rows(compare("Q8", small))["rank 10"] == pytest.approx((10.0, 6.0))
    ties = rows(compare("E11", small))
    nothing, everyone_first = ties["w = 0, all scores equal"]
    skyline = ties["Full information (skyline)"][0]
    assert everyone_first < skyline < nothing
    for ours, other in rows(compare("Q3", small)).values():
        assert other < ours
    assert rows(compare("Q12", small))["rank 21"][0] == rows(compare("Q12", small))["rank 50"][0]


@pytest.mark.parametrize("key", COMPARISONS)
def test_numbers_from_a_world_say_which(key: str, small: Lab) -> None:
    """Corpus, noise, clicks and number of logs; what is plain arithmetic has none."""
    found = compare(key, small)
    if key in ("Q8", "Q12"):
        assert found.world == ""
        return
    counts, users = small.world().counts(), small.settings
    for needed in (
        counts["name"],
        f"{counts['test']['queries']} test queries",
        f"ε₋ = {users.eps_minus:g}",
        f"{users.clicks:,} clicks",
        "click log",
    ):
        assert needed in found.world


def test_over_ten_logs_no_ranker_beats_full_information(small: Lab) -> None:
    for key in ("Q1", "Q2"):
        found = compare(key, small)
        losses = {label: ours for label, ours, _ in found.rows}
        assert min(losses, key=lambda label: losses[label]) == METHODS["skyline"].label
        assert mentions(found.world, LOGS)
    assert mentions(compare("Q1", small).sentence, "95%")


def test_a_reading_without_another_is_refused(small: Lab) -> None:
    with refused("two_readings"):
        compare("E1", small)
