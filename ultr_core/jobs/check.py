"""``check``: what a file is, and whether it can be used."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
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
from ultr_core.jobs.output import finding_line, print_error, share_line, with_option
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
    "Exits with 0 after printing counts and verdicts (good, warning, stop), or with 2 if a file "
    "cannot be read; a sentence about each such file then says what is wrong and where. "
    "--json prints {files: [...], refused: [...]}; each file has kind, name, format, verdict, "
    "sentence, counts and findings; each finding has key, label, value, verdict and words; refused "
    "has the name and words of each file that cannot be read."
)


@dataclass(frozen=True)
class Checked:
    """What was found out about several files, in their order.

    refused: name and error of each file that cannot be read.
    """

    found: tuple[Inspection, ...]
    refused: tuple[tuple[str, InputError], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """What was found, as plain values."""
        return {
            "files": [inspection.as_dict() for inspection in self.found],
            "refused": [
                {"name": name, "words": with_option(error)} for name, error in self.refused
            ],
        }


def run(given: Given) -> Checked:
    """Check every file; of several, one that cannot be read does not keep the others from it."""
    require_directory(given)
    if not given.files and given.log is None:
        raise InputError("Give one or more files to check.", "no_file")
    if given.clicks is not None and given.log is None:
        if len(given.files) != 1:
            raise InputError("--clicks needs a log of views; give that log with --log.", "no_views")
        (views,) = given.files  # as every other command takes it
        given = Given(**{**vars(given), "files": (), "log": views})
    own = None if given.corpus is None else own_corpus(given)
    subjects: list[tuple[str, Callable[[], Iterable[Inspection]]]] = [
        (named(path), partial(_of_file, given, path, own)) for path in given.files
    ]
    if given.log is not None:
        name = log_parts(given.log).name
        subjects.append((name, partial(_of_log, given, name, own)))
    found: list[Inspection] = []
    refused: list[tuple[str, InputError]] = []
    for name, look in subjects:
        try:
            found += look()
        except InputError as error:
            if len(subjects) == 1:
                raise
            text = str(error) if name in str(error) else f"{name}: {error}"
            print_error(InputError(text, error.about))
            refused.append((name, error))
    return Checked(tuple(found), tuple(refused))


def _of_file(given: Given, path: str, own: OwnCorpus | None) -> Iterable[Inspection]:
    if is_log(path, given.columns, given.encoding or None):
        return _of_log(Given(**{**vars(given), "log": path, "clicks": None}), named(path), own)
    return inspect_file(
        path,
        columns=given.columns,
        ids=given.document_ids,
        missing_zero=given.missing_zero,
        how=Reading.of(vars(given)),
        corpus=None if own is None else own.corpus,
        relevant_grade=given.relevant_grade,
        progress=share_line(f"reading {named(path)}"),
    )


def _of_log(given: Given, name: str, own: OwnCorpus | None) -> list[Inspection]:
    log = given_log(given, share_line(f"reading {name}"))
    found = [inspect_log(log, name=name)]
    if own is not None:
        joined = own_join(given, log, own.corpus, own.name)
        found.append(inspect_together(joined, own.corpus, sees="document"))
    return found


def show(checked: Checked) -> None:
    """Print what was found."""
    if checked.found:
        print("\n\n".join(map(_told, checked.found)))


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
    as_dict=Checked.as_dict,
    refused=lambda checked: bool(checked.refused),
    notes=_NOTES,
)  # fmt: skip
