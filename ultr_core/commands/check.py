"""``check``: what a file is, and whether it can be used."""

from __future__ import annotations

import argparse
import textwrap

from ultr_core.commands.own_files import (
    add_columns_option,
    add_own_corpus_option,
    finding_line,
    own_columns,
    own_corpus,
    own_part,
    share_line,
)
from ultr_core.commands.shared import (
    OK,
    add_json_option,
    add_setting_options,
    option_value,
    print_json,
)
from ultr_core.files import read_log
from ultr_core.inspection import (
    Inspection,
    inspect_file,
    inspect_together,
    join_log,
)
from ultr_core.settings import PARAMETERS

_NOTES = (
    "Exit code 0 with counts and verdicts (good, warning, stop), or 2 with the sentence that says "
    "what is wrong and where. --json prints {files: [...]}; each has kind, name, format, verdict, "
    "sentence, counts and findings, and each finding has key, label, value, verdict and words."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _NOTES
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="LETOR file or directory, click log (CSV, gzip, Parquet), propensity curve (CSV), "
        "ranker (JSON, svm_light), svm_proprank file, or scores with --corpus; told by content",
    )
    add_own_corpus_option(parser, required=False)
    add_columns_option(parser)
    add_setting_options(parser, ("relevant_grade",))
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Check every file and print what was found."""
    grade = option_value(options, PARAMETERS["relevant_grade"])
    own_part(options)
    own = None if options.corpus is None else own_corpus(options)
    found: list[Inspection] = []
    for path in options.files:
        inspected = inspect_file(
            path,
            columns=own_columns(options),
            corpus=None if own is None else own.corpus,
            relevant_grade=grade,
            progress=share_line(f"reading {path}"),
        )
        found += inspected
        if own is not None and inspected[0].kind == "log":
            joined = join_log(
                read_log(path, columns=own_columns(options)), own.corpus, name=own.name
            )
            found.append(inspect_together(joined, own.corpus))
    if options.json:
        print_json({"files": [inspection.as_dict() for inspection in found]})
    else:
        print("\n\n".join(map(_told, found)))
    return OK


def _told(inspection: Inspection) -> str:
    form = f" ({inspection.format})" if inspection.format else ""
    lines = [f"{inspection.name}: {inspection.kind}{form}. {inspection.sentence}"]
    for finding in inspection.findings:
        lines.append(textwrap.fill(finding_line(finding), width=100, subsequent_indent=" " * 12))
    return "\n".join(lines)
