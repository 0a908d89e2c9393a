"""Observation propensities: where they come from, and the weights that a learner gets from them."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.propensity.contexts import (
        ContextCurves,
        contextual_propensities,
        row_propensities,
    )
    from ultr_core.propensity.continuation import (
        ContinuationEstimate,
        estimate_continuation,
        log_of_fixed_lists,
    )
    from ultr_core.propensity.curves import (
        FITS,
        AssembledCurve,
        CurveOptions,
        MeasuredCurve,
        RelativeCurve,
        assemble_curve,
        table_curve,
    )
    from ultr_core.propensity.displays import (
        DisplayCounts,
        display_counts,
        displays_of_logs,
        estimate_click_rates,
    )
    from ultr_core.propensity.estimator import CLIP_GRID, Belief, Estimator, Expectation
    from ultr_core.propensity.estimators import ESTIMATORS, estimator_named
    from ultr_core.propensity.harvesting import (
        InterventionalSets,
        harvest,
        interventional_sets,
        pair_relevance,
    )
    from ultr_core.propensity.hindsight import hindsight_propensities
    from ultr_core.propensity.log_estimates import (
        ContextEstimates,
        LogEstimate,
        default_method,
        estimate_by_context,
        estimate_from_log,
    )
    from ultr_core.propensity.methods import (
        LOG_METHODS,
        PROPENSITY_METHODS,
        PropensityMethod,
        log_method,
    )
    from ultr_core.propensity.points import (
        Counts,
        PropensityEstimate,
        RankEstimate,
        ratio_text,
        wilson_interval,
    )
    from ultr_core.propensity.position_em import estimate_by_em
    from ultr_core.propensity.presentations import PresentationLog, RowFault
    from ultr_core.propensity.randomising import (
        RandomisedCounts,
        estimate_neighbour_swaps,
        estimate_shuffling,
        neighbour_swap_cost,
        shuffling_cost,
        simulate_neighbour_swaps,
        simulate_shuffling,
    )
    from ultr_core.propensity.row_numbers import Numbers, RowNumbers, inverse_propensities
    from ultr_core.propensity.swaps import (
        SwapCounts,
        estimate_swaps,
        sessions_needed,
        simulate_swaps,
        swap_cost,
        swap_limit,
    )
    from ultr_core.propensity.targets import Targets
    from ultr_core.propensity.trust_swaps import TrustLines, trust_lines, trust_lines_by_group
    from ultr_core.propensity.weights import (
        ClickWeightDiagnostics,
        ClippingEffect,
        Weights,
        click_weight_diagnostics,
        click_weights,
        clipped_propensities,
        clipping_effect,
        full_information_weights,
        ips_weights,
        naive_weights,
        weights_of_log,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "CLIP_GRID",
    "ESTIMATORS",
    "FITS",
    "LOG_METHODS",
    "PROPENSITY_METHODS",
    "AssembledCurve",
    "Belief",
    "ClickWeightDiagnostics",
    "ClippingEffect",
    "ContextCurves",
    "ContextEstimates",
    "ContinuationEstimate",
    "Counts",
    "CurveOptions",
    "DisplayCounts",
    "Estimator",
    "Expectation",
    "InterventionalSets",
    "LogEstimate",
    "MeasuredCurve",
    "Numbers",
    "PresentationLog",
    "PropensityEstimate",
    "PropensityMethod",
    "RandomisedCounts",
    "RankEstimate",
    "RelativeCurve",
    "RowFault",
    "RowNumbers",
    "SwapCounts",
    "Targets",
    "TrustLines",
    "Weights",
    "assemble_curve",
    "click_weight_diagnostics",
    "click_weights",
    "clipped_propensities",
    "clipping_effect",
    "contextual_propensities",
    "default_method",
    "display_counts",
    "displays_of_logs",
    "estimate_by_context",
    "estimate_by_em",
    "estimate_click_rates",
    "estimate_continuation",
    "estimate_from_log",
    "estimate_neighbour_swaps",
    "estimate_shuffling",
    "estimate_swaps",
    "estimator_named",
    "full_information_weights",
    "harvest",
    "hindsight_propensities",
    "interventional_sets",
    "inverse_propensities",
    "ips_weights",
    "log_method",
    "log_of_fixed_lists",
    "naive_weights",
    "neighbour_swap_cost",
    "pair_relevance",
    "ratio_text",
    "row_propensities",
    "sessions_needed",
    "shuffling_cost",
    "simulate_neighbour_swaps",
    "simulate_shuffling",
    "simulate_swaps",
    "swap_cost",
    "swap_limit",
    "table_curve",
    "trust_lines",
    "trust_lines_by_group",
    "weights_of_log",
    "wilson_interval",
]
