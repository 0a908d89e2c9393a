"""Texts that an editor changes without touching code: TOML files with named values.

    words = read(__file__, "lab")            # content/lab.toml beside the module
    words.text("alike", weight=1.0)          # "All of them weigh the same, {weight:,.3g}."

A text is Markdown. ``{weight}`` or ``{weight:.2f}`` is a value that code gives. Lines may be broken
anywhere: those of a paragraph are joined, but for items of a list and for indented lines.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ultr_core.errors import InputError, quoted

_BROKEN_LINE = re.compile(r"(?<=\S)\n(?=\S)(?!- )")


@dataclass(frozen=True)
class Content:
    """The texts of a file, or of a table in it.

    Attributes:
        file: the file, for messages.
        entries: what it holds, by name.
        table: dotted name of the table, with a dot behind it; "" for the whole file.

    A name may be dotted, as in ``steps.first.look``.
    """

    file: str
    entries: Mapping[str, Any]
    table: str = ""

    def text(self, name: str, /, **values: object) -> str:
        """A text with its values in it.

        Raises InputError if there is no such text, if it uses a value that is not given, or if it
        does not use a value that is given.
        """
        text = self.template(name)
        filled = fill(text, values)
        if unused := values.keys() - named_in(text):
            raise InputError(
                f"{self._said(name)} does not use {_listed(unused)}; every "
                "value given must be used."
            )
        return filled

    def template(self, name: str) -> str:
        """A text as it is written, for `fill` once its values are known."""
        found = self._entry(name)
        if not isinstance(found, str):
            raise InputError(
                f"{self._said(name)} is a {type(found).__name__}, not a text.", "not_a_text"
            )
        return unbroken(found)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, as they are written."""
        return tuple(self.template(f"{name}.{place}") for place in range(len(self._entry(name))))

    def filled(self, **values: object) -> Content:
        """The same with the values in all its texts, each used by at least one of them.

        Raises InputError if `text` does.
        """
        unused = set(values)

        def told(found: Any) -> Any:
            if isinstance(found, str):
                unused.difference_update(named_in(found))
                return fill(unbroken(found), values)
            if isinstance(found, Mapping):
                return {key: told(inner) for key, inner in found.items()}
            return [told(inner) for inner in found] if isinstance(found, list) else found

        entries = told(self.entries)
        if unused:
            raise InputError(
                f"{self.file} does not use {_listed(unused)}; every value given must be used."
            )
        return Content(self.file, entries, self.table)

    def part(self, name: str) -> Content:
        """A table of the file."""
        return Content(self.file, self._entry(name), f"{self.table}{name}.")

    def parts(self, name: str = "") -> tuple[Content, ...]:
        """The tables of a list, or of a table; without a name those of this one."""
        found = self._entry(name) if name else self.entries
        keys = found if isinstance(found, Mapping) else range(len(found))
        return tuple(self.part(f"{name}.{key}" if name else str(key)) for key in keys)

    @property
    def key(self) -> str:
        """Name of the table."""
        return self.table.rstrip(".").rpartition(".")[2]

    def _entry(self, name: str) -> Any:
        found: Any = self.entries
        for key in name.split("."):
            try:
                found = found[int(key)] if isinstance(found, list) else found[key]
            except (LookupError, TypeError, ValueError):
                raise InputError(
                    f"{self._said(name)} is missing; add it to the file.", "missing_text"
                ) from None
        return found

    def _said(self, name: str) -> str:
        return f"The text '{self.table}{name}' of {self.file}"


def read(module: str, name: str) -> Content:
    """The text in ``content/NAME.toml`` beside a module, which gives its ``__file__``; read once.

    Raises InputError if the file is missing or is not TOML.
    """
    return _read(Path(module).parent / "content" / f"{name}.toml")


@cache
def _read(path: Path) -> Content:
    file = "/".join(path.parts[-3:])
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"The text in {file} cannot be read: {error}.", "damaged_file") from error
    return Content(file, MappingProxyType(entries))


def fill(text: str, values: Mapping[str, object]) -> str:
    """A text with those of the values in it that it names.

    >>> fill("{risk:.2f} of {most}", {"risk": 1, "most": 9, "least": 0})
    '1.00 of 9'

    Raises InputError if it names another, or asks for a form that a value does not have.
    """
    if missing := named_in(text) - values.keys():
        raise InputError(
            f"The text {quoted(text)} names {_listed(missing)}, but is given "
            f"{_listed(values) or 'no value'}."
        )
    try:
        return text.format_map(values)
    except (ValueError, TypeError) as error:
        raise InputError(f"The text {quoted(text)} cannot show a value: {error}.") from error


def named_in(text: str) -> set[str]:
    """The names of the values in a text, as in ``{name:.2f}``.

    Raises InputError for a brace that opens or closes no name.
    """
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError as error:
        raise InputError(
            f"The text {quoted(text)} has a stray brace ({error}); write {{{{ or "
            "}} for a literal brace."
        ) from error


def unbroken(text: str) -> str:
    """A text without line breaks inside its paragraphs.

    >>> unbroken("One\\nsentence.\\n\\nA list:\\n- with an\\nitem\\n")
    'One sentence.\\n\\nA list:\\n- with an item'
    """
    return _BROKEN_LINE.sub(" ", text.strip("\n"))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))
