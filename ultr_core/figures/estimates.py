"""Estimated against true risk, both less production's, or as they are: one mark a ranker."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import altair as alt
import numpy as np
from numpy.typing import NDArray

from ultr_core.figures.axes import drawn_ends, stable_range
from ultr_core.figures.figure import Columns, Figure
from ultr_core.figures.layers import (
    INTERVAL,
    Mark,
    along,
    bare_spec,
    by_method,
    key_point,
    readable_text,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.room import CELL, LARGER, Ends, Room
from ultr_core.figures.style import FONT_SIZE, INKS, METHOD_STYLES, Theme
from ultr_core.lab import EstimatedRisks, RiskPicture, headline, named_rankers

Scale = Literal["relative", "absolute"]

EDGE = 4.5
"""Ends of both axes, fixed, so that a change on the screen is a change in the world."""

MARGIN = 0.14  # how far from the edge the arrows sit that point beyond it
ASIDE = 0.8  # between the arrows of one corner

PIXELS = {"wide": (408, 282), "phone": (255, 200), "narrow": (216, 200)}
"""Width and height of the plot on the first screen at 1280 x 720, and on phones of 360 pixels and
of 320."""

WIDE, PHONE = 380, 255
"""Widths in pixels from which a plot has the words of the wide one, and of that of a phone."""

DOT, ARROW = 70, 260  # square pixels of a mark, and of an arrow: its head is as wide as a mark
MARK = (11.0, 11.0)  # width and height of a mark in pixels, of an arrow upwards, of an interval
UPWARDS, SLANTED = (9.0, 18.0), (16.0, 16.0)
INTERVAL_WIDTH = 3.0
LINE = 17.0  # pixels of a line of words, and of one of its letters, plain or bold
LETTER, BOLD = 7.5, 8.2
LETTERS = 20.0
"""How many times as wide as its letters are large the plot has to be for the title below it."""
LEADER = 14.0
"""Pixels between a mark and its name from which a line connects them."""
GAP = 6.0
"""Pixels above and below the words about the line, so that they do not read on into others."""
KEYS = (150.0, 106.0, 135.0)
"""Pixels from the left end of the plot to the second key above it and, at the least, from that key
to the plot's right end and from the first key to the second."""
LONGEST = 60.0
"""Pixels between a mark and its name from which a narrow plot leaves the name out."""

NAMED = ("skyline", "halfway", "worse ranker")
METHODS = ("naive", "propensity")
COUNTED = {
    "wide": {"naive": "naive", "propensity": "weighted"},
    **{plot: {"naive": "▲", "propensity": "●"} for plot in ("phone", "narrow")},
}
"""What counts are of, by plot and method: words, or the signs of its marks where there is little
room."""
COLUMNS = (
    "part", "method", "look", "label", "x", "y", "x2", "y2", "low", "high", "true_risk", "estimate",
    "expected", "angle", "text", "across", "up", "plot",
)  # fmt: skip


