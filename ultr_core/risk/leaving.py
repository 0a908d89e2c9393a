"""Exact moments of estimated risks where users may leave after a click: their clicks depend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets
from ultr_core.errors import InputError
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.risk.inputs import checked_places
from ultr_core.users.leaving import LeavingUsers, by_rank

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeavingMoments:
    """Mean and variance of one presentation's contribution for each query, float64 [queries]."""

    mean: FloatArray
    variance: FloatArray

    @property
    def expected_risk(self) -> float:
        """E[R_hat(S)], with queries drawn uniformly."""
        return float(self.mean.mean())

    def variance_of_risk(self, query_draws: int) -> float:
        """Var[R_hat(S)] = (1 / N) (mean of the variances + variance of the means)."""
        return float(self.variance.mean() + self.mean.var()) / query_draws


@dataclass(frozen=True, eq=False)
class _Below:
    """What the documents from one rank down contribute, by clicks above, [queries, clicks above].

    left: by those who have left, for an impression counts without them. mean, second: first and
    second moments of those who are still there.
    """

    left: FloatArray
    mean: FloatArray
    second: FloatArray


def leaving_moments(
    users: LeavingUsers,
    numbers: RowNumbers,
    relevance: ArrayLike,
    presented: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
) -> LeavingMoments:
    """Mean and variance of one presentation's sum over rows of rank (u clicks + v impressions).

    A recursion from the last rank up, over h, the number of clicks above. With x = rank u,
    y = rank v and a the click probability of a user who is still there,

        M_k(h) = y + a (x + lambda M_{k+1}(h + 1) + (1 - lambda) L_{k+1}(h + 1))
                   + (1 - a) M_{k+1}(h)

    and, for users who have left, L_k(h) = y + L_{k+1}(h); likewise for second moments.

    numbers: u and v of `rows_by_clicks_above` (presented, query_offsets), in its order. relevance
    and presented [documents]; ranks [documents] under the ranker to be judged. Raises InputError
    if the number of rows is wrong, or a document that can be clicked has no finite u.
    """
    clicking = users.at_first.click_probability(relevance, presented)
    steps = by_rank(presented, query_offsets)
    offsets = checked_offsets(query_offsets, clicking.size)
    judged = checked_places(ranks, clicking.size)
    places = np.asarray(presented, np.int64)
    first = np.cumsum(places) - places  # the row of a document without a click above
    if numbers.u.size != int(places.sum()):
        raise InputError(
            f"An estimator gave numbers for {numbers.u.size} rows, but the log "
            f"split by the number of clicks above has {int(places.sum())}.",
            "row_numbers",
        )
    below = _Below(*np.zeros((3, offsets.size - 1, len(steps) + 1)))
    for rank in range(len(steps), 0, -1):
        queries, documents = steps[rank - 1]
        rows = first[documents][:, None] + np.arange(rank)
        a = clicking[documents][:, None]
        if not np.isfinite(np.where(a > 0, numbers.u[rows], 0.0)).all():
            raise InputError(
                f"Clicks are possible at rank {rank}, but their u is not finite.", "not_finite"
            )
        x = judged[documents][:, None] * np.where(a > 0, numbers.u[rows], 0.0)
        y = judged[documents][:, None] * numbers.v[rows]
        _up(below, queries, a, x, y, users.continuation)
    mean = below.mean[:, 0]
    return LeavingMoments(mean, below.second[:, 0] - mean**2)


def _up(
    below: _Below,
    queries: NDArray[np.intp],
    a: FloatArray,
    x: FloatArray,
    y: FloatArray,
    stay: float,
) -> None:
    """One rank up: what is below, and what the documents of this rank add [queries, rank]."""
    rank = x.shape[1]
    gone = below.left[queries, 1 : rank + 1]
    once_more = stay * below.mean[queries, 1 : rank + 1] + (1.0 - stay) * gone
    squared = stay * below.second[queries, 1 : rank + 1] + (1.0 - stay) * gone**2
    mean, second = below.mean[queries, :rank], below.second[queries, :rank]
    z = x + y
    below.left[queries, :rank] += y
    below.mean[queries, :rank] = a * (z + once_more) + (1.0 - a) * (y + mean)
    below.second[queries, :rank] = a * (z**2 + 2.0 * z * once_more + squared) + (1.0 - a) * (
        y**2 + 2.0 * y * mean + second
    )
