"""Intervention harvesting: swaps that several logging rankers have already made.

Agarwal, Zaitsev, Wang, Li, Najork and Joachims (WSDM 2019): where two rankers put one document of
a query at ranks k and k', its clicks there differ only by examination.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ultr_core.errors import InputError
from ultr_core.propensity.displays import DisplayCounts
from ultr_core.propensity.identification import Comparisons, linked_parts, pair_links
from ultr_core.propensity.points import (
    JACKKNIFE_GROUPS,
    MOST_PAIRED,
    Counts,
    PropensityEstimate,
    checked_last_rank,
    checked_reference,
    doubts,
    explained,
    group_of_query,
    jackknife_points,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Harvest = Literal["pivot", "chain", "all-pairs"]

_MOST_ITERATIONS = 200
_TOLERANCE = 1e-10
# Newton steps in logarithms are cut to this, which keeps them where the likelihood is concave.
_LONGEST_STEP = 1.0


@dataclass(frozen=True, eq=False)
class InterventionalSets:
    """Comparable clicks for every pair of ranks, by jackknife group.

    A document shown n times at k and n' times at k', clicked c and c' times, adds c n'/(n + n') to
    the clicks at k and c' n/(n + n') to those at k' (weights of Mantel and Haenszel, 1959): both
    represent the same n n'/(n + n') impressions, whatever the document's relevance, and the ratio
    of the sums tends to p_k / p_k'.

    clicks: float64 [groups, K, K]; entry [g, k - 1, k' - 1] holds the clicks at k on documents that
        were also shown at k'.
    exposure: float64 [K, K], symmetric, the impressions they represent; 0 for a pair never shown.
    counts: impressions and clicks at each rank of the documents that were compared.
    shown: bool [K], whether anything was logged at each rank.
    """

    clicks: FloatArray
    exposure: FloatArray
    counts: Counts
    shown: BoolArray

    @property
    def pairs(self) -> IntArray:
        """The pairs of ranks k < k' at which some document was shown, int64 [pairs, 2]."""
        return np.argwhere(np.triu(self.exposure, 1) > 0) + 1


def interventional_sets(displays: DisplayCounts, last_rank: int) -> InterventionalSets:
    """Collect the documents that were shown at more than one of the ranks 1..K.

    Raises InputError if there are none, since a single ranker that never moves a document gives
    nothing to harvest, or if K is not a whole number from 1 to ``MOST_PAIRED``.
    """
    last_rank = checked_last_rank(last_rank, MOST_PAIRED)
    clicks = np.zeros((JACKKNIFE_GROUPS, last_rank, last_rank))
    exposure = np.zeros((last_rank, last_rank))
    kept = (displays.rank <= last_rank) & (displays.impressions > 0)
    document, place = displays.document[kept], displays.rank[kept] - 1
    shown, clicked = displays.impressions[kept].astype(float), displays.clicks[kept].astype(float)
    group = group_of_query(displays.query[kept], document)
    starts = np.flatnonzero(np.diff(document, prepend=document[:1] - 1))
    sizes = np.diff(np.append(starts, document.size))
    for size in np.unique(sizes[sizes > 1]):
        first = starts[sizes == size]
        for i in range(size):
            for j in range(i + 1, size):
                a, b = first + i, first + j
                both = shown[a] + shown[b]
                np.add.at(clicks, (group[a], place[a], place[b]), clicked[a] * shown[b] / both)
                np.add.at(clicks, (group[a], place[b], place[a]), clicked[b] * shown[a] / both)
                np.add.at(exposure, (place[a], place[b]), shown[a] * shown[b] / both)
    exposure = exposure + exposure.T
    if not exposure.any():
        raise InputError(
            "No document was shown at two ranks, so there is nothing to harvest; run swaps, or "
            "log with two rankers.",
            "two_rankers",
        )
    compared = np.repeat(sizes > 1, sizes)
    counts = Counts(
        np.bincount(place[compared], weights=shown[compared], minlength=last_rank),
        np.bincount(place[compared], weights=clicked[compared], minlength=last_rank),
    )
    logged = np.bincount(place, minlength=last_rank) > 0
    return InterventionalSets(clicks, exposure, counts, logged)


def harvest(
    sets: InterventionalSets, *, method: Harvest = "all-pairs", reference: int = 1
) -> PropensityEstimate:
    """p_r / p_reference from harvested interventions, with jackknife intervals.

    "pivot": only pairs with the reference rank; "chain": products of the ratios of neighbouring
    ranks; "all-pairs": one likelihood for all pairs (`all_pairs_curve`). Ranks that such pairs do
    not link with the reference by clicks in both directions are missing (see `Links`).

    Raises InputError if the method is unknown, the reference is outside the ranks, no compared
    document was clicked, or no rank is linked to the reference.
    """
    ranks = len(sets.exposure)
    reference = checked_reference(reference, ranks)
    if not sets.clicks.any():
        raise InputError(
            "No document that was shown at two ranks was clicked, so ranks cannot be compared.",
            "no_click",
        )
    if method not in _WAYS:
        raise InputError(
            f"{method!r} is not a harvesting method; choose from {', '.join(_WAYS)}.", "harvest_way"
        )
    curve, compares, where = _WAYS[method]
    pairs = sets.pairs[compares(sets.pairs, reference)]
    links = pair_links(pairs, sets.clicks.sum(axis=0), sets.shown, where)
    links.require(reference)
    gaps = links.gaps(reference)
    points = jackknife_points(
        lambda clicks: curve(clicks, reference), sets.clicks, sets.counts, reference
    )
    points = explained(points, gaps)
    return PropensityEstimate(method, reference, points, len(pairs), doubts(points, gaps), gaps)


def harvest_ratios(
    displays: DisplayCounts, *, method: Harvest, last_rank: int, reference: int
) -> FloatArray:
    """The ratios of `harvest` alone, float64 [K]; NaN where there is none."""
    clicks = interventional_sets(displays, last_rank).clicks.sum(axis=0)
    return _WAYS[method][0](clicks, reference)


def _pivot_curve(clicks: FloatArray, reference: int) -> FloatArray:
    place = reference - 1
    ratios = _divided(clicks[:, place], clicks[place])
    ratios[place] = 1.0
    return ratios


def _with_pivot(pairs: IntArray, reference: int) -> BoolArray:
    found: BoolArray = (pairs == reference).any(axis=1)
    return found


def _chain_curve(clicks: FloatArray, reference: int) -> FloatArray:
    place = reference - 1
    steps = _divided(np.diag(clicks, -1), np.diag(clicks, 1))
    steps[steps <= 0] = np.nan
    curve = np.ones(len(clicks))
    curve[place + 1 :] = np.cumprod(steps[place:])
    curve[:place] = np.cumprod(1.0 / steps[:place][::-1])[::-1]
    return curve


def _neighbours(pairs: IntArray, reference: int) -> BoolArray:
    found: BoolArray = pairs[:, 1] - pairs[:, 0] == 1
    return found


def all_pairs_curve(clicks: FloatArray, reference: int) -> FloatArray:
    """p_r / p_reference that maximise the likelihood of all pairs of ranks, float64 [K].

    Clicks at k of documents also shown at k' are Poisson with mean h_kk' p_k r_kk', where r_kk' is
    the mean relevance of the pair's documents: one parameter for each unordered pair, and
    r_kk' = r_k'k. Its maximum is (A_kk' + A_k'k) / (h_kk' (p_k + p_k')), and what remains,

        sum over pairs of A_kk' log(p_k / (p_k + p_k')) + A_k'k log(p_k' / (p_k + p_k')),

    is the model of Bradley and Terry (1952), concave in log p. The WSDM 2019 paper has the
    binomial in place of the Poisson likelihood; both have the same expectation equations.

    clicks A [K, K]. Ranks that are not linked to the reference by clicks both ways are NaN.
    """
    wins = clicks.sum(axis=1)
    winner, loser = np.nonzero(clicks > 0)
    part = linked_parts(winner, loser, len(clicks), strong=True)
    usable = (part == part[reference - 1]) & (wins > 0)
    curve = np.full(len(clicks), np.nan)
    curve[reference - 1] = 1.0 if wins[reference - 1] > 0 else np.nan
    if np.count_nonzero(usable) < 2 or not usable[reference - 1]:
        return curve
    inner = clicks[np.ix_(usable, usable)]
    curve[usable] = np.exp(_bradley_terry(inner))
    divided: FloatArray = curve / curve[reference - 1]
    return divided


def _any_pair(pairs: IntArray, reference: int) -> BoolArray:
    return np.ones(len(pairs), dtype=bool)


_Curve = Callable[[FloatArray, int], FloatArray]
_Compares = Callable[[IntArray, int], BoolArray]

_WAYS: Mapping[str, tuple[_Curve, _Compares, Comparisons]] = MappingProxyType(
    {
        "pivot": (_pivot_curve, _with_pivot, "the reference rank"),
        "chain": (_chain_curve, _neighbours, "a neighbouring rank"),
        "all-pairs": (all_pairs_curve, _any_pair, "another rank"),
    }
)
"""Curve from clicks [K, K] and a reference, which of the pairs of ranks [pairs, 2] it
uses, and in words where else a document must be shown."""


def _bradley_terry(clicks: FloatArray) -> FloatArray:
    """Log strengths that maximise the concave likelihood of `all_pairs_curve`, by Newton steps."""
    met, total = clicks + clicks.T, clicks.sum(axis=1)
    strength = np.zeros(len(clicks))
    for _ in range(_MOST_ITERATIONS):
        share = expit(strength[:, None] - strength)
        slope = total - (met * share).sum(axis=1)
        bend = met * share * (1.0 - share)
        curvature = np.diag(bend.sum(axis=1)) - bend
        # Only differences matter: the first strength stays where it is.
        step = np.linalg.solve(curvature[1:, 1:], slope[1:])
        longest = float(np.abs(step).max())
        strength[1:] += step * min(1.0, _LONGEST_STEP / longest) if longest > 0 else 0.0
        if longest < _TOLERANCE:
            break
    return strength


def pair_relevance(sets: InterventionalSets, curve: FloatArray) -> FloatArray:
    """Mean click probability of each pair's documents once examined, r_kk', float64 [pairs].

    One number for each row of ``sets.pairs``, up to the scale of ``curve`` [K]; NaN where the curve
    is NaN.
    """
    k, other = sets.pairs.T - 1
    clicks = sets.clicks.sum(axis=0)
    relevance: FloatArray = (clicks[k, other] + clicks[other, k]) / (
        sets.exposure[k, other] * (curve[k] + curve[other])
    )
    return relevance


def _divided(upper: FloatArray, lower: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(
        upper, lower, out=np.full(upper.shape, np.nan), where=lower > 0
    )
    return quotient
