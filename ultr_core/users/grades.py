"""Graded relevance: how likely users are to click each grade when they look."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import whole_in_range, whole_numbers
from ultr_core.errors import InputError

HIGHEST_GRADE = 60
"""Above it 2^grade - 1 and 2^grade are the same number in float64."""


def degree_of_relevance(grades: ArrayLike, highest: int | None = None) -> NDArray[np.float64]:
    """(2^g - 1) / (2^G - 1), from 0 to 1, float64 [documents]: the r of a click model.

    With it, users in the position model who look at a document with grade g click with probability
    eps_minus + (eps_plus - eps_minus)(2^g - 1) / (2^G - 1) (Chapelle et al., 2009). Every statement
    about weighted clicks, including the straight line of Section 5.2, then holds for the graded
    risk, the mean over queries of sum_d rank(d) (2^g - 1) / (2^G - 1).

    grades [documents], from 0. highest: G, by default the highest grade that occurs. Raises
    InputError unless the grades are whole numbers from 0 to G, and G is from 1 to
    ``HIGHEST_GRADE``.

    >>> degree_of_relevance([0, 1, 2, 4]).round(3).tolist()
    [0.0, 0.067, 0.2, 1.0]
    """
    found = whole_numbers(grades, "Grades", np.int64)
    asked = int(found.max(initial=0)) if highest is None else highest
    top = whole_in_range(asked, "The highest grade", 1, HIGHEST_GRADE)
    if np.any((found < 0) | (found > top)):
        raise InputError(f"Grades must be from 0 to the highest, {top}.")
    degree: NDArray[np.float64] = np.expm1(found * np.log(2.0)) / np.expm1(top * np.log(2.0))
    return degree
