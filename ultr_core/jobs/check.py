"""``check``: what a file is, and whether it can be used."""

from __future__ import annotations

import textwrap
from typing import Any

from ultr_core.errors import InputError, named
from ultr_core.files.log_parts import log_parts
from ultr_core.files.log_reading import Reading
from ultr_core.inspection import (
    Inspection,
    inspect_file,
    inspect_log,
    inspect_together,
    is_log,
)
from ultr_core.jobs.files import DOCUMENT_IDS, LOG, MISSING_ZERO, READING, File, given_log
from ultr_core.jobs.job import Given, Job, setting_fields
from ultr_core.jobs.output import finding_line, share_line
from ultr_core.jobs.own_files import (
    CORPUS,
    PART,
    QRELS,
    TABLES,
    OwnCorpus,
    own_corpus,
    own_join,
    require_directory,
)

_NOTES = (
    "Exits with 0 after printing counts and verdicts (good, warning, stop), or with 2 and one "
    "sentence that says what is wrong and where. --json prints {files: [...]}; each has kind, "
    "name, format, verdict, sentence, counts and findings, and each finding has key, label, value, "
    "verdict and words."
)


def run(given: Given) -> list[Inspection]:
    """Check every file."""
    require_directory(given)
    if not given.files and given.log is None:
        raise InputError("Give one or more files to check.", "no_file")
    if given.clicks is not None and given.log is None:
        if len(given.files) != 1:
            raise InputError("--clicks needs a log of views; give that log with --log.", "no_views")
        (views,) = given.files  # as every other command takes it
        given = Given(**{**vars(given), "files": (), "log": views})
    own = None if given.corpus is None else own_corpus(given)
    found: list[Inspection] = []
    for path in given.files:
        if is_log(path, given.columns, given.encoding or None):
            found += _of_log(
                Given(**{**vars(given), "log": path, "clicks": None}), named(path), own
            )
            continue
        found += inspect_file(
            path,
            columns=given.columns,
            ids=given.document_ids,
            missing_zero=given.missing_zero,
            how=Reading.of(vars(given)),
            corpus=None if own is None else own.corpus,
            relevant_grade=given.relevant_grade,
            progress=share_line(f"reading {named(path)}"),
        )
    if given.log is not None:
        found += _of_log(given, log_parts(given.log).name, own)
    return found


def _of_log(given: Given, name: str, own: OwnCorpus | None) -> list[Inspection]:
    log = given_log(given, share_line(f"reading {name}"))
    found = [inspect_log(log, name=name)]
    if own is not None:
        joined = own_join(given, log, own.corpus, own.name)
        found.append(inspect_together(joined, own.corpus, sees="document"))
    return found


def as_dict(found: list[Inspection]) -> dict[str, Any]:
    """What was found, as plain values."""
    return {"files": [inspection.as_dict() for inspection in found]}


def show(found: list[Inspection]) -> None:
    """Print what was found."""
    print("\n\n".join(map(_told, found)))


def _told(inspection: Inspection) -> str:
    form = f" ({inspection.format})" if inspection.format else ""
    lines = [f"{inspection.name}: {inspection.kind}{form}. {inspection.sentence}"]
    for finding in inspection.findings:
        lines.append(textwrap.fill(finding_line(finding), width=100, subsequent_indent=" " * 12))
    return "\n".join(lines)


JOB = Job(
    run,
    arguments=(
        File(
            "files", "", several=True, default=(),
            help="LETOR file or directory, click log (CSV, JSON lines, Parquet; a pattern in "
            "quotation marks or a directory of parts is one log), propensity curve (CSV), ranker "
            "(JSON, svm_light, LightGBM), svm_proprank file, or scores with --corpus; recognised "
            "by content",
        ),
    ),
    options=(
        CORPUS,
        PART,
        MISSING_ZERO,
        DOCUMENT_IDS,
        QRELS,
        LOG,
        *READING,
        *TABLES,
        *setting_fields("relevant_grade"),
    ),
    show=show,
    as_dict=as_dict,
    notes=_NOTES,
)  # fmt: skip
