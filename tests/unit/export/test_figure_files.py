from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from ultr_core.export import FILE_FORMATS
from ultr_core.figures import examination_figure
from ultr_core.settings import Settings

FIGURE = examination_figure(Settings(), "probability")
FIRST_BYTES = {"svg": b"<svg", "png": b"\x89PNG", "csv": b"rank,", "vega-lite": b"{"}


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_file_is_of_the_kind_it_says(name: str) -> None:
    assert FILE_FORMATS[name].write(FIGURE).startswith(FIRST_BYTES[name])


def test_svg_shows_the_title_and_a_white_page() -> None:
    text = FILE_FORMATS["svg"].write(FIGURE).decode()
    assert "Examination probability by rank" in text
    assert 'fill="#FFFFFF"' in text


def test_csv_reads_back_to_the_last_digit() -> None:
    read = pd.read_csv(io.BytesIO(FILE_FORMATS["csv"].write(FIGURE)))
    assert list(read["users"]) == list(FIGURE.rows["users"])


def test_specification_carries_its_data() -> None:
    spec = json.loads(FILE_FORMATS["vega-lite"].write(FIGURE))
    assert len(spec["data"]["values"]) == len(FIGURE.rows)
    assert spec["description"] == FIGURE.alt


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_same_figure_gives_same_bytes(name: str) -> None:
    assert FILE_FORMATS[name].write(FIGURE) == FILE_FORMATS[name].write(FIGURE)
