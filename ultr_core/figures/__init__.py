"""Results in, pictures out: tidy rows and cached Vega-Lite templates; no display is needed."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.figures.by_rank import (
        Quantity,
        clicks_and_relevance,
        curve_figure,
        estimate_figure,
        examination_curves,
        examination_figure,
        live_curve_figure,
        propensity_curves,
        rank_test_figure,
        warm_up,
    )
    from ultr_core.figures.dots import (
        comparison_figure,
        curve_risk_figure,
        evidence_figure,
        gate_figure,
        interval_dots,
        prediction_figure,
        trained_rankers,
        win_share_figure,
    )
    from ultr_core.figures.estimates import Scale, estimates_figure
    from ultr_core.figures.figure import Figure
    from ultr_core.figures.proofs import (
        errors_fall,
        noisy_hinge_curve,
        race_figure,
        results_page,
        settling,
    )
    from ultr_core.figures.repairs import repair_figure, users_figure
    from ultr_core.figures.scatter import risk_figure, risk_scatter
    from ultr_core.figures.studies import cut_words, study_figure
    from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "INKS",
    "METHOD_STYLES",
    "Figure",
    "Quantity",
    "Scale",
    "Theme",
    "clicks_and_relevance",
    "comparison_figure",
    "curve_figure",
    "curve_risk_figure",
    "cut_words",
    "errors_fall",
    "estimate_figure",
    "estimates_figure",
    "evidence_figure",
    "examination_curves",
    "examination_figure",
    "gate_figure",
    "interval_dots",
    "live_curve_figure",
    "noisy_hinge_curve",
    "prediction_figure",
    "propensity_curves",
    "race_figure",
    "rank_test_figure",
    "repair_figure",
    "results_page",
    "risk_figure",
    "risk_scatter",
    "settling",
    "study_figure",
    "trained_rankers",
    "users_figure",
    "warm_up",
    "win_share_figure",
]
