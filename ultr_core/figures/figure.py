"""A figure as plain data: columns, a Vega-Lite template without data, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd
from numpy.typing import NDArray

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]
"""Tidy data, column by column: what a page shows on every run does not pass through pandas."""


@dataclass(frozen=True, eq=False)
class Figure:
    """Everything needed to show or save a picture.

    ``name`` is the stem of saved file names, ``title`` the picture's subject, ``alt`` its finding
    in a sentence, ``data`` the tidy data, as a frame or as plain columns, with a column
    ``part`` that says which layer a row belongs to, ``spec`` a Vega-Lite specification without
    data, and ``height`` the picture's height in pixels. The specification is shared between figures
    and must not be changed.
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
        """The rows, with empty columns left out, for a CSV file."""
        return self.rows.dropna(axis="columns", how="all")

    def _repr_svg_(self) -> str:
        """The picture where a notebook shows the figure."""
        import vl_convert  # a notebook may never show one

        return str(vl_convert.vegalite_to_svg(self.standalone_spec()))

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
