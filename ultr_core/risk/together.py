"""Estimates and their expectations for many rankers by several estimators, in one pass.

The ranks of many rankers are far larger than all else, so that reading them once is what counts:
a class that moves its sliders asks for sixty rankers, naive and weighted, at every move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.feedback.click_log import ClickLog
from ultr_core.propensity.row_numbers import Numbers
from ultr_core.risk.blocks import rank_blocks
from ultr_core.risk.estimators import RiskEstimates, WeighedSums, places_of_rankers
from ultr_core.risk.moments import expected_contribution

FloatArray = NDArray[np.float64]


def estimates_and_expectations(
    log: ClickLog,
    ranks: ArrayLike,
    click_probability: ArrayLike,
    numbers: Sequence[tuple[Numbers, Numbers]],
) -> list[tuple[RiskEstimates, FloatArray]]:
    """`estimate_risks` and `expected_risk` by each of several estimators, to the last digit.

    ranks [rankers, documents], click_probability pi [documents]; numbers are pairs of u and v for
    the rows of the log, [rows], and for the documents as presented, [documents]. The expectation
    is float64 [rankers]. Raises InputError as the two functions do.
    """
    places = places_of_rankers(ranks, log.n_documents)
    sums = WeighedSums(log, [of_rows for of_rows, _ in numbers], len(places))
    contributions = [expected_contribution(click_probability, shown) for _, shown in numbers]
    expected = np.zeros((len(contributions), len(places)))
    for queries, documents, block in rank_blocks(places, log.query_offsets):
        for total, contribution in zip(expected, contributions, strict=True):
            total += contribution[documents] @ block
        sums.add(queries, documents, block)
    expected /= log.query_offsets.size - 1
    return list(zip(sums.estimates(), expected, strict=True))
