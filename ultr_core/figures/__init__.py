"""Results in, pictures out: tidy rows and cached Vega-Lite templates; no screen is needed."""

import pandas as pd

from ultr_core.figures.examination import Quantity, examination_curves
from ultr_core.figures.figure import Figure
from ultr_core.figures.results import comparison_figure, examination_figure, risk_figure
from ultr_core.figures.risk_scatter import risk_scatter
from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
from ultr_core.figures.trained import trained_rankers

__all__ = [
    "INKS",
    "METHOD_STYLES",
    "Figure",
    "Quantity",
    "Theme",
    "comparison_figure",
    "examination_curves",
    "examination_figure",
    "risk_figure",
    "risk_scatter",
    "trained_rankers",
    "warm_up",
]


def warm_up() -> None:
    """Build one chart, so that the first visitor does not wait for the libraries to settle."""
    curves = pd.DataFrame({"rank": [1, 2], "users": [1.0, 0.5], "learner": [1.0, 0.5]})
    examination_curves(
        curves, quantity="probability", alt_text="", title="", high_eta=2.0, eta_step=0.05
    )