def estimates_figure(
    picture: RiskPicture,
    scale: Scale = "relative",
    *,
    belief_is_right: bool = True,
    theme: Theme = "light",
) -> Figure:
    """The naive and weighted estimates for every ranker, plotted against the truth.

    Relative: both risks minus those of the production ranker, on axes from -4.5 to 4.5. A ranker in
    a shaded quadrant is estimated to be worse than production although it is better, or vice versa.
    A mark outside the axes becomes an arrow at the edge, labelled with its numbers. Words have
    places of their own on the plot of a phone; names and words about the line that would cover
    something there are left out. If the
    propensities are correct, the weighted marks are expected to lie on the line of slope
    eps_plus - eps_minus (section 5.2); ``belief_is_right`` says whether they are. Absolute: the
    risks of all rankers, on axes that contain them.
    """
    relative = scale == "relative"
    rows = [*_rankers(picture, relative)]
    if relative:
        _set_aside(rows)
        named = _named(picture, rows)
        rows += _intervals(named)
        drawn, beyond = _drawn(rows), _beyond(rows)
        for plot, pixels in PIXELS.items():
            room = _room(drawn, picture.slope, pixels)
            words = chain(
                _counts(beyond, room, plot),
                _words(picture.slope, belief_is_right, room, plot == "wide"),
                _names(named, room, plot == "wide"),
            )
            rows += ({**row, "plot": plot} for row in words)
        rows += _shades()
        domain = {"x": (-EDGE, EDGE), "y": (-EDGE, EDGE)}
    else:
        heights = [row["y"] for row in rows]
        xs = [row["x"] for row in rows]
        ends = (picture.slope * x + picture.intercept for x in stable_range(xs))
        domain = {"x": stable_range(xs), "y": stable_range(heights, include=(*ends,))}
    rows += _law(picture, domain["x"], relative)
    data: Columns = {name: [row.get(name) for row in rows] for name in COLUMNS}
    spec = with_domains(_template(relative, belief_is_right, theme), **domain)
    title = "Estimated against true risk"
    return Figure(
        f"estimates-{scale}",
        f"{title}, relative to production" if relative else title,
        headline(picture) if relative else picture.sentence,
        data,
        spec,
        height=400,
    )


def _rankers(picture: RiskPicture, relative: bool) -> Iterator[dict[str, Any]]:
    """A row for each ranker and method; weighted last, so that it is drawn on top."""
    here = picture.production
    true = picture.true_risk - (picture.true_risk[here] if relative else 0.0)
    for method, said in zip(METHODS, (picture.naive, picture.weighted), strict=True):
        value, expected, low, high = _said(said, here, relative)
        for place, label in enumerate(picture.labels):
            if relative and place == here:
                continue  # it is the origin
            at = float(true[place]), float(value[place])
            x, y, angle = _placed(*at) if relative else (*at, None)
            yield {
                "part": "ranker" if angle is None else "edge",
                "method": method,
                "look": method if angle is None else "arrow",
                "label": label,
                "x": x,
                "y": y,
                "angle": angle,
                "true_risk": true[place],
                "estimate": value[place],
                "expected": expected[place],
                "low": low[place],
                "high": high[place],
            }


def _said(said: EstimatedRisks, here: int, relative: bool) -> tuple[NDArray[np.float64], ...]:
    if not relative:
        return said.value, said.expected, *drawn_ends(said.low, said.high)
    ends = drawn_ends(said.difference_low, said.difference_high)
    return said.value - said.value[here], said.expected - said.expected[here], *ends


def _placed(x: float, y: float) -> tuple[float, float, float | None]:
    """Where a mark is drawn; outside the window at its edge, with the angle of an arrow."""
    across, up = ((v > EDGE) - (v < -EDGE) for v in (x, y))
    if not across and not up:
        return x, y, None
    most = EDGE - MARGIN
    angle = math.degrees(math.atan2(across, up)) % 360  # 0 points up
    return max(-most, min(x, most)), max(-most, min(y, most)), angle


Drawn = dict[tuple[float, float], list[tuple[float, float]]]
"""Points on the axes at which something is drawn, by its width and height in pixels."""


def _drawn(rows: list[dict[str, Any]]) -> Drawn:
    """Marks, arrows and intervals."""
    sized: Drawn = {}
    for row in rows:
        if row["part"] == "interval":
            heights = np.arange(row["y"], row["y2"], CELL * EDGE / PIXELS["wide"][1]).tolist()
            sized.setdefault((INTERVAL_WIDTH, CELL), []).extend((row["x"], y) for y in heights)
        else:
            sized.setdefault(_size(row["angle"]), []).append((row["x"], row["y"]))
    return sized


