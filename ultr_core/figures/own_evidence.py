"""Pictures of a reader's own data: examination from their log, and what it says of a ranker."""

from __future__ import annotations

import pandas as pd

from ultr_core.errors import InputError, named
from ultr_core.figures.figure import Figure
from ultr_core.figures.interval_dots import interval_dots
from ultr_core.figures.propensity_curves import propensity_curves
from ultr_core.figures.style import METHOD_STYLES, NEUTRAL_STYLES, Theme
from ultr_core.lab.methods import method_of
from ultr_core.own_data.evaluation import Evaluation
from ultr_core.propensity import ESTIMATORS, PROPENSITY_METHODS
from ultr_core.propensity.log_estimates import LogEstimate
from ultr_core.words import part_of


def evidence_figure(found: Evaluation, *, theme: Theme = "light") -> Figure:
    """Estimated risks on one scale with 95% intervals, and the true risk as a line.

    A normalised estimate is a mean rank of clicks, on another scale, and stays out. Raises
    InputError where there is no estimate to draw.
    """
    rows = [
        {
            "method": _style(report.key),
            "label": report.label,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "text": f"{estimate.value:.2f}",
        }
        for report in found.risks
        if (estimate := report.estimate) is not None
    ]
    if not rows:
        raise InputError("There is no estimate to draw.", "no_estimate")
    level = None if found.true is None else found.true.risk_of_log
    told = "; ".join(
        f"{row['label']} {row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in rows
    )
    truth = "" if level is None else f" True risk by the grades: {level:.2f}."
    return interval_dots(
        pd.DataFrame(rows),
        name="evidence",
        title=f"Estimated risk of {named(found.name)}",
        alt_text=f"Estimated risk, lower is better: {told}.{truth}",
        x_title="Risk, lower is better" + ("" if level is None else " (dashed: by the grades)"),
        level=level,
        theme=theme,
    )


def _style(estimator: str) -> str:
    """The style of an estimator: that of the method it trains, or a neutral one of its own."""
    own = {key: method_of(one).key for key, one in ESTIMATORS.items()}
    if own[estimator] in METHOD_STYLES:
        return own[estimator]
    others = [key for key, method in own.items() if method not in METHOD_STYLES]
    return list(NEUTRAL_STYLES)[others.index(estimator) % len(NEUTRAL_STYLES)]


def estimate_figure(found: LogEstimate, *, theme: Theme = "light") -> Figure:
    """Examination by rank as a log gives it, with intervals, and the curve made of it."""
    label = PROPENSITY_METHODS[found.estimate.method].label
    observed = found.estimate.observed
    last = found.curve.known[-1]
    scale = found.curve.values[found.estimate.reference - 1]
    return propensity_curves(
        found.estimate,
        curve=found.curve,
        alt_text=(
            f"{label}: {part_of(len(observed), len(found.curve.values), 'rank')} an estimate. "
            f"{found.curve.sentence} The curve at rank {last} is "
            f"{found.curve.values[last - 1] / scale:.3g} times rank {found.estimate.reference}."
        ),
        title=f"Examination by rank: {label.lower()}",
        theme=theme,
    )
