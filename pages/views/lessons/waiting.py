"""What a lesson says while its numbers are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pages.app.slots import Slot
from ultr_core.lab import METHODS, Cell, Lab
from ultr_core.settings import Settings


def _training(cell: Cell, settings: Settings) -> str:
    draw, method = cell.args
    log = f"log {draw + 1} of {settings.draws}"
    return f"Users click, {log}; the ranker “{METHODS[method].label}” learns …"


WORDS: Mapping[str, Callable[[Cell, Settings], str]] = {
    "picture": lambda _cell, _settings: "Sixty rankers are judged by clicks …",
    "trained": _training,
    "swaps": lambda cell, _: f"Users see {cell.args[0].sessions:,} lists …",
    "live": lambda _cell, _settings: "Three weeks of clicks, a week of swaps, two contests …",
}
"""By kind of cell; what is not named here takes a moment."""


def telling_lab(lab: Lab, waiting: Slot) -> Lab:
    """The lab, which says in ``waiting`` what is about to be computed.

    Each message to the page is also a point at which a newer request of the reader takes over.
    """

    def tell(cell: Cell) -> None:
        if cell.kind in WORDS:
            words = WORDS[cell.kind](cell, lab.settings)
            waiting.place().markdown(f":shimmer[{words}]")

    return lab.telling(tell)
