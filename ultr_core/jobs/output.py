"""What jobs print beside their results: notes, remedies, JSON, progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from ultr_core.errors import InputError, about, one_line, with_remedy
from ultr_core.findings import Finding

OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; done, but a check failed; something given cannot be used; stopped."""


def option_of(name: str) -> str:
    """The option of a field, by its name.

    >>> option_of("eps_minus")
    '--eps-minus'
    """
    return "--" + name.replace("_", "-")


REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "click_probabilities": "--eps-plus, --eps-minus",
        "propensities": "--propensities CURVE.csv, or --eta",
        "harvest": "--method harvest",
        "two_rankers": "simulate --rankers 2",
        "reference_not_logged": "--landmark",
        "reference_not_linked": "--landmark",
        "reference_no_click": "--landmark",
        "presentation": "--columns presentation=NAME",
        "contexts": "--columns context=NAME, or context=-; --propensities CURVES.csv",
        "larger_ids": "--columns presentation=NAME, or presentation=-",
        "query_texts": "--query-texts, --document-names",
        "document_names": "--document-names, --query-texts",
        "query": "--columns query=NAME",
        "session": "--columns session=NAME",
        "context": "--columns context=NAME",
        "views": "--columns action=NAME",
        "clicks_apart": "--columns click=NAME, or --clicks FILE",
        "clicks_twice": "no --clicks, or --columns click=-",
        "log_lambda": "--continuation log",
        "action_or_click": "--columns click=-, or action=-",
    }
)
"""How to fix on the command line what a message is about, where no option has its name."""


OFFERED: ContextVar[frozenset[str] | None] = ContextVar("options of the command", default=None)
"""Names of the options that the running command has; None outside a command: any."""


def with_option(said: object) -> str:
    """An error or a sentence of the core, with the option that repairs it.

    >>> from ultr_core.errors import Remark
    >>> with_option(Remark("Grade 1 counts as relevant instead.", "relevant_grade"))
    'Grade 1 counts as relevant instead (--relevant-grade).'
    """
    key, offered = about(said), OFFERED.get()
    remedy = REMEDIES.get(key, option_of(key))
    # Some keys only tell one fault from another.
    helps = key in REMEDIES or (bool(key) and (offered is None or key in offered))
    return with_remedy(said, {key: remedy} if helps and remedy not in str(said) else {})


def print_notes(notices: Iterable[str]) -> None:
    """Print sentences that a reader should see beside the result."""
    for notice in notices:
        print(f"note: {with_option(notice)}", file=sys.stderr)


def print_error(error: InputError) -> None:
    """Print an error on standard error, on one line and with the option that repairs it."""
    text = one_line(with_option(error))
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
    print(f"error: {text}", file=sys.stderr, flush=True)


_LONGEST = 1_000  # characters of an error


def finding_line(finding: Finding) -> str:
    """A check of a file as a line of a command's output."""
    return f"  {finding.severity:8}{finding.title}: {with_option(finding.sentence)}"


def print_json(content: dict[str, Any]) -> None:
    """Print plain values as JSON; NaN and infinities are refused."""
    print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def progress_line() -> Callable[[str], None]:
    """A function that rewrites one line of a terminal, empty text clears it.

    It does nothing when nobody is watching.
    """
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


_LINE_EVERY = 15.0  # seconds


def progress_lines(*, at_once: bool = False) -> Callable[[str], None]:
    """As `progress_line`, but where nobody is watching, a line now and then: for long work.

    at_once: whether the first text is such a line; otherwise short work says nothing.
    """
    if sys.stderr.isatty():
        return progress_line()
    last = time.monotonic() - (_LINE_EVERY if at_once else 0.0)

    def say(text: str) -> None:
        nonlocal last
        if text and time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    return say


def share_line(what: str) -> Callable[[float], object] | None:
    """A function that shows which share of some work is done, None when nobody is watching."""
    if not sys.stderr.isatty():
        return None
    line = progress_line()
    return lambda share: line("" if share >= 1 else f"{what}: {share:.0%}")
