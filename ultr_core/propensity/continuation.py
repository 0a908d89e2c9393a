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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from ultr_core.corpus.ranking import query_of_document, query_sums
from ultr_core.errors import InputError, quoted
from ultr_core.users.click_log import ClickLog
from ultr_core.users.grouped_log import GroupedLog
from ultr_core.users.leaving import count_by_clicks_above
from ultr_core.users.simulation import Sessions
from ultr_core.words import counted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEWEST_QUERIES = 20
"""Queries that must tell something, for their spread is the interval."""

FALSE_ALARMS = 0.01
"""Share of logs that contradict the lambda of their users, about."""

FEWEST_LATER = 20
"""Clicks below another click; with fewer the interval is not the one that it claims to be."""


@dataclass(frozen=True)
class ContinuationEstimate:
    """Lambda with its 95% interval over queries.

    queries: number of informative queries. later_clicks: clicks below another click. A value above
    1 is not clipped: it suggests that users do not leave after a click, or do not leave as assumed;
    `probability` is clipped.
    """

    value: float
    standard_error: float
    low: float
    high: float
    queries: int
    later_clicks: int

    @property
    def words(self) -> str:
        """The value with its interval."""
        return f"{self.value:.2f} (95% interval {self.low:.2f} to {self.high:.2f})"

    def contradicts(self, continuation: float) -> bool:
        """Whether another lambda is outside the interval at level 1 - ``FALSE_ALARMS``."""
        reach = float(stdtrit(self.queries - 1, 1 - FALSE_ALARMS / 2)) * self.standard_error
        return abs(self.value - continuation) > reach

    @property
    def probability(self) -> float:
        """The value as a probability, for weights: 1 if it is above 1 by chance.

        Raises InputError if the whole interval is above 1.
        """
        if self.low > 1.0:
            raise InputError(
                f"λ is {self.value:.2f} ({self.low:.2f} to {self.high:.2f}), above 1: users click "
                "more often after a click, so they do not leave as assumed; use λ = 1, or another "
                "model of users.",
                "continuation",
            )
        return min(self.value, 1.0)


def _by_number(document: int) -> str:
    return f"Document {document} (counted from 0)"


def estimate_continuation(
    log: ClickLog, *, name_of: Callable[[int], str] = _by_number
) -> ContinuationEstimate:
    """Estimate the probability lambda of continuing after a click.

    log: a log of fixed, complete lists, split by the number of clicks above
    (`count_by_clicks_above`, or `simulate_leaving`). Users are assumed to leave only after a
    click, with the same lambda after every click; nothing is assumed about examination, noise or
    relevance. Value: the ratio of the sums above; interval: Student's t from the spread of the
    queries' contributions, cut off at 0. name_of: gives the name of a document for the start of a
    message.

    Raises InputError if lambda is not identified: if the log contains only clicks, if its lists
    change or end at different ranks, or if it has fewer than ``FEWEST_LATER`` clicks below another
    or fewer than ``FEWEST_QUERIES`` queries that compare users with and without a click.
    """
    _require_fixed_lists(log, name_of)
    sums = _sums(log.document, log.context, log.impressions, log.clicks, log.n_documents)
    of_query = np.stack([query_sums(values, log.query_offsets) for values in _sides(sums)])
    telling, later = of_query[:, of_query[1] > 0], sums[1]
    _require_enough(int(later.sum()), telling.shape[1])
    value = float(of_query[0].sum() / of_query[1].sum())
    spread = of_query[0] - value * of_query[1]
    queries = telling.shape[1]
    error = float(np.sqrt(queries / (queries - 1) * (spread @ spread)) / of_query[1].sum())
    half = float(stdtrit(queries - 1, 0.975)) * error
    return ContinuationEstimate(
        value, error, max(0.0, value - half), value + half, queries, int(later.sum())
    )


