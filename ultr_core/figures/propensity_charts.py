"""From propensity studies and live experiments to pictures, with titles and alternative texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ultr_core.errors import InputError
from ultr_core.figures.figure import Figure
from ultr_core.figures.interval_dots import interval_dots
from ultr_core.figures.propensity_curves import propensity_curves
from ultr_core.figures.style import Theme
from ultr_core.lab.live import LiveResult
from ultr_core.lab.propensity_study import MethodResult
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    AssembledCurve,
    PropensityEstimate,
    RankEstimate,
)
from ultr_core.risk.sign_test import sign_test
from ultr_core.words import part_of

PAPER_RESULTS: Mapping[str, tuple[int, int, int]] = {
    "against production ranker": (87, 48, 83),
    "against naive ranker": (95, 60, 102),
}
"""Wins, losses and ties of Section 7.6."""


def curve_figure(
    found: MethodResult,
    truth: Sequence[float],
    *,
    limit: Sequence[float] | None = None,
    other: MethodResult | None = None,
    theme: Theme = "light",
) -> Figure:
    """The estimate of one method beside the truth [ranks], and beside another method.

    Raises InputError if the method found nothing.
    """
    if found.estimate is None or found.curve is None:
        raise InputError(f"There is no curve to draw: {found.reason}", "no_curve")
    label = PROPENSITY_METHODS[found.key].label
    observed = found.estimate.observed
    last = _last_known(found.estimate, found.curve)
    return propensity_curves(
        found.estimate,
        curve=found.curve,
        truth=truth,
        limit=limit,
        other=None if other is None else other.estimate,
        other_label="" if other is None else PROPENSITY_METHODS[other.key].label,
        alt_text=(
            f"{label}: {part_of(len(observed), len(truth), 'rank')} an estimate; rank {last.rank} "
            f"is examined {last.value:.3g} times as often as rank {found.estimate.reference}, "
            f"truly {truth[last.rank - 1]:.3g} times."
        ),
        title=f"Examination by rank: {label.lower()}",
        theme=theme,
    )


def live_curve_figure(result: LiveResult, *, theme: Theme = "light") -> Figure:
    """The curve that the live experiment's swaps gave, beside the true one."""
    last = _last_known(result.estimate, result.curve)
    reference = result.true_curve[result.estimate.reference - 1]
    return propensity_curves(
        result.estimate,
        curve=result.curve,
        truth=[value / reference for value in result.true_curve],
        alt_text=(
            f"From {result.clicks['swaps']:,} clicks of the swap days: rank {last.rank} is "
            f"examined {last.value:.3g} times as often as rank {result.estimate.reference}; the "
            f"smoothed curve used for training has {result.curve.values[last.rank - 1]:.3g}."
        ),
        title="Propensities from the swap days",
        theme=theme,
    )


def _last_known(estimate: PropensityEstimate, curve: AssembledCurve) -> RankEstimate:
    """The lowest rank that shapes the curve, or the lowest estimate where none is known well."""
    observed = estimate.observed
    known = [point for point in observed if point.rank in curve.known[1:]]
    return (known or observed)[-1]


def curve_risk_figure(
    risks: Mapping[str, tuple[str, str, float]], *, theme: Theme = "light"
) -> Figure:
    """Test risk of rankers trained with different propensities: (label, style, risk) each."""
    rows = pd.DataFrame(
        [
            {"method": style, "label": label, "value": risk, "low": risk, "high": risk,
             "text": f"{risk:.2f}"}
            for label, style, risk in risks.values()
        ]
    )  # fmt: skip
    best = min(risks.values(), key=lambda entry: entry[2])
    words = "; ".join(f"{label} {risk:.2f}" for label, _, risk in risks.values())
    return interval_dots(
        rows,
        name="curve-risks",
        title="Test risk by the propensities used in training",
        alt_text=f"Test risk, lower is better: {words}. Lowest: {best[0]}.",
        x_title="Test risk (lower is better)",
        theme=theme,
    )


def win_share_figure(result: LiveResult, *, theme: Theme = "light") -> Figure:
    """Win shares of the contests that decided anything, with exact intervals, and the paper's."""
    rows = [
        {
            "method": contest.opponent,
            "label": f"Here, against {contest.label.removeprefix('the ')}",
            "value": contest.test.win_share,
            "low": contest.test.low,
            "high": contest.test.high,
            "text": f"{contest.test.win_share:.1%}",
        }
        for contest in result.contests
        if contest.test.decided
    ]
    for (label, counts), method in zip(PAPER_RESULTS.items(), ("production", "naive"), strict=True):
        test = sign_test(*counts)
        rows.append(
            {
                "method": method,
                "label": f"The paper, {label}",
                "value": test.win_share,
                "low": test.low,
                "high": test.high,
                "text": f"{test.win_share:.1%}",
            }
        )
    return interval_dots(
        pd.DataFrame(rows),
        name="win-shares",
        title="Win share of the propensity-weighted ranker",
        alt_text=result.sentence,
        x_title="Win share of decided queries (dashed: no difference)",
        number=".0%",
        level=0.5,
        include=(0.45, 0.75),
        theme=theme,
    )
