"""What somebody typed, or a file is called, in a page's Markdown."""

from __future__ import annotations

import re

# A colon before a letter begins a symbol or a colour.
_SIGNS = re.compile(r"([\\`*_\[\]<>$~|^]|^[#+-]|:(?=[a-zA-Z]))")


def plain(text: str) -> str:
    """Text in Markdown, with nothing in it that Markdown would read as a sign."""
    return _SIGNS.sub(r"\\\1", text)