def continuation_without_groups(log: GroupedLog) -> FloatArray:
    """Lambda from the log without each of its groups, float64 [groups], for a jackknife.

    log: one that `estimate_continuation` takes. NaN where a group has all clicks below others.
    """
    groups, found = log.by_group, []
    whole = _sums(log.document, log.context, log.impressions, log.clicks, log.n_documents)
    for group in range(groups.number):
        here = groups.group == group
        row = groups.row[here]
        part = _sums(
            log.document[row], log.context[row], groups.impressions[here], groups.clicks[here],
            log.n_documents,
        )  # fmt: skip
        right, left = (float(side.sum()) for side in _sides(whole - part))
        found.append(right / left if left > 0 else np.nan)
    return np.array(found)


def _sums(
    document: IntArray,
    above: NDArray[np.int32],
    shown: IntArray,
    clicks: IntArray,
    documents: int,
) -> FloatArray:
    """C_0, C_1+, I_0, L and T of each document, from rows of a log, float64 [5, documents]."""
    before = above == 0
    columns = (clicks * before, clicks * ~before, shown * before, shown * ~before, shown * above)
    return np.stack([np.bincount(document, values, documents) for values in columns])


def _sides(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What each document adds to the two sides of the equation, without lambda."""
    first, later, free, ever, times = sums
    of_draw = 1.0 / np.maximum(free + ever, 1.0)
    return (later * free + first * (times - ever)) * of_draw, first * times * of_draw


def log_of_fixed_lists(
    presentation: Iterable[Any],
    query: Iterable[Any],
    document: Iterable[Any],
    position: ArrayLike,
    click: ArrayLike,
) -> ClickLog:
    """Count a click log by the number of clicks above each row, for `estimate_continuation`.

    Arguments, all [rows], one row for each document shown: ids of presentation, query and document,
    position from 1, and whether the document was clicked, 0 or 1. Queries are in the order of their
    sorted ids, and documents in the order of their list.

    Raises InputError if a query has more than one list (two documents at the same position, or one
    document at two positions), if a presentation is incomplete or has two queries, if a position or
    click has any other value, or if the columns differ in length.

    >>> log = log_of_fixed_lists([1, 1, 2, 2], "qqqq", list("abab"), [1, 2, 1, 2], [1, 1, 0, 1])
    >>> list(zip(log.document.tolist(), log.context.tolist(), log.clicks.tolist()))
    [(0, 0, 1), (1, 0, 1), (1, 1, 1)]
    """
    given = [np.asarray(list(each)) for each in (presentation, query, document)]
    place, clicked = _as_numbers(position, "Positions"), _as_numbers(click, "Clicks")
    _require_rows([*given, place, clicked])
    (pages, page), (queries, of_row), (documents, shown) = (
        np.unique(each, return_inverse=True) for each in given
    )
    sizes = np.zeros(queries.size, np.int64)
    np.maximum.at(sizes, of_row, place.astype(np.int64))
    query_of_page = np.zeros(pages.size, np.int64)
    query_of_page[page] = of_row
    whole = np.bincount(page) == sizes[query_of_page]
    slots, first, slot = np.unique(
        np.stack([of_row, place.astype(np.int64)]), axis=1, return_index=True, return_inverse=True
    )
    _require_one_list(shown[first][slot] != shown, given, place, shown[first][slot], documents)
    twice = np.unique(np.stack([slots[0], shown[first]]), axis=1).shape[1] < slots.shape[1]
    repeated = np.unique(np.stack([page, slot]), axis=1).shape[1] < page.size
    if twice or repeated or not whole.all() or (query_of_page[page] != of_row).any():
        raise InputError(
            "Each presentation must have one query and its whole list: a row for every position "
            "from 1 to the last, each with a different document.",
            "whole_lists",
        )
    offsets = np.append(0, np.cumsum(sizes))
    hit = clicked > 0
    sessions = Sessions(
        query_of_page.astype(np.int32), page[hit].astype(np.int64), slot[hit].astype(np.int64)
    )
    return count_by_clicks_above(sessions, slots[1], offsets)


def _as_numbers(values: ArrayLike, what: str) -> FloatArray:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers.", what.lower()[:-1]) from None


def _require_rows(columns: list[NDArray[Any]]) -> None:
    """Raise InputError unless columns [rows] are alike, with positions and clicks at the end."""
    *_, place, clicked = columns
    if len({each.shape for each in columns}) > 1 or place.ndim != 1 or not place.size:
        raise InputError("Give every column of the log the same number of values, at least one.")
    if not ((place >= 1) & (place == np.floor(place)) & np.isfinite(place)).all():
        raise InputError("Positions must be whole numbers of 1 or more.", "position")
    if not np.isin(clicked, (0, 1)).all():
        raise InputError("Clicks must be 0 or 1, with one row for each document shown.", "click")


def _require_one_list(
    moved: NDArray[np.bool_],
    given: list[NDArray[Any]],
    place: FloatArray,
    other: IntArray,
    documents: NDArray[Any],
) -> None:
    """Raise InputError where a row shows another document than the first at its position."""
    if not moved.any():
        return
    row = int(np.argmax(moved))
    first, query, document = documents[other[row]], given[1][row], given[2][row]
    raise InputError(
        f"Query {quoted(str(query))} was shown with {quoted(str(first))} and with "
        f"{quoted(str(document))} at position {int(place[row])}; λ is estimated within fixed "
        "lists, so give each list its own query.",
        "whole_lists",
    )


def _require_fixed_lists(log: ClickLog, name_of: Callable[[int], str]) -> None:
    """Raise InputError unless each document of a query is at one rank in each of its draws."""
    if log.clicks_only:
        raise InputError(
            "Every row was clicked, so the log records only clicks; to estimate λ, add the "
            "documents that were shown but not clicked.",
            "clicks_only",
        )
    lowest, highest = np.full((2, log.n_documents), [[np.iinfo(np.int64).max], [0]])
    np.minimum.at(lowest, log.document, log.rank)
    np.maximum.at(highest, log.document, log.rank)
    query = query_of_document(log.query_offsets)
    drawn, shown = log.draws[query], log.impressions_per_document
    moved = lowest < highest
    if moved.any():
        first = int(np.argmax(moved))
        raise _not_fixed(
            f"{name_of(first)} was shown at positions {lowest[first]} and {highest[first]}"
        )
    partly = (highest > 0) & (shown != drawn)
    if not partly.any():
        return
    # What the log counts at the rank of each document, of any document of its query.
    width = int(highest.max()) + 1
    of_rank = np.bincount(query * width + highest, shown, log.draws.size * width)
    replaced = partly & (of_rank[query * width + highest] >= drawn)
    first = int(np.argmax(replaced if replaced.any() else partly))
    other = "shows another document" if replaced.any() else "is empty, as if lists were cut"
    raise _not_fixed(
        f"{name_of(first)} was shown in {shown[first]:,} of the {drawn[first]:,} presentations of "
        f"its query; in the others, position {highest[first]} {other}"
    )


def _not_fixed(why: str) -> InputError:
    return InputError(
        f"{why}. λ can be estimated only from fixed lists: use a log in which each list has "
        "its own query.",
        "whole_lists",
    )


def _require_enough(later: int, queries: int) -> None:
    if later < FEWEST_LATER:
        raise InputError(
            f"The log has {counted(later, 'click')} below another click in the same presentation, "
            f"but {FEWEST_LATER} are needed to estimate λ"
            f"{'' if later else '; rows must be split by the number of clicks above'}.",
            "continuation",
        )
    if queries < FEWEST_QUERIES:
        raise InputError(
            f"In {counted(queries, 'query', 'queries')} a document was clicked without a click "
            f"above it and shown below a click in another presentation; {FEWEST_QUERIES} such "
            f"queries, each shown more than once, are needed to estimate λ.",
            "continuation",
        )
