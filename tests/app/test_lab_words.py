"""Words of the lab that read numbers: whatever these are, the words say nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from pages.views.lab import words as lab_words
from pages.views.lab.words import (
    at_rank_ten,
    estimate_formulas,
    law_formula,
    preference,
    sample_sentence,
    two_orders,
)
from tests.app.pages import picture
from tests.meaning import is_text, mentions
from ultr_core.content import read
from ultr_core.lab import Comparison, EstimatedRisks, RiskPicture
from ultr_core.risk import Estimate
from ultr_core.settings import PRESETS, Settings
from ultr_core.words import with_minus

WORDS = read(lab_words.__file__, "lab")


@pytest.mark.parametrize(
    ("true", "said", "right"),
    [
        ([13.0, 10.0], [3.0, 2.0], True),
        ([13.0, 10.0], [2.0, 3.0], False),
        ([10.0, 13.0], [2.0, 3.0], True),
        ([10.0, 13.0], [3.0, 2.0], False),
    ],
)
def test_what_is_said_first_is_taken_for_the_better_one(
    true: list[float], said: list[float], right: bool
) -> None:
    found = picture(true, said, 0.98)
    assert found.preferred(found.weighted) == (
        "skyline" if said[1] < said[0] else "production",
        right,
    )
    told = preference(found, found.weighted)
    first = told.index("skyline") < told.index("production")
    assert first is (said[1] < said[0])
    assert ("wrongly" in told) is not right
    other = preference(picture(true, said, -0.54), picture(true, said, -0.54).weighted)
    assert other != told


def test_what_a_preset_promises_is_the_papers_finding() -> None:
    """The reader's corpus may say otherwise."""
    for preset in PRESETS:
        if any(word in preset.watch for word in ("beats", "hurts", "closes")):
            assert mentions(preset.watch, "paper's")


@pytest.mark.parametrize(
    ("low", "high", "naive", "weighted", "better"),
    [
        (-2.0, -1.0, 0.76, 0.84, "weighted"),
        (1.0, 2.0, 0.84, 0.76, "naive"),
        (1.0, 2.0, 0.76, 0.84, ""),
        (-2.0, -1.0, 0.84, 0.76, ""),
        (-1.0, 1.0, 0.76, 0.84, ""),
        (1.0, 2.0, 0.8, 0.8, ""),
    ],
)
def test_an_order_that_speaks_against_the_trained_rankers_is_told(
    low: float, high: float, naive: float, weighted: float, better: str
) -> None:
    value = np.zeros(2)
    of_naive, of_weighted = (
        EstimatedRisks(value, value, value, value, tau, tau, 9.0, 1.0, value, value)
        for tau in (naive, weighted)
    )
    kinds = ("production", "skyline")
    shown = RiskPicture(kinds, kinds, value, of_naive, of_weighted, 1.0, 0.0, 9, 9)
    excess = Estimate((low + high) / 2, (high - low) / 4, low, high, 5, 5.0)
    found = Comparison(Settings(), {}, {}, 5, 1, 1, excess, None, ())
    told = two_orders(shown, found)
    assert is_text(told, WORDS, "two-orders.better-order") if better else told == ""
    assert not better or mentions(told.partition("(")[0], better)


def bold(text: str) -> list[str]:
    """The values that a sentence stresses."""
    return re.findall(r"\*\*(.*?)\*\*", text)


def test_the_weight_at_rank_ten_is_said_in_words() -> None:
    both = Settings(eta=2.0, assumed_eta=2.0)
    assert bold(at_rank_ten(both, "weight")) == ["100"]
    wrong = Settings(eta=1.0, assumed_eta=2.0)
    assert bold(at_rank_ten(wrong, "weight")) == ["100", "10"]
    assert bold(at_rank_ten(wrong, "probability")) == ["0.1", "0.01"]
    # The last value of a given curve holds for all ranks below it.
    given = Settings(curve=(1.0, 0.5), assumed_curve=(1.0, 0.25))
    assert bold(at_rank_ten(given, "weight")) == ["4", "2"]


def test_formulas_have_the_numbers_of_the_sliders() -> None:
    set_ = Settings(eps_plus=0.9, eps_minus=0.25, assumed_eta=1.5)
    assert "^{\\,1.5}" in estimate_formulas(set_)[-1]
    law = law_formula(
        set_, replace(picture([13.0, 10.0], [3.0, 2.0], 0.9), slope=0.65, intercept=7.125)
    )
    assert "(0.9-0.25)" in law and "0.65\\,R+7.12" in law
    given = estimate_formulas(Settings(assumed_curve=(1.0, 0.5, 0.25)))[-1]
    assert [f"p_{rank}={p:g}" in given for rank, p in ((1, 1), (2, 0.5), (3, 0.25))] == [True] * 3


def test_clicks_that_weigh_the_same_have_no_heaviest_one() -> None:
    alike = picture([13.0, 10.0], [3.0, 2.0], 0.98)
    assert alike.weights_alike
    assert alike.weighted.effective_sample_size == alike.clicks
    assert is_text(sample_sentence(alike), WORDS, "sample.alike")
    weighted = replace(alike.weighted, effective_sample_size=5.0, largest_weight=24.0)
    assert is_text(sample_sentence(replace(alike, weighted=weighted)), WORDS, "sample.unequal")


def test_negative_numbers_have_a_minus_and_ranges_and_names_a_hyphen() -> None:
    assert with_minus("τ = -0.949, (-1) to -0.5") == "τ = −0.949, (−1) to −0.5"
    assert with_minus("1e-3, 3-4, team-draft-2") == "1e-3, 3-4, team-draft-2"


def test_wrong_propensities_are_named_where_the_weighted_ranker_loses_by_them() -> None:
    value = np.zeros(2)
    of_naive, of_weighted = (
        EstimatedRisks(value, value, value, value, tau, tau, 9.0, 1.0, value, value)
        for tau in (0.7, 0.9)
    )
    kinds = ("production", "skyline")
    shown = RiskPicture(kinds, kinds, value, of_naive, of_weighted, 1.0, 0.0, 9, 9)
    excess = Estimate(-2.0, 0.1, -2.2, -1.8, 5, 5.0)
    for settings, blamed in ((Settings(eta=0.8), True), (Settings(), False)):
        told = two_orders(shown, Comparison(settings, {}, {}, 5, 1, 1, excess, None, ()))
        assert is_text(told, WORDS, "two-orders.wrong-propensities") is blamed
        assert is_text(told, WORDS, "two-orders.small-differences") is not blamed
