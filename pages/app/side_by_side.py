"""Elements beside each other in one container, placed by style: half the messages of columns.

A column is a message to the browser, and so is what holds the columns; a class that moves its
sliders pays for each.
"""

from __future__ import annotations

_NARROW = 640  # pixels of the screen up to which elements stand below each other
_CONTROL = 150  # pixels that a control needs

CONTROLS = ("main-controls",)
"""Keys of containers whose controls stand beside each other, as many as have room."""

TWO = ("risks", "proof-checks", "formulas")
"""Keys of containers whose elements stand in two columns."""

THREE_PAIRS = ("steps",)
"""Keys of containers of three columns, each with two of the elements, one below the other."""


def _grid(keys: tuple[str, ...], columns: str, more: str = "") -> str:
    blocks = ",".join(f".st-key-{key}" for key in keys)
    return f".stVerticalBlock:is({blocks}){{display:grid;grid-template-columns:{columns};{more}}}"


STYLE = (
    _grid(CONTROLS, f"repeat(auto-fit,minmax({_CONTROL}px,1fr))")
    + f"@media (min-width:{_NARROW + 1}px){{"
    + _grid(TWO, "repeat(2,minmax(0,1fr))")
    + _grid(
        THREE_PAIRS,
        "repeat(3,minmax(0,1fr))",
        "grid-auto-flow:column;grid-template-rows:repeat(2,auto)",
    )
    + "}"
)
"""The style of these containers; the shell sends it with every page."""
