"""Expectation maximisation for the position model: examination and attractiveness together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.propensity.displays import DisplayCounts
from ultr_core.propensity.identification import Links, document_links
from ultr_core.propensity.points import (
    JACKKNIFE_GROUPS,
    Counts,
    PropensityEstimate,
    RankEstimate,
    checked_reference,
    doubts,
    explained,
    group_of_query,
    jackknife_points,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_ITERATIONS = 1_000
TOLERANCE = 1e-6
"""Largest change of the logarithm of a ratio of examinations at which iterations stop."""

# Logarithm below which a probability is not followed.
_LOWEST = -30.0

_TOO_RARELY = (
    "EM estimates how attractive each document is. With few clicks per document, attractiveness "
    "alone explains nearly all clicks, as if position hardly mattered: the curve is too flat, so "
    "no interval is given. Harvesting over all pairs does not use attractiveness."
)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of clicked documents, documents numbered from 0."""

    document: IntArray
    place: IntArray
    shown: FloatArray
    clicked: FloatArray


def estimate_by_em(
    displays: DisplayCounts, *, last_rank: int, reference: int = 1
) -> PropensityEstimate:
    """p_r / p_reference in the position model P(click) = p_r g_d by expectation maximisation.

    E step: P(examined | no click) = p_r (1 - g_d) / (1 - p_r g_d), and likewise for attractiveness.
    M step: p_r = (clicks + expected examined skips) / impressions at rank r, and g_d likewise for
    each document (Chuklin, Markov and de Rijke, 2015, chapter 4). Documents without a click do not
    change the maximum and are left out.

    p and g can be separated only through documents that were shown at several ranks; ranks that
    such documents do not link with the reference by clicks in both directions are missing (see
    `Links`).

    An estimated g for each document biases p (the incidental parameters of Neyman and Scott, 1948)
    by about 1 / (clicks per document), while the standard error falls with the total number of
    clicks; so intervals (jackknife over groups of queries) are given only if the median document
    has at least as many clicks as there are documents. They then contained the truth in 93% of
    2,000 cases (400 logs of 200,000 presentations of 25 queries, five ranks) and in 93% of 2,000
    others (400 logs of 40,000 presentations of 12 queries). With fewer clicks a parametric
    bootstrap does not help: corrected for the bias that it detects, its 95% intervals contained the
    truth in 73% of 150 cases (30 logs of 4,000 presentations of 200 queries, five ranks).

    Raises InputError if nothing was clicked, no clicked document was shown at two ranks, no rank is
    linked with the reference, or K or the reference is out of range.
    """
    counts = displays.by_rank(last_rank)
    last_rank = counts.clicks.size
    reference = checked_reference(reference, last_rank)
    kept = (displays.rank <= last_rank) & (displays.impressions > 0)
    document = displays.document[kept]
    _, number = np.unique(document, return_inverse=True)
    clicks = displays.clicks[kept].astype(np.float64)
    has_click = np.bincount(number, weights=clicks) > 0
    if not has_click.any():
        raise InputError("The log has no clicks, so there is nothing to estimate from.")
    if not np.any((np.bincount(number) > 1) & has_click):
        raise InputError(
            "No clicked document was shown at two ranks, so examination and attractiveness cannot "
            "be separated; run swaps, or log with two rankers.",
            "two_rankers",
        )
    links = document_links(displays, last_rank)
    links.require(reference)
    gaps = links.gaps(reference)
    use = has_click[number]
    _, number = np.unique(number[use], return_inverse=True)
    rows = _Rows(
        number, displays.rank[kept][use] - 1, displays.impressions[kept][use].astype(float),
        clicks[use],
    )  # fmt: skip
    group = group_of_query(displays.query[kept][use], document[use])
    start = _fit(rows, np.full(last_rank, 0.5), np.full(int(number.max()) + 1, 0.5))
    if np.median(np.bincount(number, weights=clicks[use])) < number.max() + 1:
        value = _ratios(rows, start[0], reference)
        found = [_without_interval(rank, value, counts) for rank in range(1, last_rank + 1)]
        points = explained(found, gaps)
        notices = (_TOO_RARELY, *doubts(points, gaps))
        return PropensityEstimate("em", reference, points, 0, notices, gaps)

    # The jackknife hands over how much of each group counts: 1, or 0 for the one left out.
    def curve(share: FloatArray) -> FloatArray:
        included = share[group] > 0.5
        part = _Rows(*(column[included] for column in vars(rows).values()))
        return _ratios(part, _fit(part, *start)[0], reference)

    points = explained(jackknife_points(curve, np.eye(JACKKNIFE_GROUPS), counts, reference), gaps)
    return PropensityEstimate("em", reference, points, 0, doubts(points, gaps), gaps)


