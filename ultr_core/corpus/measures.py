"""Quality of a ranking by its grades: nDCG, reciprocal rank, average precision and precision.

    measure_named("nDCG@10").of(scores, grades, query_offsets).value

Names are those of ``ir_measures``, and so are the values: without ties and with ``empty="zero"``
those of ``trec_eval``. Equal scores are averaged over all their orders, in closed form
(McSherry and Najork, ECIR 2008). With n documents in a group of ties after t others, r of them
relevant, and R relevant before it:

    nDCG, P   each document has the mean discount of the places t + 1 to t + n
    AP        place t + i adds r/n (R + 1 + (i - 1) (r - 1) / (n - 1)) / (t + i), over all relevant
    RR        in the first group with r > 0: 1 / (t + i) with probability C(n-i, r-1) / C(n, r)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ultr_core.corpus.ranking import query_sums, rank_documents, tied_groups
from ultr_core.errors import InputError, quoted
from ultr_core.words import part_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Kind = Literal["nDCG", "RR", "AP", "P"]
Empty = Literal["skip", "zero"]
"""What happens to queries without a relevant document: left out, or counted as 0."""

_ALIASES = {"NDCG": "nDCG", "MRR": "RR", "MAP": "AP"}
_NAME = re.compile(
    r"(\w+)(?:\((?:rel=(\d{1,4})|dcg=['\"]?(log2|exp-log2)['\"]?)\))?(?:@(\d{1,9}))?"
)


@dataclass(frozen=True)
class Measured:
    """The mean of a measure over queries, and the rule for those without a relevant document.

    value: mean over the counted queries. counted: how many. left_out: how many have no relevant
    document and are left out; as_zero: how many count as 0.
    """

    value: float
    counted: int
    left_out: int = 0
    as_zero: int = 0
    lowest: int = 1

    @property
    def rule(self) -> str:
        """The rule in one sentence, with its counts."""
        return rule_of((self,))


def rule_of(found: Iterable[Measured]) -> str:
    """The rules of several measures in one sentence, with each count once."""
    ties = "equal scores, a measure is the average over all orders."
    told = list(dict.fromkeys(filter(None, map(_without_relevant, found))))
    return f"{'; '.join(told)}; with {ties}" if told else f"With {ties}"


def _without_relevant(found: Measured) -> str:
    """How queries without a relevant document count, as a clause; "" if there are none."""
    without = found.left_out + found.as_zero
    if not without:
        return ""
    queries = part_of(without, found.counted + found.left_out, "query", "queries")
    done = f"{'is' if without == 1 else 'are'} left out"
    if found.as_zero:
        done = "counts as 0" if found.as_zero == 1 else "count as 0"
    grade = "a grade above 0" if found.lowest == 1 else f"grade {found.lowest} or more"
    return f"{queries} no document with {grade} and {done}"


class Places(NamedTuple):
    """Every place of every list, in order: its rank, and the group of ties that fills it.

    query, rank, first, size [documents]: the group fills the ranks first to first + size - 1.
    document [documents]: one order of the ties, and group the number of each place's group.
    """

    query: IntArray
    rank: IntArray
    first: IntArray
    size: IntArray
    document: IntArray
    group: IntArray


@dataclass(frozen=True)
class Measure:
    """One measure of ``ir_measures``.

    kind: its name without parameters. cutoff: how many ranks count, None for all. rel: the lowest
    relevant grade, for all measures but nDCG. exponential: for nDCG, whether the gain of a grade is
    2^grade - 1 instead of the grade.
    """

    kind: Kind
    cutoff: int | None = None
    rel: int = 1
    exponential: bool = False

    @property
    def name(self) -> str:
        """The name as ``ir_measures`` writes it.

        >>> Measure("nDCG", 10, exponential=True).name, Measure("AP", rel=3).name
        ("nDCG(dcg='exp-log2')@10", 'AP(rel=3)')
        """
        given = f"(rel={self.rel})" if self.rel != 1 else ""
        if self.exponential:
            given = "(dcg='exp-log2')"
        return f"{self.kind}{given}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    @property
    def words(self) -> str:
        """What it measures, with its convention, as a phrase."""
        relevant = f"counting grade {self.rel} or more as relevant"
        about = {
            "nDCG": f"gain = {'2^grade - 1' if self.exponential else 'grade'}, discount "
            "log2(1 + rank)",
            "RR": f"1 / rank of the first relevant document, {relevant}",
            "AP": f"precision averaged over all relevant documents, {relevant}",
            "P": f"share of relevant documents among the top {self.cutoff or 0}, {relevant}",
        }
        return about[self.kind]

    def of(
        self,
        scores: FloatArray,
        grades: NDArray[np.integer],
        query_offsets: IntArray,
        *,
        empty: Empty = "skip",
    ) -> Measured:
        """The mean over queries; scores and grades [documents].

        A query without a relevant document (for nDCG, without a grade above 0) is left out or
        counted, depending on ``empty``. Raises InputError if every query lacks one and such queries
        are left out.
        """
        has = np.maximum.reduceat(grades, query_offsets[:-1]) >= self.rel
        if empty == "skip" and not has.any():
            least = "a grade above 0" if self.rel == 1 else f"grade {self.rel} or more"
            raise InputError(
                f"No query has a document with {least}, so there is no {self.name}.", "no_relevant"
            )
        values = np.where(has, self._by_query(scores, grades, query_offsets), 0.0)
        without = int(np.count_nonzero(~has))
        if empty == "skip":
            counted = has.size - without
            return Measured(float(values[has].mean()), counted, without, 0, self.rel)
        return Measured(float(values.mean()), has.size, 0, without, self.rel)

    def _by_query(
        self, scores: FloatArray, grades: NDArray[np.integer], offsets: IntArray
    ) -> FloatArray:
        """The measure of each query, float64 [queries]; no number where nothing is relevant."""
        if self.kind == "nDCG":
            return self._ndcg(scores, grades, offsets)
        relevant = (grades >= self.rel).astype(np.float64)
        places = places_of(scores, offsets)
        counting = places.rank <= (self.cutoff or places.rank.max())
        of_group = np.bincount(places.group, relevant[places.document]).astype(np.float64)
        share = of_group[places.group] / places.size
        if self.kind == "P":
            assert self.cutoff is not None
            found: FloatArray = query_sums(share * counting, offsets) / self.cutoff
            return found
        if self.kind == "RR":
            at = _first_relevant(places, of_group)
            reciprocal: FloatArray = query_sums(at * counting / places.rank, offsets)
            return reciprocal
        total = query_sums(relevant, offsets)
        before = _before(places, of_group)
        others = np.maximum(places.size - 1, 1)
        within = (places.rank - places.first) * (of_group[places.group] - 1.0) / others
        precision = (before + 1.0 + within) / places.rank
        summed = query_sums(share * precision * counting, offsets)
        return np.asarray(np.divide(summed, total, out=np.zeros_like(summed), where=total > 0))

    def _ndcg(
        self, scores: FloatArray, grades: NDArray[np.integer], offsets: IntArray
    ) -> FloatArray:
        ties = tied_groups(scores, offsets)
        ranks = np.arange(1.0, int(np.diff(offsets).max()) + 1.0)
        discount = np.where(ranks <= (self.cutoff or ranks.size), 1.0 / np.log2(1.0 + ranks), 0.0)
        summed = np.append(0.0, np.cumsum(discount))
        mean = (summed[ties.first - 1 + ties.size] - summed[ties.first - 1]) / ties.size
        gains = _exponential(grades, offsets) if self.exponential else grades.astype(np.float64)
        ideal = query_sums(gains * discount[rank_documents(grades, offsets) - 1], offsets)
        reached = query_sums(gains * mean, offsets)
        return np.asarray(np.divide(reached, ideal, out=np.zeros_like(reached), where=ideal > 0))


def measure_named(text: str) -> Measure:
    """The measure with that name in ``ir_measures``; raises InputError for any other name.

    >>> measure_named("MAP@100"), measure_named("P(rel=2)@5").rel
    (Measure(kind='AP', cutoff=100, rel=1, exponential=False), 2)
    """
    found = _NAME.fullmatch(text.strip())
    kind = "" if found is None else _ALIASES.get(found[1], found[1])
    known: Kind | None = next((each for each in get_args(Kind) if each == kind), None)
    if found is None or known is None:
        raise InputError(
            f"{quoted(text)} is not a known measure; write nDCG@10, nDCG(dcg='exp-log2')@10, RR, "
            "RR(rel=3)@10, AP(rel=3) or P(rel=3)@5.",
            "measures",
        )
    wrong = ""
    if kind == "nDCG" and found[2]:
        wrong = "nDCG uses the grades themselves and has no rel"
    elif kind != "nDCG" and found[3]:
        wrong = f"{kind} has no gain; dcg is only for nDCG"
    elif kind == "P" and not found[4]:
        wrong = "P needs a cutoff, as in P@5"
    elif 0 in (int(found[2] or 1), int(found[4] or 1)):
        wrong = "rel and cutoff must be 1 or more"
    if wrong:
        raise InputError(f"{quoted(text)} is not a measure: {wrong}.", "measures")
    cutoff = None if found[4] is None else int(found[4])
    return Measure(known, cutoff, int(found[2] or 1), exponential=found[3] == "exp-log2")


def usual_measures(rel: int) -> tuple[Measure, ...]:
    """What is reported if nothing is asked for, with relevance from this grade on."""
    return (
        Measure("nDCG", 10),
        Measure("RR", rel=rel),
        Measure("AP", rel=rel),
        Measure("P", 5, rel=rel),
    )


def places_of(scores: FloatArray, query_offsets: IntArray) -> Places:
    """The places of all lists by these scores [documents], and the ties that fill them."""
    ties = tied_groups(scores, query_offsets)
    sizes = np.diff(query_offsets)
    query = np.repeat(np.arange(sizes.size), sizes)
    document = np.lexsort((ties.first, query))
    first, size = ties.first[document], ties.size[document]
    rank = np.arange(document.size) - query_offsets[query] + 1
    group = np.cumsum(rank == first) - 1
    return Places(query, rank, first, size, document, group)


def _before(places: Places, of_group: FloatArray) -> FloatArray:
    """Relevant documents in the groups above that of each place, float64 [documents]."""
    begins = np.flatnonzero(places.rank == places.first)
    above = np.cumsum(of_group) - of_group
    query = places.query[begins]
    first_of_query = np.flatnonzero(np.append(True, query[1:] != query[:-1]))
    above -= above[first_of_query][query]
    return np.asarray(above[places.group])


def _first_relevant(places: Places, of_group: FloatArray) -> FloatArray:
    """Probability that the first relevant document is at each place, float64 [documents]."""
    r, n = of_group[places.group], places.size
    i = places.rank - places.first + 1
    possible = (r > 0) & (_before(places, of_group) == 0) & (i <= n - r + 1)
    found = np.zeros(n.size)
    r, n, i = r[possible], n[possible], i[possible]
    found[possible] = np.exp(_log_choose(n - i, r - 1) - _log_choose(n, r))
    return found


def _log_choose(n: NDArray[np.integer], r: FloatArray) -> FloatArray:
    return np.asarray(gammaln(n + 1.0) - gammaln(r + 1.0) - gammaln(n - r + 1.0))


def _exponential(grades: NDArray[np.integer], query_offsets: IntArray) -> FloatArray:
    """2^grade - 1 over 2^m, m the query's largest grade: finite for every grade.

    A power of two changes no digit, and the ratio to the ideal not at all.
    """
    largest = np.maximum.reduceat(grades.astype(np.int64), query_offsets[:-1])
    shift = np.repeat(largest, np.diff(query_offsets))
    gains: FloatArray = np.exp2((grades - shift).astype(float)) - np.exp2(-1.0 * shift)
    return gains
