"""Checks of a corpus, a log and a propensity curve as they will be used together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.errors import InputError, Remark, quoted
from ultr_core.findings import Finding, Severity
from ultr_core.inspection.inspection import (
    Check,
    Inspection,
    Seen,
    found_by,
    good,
    graded,
    stop,
    warning,
)
from ultr_core.inspection.joined import JoinedLog
from ultr_core.inspection.of_curve import LARGE_WEIGHT
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    ClickWeightDiagnostics,
    Estimator,
    Numbers,
    RelativeCurve,
    RowNumbers,
    click_weight_diagnostics,
    click_weights,
    clipping_effect,
)
from ultr_core.propensity.contexts import ContextCurves, in_words, row_propensities
from ultr_core.propensity.row_numbers import LEAST_PROPENSITY
from ultr_core.risk import too_few_clicks
from ultr_core.users import ClickLog, ExaminationCurve, TableCurve
from ultr_core.words import counted, part_of

MANY_UNSHOWN = 0.05
"""Share of candidates never shown from which rankers are not compared: they lie where the log's
rankers put them, at the end, so where lists of 6 to 15 candidates were cut such that 5% were never
shown, two fifths of a difference in risk were gone, and where 32% were, its sign was wrong."""

MANY_LEFT_OUT = 0.1
"""Share of (draw, candidate) pairs without an impression that has the same effect where lists vary,
so that a candidate is shown sometimes and counts for less than it should."""

_FEW_LEFT_OUT = 0.001
"""Share of those pairs below which the lists that leave candidates out are counted instead."""

_CONTRADICTED = 1e-4
"""Level of the test that clicks do not fall with the grade."""

_FEWEST_QUERIES = 10
"""Queries with clicks from which that level holds: 1 of 32,000 logs of 10 to 300 queries, with
clicks that did not depend on the grade, was said to contradict it; of 8,000 with 3 queries, 20."""

_ROUNDS, _SETTLED, _LEAST_SPREAD = 100, 1e-6, 1e-3
"""Most rounds of a fit, the change of an expected number of clicks that ends it, and the spread of
sums below which they differ only because the fit has an end."""

TOP = 10
"""Places of a ranker that are its top ones, or as many as the lists of the log have, if fewer."""

MANY_IN_TOP, MOST_IN_TOP = 0.1, 0.5
"""Share of a ranker's top places with candidates never shown from which it is not compared: by
clicks, which say nothing about those, and by a relevance fitted to other documents."""

Sees = Literal["rank", "document", "fit"]
"""What an estimator divides clicks by, which determines what it misses. If it divides by the
examination of a rank, it misses candidates in presentations that leave them out; if by rho, the
examination of a document over all presentations, it misses candidates that no presentation shows.
A fitted relevance counts all candidates."""


@dataclass(frozen=True)
class Unshown:
    """How much of the candidate sets a log leaves out, over the queries drawn.

    candidates: those of these queries. never: those without an impression where users look, so that
    rho is 0, by chance or not: the estimate lacks them either way. left_out: share of all (draw,
    candidate) pairs without such an impression. sometimes: the part of that share due to candidates
    that other draws show. depth: the lowest position that half of the draws reach. clicks_only:
    whether every impression was clicked, so that the log does not say what was shown. sees: what
    the estimator divides by. top: share of the top ``places`` places of the judged ranker
    ``top_of`` taken by candidates never shown, over all draws. lists: how many of the ``draws``
    leave out candidates that other lists for the same query show; a lower bound unless
    ``lists_known``. example: the candidate that most draws leave out although others show it, in
    words; "" if its name is unknown.
    """

    candidates: int
    never: int
    left_out: float
    depth: int
    clicks_only: bool
    sees: Sees = "rank"
    top: float = 0.0
    top_of: str = ""
    sometimes: float = 0.0
    lists: int = 0
    lists_known: bool = True
    draws: int = 0
    example: str = ""

    @property
    def places(self) -> int:
        """How many places count as a ranker's top."""
        return min(TOP, self.depth)

    @property
    def covered(self) -> bool:
        """Whether so few candidates have rho = 0 that dividing by rho allows a comparison."""
        return self.never < MANY_UNSHOWN * self.candidates or not self.candidates

    @property
    def severity(self) -> Severity:
        """ "stop" if too much is left out for this estimator, "warning" if anything is."""
        if self.clicks_only:
            return "warning"
        if self.sees == "fit":
            much = self.top >= MOST_IN_TOP
        else:
            much = not self.covered or self.top >= MANY_IN_TOP
            much = much or (self.sees == "rank" and self.left_out >= MANY_LEFT_OUT)
        if much:
            return "stop"
        return "warning" if self.what else "good"

    @property
    def what(self) -> str:
        """What is left out, as a clause; "" if nothing is."""
        if self.clicks_only:
            return "the log contains only clicks, so it does not say which candidates were shown"
        varied = self.sees == "rank" and self.left_out > 0
        if varied and not self.never and self.left_out < _FEW_LEFT_OUT:
            return self.lists_in_words
        if varied and ((self.left_out >= MANY_LEFT_OUT and self.covered) or not self.never):
            share = _share_text(self.left_out)
            return f"a list leaves out, on average, {share} of the candidates for its query"
        if self.never:
            share = _share_text(self.never / self.candidates)
            noun = "was" if self.never == 1 else "were"
            candidates = counted(self.candidates, "candidate")
            found = f"{self.never:,} of {candidates} ({share}) {noun} never shown"
            return f"{found}{self._held}"
        return ""

    @property
    def lists_in_words(self) -> str:
        """How many lists leave out candidates that others show, how much, and one, as a clause."""
        found = part_of(self.lists, self.draws, "list", does="leaves out", do="leave out")
        share = _share_text(self.sometimes)
        return (
            f"{'' if self.lists_known else 'at least '}{found} candidates that other lists for the "
            f"same query show ({share} of impressions)"
            f"{self.example and f', such as {self.example}'}"
        )

    @property
    def _held(self) -> str:
        """How much of a ranker's top they are, as a clause."""
        if not self.top:
            return ""
        places = f"{self.places} places" if self.places > 1 else "place"
        return f", among them {_share_text(self.top)} of the top {places} of {self.top_of}"

    @property
    def consequence(self) -> str:
        """What that means for a comparison of rankers, as a clause after ``what``."""
        if self.clicks_only:
            return "what users saw is known only from clicks"
        if self.sees == "fit":
            return "only the fitted relevance says how relevant they are"
        return "clicks say nothing about them"

    @property
    def withheld(self) -> bool:
        """Whether so much is left out that rankers cannot be compared on these clicks."""
        return self.severity == "stop"

    def finding(self) -> Finding:
        """The check, as a finding."""
        return UNSHOWN.of(self)[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "candidates": self.candidates,
            "never_shown": self.never,
            "lasting": self.never,
            "covered": 1.0 - self.never / self.candidates if self.candidates else None,
            "top_places": self.places,
            "top_never_shown": self.top,
            "withheld": self.withheld,
        }


