"""Results in, pictures out: tidy rows and cached Vega-Lite templates; no screen is needed."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.figures.examination import Quantity, examination_curves, warm_up
    from ultr_core.figures.figure import Figure
    from ultr_core.figures.results import comparison_figure, examination_figure, risk_figure
    from ultr_core.figures.scatter import risk_scatter
    from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
    from ultr_core.figures.trained import trained_rankers
else:
    __getattr__, __dir__ = on_demand(__name__)

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
