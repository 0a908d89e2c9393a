"""Newton's method for objectives that are smooth and at least as curved as 1/2 w.w.

Each step is found by conjugate gradients, so that no matrix of features by features is needed.

The certificate is the norm g of the gradient. An objective that is at least as curved as 1/2 w.w is
at most g^2 / 2 above its minimum.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.certificate import Certificate
from ultr_core.learners.problem import Callback, Progress
from ultr_core.learners.products import FeatureProducts

FloatArray = NDArray[np.float64]

GRADIENT = "gradient norm"

_MOST_STEPS = 200
_MOST_PRODUCTS = 200  # in one step
_SHORTEST_STEP = 2.0**-30
_ROUNDING = 1e-14


class Smooth(Protocol):
    """An objective of w [coefficients], with products that count passes."""

    products: FeatureProducts

    def at(self, w: FloatArray, /) -> tuple[float, FloatArray]:
        """Its value, and numbers by document from which its derivatives follow."""

    def gradient(self, w: FloatArray, by_document: FloatArray, /) -> FloatArray:
        """The first derivative [coefficients]."""

    def curved(self, by_document: FloatArray, v: FloatArray, /) -> FloatArray:
        """The second derivative times v [coefficients]."""


def minimised(
    problem: Smooth, w: FloatArray, tolerance: float, callback: Callback | None
) -> tuple[FloatArray, Certificate]:
    """From w on, the w at which the norm of the gradient is at most ``tolerance``."""
    (value, state), steps, stopped = problem.at(w), 0, False
    while True:
        gradient = problem.gradient(w, state)
        norm = float(np.linalg.norm(gradient))
        below = value - 0.5 * norm**2
        if callback is not None and callback(
            Progress(steps, problem.products.passes, value, below, norm, w)
        ):
            stopped = True
        if stopped or norm <= tolerance or steps == _MOST_STEPS:
            break
        move, length = _step(problem, state, gradient), 1.0
        fall = float(gradient @ move)
        while length > _SHORTEST_STEP:
            reached, there = problem.at(w + length * move)
            if reached <= value + 1e-4 * length * fall + _ROUNDING * abs(value):
                break
            length *= 0.5
        else:
            break
        w, value, state, steps = w + length * move, reached, there, steps + 1
    return w, Certificate(
        value, below, norm, steps, problem.products.passes, "newton", norm <= tolerance, stopped,
        GRADIENT,
    )  # fmt: skip


def _step(problem: Smooth, state: FloatArray, gradient: FloatArray) -> FloatArray:
    """Minus the gradient over the curvature, to a tenth of the gradient or closer."""
    found, left = np.zeros_like(gradient), -gradient
    direction, size = left, float(left @ left)
    enough = size * min(0.01, size**0.5)
    for _ in range(_MOST_PRODUCTS):
        if size <= enough:
            break
        bent = problem.curved(state, direction)
        length = size / float(direction @ bent)
        found, left = found + length * direction, left - length * bent
        before, size = size, float(left @ left)
        direction = left + size / before * direction
    return found
