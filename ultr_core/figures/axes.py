"""Axis ranges that stay put while a slider moves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_up(value: float, steps: Sequence[float] = STEPS) -> float:
    """The smallest ``step * 10**k`` that is at least ``value`` (> 0)."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(next(step * power for step in steps if step * power >= value * (1 - 1e-12)))


def stable_range(values: ArrayLike, *, include: Sequence[float] = ()) -> tuple[float, float]:
    """A range around ``values`` whose ends move only in coarse steps.

    ``values`` [any shape] are finite; ``include`` are further values that must fit. Both ends
    are multiples of a fifth of the rounded-up spread, so that small changes of the data leave
    the axis as it is.
    """
    everything = np.concatenate([np.ravel(np.asarray(values, dtype=float)), np.asarray(include)])
    low, high = float(everything.min()), float(everything.max())
    spread = max(high - low, 1e-6 * max(abs(high), 1.0))
    step = round_up(spread) / 5
    return math.floor(low / step) * step, math.ceil(high / step) * step
