"""Propensities by context, such as the device or the kind of query: one curve for each.

    q = p_{z,k},    u = 1 / q

z is the context of a row of the log, and k its rank (Fang, Agarwal and Joachims, 2019). One pooled
curve p_k = sum_z P(z) p_{z,k} instead is unbiased as well if z is drawn anew at every presentation
of a query, because every document then meets every context; if z belongs to the query, a row counts
p_{z,k} / p_k times what it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import whole_numbers
from ultr_core.errors import InputError, quoted
from ultr_core.users.click_log import ClickLog
from ultr_core.users.examination import ExaminationCurve, require_curve
from ultr_core.words import counted

FloatArray = NDArray[np.float64]


def contextual_propensities(
    curves: Sequence[ExaminationCurve], ranks: ArrayLike, contexts: ArrayLike
) -> FloatArray:
    """q = p_{z,k}, float64 [rows], as `estimate_risks` and `weights_of_log` expect it.

    curves: one for each context, by context number. ranks, contexts [rows], such as those of a
    `ClickLog`. Raises InputError for contexts that are not whole numbers from 0 to one less than
    the number of curves, and for ``curves`` of the wrong type.

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
            f"There are {counted(at.size, 'rank')} and {counted(of.size, 'context')}; each row "
            "needs one of each.",
            "equal_lengths",
        )
    if np.any((of < 0) | (of >= len(curves))):
        raise InputError(
            f"Contexts must be whole numbers from 0 to {len(curves) - 1}, one less than the number "
            "of curves."
        )
    found = np.zeros(at.shape)
    for context, curve in enumerate(curves):
        here = of == context
        found[here] = curve.at(at[here])
    return found


@dataclass(frozen=True)
class ContextCurves:
    """A curve for each context of a log instead of a single curve: p_{z,k}.

    names: the contexts' names. curves: one for each context, normalised to p_{z,1} = 1. Raises
    InputError unless each context has a curve and a name of its own.

    >>> from ultr_core.users import PowerLaw
    >>> curves = ContextCurves(("desk", "phone"), (PowerLaw(1.0), PowerLaw(2.0)))
    >>> log = ClickLog([0, 0], [2, 2], [9, 9], [1, 1], 18, [0, 2], context=[0, 1])
    >>> row_propensities(curves, log).tolist()
    [0.5, 0.25]
    """

    names: tuple[str, ...]
    curves: tuple[ExaminationCurve, ...]

    def __post_init__(self) -> None:
        """Check names and curves."""
        for curve in self.curves:
            require_curve(curve)
        if not self.names or len(self.names) != len(self.curves):
            raise InputError(
                f"There are {counted(len(self.names), 'context')} and "
                f"{counted(len(self.curves), 'curve')}; each context needs one curve.",
                "equal_lengths",
            )
        if len(set(self.names)) < len(self.names):
            raise InputError("Two contexts have the same name; give each its own.", "contexts")

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Raises InputError, because p depends on the context as well; see `row_propensities`."""
        raise InputError(
            f"The contexts {in_words(self.names)} have one curve each, but this method uses one "
            "curve for all of them; choose ips, clipped or policy-aware.",
            "method",
        )

    def describe(self) -> str:
        """Describe each curve."""
        each = zip(self.names, self.curves, strict=True)
        return "; ".join(f"{name}: {curve.describe()}" for name, curve in each)


def row_propensities(curve: ExaminationCurve, log: ClickLog) -> FloatArray:
    """p for each row of a log, float64 [rows]: by rank, or by context and rank."""
    if isinstance(curve, ContextCurves):
        return contextual_propensities(curve.curves, log.rank, log.context)
    return curve.at(log.rank)


_NAMED = 8


def in_words(names: Sequence[str]) -> str:
    """Names of contexts for a message, the first eight of them."""
    more = len(names) - _NAMED
    return ", ".join(map(quoted, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")