def _ratios(rows: _Rows, p: FloatArray, reference: int) -> FloatArray:
    """p over its value at the reference rank, NaN at ranks that nothing links with it."""
    shown = np.bincount(rows.place, minlength=p.size) > 0
    links = Links(rows.place + 1, rows.document, rows.clicked > 0, shown)
    return np.where(links.identified(reference), p / p[reference - 1], np.nan)


def _without_interval(rank: int, value: FloatArray, counts: Counts) -> RankEstimate:
    known = bool(np.isfinite(value[rank - 1]))
    return RankEstimate(
        rank,
        float(value[rank - 1]) if known else None,
        impressions=int(counts.impressions[rank - 1]),
        clicks=int(counts.clicks[rank - 1]),
        reason="documents have too few clicks for an interval" if known else "no clicks to compare",
    )


def _fit(rows: _Rows, p: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Iterate from (p, g) until the shape of p hardly moves; ranks without data keep their start.

    Plain EM crawls along nearly flat directions, so pairs of its steps are extrapolated on the
    logarithmic scale (Varadhan and Roland, 2008); an extrapolation that lowers the likelihood is
    replaced by the plain steps.
    """
    ranks = p.size
    weigh = _Weights(
        np.bincount(rows.place, weights=rows.shown, minlength=ranks),
        np.bincount(rows.document, weights=rows.shown, minlength=g.size),
    )
    here = np.log(np.concatenate([p, g]))
    for _ in range(MOST_ITERATIONS):
        one = _em_step(rows, here, ranks, weigh)
        two = _em_step(rows, one, ranks, weigh)
        first, bend = one - here, two - 2.0 * one + here
        length = -max(1.0, float(np.linalg.norm(first)) / max(float(np.linalg.norm(bend)), 1e-300))
        leap = np.clip(here - 2.0 * length * first + length**2 * bend, _LOWEST, 0.0)
        there = _em_step(rows, leap, ranks, weigh)
        if not _log_likelihood(rows, there, ranks) >= _log_likelihood(rows, two, ranks):
            there = two
        change = (there - here)[:ranks]
        here = there
        if float(np.ptp(change)) < TOLERANCE:
            break
    both = np.exp(here)
    return both[:ranks], both[ranks:]


@dataclass(frozen=True, eq=False)
class _Weights:
    """Impressions of each rank and of each document."""

    of_rank: NDArray[Any]
    of_document: NDArray[Any]


def _em_step(rows: _Rows, logs: FloatArray, ranks: int, weigh: _Weights) -> FloatArray:
    """One E and one M step, from and to the logarithms of p and g."""
    both = np.exp(logs)
    p, g = both[:ranks], both[ranks:]
    chance, attraction = p[rows.place], g[rows.document]
    skipped = rows.shown - rows.clicked
    # A click probability of 1 leaves no skip to explain.
    no_click = np.maximum(1.0 - chance * attraction, 1e-300)
    examined = rows.clicked + skipped * chance * (1.0 - attraction) / no_click
    attracted = rows.clicked + skipped * attraction * (1.0 - chance) / no_click
    of_rank = np.bincount(rows.place, weights=examined, minlength=ranks)
    of_document = np.bincount(rows.document, weights=attracted, minlength=g.size)
    p, g = _shares(of_rank, weigh.of_rank, p), _shares(of_document, weigh.of_document, g)
    stepped: FloatArray = np.log(np.maximum(np.concatenate([p, g]), np.exp(_LOWEST)))
    return stepped


def _log_likelihood(rows: _Rows, logs: FloatArray, ranks: int) -> float:
    log_click = logs[:ranks][rows.place] + logs[ranks:][rows.document]
    miss = np.log(np.maximum(-np.expm1(log_click), 1e-300))
    return float(rows.clicked @ log_click + (rows.shown - rows.clicked) @ miss)


def _shares(part: NDArray[Any], whole: NDArray[Any], otherwise: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(part, whole, out=otherwise.copy(), where=whole > 0)
    return quotient