def _share_text(share: float) -> str:
    if 0 < share < _FEW_LEFT_OUT:  # never told as nothing
        return f"{100 * share:.1g}%" if share >= 1e-5 else "less than 0.001%"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def _never_shown(found: Unshown, lost: str = "") -> Seen:
    told = found.what
    words = f"{told[:1].upper()}{told[1:]}"
    if found.clicks_only:
        return warning(
            None, f"{words}. Risks are for clicked presentations only: do not rely on their levels."
        )
    if not told:
        if found.candidates == 1:
            return good(0, "The only candidate for the query in the log was shown.")
        words = f"All {found.candidates:,} candidates of the queries in the log were shown."
        if found.left_out:
            words += (
                " Their examination is averaged over all presentations, including those that left "
                "them out."
            )
        return good(0, words)
    if found.sees == "fit":
        words += ". They cannot be clicked; only the fitted relevance counts them"
    else:
        words += (
            ". They cannot be clicked, so relevant documents among them are missing from the risk, "
            "by an amount that differs between rankers"
        )
    if found.withheld:
        words += f"; these clicks cannot show which ranker is better. {_way_out(found)}"
    told = f"{words}. {lost}".rstrip()
    return Seen(found.never, found.severity, Remark(told, "shown_whole"))


def _way_out(found: Unshown) -> str:
    if found.sees == "rank" and found.covered:
        shown = _share_text(1.0 - found.never / found.candidates)
        return (
            f"All lists together show {shown} of the candidates, so compare rankers with "
            "policy-aware weights, which divide by the examination of a document over all "
            "presentations"
        )
    return (
        "Judge by the queries whose candidates were all shown, log longer lists, or remove from "
        "the corpus the documents that users cannot see"
    )


