"""Interleaving two rankers over many simulated queries, and the test of the verdicts.

Balanced interleaving (Joachims, 2002; as in Section 7.6) and team draft (Radlinski, Kurup and
Joachims, 2008), in the reading of Chapelle, Joachims, Radlinski and Yue (TOIS 2012), and
probabilistic interleaving (Hofmann, Whiteson and de Rijke, 2011). `interleaved_lists` has the same
for single lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, rank_documents, whole_in_range
from ultr_core.lab.interleaved_lists import MOST_SHOWN, SCHEME, SOFTMAX, Scheme
from ultr_core.propensity.swaps import relevance_of_all
from ultr_core.risk.sign_test import (
    SignTest,
    comparisons_needed,
    p_words,
    sign_test,
    sign_test_power,
    wins_by_chance,
)
from ultr_core.users import ClickModel
from ultr_core.users.examination import checked_ranks
from ultr_core.users.query_draws import MOST_SESSIONS, checked_seed
from ultr_core.words import counted

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
RankArray = NDArray[np.int32]

_PRESENTED_AT_ONCE = 1 << 20
_ROUNDING = 1e-9  # of summed credits


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One verdict a query: 1 if A wins, -1 if B wins, 0 if neither does; int8 [queries shown].

    clicked: bool [queries shown], whether there was any click; a tie is a query with clicks that
    neither won.
    """

    verdict: NDArray[np.int8]
    clicked: NDArray[np.bool_]

    @property
    def wins(self) -> int:
        """Queries that A won."""
        return int(np.count_nonzero(self.verdict > 0))

    @property
    def losses(self) -> int:
        """Queries that B won."""
        return int(np.count_nonzero(self.verdict < 0))

    @property
    def ties(self) -> int:
        """Queries with clicks that neither won."""
        return int(np.count_nonzero((self.verdict == 0) & self.clicked))


