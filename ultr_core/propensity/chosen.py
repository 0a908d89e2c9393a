"""The examination curves that settings ask for: a power law, or the numbers given rank by rank."""

from __future__ import annotations

from ultr_core.curve_values import CURVES, Values
from ultr_core.feedback.examination import PowerLaw
from ultr_core.propensity.curves import MeasuredCurve, table_curve
from ultr_core.settings import Settings


def true_curve(settings: Settings) -> MeasuredCurve:
    """How the users examine: the given curve, or p_r = (1/r)^η (section 5.1)."""
    return _curve(settings.curve, settings.eta)


def assumed_curve(settings: Settings) -> MeasuredCurve:
    """What the learner divides by: the given curve, or (1/r)^η′ (section 7.5)."""
    return _curve(settings.assumed_curve, settings.assumed_eta)


def _curve(values: Values, eta: float) -> MeasuredCurve:
    return table_curve(values) if values else PowerLaw(eta)


def curve_notices(settings: Settings, longest_list: int | None = None) -> tuple[str, ...]:
    """A sentence for each given curve that ends above the lowest rank of the corpus.

    longest_list: documents of the longest candidate set whose ranks the curve is asked for; None
    where that is not known.
    """
    lists = "where lists are longer" if longest_list is None else f"and lists go to {longest_list}"
    return tuple(
        f"{CURVES[name].label} has ranks 1 to {len(values)}, {lists}: from rank {len(values) + 1} "
        f"on the value of rank {len(values)}, {values[-1]:.3g}, is used."
        for name, values in settings.curves.items()
        if longest_list is None or len(values) < longest_list
    )
