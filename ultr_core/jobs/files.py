"""Files as options of a job: paths as a kind of field, and outputs that overwrite no input."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from ultr_core.errors import InputError, checked_path, named
from ultr_core.fields import Field, Switch, Text
from ultr_core.files.log_columns import MEANINGS
from ultr_core.files.log_reading import READING_FIELDS, SELECT, Reading

if TYPE_CHECKING:
    from ultr_core.propensity import PresentationLog


@dataclass(frozen=True)
class File(Field):
    """The path of a file or directory; None unless it is given.

    metavar: what help calls it. use: a file or directory that is ``read``, a file that is written,
    or a ``folder`` for several. several: one path or more, as a list. endings: of a file that is
    written, the usual one first; see `require_ending`.
    """

    metavar: str = field(kw_only=True, default="FILE")
    use: Literal["read", "write", "folder"] = field(kw_only=True, default="read")
    required: bool = field(kw_only=True, default=False)
    several: bool = field(kw_only=True, default=False)
    endings: tuple[str, ...] = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """Whatever can be looked up; readers and writers say the rest."""
        return "the path of a file or directory"

    def checked(self, value: Any) -> Any:
        """The path as it was given; its reader reports what is wrong with it."""
        return value


@dataclass(frozen=True)
class Columns(Field):
    """Names of the log's columns, by what they mean; None where they need no mapping."""

    metavar: str = field(kw_only=True, default="MAP")

    @property
    def wanted(self) -> str:
        """How pairs are written."""
        return "comma-separated meaning=column pairs"

    def checked(self, value: Any) -> dict[str, str]:
        """Meaning to name; raises InputError for a text that is not a mapping."""
        from ultr_core.files import parse_columns

        return parse_columns(value)

    def write(self, value: Mapping[str, str]) -> str:
        """The pairs."""
        from ultr_core.files.log_columns import columns_text

        return columns_text(value)


CORPUS = File(
    "corpus", "", metavar="DIR",
    help="directory with train.txt, vali.txt and test.txt in LETOR format, plain or gzipped; "
    "without it the built-in synthetic corpus is used",
)  # fmt: skip


MISSING_ZERO = Switch(
    "missing_zero", "Missing features are 0",
    help="treat features missing from a file or a ranker as 0; without this option such files are "
    "refused",
)  # fmt: skip
DOCUMENT_IDS = Text(
    "document_ids", "Document ids in comments", default=None,
    help="how comments in the corpus give document ids: text around {id}, which is one word, or "
    "{text}, which is everything that follows, such as 'doc {id}'; none if there are no ids; the "
    "usual forms need no pattern",
)  # fmt: skip
COLUMNS = Columns(
    "columns",
    "",
    help="names of the log's columns, such as query=search_id,document=url; put a name that "
    "contains a comma in quotation marks, as in a CSV file; meaning=- if no column has that "
    "meaning; meanings: "
    + ", ".join(f"{meaning} ({words[0].lower() + words[1:]})" if words.lower() != meaning
                else meaning for meaning, words in MEANINGS.items()),
)  # fmt: skip
LOG = File(
    "log", "", metavar="LOG", several=True,
    help="click log with the columns query, document, position, click: one or more files, a "
    "pattern in quotation marks or a directory of parts; CSV or JSON lines (plain, or "
    "compressed with gzip or zstandard), or Parquet",
)  # fmt: skip
CLICKS = File(
    "clicks", "", metavar="CLICKS", several=True,
    help="separate files with the clicks, if the rows of the log are views; joined by presentation "
    "and document",
)  # fmt: skip
READING: tuple[Field, ...] = (CLICKS, COLUMNS, *READING_FIELDS, SELECT)
"""How a click log is read: the options of every command that reads one."""


def given_log(
    given: SimpleNamespace, progress: Callable[[float], object] | None
) -> PresentationLog:
    """The click log of ``LOG`` as ``READING`` says; raises InputError if it cannot be used."""
    from ultr_core.files import read_log

    return read_log(
        given.log, clicks=given.clicks, columns=given.columns, how=Reading.of(vars(given)),
        progress=progress,
    )  # fmt: skip


def protect_inputs(fields: Sequence[Field], given: Mapping[str, Any]) -> None:
    """Raise InputError if an output would overwrite an input or another output, or has no place.

    Said before the work, which may be long. fields: whatever may be a `File`; given: the values by
    name. An input that is not a path at all is left to its reader, which says so in its own words.
    """
    taken: dict[Path, str] = {}
    for option, path in _paths(fields, given, "read"):
        with suppress(InputError):
            taken[_real(checked_path(path, option))] = option
    for option, path in _paths(fields, given, "write"):
        # Reading and writing files is what only jobs with an output wait for.
        from ultr_core.files.disk import output_path

        place = _real(output_path(path, f"The file of {option}"))
        if place in taken:
            raise InputError(
                f"{option} would overwrite {named(path)}, which {taken[place]} names; choose "
                "another file.",
                "overwrites",
            )
        inside = next((other for other in taken if other in place.parents), None)
        if inside is not None and _is_part(place, inside):
            raise InputError(
                f"{option} would overwrite {named(path)}, a part of {taken[inside]}; choose "
                "another file.",
                "overwrites",
            )
        _require_place(place, path, option)
        taken[place] = option
    for each in fields:
        if isinstance(each, File) and each.endings and given.get(each.name) is not None:
            require_ending(given[each.name], each.label, each.endings)


_TELLING = frozenset(
    {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".ipynb", ".run", ".trec", ".qrels",
     ".duckdb", ".db", ".xlsx", ".svg", ".png", ".pdf", ".html", ".zip", ".bz2", ".xz", ".zst"}
)  # fmt: skip
"""Endings of names that say what is in a file; one such as .txt or .dat does not."""


def require_ending(path: str, option: str, endings: Sequence[str]) -> None:
    """Raise InputError for the name of a file to be written that ends as another format does."""
    name = str(path).lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in _TELLING and (ending not in endings or name.endswith(".parquet.gz")):
        raise InputError(
            f"{option} does not write the format that the ending of {named(path)} stands for; "
            f"choose a name that ends in {endings[0]}.",
            "ending",
        )


def _paths(
    fields: Sequence[Field], given: Mapping[str, Any], use: str
) -> Iterator[tuple[str, str]]:
    for each in fields:
        if isinstance(each, File) and each.use == use and given.get(each.name) is not None:
            paths = given[each.name]
            for path in paths if each.several else [paths]:
                yield from ((each.label, one) for one in _files_of(path))


def _files_of(path: str) -> list[str]:
    """The path itself, or the files of a pattern."""
    from ultr_core.files.log_parts import is_pattern

    with suppress(ValueError, OSError):
        if is_pattern(path):
            return glob.glob(path, recursive=True)
    return [path]


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
    raise InputError(f"{option} cannot be written to {named(path)}: {reason}.", "no_place")


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))


def _is_part(place: Path, directory: Path) -> bool:
    """Whether a file that stands in a corpus directory would be replaced."""
    return directory.is_dir() and place.exists()
