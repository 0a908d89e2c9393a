"""Propensities by context, such as the device or the kind of query: one curve for each.

    q = p_{z,k},    u = 1 / q

z is the context of a row of the log, and k its rank (Fang, Agarwal and Joachims, 2019). One pooled
curve p_k = sum_z P(z) p_{z,k} instead is unbiased as well if z is drawn anew at every presentation
of a query, because every document then meets every context; if z belongs to the query, a row counts
p_{z,k} / p_k times what it should.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import whole_numbers
from ultr_core.errors import InputError
from ultr_core.users.examination import ExaminationCurve, require_curve

FloatArray = NDArray[np.float64]


def contextual_propensities(
    curves: Sequence[ExaminationCurve], ranks: ArrayLike, contexts: ArrayLike
) -> FloatArray:
    """q = p_{z,k}, float64 [rows], as `estimate_risks` and `weights_of_log` expect it.

    curves: one for each context, by its number. ranks, contexts [rows], such as those of a
    `ClickLog`. Raises InputError for contexts that are not whole numbers from 0 to one less than
    the number of curves, and for anything that is not a curve.

    >>> from ultr_core.users import PowerLaw
    >>> phone, desk = PowerLaw(2.0), PowerLaw(1.0)
    >>> contextual_propensities([phone, desk], ranks=[2, 2, 1], contexts=[0, 1, 0]).tolist()
    [0.25, 0.5, 1.0]
    """
    for curve in curves:
        require_curve(curve)
    at, of = (
        whole_numbers(values, what, np.int64)
        for values, what in ((ranks, "Ranks, counted from 1,"), (contexts, "Contexts"))
    )
    if at.shape != of.shape:
        raise InputError(
            f"There are {at.size} ranks and {of.size} contexts; each row needs one of each.",
            "equal_lengths",
        )
    if np.any((of < 0) | (of >= len(curves))):
        raise InputError(
            f"Contexts must be whole numbers from 0 to {len(curves) - 1}, because there are "
            f"{len(curves)} curves."
        )
    found = np.zeros(at.shape)
    for context, curve in enumerate(curves):
        here = of == context
        found[here] = curve.at(at[here])
    return found
