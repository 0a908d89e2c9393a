"""Expectations over all click patterns of one small query, in exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from ultr_core.errors import InputError
from ultr_core.feedback import ExaminationCurve

LARGEST_ENUMERATION = 16
"""Candidates up to which 2^m patterns are enumerated."""


def curve_fractions(curve: ExaminationCurve, ranks: Sequence[int]) -> list[Fraction]:
    """The curve at some ranks, each the exact value of its floating-point number."""
    return [Fraction(float(p)) for p in curve.at(np.asarray(ranks))]


def click_probabilities(
    examination: Sequence[Fraction],
    relevance: Sequence[int],
    eps_plus: Fraction,
    eps_minus: Fraction,
) -> list[Fraction]:
    """P(c = 1) = p (eps+ r + eps- (1 - r)) for each candidate (sections 5.1 and 5.2)."""
    return [
        p * (eps_plus if relevant else eps_minus)
        for p, relevant in zip(examination, relevance, strict=True)
    ]


def moments_by_enumeration(
    click_probability: Sequence[Fraction], contribution: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """Mean and variance of sum_d c_d v_d over all 2^m patterns of independent clicks c.

    With v_d = rank(d|y) / q_d this is the IPS loss of section 4 (with q_d = 1 the naive one).
    Exact: no rounding takes place.

    Raises:
        InputError: more than ``LARGEST_ENUMERATION`` candidates.
    """
    candidates = len(click_probability)
    if candidates > LARGEST_ENUMERATION:
        raise InputError(
            f"{candidates} candidates have 2^{candidates} click patterns; enumeration stops at "
            f"{LARGEST_ENUMERATION} candidates, use the closed form beyond that."
        )
    mean = second = Fraction(0)
    for pattern in product((0, 1), repeat=candidates):
        probability, value = Fraction(1), Fraction(0)
        for clicked, p, v in zip(pattern, click_probability, contribution, strict=True):
            probability *= p if clicked else 1 - p
            value += v if clicked else 0
        mean += probability * value
        second += probability * value * value
    return mean, second - mean * mean


def moments_by_formula(
    click_probability: Sequence[Fraction], contribution: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """The same mean sum pi v and variance sum pi (1 - pi) v^2 in closed form."""
    pairs = list(zip(click_probability, contribution, strict=True))
    mean = sum((p * v for p, v in pairs), Fraction(0))
    variance = sum((p * (1 - p) * v * v for p, v in pairs), Fraction(0))
    return mean, variance
