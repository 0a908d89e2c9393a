"""What the jobs on a reader's own files share: their fields, corpus, log and propensities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, CorpusSplits
from ultr_core.corpus.feature_matrix import scale_notice
from ultr_core.errors import InputError, checked_path, named, quoted
from ultr_core.fields import Choice, Field, Number, Switch
from ultr_core.files import (
    load_corpus,
    load_directory,
    read_curves,
)
from ultr_core.files.name_tables import read_names
from ultr_core.files.score_files import read_score_file
from ultr_core.files.trec_files import read_qrels
from ultr_core.findings import Finding
from ultr_core.inspection import (
    Inspection,
    JoinedLog,
    Sees,
    inspect_curve,
    inspect_log,
    inspect_together,
    join_log,
    own_curve,
)
from ultr_core.inspection.of_curve import OF_TRUST
from ultr_core.jobs.files import DOCUMENT_IDS, LOG, MISSING_ZERO, READING, File, given_log
from ultr_core.jobs.job import Given
from ultr_core.jobs.output import print_notes, share_line
from ultr_core.learners import LEARNERS, SVM
from ultr_core.own_data.continued import against_log
from ultr_core.own_data.curves import LOG_ITSELF, curve_for_log
from ultr_core.own_data.deployment import MOST_CANDIDATES
from ultr_core.own_data.fitting import DEFAULT_METHOD, FIT_METHODS
from ultr_core.propensity import (
    ESTIMATORS,
    ContextCurves,
    ContinuationEstimate,
    Estimator,
    PresentationLog,
    estimate_continuation,
)
from ultr_core.settings import PARAMETERS
from ultr_core.users import ClickLog, ExaminationCurve, PowerLaw
from ultr_core.words import counted

_TOLD_BY_READER = (
    "columns", "copies", "unused", "contradicted", "rows_left_out", "clicks_without_position",
    "positions", "repeated_on_page", "rank_changes",
)  # fmt: skip


METHOD = Choice(
    "method", "Method", {key: ESTIMATORS[key].label for key in FIT_METHODS},
    default=DEFAULT_METHOD, help="click weights",
)  # fmt: skip
LEARNER = Choice(
    "learner", "Learner", {key: learner.label for key, learner in LEARNERS.items()},
    default=SVM.key, help="what is trained on the weights",
)  # fmt: skip
CLIP = Number("clip", "Threshold τ", 0, 1, above=True, decimals=None)
LOGGER_SCORES = File(
    "logger_scores", "",
    help="scores that the lists were ranked by: a list (one score per row of the corpus), a table "
    "or a TREC run. They serve as one more feature for --method direct and doubly-robust, whose "
    "fitted relevance must explain why documents were shown where they were",
)  # fmt: skip


@dataclass(frozen=True)
class Continuation(Number):
    """λ, or the word for the log's own estimate."""

    def checked(self, value: Any) -> float | str:
        """The number or the word; raises InputError for anything else."""
        return LOG_ITSELF if value == LOG_ITSELF else float(super().checked(value))


CONTINUATION = Continuation(
    "continuation", "", 0, 1, above=True, decimals=None, default=None,
    help="probability λ that a user continues after a click, or the word log to estimate it from "
    "fixed lists; clicks are then weighted with hindsight propensities, for which the log must "
    "have a row for each document shown and the ids of presentations; default: no user leaves",
)  # fmt: skip
CANDIDATES = Number(
    "candidates", "", 1, MOST_CANDIDATES, default=1,
    help="for --gate: how many rankers were compared on this log before this one was chosen; more "
    "rankers make the gate stricter",
)  # fmt: skip
CORPUS = File(
    "corpus", "", metavar="PATH",
    help="LETOR file, plain or gzipped, or a directory with train.txt, vali.txt and test.txt",
)  # fmt: skip
PART = Choice(
    "part", "", {part: part for part in ("train", "validation", "test")},
    help="the part of the directory that the log belongs to",
)  # fmt: skip
QRELS = File(
    "qrels", "", metavar="FILE",
    help="TREC judgements (query 0 document grade) to use instead of the corpus's own grades",
)  # fmt: skip
TABLES = (
    File(
        "query_texts", "", metavar="FILE.csv",
        help="table with the id of each query text in the log: columns query_id and text",
    ),
    File(
        "document_names", "", metavar="FILE.csv",
        help="table with the id of each document name in the log: columns document_id and name",
    ),
)  # fmt: skip
OWN_FIELDS: tuple[Field, ...] = (
    replace(CORPUS, required=True),
    PART,
    MISSING_ZERO,
    DOCUMENT_IDS,
    QRELS,
    replace(LOG, required=True),
    *READING,
    File(
        "propensities", "", metavar="CURVE.csv",
        help="examination by rank: a CSV file with the columns rank and propensity, and context if "
        "each context has its own curve, or the word log to use the log's own column",
    ),
    *TABLES,
    replace(PARAMETERS["eta"], default=None, help="instead of a curve: assume p_r = (1/r)^X"),
    Switch("carry_on", "", help="use the last value of the curve for all positions below it"),
)  # fmt: skip
"""Corpus, log and propensities: what training and judging a ranker begin with."""


