"""Examination estimated from a click log of a real system, with everything a reader must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.propensity.contexts import in_words
from ultr_core.propensity.curves import (
    AssembledCurve,
    CurveOptions,
    assemble_curve,
)
from ultr_core.propensity.displays import DisplayCounts
from ultr_core.propensity.identification import require_logged, shifted_by_one
from ultr_core.propensity.methods import PROPENSITY_METHODS, PropensityMethod, log_method
from ultr_core.propensity.points import (
    MOST_PAIRED,
    MOST_RANKS,
    Counts,
    Gap,
    PropensityEstimate,
    RankEstimate,
    checked_last_rank,
    checked_reference,
    jackknife_points,
    wilson_interval,
)
from ultr_core.propensity.presentations import PresentationLog
from ultr_core.propensity.trust_swaps import TrustLines, trust_lines, trust_lines_by_group
from ultr_core.users.grouped_log import Units
from ultr_core.words import counted, part_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LogEstimate:
    """A propensity curve from a log.

    estimate: ratios to the landmark. curve: the result of smoothing and fitting, relative to rank
    1. rates: impressions and clicks at each rank, whatever was shown there. log: the log's sizes.
    intervals: what the intervals for the ratios treat as independent. notices: sentences about the
    log, the estimate and the curve. lines: estimates from swaps that show trust bias; None for
    other methods.
    """

    estimate: PropensityEstimate
    curve: AssembledCurve
    rates: Counts
    log: dict[str, int]
    intervals: str
    notices: tuple[str, ...]
    lines: TrustLines | None = None

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, as the command line prints it with ``--json``."""
        method = PROPENSITY_METHODS[self.estimate.method]
        return {
            "method": method.key,
            "assumes": method.assumes,
            "landmark": self.estimate.reference,
            "pairs": self.estimate.pairs,
            "intervals": self.intervals,
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
            "known_well": list(self.curve.known),
            "shape_the_curve": list(self.curve.used),
            "interpolated": list(self.curve.interpolated),
            "guessed": list(self.curve.guessed),
            "fitted": list(self.curve.fitted),
            "outside_interval": list(self.curve.outside),
            "trust": self.trust,
            "notices": list(self.notices),
            **({} if self.lines is None else {"trust_bias": self.lines.as_dict()}),
        }

    @property
    def trust_bias(self) -> str:
        """What swaps say of trust bias, for the file of the curve; "" without swaps."""
        return "" if self.lines is None else self.lines.trust_bias

    @property
    def trust(self) -> str:
        """How many ranks are known well, where the guess begins, and how many clicks it affects."""
        first = self.curve.guess_from
        if first is None:
            return self.curve.sentence
        clicks, total = int(self.rates.clicks[first - 1 :].sum()), int(self.rates.clicks.sum())
        made = part_of(clicks, total, "click", does="was", do="were")
        return f"{self.curve.sentence} {made} made there."

    def _rate(self, rank: int) -> dict[str, float] | None:
        shown, clicked = int(self.rates.impressions[rank - 1]), int(self.rates.clicks[rank - 1])
        if shown == 0:
            return None
        low, high = wilson_interval(clicked, shown)
        return {"value": clicked / shown, "low": low, "high": high}


@dataclass(frozen=True, eq=False)
class ContextEstimates:
    """A propensity curve for each context in a log.

    found: estimates, each keyed by the contexts that share it, usually only one context. log: the
    log's sizes.
    """

    found: Mapping[tuple[str, ...], LogEstimate]
    log: dict[str, int]

    @property
    def curves(self) -> dict[str, tuple[float, ...]]:
        """The values of each context's curve, in the order of the contexts' names."""
        every = {name: one.curve.values for names, one in self.found.items() for name in names}
        return {name: tuple(every[name]) for name in sorted(every)}

    @property
    def trust_bias(self) -> dict[str, str]:
        """`LogEstimate.trust_bias` of each context."""
        return {name: one.trust_bias for names, one in self.found.items() for name in names}

    def as_dict(self) -> dict[str, Any]:
        """The curves as plain values, as the command line prints them with ``--json``."""
        return {
            "log": self.log,
            "contexts": [
                {"names": list(names), **{k: v for k, v in one.as_dict().items() if k != "log"}}
                for names, one in self.found.items()
            ],
        }


