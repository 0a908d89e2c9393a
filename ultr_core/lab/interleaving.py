"""Interleaving two rankers, query by query, and deciding by clicks which one the user preferred.

Balanced interleaving (Joachims, 2002; as in Section 7.6) and team draft (Radlinski, Kurup and
Joachims, 2008), in the reading of Chapelle, Joachims, Radlinski and Yue (TOIS 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, rank_documents, whole_in_range
from ultr_core.errors import InputError
from ultr_core.fields import Choice
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
RankArray = NDArray[np.int32]
Scheme = Literal["balanced", "team-draft"]

SCHEMES: tuple[Scheme, ...] = ("balanced", "team-draft")
"""The ways to interleave; "balanced" is the paper's."""

SCHEME = Choice(
    "scheme", "Interleaving",
    dict(zip(SCHEMES, ("Balanced (paper)", "Team draft"), strict=True)),
    help="Balanced: the lists take turns, judged by clicks within the same depth of both. Team "
    "draft: each ranker picks in turn, judged by whose picks are clicked.",
)  # fmt: skip

_PRESENTED_AT_ONCE = 1 << 20


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
    seed: SeedSequence | int,
) -> Verdicts:
    """Show interleaved rankings of uniformly drawn queries to users and collect the verdicts.

    Balanced: a coin decides who leads; documents are taken from both lists in turn, duplicates
    skipped. With k the smaller of the two ranks of the lowest clicked document, the winner has
    more clicks within its top k. Team draft: in each round a coin decides who picks first, each
    picks its best document left, and the winner is the team with more clicks.

    relevance, ranks_a, ranks_b [documents]; query_offsets [queries + 1]; ``queries`` is how many
    are shown. Raises InputError for an unknown scheme, a number of queries that is not whole and
    from 1 to ``MOST_SESSIONS``, a seed that is none, or arrays that do not fit.
    """
    scheme = SCHEME.checked(scheme)
    queries = whole_in_range(queries, "The number of queries to show", 1, MOST_SESSIONS)
    relevant = relevance_of_all(relevance, ranks_a)
    a, b = checked_ranks(ranks_a), checked_ranks(ranks_b)
    relevance_of_all(relevance, b)
    offsets = checked_offsets(query_offsets, relevant.size)
    sizes = np.diff(offsets)
    query_seed, click_seed = np.random.SeedSequence(_entropy(seed)).spawn(2)
    drawn = np.random.default_rng(query_seed).integers(sizes.size, size=queries)
    rng = np.random.default_rng(click_seed)
    judge = _SCHEMES[scheme].judge
    verdicts, any_click = [], []
    step = max(1, _PRESENTED_AT_ONCE // int(sizes.max()))
    for start in range(0, queries, step):
        query = drawn[start : start + step]
        first = np.append(0, np.cumsum(sizes[query]))
        session = np.repeat(np.arange(query.size), sizes[query])
        document = offsets[query[session]] + np.arange(first[-1]) - first[session]

        def click(ranks: RankArray, shown: IntArray = document) -> NDArray[np.bool_]:
            chance = users.click_probability(relevant[shown], ranks)
            return rng.random(shown.size) < chance

        verdict, clicked = judge(a[document], b[document], first, session, click, rng)
        verdicts.append(np.sign(verdict).astype(np.int8))
        any_click.append(np.add.reduceat(clicked, first[:-1], dtype=np.int64) > 0)
    return Verdicts(np.concatenate(verdicts), np.concatenate(any_click))


Click = Callable[[RankArray], NDArray[np.bool_]]
Judged = tuple[IntArray, NDArray[np.bool_]]


def _balanced(
    a: RankArray, b: RankArray, first: IntArray, session: IntArray, click: Click,
    rng: np.random.Generator,
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
    rng: np.random.Generator,
) -> Judged:  # fmt: skip
    """Clicks of A's team minus clicks of B's, for every session."""
    ranks = np.empty(a.size, dtype=np.int32)
    team = np.empty(a.size, dtype=np.int64)
    sizes = np.diff(first)
    for size in np.unique(sizes):
        sessions = np.flatnonzero(sizes == size)
        rows = first[:-1][sessions, None] + np.arange(size)
        ranks[rows], team[rows] = _draft(a[rows], b[rows], rng)
    clicked = click(ranks)
    return np.add.reduceat(clicked * team, first[:-1]), clicked


def _draft(a: RankArray, b: RankArray, rng: np.random.Generator) -> tuple[RankArray, IntArray]:
    """Ranks in the drafted list and teams (1 for A, -1 for B), both [sessions, documents]."""
    sessions, size = a.shape
    each, coins = np.arange(sessions), rng.random(((size + 1) // 2, sessions)) < 0.5
    ranks, team = np.zeros(a.shape, dtype=np.int32), np.zeros(a.shape, dtype=np.int64)
    left_a, left_b = a.astype(np.int64), b.astype(np.int64)
    for place in range(size):
        # The coin of a round says who picks first; the other team picks second.
        a_picks = coins[place // 2] ^ (place % 2 == 1)
        pick = np.where(a_picks, left_a.argmin(axis=1), left_b.argmin(axis=1))
        ranks[each, pick] = place + 1
        team[each, pick] = np.where(a_picks, 1, -1)
        left_a[each, pick] = left_b[each, pick] = size + 1
    return ranks, team


def _entropy(seed: SeedSequence | int) -> list[int]:
    return [int(word) for word in checked_seed(seed).generate_state(4)]


@dataclass(frozen=True)
class ExactVerdicts:
    """Probabilities that A wins, that B wins and of a tie, as exact fractions."""

    a: Fraction
    b: Fraction
    tie: Fraction


def exact_verdicts(
    list_a: Sequence[Hashable],
    list_b: Sequence[Hashable],
    clicks: Callable[[tuple[Hashable, ...]], Sequence[tuple[frozenset[Hashable], Fraction]]],
    scheme: Scheme = "balanced",
) -> ExactVerdicts:
    """Enumerate every coin and every click pattern on two short lists of the same documents.

    ``clicks`` gives, for a presented list, the possible sets of clicked documents with their
    probabilities; `one_random_click` and `click_on` are such users. The known bias of balanced
    interleaving: A = abc, B = bca and one random click give B two wins in three.

    Raises InputError unless both lists order the same documents, or for an unknown scheme.
    """
    if set(list_a) != set(list_b) or len(set(list_a)) != len(list_a) or len(list_a) != len(list_b):
        raise InputError(
            "Two lists to interleave must order the same documents, each once.", "same_documents"
        )
    way = _SCHEMES[SCHEME.checked(scheme)]
    totals = {1: Fraction(0), -1: Fraction(0), 0: Fraction(0)}
    for shown, team, chance in way.presentations(list_a, list_b):
        for clicked, probability in clicks(shown):
            score = way.score(list_a, list_b, shown, team, clicked)
            totals[int(score > 0) - int(score < 0)] += chance * probability
    return ExactVerdicts(totals[1], totals[-1], totals[0])


Presentation = tuple[tuple[Hashable, ...], dict[Hashable, int], Fraction]


def _balanced_lists(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Presentation]:
    for lead, follow in ((a, b), (b, a)):
        turns = [document for pair in zip(lead, follow, strict=True) for document in pair]
        yield tuple(dict.fromkeys(turns)), {}, Fraction(1, 2)


def _drafted_lists(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Presentation]:
    rounds = (len(a) + 1) // 2
    for coins in product((1, -1), repeat=rounds):
        team: dict[Hashable, int] = {}
        for place in range(len(a)):
            picker = coins[place // 2] * (1 if place % 2 == 0 else -1)
            source = a if picker == 1 else b
            team[next(document for document in source if document not in team)] = picker
        yield tuple(team), team, Fraction(1, 2**rounds)


def _balanced_score(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    shown: tuple[Hashable, ...],
    team: Mapping[Hashable, int],
    clicked: frozenset[Hashable],
) -> int:
    if not clicked:
        return 0
    lowest = max(clicked, key=shown.index)
    k = min(a.index(lowest), b.index(lowest)) + 1
    return len(clicked & set(a[:k])) - len(clicked & set(b[:k]))


def _drafted_score(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    shown: tuple[Hashable, ...],
    team: Mapping[Hashable, int],
    clicked: frozenset[Hashable],
) -> int:
    return sum(team[document] for document in clicked)


class _Way(NamedTuple):
    """One scheme: its verdicts on many sessions, and its lists and score, one at a time."""

    judge: Callable[..., Judged]
    presentations: Callable[[Sequence[Hashable], Sequence[Hashable]], Iterator[Presentation]]
    score: Callable[..., int]


_SCHEMES: Mapping[Scheme, _Way] = MappingProxyType(
    {
        "balanced": _Way(_balanced, _balanced_lists, _balanced_score),
        "team-draft": _Way(_team_draft, _drafted_lists, _drafted_score),
    }
)


def one_random_click(
    shown: tuple[Hashable, ...],
) -> tuple[tuple[frozenset[Hashable], Fraction], ...]:
    """A user who clicks one of the documents at random, whatever they are."""
    return tuple((frozenset([document]), Fraction(1, len(shown))) for document in shown)


def click_on(
    wanted: Hashable,
) -> Callable[[tuple[Hashable, ...]], tuple[tuple[frozenset[Hashable], Fraction], ...]]:
    """A user who reads everything and clicks the one document that is wanted."""
    return lambda shown: ((frozenset([wanted]), Fraction(1)),)


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
                f"Propensity-weighted and {self.label}: no decision, because all {self.queries:,} "
                f"queries were ties ({self.without_click:,} of them without a click); p = 1."
            )
        numbers = (
            f"{counted(self.test.wins, 'win')}, {counted(self.test.losses, 'loss', 'losses')}, "
            f"{counted(self.test.ties, 'tie')}; "
            f"win share {self.test.win_share:.1%}, 95% interval "
            f"{self.test.low:.1%} to "
            f"{self.test.high:.1%}, {p_words(self.test.p_value)}"
        )
        if not self.test.significant:
            return f"Propensity-weighted and {self.label} cannot be told apart: {numbers}."
        verb = "beats" if self.test.wins > self.test.losses else "loses against"
        return f"Propensity-weighted {verb} {self.label}: {numbers}."

    @property
    def null_sentence(self) -> str:
        """What a result without a difference would have looked like."""
        if self.test.decided == 0:
            return "Without a decided query there is no evidence about which is better."
        n = self.test.decided
        fewest, most = wins_by_chance(n)
        return (
            f"Of {counted(self.queries, 'query', 'queries')} {self.without_click:,} had no click, "
            f"{counted(self.test.ties, 'was a tie', 'were ties')} and "
            f"{counted(n, 'was', 'were')} decided. If both were equally good, each would win "
            f"about half of these: {n / 2:,.0f}. At least 95 of 100 such experiments would have "
            f"{fewest:,} to {counted(most, 'win')}, for which p is above 0.05. "
            f"This one had {counted(self.test.wins, 'win')}."
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
