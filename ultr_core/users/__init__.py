"""Who clicks and why: examination, click models, simulated users, and click logs as counts."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.users.click_log import ClickLog
    from ultr_core.users.click_models import (
        ClickModel,
        PositionModel,
        TrustBiasModel,
        clicks_per_query_draw,
    )
    from ultr_core.users.examination import Cutoff, ExaminationCurve, PowerLaw, TableCurve
    from ultr_core.users.grades import degree_of_relevance
    from ultr_core.users.grouped_log import GroupCounts, GroupedLog
    from ultr_core.users.leaving import (
        LeavingUsers,
        count_by_clicks_above,
        leave_after_clicks,
        rows_by_clicks_above,
        simulate_leaving,
    )
    from ultr_core.users.loggers import LOGGERS, logger_named
    from ultr_core.users.query_draws import count_queries, draw_queries
    from ultr_core.users.registry import USERS, users_named
    from ultr_core.users.simulation import (
        Sessions,
        binomial_quantile,
        query_draws_for,
        simulate_counts,
        simulate_sessions,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "LOGGERS",
    "USERS",
    "ClickLog",
    "ClickModel",
    "Cutoff",
    "ExaminationCurve",
    "GroupCounts",
    "GroupedLog",
    "LeavingUsers",
    "PositionModel",
    "PowerLaw",
    "Sessions",
    "TableCurve",
    "TrustBiasModel",
    "binomial_quantile",
    "clicks_per_query_draw",
    "count_by_clicks_above",
    "count_queries",
    "degree_of_relevance",
    "draw_queries",
    "leave_after_clicks",
    "logger_named",
    "query_draws_for",
    "rows_by_clicks_above",
    "simulate_counts",
    "simulate_leaving",
    "simulate_sessions",
    "users_named",
]
