"""What breaks and what repairs, enumerated: fractions by hand, and u and v of the estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from ultr_core.proofs import BREAKS
from ultr_core.proofs.repairs import (
    CLIP,
    FITTED,
    FIXED,
    LAST_REPLACED,
    MIXED,
    NUMBERS,
    PAIRS,
    POSITION,
    RANKINGS,
    RELEVANCE,
    TOP_THREE,
    TRUST_MILD,
    TRUST_STEEP,
    Lists,
    SmallCase,
    risk_of,
    swap_ratios,
)
from ultr_core.proofs.small_cases import SMALL_CASES
from ultr_core.proofs.users import dot
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.studies import FIXED_METHODS, REPAIRS, STUDIES, STUDY_METHODS
from ultr_core.users import ClickLog
from ultr_core.users.click_models import TrustBiasModel
from ultr_core.users.examination import TableCurve

CASES = [(name, method) for name, cases in SMALL_CASES.items() for method in cases]

ERRORS = {
    ("few-clicks", "naive"): "-9/2",
    ("few-clicks", "clipped"): "-1",
    ("few-clicks", "direct"): "-4/5",
    ("few-clicks", "doubly-robust"): "-1/5",
    ("trust-steep", "propensity"): "157/50",
    ("leaving", "propensity"): "-8/5",
    ("leaving", "hindsight-doubly-robust"): "-9/25",
    ("cut", "propensity"): "-4",
    ("cut", "doubly-robust"): "-4/5",
    ("wrong-curve", "too-steep"): "15",
    **dict.fromkeys(
        [
            ("few-clicks", "propensity"), ("trust-mild", "affine"), ("trust-steep", "affine"),
            ("leaving", "hindsight"), ("cut", "replace-last"), ("cut", "mixture"),
            ("wrong-curve", "propensity"),
        ],
        "0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", ERRORS)
def test_the_largest_error_is_the_fraction_worked_out_by_hand(place: tuple[str, str]) -> None:
    name, method = place
    case = SMALL_CASES[name][method]
    assert case.largest_error == Fraction(ERRORS[place])
    if case.largest_error == 0:
        assert case.errors == dict.fromkeys(RANKINGS, 0)
        assert case.wrong_pairs == 0


def test_every_break_has_a_repair_that_keeps_all_pairs_and_a_method_that_does_not() -> None:
    assert set(SMALL_CASES) == set(REPAIRS) - {"towers"}  # fitted, not weighted
    for name, cases in SMALL_CASES.items():
        study = STUDIES[name]
        trained = {key for key in study.methods if key not in FIXED_METHODS}
        own = study.repaired_by
        if study.by_learner:  # whatever the learner, its estimator is that of the ranking SVM
            trained = {STUDY_METHODS[key].estimator.key for key in trained}
            assert trained == {case.estimator for case in cases.values()}
            own = ("propensity",)
        else:
            assert set(cases) == trained
        assert all(cases[key].wrong_pairs == 0 for key in own)
        assert max(case.wrong_pairs for case in cases.values()) > 0
    assert all(entry.repair for entry in BREAKS.values())


@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_mean_is_linear_in_the_ranks(name: str, method: str) -> None:
    """What is summed by document is what is summed by list and pattern."""
    case = SMALL_CASES[name][method]
    for new in RANKINGS[::5]:
        assert dot(new, case.means) == case.moments(new)[0]
        assert case.errors[new] == case.moments(new)[0] - risk_of(new)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_its_estimator_is_that_of_the_ranker(name: str, method: str) -> None:
    own = STUDY_METHODS[method].estimator
    assert own is not None
    assert SMALL_CASES[name][method].estimator == own.key


@pytest.mark.parametrize("key", NUMBERS)
def test_u_and_v_are_those_of_the_estimator_to_the_last_digits(key: str) -> None:
    """On the steep trust model, in which all of them differ."""
    case = SmallCase(key, TRUST_STEEP)
    shown = np.arange(1, 5)
    log = ClickLog(np.arange(4), shown, np.full(4, 3), np.ones(4, int), 3, np.array([0, 4]))
    users = TrustBiasModel(
        TableCurve(tuple(float(p) for p in TRUST_STEEP.look[:4])),
        tuple(float(p) for p in TRUST_STEEP.eps_plus[:4]),
        tuple(float(p) for p in TRUST_STEEP.eps_minus[:4]),
    )
    belief = Belief(
        users.curve, clip=float(CLIP), relevance=np.array([float(r) for r in FITTED]), users=users
    )
    found = ESTIMATORS[key].weigh(log, belief)
    exact = case.numbers((1, 2, 3, 4))
    assert found.u == pytest.approx([float(u) for u, _ in exact], abs=1e-15)
    assert found.v == pytest.approx([float(v) for _, v in exact], abs=1e-15)


def test_doubly_robust_is_off_by_the_closed_form() -> None:
    """Bias: sum of rank (r - r_hat) (p / D - 1)."""
    case = SmallCase("doubly-robust", POSITION)
    for new, error in case.errors.items():
        claimed = sum(
            rank * (r - fitted) * (p / max(CLIP, p) - 1)
            for rank, r, fitted, p in zip(new, RELEVANCE, FITTED, POSITION.look, strict=False)
        )
        assert error == claimed


def test_a_factor_and_a_constant_put_no_pair_in_another_order() -> None:
    noisy = replace(POSITION, eps_plus=(Fraction(3, 4),) * 5, eps_minus=(Fraction(1, 4),) * 5)
    case = SmallCase("ips", noisy)
    assert case.largest_error != 0
    assert case.wrong_pairs == 0
    assert all(risk_of(one) != risk_of(other) for one, other in PAIRS)


def test_the_affine_correction_of_other_noise_is_off() -> None:
    wrong = replace(TRUST_STEEP, eps_minus=tuple(p / 2 for p in TRUST_STEEP.eps_minus))
    right = SmallCase("affine", TRUST_STEEP)
    mistaken = [right.errors[new] for new in RANKINGS]
    assert set(mistaken) == {0}

    class Mistaken(SmallCase):
        def numbers(self, ranks: tuple[int, ...]):  # type: ignore[no-untyped-def, override]
            return SmallCase("affine", wrong).numbers(ranks)

    assert Mistaken("affine", TRUST_STEEP).largest_error != 0


TRUSTING = {"trust-mild": TRUST_MILD, "trust-steep": TRUST_STEEP}


@pytest.mark.parametrize("name", TRUSTING)
def test_lines_of_swaps_count_each_document_by_its_click_rate_at_rank_1(name: str) -> None:
    """Alpha_1 r + beta_1 at every rank: a factor and a constant, which keep every pair."""
    users, case = TRUSTING[name], SMALL_CASES[name]["affine-swaps"]
    first = users.look[0]
    assert case.means == tuple(
        first * (users.eps_plus[0] if r else users.eps_minus[0]) for r in RELEVANCE
    )
    assert case.wrong_pairs == 0 < case.largest_error


@pytest.mark.parametrize("name", TRUSTING)
def test_swap_ratios_count_a_document_against_one_that_is_half_relevant(name: str) -> None:
    """Its click rate over that of the other at its rank, times that of the other at rank 1."""
    users, case = TRUSTING[name], SMALL_CASES[name]["swap-ratio"]
    rates = list(zip(users.look, users.eps_plus, users.eps_minus, strict=True))[:4]
    half = [look * (high + low) / 2 for look, high, low in rates]
    for r, mean, (look, high, low), other in zip(RELEVANCE, case.means, rates, half, strict=True):
        assert mean == look * (high if r else low) / other * half[0]
    assert case.wrong_pairs > 0
    # Where noise is constant, the ratios are the propensities.
    noisy = replace(POSITION, eps_plus=(Fraction(3, 4),) * 5, eps_minus=(Fraction(1, 4),) * 5)
    assert swap_ratios(noisy) == POSITION.look


@pytest.mark.parametrize("lists", [FIXED, LAST_REPLACED, MIXED], ids=["fixed", "last", "mixed"])
@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 4)])
def test_variance_over_lists_that_vary_is_the_closed_form(lists: Lists, noise: Fraction) -> None:
    """Sum of rank^2 eps / rho, and of x_d x_e E[p_d p_e] over pairs, less the squared mean.

    x = rank eps / rho; over every list and click pattern, for all 24 rankings.
    """
    users = replace(TOP_THREE, eps_plus=(1 - noise,) * 5, eps_minus=(noise,) * 5)
    case = SmallCase("policy-aware", users, lists=lists)
    chances, looks = [p for p, _ in lists], [[users.look[k - 1] for k in own] for _, own in lists]

    def over_lists(of: Callable[[list[Fraction]], Fraction]) -> Fraction:
        return sum((p * of(look) for p, look in zip(chances, looks, strict=True)), Fraction(0))

    rho = [over_lists(lambda look, d=d: look[d]) for d in range(4)]
    assert min(rho) == 0 or lists is not FIXED
    for new in RANKINGS:
        eps = [1 - noise if r else noise for r in RELEVANCE]
        seen = [d for d in range(4) if rho[d]]
        x = {d: new[d] * eps[d] / rho[d] for d in seen}
        claimed = sum(new[d] ** 2 * eps[d] / rho[d] for d in seen)
        for d, e in permutations(seen, 2):
            claimed += x[d] * x[e] * over_lists(lambda look, d=d, e=e: look[d] * look[e])
        mean = sum(new[d] * eps[d] for d in seen)
        assert case.moments(new) == (mean, claimed - mean**2)
