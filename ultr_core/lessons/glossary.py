"""Terms and symbols, once: what lessons show on hover and what the glossary lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultr_core.content import Content, read


@dataclass(frozen=True)
class Term:
    """A term: its name, its symbol if it has one, what it means, and where the paper has it."""

    key: str
    name: str
    symbol: str
    meaning: str
    section: str = ""


def _term(words: Content) -> Term:
    """A term of the text file; symbol and section may be left out there."""
    symbol, section = (
        words.text(name) if name in words.entries else "" for name in ("symbol", "section")
    )
    return Term(words.key, words.text("name"), symbol, words.text("meaning"), section)


GLOSSARY: Mapping[str, Term] = MappingProxyType(
    {term.key: term for term in map(_term, read(__file__, "glossary").parts())}
)