UNSHOWN = Check("never_shown", "Candidates never shown", _never_shown)


def sees_of(estimator: Estimator) -> Sees:
    """What an estimator divides clicks by."""
    if estimator.fits_relevance:
        return "fit"
    return "document" if estimator.over_draws else "rank"


def unshown_candidates(
    log: ClickLog,
    curve: ExaminationCurve | None = None,
    *,
    sees: Sees = "rank",
    rankers: Mapping[str, NDArray[np.float64]] = MappingProxyType({}),
    name_of: Callable[[int], str] | None = None,
) -> Unshown:
    """Count what a log leaves out of the candidate sets of its queries.

    Equation 5 is unbiased only if every relevant document was shown at a rank with a positive
    propensity (section 4.1); no amount of data removes the bias that is due to cutting lists
    off. Weights by document need only rho > 0 (Oosterhuis and de Rijke, SIGIR 2020).

    curve: where users look; None for everywhere. sees: what the estimator divides by. rankers: for
    each judged ranker, by name, its ranks [documents]; the result names the ranker whose top places
    contain the most candidates never shown. name_of: names a document by its number, for the
    example, see `Corpus.name_of_document`.
    """
    sizes, draws = np.diff(log.query_offsets), log.draws
    of_document = np.repeat(draws, sizes)
    shown = seen_impressions(log, curve)
    never = (of_document > 0) & (shown == 0)
    pairs = float(of_document.sum())
    left_out = np.maximum(of_document - shown, 0)
    depth = _usual_depth(log)
    sometimes = np.where(never, 0, left_out)
    lists, known = _lists_leaving_out(log, sometimes)
    example = ""
    if name_of is not None and lists:
        most = int(np.argmax(sometimes))
        name, of_query = name_of(most), int(of_document[most])
        some = f"{of_query - int(sometimes[most]):,} of {counted(of_query, 'list')}"
        example = f"{name[:1].lower()}{name[1:]} (shown in {some})"
    top, top_of = max(
        ((_on_top(never, ranks, of_document, min(TOP, depth)), name)
         for name, ranks in rankers.items()),
        default=(0.0, ""), key=lambda found: found[0],
    )  # fmt: skip
    return Unshown(
        candidates=int(sizes[draws > 0].sum()),
        never=int(np.count_nonzero(never)),
        left_out=float(left_out.sum()) / pairs if pairs else 0.0,
        depth=depth,
        clicks_only=log.clicks_only,
        sees=sees,
        top=top,
        top_of=top_of,
        sometimes=float(left_out[~never].sum()) / pairs if pairs else 0.0,
        lists=lists,
        lists_known=known,
        draws=log.query_draws,
        example=example,
    )


