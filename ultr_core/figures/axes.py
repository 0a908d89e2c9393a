"""Axis ranges that stay put while a slider moves, and ends of intervals that can be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_up(value: float, steps: Sequence[float] = STEPS) -> float:
    """The smallest ``step * 10**k`` that is at least ``value`` (> 0)."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(next(step * power for step in steps if step * power >= value * (1 - 1e-12)))


def log_range(
    values: ArrayLike, *, low: float, high: float, least: float, most: float
) -> tuple[float, float]:
    """Ends of a logarithmic axis for ``values`` [any shape], 1 or 3 times a power of ten each.

    From ``low`` to ``high`` where all values lie there; further where some do not, but never
    below ``least`` or above ``most``. Numbers of 0 or less, and not finite ones, count for nothing.
    """
    numbers = np.ravel(np.asarray(values, dtype=float))
    numbers = numbers[np.isfinite(numbers) & (numbers > 0)]
    if not numbers.size:
        return low, high
    first = next((v for v in reversed(log_levels(least, low)) if v <= numbers.min()), least)
    last = next((v for v in log_levels(high, most) if v >= numbers.max()), most)
    return first, last


def log_levels(low: float, high: float) -> list[float]:
    """1 and 3 times each power of ten from ``low`` to ``high`` (> 0), ends included."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    levels = [float(f"{digit}e{power}") for power in powers for digit in (1, 3)]
    return [level for level in levels if low * 0.999 <= level <= high * 1.001]


def stable_range(values: ArrayLike, *, include: Sequence[float] = ()) -> tuple[float, float]:
    """A range around ``values`` whose ends move only in coarse steps.

    ``values`` [any shape] are finite, or NaN where there is none; ``include`` are further values
    that must fit. Both ends are multiples of a fifth of the rounded-up spread, so that small
    changes of the data leave the axis as it is.
    """
    everything = np.concatenate([np.ravel(np.asarray(values, dtype=float)), np.asarray(include)])
    low, high = float(np.nanmin(everything)), float(np.nanmax(everything))
    spread = max(high - low, 1e-6 * max(abs(high), 1.0))
    step = round_up(spread) / 5
    return math.floor(low / step) * step, math.ceil(high / step) * step


def drawn_ends(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of intervals as a chart takes them: NaN where there is none, which is infinite."""
    return np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high)
