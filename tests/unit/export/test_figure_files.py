from __future__ import annotations

import io
import json
import struct
import zlib
from xml.etree import ElementTree

import pandas as pd
import pytest

from ultr_core.export import FILE_FORMATS, Origin
from ultr_core.figures import examination_figure
from ultr_core.settings import Settings

FIGURE = examination_figure(Settings(), "probability")
FIRST_BYTES = {
    "svg": b"<svg",
    "png": b"\x89PNG",
    "pdf": b"%PDF-",
    "csv": b"rank,",
    "vega-lite": b"{",
}


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_file_is_of_the_kind_it_says(name: str) -> None:
    assert FILE_FORMATS[name].write(FIGURE).startswith(FIRST_BYTES[name])


def test_svg_shows_the_title_and_a_white_page() -> None:
    text = FILE_FORMATS["svg"].write(FIGURE).decode()
    assert FIGURE.title in text
    assert 'fill="#FFFFFF"' in text


def test_csv_reads_back_to_the_last_digit() -> None:
    read = pd.read_csv(io.BytesIO(FILE_FORMATS["csv"].write(FIGURE)))
    assert list(read["users"]) == list(FIGURE.rows["users"])


def test_specification_carries_its_data() -> None:
    spec = json.loads(FILE_FORMATS["vega-lite"].write(FIGURE))
    assert len(spec["data"]["values"]) == len(FIGURE.rows)
    assert spec["description"] == FIGURE.alt


@pytest.mark.parametrize("name", [name for name in FILE_FORMATS if name != "pdf"])
def test_same_figure_gives_same_bytes(name: str) -> None:
    assert FILE_FORMATS[name].write(FIGURE) == FILE_FORMATS[name].write(FIGURE)


ORIGIN = Origin("http://host/lab?eta=0.5&seed=<7>", Settings(eta=0.5, curve=(1, 0.5)), "mine")


def test_pictures_carry_link_and_settings() -> None:
    svg = FILE_FORMATS["svg"].write(FIGURE, ORIGIN)
    root = ElementTree.fromstring(svg)
    note = root.find("{http://www.w3.org/2000/svg}metadata")
    assert note is not None and note.text is not None
    assert json.loads(note.text) == ORIGIN.as_dict()
    assert "η = 0.5" in svg.decode()
    png = FILE_FORMATS["png"].write(FIGURE, ORIGIN)
    place, texts = 8, []
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + length]
        (checksum,) = struct.unpack(">I", png[place + 8 + length : place + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        if kind == b"iTXt":
            texts.append(body)
        place += 12 + length
    assert json.loads(texts[0].split(b"\0\0\0\0\0", 1)[1]) == ORIGIN.as_dict()


def test_numbers_and_specification_carry_link_and_settings() -> None:
    read = pd.read_csv(io.BytesIO(FILE_FORMATS["csv"].write(FIGURE, ORIGIN)))
    assert set(read["made_with"]) == {ORIGIN.link}
    assert list(read["users"]) == list(FIGURE.rows["users"])
    spec = json.loads(FILE_FORMATS["vega-lite"].write(FIGURE, ORIGIN))
    assert spec["usermeta"]["made_with"] == ORIGIN.as_dict()
