"""A ranker's risk, true and estimated from clicks, and the exact moments of the estimates."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.risk.agreement import kendall_tau, order_agreement
    from ultr_core.risk.by_group import GroupEstimates, estimate_by_group, estimates_by_group
    from ultr_core.risk.estimate import (
        FOR_ONE_WORLD,
        NO_INTERVAL,
        Estimate,
        ShownDifference,
        difference_with_reach,
        interval_over_draws,
        plus_minus,
        shown_difference,
    )
    from ultr_core.risk.estimators import (
        RiskEstimates,
        difference_by,
        estimate_by,
        estimate_difference,
        estimate_differences,
        estimate_mean_rank,
        estimate_risk,
        estimate_risks,
        estimate_values,
    )
    from ultr_core.risk.intervals import too_few_clicks, too_few_telling
    from ultr_core.risk.known_relevance import (
        empty_queries,
        mean_rank_of_relevant,
        true_risk,
        true_risks,
    )
    from ultr_core.risk.leaving import LeavingMoments, leaving_moments
    from ultr_core.risk.moments import (
        AffineLaw,
        Judgement,
        affine_law,
        expected_delta,
        expected_risk,
        judgements,
        noise_share,
        variance_of_delta,
        variance_of_risk,
    )
    from ultr_core.risk.rank_metrics import (
        DCG,
        RANK,
        RANK_METRICS,
        RankMetric,
        missing_from_top,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "DCG",
    "FOR_ONE_WORLD",
    "NO_INTERVAL",
    "RANK",
    "RANK_METRICS",
    "AffineLaw",
    "Estimate",
    "GroupEstimates",
    "Judgement",
    "LeavingMoments",
    "RankMetric",
    "RiskEstimates",
    "ShownDifference",
    "affine_law",
    "difference_by",
    "difference_with_reach",
    "empty_queries",
    "estimate_by",
    "estimate_by_group",
    "estimate_difference",
    "estimate_differences",
    "estimate_mean_rank",
    "estimate_risk",
    "estimate_risks",
    "estimate_values",
    "estimates_by_group",
    "expected_delta",
    "expected_risk",
    "interval_over_draws",
    "judgements",
    "kendall_tau",
    "leaving_moments",
    "mean_rank_of_relevant",
    "missing_from_top",
    "noise_share",
    "order_agreement",
    "plus_minus",
    "shown_difference",
    "too_few_clicks",
    "too_few_telling",
    "true_risk",
    "true_risks",
    "variance_of_delta",
    "variance_of_risk",
]
