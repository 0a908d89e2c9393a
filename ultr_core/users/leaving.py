"""Users who may leave after a click: at each click they continue down the list with probability λ.

    P(c_k = 1 | r, clicks above) = P(still there) p_k (eps_plus r + eps_minus (1 - r))

and after every click the user stays with probability lambda. 1 is the position model, 0 the cascade
in which the first click is the last. Whoever clicks at rank k has stayed after each of the h clicks
above it, so that the clicks above are what a log must keep: they are the context of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, in_brief, number_or_nan
from ultr_core.errors import InputError
from ultr_core.users.click_log import ClickLog
from ultr_core.users.click_models import PositionModel
from ultr_core.users.examination import ExaminationCurve
from ultr_core.users.query_draws import Seed, child, count_queries
from ultr_core.users.simulation import Sessions, binomial_quantile

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def require_continuation(continuation: object) -> None:
    """Raise InputError for a probability λ of continuing after a click that is not in [0, 1]."""
    if not 0 <= number_or_nan(continuation) <= 1:
        raise InputError(
            "The probability λ of continuing after a click must be in [0, 1], not "
            f"{in_brief(continuation)}.",
            "continuation",
        )


@dataclass(frozen=True)
class LeavingUsers:
    """Position-based model whose users leave with probability 1 - lambda after each click.

    The dependent click model (Guo, Liu and Wang, WSDM 2009) with one lambda for all ranks, and with
    examination by rank. Clicks in the same presentation depend on each other.

    curve, eps_plus, eps_minus: as in `PositionModel`. continuation: lambda.
    Raises InputError unless 1 >= eps_plus > eps_minus >= 0 and lambda is in [0, 1].

    >>> from ultr_core.users import TableCurve
    >>> users = LeavingUsers(TableCurve((1.0, 0.5)), 1.0, 0.5, continuation=0.25)
    >>> users.click_probability(relevance=[0, 1], ranks=[1, 2]).tolist()
    [0.5, 0.3125]
    """

    curve: ExaminationCurve
    eps_plus: float = 1.0
    eps_minus: float = 0.0
    continuation: float = 0.5

    def __post_init__(self) -> None:
        """Check the curve, the noise levels and lambda."""
        require_continuation(self.continuation)
        _ = self.at_first

    @property
    def at_first(self) -> PositionModel:
        """The click model until the first click, and then for documents that users still reach."""
        return PositionModel(self.curve, self.eps_plus, self.eps_minus)

    def affine(self, ranks: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Alpha and beta for a user who has not left: as in the position model, float64."""
        return self.at_first.affine(ranks)

    def click_probability(
        self, relevance: ArrayLike, ranks: ArrayLike, query_offsets: ArrayLike | None = None
    ) -> FloatArray:
        """Probability of a click on each document in a presentation of its query.

        pi_k = a_k prod over j above k of (1 - (1 - lambda) a_j), where a, the click probability of
        a user who has not left, does not depend on earlier clicks. relevance [documents],
        ranks [documents] as presented, query_offsets [queries + 1], by default one query. Returns
        float64 [documents]. Raises InputError unless the ranks of each query are 1, 2, ..., m.
        """
        a = self.at_first.click_probability(relevance, ranks)
        offsets = np.array([0, a.size]) if query_offsets is None else query_offsets
        still_there = np.ones(np.size(offsets) - 1)
        found = np.empty(a.size)
        for queries, documents in by_rank(ranks, offsets):
            found[documents] = still_there[queries] * a[documents]
            still_there[queries] *= 1.0 - (1.0 - self.continuation) * a[documents]
        return found


