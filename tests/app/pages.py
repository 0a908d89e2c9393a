"""What the tests of pages do alike."""

from __future__ import annotations

import numpy as np
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
