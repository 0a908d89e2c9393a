"""Who clicks and why: examination curves, click models and click logs."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.feedback.binomial import binomial_quantile
    from ultr_core.feedback.click_log import ClickLog
    from ultr_core.feedback.click_models import (
        ClickModel,
        PositionModel,
        TrustBiasModel,
        clicks_per_query_draw,
    )
    from ultr_core.feedback.examination import Cutoff, ExaminationCurve, PowerLaw, TableCurve
    from ultr_core.feedback.query_draws import count_queries, draw_queries
    from ultr_core.feedback.simulation import (
        Sessions,
        query_draws_for,
        simulate_counts,
        simulate_sessions,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "ClickLog",
    "ClickModel",
    "Cutoff",
    "ExaminationCurve",
    "PositionModel",
    "PowerLaw",
    "Sessions",
    "TableCurve",
    "TrustBiasModel",
    "binomial_quantile",
    "clicks_per_query_draw",
    "count_queries",
    "draw_queries",
    "query_draws_for",
    "simulate_counts",
    "simulate_sessions",
]
