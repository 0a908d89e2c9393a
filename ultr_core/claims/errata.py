"""Conventions of this lab, and how misprints and open questions of the paper are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ultr_core.content import Content, read
from ultr_core.learners import COST_GRID
from ultr_core.propensity import CLIP_GRID

Kind = Literal["misprint", "open question"]


@dataclass(frozen=True)
class Convention:
    """What a number of this lab means; ``text`` is Markdown."""

    name: str
    text: str


@dataclass(frozen=True)
class Reading:
    """A place of the paper that can be read in more than one way, and the reading taken.

    Attributes:
        ids: numbers of the misprint (E) or question (Q).
        place: section.
        kind: misprint, or open question.
        unclear: what is printed, or not printed.
        taken: how it is read here.
        why: the reason.
        other: the other reading, where it makes numbers that can be compared (see
            ``readings.compare``); else "".
    """

    ids: tuple[str, ...]
    place: str
    kind: Kind
    unclear: str
    taken: str
    why: str
    other: str = ""

    @property
    def key(self) -> str:
        """The first of its numbers, which no other reading has."""
        return self.ids[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for export."""
        return {
            "id": self.key, "ids": list(self.ids), "section": self.place, "kind": self.kind,
            "unclear": self.unclear, "taken": self.taken, "why": self.why,
            "other": self.other or None,
        }  # fmt: skip


def _reading(words: Content) -> Reading:
    """A place of the text file; another reading may be left out there."""
    ids = words.texts("ids")
    return Reading(
        ids,
        words.text("place"),
        "misprint" if ids[0].startswith("E") else "open question",
        words.text("unclear"),
        words.text("taken"),
        words.text("why"),
        words.text("other") if "other" in words.entries else "",
    )


CONVENTIONS = tuple(
    Convention(words.text("name"), words.text("text"))
    for words in read(__file__, "conventions").parts("conventions")
)
"""What the numbers mean, wherever they are shown."""

READINGS = tuple(
    map(
        _reading,
        read(__file__, "readings")
        .filled(
            lowest_cost=COST_GRID[0],
            highest_cost=COST_GRID[-1],
            lowest_clip=CLIP_GRID[0],
            highest_clip=CLIP_GRID[-1],
        )
        .parts("readings"),
    )
)
"""Misprints and open questions, those with two comparable readings first."""
