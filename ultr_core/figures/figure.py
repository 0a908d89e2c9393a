"""A figure as plain data: columns, a Vega-Lite template without data, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import altair as alt
import pandas as pd
from numpy.typing import NDArray

from ultr_core.figures.style import METHOD_STYLES, NEUTRAL_STYLES, Ink, chart_config

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]
"""Tidy data, column by column: what a page shows on every run does not pass through pandas."""


@dataclass(frozen=True, eq=False)
class Figure:
    """Everything needed to show or save a picture.

    ``name`` is the stem of saved files, ``title`` what the picture is about, ``alt`` its finding
    in a sentence, ``data`` the tidy data with a column ``part`` that says which layer a row
    belongs to, as a frame or as plain columns, ``spec`` a Vega-Lite specification without data,
    and ``height`` its height in pixels. The specification is shared between figures and must not
    be changed.
    """

    name: str
    title: str
    alt: str
    data: pd.DataFrame | Columns
    spec: Mapping[str, Any] = field(repr=False)
    height: int = 300

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The tidy data as a frame."""
        return self.data if isinstance(self.data, pd.DataFrame) else pd.DataFrame(dict(self.data))

    @property
    def table(self) -> pd.DataFrame:
        """The rows without empty columns, for a CSV file."""
        return self.rows.dropna(axis="columns", how="all")

    def standalone_spec(self, *, width: int = 640) -> dict[str, Any]:
        """A complete specification with its data, a title and a white background."""
        spec = dict(self.spec)
        spec["config"] = {**spec.get("config", {}), "background": "#FFFFFF", "padding": 12}
        spec["data"] = {"values": _records(self.rows)}
        spec["description"] = self.alt
        spec["title"] = {"text": self.title, "anchor": "start", "fontSize": 18, "offset": 12}
        spec["width"] = width
        spec["height"] = self.height
        return spec


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON objects; a missing value is left out."""
    return [
        {str(key): value for key, value in record.items() if not pd.isna(value)}
        for record in rows.to_dict(orient="records")
    ]


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
