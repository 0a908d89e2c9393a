"""Estimated against true risk, both less production's, or as they are: one mark a ranker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
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
from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
from ultr_core.lab import EstimatedRisks, RiskPicture, headline, named_rankers

Scale = Literal["relative", "absolute"]

EDGE = 4.5
"""Ends of both axes, fixed, so that a change on the screen is a change in the world."""

ARROW = 260  # square pixels: its head is as wide as a mark
INSET = 0.42  # from the edge to words, past the arrows there
MARGIN = 0.14  # how far from the edge the arrows sit that point beyond it
BESIDE, ASIDE = 0.5, 1.5  # from an arrow to its number, and between the arrows of one corner
ROOM = (0.39, 0.37)  # on each side of a number's middle, across and up
NAME = (1.4, 0.6)  # room of a name on the axes
HEIGHTS = {"left": (0.8 - EDGE, 2.6), "right": (-2.1, EDGE)}  # of names, clear of a shade's words
NAMED = ("skyline", "halfway", "worse ranker")
METHODS = ("naive", "propensity")
COLUMNS = (
    "part", "method", "look", "label", "x", "y", "x2", "y2", "low", "high", "true_risk", "estimate",
    "expected", "angle", "text",
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
    A mark outside the axes becomes an arrow at the edge, labelled with its numbers. If the
    propensities are correct, the weighted marks are expected to lie on the line of slope
    eps_plus - eps_minus (section 5.2); ``belief_is_right`` says whether they are. Absolute: the
    risks of all rankers, on axes that contain them.
    """
    relative = scale == "relative"
    rows = [*_rankers(picture, relative)]
    if relative:
        rows += [*_counts(rows, picture.slope), *_names(picture, rows), *_shades()]
        domain = {"x": (-EDGE, EDGE), "y": (-EDGE, EDGE)}
    else:
        heights = [row["y"] for row in rows]
        xs = [row["x"] for row in rows]
        ends = (picture.slope * x + picture.intercept for x in stable_range(xs))
        domain = {"x": stable_range(xs), "y": stable_range(heights, include=(*ends,))}
    rows += _law(picture, domain["x"], relative, belief_is_right)
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