def estimate_by_context(
    log: PresentationLog,
    *,
    pool: Sequence[str] = (),
    method: str | None = None,
    landmark: int = 1,
    last_rank: int | None = None,
    options: CurveOptions | None = None,
) -> ContextEstimates:
    """Estimate a curve for each context in a log, by `estimate_from_log` on its rows alone.

    pool: contexts that share one curve. Each curve is relative to p_{z,1} = 1, so users are
    assumed to look at rank 1 equally often in every context.

    Raises InputError if the log has no contexts, a context to pool is unknown, or a curve cannot be
    estimated or has no rank that is known well besides the landmark: the message names the contexts
    of that curve, because only the reader knows which other contexts have similar users.
    """
    names = log.context_names
    if not names:
        raise InputError(
            "The log has no context column; say which column contains the contexts.", "columns"
        )
    log.in_contexts(pool)
    groups: list[tuple[str, ...]] = [(name,) for name in names if name not in pool]
    groups += [tuple(name for name in names if name in pool)] if pool else []
    last_rank = int(log.position.max()) if last_rank is None else last_rank
    found: dict[tuple[str, ...], LogEstimate] = {}
    failed = []
    for group in groups:
        part = log.in_contexts(group)
        try:
            one = estimate_from_log(
                part, method=method, landmark=landmark, last_rank=last_rank, options=options
            )
        except InputError as error:
            failed.append((group, part, str(error)))
            continue
        # Which ranks are known well is not asked of methods that depend on relevance.
        free = log_method(method or default_method(part)).relevance_free
        if free and len(one.curve.known) < min(2, part.positions.size):
            failed.append((group, part, one.curve.sentence))
        found[group] = one
    if failed:
        raise _too_little(failed)
    return ContextEstimates(found, log.counts())


def _too_little(failed: Sequence[tuple[tuple[str, ...], PresentationLog, str]]) -> InputError:
    """What to say of contexts whose traffic gives no curve."""
    each = ", ".join(
        f"{in_words(group)} ({counted(int(part.clicks.sum()), 'click')})"
        for group, part, _ in failed
    )
    noun = "context" if sum(len(group) for group, _, _ in failed) == 1 else "contexts"
    return InputError(
        f"No curve can be estimated for the {noun} {each}: "
        f"{failed[0][2].removesuffix('.')}. Say which contexts are so alike that they can share "
        "one curve, or leave the rows of these contexts out.",
        "pool_contexts",
    )


def default_method(log: PresentationLog) -> str:
    """Swaps if the log records them, otherwise harvesting from all pairs of ranks."""
    return "swap" if log.has_swaps else "all-pairs"


def estimate_from_log(
    log: PresentationLog,
    *,
    method: str | None = None,
    landmark: int = 1,
    last_rank: int | None = None,
    options: CurveOptions | None = None,
) -> LogEstimate:
    """Estimate examination at ranks 1..K from a log; ``method`` is a key or a command name.

    K is the lowest position in the log unless ``last_rank`` is given; rows shown below K are left
    out and reported, and if K is below that position, the curve is extended to it. Overall click
    rates, for smoothing, are those of the whole log; for swaps, those of documents at their own
    rank.

    If the log has sessions, intervals come from leaving out one group of sessions at a time: see
    `session_points`. EM takes too long for that; for its intervals, groups of queries are left out.

    Raises InputError for an unknown method, more ranks than the method allows, a log with no clicks
    or only clicks, or a log in which the method finds nothing to compare with the landmark; the
    message names the cause and the traffic that would help.
    """
    chosen = log_method(default_method(log) if method is None else method)
    if last_rank is not None:
        last_rank = checked_last_rank(last_rank)
    if not log.clicks.any():
        raise InputError(
            f"None of the {counted(int(log.impressions.sum()), 'impression')} in the log was "
            "clicked, so nothing can be estimated from it."
        )
    longest = int(log.position.max())
    # What was never shown cannot be estimated, and pairs of ranks grow with the square.
    ranks = longest if last_rank is None else min(last_rank, longest)
    landmark = checked_reference(landmark, ranks, "landmark")
    most = MOST_PAIRED if chosen.pairwise else MOST_RANKS
    if ranks > most:
        raise InputError(
            f"The log goes down to rank {longest:,}, but this method estimates at most {most:,} "
            f"ranks; leave out the rows below rank {most:,}.",
            "ranks",
        )
    if log.context_names:
        raise InputError(
            f"The log has the contexts {in_words(log.context_names)}, each with its own curve; "
            "estimate the curves by context, or say that no column contains contexts.",
            "contexts",
        )
    log.require_unclicked()
    if chosen.relevance_free and np.unique(log.position).size == 1:
        raise InputError(
            f"Only position {longest} occurs in the log, so no two positions can be compared."
        )
    displays = log.displays()
    wanted = ranks if last_rank is None else last_rank
    rates = displays.by_rank(ranks)
    shifted = shifted_by_one(rates.impressions)
    try:
        require_logged(rates.impressions > 0, landmark)
        estimate, smoother, lines = _estimated(chosen, log, displays, landmark, ranks)
        estimate, intervals, told = _by_session(chosen, log, estimate)
        estimate = _lengthened(estimate, wanted)
        smoother = np.append(smoother, np.zeros(wanted - ranks))
        curve = assemble_curve(estimate, options, click_rates=smoother)
    except InputError as error:
        said = " ".join(filter(None, (str(error), shifted, log.lost)))
        raise InputError(said, error.about) from None
    if not chosen.relevance_free:
        # An interval of click rates says nothing about how much of them is relevance.
        curve = replace(curve, known=(landmark,))
    notices = (
        *log.notices,
        *([shifted] if shifted else []),
        *_beyond(log, ranks),
        *estimate.notices,
        *told,
        *curve.notices,
        *_carried_on(ranks, wanted),
    )
    return LogEstimate(
        estimate, curve, displays.by_rank(wanted), log.counts(), intervals, notices, lines
    )


