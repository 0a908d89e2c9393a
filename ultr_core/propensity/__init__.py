"""Propensities of observation, and the weights that a learner gets from them."""

from __future__ import annotations

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
    "ClickWeightDiagnostics",
    "ClippingEffect",
    "Weights",
    "click_weight_diagnostics",
    "clipped_propensities",
    "clipping_effect",
    "full_information_weights",
    "inverse_propensities",
    "ips_weights",
    "naive_weights",
]
