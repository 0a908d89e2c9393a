"""What the commands share: settings and corpus options, notes, JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ultr_core.corpus import CorpusSplits, load_directory
from ultr_core.settings import PARAMETERS, Settings

OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; done, but a check failed; something given cannot be used; stopped."""


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON on standard output")


def add_corpus_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--corpus DIR``."""
    parser.add_argument(
        "--corpus",
        metavar="DIR",
        help="directory with train.txt, vali.txt and test.txt in LETOR format, plain or gzip; "
        "without it the built-in synthetic corpus is used",
    )


def add_setting_options(
    parser: argparse.ArgumentParser, names: Sequence[str] = tuple(PARAMETERS)
) -> None:
    """Add one option for each of the named settings."""
    for name in names:
        parameter = PARAMETERS[name]
        text = f"{parameter.help} ({parameter.range_text}; default {parameter.default:,})"
        parser.add_argument(parameter.option, metavar="X", help=text.replace("%", "%%"))


def settings_from(options: argparse.Namespace) -> Settings:
    """The settings that the options ask for; notes go to standard error.

    Raises :class:`~ultr_core.errors.InputError` for a value that cannot be used.
    """
    given = {name: getattr(options, name, None) for name in PARAMETERS}
    settings, notices = Settings.from_options({k: v for k, v in given.items() if v is not None})
    print_notes(notices)
    if "eta" in given and given["eta"] is not None and given["assumed_eta"] is None:
        print_notes(_assumed_note(settings))
    return settings


def _assumed_note(settings: Settings) -> tuple[str, ...]:
    """A reader who changes how users look may forget that the learner's belief stays."""
    if settings.assumed_eta == settings.eta:
        return ()
    option = PARAMETERS["assumed_eta"].option
    return (
        f"users have η = {settings.eta:g} but the learner still believes η′ = "
        f"{settings.assumed_eta:g}; for correct propensities add {option} {settings.eta:g}.",
    )


def splits_from(options: argparse.Namespace) -> CorpusSplits | None:
    """The corpus of ``--corpus``, or None for the built-in one."""
    return None if options.corpus is None else load_directory(options.corpus)


def print_notes(notices: Iterable[str]) -> None:
    """Print sentences that a reader should see beside the result."""
    for notice in notices:
        print(f"note: {notice}", file=sys.stderr)


def print_json(content: dict[str, Any]) -> None:
    """Print plain values as JSON; NaN and infinities are refused."""
    print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def progress_line() -> Callable[[str], None] | None:
    """A function that rewrites one line of a terminal, or None when nobody is watching."""
    if not sys.stderr.isatty():
        return None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
