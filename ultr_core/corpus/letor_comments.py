"""What comments of LETOR rows say, in UTF-8 or not: a name that is none must not become another."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

_DOCUMENT_ID = re.compile(r"docid\s*=\s*(\S+)")


def comment_text(comment: bytes) -> str:
    """The text of a comment, with stand-ins for bytes that are no UTF-8."""
    return comment.decode("utf-8", errors="surrogateescape")


def name_in(match: re.Match[str]) -> str:
    """The first group of a match in such a text; raises UnicodeError if it has a stand-in."""
    name = match[1]
    if not name.isascii():
        name.encode("utf-8")
    return name


def document_id(comment: bytes) -> str | None:
    """Read ``docid = X`` from a comment; raises UnicodeError for an X that is no UTF-8."""
    match = _DOCUMENT_ID.search(comment_text(comment))
    return None if match is None else name_in(match)


def document_ids(block: bytes, lines: NDArray[np.int64]) -> list[str | None]:
    """Find ``docid = X`` in the comment of each of the given lines of a block.

    Raises UnicodeError for an id that is no UTF-8; what else a comment holds is not asked.
    """
    if b"#" not in block:
        return [None] * len(lines)
    texts = block.split(b"\n")
    return [document_id(texts[line].partition(b"#")[2]) for line in lines.tolist()]
