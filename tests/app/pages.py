"""What the tests of pages do alike."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from streamlit.testing.v1 import AppTest

from pages.app.registry import PAGES
from ultr_core.jobs.links import NOTEBOOK_PAGES, values_of
from ultr_core.lab import EstimatedRisks, RiskPicture

WITH_NOTEBOOK = tuple(page for page in NOTEBOOK_PAGES if page in {info.path for info in PAGES})
"""Pages of the app that have a job: a job may have a link and a notebook, and no page."""

WITH_VALUES = tuple(page for page in WITH_NOTEBOOK if values_of(page))
"""Those that have values of their own."""


def opened(app: AppTest, key: str) -> AppTest:
    """Open what makes its content when it is opened."""
    app.session_state[key] = True
    return app.run()


def open_savers(app: AppTest) -> AppTest:
    """Open "Save figure" of every figure on the page; what it offers is made then."""
    for key in list(app.session_state):
        if key.startswith("save-figure-"):
            app.session_state[key] = True
    return app.run()


def picture(true: list[float], said: list[float], tau: float) -> RiskPicture:
    """Of production and skyline, both estimates saying the same."""
    value = np.array(said)
    found = EstimatedRisks(value, value, value, value, tau, tau, 9.0, 1.0, value, value)
    kinds = ("production", "skyline")
    return RiskPicture(kinds, kinds, np.array(true), found, found, 1.0, 0.0, 9, 9)


_NO_PROSE = re.compile(r"`[^`]*`|\$\$[\s\S]*?\$\$|\$[^$]*\$|\]\([^)]*\)|<[^>]*>|https?://\S+")
_HYPHEN = re.compile(r"(?<![\w.)\]:/#'\u2060-])-(?=\.?\d)")  # not in what a link asked for


def texts(app: AppTest) -> Iterator[str]:
    """What a reader sees as words or numbers, and the words behind charts: no input."""
    for element in (*app.markdown, *app.title, *app.subheader, *app.error, *app.warning):
        yield str(element.value)
    yield from (element.label for element in (*app.expander, *app.button))
    for table in (*app.table, *app.dataframe):
        yield from (str(cell) for row in table.value.itertuples(index=False) for cell in row)
    for chart in app.get("vega_lite_chart"):
        yield chart.proto.alt
        sets = [chart.proto.data, *(each.data for each in chart.proto.datasets)]
        for data in (each.data for each in sets if each.data):
            columns = pa.ipc.open_stream(data).read_all().to_pydict().values()
            yield from (cell for column in columns for cell in column if isinstance(cell, str))


def hyphens(words: Iterator[str]) -> list[str]:
    """Texts with a hyphen where a number should have its minus sign."""
    return [text for text in words if _HYPHEN.search(_NO_PROSE.sub("", text))]