def _lists_leaving_out(log: ClickLog, left_out: NDArray[np.float64]) -> tuple[int, bool]:
    """Lists that leave out candidates which other lists of their query show, and whether exactly.

    left_out: draws without each candidate, [documents], 0 for those never shown. Where a query has
    K candidates that are sometimes shown, and no impression below rank K, a list shows all of them
    if and only if it has a rank K. Otherwise one candidate's draws are the least there can be, and
    the sum over candidates the most.
    """
    query = query_of_document(log.query_offsets)
    queries = log.draws.size
    least, most, shown = np.zeros(queries), np.zeros(queries), np.zeros(queries)
    np.maximum.at(least, query, left_out)
    np.add.at(most, query, left_out)
    most = np.minimum(most, log.draws)
    some = log.impressions > 0
    of_row, rank = query[log.document[some]], log.rank[some]
    different = np.bincount(query, log.impressions_per_document > 0, queries)
    last = rank == different[of_row]
    np.add.at(shown, of_row[last], log.impressions[some][last])
    deepest = np.zeros(queries)
    np.maximum.at(deepest, of_row, rank)
    by_rank = (deepest <= different) & (log.draws - shown >= least) & (log.draws - shown <= most)
    known = (least == most) | by_rank
    return int(np.where(by_rank, log.draws - shown, least).sum()), bool(known.all())


def seen_impressions(log: ClickLog, curve: ExaminationCurve | None = None) -> NDArray[np.float64]:
    """Impressions of each document where users look (no curve: everywhere), float64 [documents]."""
    looked = log.impressions
    if curve is not None:
        looked = looked * (row_propensities(curve, log) > 0)
    return np.bincount(log.document, looked, log.n_documents).astype(np.float64)


def _usual_depth(log: ClickLog) -> int:
    """The lowest position that the queries of half of the draws reach at least, which one deep list
    does not change; 0 without an impression."""
    lowest = np.zeros(log.draws.size, np.int64)
    seen = log.impressions > 0
    np.maximum.at(lowest, query_of_document(log.query_offsets)[log.document[seen]], log.rank[seen])
    order = np.argsort(-lowest)
    reached = np.cumsum(log.draws[order])
    half = int(np.searchsorted(reached, reached[-1] / 2)) if lowest.size else 0
    return int(lowest[order[half]]) if reached.size and reached[-1] else 0


def _on_top(
    unseen: NDArray[np.bool_],
    ranks: NDArray[np.float64],
    draws: NDArray[np.int64],
    places: int,
) -> float:
    """Share of the first places of all draws that a ranker gives to unseen documents."""
    first = draws * (ranks <= places)
    every = float(first.sum())
    return float(first[unseen].sum()) / every if every else 0.0


HEAVIEST = 5
"""Clicks whose share of the whole weight is told."""

_GOOD_OVERLAP, _LEAST_OVERLAP = 0.95, 0.05
_HEAVY = 0.2  # share of the weight on the five heaviest clicks


@dataclass(frozen=True)
class ClickedPosition:
    """A clicked position without a usable propensity: its rank and clicks.

    last: the last rank that the curve covers. context: of the curve, "" if there is one curve.
    """

    rank: int
    clicks: int
    last: int = 0
    context: str = ""

    @property
    def words(self) -> str:
        """The position and its clicks, as a clause."""
        where = f" in the context {quoted(self.context)}" if self.context else ""
        return f"Position {self.rank:,} has {counted(self.clicks, 'click')}{where}"


def last_rank_of(curve: ExaminationCurve) -> int | None:
    """The last rank a curve covers; None if it covers all ranks."""
    return len(curve.values) if isinstance(curve, TableCurve | RelativeCurve) else None


def uncovered(log: ClickLog, curve: ExaminationCurve) -> tuple[ClickedPosition, ...]:
    """Clicked positions below the last rank of a curve, highest first."""
    if isinstance(curve, ContextCurves):
        return tuple(
            replace(found, context=name)
            for context, (name, one) in enumerate(zip(curve.names, curve.curves, strict=True))
            for found in _below(log, one, log.context == context)
        )
    return _below(log, curve, np.ones(log.rank.size, dtype=np.bool_))


def _below(
    log: ClickLog, curve: ExaminationCurve, rows: NDArray[np.bool_]
) -> tuple[ClickedPosition, ...]:
    """Clicked positions of the rows below the last rank of a curve."""
    last = last_rank_of(curve)
    if last is None:
        return ()
    return tuple(replace(found, last=last) for found in _clicked_at(log, rows & (log.rank > last)))


