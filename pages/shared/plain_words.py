"""What somebody typed, or a file is called, in a page's Markdown."""

from __future__ import annotations

import re

_NEGATIVE = re.compile(r"(?<![\w.)\]])-(?=\d)")
# A colon before a letter begins a symbol or a colour.
_SIGNS = re.compile(r"([\\`*_\[\]<>$~|^]|^[#+-]|:(?=[a-zA-Z]))")


def plain(text: str) -> str:
    """Text in Markdown, with nothing in it that Markdown would read as a sign."""
    return _SIGNS.sub(r"\\\1", text)


def with_minus(text: str) -> str:
    """Text with a minus sign for the hyphen in front of a number, as in −0.40."""
    return _NEGATIVE.sub("−", text)
