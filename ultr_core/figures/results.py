"""From results of the core to the pictures that show them, with titles and alternative texts."""

from __future__ import annotations

import numpy as np

from ultr_core.figures.examination import Quantity, examination_curves
from ultr_core.figures.figure import Columns, Figure
from ultr_core.figures.scatter import risk_scatter
from ultr_core.figures.style import Theme
from ultr_core.figures.trained import trained_rankers
from ultr_core.lab import METHODS, Comparison, RiskPicture, assumed_curve, true_curve
from ultr_core.settings import PARAMETERS, Settings

LAST_RANK = 24
"""Ranks shown in the examination figure: the mean length of a list in the paper's data."""

LONGEST = 60
"""Ranks that are shown of a longer curve."""


def risk_figure(picture: RiskPicture, method: str, *, theme: Theme = "light") -> Figure:
    """Estimated against true risk of the ranker family; ``method`` is "naive" or "propensity"."""
    weighted = method == "propensity"
    estimates = picture.weighted if weighted else picture.naive
    rankers: Columns = {
        "true_risk": picture.true_risk,
        "estimate": estimates.value,
        "low": estimates.low,
        "high": estimates.high,
        "expected": estimates.expected,
        "label": picture.labels,
        "kind": picture.kinds,
    }
    label = METHODS[method].label
    alt_text = (
        f"{label} risk estimates of {len(picture.kinds)} rankers against their true risk: "
        f"Kendall's tau is {estimates.kendall:.2f}, where 1 is the true order."
    )
    return risk_scatter(
        rankers,
        method=method,
        alt_text=alt_text,
        title=f"{label}: estimated against true risk",
        law=(picture.slope, picture.intercept) if weighted else None,
        theme=theme,
    )


def comparison_figure(
    comparison: Comparison, *, complete: bool = False, theme: Theme = "light"
) -> Figure:
    """Test risks of all rankers with their intervals over draws.

    Unless the comparison is ``complete``, rankers that are still to come have their place kept.
    """
    summaries = comparison.rankers.values()
    rankers: Columns = {
        "method": list(comparison.rankers),
        "label": [summary.label for summary in summaries],
        "risk": [summary.risk.value for summary in summaries],
        "low": [summary.risk.low for summary in summaries],
        "high": [summary.risk.high for summary in summaries],
    }
    return trained_rankers(
        rankers,
        labels=[m.label for key, m in METHODS.items() if not complete or key in comparison.rankers],
        alt_text=comparison.sentence or "Test risks of the rankers.",
        title="Test risk of trained rankers",
        theme=theme,
    )


def examination_figure(settings: Settings, quantity: Quantity, *, theme: Theme = "light") -> Figure:
    """Examination probabilities, or the weights 1/p, of users and learner over ranks."""
    given = max((len(values) for values in settings.curves.values()), default=0)
    last_rank = min(max(LAST_RANK, given), LONGEST)
    ranks = np.arange(1, last_rank + 1)
    users, learner = true_curve(settings), assumed_curve(settings)
    curves = {"rank": ranks, "users": users.at(ranks), "learner": learner.at(ranks)}
    last = {name: float(values[-1]) for name, values in curves.items()}
    eta = PARAMETERS["eta"]
    return examination_curves(
        curves,
        quantity=quantity,
        alt_text=(
            f"At rank {last_rank} users look with probability {last['users']:.3f}; the learner "
            f"assumes {last['learner']:.3f}, so that a click there weighs "
            f"{1 / last['learner']:.1f}."
        ),
        title="Examination probability by rank"
        if quantity == "probability"
        else "Weight of a click",
        high_eta=float(eta.high),
        eta_step=float(eta.step),
        theme=theme,
    )
