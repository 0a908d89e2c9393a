"""What the commands on a reader's own files share: corpus, log, propensities, safe outputs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ultr_core.commands.remedies import option_of, with_option
from ultr_core.commands.shared import option_value, print_notes, progress_line
from ultr_core.corpus import Corpus, CorpusSplits
from ultr_core.errors import InputError, checked_path, named, quoted
from ultr_core.fields import Number
from ultr_core.files import load_corpus, load_directory, parse_columns, read_curve_values, read_log
from ultr_core.files.disk import output_path
from ultr_core.findings import Finding
from ultr_core.inspection import (
    Inspection,
    JoinedLog,
    inspect_log,
    inspect_together,
    own_curve,
)
from ultr_core.own_data.curves import LOG_ITSELF, curve_for_log
from ultr_core.propensity import ESTIMATORS, Estimator, PresentationLog
from ultr_core.settings import PARAMETERS
from ultr_core.users import ExaminationCurve, PowerLaw

PARTS = ("train", "validation", "test")
_TOLD_BY_READER = (
    "columns", "rows_left_out", "clicks_without_position", "positions", "repeated_on_page",
    "rank_changes",
)  # fmt: skip


CLIP = Number("clip", "Clipping threshold τ", 0, 1, above=True, decimals=None)


def add_own_corpus_option(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add ``--corpus`` for a directory or one file, and ``--part``."""
    parser.add_argument(
        "--corpus",
        metavar="PATH",
        required=required,
        help="LETOR file, plain or gzip, or a directory with train.txt, vali.txt and test.txt",
    )
    parser.add_argument(
        "--part",
        metavar="NAME",
        help="of a directory, the part that the log belongs to: train, validation or test (train)",
    )


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--log`` and ``--columns``."""
    parser.add_argument(
        "--log",
        metavar="LOG",
        required=True,
        help="click log (CSV, plain or gzip, or Parquet) with the columns query, document, "
        "position, click",
    )
    add_columns_option(parser)


def add_columns_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--columns``."""
    parser.add_argument(
        "--columns",
        metavar="MAP",
        help="names of the log's columns, such as query=search_id,document=url; one with a comma "
        "stands in quotation marks, as in a CSV file",
    )


def add_propensity_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--propensities``, ``--eta`` and ``--carry-on``."""
    parser.add_argument(
        "--propensities",
        metavar="CURVE.csv",
        help="examination by rank: a CSV file with the columns rank and propensity, or the word "
        "log for the log's own column",
    )
    parser.add_argument(option_of("eta"), metavar="X", help="instead: assume p_r = (1/r)^X")
    parser.add_argument(
        "--carry-on",
        action="store_true",
        help="use the last value of the curve for all positions below it",
    )


@dataclass(frozen=True)
class OwnCorpus:
    """The corpus that a log belongs to, and the directory's parts where it comes from one."""

    corpus: Corpus
    name: str
    splits: CorpusSplits | None


def own_corpus(options: argparse.Namespace) -> OwnCorpus:
    """Load ``--corpus``; raises InputError if it or ``--part`` cannot be used."""
    part = own_part(options)
    path = checked_path(options.corpus, "The corpus")
    progress = share_line("reading the corpus")
    if path.exists() and not path.is_dir() and options.part is not None:
        raise InputError(
            f"--part chooses a part of a directory, but {named(options.corpus)} is one file; leave "
            "--part out, or give the directory."
        )
    if not path.is_dir():
        whole = load_corpus(path, progress=progress)
        print_notes(whole.notices)
        return OwnCorpus(whole, named(path.name), None)
    splits = load_directory(path, progress=progress)
    print_notes(splits.notices)
    corpus: Corpus = getattr(splits, part)
    return OwnCorpus(corpus, f"the {part} part of {splits.name}", splits)


def own_part(options: argparse.Namespace) -> str:
    """The part of the directory that ``--part`` names; raises InputError if it is none."""
    part: str = PARTS[0] if options.part is None else options.part
    if part not in PARTS:
        raise InputError(f"--part is {quoted(part)}; it must be one of {', '.join(PARTS)}.")
    if options.corpus is None and options.part is not None:
        raise InputError("--part chooses a part of a directory; give that with --corpus.")
    return part


