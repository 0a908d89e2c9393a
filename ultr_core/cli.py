"""The lab on the command line: the same work as the pages, without a screen."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

from ultr_core import __version__
from ultr_core.errors import InputError, quoted
from ultr_core.files.log_columns import SEPARATED, has_pair
from ultr_core.jobs import JOBS, Entry
from ultr_core.jobs.output import BAD_INPUT, INTERRUPTED, OFFERED, OK, print_error
from ultr_core.jobs.streams import (
    OutputError,
    ReaderGoneError,
    checked_output,
    forgiving_errors,
)

_PROGRAM = "python -m ultr_core"
_FOR_PICTURES = ("altair", "pandas", "vl_convert")


class _Once(argparse._StoreAction):
    """An option that takes values once: of two, the last would win in silence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the values, or complain."""
        given = vars(namespace).setdefault("given", set())
        if option_string is not None and self.dest in given:
            several = ", followed by all its values" if self.nargs == "+" else ""
            parser.error(f"{option_string} is given more than once; give it only once{several}")
        given.add(self.dest)
        super().__call__(parser, namespace, values, option_string)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are input errors like all others."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """Take each option with values once."""
        super().__init__(*given, **named)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.", "usage")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done, and for ``proofs`` every check that should hold holds; 1: a check failed;
    2: something given cannot be used, or the result cannot be written, said in one sentence on
    standard error; 130: stopped by Ctrl-C.
    """
    with forgiving_errors():
        try:
            with checked_output():
                return _run(sys.argv[1:] if arguments is None else arguments)
        except OutputError as error:
            _complain(f"error: Cannot write to standard output ({error}).")
            return BAD_INPUT
        except ReaderGoneError:
            return OK
        except KeyboardInterrupt:
            _complain("Stopped.")
            return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    outside = OFFERED.set(frozenset())
    try:
        if not arguments:
            names = ", ".join(entry.name for entry in JOBS if entry.summary)
            raise InputError(f"Name a COMMAND: {names}; {_PROGRAM} --help describes each.")
        options = _parsed(arguments)
        OFFERED.set(options.offered)
        with _threads(options.entry):
            code: int = options.run(options)
            return code
    except InputError as error:
        print_error(error)
        return BAD_INPUT
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", __package__):
            raise
        extra = "[figures]" if package in _FOR_PICTURES else ""
        _complain(
            f"error: This command needs the package {package}, which is not installed; "
            f'run pip install ".{extra}" in the lab\'s folder.'
        )
        return BAD_INPUT
    finally:
        OFFERED.reset(outside)


def _threads(entry: Entry) -> AbstractContextManager[None]:
    """One BLAS thread, as on the pages: the same sums, so the same numbers to the last digit."""
    if not entry.multiplies:
        return nullcontext()
    from ultr_core.learners.blas_threads import one_blas_thread

    return one_blas_thread()


def _complain(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; complaints show no more of an argument than other messages do."""
    asked = next((text for text in arguments if not text.startswith("-")), None)
    try:
        _require_commas(arguments)
        options, unknown = _parser(asked).parse_known_args(arguments)
        if unknown:
            _Parser(prog=f"{_PROGRAM} {options.entry.name}").error(
                f"unrecognized arguments: {' '.join(unknown)}"
            )
        return options
    except InputError as error:
        message = str(error)
        given = {part for text in arguments for part in (text, text.partition("=")[2])}
        for text in sorted(given, key=len, reverse=True):
            if repr(text) != f"'{text}'" or quoted(text) != repr(text):
                for form in (repr(text), text):
                    message = message.replace(form, quoted(text))
        raise InputError(message, error.about) from None


def _require_commas(arguments: Sequence[str]) -> None:
    """Raise InputError where blanks separate the parts of a column mapping."""
    behind = list(arguments[arguments.index("--columns") + 2 :]) if "--columns" in arguments else []
    if behind and has_pair(behind[0]) and not os.path.exists(behind[0]):
        raise InputError(f"{quoted(behind[0])} follows a column mapping; {SEPARATED}.", "columns")


def _parser(asked: str | None) -> argparse.ArgumentParser:
    """The parser of the whole, with the options of the command ``asked`` for and of no other."""
    parser = _Parser(
        prog=_PROGRAM,
        description="Unbiased learning-to-rank with biased feedback, on the command line.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=__version__, help="print the version and exit"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for entry in JOBS:
        if not entry.summary:
            continue
        part = commands.add_parser(
            entry.name, help=entry.summary, description=entry.summary, allow_abbrev=False
        )
        if entry.name == asked:
            job = entry.load()
            part.set_defaults(run=job.run, entry=entry)
            job.add_to(part)
            part.set_defaults(offered=job.offered)
    return parser