def require_covered(log: ClickLog, curve: ExaminationCurve, name: str = "the curve") -> None:
    """Raise InputError naming the first clicked position that the curve does not cover.

    Propensities of positions that never occur are ignored. Also raises InputError unless there
    is a curve for each context of a log with named contexts, or a single curve for any other log.
    """
    _require_contexts(log, curve)
    missing = uncovered(log, curve)
    if missing:
        first = missing[0]
        raise InputError(
            f"{first.words} but no propensity: {name} covers ranks 1 to {first.last}; add "
            "the position, or use the last value for all ranks below.",
            "carry_on",
        )


def _require_contexts(log: ClickLog, curve: ExaminationCurve) -> None:
    """Raise InputError for contexts without curves, or curves without contexts."""
    of_curve = curve.names if isinstance(curve, ContextCurves) else ()
    if of_curve and not log.context_is_given:
        raise InputError(
            f"There is a curve for each of the contexts {in_words(of_curve)}, but the log has no "
            "context column; say which column contains the contexts.",
            "contexts",
        )
    if log.context_is_given and not of_curve:
        raise InputError(
            "The log has contexts, but one curve was given for all of them; give a curve for each, "
            "or say that no column has contexts.",
            "contexts",
        )
    if of_curve and log.context.max(initial=0) >= len(of_curve):
        raise InputError(
            f"The log has {int(log.context.max()) + 1} contexts, but the curve has "
            f"{len(of_curve)}; give a curve for each.",
            "contexts",
        )


def inspect_together(
    joined: JoinedLog,
    corpus: Corpus,
    curve: ExaminationCurve | None = None,
    *,
    estimator: Estimator = ESTIMATORS["clipped"],
    clip: float = 0.0,
    from_pairs: bool = True,
    curve_name: str = "the curve",
    sees: Sees | None = None,
    continuation: float = 1.0,
) -> Inspection:
    """Check overlap, candidates never shown, preference pairs, weights and the curve's coverage.

    estimator: the estimator that will weight the clicks; clip: its threshold tau, if it has one; 0
    means no threshold, and the clipped estimator is then IPS. Without a curve, or with an estimator
    that needs none, weights are not checked. from_pairs: whether pairs are counted, for a learner
    that learns from them. sees: what the judge of a verdict divides by; None: the same as the
    estimator. continuation: lambda of users who may leave after a click, for a log counted by
    the number of clicks above. Raises InputError for a clip outside [0, 1].
    """
    log, sees = joined.clicks, sees or sees_of(estimator)
    if estimator.fits_relevance and "curve" in estimator.needs:
        estimator = ESTIMATORS["clipped"]  # a click counts the same, and no relevance is at hand
    belief = None
    if curve is not None and "curve" in estimator.needs:
        belief = Belief(curve, clip, continuation=continuation)
    unshown = unshown_candidates(log, curve, sees=sees, name_of=corpus.name_of_document)
    given = _Together(joined, corpus, estimator, from_pairs, belief, curve_name, unshown)
    findings = found_by(CHECKS, given)
    counts = {
        "queries": int(np.count_nonzero(log.draws)),
        "query_draws": log.query_draws,
        "clicks": log.total_clicks,
        "clicked_documents": int(np.count_nonzero(log.clicks_per_document)),
        "clicks_left_out": joined.overlap.clicks - log.total_clicks,
    }
    return Inspection("together", "log and corpus", "", findings, counts)


