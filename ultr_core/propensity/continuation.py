"""Lambda from a log: how often users continue after a click, whatever is relevant.

At each place of a list, users who have not clicked yet are all still there. Of those who have, some
left, and their click rate at the same place is lower by the share that is still there:

    sum (C_1+ I_0 + C_0 (T - L)) / N = lambda sum C_0 T / N

over the documents of fixed lists, in expectation. Of a document, C_0 and C_1+ are clicks without
and with a click above; I_0 impressions without one, L with one or more; T the clicks above in all
of its N impressions. L_h impressions with h or more clicks above leave lambda L_h - L_{h+1} users
who are still there with h, for each of them stayed after its last click or clicked again; summed
over h that is lambda T - (T - L). No presentation meets itself in a product, so that the equation
holds from two presentations of a list up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ultr_core.corpus.ranking import query_of_document, query_sums
from ultr_core.errors import InputError
from ultr_core.users.click_log import ClickLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

FEWEST_QUERIES = 20
"""Queries that must tell something, for their spread is the interval."""

FEWEST_LATER = 20
"""Clicks below another click; with fewer the interval is not the one that it claims to be."""


@dataclass(frozen=True)
class ContinuationEstimate:
    """Lambda with its 95% interval over queries.

    queries: how many say something. later_clicks: clicks below another click. A value above 1 is
    not cut: it says that users do not leave after a click, or not as assumed.
    """

    value: float
    standard_error: float
    low: float
    high: float
    queries: int
    later_clicks: int


def estimate_continuation(log: ClickLog) -> ContinuationEstimate:
    """Estimate the probability lambda of continuing after a click.

    log: from fixed whole lists, with rows by clicks above (`count_by_clicks_above`, or
    `simulate_leaving`). It assumes that users leave only after a click, with the same lambda after
    every click; nothing is assumed about examination, noise and relevance. Value: the ratio of the
    sums above; interval: Student's t on the spread of the queries' parts of it, cut at 0.

    Raises InputError where lambda is not identified: without a click below a click, with documents
    that are not shown at one place in each presentation, with fewer than ``FEWEST_LATER`` clicks
    below another or ``FEWEST_QUERIES`` queries that compare users with and without a click.
    """
    _require_fixed_lists(log)
    shown, clicks, above = log.impressions, log.clicks, log.context
    before = above == 0
    first, later, free, ever, times = (
        log.sum_by_document(values.astype(np.float64))
        for values in (
            clicks * before, clicks * ~before, shown * before, shown * ~before, shown * above,
        )
    )  # fmt: skip
    of_draw = 1.0 / np.maximum(log.impressions_per_document, 1)
    right = (later * free + first * (times - ever)) * of_draw
    left = first * times * of_draw
    of_query = np.stack([query_sums(values, log.query_offsets) for values in (right, left)])
    telling = of_query[:, of_query[1] > 0]
    _require_enough(int(later.sum()), telling.shape[1])
    value = float(of_query[0].sum() / of_query[1].sum())
    spread = of_query[0] - value * of_query[1]
    queries = telling.shape[1]
    error = float(np.sqrt(queries / (queries - 1) * (spread @ spread)) / of_query[1].sum())
    half = float(stdtrit(queries - 1, 0.975)) * error
    return ContinuationEstimate(
        value, error, max(0.0, value - half), value + half, queries, int(later.sum())
    )


def _require_fixed_lists(log: ClickLog) -> None:
    """Raise InputError unless each document of a query is at one rank in each of its draws."""
    lowest, highest = np.full((2, log.n_documents), [[np.iinfo(np.int64).max], [0]])
    np.minimum.at(lowest, log.document, log.rank)
    np.maximum.at(highest, log.document, log.rank)
    drawn = log.draws[query_of_document(log.query_offsets)]
    moved = (highest > 0) & ((lowest != highest) | (log.impressions_per_document != drawn))
    if moved.any():
        raise InputError(
            f"Document {int(np.argmax(moved))} (counted from 0) is not at one rank in each "
            "presentation of its query; λ is compared within fixed lists, so give each list that "
            "was shown as a separate query.",
            "whole_lists",
        )


def _require_enough(later: int, queries: int) -> None:
    if later < FEWEST_LATER:
        raise InputError(
            f"The log has {counted(later, 'click')} below another click of the same presentation, "
            f"and {FEWEST_LATER} are needed to estimate λ; rows must be counted by clicks above.",
            "continuation",
        )
    if queries < FEWEST_QUERIES:
        raise InputError(
            f"In {counted(queries, 'query', 'queries')} a document was clicked without a click "
            f"above it and shown below one in another presentation, and {FEWEST_QUERIES} are "
            "needed to estimate λ; this requires queries that are shown more than once.",
            "continuation",
        )
