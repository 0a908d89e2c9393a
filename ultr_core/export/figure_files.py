"""A figure as a file: SVG, PNG, CSV, or its Vega-Lite specification with the data inside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import vl_convert

from ultr_core.figures import Figure

PNG_SCALE = 2.0


def to_svg(figure: Figure) -> bytes:
    """The figure as SVG text (UTF-8) on a white background."""
    return str(vl_convert.vegalite_to_svg(figure.standalone_spec())).encode()


def to_png(figure: Figure) -> bytes:
    """The figure as a PNG picture at twice its nominal size."""
    return bytes(vl_convert.vegalite_to_png(figure.standalone_spec(), scale=PNG_SCALE))


def to_csv(figure: Figure) -> bytes:
    """The figure's numbers, one row a mark, with full precision (UTF-8)."""
    return figure.table.to_csv(index=False).encode()


def to_vega_lite(figure: Figure) -> bytes:
    """The Vega-Lite specification with its data, ready for any Vega editor (UTF-8 JSON)."""
    return json.dumps(figure.standalone_spec(), indent=1, ensure_ascii=False).encode()


@dataclass(frozen=True)
class FileFormat:
    """One way to save a figure: button ``label``, file ``suffix``, ``mime`` type and writer."""

    label: str
    suffix: str
    mime: str
    write: Callable[[Figure], bytes]


FILE_FORMATS: Mapping[str, FileFormat] = MappingProxyType(
    {
        "svg": FileFormat("SVG", ".svg", "image/svg+xml", to_svg),
        "png": FileFormat("PNG", ".png", "image/png", to_png),
        "csv": FileFormat("CSV", ".csv", "text/csv", to_csv),
        "vega-lite": FileFormat("Vega-Lite", ".vl.json", "application/json", to_vega_lite),
    }
)