@dataclass(frozen=True, eq=False)
class _Together:
    """What is used together; belief: None where no curve weighs the clicks."""

    joined: JoinedLog
    corpus: Corpus
    estimator: Estimator
    from_pairs: bool
    belief: Belief | None
    curve_name: str
    unshown: Unshown

    @property
    def log(self) -> ClickLog:
        return self.joined.clicks

    @cached_property
    def numbers(self) -> RowNumbers | None:
        """u and v of each row; a number that is not finite is a finding here, and no error."""
        if self.belief is None:
            return None
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return self.estimator.numbers(self.log, self.belief)

    @cached_property
    def infinite(self) -> tuple[ClickedPosition, ...]:
        """Clicked positions whose clicks have no finite weight."""
        if self.numbers is None:
            return ()
        return _clicked_at(self.log, ~(np.abs(self.numbers.u) < 1.0 / LEAST_PROPENSITY))

    @cached_property
    def weighed(self) -> RowNumbers | None:
        """u and v where every click has a finite weight, None otherwise or without a click."""
        return None if self.infinite or not self.log.total_clicks else self.numbers

    @cached_property
    def diagnostics(self) -> ClickWeightDiagnostics | None:
        """Of the weights of the clicks, where they can be weighed."""
        return None if self.weighed is None else click_weight_diagnostics(self.log, self.weighed)


def _share(value: float) -> str:
    """A share that is never told as nothing."""
    return "less than 0.1%" if 0 < value < 0.001 else f"{value:.1%}"


def _overlap(share: float, sentence: str) -> Seen:
    return graded(share, sentence, stop=share < _LEAST_OVERLAP, warning=share < _GOOD_OVERLAP)


def _queries(given: _Together) -> Seen:
    overlap = given.joined.overlap
    share = overlap.queries_joined / overlap.queries
    return _overlap(
        share,
        f"{overlap.queries_joined:,} of {counted(overlap.queries, 'query', 'queries')} in the "
        f"log ({share:.0%}) {'is' if overlap.queries_joined == 1 else 'are'} among the "
        f"{overlap.corpus_queries:,} in the corpus.",
    )


def _usable_clicks(given: _Together) -> Seen:
    overlap = given.joined.overlap
    share = overlap.clicks_joined / overlap.clicks if overlap.clicks else 0.0
    shown = overlap.impressions_joined / max(overlap.impressions, 1)
    return _overlap(
        share,
        f"{overlap.clicks_joined:,} of {counted(overlap.clicks, 'click')} ({share:.0%}) and "
        f"{shown:.0%} of the impressions belong to candidates in the corpus.",
    )


def _outside(given: _Together) -> Seen:
    outside = given.joined.overlap.clicks_outside
    return graded(
        outside,
        f"{counted(outside, 'click is', 'clicks are')} on documents that are not candidates for "
        f"their query in the corpus{'; such clicks are left out' if outside else ''}.",
        warning=outside > 0,
    )


def _pairs(given: _Together) -> Seen | None:
    """A click gives pairs with all other candidates of its query, so it needs another one."""
    if not given.from_pairs:
        return None
    clicked, sizes = given.log.clicks_per_query, given.corpus.sizes
    useful = int(clicked[sizes > 1].sum())
    lost = given.log.total_clicks - useful
    if not useful:
        return stop(
            0,
            "No click is for a query with a second candidate, so there are no preference pairs to "
            "learn from and no ranker can be trained.",
        )
    pairs = float((clicked * (sizes - 1)).sum())
    one, many = "click for a one-candidate query gives", "clicks for one-candidate queries give"
    rest = f"; {counted(lost, one, many)} none." if lost else "."
    return graded(
        pairs,
        f"{counted(useful, 'click gives', 'clicks give')} "
        f"{counted(round(pairs), 'preference pair')} with the other candidates{rest}",
        warning=lost > 0,
    )


def _coverage(given: _Together) -> Seen | None:
    if given.belief is None:
        return None
    missing = uncovered(given.log, given.belief.curve)
    if not missing:
        return good(0, "Every clicked position has a propensity.")
    first = missing[0]
    return stop(
        len(missing),
        f"{first.words} but no propensity in {given.curve_name}, which ends at rank "
        f"{first.last}; add it, or use the last value for all ranks below.",
    )