def _estimated(
    chosen: PropensityMethod,
    log: PresentationLog,
    displays: DisplayCounts,
    landmark: int,
    ranks: int,
) -> tuple[PropensityEstimate, NDArray[np.float64], TrustLines | None]:
    """The method's ratios, the click rates [K] to smooth them with, and the lines of swaps."""
    if chosen.from_swaps is not None:
        counts, group = log.swap_counts(landmark, ranks), log.session_groups
        lines = (
            trust_lines(counts)
            if group is None
            else trust_lines_by_group(log.swaps_by_group(landmark, ranks, group), landmark)
        )
        return chosen.from_swaps(counts), counts.own_place.rates, lines
    assert chosen.from_displays is not None
    estimate = chosen.from_displays(displays, last_rank=ranks, reference=landmark)
    return estimate, displays.by_rank(ranks).rates, None


def _by_session(
    chosen: PropensityMethod, log: PresentationLog, estimate: PropensityEstimate
) -> tuple[PropensityEstimate, str, tuple[str, ...]]:
    """The estimate with intervals by session where there are sessions, and what is said of them."""
    group = log.session_groups
    if group is None:
        return estimate, chosen.intervals, ()
    if chosen.ratios is None:
        return estimate, chosen.intervals, (
            f"The log has sessions, but {chosen.label} has {chosen.intervals}: if the same "
            "query occurs in a session more than once, these intervals are too narrow. Harvesting "
            "and swaps have intervals by session.",
        )  # fmt: skip
    units = Units(int(group.max()) + 1, "session")
    points = session_points(chosen, log, estimate, group)
    return replace(estimate, points=points), units.words, (units.sentence,)


def session_points(
    chosen: PropensityMethod, log: PresentationLog, estimate: PropensityEstimate, group: IntArray
) -> tuple[RankEstimate, ...]:
    """The ratios of an estimate with intervals that leave out a group of sessions at a time.

    On the logarithmic scale, as `jackknife_points` does it: the method's ratios are made again from
    the log without each group. Rows of one session may depend on each other in any way. A rank
    without a click has no interval, for its upper end would take presentations as independent; nor
    has a rank whose swaps have none in `ratio_point`.

    group: int64 [entries of the log], from 0. chosen: a method that has ratios.

    Measured coverage of its 95% intervals: the table in ``scripts/session_intervals.py``.
    """
    assert chosen.ratios is not None
    ratios, reference, ranks = chosen.ratios, estimate.reference, len(estimate.points)
    shown = log.displays()
    swaps = chosen.from_swaps is not None
    if swaps:
        sums = log.swaps_by_group(reference, ranks, group).astype(np.float64)
    else:
        sums = log.displays_by_group(group)

    def curve(left: FloatArray) -> FloatArray:
        if swaps:
            return ratios(left, reference=reference)
        part = replace(shown, impressions=left[0], clicks=left[1])
        try:
            return ratios(part, last_rank=ranks, reference=reference)
        except InputError:
            return np.full(ranks, np.nan)

    found = jackknife_points(curve, sums, shown.by_rank(ranks), reference)
    return tuple(
        point
        if point.value is None or point.rank == reference or (swaps and point.low is None)
        else replace(
            point,
            low=new.low,
            high=new.high,
            standard_error=new.standard_error,
            reason=new.reason or point.reason if new.low is None else "",
        )
        for point, new in zip(estimate.points, found, strict=True)
    )


def _lengthened(estimate: PropensityEstimate, wanted: int) -> PropensityEstimate:
    """The estimate with ranks below the log's last one, of which nothing is known."""
    below = range(len(estimate.points) + 1, wanted + 1)
    if not below:
        return estimate
    unknown = [RankEstimate(rank, None, reason="nothing was logged there") for rank in below]
    gap = Gap("not_logged", tuple(below), unknown[0].reason, "log what is shown there")
    return replace(estimate, points=(*estimate.points, *unknown), gaps=(*estimate.gaps, gap))


def _carried_on(ranks: int, wanted: int) -> tuple[str, ...]:
    if wanted > ranks:
        return (
            f"The log goes down to rank {ranks}; values for ranks {ranks + 1} to {wanted:,} "
            "continue the curve and are not estimates.",
        )
    return ()


def _beyond(log: PresentationLog, ranks: int) -> tuple[str, ...]:
    below = log.position > ranks
    if below.any():
        return (
            f"Left out below rank {ranks}: "
            f"{counted(int(log.impressions[below].sum()), 'impression')} with "
            f"{counted(int(log.clicks[below].sum()), 'click')}; the value of rank {ranks} is used "
            f"there.",
        )
    return ()
