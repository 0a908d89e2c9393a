"""The one escaper of pages: what somebody typed, or a file holds, as text and nothing else.

Streamlit reads nearly every text as Markdown: labels, tooltips, cells and headers of tables, the
options of buttons. Two kinds of signs are to be broken. What the parser of Markdown reads gets a
backslash. What is looked for in the text that the parser leaves (addresses, mail addresses, names
of emoji and icons, arrows) would be found behind a backslash all the same, and is parted by a word
joiner, which nobody sees.

Options of boxes, placeholders, alternative texts, code and pictures are no Markdown: there
``shown`` is enough.
"""

from __future__ import annotations

import re

from ultr_core.errors import one_line

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
    """Words of the lab's own, in which only `code` between backticks is read as Markdown."""
    parts = text.split("`")
    parts[::2] = map(_broken, parts[::2])
    return "`".join(parts)


def _broken(line: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", _PARTED.sub(JOINER, line))