def _infinite(given: _Together) -> Seen | None:
    if not given.infinite:
        return None
    return stop(
        sum(position.clicks for position in given.infinite),
        f"{given.infinite[0].words} but propensity 0, which gives an infinite weight; clip at a "
        "threshold above 0, or correct the propensity.",
    )


def _clipping(given: _Together) -> Seen | None:
    belief = given.belief
    if belief is None or given.weighed is None:
        return None
    if "clip" not in given.estimator.needs or not belief.clip:
        return None
    effect = clipping_effect(given.log, given.estimator, belief)
    changed, removed = effect.clicks_changed, effect.weight_removed
    return graded(
        changed,
        f"τ = {belief.clip:g} changes how much {changed:,} of {counted(effect.clicks, 'click')} "
        f"{'counts' if changed == 1 else 'count'}, "
        f"{effect.clicks_without_propensity:,} of them with propensity 0; the others "
        f"{'lose' if removed >= 0 else 'gain'} a total weight of {abs(removed):,.1f}, and all "
        f"clicks now have a total weight of {effect.weight_after:,.1f}.",
        warning=effect.clicks_changed > 0,
    )


def _effective(given: _Together) -> Seen | None:
    found = given.diagnostics
    if found is None:
        return None
    assert given.weighed is not None
    share = found.effective_sample_size / found.clicks
    too_few = too_few_clicks(given.log, given.weighed)
    return graded(
        found.effective_sample_size,
        f"{counted(found.clicks, 'weighted click is', 'weighted clicks are')} worth "
        f"{found.effective_sample_size:,.0f} equally weighted clicks ({share:.0%}); "
        f"{too_few or 'enough for an interval'}.",
        warning=bool(too_few),
    )


def _largest(given: _Together) -> Seen | None:
    found, numbers = given.diagnostics, given.weighed
    if found is None or numbers is None:
        return None
    top = int(np.argmax(click_weights(given.log, numbers)))
    return graded(
        found.largest_weight,
        f"The heaviest click, at position {int(given.log.rank[top]):,}, has weight "
        f"{found.largest_weight:,.3g}.",
        warning=found.largest_weight > LARGE_WEIGHT,
    )


def _heaviest(given: _Together) -> Seen | None:
    if given.weighed is None:
        return None
    heavy = heaviest_share(given.log, given.weighed)
    # Even equal weights put 5 / n on five clicks; and a small share is never 0.0%.
    much = heavy > max(_HEAVY, 2 * HEAVIEST / given.log.total_clicks)
    told = _share(heavy)
    return graded(
        heavy,
        f"The {HEAVIEST} heaviest clicks carry {told} of the total weight"
        f"{'; a few clicks dominate the estimate, so clip.' if much else '.'}",
        warning=much,
    )


def _contradicted_grades(given: _Together) -> Seen | None:
    found = mean_grades(given.log, given.corpus.grades)
    if found is None or found.p_value >= _CONTRADICTED:
        return None
    return warning(
        found.found - found.expected,
        f"Clicks contradict the grades: clicked documents have a mean grade of {found.found:.3g}, "
        f"but from positions and queries alone it would be {found.expected:.3g}; check that each "
        "document has its own grade, and that higher grades mean more relevant.",
    )


CHECKS: tuple[Check[_Together], ...] = (
    Check("queries_in_corpus", "Log queries in the corpus", _queries),
    Check("clicks_in_corpus", "Clicks that can be used", _usable_clicks),
    Check("clicks_outside", "Clicks outside the candidate sets", _outside),
    Check(UNSHOWN.key, UNSHOWN.title, lambda given: _never_shown(given.unshown, given.joined.lost)),
    Check("clicks_against_grades", "Clicks that contradict the grades", _contradicted_grades),
    Check("pairs", "Preference pairs", _pairs),
    Check("propensity_of_each_position", "Clicked positions without a propensity", _coverage),
    Check("zero_propensities", "Clicks with propensity 0", _infinite),
    Check("clipping", "Effect of the threshold τ", _clipping),
    Check("effective_sample_size", "Effective sample size", _effective),
    Check("largest_weight", "Largest weight", _largest),
    Check("heaviest_clicks", f"The {HEAVIEST} heaviest clicks", _heaviest),
)
"""The checks of a corpus, a log and a curve together, in the order in which they are read."""


