"""A figure as a file: SVG, PNG, PDF, CSV, or its Vega-Lite specification with the data inside.

With an :class:`~ultr_core.export.origin.Origin` each file says what made it: as a line below the
title and, except in PDF, as metadata in pictures, as a column in CSV, as ``usermeta`` in a
specification.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any, Protocol

import vl_convert

from ultr_core.export.origin import Origin
from ultr_core.figures import Figure
from ultr_core.files.tables import MADE_WITH

PNG_SCALE = 2.0

_PNG_START = 8  # bytes of the signature
_PNG_CHUNK_FRAME = 12  # length, type and checksum around a chunk's data
_CAPTION_SIZE = 13
_WIDEST_LINE = 88  # characters of the caption that fit below a title


def to_svg(figure: Figure, origin: Origin | None = None) -> bytes:
    """The figure as SVG text (UTF-8) on a white background."""
    text = str(vl_convert.vegalite_to_svg(_spec(figure, origin)))
    if origin is not None:
        start = text.index(">", text.index("<svg")) + 1
        note = f"<metadata>{escape(origin.as_json())}</metadata>"
        text = text[:start] + note + text[start:]
    return text.encode()


def to_png(figure: Figure, origin: Origin | None = None) -> bytes:
    """The figure as a PNG picture at twice its nominal size."""
    data = bytes(vl_convert.vegalite_to_png(_spec(figure, origin), scale=PNG_SCALE))
    return data if origin is None else _with_png_text(data, "Source", origin.as_json())


def to_pdf(figure: Figure, origin: Origin | None = None) -> bytes:
    """The figure as one page of PDF, for print; the order of its parts differs at each call."""
    return bytes(vl_convert.vegalite_to_pdf(_spec(figure, origin)))


def to_csv(figure: Figure, origin: Origin | None = None) -> bytes:
    """The figure's numbers, one row a mark, with full precision (UTF-8).

    The origin is a column of its own, since programs disagree on how a comment is written.
    """
    table = figure.table
    if origin is not None:
        table = table.assign(**{MADE_WITH: origin.link})
    return table.to_csv(index=False).encode()


def to_vega_lite(figure: Figure, origin: Origin | None = None) -> bytes:
    """The Vega-Lite specification with its data, ready for any Vega editor (UTF-8 JSON)."""
    return json.dumps(_spec(figure, origin), indent=1, ensure_ascii=False).encode()


def _spec(figure: Figure, origin: Origin | None) -> dict[str, Any]:
    spec = figure.standalone_spec()
    if origin is not None:
        spec["title"] = {
            **spec["title"],
            "subtitle": _lines(origin.words),
            "subtitleFontSize": _CAPTION_SIZE,
            "subtitlePadding": 4,
        }
        spec["usermeta"] = {**spec.get("usermeta", {}), MADE_WITH: origin.as_dict()}
    return spec


def _lines(words: str) -> list[str]:
    """A list of parts with commas between them, broken into lines that fit below a title."""
    lines: list[str] = []
    for part in words.split(", "):
        if lines and len(lines[-1]) + len(part) + 2 <= _WIDEST_LINE:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return lines


def _with_png_text(data: bytes, keyword: str, text: str) -> bytes:
    """A PNG file with a text chunk (PNG, third edition, 11.3.3.4) after its header."""
    header_length = struct.unpack(">I", data[_PNG_START : _PNG_START + 4])[0]
    place = _PNG_START + _PNG_CHUNK_FRAME + header_length
    body = b"iTXt" + keyword.encode("latin-1") + b"\0\0\0\0\0" + text.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return data[:place] + chunk + data[place:]


class Writer(Protocol):
    """Writes a figure in one format."""

    def __call__(self, figure: Figure, origin: Origin | None = None) -> bytes:
        """The bytes of the file."""


@dataclass(frozen=True)
class FileFormat:
    """One way to save a figure: button ``label``, file ``suffix``, ``mime`` type and writer."""

    label: str
    suffix: str
    mime: str
    write: Writer


FILE_FORMATS: Mapping[str, FileFormat] = MappingProxyType(
    {
        "svg": FileFormat("SVG", ".svg", "image/svg+xml", to_svg),
        "png": FileFormat("PNG", ".png", "image/png", to_png),
        "pdf": FileFormat("PDF", ".pdf", "application/pdf", to_pdf),
        "csv": FileFormat("CSV", ".csv", "text/csv", to_csv),
        "vega-lite": FileFormat("Vega-Lite", ".vl.json", "application/json", to_vega_lite),
    }
)
