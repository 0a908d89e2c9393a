"""Document ids in the comments of a LETOR file: the usual forms, or a pattern that a reader gives.

Usual forms are ``# docid = X``, the same with another common name and ``=`` or ``:``, and a comment
of one word that differs within each query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, quoted

WORD, REST, NO_IDS = "{id}", "{text}", "none"
"""In a pattern: a word, all that follows; and in place of one, that comments hold no ids."""

_DOCID = re.compile(r"docid\s*=\s*(\S+)")
_NAMED = re.compile(
    r"(?:^|[\s,;])(?:doc(?:ument)?(?:[ _-]?(?:id|no|name))?|did|url|id)\s*[=:]\s*(\S+)",
    re.IGNORECASE,
)
# Beside a few documents that are listed twice, ids differ within a query.
_LEAST_DIFFERENT = 0.95
# Comments that differ as often as this may well hold ids.
_MAY_BE_IDS = 0.5

ReadId = Callable[[str], str | None]
"""From the text of a comment to the id in it, None for none."""


def usual_id(comment: str) -> str | None:
    """The id behind a usual name.

    >>> usual_id(" docid = GX-1 inc = 1"), usual_id(" doc: 17"), usual_id(" 2 lamp")
    ('GX-1', '17', None)
    """
    match = _DOCID.search(comment) or _NAMED.search(comment)
    return None if match is None else match[1]


def id_pattern(text: str) -> ReadId:
    """Read ids as a pattern says: literal text around one ``{id}`` (a word) or ``{text}`` (rest).

    Blanks stand for any blanks, and several in an id are one. A pattern that begins with its id
    begins with the comment; another is looked for in it. ``none`` reads no id. Raises InputError
    for any other pattern.

    >>> id_pattern("{id}")("2 lamp"), id_pattern("name {text}")("2 name desk lamp")
    ('2', 'desk lamp')
    """
    if text.strip() == NO_IDS:
        return no_id
    places = [place for place in (WORD, REST) if place in text]
    if len(places) != 1 or text.count(places[0]) != 1:
        raise InputError(
            f"The pattern for document ids is {quoted(text)}; it must contain {WORD} (a word) or "
            f"{REST} (everything that follows) once, as in 'doc {WORD}', or be {NO_IDS}.",
            "id_pattern",
        )
    parts = (re.sub(r"\s+", " ", part) for part in text.split(places[0]))
    before, after = next(parts).lstrip(), next(parts).rstrip()
    is_word = places[0] == WORD

    def read(comment: str) -> str | None:
        # Found by plain search: a pattern from outside must not take longer than the text is.
        _, starts, rest = f" {' '.join(comment.split())}".partition(before or " ")
        rest = rest.lstrip()
        found, ends, _ = rest.partition(after or " ") if after or is_word else (rest, " ", "")
        usable = found and starts and (ends or not after) and not (is_word and " " in found)
        return found if usable else None

    return read


def no_id(comment: str) -> str | None:
    """None, whatever a comment holds."""
    return None


@dataclass(frozen=True)
class FoundIds:
    """Document ids [rows], None for none; unread: why there may be some all the same, or ""."""

    ids: tuple[str, ...] | None
    unread: str = ""


def ids_of_comments(
    named: Sequence[str | None], comments: Sequence[str], query: NDArray[np.int64]
) -> FoundIds:
    """Ids of rows without a pattern: those behind a usual name, or single words.

    named [rows]: the id behind a usual name, None for none. comments [rows]: texts, "" for none;
    only looked at where a row has no named id. query [rows]: number of its query.
    """
    missing = sum(name is None for name in named)
    if not missing:
        return FoundIds(tuple(name for name in named if name is not None))
    if missing < len(named):
        first = next(name for name in named if name is not None)
        return FoundIds(
            None,
            f"comments give a document id, such as {quoted(first)}, in only "
            f"{len(named) - missing:,} of {len(named):,} rows",
        )
    if not all(comments):
        return FoundIds(None)
    different = len(set(zip(query.tolist(), comments, strict=True))) / len(comments)
    if different >= _LEAST_DIFFERENT and all(len(text.split()) == 1 for text in comments):
        return FoundIds(tuple(comments))
    if different < _MAY_BE_IDS:
        return FoundIds(None)
    return FoundIds(
        None, f"each row has a comment, such as {quoted(comments[0])}, which may be a document id"
    )