@dataclass(frozen=True)
class MeanGrades:
    """The mean grade of clicked documents, and the one expected from positions and queries alone.

    p_value: one-sided, of clicks that do not depend on the grade.
    """

    found: float
    expected: float
    p_value: float


def mean_grades(log: ClickLog, grades: NDArray[np.integer]) -> MeanGrades | None:
    """Whether clicks are on documents with lower grades than positions and queries would explain.

    Expected clicks e = n a_q p_k, with n impressions, have the sum of the clicks c in each query q
    and at each rank and context k, so that no curve is assumed and no query counts for its number
    of clicks. The means are sum c g / sum c and sum e g / sum c for grades g [documents]. Over Q
    queries with clicks,

        t = sum_q t_q / (s sqrt(Q)),  t_q = sum over rows of q (c - e) g,

    has about Student's distribution with Q - 1 degrees of freedom if clicks do not depend on the
    grade; s is the standard deviation of t_q. None for fewer than 10 such queries, for grades that
    do not differ, and for a log that contains only clicks.
    """
    if log.clicks_only or np.count_nonzero(log.clicks_per_query) < _FEWEST_QUERIES:
        return None
    keys = np.stack([log.rank.astype(np.int64), log.context.astype(np.int64)])
    _, place = np.unique(keys, axis=1, return_inverse=True)
    query = query_of_document(log.query_offsets)[log.document]
    expected = _two_way(log, query, place.reshape(-1))
    grade = grades[log.document].astype(np.float64)
    excess = np.bincount(query, (log.clicks - expected) * grade)
    excess = excess[np.bincount(query, log.clicks) > 0]
    spread = float(excess.std(ddof=1))
    if spread < _LEAST_SPREAD:
        return None
    t = float(excess.mean()) * math.sqrt(excess.size) / spread
    clicks = log.total_clicks
    return MeanGrades(
        float(log.clicks @ grade) / clicks,
        float(expected @ grade) / clicks,
        float(stdtr(excess.size - 1, t)),
    )


def _two_way(
    log: ClickLog, query: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Expected clicks n a_q p_k with the sums of the clicks, by iterative proportional fitting."""
    expected = log.impressions.astype(np.float64)
    for _ in range(_ROUNDS):
        before = expected
        for group in (query, place):
            sums = np.bincount(group, expected)
            wanted = np.bincount(group, log.clicks)
            factor = np.divide(wanted, sums, out=np.zeros_like(sums), where=sums > 0)
            expected = expected * factor[group]
        if np.abs(expected - before).max() < _SETTLED:
            break
    return expected


def _clicked_at(log: ClickLog, rows: NDArray[np.bool_]) -> tuple[ClickedPosition, ...]:
    chosen = rows & (log.clicks > 0)
    ranks, number = np.unique(log.rank[chosen], return_inverse=True)
    clicks = np.bincount(number, log.clicks[chosen], ranks.size)
    return tuple(
        ClickedPosition(int(r), int(n)) for r, n in zip(ranks.tolist(), clicks, strict=True)
    )


def heaviest_share(log: ClickLog, numbers: Numbers, clicks: int = HEAVIEST) -> float:
    """Share, from 0 to 1, of the total weight u that the heaviest clicks carry.

    numbers [rows]: u and v, or propensities q for u = 1 / q. A log without clicks gives 0. Raises
    InputError if `click_weights` does.
    """
    weight = click_weights(log, numbers)
    total = float((weight * log.clicks).sum())
    if not total:
        return 0.0
    order = np.argsort(-weight, kind="stable")
    before = np.cumsum(log.clicks[order]) - log.clicks[order]
    taken = np.clip(clicks - before, 0, log.clicks[order])
    return float((weight[order] * taken).sum()) / total
