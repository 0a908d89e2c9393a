"""The name of one thing that a lab makes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultr_core.corpus import CorpusShape, CorpusSplits
from ultr_core.settings import Settings

CorpusChoice = str | Path | CorpusShape | CorpusSplits | None
"""Directory of a LETOR corpus, size of a synthetic one, corpus at hand, None: the built-in one."""


@dataclass(frozen=True)
class Cell:
    """What a stage depends on, and nothing more: two labs that agree on a cell share its value.

    kind: the method of `Lab` that gives it, or a name that another room chose. settings: with
    only the fields that it depends on. args: the method's arguments, such as draw and method;
    hashable. A cell pickles, so that a queue can order it and another process can make it
    (`Lab.make`).
    """

    kind: str
    settings: Settings
    args: tuple[Any, ...] = ()
    corpus: CorpusChoice = None
