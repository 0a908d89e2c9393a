"""Texts as the pages' Markdown: escaped, with formulas, marks, and the page's own remedies.

Streamlit reads nearly every text as Markdown: labels, tooltips, cells and headers of tables, the
options of buttons. What somebody typed, or a file holds, goes through ``plain``. Two kinds of signs
are to be broken. What the parser of Markdown reads gets a backslash. What is looked for in the text
that the parser leaves (addresses, mail addresses, names of emoji and icons, arrows) would be found
behind a backslash all the same, and is parted by a word joiner, which nobody sees.

Options of boxes, placeholders, alternative texts, code and pictures are no Markdown: there
``shown`` is enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from ultr_core.errors import one_line, with_remedy
from ultr_core.files.log_reading import READING_FIELDS, SHOWN_WHOLE
from ultr_core.settings import PARAMETERS
from ultr_core.words import with_minus

JOINER = "\N{WORD JOINER}"

_SIGNS = re.compile(r"[\\`*_\[\]{}<>$~|^&]")
_LINE_START = re.compile(r"(?=[\s+=#>~:-]|\d+(?:[.)](?:\s|$)|$))")
_PARTED = re.compile(
    r"(?<=:)(?=[^\W\d]|[/+_-]|\d[\w+-]*:)"  # http://, :smile:, :red[, :material/home:
    r"|(?<=www)(?=\.)"
    r"|(?<=[\w.+-])(?=@)"
    r"|(?<=(?<!\S)[<>~-])(?=[>=-]>?(?!\S))",  # arrows, dashes and comparisons between spaces
    re.IGNORECASE,
)


def plain(text: object) -> str:
    """Text in Markdown that a page shows as it is: no sign, link, picture, colour or formula.

    It is one line: line breaks, bidirectional controls and all else that cannot be seen are shown
    as escapes.
    """
    line = shown(text)
    start = JOINER if _LINE_START.match(line) else ""
    end = JOINER if line.endswith(" ") else ""
    return start + _broken(line) + end


def shown(text: object) -> str:
    """Text where Markdown is not read: one line, without what could turn its order or hide."""
    return one_line(str(text))


def prose(text: str) -> str:
    """Words of the lab's own, in which only `code` between backticks is read as Markdown.

    Outside of code, numbers below 0 get their minus sign, and formulas are set.
    """
    parts = text.split("`")
    parts[::2] = (set_formulas(_broken(with_minus(part))) for part in parts[::2])
    return "`".join(parts)


def _broken(line: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", _PARTED.sub(JOINER, line))


_DIVIDED = re.compile(r"(?<=[1)])/")
_AS_IT_IS = re.compile(r"(`[^`]*`|\$[^$]*\$)")


def whole_equations(text: str) -> str:
    """The text with no line break inside an equation, such as η = 1, or a fraction, such as 1/τ.

    Code, which may be copied, and formulas stay as they are.
    """
    parts = _AS_IT_IS.split(text)
    parts[::2] = (
        _DIVIDED.sub(f"/{JOINER}", part.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"))
        for part in parts[::2]
    )
    return "".join(parts)


def in_code(line: str) -> str:
    """A command within a text, in which each option is a piece of code of its own.

    A line can only end between them, and what is copied is the command.
    """
    return f"`{line.replace(' --', '` `--')}`"


# In Markdown the signs may be escaped.
_POWER = re.compile(r"\(1/r\)\\?\^(η′?)")
_SYMBOL = re.compile(r"(?<![\w$\\])([pY])\\?_([a-z0-9])\b")
# In words of the lab's own no sign is escaped, but for those that ``prose`` has been through.
_NUMBERS = re.compile(
    r"(?<![\w.,$\\])(\(1/(?:r|\d+)\)|\d+(?:\.\d+)?|e|rank)\^(\d+(?:\.\d+)?|\(η′ − η\))(?![\w^])"
)


_GAIN = re.compile(r"(?<![\w$\\])2\\?\^(grade|[gG])\b")


def set_formulas(text: str) -> str:
    """``(1/r)^η``, ``2^grade``, ``p_r``, ``Y_j``, powers of numbers in Markdown; else as it is."""
    text = _GAIN.sub(lambda found: rf"$2^{{\mathrm{{{found[1]}}}}}$", text)
    text = _POWER.sub(lambda found: rf"$(1/r)^{{{_LATEX[found[1]]}}}$", text)
    text = _NUMBERS.sub(_power_of_numbers, text)
    return _SYMBOL.sub(r"$\1_\2$", text)


def _power_of_numbers(found: re.Match[str]) -> str:
    base, exponent = found.groups()
    base = rf"\mathrm{{{base}}}" if base == "rank" else base
    exponent = exponent.strip("()").replace("η′", r"\eta'").replace("η", r"\eta").replace("−", "-")
    return f"${base}^{{{exponent}}}$"


_COLORS = {
    r"\hat R_{naive}": "chocolate",
    r"\hat R_{IPS}": "steelblue",
    r"\hat R_{CIPS}": "seagreen",
}


def in_colors(formula: str) -> str:
    """A formula with the estimates of methods in the colours of their marks.

    By names that the pages' style replaces, see ``pages/app/style.py``.
    """
    for term, color in _COLORS.items():
        formula = formula.replace(term, rf"\textcolor{{{color}}}{{{term}}}")
    return formula


_LATEX = {"η": r"\eta", "η′": r"\eta'"}


_MARKS = {
    "holds": ":green[:material/check_circle:]",
    "holds, though not guaranteed": ":blue[:material/check:]",
    "does not hold": ":red[:material/cancel:]",
    "does not hold, as predicted": ":orange[:material/change_history:]",
    "open": ":orange[:material/help:]",
    "not checkable": ":gray[:material/help:]",
    "good": ":green[:material/check_circle:]",
    "warning": ":orange[:material/visibility:]",
    "stop": ":red[:material/block:]",
}


def mark(status: str) -> str:
    """The mark of a finding's status: an outcome, or the severity of a file's check."""
    return _MARKS[status]


NAMES = "Grades and names from other files"
"""Where the page Your data takes tables of names."""

_MEANINGS = "“What each column means” in step 2 of Your data"

CONTROLS: Mapping[str, str] = MappingProxyType(
    {
        "relevant_grade": f"“{PARAMETERS['relevant_grade'].label}” under More settings",
        "propensities": "“Where they come from” in step 3",
        "carry_on": "in step 3",
        "harvest": "“Method”",
        "query_texts": f"“{NAMES}” in step 1",
        "document_names": f"“{NAMES}” in step 1",
        "shown_whole": f"“{SHOWN_WHOLE.label}” in step 5 of Your data",
        "columns": _MEANINGS,
        "session": _MEANINGS,
        "context": "only the commands use contexts",
        **{each.name: f"“{each.label}” in step 2 of Your data" for each in READING_FIELDS},
    }
)
"""By key of what a message is about: the control that repairs it.

A message about a setting names it by the label of its control; it needs no more.
"""


# Signs that code would show escaped are not among its letters.
_OPTION = re.compile(rf"(?<![^\s({JOINER}])--[a-z][a-z-]*(?=[\s.,;:)]|$)")


def told(message: object) -> str:
    """An error or a sentence of the core in a page's Markdown, with the page's remedy.

    Numbers below 0 get their minus sign, and options of commands are set as code, which no line
    ends in; but not in quotation marks, where they are somebody's.
    """
    words = with_minus(with_remedy(message, CONTROLS)).replace("'−", "'-")
    return _OPTION.sub(r"`\g<0>`", set_formulas(plain(words)))


def show_error(error: object) -> None:
    """What cannot be had, in the core's one sentence."""
    st.error(told(error), icon=":material/error:")


def show_note(sentence: object) -> None:
    """What a reader should know, in a sentence of the core."""
    st.markdown(f":material/info: {told(sentence)}")