def interleave(
    users: ClickModel,
    relevance: ArrayLike,
    ranks_a: ArrayLike,
    ranks_b: ArrayLike,
    query_offsets: ArrayLike,
    *,
    queries: int,
    scheme: Scheme = "balanced",
    shown: int | None = None,
    seed: SeedSequence | int,
) -> Verdicts:
    """Show interleaved rankings of uniformly drawn queries to users and collect the verdicts.

    `interleaved` describes the schemes.

    relevance, ranks_a, ranks_b [documents]; query_offsets [queries + 1]; ``queries`` is how many
    are presented, and ``shown`` how many of its documents each presentation shows, None for all.
    Raises InputError for an unknown scheme, a number of queries that is not whole and from 1 to
    ``MOST_SESSIONS``, a number of documents below 1, a seed that is none, or arrays that do not
    fit.
    """
    judged = _JUDGES[SCHEME.checked(scheme)]
    most = MOST_SHOWN
    if shown is not None:
        most = whole_in_range(shown, "The number of documents shown", 1, MOST_SHOWN)
    queries = whole_in_range(queries, "The number of queries to show", 1, MOST_SESSIONS)
    relevant = relevance_of_all(relevance, ranks_a)
    a, b = checked_ranks(ranks_a), checked_ranks(ranks_b)
    relevance_of_all(relevance, b)
    offsets = checked_offsets(query_offsets, relevant.size)
    sizes = np.diff(offsets)
    query_seed, click_seed = np.random.SeedSequence(_entropy(seed)).spawn(2)
    drawn = np.random.default_rng(query_seed).integers(sizes.size, size=queries)
    rng = np.random.default_rng(click_seed)
    verdicts, any_click = [], []
    step = max(1, _PRESENTED_AT_ONCE // int(sizes.max()))
    for start in range(0, queries, step):
        query = drawn[start : start + step]
        first = np.append(0, np.cumsum(sizes[query]))
        session = np.repeat(np.arange(query.size), sizes[query])
        document = offsets[query[session]] + np.arange(first[-1]) - first[session]

        def click(ranks: RankArray, listed: IntArray = document) -> NDArray[np.bool_]:
            chance = users.click_probability(relevant[listed], ranks)
            clicked: NDArray[np.bool_] = rng.random(listed.size) < chance
            return clicked & (ranks <= most)

        score, clicked = judged(a[document], b[document], first, session, click, rng, most)
        verdicts.append(np.where(np.abs(score) > _ROUNDING, np.sign(score), 0).astype(np.int8))
        any_click.append(np.add.reduceat(clicked, first[:-1], dtype=np.int64) > 0)
    return Verdicts(np.concatenate(verdicts), np.concatenate(any_click))


Click = Callable[[RankArray], NDArray[np.bool_]]
Judged = tuple[IntArray | FloatArray, NDArray[np.bool_]]


def _balanced(
    a: RankArray, b: RankArray, first: IntArray, session: IntArray, click: Click,
    rng: np.random.Generator, most: int,
) -> Judged:  # fmt: skip
    """A's clicks minus B's, within the top k of each, for every session."""
    leads = rng.random(first.size - 1) < 0.5
    shown_at = rank_documents(-_turn(a, b, leads[session]), first)
    clicked = click(shown_at)
    # The lowest clicked document of each session, and the depth at which a list first shows it.
    depth = np.where(clicked, shown_at, 0)
    lowest = depth == np.maximum.reduceat(depth, first[:-1])[session]
    reach = np.where(clicked & lowest, np.minimum(a, b), 0)
    k = np.maximum.reduceat(reach, first[:-1])[session]
    score = clicked * ((a <= k).astype(np.int64) - (b <= k))
    return np.add.reduceat(score, first[:-1]), clicked


def _turn(a: RankArray, b: RankArray, a_leads: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The turn in a1 b1 a2 b2 ... (or b1 a1 ...) at which each document first comes up."""
    ours = 2 * a.astype(np.int64) - a_leads
    theirs = 2 * b.astype(np.int64) - ~a_leads
    return np.minimum(ours, theirs)


def _team_draft(
    a: RankArray, b: RankArray, first: IntArray, session: IntArray, click: Click,
    rng: np.random.Generator, most: int,
) -> Judged:  # fmt: skip
    """Clicks of A's team minus clicks of B's, for every session."""
    return _by_credit(a, b, first, click, partial(_draft, rng=rng, most=most))


def _probabilistic(
    a: RankArray, b: RankArray, first: IntArray, session: IntArray, click: Click,
    rng: np.random.Generator, most: int,
) -> Judged:  # fmt: skip
    """The credit of A minus that of B, over the clicks of every session."""
    return _by_credit(a, b, first, click, partial(_drawn, rng=rng, most=most))


def _by_credit(
    a: RankArray,
    b: RankArray,
    first: IntArray,
    click: Click,
    fill: Callable[[RankArray, RankArray], tuple[RankArray, FloatArray]],
) -> Judged:
    """Fill the lists of all sessions, those of one length at once, and add up clicks by credit."""
    ranks = np.empty(a.size, dtype=np.int32)
    credit = np.empty(a.size)
    sizes = np.diff(first)
    for size in np.unique(sizes):
        sessions = np.flatnonzero(sizes == size)
        rows = first[:-1][sessions, None] + np.arange(size)
        ranks[rows], credit[rows] = fill(a[rows], b[rows])
    clicked = click(ranks)
    return np.add.reduceat(clicked * credit, first[:-1]), clicked


def _draft(
    a: RankArray, b: RankArray, rng: np.random.Generator, most: int
) -> tuple[RankArray, FloatArray]:
    """Ranks in the drafted list and teams (1 for A, -1 for B), both [sessions, documents]."""
    sessions, size = a.shape
    each, coins = np.arange(sessions), rng.random(((size + 1) // 2, sessions)) < 0.5
    ranks, team = _nothing_shown(a.shape, most), np.zeros(a.shape)
    left_a, left_b = a.astype(np.int64), b.astype(np.int64)
    for place in range(min(size, most)):
        # The coin of a round says who picks first; the other team picks second.
        a_picks = coins[place // 2] ^ (place % 2 == 1)
        pick = np.where(a_picks, left_a.argmin(axis=1), left_b.argmin(axis=1))
        ranks[each, pick] = place + 1
        team[each, pick] = np.where(a_picks, 1, -1)
        left_a[each, pick] = left_b[each, pick] = size + 1
    return ranks, team


def _drawn(
    a: RankArray, b: RankArray, rng: np.random.Generator, most: int
) -> tuple[RankArray, FloatArray]:
    """Ranks in the list drawn from both rankers and credits, both [sessions, documents]."""
    sessions, size = a.shape
    each = np.arange(sessions)
    ranks, credit = _nothing_shown(a.shape, most), np.zeros(a.shape)
    left_a, left_b = (1.0 / each_rank.astype(np.float64) ** SOFTMAX for each_rank in (a, b))
    for place in range(min(size, most)):
        ours, theirs = (left / left.sum(axis=1, keepdims=True) for left in (left_a, left_b))
        reached = np.cumsum(ours + theirs, axis=1)
        total = reached[:, -1:]
        drawn = np.minimum(rng.random((sessions, 1)) * total, np.nextafter(total, 0.0))
        pick = (reached <= drawn).sum(axis=1)
        p_a, p_b = ours[each, pick], theirs[each, pick]
        ranks[each, pick] = place + 1
        credit[each, pick] = (p_a - p_b) / (p_a + p_b)
        left_a[each, pick] = left_b[each, pick] = 0.0
    return ranks, credit


def _nothing_shown(shape: tuple[int, ...], most: int) -> RankArray:
    """Ranks below everything that is shown."""
    return np.full(shape, min(shape[1], most) + 1, dtype=np.int32)


def _entropy(seed: SeedSequence | int) -> list[int]:
    return [int(word) for word in checked_seed(seed).generate_state(4)]


_JUDGES: Mapping[Scheme, Callable[..., Judged]] = MappingProxyType(
    {"balanced": _balanced, "team-draft": _team_draft, "probabilistic": _probabilistic}
)


FAIR = (
    "Random clicks act like a fair coin under team draft; under balanced and probabilistic "
    "interleaving they can favour one of the two rankings."
)
"""What the sign test takes for granted; claim R18 enumerates it."""


@dataclass(frozen=True)
class Contest:
    """Propensity-weighted against another ranker: verdicts, test, and what they take to see.

    needed: decided queries for 80% power at the observed share, None where more than can be run.
    paper_power: power that the paper's number of decided queries would have had at this share.
    """

    opponent: str
    label: str
    test: SignTest
    queries: int
    without_click: int
    needed: int | None
    paper_power: float

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.test.decided == 0:
            return (
                f"The weighted ranker and {self.label}: no decision, because all "
                f"{self.queries:,} queries were ties ({self.without_click:,} of them without "
                "clicks); p = 1."
            )
        numbers = (
            f"{counted(self.test.wins, 'win')}, {counted(self.test.losses, 'loss', 'losses')}, "
            f"{counted(self.test.ties, 'tie')}; "
            f"win share {self.test.win_share:.1%}, 95% interval "
            f"{self.test.low:.1%} to "
            f"{self.test.high:.1%}, {p_words(self.test.p_value)}"
        )
        if not self.test.significant:
            return f"The weighted ranker and {self.label} cannot be told apart: {numbers}."
        verb = "beats" if self.test.wins > self.test.losses else "loses to"
        return f"The weighted ranker {verb} {self.label}: {numbers}."

    @property
    def null_sentence(self) -> str:
        """What a result without a difference would have looked like."""
        if self.test.decided == 0:
            return "Without decided queries there is no evidence about which ranker is better."
        n = self.test.decided
        fewest, most = wins_by_chance(n)
        return (
            f"Of {counted(self.queries, 'query', 'queries')}, {self.without_click:,} had no "
            f"clicks, {counted(self.test.ties, 'was a tie', 'were ties')} and "
            f"{counted(n, 'was', 'were')} decided. If a fair coin had decided, each ranker "
            f"would have won about half of these: {n / 2:,.0f}. At least 95 of 100 such "
            f"experiments would have {fewest:,} to {counted(most, 'win')}, for which p is above "
            "0.05. "
            f"This one had {counted(self.test.wins, 'win')}. {FAIR}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The contest as plain values; what needs a decided query is None without one."""
        test = self.test
        known = test.decided > 0
        return {
            "wins": test.wins,
            "losses": test.losses,
            "ties": test.ties,
            "queries": self.queries,
            "without_click": self.without_click,
            "p_value": test.p_value,
            "relative_risk": test.relative_risk if known else None,
            "win_share": {
                "value": test.win_share if known else None,
                "low": test.low,
                "high": test.high,
            },
            "power": test.power if known else None,
            "decided_needed": self.needed,
            "paper_power": self.paper_power if known else None,
            "sentence": self.sentence,
            "null": self.null_sentence,
        }


def judge(opponent: str, label: str, verdicts: Verdicts, paper_decided: int) -> Contest:
    """Test the verdicts of an interleaving experiment and work out the traffic it takes.

    paper_decided: decided queries of the paper's experiment, for its power at this share. Where no
    query was decided p is 1, the win share 1/2 and its interval all of [0, 1].
    """
    wins, losses, ties = verdicts.wins, verdicts.losses, verdicts.ties
    test = sign_test(wins, losses, ties) if wins + losses else _undecided(ties)
    return Contest(
        opponent,
        label,
        test,
        verdicts.verdict.size,
        int(np.count_nonzero(~verdicts.clicked)),
        comparisons_needed(test.win_share),
        sign_test_power(paper_decided, test.win_share),
    )


def _undecided(ties: int) -> SignTest:
    """The test of ties alone: both rankers are as good as equal, and any share is possible."""
    return SignTest(
        0, 0, ties, p_value=1.0, relative_risk=1.0, win_share=0.5, low=0.0, high=1.0, power=0.0
    )