def _room(drawn: Drawn, slope: float, pixels: tuple[int, int]) -> Room:
    """What is drawn, and the line through the origin, take of a plot of this size."""
    room = Room(EDGE, pixels)
    line = np.linspace(-EDGE, EDGE, pixels[0] // CELL)
    room.take(np.column_stack([line, slope * line])[np.abs(slope * line) <= EDGE], (CELL, CELL))
    for size, points in drawn.items():
        room.take(points, size)
    return room


def _size(angle: float | None) -> tuple[float, float]:
    """Width and height in pixels of a mark, or of an arrow of this angle."""
    if angle is None:
        return MARK
    across, up = _sides(angle)
    return SLANTED if across and up else UPWARDS if up else (UPWARDS[1], UPWARDS[0])


def _in_words(text: str, letter: float = LETTER) -> tuple[float, float]:
    """Width and height of words in pixels."""
    lines = text.split("|")
    return letter * max(map(len, lines)), LINE * len(lines)


def _set_aside(rows: list[dict[str, Any]]) -> None:
    """Move naive arrows off the corners in which there are weighted ones."""
    edge = [row for row in rows if row["part"] == "edge"]
    weighted = {row["angle"] for row in edge if row["method"] == "propensity"}
    for row in edge:
        across, up = _sides(row["angle"])
        if across and up and row["method"] == "naive" and row["angle"] in weighted:
            row["x"] -= ASIDE * across


def _beyond(rows: list[dict[str, Any]]) -> dict[tuple[bool, bool], list[dict[str, Any]]]:
    """The marks beyond the axes in each quadrant: whether it is on the right, and above."""
    found: dict[tuple[bool, bool], list[dict[str, Any]]] = {}
    for row in rows:
        if row["part"] == "edge":
            found.setdefault((row["x"] > 0, row["y"] > 0), []).append(row)
    return dict(sorted(found.items(), reverse=True))


def _counts(
    quadrants: dict[tuple[bool, bool], list[dict[str, Any]]], room: Room, plot: str
) -> Iterator[dict[str, Any]]:
    """The number of marks of each method beyond the axes in each quadrant."""
    of = COUNTED[plot]
    for (right, above), beyond in quadrants.items():
        counts = Counter(row["method"] for row in beyond)
        text = "|".join(f"{of[key]} +{counts[key]}" for key in METHODS if counts[key])
        near = [(row["x"], row["y"]) for row in beyond]
        yield from _placed_words("count", (text,), room, near, (_half(right), _half(above)))


def _placed_words(
    part: str,
    texts: tuple[str, ...],
    room: Room,
    near: list[tuple[float, float]],
    within: Ends | None,
    *,
    gap: float = 0.0,
    needed: bool = True,
) -> Iterator[dict[str, Any]]:
    """The first of the texts that covers nothing; the very first if none does but it is needed.

    gap: pixels to what is above and below, if there is room for them.
    """
    larger = LARGER if room.width >= WIDE else 1.0
    free = [(text, side, False) for text in texts for side in sorted({gap, 0.0}, reverse=True)]
    for text, side, covering in free + [(texts[0], 0.0, True)] * needed:
        width, height = _in_words(text, BOLD if part == "count" and larger == 1 else LETTER)
        size = width, height + 2 * side
        at = room.place(size, near, within=within, larger=larger, covering=covering)
        if at is not None:
            yield {"part": part, "x": at[0], "y": at[1], "text": text}
            return


def _half(positive: bool) -> tuple[float, float]:
    return (0.0, EDGE) if positive else (-EDGE, 0.0)


def _sides(angle: float) -> tuple[int, int]:
    """Whether an arrow points right (1) or left (-1), and whether up or down."""
    turned = math.radians(angle)
    return round(math.sin(turned)), round(math.cos(turned))


def _named(picture: RiskPicture, rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The marks of three rankers inside the window, by name."""
    labels = {
        picture.labels[at]: name for at, name in zip(named_rankers(picture), NAMED, strict=True)
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["part"] == "ranker" and row["label"] in labels:
            found.setdefault(labels[row["label"]], []).append(row)
    return found


def _intervals(named: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for row in chain(*named.values()):
        low, high = np.clip((row["low"], row["high"]), -EDGE, EDGE).tolist()
        if low < high:  # neither is NaN
            yield {"part": "interval", "method": row["method"], "x": row["x"], "y": low, "y2": high}


def _names(
    named: dict[str, list[dict[str, Any]]], room: Room, wide: bool
) -> Iterator[dict[str, Any]]:
    """Names beside marks, and lines to those that are farther away.

    On a wide plot a name is so many pixels from its mark, so that it is as close in a wider one; on
    a narrow one it has a place on the axes, so that in a wider one it comes no closer to words.
    """
    for name, marks in named.items():
        at = marks[-1]["x"], marks[-1]["y"]
        size = _in_words(name, BOLD)
        within = None
        if wide:  # also inside the narrowest plot that is wide
            left = at[0] - (at[0] + EDGE) * WIDE / room.width
            within = (left, left + 2 * EDGE * WIDE / room.width), (-EDGE, EDGE)
        place = room.place(size, [at], within=within, larger=1.0, covering=wide)
        if place is None:
            continue
        mark, middle = room.pixels([at, place])
        half = np.array(size) / 2
        end = middle + np.clip(mark - middle, -half, half)
        away = float(np.hypot(*(end - mark)))
        if away > LONGEST and not wide:
            continue
        x, y = origin = at if wide else place
        zero = room.pixels([origin])[0]
        across, up = (middle - zero).tolist()
        yield {"part": "name", "x": x, "y": y, "across": across, "up": up, "text": name}
        if away > LEADER:
            room.take(np.linspace(at, room.on_axes(end)), (CELL, CELL))
            across, up = (end - zero).tolist()
            ends = {"x": at[0], "y": at[1], "x2": x, "y2": y}
            yield {"part": "leader", **ends, "across": across, "up": up}


def _shades() -> Iterator[dict[str, Any]]:
    """The two quadrants of rankers on the wrong side."""
    yield {"part": "shade", "x": -EDGE, "x2": 0.0, "y": 0.0, "y2": EDGE}
    yield {"part": "shade", "x": 0.0, "x2": EDGE, "y": -EDGE, "y2": 0.0}


def _words(slope: float, right: bool, room: Room, wide: bool) -> Iterator[dict[str, Any]]:
    """What the quadrants and the line are; a narrow plot may have each in narrower lines."""
    said = f"ε₊ − ε₋ = {slope:.2g}"
    line: tuple[str, ...] = (f"{'line: slope|' if right else 'if η′ = η: line|of slope '}{said}",)
    better: tuple[str, ...] = ("better,|called worse",)
    worse: tuple[str, ...] = ("worse,|called better",)
    if not wide:
        line = (f"slope|{said}" if right else f"if η′ = η: slope|{said}",)
        better, worse = (*better, "better,|called|worse"), (*worse, "worse,|called|better")
    above, below = (_half(False), _half(True)), (_half(True), _half(False))
    yield from _placed_words("words", better, room, [(-3.2, EDGE - 1.2)], above)
    yield from _placed_words("words", worse, room, [(3.2, -EDGE + 1.2)], below)
    yield from _placed_words("words", line, room, [(3.0, -1.2)], None, gap=GAP, needed=wide)


def _law(
    picture: RiskPicture, ends: tuple[float, float], relative: bool
) -> Iterator[dict[str, Any]]:
    intercept = 0.0 if relative else picture.intercept
    for x, label in zip(ends, ("key", None), strict=True):
        yield {"part": "law", "x": x, "y": picture.slope * x + intercept, "label": label}


@lru_cache(maxsize=16)
def _template(relative: bool, right: bool, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    less = " minus production’s" if relative else ""
    better = "◂ better\u2002{}\u2002worse ▸" if relative else "{}"
    scale = {"zero": False, "nice": False, **({"domain": [-EDGE, EDGE]} if relative else {})}
    axis = {"values": [-4, -2, 0, 2, 4]} if relative else {}
    smaller = alt.ExprRef(f"min({FONT_SIZE}, width / {LETTERS})")  # so that a phone has it all
    titled = {**axis, "titleFontSize": smaller}
    x = along(alt.X, better.format(f"True risk{less}"), scale, titled)("x")
    y_of = along(alt.Y, f"Estimated risk{less}", scale, axis)
    y = y_of("y")
    color, looks = by_method(alt.Color, "color"), ["arrow", *METHODS]
    shapes = ["arrow", *(METHOD_STYLES[method].shape for method in METHODS)]
    shape = alt.Shape("look:N", legend=None, scale=alt.Scale(domain=looks, range=shapes))
    tooltip = tooltips(
        ("label:N", "Ranker"),
        ("true_risk:Q", f"True risk{less}"),
        ("estimate:Q", f"Estimate{less}"),
        *INTERVAL,
        ("expected:Q", "Exact expectation"),
        format=".2f",
    )

    on_this = f"datum.plot == (width < {PHONE} ? 'narrow' : width < {WIDE} ? 'phone' : 'wide')"
    words = alt.Chart().transform_filter(
        f"(datum.part == 'count' || datum.part == 'words') && {on_this}"
    )
    name, leader = (rows_of(part).transform_filter(on_this) for part in ("name", "leader"))
    # In pixels from their marks, so that names are as close to them in a larger plot.
    across, down = alt.ExprRef("datum.across"), alt.ExprRef("-datum.up")
    middle: Mark = {"align": "center", "baseline": "middle"}
    law: Mark = {"color": ink.text if right else ink.quiet, "strokeWidth": 2}
    law["strokeDash"] = [1, 0] if right else [6, 5]
    once = rows_of("law").transform_filter("datum.label == 'key'")
    layers = [
        rows_of("shade").mark_rect(color=ink.quiet, opacity=0.16).encode(
            x=x, x2="x2:Q", y=y, y2="y2:Q"
        ),
        rows_of("law").mark_line(**law).encode(x=x, y=y),
        rows_of("interval").mark_rule(strokeWidth=3).encode(x=x, y=y, y2="y2:Q", color=color),
        # One layer for marks and arrows: one that is empty has no name for who hears the page.
        alt.Chart().transform_filter("isValid(datum.look)").mark_point(
            filled=True, opacity=0.9
        ).encode(
            x=x, y=y, color=color, shape=shape, tooltip=tooltip,
            angle=alt.Angle("angle:Q", scale=None),
            size=alt.condition("datum.look == 'arrow'", alt.value(ARROW), alt.value(DOT)),
        ),
        leader.mark_rule(
            color=ink.quiet, x2Offset=across, y2Offset=down
        ).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"),
        *readable_text(
            name.encode(x=x, y=y), ink, "text:N", **middle, fontWeight="bold",
            dx=across, dy=down,
        ),
        *readable_text(
            words.encode(x=x, y=y), ink, "text:N", halo=3, **middle, lineBreak="|",
            dy=alt.ExprRef(f"(1 - length(split(datum.text, '|'))) * {LINE / 2}"),
        ),
    ]  # fmt: skip
    second, to_the_end, apart = KEYS
    left = (f"min(0, width - {to_the_end + apart})", f"min({second}, width - {to_the_end})")
    named = (("naive", "naive: counts 1"), ("propensity", "weighted: 1/p"))
    for (method, said), at in zip(named, left, strict=True):
        style = METHOD_STYLES[method]
        look: Mark = {"color": style.color, "shape": style.shape, "filled": True, "size": 110}
        layers += key_point(once, said, ink, at=f"{at} + 6", y=-16, opacity=1, **look)
    return bare_spec(layers, ink)