def _counts(rows: list[dict[str, Any]], slope: float) -> Iterator[dict[str, Any]]:
    """The number of marks of each method beyond each edge and corner, beside their arrows.

    slope: of the line through the origin, which no number may touch either.
    """
    beyond: dict[tuple[float, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["part"] == "edge":
            beyond.setdefault((row["angle"], row["method"]), []).append(row)
    for (angle, method), marks in beyond.items():
        across, up = _sides(angle)
        if across and up and method == "naive" and (angle, "propensity") in beyond:
            for mark in marks:
                mark["x"] -= ASIDE * across
    drawn = [(row["x"], row["y"]) for row in rows]
    drawn += [(x, slope * x) for x in np.arange(-EDGE, EDGE, BESIDE / 2).tolist()]
    for (angle, method), marks in beyond.items():
        across, up = _sides(angle)
        xs, ys = ([mark[axis] for mark in marks] for axis in ("x", "y"))
        if not across and min(xs) > EDGE / 2:  # a corner's number may be beside it
            x, y = float(np.median(xs)), ys[0] - BESIDE * up
        elif not across:
            x, y = min(xs) - BESIDE, ys[0]
            x = x if x > -EDGE + BESIDE / 2 else max(xs) + BESIDE
        elif not up:
            x, y = xs[0], min(ys) - BESIDE
            y = y if y > -EDGE + 2 * BESIDE else max(ys) + BESIDE
        else:
            x, y = xs[0] - 1.3 * BESIDE * across, ys[0]
        x, y = _free(x, y, drawn, along_y=not up)
        # A number is larger than a mark.
        drawn += [(x + BESIDE / 2 * i, y + BESIDE / 2 * j) for i in (-1, 1) for j in (-1, 1)]
        yield {"part": "count", "method": method, "x": x, "y": y, "text": f"+{len(marks)}"}


def _sides(angle: float) -> tuple[int, int]:
    """Whether an arrow points right (1) or left (-1), and whether up or down."""
    across, up = (round(float(of(np.radians(angle)))) for of in (np.sin, np.cos))
    return across, up


def _free(
    x: float, y: float, drawn: list[tuple[float, float]], *, along_y: bool
) -> tuple[float, float]:
    """The place nearest to (x, y), along its edge, at which a number covers nothing drawn."""
    for step in sorted(np.arange(-2.0, 2.01, 0.05), key=abs):
        near = (x, y + float(step)) if along_y else (x + float(step), y)
        inside = abs(near[1 if along_y else 0]) < EDGE - BESIDE / 2
        if inside and not any(
            abs(near[0] - at) < ROOM[0] and abs(near[1] - high) < ROOM[1] for at, high in drawn
        ):
            return near
    return x, y


def _names(picture: RiskPicture, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Names and intervals of three rankers."""
    names: list[dict[str, Any]] = []
    for place, name in zip(named_rankers(picture), NAMED, strict=True):
        label = picture.labels[place]
        inside = [row for row in rows if row["label"] == label and row["part"] == "ranker"]
        for row in inside:
            ends = np.clip((row["low"], row["high"]), -EDGE, EDGE)
            yield {
                "part": "interval", "method": row["method"],
                "x": row["x"], "y": float(ends[0]), "y2": float(ends[1]),
            }  # fmt: skip
        if inside:
            x, y = inside[-1]["x"], inside[-1]["y"]
            y = float(np.clip(y, *HEIGHTS["left" if x < 0 else "right"]))
            names.append({"part": "name", "x": x, "y": y, "text": name})
    for low, high in pairwise(sorted(names, key=lambda row: row["y"])):
        if abs(high["x"] - low["x"]) < NAME[0] and high["y"] - low["y"] < NAME[1]:
            low["y"] = max(high["y"] - NAME[1], HEIGHTS["left"][0])
            high["y"] = low["y"] + NAME[1]
    yield from names


def _shades() -> Iterator[dict[str, Any]]:
    """The two quadrants of rankers on the wrong side."""
    yield {"part": "shade", "x": -EDGE, "x2": 0.0, "y": 0.0, "y2": EDGE}
    yield {"part": "shade", "x": 0.0, "x2": EDGE, "y": -EDGE, "y2": 0.0}
    yield {"part": "left", "x": -EDGE + INSET, "y": EDGE - 1.2, "text": "better, called worse"}
    yield {"part": "right", "x": EDGE - INSET, "y": -EDGE + 1.2, "text": "worse, called better"}


def _law(
    picture: RiskPicture, ends: tuple[float, float], relative: bool, right: bool
) -> Iterator[dict[str, Any]]:
    intercept = 0.0 if relative else picture.intercept
    for x, label in zip(ends, ("key", None), strict=True):
        yield {"part": "law", "x": x, "y": picture.slope * x + intercept, "label": label}
    slope = f"ε₊ − ε₋ = {picture.slope:.2g}"
    if relative:
        text = f"line: slope|{slope}" if right else f"if η′ = η: line|of slope {slope}"
        yield {"part": "right", "x": ends[1] - INSET, "y": -0.9, "text": text}


@lru_cache(maxsize=16)
def _template(relative: bool, right: bool, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    less = " minus production’s" if relative else ""
    better = "◂ better\u2002{}\u2002worse ▸" if relative else "{}"
    scale = {"zero": False, "nice": False, **({"domain": [-EDGE, EDGE]} if relative else {})}
    axis = {"values": [-4, -2, 0, 2, 4]} if relative else {}
    x = along(alt.X, better.format(f"True risk{less}"), scale, axis)("x")
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
    name = rows_of("name")
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
            size=alt.condition("datum.look == 'arrow'", alt.value(ARROW), alt.value(70)),
        ),
        *readable_text(rows_of("count").encode(x=x, y=y), ink, "text:N", halo=3, align="center"),
        *readable_text(name.encode(x=x, y=y), ink, "text:N", dx=9, dy=13, fontWeight="bold"),
        *readable_text(rows_of("left").encode(x=x, y=y), ink, "text:N", halo=3),
        *readable_text(
            rows_of("right").encode(x=x, y=y), ink, "text:N", halo=3, align="right", lineBreak="|"
        ),
    ]  # fmt: skip
    left = 0.0
    for method, words in (("naive", "naive: counts 1"), ("propensity", "weighted: 1/p")):
        style = METHOD_STYLES[method]
        look: Mark = {"color": style.color, "shape": style.shape, "filled": True, "size": 110}
        layers += key_point(once, words, ink, at=left + 6, y=-16, opacity=1, **look)
        left += 150
    return bare_spec(layers, ink)
