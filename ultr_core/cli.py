"""The lab on the command line: the same work as the pages, without a screen."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from threadpoolctl import threadpool_limits

from ultr_core.commands import COMMANDS
from ultr_core.commands.shared import BAD_INPUT, INTERRUPTED, OK
from ultr_core.errors import InputError


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are input errors like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done, and for ``proofs`` every check that should hold holds; 1: a check failed;
    2: something given cannot be used, said in one sentence on standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        # Greek letters must not break a terminal with another encoding.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        options = _parser().parse_args(arguments)
        # One BLAS thread, as on the pages: the same sums, so the same numbers to the last digit.
        with threadpool_limits(limits=1):
            code: int = options.run(options)
            sys.stdout.flush()
            return code
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m ultr_core",
        description="Unbiased learning-to-rank with biased feedback, without a screen.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for command in COMMANDS:
        part = commands.add_parser(
            command.NAME, help=command.SUMMARY, description=command.SUMMARY, allow_abbrev=False
        )
        part.set_defaults(run=command.run)
        command.add_options(part)
    return parser
