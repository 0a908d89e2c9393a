"""Checks of a corpus, a log and a propensity curve as they will be used together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.findings import Finding, Severity
from ultr_core.inspection.findings import Inspection
from ultr_core.inspection.joined import JoinedLog, Overlap
from ultr_core.inspection.of_curve import LARGE_WEIGHT
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    Estimator,
    Numbers,
    RelativeCurve,
    RowNumbers,
    click_weight_diagnostics,
    click_weights,
    clipping_effect,
)
from ultr_core.propensity.row_numbers import LEAST_PROPENSITY
from ultr_core.users import ClickLog, ExaminationCurve, TableCurve
from ultr_core.words import counted

MANY_UNSHOWN = 0.05
"""Share of candidates never shown from which rankers are not compared: they lie where the log's
rankers put them, at the end, so where lists of 6 to 15 candidates were cut such that 5% were never
shown, two fifths of a difference in risk were gone, and where 32% were, its sign was wrong."""

MANY_PLACES = 0.1
"""Share of the candidates' places below the log's lowest position that has the same effect where
rankers take turns, so that a candidate is shown sometimes and counts for less than it should."""

NOT_BY_CHANCE = 20
"""Draws of a query from which a candidate that was never shown is no accident: one that was shown
in 14% of the draws or more would be missing with probability 0.05 at most."""


@dataclass(frozen=True)
class Unshown:
    """How much of the candidate sets a log leaves out, over the queries that it drew.

    candidates: of these queries. never: of them, those without an impression; lasting: of those,
    the ones that are not missing by chance, because their query was drawn ``NOT_BY_CHANCE`` times
    or its list goes on below ``lowest``, the lowest position of the log. below: share of all
    (draw, place in the list) that lie below it. clicks_only: whether every impression was clicked,
    so that the log does not say what was shown.
    """

    candidates: int
    never: int
    lasting: int
    lowest: int
    below: float
    clicks_only: bool

    @property
    def severity(self) -> Severity:
        """stop from ``MANY_UNSHOWN`` or ``MANY_PLACES`` on, warning where anything is left out."""
        if self.clicks_only:
            return "warning"
        if self.lasting >= MANY_UNSHOWN * self.candidates > 0 or self.below >= MANY_PLACES:
            return "stop"
        return "warning" if self.never or self.below else "good"

    @property
    def what(self) -> str:
        """What is left out, as a clause; "" where nothing is."""
        if self.clicks_only:
            return "the log holds clicks only, so it does not say which candidates were shown"
        if self.never:
            share = self.never / self.candidates
            percent = f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
            noun = "was" if self.never == 1 else "were"
            candidates = counted(self.candidates, "candidate")
            return f"{self.never:,} of {candidates} ({percent}) {noun} never shown"
        if self.below:
            return (
                f"the log ends at position {self.lowest:,}, and {self.below:.1%} of the places of "
                "the candidates lie below"
            )
        return ""

    @property
    def consequence(self) -> str:
        """What that means for a comparison of rankers, as a clause after ``what``."""
        if self.clicks_only:
            return "what users saw is known by its clicks only"
        return "clicks say nothing of those"

    @property
    def withheld(self) -> bool:
        """Whether so much is left out that these clicks cannot compare rankers."""
        return self.severity == "stop"

    def finding(self) -> Finding:
        """The check, for a reader."""
        key, label, told = "never_shown", "Candidates never shown", self.what
        words = f"{told[:1].upper()}{told[1:]}"
        if self.clicks_only:
            return Finding.of_file(
                key, label, None, "warning",
                f"{words}. Risks are those of clicked presentations: do not read their level.",
            )  # fmt: skip
        if not told:
            words = f"All {self.candidates:,} candidates of the queries in the log were shown."
            if self.candidates == 1:
                words = "The one candidate of the query in the log was shown."
            return Finding.of_file(key, label, 0, "good", words)
        words += (
            ". No click can come from there, so estimated risks leave out relevant documents, and "
            "how much that is differs from ranker to ranker"
        )
        if self.withheld:
            words += "; these clicks cannot say which ranker is better"
        elif not self.lasting and not self.below:
            words += "; it may be chance, for their queries were drawn rarely"
        return Finding.of_file(key, label, self.never, self.severity, f"{words}.")


def unshown_candidates(log: ClickLog) -> Unshown:
    """Count what a log leaves out of the candidate sets of the queries that it drew.

    Equation 5 is unbiased only if every relevant document was shown where its propensity is above
    0 (section 4.1); below a cut no data removes the bias (Oosterhuis and de Rijke, SIGIR 2020).
    """
    sizes, draws = np.diff(log.query_offsets), log.draws
    impressions = np.bincount(log.document, log.impressions, log.n_documents)
    seen = log.impressions > 0
    lowest = int(log.rank[seen].max()) if seen.any() else 0
    never = np.repeat(draws > 0, sizes) & (impressions == 0)
    lasting = never & np.repeat((draws >= NOT_BY_CHANCE) | (sizes > lowest), sizes)
    places = float(draws @ sizes)
    return Unshown(
        candidates=int(sizes[draws > 0].sum()),
        never=int(np.count_nonzero(never)),
        lasting=int(np.count_nonzero(lasting)),
        lowest=lowest,
        below=float(draws @ np.maximum(sizes - lowest, 0)) / places if places else 0.0,
        clicks_only=log.clicks_only,
    )


HEAVIEST = 5
"""Clicks whose share of the whole weight is told."""

_GOOD_OVERLAP, _LEAST_OVERLAP = 0.95, 0.05
_SMALL_SAMPLE = 0.1  # effective sample size as a share of the clicks
_HEAVY = 0.2  # share of the weight on the five heaviest clicks


@dataclass(frozen=True)
class ClickedPosition:
    """A clicked position without a usable propensity: its rank and clicks."""

    rank: int
    clicks: int


def last_rank_of(curve: ExaminationCurve) -> int | None:
    """The last rank that a curve gives a number for; None for one that covers all ranks."""
    return len(curve.values) if isinstance(curve, TableCurve | RelativeCurve) else None


def uncovered(log: ClickLog, curve: ExaminationCurve) -> tuple[ClickedPosition, ...]:
    """Clicked positions below the last rank of a curve, best first."""
    last = last_rank_of(curve)
    if last is None:
        return ()
    return _clicked_at(log, log.rank > last)


def require_covered(log: ClickLog, curve: ExaminationCurve, name: str = "the curve") -> None:
    """Raise InputError naming the first clicked position that the curve gives no number for.

    Propensities of positions that never occur do no harm.
    """
    missing = uncovered(log, curve)
    if missing:
        first = missing[0]
        raise InputError(
            f"Position {first.rank:,} has {_clicks(first.clicks)} but no propensity: {name} gives "
            f"ranks 1 to {last_rank_of(curve)}; add the position, or carry the last value on.",
            "carry_on",
        )


def inspect_together(
    joined: JoinedLog,
    corpus: Corpus,
    curve: ExaminationCurve | None = None,
    *,
    estimator: Estimator = ESTIMATORS["clipped"],
    clip: float = 0.0,
    curve_name: str = "the curve",
) -> Inspection:
    """Check overlap, candidates never shown, preference pairs, coverage of the curve and weights.

    estimator: what will weigh the clicks, where it needs a curve; clip: the threshold tau of one
    that clips, 0 for none, at which the clipped estimator is IPS. Without a curve, or for an
    estimator that needs none, the weights are not looked at. Raises InputError for a clip outside
    [0, 1].
    """
    log = joined.clicks
    findings = [
        *_overlap(joined.overlap),
        unshown_candidates(log).finding(),
        _pairs(log, corpus),
    ]
    if curve is not None and "curve" in estimator.needs:
        weights = _weights(log, estimator, Belief(curve, clip))
        findings += [_coverage(log, curve, curve_name), *weights]
    counts = {**_counts(log), "clicks_left_out": joined.overlap.clicks - log.total_clicks}
    return Inspection("together", "log and corpus", "", tuple(findings), counts)


def _counts(log: ClickLog) -> dict[str, int]:
    return {
        "queries": int(np.count_nonzero(log.draws)),
        "query_draws": log.query_draws,
        "clicks": log.total_clicks,
        "clicked_documents": int(np.count_nonzero(log.clicks_per_document)),
    }


def _overlap(overlap: Overlap) -> list[Finding]:
    queries = overlap.queries_joined / overlap.queries
    clicks = overlap.clicks_joined / overlap.clicks if overlap.clicks else 0.0
    shown = overlap.impressions_joined / max(overlap.impressions, 1)
    outside = overlap.clicks_outside
    return [
        Finding.of_file(
            "queries_in_corpus",
            "Queries of the log that the corpus has",
            queries,
            _severity(queries),
            f"{overlap.queries_joined:,} of {counted(overlap.queries, 'query', 'queries')} of the "
            f"log ({queries:.0%}) {'is' if overlap.queries_joined == 1 else 'are'} among the "
            f"{overlap.corpus_queries:,} of the corpus.",
        ),
        Finding.of_file(
            "clicks_in_corpus",
            "Clicks that can be used",
            clicks,
            _severity(clicks) if overlap.clicks_joined else "stop",
            f"{overlap.clicks_joined:,} of {counted(overlap.clicks, 'click')} ({clicks:.0%}) and "
            f"{shown:.0%} of the impressions are on candidates of the corpus.",
        ),
        Finding.of_file(
            "clicks_outside",
            "Clicks outside the candidate sets",
            outside,
            "warning" if outside else "good",
            f"{counted(outside, 'click is', 'clicks are')} on documents that are no candidates of "
            f"their query in the corpus{'; such clicks are left out' if outside else ''}.",
        ),
    ]


def _severity(share: float) -> Severity:
    if share < _LEAST_OVERLAP:
        return "stop"
    return "good" if share >= _GOOD_OVERLAP else "warning"


def _pairs(log: ClickLog, corpus: Corpus) -> Finding:
    """A click gives pairs with all other candidates of its query, so it needs another one."""
    clicked = log.clicks_per_query
    useful = int(clicked[corpus.sizes > 1].sum())
    lost = log.total_clicks - useful
    if not useful:
        return Finding.of_file(
            "pairs", "Preference pairs", 0, "stop",
            "No click is on a query with a second candidate, so there is no preference pair to "
            "learn from and no ranker.",
        )  # fmt: skip
    pairs = float((clicked * (corpus.sizes - 1)).sum())
    return Finding.of_file(
        "pairs", "Preference pairs", pairs, "warning" if lost else "good",
        f"{counted(useful, 'click gives', 'clicks give')} "
        f"{counted(round(pairs), 'preference pair')} with the other candidates"
        + (f"; {_clicks(lost)} on queries with one candidate gave none." if lost else "."),
    )  # fmt: skip


def _coverage(log: ClickLog, curve: ExaminationCurve, name: str) -> Finding:
    key, label = "propensity_of_each_position", "Clicked positions without a propensity"
    missing = uncovered(log, curve)
    if not missing:
        return Finding.of_file(key, label, 0, "good", "Every clicked position has a propensity.")
    first = missing[0]
    return Finding.of_file(
        key, label, len(missing), "stop",
        f"Position {first.rank:,} has {_clicks(first.clicks)} but no propensity in {name}, which "
        f"ends at rank {last_rank_of(curve)}; add it, or carry the last value on.",
    )  # fmt: skip


def _clicked_at(log: ClickLog, rows: NDArray[np.bool_]) -> tuple[ClickedPosition, ...]:
    chosen = rows & (log.clicks > 0)
    ranks, number = np.unique(log.rank[chosen], return_inverse=True)
    clicks = np.bincount(number, log.clicks[chosen], ranks.size)
    return tuple(
        ClickedPosition(int(r), int(n)) for r, n in zip(ranks.tolist(), clicks, strict=True)
    )


def _weights(log: ClickLog, estimator: Estimator, belief: Belief) -> list[Finding]:
    # A number that is not finite is a finding here, and no error.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        numbers = estimator.numbers(log, belief)
    unseen = _clicked_at(log, ~(np.abs(numbers.u) < 1.0 / LEAST_PROPENSITY))
    findings = []
    if unseen:
        first = unseen[0]
        return [
            Finding.of_file(
                "zero_propensities",
                "Clicks with propensity 0",
                sum(position.clicks for position in unseen),
                "stop",
                f"Position {first.rank:,} has {_clicks(first.clicks)} but propensity 0, an "
                "infinite weight; clip at a threshold above 0, or correct the propensity.",
            )
        ]
    if not log.total_clicks:
        return []
    if "clip" in estimator.needs and belief.clip > 0:
        findings.append(_clipping(log, belief.curve.at(log.rank), belief.clip))
    return [*findings, *_concentration(log, numbers)]


def _clipping(log: ClickLog, propensity: NDArray[np.float64], clip: float) -> Finding:
    effect = clipping_effect(log, propensity, clip)
    words = (
        f"Clipped at τ = {clip:g}: {effect.clicks_changed:,} of "
        f"{counted(effect.clicks, 'click')} changed, "
        f"{effect.clicks_without_propensity:,} of them with propensity 0; the others lost a weight "
        f"of {effect.weight_removed:,.1f}, and {effect.weight_after:,.1f} remains in all."
    )
    return Finding.of_file(
        "clipping", "Clipping", effect.clicks_changed,
        "warning" if effect.clicks_changed else "good", words,
    )  # fmt: skip


def _concentration(log: ClickLog, numbers: RowNumbers) -> list[Finding]:
    found = click_weight_diagnostics(log, numbers)
    share = found.effective_sample_size / found.clicks
    heavy = heaviest_share(log, numbers)
    # Even equal weights put 5 / n on five clicks.
    much = heavy > max(_HEAVY, 2 * HEAVIEST / found.clicks)
    weights = click_weights(log, numbers)
    top = int(np.argmax(weights))
    return [
        Finding.of_file(
            "effective_sample_size",
            "Effective sample size",
            found.effective_sample_size,
            "warning" if share < _SMALL_SAMPLE else "good",
            f"{counted(found.clicks, 'weighted click is', 'weighted clicks are')} worth "
            f"{found.effective_sample_size:,.0f} equal ones  ({share:.0%}).",
        ),
        Finding.of_file(
            "largest_weight",
            "Largest weight",
            found.largest_weight,
            "warning" if found.largest_weight > LARGE_WEIGHT else "good",
            f"The heaviest click, at position {int(log.rank[top]):,}, weighs "
            f"{found.largest_weight:,.3g}.",
        ),
        Finding.of_file(
            "heaviest_clicks",
            f"The {HEAVIEST} heaviest clicks",
            heavy,
            "warning" if much else "good",
            f"The {HEAVIEST} heaviest clicks carry {_share(heavy)} of the whole weight"
            + ("; a few clicks decide the estimate, so clip." if much else "."),
        ),
    ]


def heaviest_share(log: ClickLog, numbers: Numbers, clicks: int = HEAVIEST) -> float:
    """Share of the summed weight u of all clicks that the heaviest carry, 0 to 1.

    numbers [rows]: u and v, or propensities q for u = 1 / q. A log without clicks gives 0. Raises
    InputError as `click_weights` does.
    """
    weight = click_weights(log, numbers)
    total = float((weight * log.clicks).sum())
    if not total:
        return 0.0
    order = np.argsort(-weight, kind="stable")
    before = np.cumsum(log.clicks[order]) - log.clicks[order]
    taken = np.clip(clicks - before, 0, log.clicks[order])
    return float((weight[order] * taken).sum()) / total


def _share(share: float) -> str:
    """A share in percent, a small one never as 0.0%."""
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _clicks(number: int) -> str:
    return counted(number, "click")
