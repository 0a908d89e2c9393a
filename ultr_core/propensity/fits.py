"""What may be fitted to estimated ratios before they become a curve, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError

FloatArray = NDArray[np.float64]

Fit = Callable[[FloatArray, FloatArray, FloatArray, int], tuple[FloatArray, tuple[str, ...]]]
"""From ratios at all ranks, those that are known (NaN elsewhere) and their weights, each [K], and
the reference rank, to the fitted ratios [K] and sentences for the reader."""


def falling(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Closest curve that never rises, by weighted least squares (pool adjacent violators).

    values, weights [K]; a weight of 0 counts a little, so that every rank has a place.
    """
    usable = np.maximum(weights, max(1e-6 * float(weights.max(initial=0.0)), 1e-12))
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), usable.tolist(), strict=True):
        mean, mass, count = value, weight, 1
        while blocks and blocks[-1][0] < mean:
            other, other_mass, other_count = blocks.pop()
            mean = (mean * mass + other * other_mass) / (mass + other_mass)
            mass, count = mass + other_mass, count + other_count
        blocks.append((mean, mass, count))
    return np.repeat([mean for mean, _, _ in blocks], [count for _, _, count in blocks])


def power_law_exponent(values: FloatArray, weights: FloatArray, reference: int) -> float:
    """Exponent eta of ratio_r = (r / reference)^-eta by weighted least squares in logarithms.

    Passes through 1 at the reference; ranks whose value is NaN are left out. Raises InputError if
    no rank beside the reference has a value; a rising curve gives 0.
    """
    rank = np.arange(1.0, values.size + 1)
    use = np.isfinite(values) & (rank != reference)
    if not use.any():
        raise InputError("A power law needs a ratio at one rank beside the reference.")
    x = np.log(rank[use] / reference)
    y = np.log(values[use])
    # Values are relative errors on the logarithmic scale: var(log v) = var(v) / v^2.
    w = weights[use] * values[use] ** 2
    return max(0.0, -float((w * x * y).sum() / (w * x * x).sum()))


def _nothing(
    full: FloatArray, values: FloatArray, weights: FloatArray, reference: int
) -> tuple[FloatArray, tuple[str, ...]]:
    return full, ()


def _monotone(
    full: FloatArray, values: FloatArray, weights: FloatArray, reference: int
) -> tuple[FloatArray, tuple[str, ...]]:
    return falling(full, np.where(np.isfinite(values), weights, 0.0)), ()


def _power_law(
    full: FloatArray, values: FloatArray, weights: FloatArray, reference: int
) -> tuple[FloatArray, tuple[str, ...]]:
    eta = power_law_exponent(values, weights, reference)
    fitted: FloatArray = np.arange(1.0, full.size + 1) ** -eta
    return fitted, (f"Fitted power law: p = (1/r)^η with η = {eta:.3f}.",)


FITS: Mapping[str, Fit] = MappingProxyType(
    {"none": _nothing, "monotone": _monotone, "power-law": _power_law}
)
"""Nothing, a curve that never rises, or (1/r)^eta, by the name that readers choose."""
