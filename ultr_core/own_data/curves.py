"""What the page Your data and the commands do alike with a reader's corpus, log and curve."""

from __future__ import annotations

from collections.abc import Sequence

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files import packed_proprank, proprank_bytes
from ultr_core.findings import Finding, Severity
from ultr_core.inspection import own_curve
from ultr_core.limits import CURVE_RANKS, LARGEST_TRAINING_FILE
from ultr_core.propensity import LogEstimate, PresentationLog, Weights, table_curve
from ultr_core.users import ExaminationCurve

HEADLINES = ("known_well", "trust_bias")
"""Keys of the findings that a reader sees with the curve itself."""

LOG_ITSELF = "log"
"""What is given in place of a file of propensities for the log's own column."""


def curve_for_log(
    values: Sequence[float], log: PresentationLog | None, *, carry_on: bool = False
) -> ExaminationCurve:
    """The curve of numbers for ranks 1, 2, ..., K, normalised to p_1 = 1.

    carry_on: use the last number for all positions of the log below rank K; without it such
    positions have no propensity. Raises InputError for numbers that are no curve, or a log that
    goes too far down.
    """
    last = last_position(log)
    if not carry_on or last <= len(values):
        return table_curve(values)
    CURVE_RANKS.require(last, "The curve, continued to the last position in the log,")
    return table_curve([*values, *[values[-1]] * (last - len(values))])


def last_position(log: PresentationLog | None) -> int:
    """The lowest position of a log, from 1; 0 without a log."""
    return 0 if log is None else int(log.position.max())


def click_weights(values: Sequence[float]) -> tuple[float | None, ...]:
    """What a click at ranks 1, 2, ..., K counts: max p / p_r; None where p_r = 0.

    >>> click_weights([0.5, 0.25, 0])
    (1.0, 2.0, None)
    """
    top = max(values)
    return tuple(top / value if value > 0 else None for value in values)


def curve_in_log(log: PresentationLog, *, carry_on: bool = False) -> ExaminationCurve:
    """The curve of the log's own column of propensities; see `own_curve` and `curve_for_log`."""
    return curve_for_log(own_curve(log), log, carry_on=carry_on)


def estimate_findings(found: LogEstimate) -> tuple[Finding, ...]:
    """What a reader must know of a curve from a log: how far to trust it, and each gap.

    The first is "known_well", with how many ranks are; "trust_bias", of swaps, has the intercept
    that is farthest from 0; the others have the cause of their gap as key, how many ranks lie in
    it, and what traffic would close it.
    """
    sure: Severity = "good" if found.curve.sure else "warning"
    known = len(found.curve.known)
    return (
        Finding.of_file("known_well", "Ranks measured well", known, sure, found.trust),
        *_of_lines(found),
        *(
            Finding.of_file(
                gap.cause, "Ranks without an estimate", len(gap.ranks), "warning", gap.sentence
            )
            for gap in found.estimate.gaps
        ),
    )


def shown_first(found: LogEstimate) -> tuple[Finding, ...]:
    """The findings in ``HEADLINES``, and each part of ranks that is apart but was clicked.

    A part is joined by documents, but none of them leads to the reference: at its ranks the curve,
    and the weight of each click, is a guess.
    """
    clicked = {rank for rank, clicks in enumerate(found.rates.clicks.tolist(), 1) if clicks}
    apart = {
        gap.sentence
        for gap in found.estimate.gaps
        if gap.cause == "other_part" and not clicked.isdisjoint(gap.ranks)
    }
    return tuple(
        one for one in estimate_findings(found) if one.key in HEADLINES or one.sentence in apart
    )


def _of_lines(found: LogEstimate) -> tuple[Finding, ...]:
    """Whether swaps in two groups of documents show trust bias."""
    if found.lines is None:
        return ()
    said = found.lines.finding
    severity: Severity = "warning" if said.outcome == "does not hold" else "good"
    return (Finding.of_file(said.key, said.title, said.value, severity, said.sentence),)


def training_file(corpus: Corpus, weights: Weights) -> bytes:
    """A training file of svm_proprank, gzipped.

    Raises InputError as `write_proprank` and `training_file_bytes` do.
    """
    training_file_bytes(corpus, weights)
    return packed_proprank(corpus, weights)


def training_file_bytes(corpus: Corpus, weights: Weights) -> int:
    """The most bytes that a training file can take unpacked; see `proprank_bytes`.

    Raises InputError for more bytes than a server makes for a visitor.
    """
    size, limit = proprank_bytes(corpus, weights), LARGEST_TRAINING_FILE
    if size > limit.most:
        raise InputError(
            f"The training file for svm_proprank repeats a query's documents for each clicked "
            f"document and could take {size / 1e6:,.0f} MB; the limit is "
            f"{limit.most / 1e6:,.0f} MB, because {limit.reason}; {limit.remedy}."
        )
    return size
