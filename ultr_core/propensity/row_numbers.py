"""Two numbers a row of a log, u for a click and v for an impression: a linear estimator of risk.

    R_hat(S) = (1 / N) sum over rows of rank(d | S) (u clicks + v impressions)

Naive, propensity-weighted and clipped estimates differ in u and have v = 0; whatever corrects for
clicks on irrelevant documents, or learns from documents that were not clicked, has another v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError
from ultr_core.propensity.contexts import row_propensities
from ultr_core.users.click_log import ClickLog
from ultr_core.users.examination import ExaminationCurve
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

LEAST_PROPENSITY = 1e-100
"""Below this the squares of inverses no longer add up to a finite number."""

_NEAR_0 = 1e-90  # an estimator may multiply 1 / p by a factor


@dataclass(frozen=True, eq=False, init=False)
class RowNumbers:
    """The numbers that an estimator gives each row of a log.

    u: float64 [rows], what a click counts for. v: float64 [rows], what an impression counts for,
    clicked or not; 0 by default. divisor: float64 [rows], the q of ``dividing_by``, by which
    ``times_u`` divides instead of multiplying by a rounded 1 / q.

    u may be anything in rows without a click, and so may v in rows without an impression. Raises
    InputError if a value is not a number, or if u and v have different lengths.
    """

    u: FloatArray
    v: FloatArray
    divisor: FloatArray | None

    def __init__(
        self, u: ArrayLike, v: ArrayLike = 0.0, *, divisor: FloatArray | None = None
    ) -> None:
        """Bring both to float64; one number for v stands for all rows."""
        per_click = real_numbers(u, "Values of clicks").astype(np.float64, copy=False)
        per_impression = real_numbers(v, "Values of impressions")
        if per_click.ndim != 1 or per_impression.shape not in {(), per_click.shape}:
            raise InputError(
                f"An estimator gives each row one u and one v, not arrays of shape "
                f"{per_click.shape} and {per_impression.shape}.",
                "row_numbers",
            )
        object.__setattr__(self, "u", per_click)
        object.__setattr__(self, "v", np.broadcast_to(per_impression, per_click.shape) + 0.0)
        object.__setattr__(self, "divisor", divisor)

    @classmethod
    def dividing_by(cls, propensities: ArrayLike, v: ArrayLike = 0.0) -> RowNumbers:
        """u = 1 / q for propensities q [rows] of at most 1; only clicked rows matter.

        Raises InputError as the class does; `on_log` refuses a clicked row whose q is 0 or above 1.
        For a divisor that is not a propensity, use ``RowNumbers(1 / (p + 0.1))``.

        >>> RowNumbers.dividing_by([1.0, 0.5, 0.0]).u.tolist()
        [1.0, 2.0, inf]
        """
        q = real_numbers(propensities, "Propensities").astype(np.float64, copy=False)
        inverse = np.divide(1.0, q, out=np.full(q.shape, np.inf), where=q > LEAST_PROPENSITY)
        return cls(inverse, v, divisor=q)

    @cached_property
    def counts_impressions(self) -> bool:
        """Whether any v differs from 0, so that clicks alone are not enough."""
        return bool(self.v.any())

    def on_log(self, log: ClickLog) -> RowNumbers:
        """The numbers used to count a log: u is 0 where there are no clicks.

        Raises InputError for a number of rows other than that of the log, a clicked row whose u is
        not finite (or, for division by q, whose q is 0, almost 0, or above 1), an impression whose
        v is not finite, or a v other than 0 if the log contains only clicks.
        """
        if self.divisor is not None:
            u = inverse_propensities(log, self.divisor)
        else:
            self._require_rows(log)
            u = np.where(log.clicks > 0, self.u, 0.0)
            _require_finite(log, u, "a click")
        if not self.counts_impressions:
            return RowNumbers(u)
        self._require_rows(log)
        if log.clicks_only:
            raise InputError(
                "The log contains only clicks, but this estimator also counts impressions without "
                "a click; give a log of everything that was shown, or choose an estimator that "
                "counts only clicks.",
                "clicks_only",
            )
        v = np.where(log.impressions > 0, self.v, 0.0)
        _require_finite(log, v, "an impression")
        return RowNumbers(u, v)

    def _require_rows(self, log: ClickLog) -> None:
        if self.u.shape != log.clicks.shape:
            raise InputError(
                f"An estimator gave numbers for {counted(self.u.size, 'row')}, but the log has "
                f"{counted(log.clicks.size, 'row')}; give u and v for each row."
            )


Numbers = RowNumbers | ArrayLike
"""Two numbers per row; a plain array contains propensities q, by which clicks are divided."""


def row_numbers(numbers: Numbers) -> RowNumbers:
    """The two numbers themselves; propensities q [rows] stand for u = 1 / q and v = 0."""
    return numbers if isinstance(numbers, RowNumbers) else RowNumbers.dividing_by(numbers)


def inverse_propensities(log: ClickLog, propensities: ArrayLike) -> FloatArray:
    """1 / q for each row of the log that has clicks, and 0 for the others.

    propensities q [rows], in [0, 1]; only those of clicked rows matter (Section 4). Returns float64
    [rows]. Raises InputError, naming the rank and the number of clicks, if q is 0, so small that
    its inverse is infinite, or not a propensity.
    """
    q = real_numbers(propensities, "Propensities").astype(np.float64, copy=False)
    if q.shape != log.clicks.shape:
        raise InputError(
            f"{counted(q.size, 'propensity was', 'propensities were')} given for "
            f"{counted(log.clicks.size, 'row')} of the log; give one for each row."
        )
    clicked = np.flatnonzero(log.clicks)
    of_clicked = q[clicked]
    right = (of_clicked > LEAST_PROPENSITY) & (of_clicked <= 1)
    if not right.all():
        raise _without_propensity(log, q, clicked[~right], log.clicks, "click")
    inverse = np.zeros(q.size)
    inverse[clicked] = 1.0 / of_clicked
    return inverse


def require_propensities(log: ClickLog, curve: ExaminationCurve, numbers: RowNumbers) -> None:
    """Raise InputError for a click or an impression at propensity 0 that has no finite number.

    curve: what the numbers were made from. Numbers that are not finite for another reason are left
    to `RowNumbers.on_log`, and so are those of another number of rows.
    """
    for values, counts, what in (
        (numbers.u, log.clicks, "click"),
        (numbers.v, log.impressions, "impression"),
    ):
        if values.shape != counts.shape:
            continue
        infinite = np.flatnonzero((counts > 0) & ~(np.abs(values) < 1.0 / LEAST_PROPENSITY))
        if infinite.size:
            p = row_propensities(curve, log)
            unseen = infinite[p[infinite] <= _NEAR_0]
            if unseen.size:
                raise _without_propensity(log, p, unseen, counts, what)


def _without_propensity(
    log: ClickLog, q: FloatArray, wrong: NDArray[np.intp], counts: NDArray[np.int64], what: str
) -> InputError:
    """What to say of the first of the rows that counts although its propensity is unusable."""
    row, rank = int(wrong[0]), int(log.rank[wrong[0]])
    affected = int(counts[wrong[log.rank[wrong] == rank]].sum())
    return InputError(
        f"Rank {rank} has {counted(affected, what)} but a propensity of "
        f"{q[row]:g}{', practically 0' if 0 < q[row] < 1 else ''}; propensities of clicked ranks "
        "must be above 0 and at most 1, or be clipped at a threshold above 0."
    )


def _require_finite(log: ClickLog, values: FloatArray, what: str) -> None:
    """Raise InputError naming the first row whose number has no finite square."""
    right = np.abs(values) < 1.0 / LEAST_PROPENSITY
    if not right.all():
        row = int(np.argmin(right))
        raise InputError(
            f"At rank {log.rank[row]} {what} counts for {values[row]:g}; an estimator must give a "
            "finite number there."
        )