@dataclass(frozen=True)
class OwnCorpus:
    """The corpus that a log belongs to, and the directory's parts where it comes from one."""

    corpus: Corpus
    name: str
    splits: CorpusSplits | None


def own_corpus(given: Given) -> OwnCorpus:
    """Load ``--corpus``; raises InputError if it or ``--part`` cannot be used."""
    require_directory(given)
    path = checked_path(given.corpus, "The corpus")
    progress = share_line("reading the corpus")
    if path.exists() and not path.is_dir() and PART.name in given.asked:
        raise InputError(
            f"--part chooses a part of a directory, but {named(given.corpus)} is one file; leave "
            "--part out, or give the directory.",
            "part_of_directory",
        )
    if not path.is_dir():
        whole = _graded(given, load_corpus(path, ids=given.document_ids, progress=progress))
        print_notes((*whole.notices, *scale_notice(whole.features, whole.feature_ids)))
        return OwnCorpus(whole, named(path.name), None)
    splits = load_directory(
        path, ids=given.document_ids, missing_zero=given.missing_zero, progress=progress
    )
    print_notes(splits.notices)
    corpus = _graded(given, getattr(splits, given.part))
    print_notes(corpus.notices[len(getattr(splits, given.part).notices) :])
    return OwnCorpus(corpus, f"the {given.part} part of {splits.name}", splits)


def require_directory(given: Given) -> None:
    """Raise InputError if a part is named without a directory that it could be of."""
    if given.corpus is None and PART.name in given.asked:
        raise InputError(
            "--part chooses a part of a directory; give the directory with --corpus.",
            "part_of_directory",
        )


def _graded(given: Given, corpus: Corpus) -> Corpus:
    """The corpus with the grades of ``--qrels``, or its own."""
    path = vars(given).get("qrels")
    return corpus if path is None else read_qrels(path, corpus)


def own_join(
    given: Given, log: PresentationLog, corpus: Corpus, name: str, *, shown_whole: bool = False
) -> JoinedLog:
    """Log and corpus joined, with the tables of names; raises InputError if `join_log` does."""
    tables = [getattr(given, field.name) for field in TABLES]
    queries, documents = (None if path is None else read_names(path) for path in tables)
    return join_log(
        log, corpus, name=name, queries=queries, documents=documents, shown_whole=shown_whole
    )


def own_logger_scores(given: Given, corpus: Corpus) -> NDArray[np.float64] | None:
    """Read ``--logger-scores``, with notes on standard error; None if they are not given."""
    if given.logger_scores is None:
        return None
    scores, notices = read_score_file(given.logger_scores, corpus)
    print_notes(notices)
    return scores


def own_continuation(
    given: Given, log: ClickLog, corpus: Corpus
) -> tuple[float | ContinuationEstimate | None, tuple[Finding, ...]]:
    """The λ of ``--continuation``, estimated and noted if it is the log's; None without one.

    With what the log says of a given number, where it can test it. Raises InputError if
    `estimate_continuation` does.
    """
    if given.continuation is None:
        return None, ()
    if given.continuation != LOG_ITSELF:
        return float(given.continuation), against_log(given.continuation, log)
    found = estimate_continuation(log, name_of=corpus.name_of_document)
    print_notes([f"λ = {found.words}."])
    return found, ()


def own_log(given: Given) -> PresentationLog:
    """Read ``--log``, notes to standard error; raises InputError if it cannot be used."""
    log = given_log(given, share_line("reading the click log"))
    print_notes(log.notices)
    return log


def check_propensities(given: Given) -> None:
    """Raise InputError for two curves at once, or none to carry on; before files are read."""
    require_directory(given)
    if given.propensities is not None and given.eta is not None:
        raise InputError("--propensities replaces --eta; give one of the two.", "one_of_two")
    if given.carry_on and given.propensities is None:
        raise InputError(
            "--carry-on continues the curve of --propensities below its last rank, but no curve "
            "is given; give one, or leave --carry-on out.",
            "nothing_to_carry_on",
        )


