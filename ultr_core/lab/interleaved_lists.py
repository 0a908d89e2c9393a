"""Interleaving two lists of an engine: what is shown, and which ranker the clicks on it prefer.

The lists may contain different documents, and what is shown may be cut. A document that stands at
two places of one list counts at the first. Clicks on it count for a ranker whose list lacks it only
as the scheme says.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from ultr_core.corpus.ranking import whole_in_range
from ultr_core.errors import InputError, quoted
from ultr_core.fields import Choice
from ultr_core.users.query_draws import checked_seed

Scheme = Literal["balanced", "team-draft", "probabilistic"]

SCHEMES: tuple[Scheme, ...] = ("balanced", "team-draft", "probabilistic")
"""The ways to interleave; "balanced" is the paper's."""

SCHEME = Choice(
    "scheme", "Interleaving",
    dict(zip(SCHEMES, ("Balanced (paper)", "Team draft", "Probabilistic"), strict=True)),
    help="Balanced: the lists take turns; clicks are counted down to the same depth in both. "
    "Team draft: the rankers pick in turn; a click counts for the ranker that picked the document. "
    "Probabilistic: each place is filled by one of the rankers at random, most often with a "
    "document that it ranks high; a click counts for the ranker more likely to have put the "
    "document there.",
)  # fmt: skip

SOFTMAX = 3
"""Exponent of probabilistic interleaving: a ranker gives a document in proportion to rank^-3."""

MOST_WAYS = 1 << 13
"""Interleaved lists that are enumerated."""

MOST_SHOWN = 10_000

ONE, HALF = Fraction(1), Fraction(1, 2)

Document = Hashable
Choose = Callable[[Sequence[tuple[Any, Fraction]]], Any]
"""Takes one of several things with their probabilities."""
Clicks = Callable[[tuple[Document, ...]], Sequence[tuple[frozenset[Document], Fraction]]]
"""Of what is shown, the possible sets of clicked documents with their probabilities."""


@dataclass(frozen=True)
class Interleaved:
    """An interleaved list, with what is needed to judge the clicks on it.

    Attributes:
        documents: what is shown, from the top.
        ranks: of each document shown, its ranks in A and in B, None where a list lacks it.
        teams: of each document shown, 1 if A picked it and -1 if B did; of team draft alone.
        lengths: of A and B; of probabilistic interleaving alone.
    """

    documents: tuple[Document, ...]
    ranks: tuple[tuple[int | None, int | None], ...]
    teams: tuple[int, ...] | None = None
    lengths: tuple[int, int] | None = None

    @property
    def credit(self) -> tuple[Fraction, ...] | None:
        """What a click on each document says for A, from -1 (B alone) to 1 (A alone).

        None for balanced interleaving, in which it depends on the lowest click.
        """
        if self.teams is None and self.lengths is None:
            return None
        return tuple(self._credits(range(len(self.documents))))

    def _credits(self, places: Collection[int]) -> Iterator[Fraction]:
        """Those of some places, from the top."""
        if self.teams is not None:
            return (Fraction(self.teams[place]) for place in places)
        assert self.lengths is not None
        return _shared_credits(self.ranks, self.lengths, frozenset(places))

    def verdict(self, clicked: Iterable[Document]) -> int:
        """1 if A wins, -1 if B wins, 0 if neither does.

        clicked: documents that were shown, each once. Raises InputError for any other, and for a
        text, which is not a list of documents.
        """
        wanted = dict.fromkeys(_documents(clicked, "The clicked documents", ordered=False))
        if other := wanted.keys() - set(self.documents):
            first = next(document for document in wanted if document in other)
            raise InputError(
                f"Document {quoted(first)} was clicked but not shown; give only clicks on "
                "documents in the interleaved list.",
                "not_shown",
            )
        places = [place for place, document in enumerate(self.documents) if document in wanted]
        if not places:
            return 0
        if self.teams is None and self.lengths is None:
            score: Fraction | int = _within_depth([self.ranks[place] for place in places])
        else:
            score = sum(self._credits(places), Fraction(0))
        return int(score > 0) - int(score < 0)


