"""Propensities of observation: where they come from, and the weights a learner gets from them."""

from __future__ import annotations

from ultr_core.propensity.curve_files import curve_text, parse_curve, read_curve, write_curve
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
from ultr_core.propensity.harvesting import (
    InterventionalSets,
    harvest,
    interventional_sets,
    pair_relevance,
)
from ultr_core.propensity.log_files import PresentationLog, parse_log, read_log
from ultr_core.propensity.methods import PROPENSITY_METHODS, PropensityMethod
from ultr_core.propensity.points import (
    Counts,
    PropensityEstimate,
    RankEstimate,
    wilson_interval,
)
from ultr_core.propensity.position_em import estimate_by_em
from ultr_core.propensity.randomising import (
    RandomisedCounts,
    estimate_neighbour_swaps,
    estimate_shuffling,
    neighbour_swap_cost,
    shuffling_cost,
    simulate_neighbour_swaps,
    simulate_shuffling,
)
from ultr_core.propensity.swaps import (
    SwapCounts,
    estimate_swaps,
    sessions_needed,
    simulate_swaps,
    swap_cost,
    swap_limit,
)
from ultr_core.propensity.weights import (
    ClickWeightDiagnostics,
    ClippingEffect,
    Weights,
    click_weight_diagnostics,
    clipped_propensities,
    clipping_effect,
    full_information_weights,
    inverse_propensities,
    ips_weights,
    naive_weights,
)

__all__ = [
    "FITS",
    "PROPENSITY_METHODS",
    "AssembledCurve",
    "ClickWeightDiagnostics",
    "ClippingEffect",
    "Counts",
    "CurveOptions",
    "DisplayCounts",
    "InterventionalSets",
    "MeasuredCurve",
    "PresentationLog",
    "PropensityEstimate",
    "PropensityMethod",
    "RandomisedCounts",
    "RankEstimate",
    "RelativeCurve",
    "SwapCounts",
    "Weights",
    "assemble_curve",
    "click_weight_diagnostics",
    "clipped_propensities",
    "clipping_effect",
    "curve_text",
    "display_counts",
    "displays_of_logs",
    "estimate_by_em",
    "estimate_click_rates",
    "estimate_neighbour_swaps",
    "estimate_shuffling",
    "estimate_swaps",
    "full_information_weights",
    "harvest",
    "interventional_sets",
    "inverse_propensities",
    "ips_weights",
    "naive_weights",
    "neighbour_swap_cost",
    "pair_relevance",
    "parse_curve",
    "parse_log",
    "read_curve",
    "read_log",
    "sessions_needed",
    "shuffling_cost",
    "simulate_neighbour_swaps",
    "simulate_shuffling",
    "simulate_swaps",
    "swap_cost",
    "swap_limit",
    "table_curve",
    "wilson_interval",
    "write_curve",
]