def own_propensities(
    given: Given, log: PresentationLog
) -> tuple[ExaminationCurve | None, tuple[Finding, ...]]:
    """The curve of ``--propensities`` or ``--eta``, None where neither is given.

    With what ``check`` warns of in its numbers, and what its file says of trust bias. Raises
    InputError for a curve that cannot be used.
    """
    if given.propensities is None:
        return (None if given.eta is None else PowerLaw(given.eta)), ()
    trust: dict[str, str] = {}
    found: list[float] | dict[str, list[float]]
    if given.propensities == LOG_ITSELF:
        names = log.context_names
        found = {name: own_curve(log.in_contexts((name,))) for name in names} or own_curve(log)
    else:
        found, trust = read_curves(given.propensities)
    if isinstance(found, list):
        return _curve(given, log, found, trust)
    by_context = _of_contexts(given, log, found)
    each = [_curve(given, log, values, trust, name) for name, values in by_context.items()]
    curves = ContextCurves(tuple(by_context), tuple(curve for curve, _ in each))
    return curves, tuple(found for _, odd in each for found in odd)


def _curve(
    given: Given,
    log: PresentationLog,
    values: Sequence[float],
    trust: Mapping[str, str],
    context: str = "",
) -> tuple[ExaminationCurve, tuple[Finding, ...]]:
    curve = curve_for_log(values, log, carry_on=given.carry_on)
    found = inspect_curve(values, trust_bias=trust.get(context, "")).findings
    odd = [
        each for each in found
        if each.key == OF_TRUST.key
        or (each.key in ("scale", "shape") and each.severity != "good")
    ]  # fmt: skip
    where = f"Context {quoted(context)}: " if context else ""
    return curve, tuple(replace(each, sentence=f"{where}{each.sentence}") for each in odd)


def _of_contexts(
    given: Given, log: PresentationLog, found: dict[str, list[float]]
) -> dict[str, list[float]]:
    """The curves in the order of the log's contexts, or as they are for a log without contexts.

    Raises InputError, naming them and their clicks, for contexts of the log without a curve.
    """
    names = log.context_names
    if not names:
        return found
    lacking = [name for name in names if name not in found]
    if lacking:
        clicks = [int(log.in_contexts((name,)).clicks.sum()) for name in lacking]
        each = ", ".join(
            f"{quoted(name)} ({counted(number, 'click')})"
            for name, number in zip(lacking, clicks, strict=True)
        )
        raise InputError(
            f"{named(given.propensities)} has no curve for the context"
            f"{'s' if len(lacking) > 1 else ''} {each} in the log; add "
            f"{'their curves' if len(lacking) > 1 else 'its curve'}, or leave out "
            f"{'their' if len(lacking) > 1 else 'its'} rows.",
            "context_without_curve",
        )
    return {name: found[name] for name in names}


def own_checks(
    log: PresentationLog,
    joined: JoinedLog,
    corpus: Corpus,
    curve: ExaminationCurve | None,
    *,
    estimator: Estimator = ESTIMATORS["clipped"],
    clip: float = 0.0,
    from_pairs: bool = True,
    sees: Sees | None = None,
    continuation: float | None = None,
    more: Iterable[Finding] = (),
) -> Inspection:
    """Checks of log, corpus and curve together, and what ``check`` finds to look at in the log.

    more: further findings; the rest is as in `inspect_together`.
    """
    together = inspect_together(
        joined, corpus, curve, estimator=estimator, clip=clip, from_pairs=from_pairs, sees=sees,
        continuation=1.0 if continuation is None else continuation,
    )  # fmt: skip
    return replace(together, findings=(*together.findings, *inspect_log(log).warnings, *more))


def print_beside(
    given: Given, log: PresentationLog, checks: Inspection, notices: Iterable[str]
) -> None:
    """Print notices, and beside JSON, which nobody reads on a screen, the warnings of checks.

    Text shows all checks, so that it leaves out notices that they repeat; what the reader of the
    log has told is not told again.
    """
    if not given.json:
        told = {finding.sentence for finding in checks.findings}
        print_notes(notice for notice in notices if notice not in told)
        return
    known = set(_TOLD_BY_READER)
    if log.merged_events or (log.presentations is not None and log.presentations.repeated):
        known.add("repeated_rows")  # which warns of rows that the reader is silent on as well
    warned = (finding.sentence for finding in checks.warnings if finding.key not in known)
    print_notes(dict.fromkeys((*notices, *warned)))