def by_rank(
    ranks: ArrayLike, query_offsets: ArrayLike
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each rank from 1, the queries that go so far and their documents there.

    ranks [documents] as presented, query_offsets [queries + 1]. Raises InputError unless the ranks
    of each query are 1, 2, ..., m.
    """
    places = np.asarray(ranks, dtype=np.int64)
    offsets = checked_offsets(query_offsets, places.size)
    sizes = np.diff(offsets)
    at = np.repeat(offsets[:-1], sizes) + places - 1
    order = np.full(places.size, -1)
    if ((places >= 1) & (places <= np.repeat(sizes, sizes))).all():
        order[at] = np.arange(places.size)
    if (order < 0).any():
        raise InputError(
            "Clicks above a document are counted in whole lists; the ranks of each query must be "
            "1, 2, ... up to its number of documents, each once.",
            "whole_lists",
        )
    found = []
    for place in range(int(sizes.max())):
        queries = np.flatnonzero(sizes > place)
        found.append((queries, order[offsets[queries] + place]))
    return found


def rows_by_clicks_above(ranks: ArrayLike, query_offsets: ArrayLike) -> ClickLog:
    """Every row that one presentation of each query can produce, for computing exact moments.

    A document at rank k has k rows, with 0 to k - 1 clicks above as their context; the first counts
    the impression. ranks [documents], query_offsets [queries + 1]. Raises InputError if they
    contradict each other.

    >>> rows = rows_by_clicks_above([2, 1], query_offsets=[0, 2])
    >>> rows.document.tolist(), rows.context.tolist(), rows.impressions.tolist()
    ([0, 0, 1], [0, 1, 0], [1, 0, 1])
    """
    by_rank(ranks, query_offsets)
    places = np.asarray(ranks, dtype=np.int64)
    document = np.repeat(np.arange(places.size), places)
    above = np.arange(document.size) - np.repeat(np.cumsum(places) - places, places)
    queries = np.size(query_offsets) - 1
    return ClickLog(
        document, places[document], above == 0, np.zeros(document.size), queries, query_offsets,
        draws=np.ones(queries, np.int64), context=above,
    )  # fmt: skip


class _Rows:
    """Rows of a log by clicks above, gathered rank by rank."""

    def __init__(self) -> None:
        self._columns: list[tuple[IntArray, ...]] = []

    def add(
        self, documents: NDArray[np.intp], rank: int, shown: IntArray, clicks: IntArray
    ) -> None:
        """Impressions and clicks [clicks above, documents] at one rank; rows never shown go."""
        above, column = np.nonzero(shown)
        at = np.full(above.size, rank)
        self._columns.append(
            (documents[column], at, shown[above, column], clicks[above, column], above)
        )

    def log(self, query_draws: int, query_offsets: IntArray, draws: IntArray) -> ClickLog:
        """The log, by document and then by clicks above."""
        document, rank, shown, clicks, above = map(np.concatenate, zip(*self._columns, strict=True))
        order = np.lexsort((above, document))
        return ClickLog(
            document[order], rank[order], shown[order], clicks[order], query_draws, query_offsets,
            draws=draws, context=above[order],
        )  # fmt: skip


def simulate_leaving(
    users: LeavingUsers,
    relevance: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    query_draws: int,
    seed: Seed,
) -> ClickLog:
    """Draw a log from users who may leave, directly as counts, whatever the number of clicks.

    From the top of a list down, Binomial(S_h, a_k) of the S_h users who have not left after h
    clicks click at rank k, and Binomial(clicks, lambda) of those who click stay, with h + 1 clicks.
    So the distribution is the same as for users simulated one by one, whatever their number. Each
    count is the quantile at a fixed uniform number, as in `simulate_counts`.

    relevance, ranks [documents] as presented, query_offsets [queries + 1]. Rows have the number
    of clicks above as their context; their impressions include those of users who had left, since a
    log does not show who left. The same seed gives the same log, with the same queries as
    `simulate_counts`. Raises InputError if `simulate_counts` does, or if the ranks of a query are
    not 1, 2, ..., m.
    """
    clicking = users.at_first.click_probability(relevance, ranks)
    steps = by_rank(ranks, query_offsets)
    offsets = checked_offsets(query_offsets, clicking.size)
    drawn = count_queries(offsets.size - 1, query_draws, seed)
    shown = drawn[None, :].copy()  # [clicks above, queries]
    there = shown.copy()
    found = _Rows()
    for place, (queries, documents) in enumerate(steps):
        if shown[-1].any():  # so that the last row is one that nobody reached yet
            shown, there = (np.vstack([each, np.zeros_like(drawn)]) for each in (shown, there))
        own = child(child(seed, 1), place)
        clicks = _thinned(there[:, queries], clicking[documents], child(own, 0))
        staying = _thinned(clicks, np.full(queries.size, users.continuation), child(own, 1))
        found.add(documents, place + 1, shown[:, queries], clicks)
        shown[:, queries] += _moved(clicks, clicks)
        there[:, queries] += _moved(clicks, staying)
    return found.log(query_draws, offsets, drawn)


def _moved(gone: IntArray, arrived: IntArray) -> IntArray:
    """Change of counts [clicks above, queries] where some have one more click."""
    change = -gone
    change[1:] += arrived[:-1]
    return change


def _thinned(counts: IntArray, probability: FloatArray, seed: Seed) -> IntArray:
    """Binomial(counts, probability of the column) of counts [clicks above, documents].

    A row's uniform numbers do not depend on how many rows there are.
    """
    uniform = np.random.default_rng(seed).random(counts.shape)
    row, column = np.nonzero(counts)
    found = np.zeros_like(counts)
    found[row, column] = binomial_quantile(
        uniform[row, column], counts[row, column], probability[column]
    )
    return found


def leave_after_clicks(
    sessions: Sessions, ranks: ArrayLike, continuation: float, seed: Seed
) -> Sessions:
    """The same presentations if users leave with probability 1 - lambda after each click.

    sessions: those of users who never leave. What they would click does not depend on leaving, so
    the clicks of a user who leaves are those down to the first click after which the user leaves.
    ranks [documents] as presented; the same seed gives the same clicks. Clicks are sorted by
    presentation, then by rank. Raises InputError for a lambda outside [0, 1].

    >>> sessions = Sessions(np.array([0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> leave_after_clicks(sessions, [1, 2], continuation=0.0, seed=0).click_document.tolist()
    [0, 1]
    """
    require_continuation(continuation)
    order = np.lexsort((np.asarray(ranks)[sessions.click_document], sessions.click_draw))
    draw, document = sessions.click_draw[order], sessions.click_document[order]
    leaves = np.random.default_rng(child(seed, 3)).random(draw.size) >= continuation
    before: IntArray = np.cumsum(leaves) - leaves
    there: NDArray[np.bool_] = before == before[np.searchsorted(draw, draw)]
    return Sessions(sessions.query, draw[there], document[there])


def count_by_clicks_above(
    sessions: Sessions, ranks: ArrayLike, query_offsets: ArrayLike
) -> ClickLog:
    """Make a log from presentations and clicks; a row's context is the number of clicks above it.

    sessions: the query of each presentation, and the presentation and document of each click;
    ranks [documents] as presented, query_offsets [queries + 1]. Raises InputError if a
    document is clicked twice in the same presentation, or if `by_rank` does.

    >>> sessions = Sessions(np.array([0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> log = count_by_clicks_above(sessions, ranks=[1, 2], query_offsets=[0, 2])
    >>> list(zip(log.document.tolist(), log.context.tolist(), log.clicks.tolist()))
    [(0, 0, 1), (1, 0, 1), (1, 1, 1)]
    """
    steps = by_rank(ranks, query_offsets)
    offsets = checked_offsets(query_offsets, np.size(ranks))
    query = np.asarray(sessions.query, np.int64)
    drawn = np.bincount(query, minlength=offsets.size - 1)
    places = np.asarray(ranks, np.int64)[sessions.click_document]
    order = np.lexsort((places, sessions.click_draw))
    draw, document = sessions.click_draw[order], sessions.click_document[order]
    if ((np.diff(draw) == 0) & (np.diff(document) == 0)).any():
        raise InputError("A document can be clicked at most once in a presentation.", "twice")
    first = np.searchsorted(draw, draw)  # of the clicks of the same presentation
    above = np.arange(draw.size) - first
    clicks = np.zeros((int(above.max(initial=-1)) + 2, int(offsets[-1])), np.int64)
    np.add.at(clicks, (above, document), 1)
    shown = np.zeros((len(clicks), drawn.size), np.int64)
    shown[0] = drawn
    found = _Rows()
    for place, (queries, documents) in enumerate(steps):
        here = clicks[:, documents]
        found.add(documents, place + 1, shown[:, queries], here)
        shown[:, queries] += _moved(here, here)
    return found.log(query.size, offsets, drawn)
