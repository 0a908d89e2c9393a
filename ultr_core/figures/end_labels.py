"""Names at the right ends of curves, each at the height of its line or as close as others allow.

Curves that end close together have their names moved apart by the smallest shifts, in the sense
of least squares, in the order of the curves. With heights h_0 <= h_1 <= ... in pixels from the top
of a plot of height H, a distance d and t_i = h_i - i d, the i-th name is at

    i d + min(max(z_i, 0), H - (n - 1) d),   z_i = max_{j <= i} min_{k >= i} mean(t_j, ..., t_k),

the min-max formula of isotonic regression (Barlow, Bartholomew, Bremner and Brunk, 1972). The
browser evaluates it, for only there is H known, and the size of the type.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from ultr_core.figures.layers import rows_of
from ultr_core.figures.style import FONT_SIZE

WIDE = 500
"""Pixels from which there is room beside the curves."""

PLACES, ROOM, TYPE, DISTANCE = "name_places", "name_room", "name_type", "name_distance"
"""Parameters of a chart with names: the height of each, the pixels kept free, the type, and the
pixels from name to name."""

_MARKS, _LEADER, _MARK, _GAP = (20, 14), (18, 10), 7, 17
"""Pixels from the end of the axis to where leaders begin, of a leader, and from its end to the
middle of the mark and to the text; two numbers are for wide and for narrow pictures."""
_LOOK: dict[str, Any] = {"strokeWidth": 2, "opacity": 1, "aria": False}
_LETTER, _LINE = 0.52, 1.25
"""Width of a letter and distance of two names, as multiples of the size of the type."""


def name_row(
    method: str, text: str, x: float, y: float, *, is_line: bool = False, leads: bool = True
) -> dict[str, Any]:
    """A row of the data for a name at the end (x, y) of a curve.

    is_line: the curve is a line without marks. leads: it ends in the picture, so that a leader
    leads from it to its name.
    """
    return {
        "part": "name", "method": method, "text": text, "x": x, "y": y, "is_line": is_line,
        "leads": leads,
    }  # fmt: skip


def placed(
    spec: Mapping[str, Any], ends: Mapping[str, float], low: float, high: float, *,
    log: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A copy of ``spec`` that knows where names go, and with how much room.

    ends: by the text of a name where its curve ends. low, high: ends of the vertical axis.
    """
    at: Callable[[float], float] = math.log if log else float
    names = sorted(ends, key=lambda name: -ends[name])
    shares = [(at(high) - at(ends[name])) / (at(high) - at(low)) for name in names]
    places = zip(names, _places(shares), strict=True)
    longest = max(map(len, names), default=0)
    parameters = [
        type_parameter(),
        {"name": ROOM, "expr": f"{_of_width(_beside(_GAP))} + {_LETTER * longest} * {_SIZE}"},
        {"name": DISTANCE, "expr": f"min({_LINE} * {_SIZE}, height / {max(len(names) - 1, 1)})"},
        {"name": PLACES, "expr": "{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in places) + "}"},
    ]
    return {**spec, "params": [*spec.get("params", ()), *parameters]}


def type_parameter() -> dict[str, Any]:
    """The parameter by which a chart's expressions know the size of the type."""
    return {"name": TYPE, "value": {"fontSize": FONT_SIZE}}


def end_of_axis() -> dict[str, str]:
    """The pixel at which a horizontal axis ends, so that names have room at its right."""
    return {"expr": f"width - {ROOM}"}


def name_layers(
    x: alt.X, y: alt.Y, color: alt.Color, *, own: str = "0", **look: Any
) -> list[alt.Chart]:
    """Layers of names with the marks of their curves, and leaders to them.

    x, y: channels of the columns x and y. own: expression for the pixels that the mark of a row is
    beside its place. look: channels of the marks, such as their shape.
    """
    name = rows_of("name")
    place = alt.value({"expr": f"{PLACES}[datum.text]"})
    begins, ends = ({"expr": _of_width(pixels)} for pixels in (_MARKS, _beside(0)))
    middle, text = ({"expr": _of_width(_beside(pixels))} for pixels in (_MARK, _GAP))
    leads = name.transform_filter("datum.leads")
    line = name.transform_filter("datum.is_line")
    mark = name.transform_filter("!datum.is_line")
    return [
        leads.mark_rule(strokeWidth=1, xOffset={"expr": own}, x2Offset=begins).encode(
            x=x, x2="x:Q", y=y, color=color
        ),
        leads.mark_rule(strokeWidth=1, xOffset=begins, x2Offset=ends).encode(
            x=x, x2="x:Q", y=y, y2=place, color=color
        ),
        line.mark_point(shape="stroke", size=150, xOffset=middle, **_LOOK).encode(
            x=x, y=place, color=color
        ),
        mark.mark_point(size=70, xOffset=middle, **_LOOK).encode(x=x, y=place, color=color, **look),
        name.mark_text(align="left", baseline="middle", xOffset=text).encode(
            x=x, y=place, text="text:N"
        ),
    ]


_SIZE = f"{TYPE}.fontSize"


def _beside(pixels: int) -> tuple[int, int]:
    wide, narrow = (begin + leader for begin, leader in zip(_MARKS, _LEADER, strict=True))
    return wide + pixels, narrow + pixels


def _of_width(pixels: tuple[int, int]) -> str:
    wide, narrow = pixels
    return f"(width > {WIDE} ? {wide} : {narrow})"


def _places(shares: Sequence[float]) -> list[str]:
    """Expressions of the places of names [names], of their shares of the height from the top."""
    last = len(shares) - 1

    def mean(j: int, k: int) -> str:
        share = math.fsum(shares[j : k + 1]) / (k - j + 1)
        return f"height * {share:.6g} - {(j + k) / 2:g} * {DISTANCE}"

    def place(i: int) -> str:
        least = [f"min({', '.join(mean(j, k) for k in range(i, last + 1))})" for j in range(i + 1)]
        above = f"clamp(max({', '.join(least)}), 0, height - {last} * {DISTANCE})"
        return f"{i} * {DISTANCE} + {above}"

    return [place(i) for i in range(last + 1)]
