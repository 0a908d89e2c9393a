"""What the commands share: settings and corpus options, notes, JSON."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ultr_core.commands.remedies import option_of, with_option
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError
from ultr_core.fields import Field, Number
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.words import as_argument

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


def add_options_of(
    parser: argparse.ArgumentParser,
    fields: Iterable[Field],
    helps: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add one option for each field, with its range and its default in the help.

    helps: by name, what a field does in this command, where that is not what it does elsewhere.
    """
    for field in fields:
        text = f"{helps.get(field.name, field.help or field.label)} ({field.wanted}"
        if field.default not in (None, ""):
            text = f"{text}; default {field.in_words(field.default)}"
        metavar = "X" if isinstance(field, Number) else "NAME"
        text = f"{text})".replace("%", "%%")
        parser.add_argument(option_of(field.name), metavar=metavar, help=text)


def option_value(options: argparse.Namespace, field: Field) -> Any:
    """What an option says, the default of its field where it is not given.

    Raises InputError for what cannot be used; `with_option` adds the option to its sentence.
    """
    given = getattr(options, field.name)
    return field.default if given is None else field.checked(given)


def add_setting_options(
    parser: argparse.ArgumentParser,
    names: Sequence[str] = tuple(PARAMETERS),
    helps: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add one option for each of the named settings; ``helps`` as in `add_options_of`."""
    add_options_of(parser, (PARAMETERS[name] for name in names), helps)


def add_curve_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add an option that names a CSV file for each of the named curves, or for both."""
    for name in names or CURVES:
        field = CURVES[name]
        parser.add_argument(
            option_of(name), metavar="FILE.csv", help=f"{field.help} Columns rank and propensity."
        )


def settings_from(options: argparse.Namespace) -> Settings:
    """The settings that the options ask for; notes go to standard error.

    Raises :class:`~ultr_core.errors.InputError` for a value that cannot be used, and for a curve
    beside the exponent that it takes the place of.
    """
    given = {
        name: value for name in PARAMETERS if (value := getattr(options, name, None)) is not None
    }
    files = {name: path for name in CURVES if (path := getattr(options, name, None)) is not None}
    for name in files:
        if CURVES[name].power in given:
            raise InputError(
                f"{option_of(name)} takes the place of {option_of(CURVES[name].power)}; "
                "give one of them."
            )
    curves = _curve_values(files)
    settings, notices = Settings.from_options({**given, **curves})
    print_notes(notices)
    if hasattr(options, "assumed_eta"):
        print_notes(_belief_note(settings, given, files))
    return settings


def _curve_values(files: Mapping[str, str]) -> dict[str, Any]:
    if not files:
        return {}
    from ultr_core.files import read_curve_values

    return {name: read_curve_values(path) for name, path in files.items()}


def _belief_note(
    settings: Settings, given: Mapping[str, Any], files: Mapping[str, str]
) -> tuple[str, ...]:
    """A reader who changes how users look may forget that the learner's belief stays."""
    told = "assumed_eta" in given or "assumed_curve" in files
    if told or settings.belief_is_right or not ("eta" in given or "curve" in files):
        return ()
    users = f"have η = {settings.eta:g}"
    right = f"{option_of('assumed_eta')} {settings.eta:g}"
    if "curve" in files:
        users = "follow the given curve"
        curve = shlex.quote(as_argument(files["curve"]))
        right = f"{option_of('assumed_curve')} {curve}"
    return (
        f"users {users} but the learner still believes η′ = {settings.assumed_eta:g}; for correct "
        f"propensities add {right}.",
    )


def print_notes(notices: Iterable[str]) -> None:
    """Print sentences that a reader should see beside the result."""
    for notice in notices:
        print(f"note: {with_option(notice)}", file=sys.stderr)


def print_json(content: dict[str, Any]) -> None:
    """Print plain values as JSON; NaN and infinities are refused."""
    print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def progress_line() -> Callable[[str], None] | None:
    """A function that rewrites one line of a terminal, or None when nobody is watching."""
    if not sys.stderr.isatty():
        return None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