def own_log(options: argparse.Namespace) -> PresentationLog:
    """Read ``--log``, notes to standard error; raises InputError if it cannot be used."""
    log = read_log(
        options.log, columns=own_columns(options), progress=share_line("reading the click log")
    )
    print_notes(log.notices)
    return log


def own_columns(options: argparse.Namespace) -> dict[str, str] | None:
    """The mapping of ``--columns``, None where it is not given."""
    return None if options.columns is None else parse_columns(options.columns)


def check_own_options(options: argparse.Namespace) -> None:
    """Raise InputError for options that no file can make right; said before files are read."""
    own_part(options)
    own_columns(options)
    _assumed(options)


def _assumed(options: argparse.Namespace) -> PowerLaw | None:
    """The curve of ``--eta``; raises InputError where ``--propensities`` is given, too."""
    if options.propensities is not None and options.eta is not None:
        raise InputError("--propensities takes the place of --eta; give one of them.")
    if options.eta is None:
        return None
    return PowerLaw(option_value(options, PARAMETERS["eta"]))


def own_propensities(options: argparse.Namespace, log: PresentationLog) -> ExaminationCurve | None:
    """The curve of ``--propensities`` or ``--eta``, None where neither is given.

    Raises InputError for both at once, or a curve that cannot be used.
    """
    if options.propensities is None:
        return _assumed(options)
    if options.propensities == LOG_ITSELF:
        values = own_curve(log)
    else:
        values = read_curve_values(options.propensities)
    return curve_for_log(values, log, carry_on=options.carry_on)


def own_checks(
    log: PresentationLog,
    joined: JoinedLog,
    corpus: Corpus,
    curve: ExaminationCurve | None,
    *,
    estimator: Estimator = ESTIMATORS["clipped"],
    clip: float = 0.0,
) -> Inspection:
    """Checks of log, corpus and curve together, and what ``check`` finds to look at in the log.

    estimator, clip: as in `inspect_together`.

    The latter go to standard error as well, where the reader of the log has not told them already.
    """
    together = inspect_together(joined, corpus, curve, estimator=estimator, clip=clip)
    warnings = inspect_log(log).warnings
    print_notes(finding.sentence for finding in warnings if finding.key not in _TOLD_BY_READER)
    return replace(together, findings=(*together.findings, *warnings))


def finding_line(finding: Finding) -> str:
    """A check of a file as a line of a command's output."""
    return f"  {finding.severity:8}{finding.title}: {with_option(finding.sentence)}"


def share_line(what: str) -> Callable[[float], object] | None:
    """A function that shows which share of some work is done, None when nobody is watching."""
    line = progress_line()
    if line is None:
        return None

    def tell(share: float) -> None:
        line("" if share >= 1 else f"{what}: {share:.0%}")

    return tell


def protect_inputs(outputs: Mapping[str, str | None], inputs: Mapping[str, str | None]) -> None:
    """Raise InputError if an output would overwrite an input or another output, or has no place.

    Said before the work, which may be long. outputs, inputs: option to path, None where it is not
    given. An input that is no path at all is left to its reader, which says so in its own words.
    """
    taken: dict[Path, str] = {}
    for option, path in inputs.items():
        if path is not None:
            with suppress(InputError):
                taken[_real(checked_path(path, option))] = option
    for option, path in outputs.items():
        if path is None:
            continue
        place = _real(output_path(path, f"The file of {option}"))
        if place in taken:
            raise InputError(
                f"{option} would overwrite {named(path)}, which {taken[place]} names; choose "
                "another file."
            )
        inside = next((other for other in taken if other in place.parents), None)
        if inside is not None and _is_part(place, inside):
            raise InputError(
                f"{option} would overwrite {named(path)}, a part of {taken[inside]}; choose "
                "another file."
            )
        _require_place(place, path, option)
        taken[place] = option


def _require_place(place: Path, path: str, option: str) -> None:
    """Raise InputError if no file can be made, or replaced, at ``place``."""
    if place.exists() and not place.is_file() and not place.is_dir():
        return  # a device or a pipe
    folder = place.parent
    if place.is_dir():
        reason = "it is a directory"
    elif not folder.is_dir():
        reason = "its directory does not exist"
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = "its directory is read-only"
    else:
        return
    raise InputError(f"{option} cannot be written to {named(path)}: {reason}.")


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))


def _is_part(place: Path, directory: Path) -> bool:
    """Whether a file that stands in a corpus directory would be replaced."""
    return directory.is_dir() and place.exists()
