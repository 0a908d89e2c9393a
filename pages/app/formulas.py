"""Formulas in sentences of the core, as a page sets them."""

from __future__ import annotations

import re

# In Markdown the signs may be escaped.
_POWER = re.compile(r"\(1/r\)\\?\^(η′?)")
_SYMBOL = re.compile(r"(?<![\w$\\])p\\?_([a-z0-9])\b")


def set_formulas(text: str) -> str:
    """``(1/r)^η``, ``(1/r)^η′`` and ``p_r`` in Markdown; all else as it is."""
    text = _POWER.sub(lambda found: rf"$(1/r)^{{{_LATEX[found[1]]}}}$", text)
    return _SYMBOL.sub(r"$p_\1$", text)


_LATEX = {"η": r"\eta", "η′": r"\eta'"}
