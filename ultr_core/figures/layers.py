"""What every picture is layered from: axes, tooltips, looks by method, keys, readable text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import altair as alt

from ultr_core.figures.style import METHOD_STYLES, Ink, MethodStyle, chart_config

Axis = TypeVar("Axis", alt.X, alt.Y)
Look = TypeVar("Look", alt.Color, alt.Shape, alt.StrokeDash, alt.Fill)

Mark = dict[str, Any]
"""How a mark looks, as the ``mark_...`` methods of a chart take it."""

UNBROKEN = 12
"""Width of a halo in pixels that fills the gaps between words."""

INTERVAL = ("low:Q", "95% from"), ("high:Q", "95% to")
"""Fields and titles of the ends of an interval, for `tooltips`."""


def bare_spec(
    layers: Sequence[alt.Chart], ink: Ink, parameters: Sequence[alt.Parameter] = ()
) -> dict[str, Any]:
    """Layer the charts, validate them and drop their (empty) data.

    Every layer then takes the data that the figure is shown with.
    """
    chart = alt.layer(*layers).add_params(*parameters).configure(**chart_config(ink))
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("datasets", None)
    spec.pop("data", None)
    for layer in spec["layer"]:
        layer.pop("data", None)
        _say_missing(layer)
        if "tooltip" not in layer.get("encoding", {}):
            layer["mark"] = _unspoken(layer["mark"])
    return spec


def _say_missing(layer: dict[str, Any]) -> None:
    """Have the tooltips of a layer show a dash for an end of an interval that there is none of.

    Vega formats a missing number as 0.
    """
    ends = [field.partition(":")[0] for field, _ in INTERVAL]
    for shown in layer.get("encoding", {}).get("tooltip", ()):
        if shown.get("field") in ends and "format" in shown:
            field, number = shown["field"], shown.pop("format")
            said = f"isValid(datum.{field}) ? format(datum.{field}, '{number}') : '–'"
            shown.update(field=f"{field}_said", type="nominal")
            layer.setdefault("transform", []).append({"calculate": said, "as": shown["field"]})


def _unspoken(mark: str | dict[str, Any]) -> dict[str, Any]:
    """A mark that screen readers skip: decoration, beside marks that say their values."""
    return {**({"type": mark} if isinstance(mark, str) else mark), "aria": False}


def with_domains(spec: Mapping[str, Any], **domains: tuple[float, float]) -> dict[str, Any]:
    """A copy of ``spec`` in which the named channels have these axis ranges in every layer."""
    layers = []
    for layer in spec["layer"]:
        encoding = dict(layer.get("encoding", {}))
        for channel, (low, high) in domains.items():
            if "scale" in encoding.get(channel, {}):
                scale = {**encoding[channel]["scale"], "domain": [low, high]}
                encoding[channel] = {**encoding[channel], "scale": scale}
        layers.append({**layer, "encoding": encoding})
    return {**spec, "layer": layers}


def rows_of(part: str) -> alt.Chart:
    """A chart without data that sees only the rows whose column ``part`` is ``part``."""
    return alt.Chart().transform_filter(alt.datum.part == part)


def along(
    channel: type[Axis],
    title: str | list[str],
    scale: Mapping[str, Any],
    axis: Mapping[str, Any] | None = None,
) -> Callable[[str], Axis]:
    """One axis for many fields: what is returned gives the channel of a numeric field.

    title: a line, or several; scale, axis: as in Vega-Lite; without ``axis`` it is drawn by
    default.
    """
    drawn = alt.Undefined if axis is None else alt.Axis(**axis)
    return lambda field: channel(f"{field}:Q", title=title, scale=alt.Scale(**scale), axis=drawn)


def rank_axis(field: str, title: str, ticks: Sequence[int]) -> alt.X:
    """An axis of ranks with these ticks, whose range `with_domains` gives."""
    # Without a count of its own Vega thins the values to the configured one.
    marked = {"values": ticks, "tickCount": len(ticks), "format": "d", "grid": False}
    return along(alt.X, title, {"nice": False, "domain": [0, 1]}, marked)(field)


def tooltips(*fields: tuple[str, ...], format: str = "") -> list[alt.Tooltip]:
    """Fields with a title and perhaps a d3 format each; ``format`` is that of numbers without."""
    shown = []
    for field, title, *own in fields:
        number = own[0] if own else format if field.endswith(":Q") else ""
        shown.append(alt.Tooltip(field, title=title, format=number or alt.Undefined))
    return shown


def by_method(
    channel: type[Look], look: str, styles: Mapping[str, MethodStyle] = METHOD_STYLES
) -> Look:
    """The channel of the column ``method``, which has no legend.

    look: "color", "shape" or "dash" of the ``styles``, by key; the same on every picture.
    """
    scale = alt.Scale(domain=list(styles), range=[getattr(one, look) for one in styles.values()])
    return channel("method:N", legend=None, scale=scale)


def readable_text(
    chart: alt.Chart, ink: Ink, text: str, *, halo: float = 5, **mark: Any
) -> list[alt.Chart]:
    """Two text layers of field ``text``: a halo in the page's colour below the words.

    A halo of :data:`UNBROKEN` pixels leaves no gap between words for what lies below.
    """
    around = {"stroke": ink.background, "strokeWidth": halo, "strokeJoin": "round"}
    layers = [{**mark, **around, "color": ink.background}, {**mark, "color": ink.text}]
    return [chart.mark_text(**{"align": "left", **layer}).encode(text=text) for layer in layers]


def key_line(
    once: alt.Chart,
    name: str,
    ink: Ink,
    *,
    left: float | str,
    y: float,
    length: float = 26,
    **mark: Any,
) -> list[alt.Chart]:
    """A line of this look with its name, above the plot, where no curve can run through it.

    once: a chart of one row. left, y: pixels from the upper left corner of the plot; left may be an
    expression for them, such as of the plot's width.
    """
    ends = {"x": _pixels(left), "x2": _pixels(_after(left, length))}
    line = once.mark_rule(**mark).encode(**ends, y=alt.value(y))
    return [line, _key_name(once, name, ink, _after(left, length + 7), y)]


def key_point(
    once: alt.Chart,
    name: str,
    ink: Ink,
    *,
    at: float | str,
    y: float,
    room: float = 12,
    **mark: Any,
) -> list[alt.Chart]:
    """A point of this look at ``at``, with its name after ``room`` pixels; as `key_line`."""
    point = once.mark_point(**mark).encode(x=_pixels(at), y=alt.value(y))
    return [point, _key_name(once, name, ink, _after(at, room), y)]


def _key_name(once: alt.Chart, name: str, ink: Ink, x: float | str, y: float) -> alt.Chart:
    text = once.mark_text(align="left", color=ink.text)
    placed: alt.Chart = text.encode(x=_pixels(x), y=alt.value(y), text=alt.value(name))
    return placed


def _after(x: float | str, pixels: float) -> float | str:
    return f"{x} + {pixels}" if isinstance(x, str) else x + pixels


def _pixels(x: float | str) -> Any:
    return alt.value(alt.ExprRef(x) if isinstance(x, str) else x)
