"""Rankers on the wrong side of production, and the headline that counts them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ultr_core.lab import EstimatedRisks, Lab, RiskPicture, Sides, assumed_curve, headline, sides
from ultr_core.lab.rank_sums import SCALE
from ultr_core.settings import Settings

KINDS = ("production", "skyline", "random", "random", "random")
TRUE = [10.0, 8.0, 9.0, 12.0, 13.0]
RIGHT = [5.0, 4.0, 4.5, 6.0, 7.0]


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


def said(value: list[float]) -> EstimatedRisks:
    array = np.array(value)
    return EstimatedRisks(array, array, array, array, 0.0, 0.0, 9.0, 1.0, array, array)


def picture(naive: list[float], weighted: list[float]) -> RiskPicture:
    return RiskPicture(KINDS, KINDS, np.array(TRUE), said(naive), said(weighted), 1.0, 0.0, 9, 9)


BETTER_WRONG = [5.0, 6.0, 5.5, 6.0, 7.0]
ONE_WRONG = [5.0, 6.0, 4.0, 6.0, 7.0]
WORSE_WRONG = [5.0, 4.0, 4.5, 4.0, 3.0]


def test_a_ranker_is_on_the_wrong_side_of_production() -> None:
    found = picture([5.0, 6.0, 5.0, 6.0, 4.0], RIGHT)
    # The third equals production: it is on neither side.
    assert sides(found, found.naive) == Sides(2, 2, better_called_worse=1, worse_called_better=1)
    assert sides(found, found.weighted).wrong == 0


@pytest.mark.parametrize(
    ("naive", "weighted", "numbers"),
    [
        (BETTER_WRONG, RIGHT, ["2"]),
        (ONE_WRONG, RIGHT, ["1", "2"]),
        (RIGHT, WORSE_WRONG, ["2"]),
        (BETTER_WRONG, WORSE_WRONG, ["2", "2"]),
        (BETTER_WRONG, ONE_WRONG, ["2", "1"]),
        (ONE_WRONG, ONE_WRONG, ["1", "2"]),
        (RIGHT, RIGHT, ["4"]),
    ],
)
def test_the_headline_has_few_words_and_its_counts(
    naive: list[float], weighted: list[float], numbers: list[str]
) -> None:
    words = headline(picture(naive, weighted))
    assert len(words.split()) <= 15
    assert re.findall(r"\d+", words) == numbers


def test_which_method_errs_is_not_mixed_up() -> None:
    first = [
        headline(picture(*both)).split()[0] for both in ((ONE_WRONG, RIGHT), (RIGHT, ONE_WRONG))
    ]
    assert first == ["Unweighted", "Weighted"]


def test_headlines_of_real_worlds_are_short(lab: Lab) -> None:
    worlds: tuple[dict[str, Any], ...] = (
        {},
        {"eta": 0.0},
        {"assumed_eta": 1.5},
        {"clicks": 1_000},
        {"eps_minus": 0.3},
        {"eta": 0.0, "assumed_eta": 0.0},
    )
    for changes in worlds:
        words = headline(lab.at(Settings(**changes)).picture())
        assert len(words.split()) <= 15
        assert len(re.findall(r"\d+", words)) <= 2


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"eta": 0.5, "assumed_eta": 1.5, "eps_minus": 0.3, "eps_plus": 0.9},
        {"curve": (1.0, 0.6, 0.45), "assumed_eta": 2.0},
    ],
)
def test_sums_by_rank_give_the_expected_estimates(lab: Lab, changes: dict[str, Any]) -> None:
    settings = Settings().with_values(**changes)
    here = lab.at(settings)
    sums, found = here.rank_sums(), here.picture()
    p, q = here.users.curve.at(sums.ranks), assumed_curve(settings).at(sums.ranks)
    clicks = p * (settings.eps_plus * sums.relevant + settings.eps_minus * sums.others)
    for estimates, weight in ((found.naive, np.ones(p.size)), (found.weighted, 1 / q)):
        exact = estimates.expected - estimates.expected[found.production]
        assert np.abs((clicks @ weight) / sums.queries - exact).max() < 1e-9
    assert np.array_equal(np.array(sums.as_dict()["relevant"]) / SCALE, sums.relevant)
    assert len(sums.shown) == 10 and sums.shown[0] and any(sums.shown[6:])
