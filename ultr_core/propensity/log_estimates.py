"""Examination estimated from a click log of a real system, with everything a reader must know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ultr_core.errors import InputError
from ultr_core.propensity.curves import AssembledCurve, CurveOptions, assemble_curve
from ultr_core.propensity.displays import estimate_click_rates
from ultr_core.propensity.harvesting import harvest, interventional_sets
from ultr_core.propensity.log_files import PresentationLog
from ultr_core.propensity.methods import PROPENSITY_METHODS
from ultr_core.propensity.points import Counts, PropensityEstimate, wilson_interval
from ultr_core.propensity.position_em import estimate_by_em
from ultr_core.propensity.swaps import estimate_swaps

LOG_METHODS = ("swap", "swap-pooled", "pivot", "chain", "all-pairs", "em", "ctr")
"""Keys of the methods that work on a log; the others need an experiment of their own."""


@dataclass(frozen=True, eq=False)
class LogEstimate:
    """A propensity curve from a log.

    estimate: ratios to the landmark. curve: after smoothing and fitting, relative to rank 1.
    rates: impressions and clicks at each rank, whatever was shown there. log: sizes of the log.
    notices: sentences on the log, the estimate and the curve.
    """

    estimate: PropensityEstimate
    curve: AssembledCurve
    rates: Counts
    log: dict[str, int]
    notices: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, as the command line prints it with ``--json``."""
        method = PROPENSITY_METHODS[self.estimate.method]
        return {
            "method": method.key,
            "assumes": method.assumes,
            "landmark": self.estimate.reference,
            "pairs": self.estimate.pairs,
            "log": self.log,
            "ranks": [
                {
                    "rank": point.rank,
                    "propensity": None
                    if point.value is None
                    else {"value": point.value, "low": point.low, "high": point.high},
                    "reason": point.reason,
                    "impressions": point.impressions,
                    "clicks": point.clicks,
                    "click_rate": self._rate(point.rank),
                }
                for point in self.estimate.points
            ],
            "missing": list(self.estimate.missing),
            "above_one": list(self.estimate.above_one),
            "curve": list(self.curve.values),
            "notices": list(self.notices),
        }

    def _rate(self, rank: int) -> dict[str, float] | None:
        shown, clicked = int(self.rates.impressions[rank - 1]), int(self.rates.clicks[rank - 1])
        if shown == 0:
            return None
        low, high = wilson_interval(clicked, shown)
        return {"value": clicked / shown, "low": low, "high": high}


def default_method(log: PresentationLog) -> str:
    """Swaps where the log records them, otherwise harvesting from all pairs of ranks."""
    return "swap" if log.has_swaps else "all-pairs"


def estimate_from_log(
    log: PresentationLog,
    *,
    method: str | None = None,
    landmark: int = 1,
    last_rank: int | None = None,
    options: CurveOptions | None = None,
) -> LogEstimate:
    """Estimate examination at ranks 1..K from a log by one of ``LOG_METHODS``.

    K is the lowest position of the log unless ``last_rank`` cuts it; what was shown below is left
    out and told. Overall click rates, for smoothing, are those of the whole log; for swaps those
    of documents at their own rank.

    Raises InputError for an unknown method, a log without a click, or one in which the method
    finds nothing to compare.
    """
    chosen = default_method(log) if method is None else method
    if chosen not in LOG_METHODS:
        raise InputError(
            f"{chosen!r} is no method for a log; choose from {', '.join(LOG_METHODS)}."
        )
    if not log.clicks.any():
        raise InputError(
            f"None of the {int(log.impressions.sum()):,} impressions of the log was clicked, so "
            "nothing can be estimated from it."
        )
    longest = int(log.position.max())
    ranks = longest if last_rank is None else last_rank
    if not 1 <= landmark <= ranks:
        raise InputError(f"The landmark is rank {landmark}; it must lie between 1 and {ranks}.")
    if chosen != "ctr" and np.unique(log.position).size == 1:
        raise InputError(
            f"Only position {longest} occurs in the log, so no two positions can be compared."
        )
    displays = log.displays()
    rates = displays.by_rank(ranks)
    if chosen in ("swap", "swap-pooled"):
        counts = log.swap_counts(landmark, ranks)
        estimate = estimate_swaps(counts, ratio="pooled" if chosen == "swap-pooled" else "landmark")
        smoother = counts.own_place.rates
    else:
        smoother = rates.rates
        if chosen == "em":
            estimate = estimate_by_em(displays, last_rank=ranks, reference=landmark)
        elif chosen == "ctr":
            estimate = estimate_click_rates(displays, last_rank=ranks, reference=landmark)
        else:
            sets = interventional_sets(displays, ranks)
            estimate = harvest(sets, method=chosen, reference=landmark)  # type: ignore[arg-type]
    curve = assemble_curve(estimate, options, click_rates=smoother)
    notices = (
        *log.notices,
        *_beyond(log, ranks),
        *estimate.notices,
        *curve.notices,
    )
    return LogEstimate(estimate, curve, rates, log.counts(), notices)


def _beyond(log: PresentationLog, ranks: int) -> tuple[str, ...]:
    below = log.position > ranks
    if below.any():
        return (
            f"{int(log.impressions[below].sum()):,} impressions with "
            f"{int(log.clicks[below].sum()):,} clicks below rank {ranks} are left out; beyond the "
            f"curve the value of rank {ranks} holds.",
        )
    return ()
