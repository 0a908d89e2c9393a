"""From Altair layers to a specification without data, ready to be reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from ultr_core.figures.style import METHOD_STYLES, NEUTRAL_STYLES, Ink, chart_config

UNBROKEN = 12
"""Width of a halo in pixels that fills the gaps between words."""


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
        if "tooltip" not in layer.get("encoding", {}):
            layer["mark"] = _unspoken(layer["mark"])
    return spec


def _unspoken(mark: str | dict[str, Any]) -> dict[str, Any]:
    """A mark that screen readers skip: decoration, beside marks that say their values."""
    return {**({"type": mark} if isinstance(mark, str) else mark), "aria": False}


def rows_of(part: str) -> alt.Chart:
    """A chart without data that sees only the rows whose column ``part`` is ``part``."""
    return alt.Chart().transform_filter(alt.datum.part == part)


def method_channels(others: Sequence[str] = ()) -> tuple[alt.Color, alt.Shape]:
    """Colour and shape of the column ``method``, the same on every picture, without a legend.

    others: keys of ``NEUTRAL_STYLES`` that the column holds as well.
    """
    drawn = {**METHOD_STYLES, **{key: NEUTRAL_STYLES[key] for key in others}}
    styles = drawn.values()
    return (
        alt.Color(
            "method:N",
            legend=None,
            scale=alt.Scale(domain=list(drawn), range=[s.color for s in styles]),
        ),
        alt.Shape(
            "method:N",
            legend=None,
            scale=alt.Scale(domain=list(drawn), range=[s.shape for s in styles]),
        ),
    )


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


def readable_text(
    chart: alt.Chart, ink: Ink, text: str, *, halo: float = 5, **mark: Any
) -> list[alt.Chart]:
    """Two text layers of field ``text``: a halo in the page's colour below the words.

    A halo of :data:`UNBROKEN` pixels leaves no gap between words for what lies below.
    """
    around = {"stroke": ink.background, "strokeWidth": halo, "strokeJoin": "round"}
    layers = [{**mark, **around, "color": ink.background}, {**mark, "color": ink.text}]
    return [chart.mark_text(align="left", **layer).encode(text=text) for layer in layers]
