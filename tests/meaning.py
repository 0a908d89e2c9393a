"""What tests hold of words: what they are about and the values they name, not how they say it."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import pytest

from ultr_core import cli
from ultr_core.content import Content, unbroken
from ultr_core.errors import InputError
from ultr_core.errors import about as about_of
from ultr_core.jobs import output
from ultr_core.jobs.output import with_option


def mentions(text: object, *values: object) -> bool:
    """Whether a text has each of the values as a whole word or number, in any place and case.

    >>> mentions("Rank 12 has 3 clicks, of 1,000.", "rank", 12, 3, "1,000")
    True
    >>> mentions("Rank 12 has 3 clicks, of 1,000.", 2)
    False

    A word may be in the plural: which is right depends on the sentence.

    >>> mentions("Rank 12 has 3 clicks, of 1,000.", "click")
    True
    """
    return all(_has(str(text), str(value)) for value in values)


def _has(text: str, value: str) -> bool:
    """No letter or digit goes on before or behind it; a number has no further digits."""
    found = re.escape(value)
    if value[-1:].isalpha():
        found += "s?"
    before = r"(?<![\w])(?<!\d[.,])" if value[:1].isalnum() else ""
    behind = r"(?!\w)(?![.,]\d)" if value[-1:].isalnum() else ""
    return re.search(before + found + behind, text, re.IGNORECASE) is not None


@contextmanager
def refused(about: str, *values: object) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """An InputError about ``about``, in one line that names each of the values."""
    with pytest.raises(InputError) as caught:
        yield caught
    message = str(caught.value)
    assert caught.value.about == about, f"{caught.value.about!r}: {message}"
    assert message
    assert message.isprintable(), message
    missing = [value for value in values if not mentions(message, value)]
    assert not missing, f"{missing} not in: {message}"


def is_text(shown: object, words: Content, name: str) -> bool:
    """Whether what is shown contains the text ``name`` of a content file, with any values in it."""
    parts = re.split(r"\{[^{}]*\}", unbroken(words.template(name)))
    return re.search(".*?".join(map(re.escape, parts)), str(shown), re.DOTALL) is not None


def without_numbers(text: str) -> str:
    """How a sentence is worded, whatever its numbers: equal if the same branch wrote both."""
    return re.sub(r"[+\-−]?\d[\d.,]*", "#", text)


def refused_command(arguments: Sequence[str], about: str, *values: object) -> str:
    """The line with which a command refuses its arguments: an InputError as with `refused`."""
    errors: list[object] = []

    def noted(said: object) -> str:
        errors.append(said)
        return with_option(said)

    printed = io.StringIO()
    with mock.patch.object(output, "with_option", noted), contextlib.redirect_stderr(printed):
        code = cli.main(list(arguments))
    (line,) = (each for each in printed.getvalue().splitlines() if not each.startswith("note: "))
    assert (code, about_of(errors[-1])) == (cli.BAD_INPUT, about), line
    missing = [value for value in values if not mentions(line, value)]
    assert not missing, f"{missing} not in: {line}"
    return line