def _shared_credits(
    ranks: Sequence[tuple[int | None, int | None]], lengths: tuple[int, int], places: frozenset[int]
) -> Iterator[Fraction]:
    """(p_A - p_B) / (p_A + p_B) at some places: p is rank^-3 over its sum in what is left.

    All rank^-3 are counted in one small unit, for fractions would be reduced at every place.
    """
    unit = lcm(*range(1, max(lengths) + 1)) ** SOFTMAX
    weights = [0, *(unit // rank**SOFTMAX for rank in range(1, max(lengths) + 1))]
    left_a, left_b = (sum(weights[: size + 1]) for size in lengths)
    for place in range(max(places) + 1):
        ours, theirs = (weights[rank or 0] for rank in ranks[place])
        if place in places:
            # A list that has ended gives nothing, whatever its sum.
            p_a, p_b = ours * (left_b or 1), theirs * (left_a or 1)
            yield Fraction(p_a - p_b, p_a + p_b)
        left_a, left_b = left_a - ours, left_b - theirs


def _documents(given: Iterable[Document], what: str, *, ordered: bool = True) -> list[Document]:
    """What is given, as a list; raises InputError for anything that is not a list of documents.

    None and NaN mark missing documents, and a NaN does not even equal itself.
    """
    kinds: tuple[type, ...] = (Set, Mapping) if ordered else (str, bytes)
    try:
        found = [] if isinstance(given, kinds) else list(given)
        hash(tuple(found))
        if any(each is None or each != each for each in found):
            kinds = (object,)
    except TypeError:
        kinds = (object,)
    if isinstance(given, kinds):
        raise InputError(
            f"{what} must be a list of documents, each a string or a number, not {quoted(given)}.",
            "documents",
        )
    return found


def _within_depth(ranks: Sequence[tuple[int | None, int | None]]) -> int:
    """A's clicks minus B's within the top k of each list; ranks are those of clicked documents.

    k is the smaller of the two ranks of the lowest clicked document, which comes last.
    """
    k = min(rank for rank in ranks[-1] if rank is not None)
    return sum(
        int(ours is not None and ours <= k) - int(theirs is not None and theirs <= k)
        for ours, theirs in ranks
    )


def interleaved(
    list_a: Sequence[Document],
    list_b: Sequence[Document],
    *,
    shown: int | None = None,
    scheme: Scheme = "balanced",
    seed: SeedSequence | int,
) -> Interleaved:
    """Draw one interleaved list.

    Balanced (Joachims, 2002): a coin decides who leads; documents are taken from both lists in
    turn, documents that are already there are skipped, until one list ends. With k the smaller of
    the two ranks of the lowest clicked document, the winner has more clicks within its top k.

    Team draft (Radlinski, Kurup and Joachims, 2008): in each round a coin decides who picks first;
    each picks its best document that is not yet there. A ranker with no documents left no longer
    picks. The winner is the team with more clicks.

    Probabilistic (Hofmann, Whiteson and de Rijke, 2011): a coin for each place decides who gives
    its document, and that ranker draws one that is not there yet, in proportion to rank^-3. A click
    counts (p_A - p_B) / (p_A + p_B), with p the probability with which each ranker, had it been
    drawn, would have placed the document there: the expected score over all coins that could have
    led to this list.

    Args:
        list_a, list_b: documents from the top; a document at two places counts at the first.
        shown: number of places, None for as many as the scheme fills.
        scheme: one of ``SCHEMES``.
        seed: of the coins.

    Raises:
        InputError: an empty list, something that is not a list, None or NaN as a document, an
            unknown scheme, or a number of places below 1.

    >>> interleaved("ab", "bc", shown=3, scheme="team-draft", seed=0).verdict(["a"])
    1
    """
    rng = np.random.default_rng(checked_seed(seed))

    def choose(options: Sequence[tuple[Any, Fraction]]) -> Any:
        if isinstance(options, _Mixture):
            return options.at(rng.random())
        reached = np.cumsum([float(chance) for _, chance in options])
        place = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        return options[min(place, len(options) - 1)][0]

    return _build(list_a, list_b, shown, scheme)(choose)


def _build(
    list_a: Sequence[Document], list_b: Sequence[Document], shown: int | None, scheme: Scheme
) -> Callable[[Choose], Interleaved]:
    """What makes one interleaved list, given who tosses the coins."""
    make = _SCHEMES[SCHEME.checked(scheme)]
    a, b = (
        list(dict.fromkeys(_documents(given, name)))
        for given, name in ((list_a, "List A"), (list_b, "List B"))
    )
    for name, documents in (("A", a), ("B", b)):
        if not documents:
            raise InputError(f"List {name} is empty; give at least one document.", "empty_list")
    most = len({*a, *b})
    if shown is not None:
        most = min(most, whole_in_range(shown, "The number of places", 1, MOST_SHOWN))
    rank_a, rank_b = ({d: rank for rank, d in enumerate(each, start=1)} for each in (a, b))

    def built(choose: Choose) -> Interleaved:
        documents, teams, lengths = make(a, b, most, choose)
        ranks = tuple((rank_a.get(d), rank_b.get(d)) for d in documents)
        return Interleaved(tuple(documents), ranks, teams, lengths)

    return built


class _Made(NamedTuple):
    documents: Iterable[Document]
    teams: tuple[int, ...] | None = None
    lengths: tuple[int, int] | None = None


def _balanced(a: list[Document], b: list[Document], most: int, choose: Choose) -> _Made:
    a_leads = choose(((True, HALF), (False, HALF)))
    documents: dict[Document, None] = {}
    taken_a = taken_b = 0
    while len(documents) < most and taken_a < len(a) and taken_b < len(b):
        if taken_a < taken_b or (taken_a == taken_b and a_leads):
            document, taken_a = a[taken_a], taken_a + 1
        else:
            document, taken_b = b[taken_b], taken_b + 1
        documents[document] = None
    return _Made(documents)


def _team_draft(a: list[Document], b: list[Document], most: int, choose: Choose) -> _Made:
    picked: dict[Document, int] = {}
    left = {1: iter(a), -1: iter(b)}
    while len(picked) < most:
        first = choose(((1, HALF), (-1, HALF)))
        for team in (first, -first):
            best = next((d for d in left[team] if d not in picked), None)
            if best is not None and len(picked) < most:
                picked[best] = team
    return _Made(picked, teams=tuple(picked.values()))


def _probabilistic(a: list[Document], b: list[Document], most: int, choose: Choose) -> _Made:
    mixture = _Mixture(a, b)
    documents: list[Document] = []
    while len(documents) < most:
        documents.append(choose(mixture))
        mixture.take(documents[-1])
    return _Made(documents, lengths=(len(a), len(b)))


class _Mixture(Sequence[tuple[Any, Fraction]]):
    """The documents that probabilistic interleaving may show next, with their exact probabilities.

    `at` draws one in a time that grows with the logarithm of their number, from sums of pairs of
    pairs: entry n of a tree holds the sum of entries 2 n and 2 n + 1, its second half the weights.
    """

    def __init__(self, a: list[Document], b: list[Document]) -> None:
        self._left = a, b
        self._order = list(dict.fromkeys([*a, *b]))
        self._place = {document: place for place, document in enumerate(self._order)}
        self._half = 1 << (len(self._order) - 1).bit_length()
        self._gone: set[Document] = set()
        self._options: list[tuple[Any, Fraction]] | None = None
        self._sums = tuple(self._tree(ranking) for ranking in (a, b))

    def _tree(self, ranking: list[Document]) -> list[float]:
        sums = [0.0] * (2 * self._half)
        for rank, document in enumerate(ranking, start=1):
            sums[self._half + self._place[document]] = float(rank) ** -SOFTMAX
        for node in range(self._half - 1, 0, -1):
            sums[node] = sums[2 * node] + sums[2 * node + 1]
        return sums

    def take(self, document: Document) -> None:
        """Leave a document out of what may come next."""
        self._gone.add(document)
        self._options = None
        for sums in self._sums:
            node = self._half + self._place[document]
            sums[node] = 0.0
            while node > 1:
                node //= 2
                sums[node] = sums[2 * node] + sums[2 * node + 1]

    def at(self, share: float) -> Document:
        """The document at which the probabilities, summed in order, pass a share in [0, 1)."""
        ours, theirs = self._sums
        scale = [1.0 / sums[1] if sums[1] else 0.0 for sums in self._sums]

        def weight(node: int) -> float:
            return scale[0] * ours[node] + scale[1] * theirs[node]

        node, wanted = 1, share * weight(1)
        while node < self._half:
            node *= 2
            before = weight(node)
            if wanted >= before and weight(node + 1) > 0:
                wanted, node = wanted - before, node + 1
        return self._order[node - self._half]

    def __len__(self) -> int:
        return len(self._order) - len(self._gone)

    def __getitem__(self, place: Any) -> Any:
        if self._options is None:
            ours, theirs = (_chances(each, self._gone) for each in self._left)
            # Where one list has ended, the other gives the document.
            share = HALF if ours and theirs else ONE
            self._options = [
                (d, share * (ours.get(d, Fraction(0)) + theirs.get(d, Fraction(0))))
                for d in dict.fromkeys([*ours, *theirs])
            ]
        return self._options[place]


def _chances(ranking: list[Document], gone: Collection[Document]) -> dict[Document, Fraction]:
    """How likely a ranker gives each document that is not there yet."""
    weights = {
        d: Fraction(1, rank**SOFTMAX) for rank, d in enumerate(ranking, start=1) if d not in gone
    }
    total = sum(weights.values(), Fraction(0))
    return {d: weight / total for d, weight in weights.items()}


_SCHEMES: Mapping[Scheme, Callable[..., _Made]] = MappingProxyType(
    {"balanced": _balanced, "team-draft": _team_draft, "probabilistic": _probabilistic}
)


@dataclass(frozen=True)
class ExactVerdicts:
    """Probabilities that A wins, that B wins and of a tie, as exact fractions."""

    a: Fraction
    b: Fraction
    tie: Fraction


def exact_verdicts(
    list_a: Sequence[Document],
    list_b: Sequence[Document],
    clicks: Clicks,
    scheme: Scheme = "balanced",
    *,
    shown: int | None = None,
) -> ExactVerdicts:
    """Enumerate every coin and every click pattern on two short lists.

    ``clicks`` gives, for a presented list, the possible sets of clicked documents with their
    probabilities; `one_random_click` and `click_on` are such users. The known bias of balanced
    interleaving: A = abc, B = bca and one random click give B two wins in three. Raises InputError
    if `interleaved` does, and for more than ``MOST_WAYS`` interleaved lists.
    """
    totals = {1: Fraction(0), -1: Fraction(0), 0: Fraction(0)}
    for found, chance in every_interleaving(list_a, list_b, scheme, shown=shown):
        for clicked, probability in clicks(found.documents):
            totals[found.verdict(clicked)] += chance * probability
    return ExactVerdicts(totals[1], totals[-1], totals[0])


def every_interleaving(
    list_a: Sequence[Document],
    list_b: Sequence[Document],
    scheme: Scheme = "balanced",
    *,
    shown: int | None = None,
) -> Iterator[tuple[Interleaved, Fraction]]:
    """Every outcome of the coins with its probability; equal lists may come several times.

    Raises InputError if `exact_verdicts` does.
    """
    build = _build(list_a, list_b, shown, scheme)
    path: list[int] = []
    for _ in range(MOST_WAYS):
        coins = _Coins(path)
        yield build(coins.choose), coins.chance
        path = coins.next_path()
        if not path:
            return
    raise InputError(
        f"These lists have more than {MOST_WAYS:,} interleavings; use shorter lists, or draw some "
        "interleavings with interleaved().",
        "ways",
    )


class _Coins:
    """Takes options by a path of places, then the first of each, and says what comes next."""

    def __init__(self, path: Sequence[int]) -> None:
        self.chance = ONE
        self._path = path
        self._taken: list[tuple[int, int]] = []

    def choose(self, options: Sequence[tuple[Any, Fraction]]) -> Any:
        number = len(self._taken)
        place = self._path[number] if number < len(self._path) else 0
        self._taken.append((place, len(options)))
        chosen, chance = options[place]
        self.chance *= chance
        return chosen

    def next_path(self) -> list[int]:
        """The path after this one in the order of all; empty after the last."""
        taken = self._taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        places = [place for place, _ in taken]
        return [*places[:-1], places[-1] + 1] if places else []


def one_random_click(
    shown: tuple[Document, ...],
) -> tuple[tuple[frozenset[Document], Fraction], ...]:
    """A user who clicks one of the documents at random, whatever they are."""
    return tuple((frozenset([document]), Fraction(1, len(shown))) for document in shown)


def click_on(wanted: Document) -> Clicks:
    """A user who reads everything and clicks the one document that is wanted, if it is shown."""
    return lambda shown: ((frozenset([wanted]) & frozenset(shown), ONE),)
