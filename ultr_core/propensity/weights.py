"""What the learner sees: one non-negative number for each document.

Naive, propensity-weighted, clipped and full-information training differ in these numbers
alone; C is validated by each with its own estimate. They are the two numbers a row of an
estimator, summed by document.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, in_brief, number_or_nan, real_numbers
from ultr_core.errors import InputError
from ultr_core.propensity.contexts import row_propensities
from ultr_core.propensity.estimator import Belief, Estimator
from ultr_core.propensity.row_numbers import (
    LEAST_PROPENSITY,
    Numbers,
    RowNumbers,
    row_numbers,
)
from ultr_core.propensity.targets import Targets
from ultr_core.users.click_log import ClickLog
from ultr_core.users.examination import ExaminationCurve
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

_ROUNDING = 1e-12  # of sums over rows, far above their rounding and below any real difference


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the training examples, summed by document.

    values: float64 [documents], finite and not negative; the summed weight of the training
        examples (clicks or judgments) on each document; made read-only.
    clicks: n, the number of training examples in the sum, as in the C/n of
        Section 6 of Joachims, Swaminathan and Schnabel (2017).
    targets: the same sums per presentation, of either sign, for learners that also learn from
        impressions without a click; None if it is not known how often documents were shown.

    Raises InputError if a value or n cannot be used, or if targets are for other documents.
    """

    values: FloatArray
    clicks: float
    targets: Targets | None = None

    def __post_init__(self) -> None:
        """Check the values and make them read-only."""
        values = real_numbers(self.values, "Weights").astype(np.float64)
        if values.ndim != 1:
            raise InputError(f"Weights must have one axis [documents], not shape {values.shape}.")
        unusable = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if unusable.size:
            document = int(unusable[0])
            raise InputError(
                f"The weight of document {document} (counted from 0) is {values[document]}, "
                f"but weights must be finite and not negative."
            )
        clicks = number_or_nan(self.clicks)
        if not (math.isfinite(clicks) and clicks > 0):
            raise InputError(
                "The number of training examples must be above 0, but it is "
                f"{in_brief(self.clicks)}.",
                "examples",
            )
        if self.targets is not None and self.targets.value.shape != values.shape:
            raise InputError(
                f"There are {counted(values.size, 'weight')} and "
                f"{counted(self.targets.value.size, 'target')}; each document needs one of each."
            )
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "clicks", clicks)

    @classmethod
    def from_signed(
        cls,
        values: ArrayLike,
        query_offsets: ArrayLike,
        clicks: float,
        targets: Targets | None = None,
    ) -> Weights:
        """Weights from sums a_d of any sign: a_d minus the smallest sum of its query.

        That adds the same number to every ranking's sum_d a_d rank(d), since the ranks in a query
        always add up to the same number; so no difference in risk changes, and no sum is negative.
        It is the smallest such shift and raises the hinge bound least. Values below 1e-12 times the
        query's largest absolute a are rounding errors and become 0.

        values a [documents], query_offsets [queries + 1], clicks n; targets are not shifted. Raises
        InputError if the class does, or if the shapes of the arrays do not match.

        >>> Weights.from_signed([2.0, -1.0, 0.5], query_offsets=[0, 2, 3], clicks=3).values.tolist()
        [3.0, 0.0, 0.0]
        """
        signed = real_numbers(values, "Weights").astype(np.float64)
        offsets = checked_offsets(query_offsets, signed.size)
        starts, sizes = offsets[:-1], np.diff(offsets)
        above = signed - np.repeat(np.minimum.reduceat(signed, starts), sizes)
        size = np.repeat(np.maximum.reduceat(np.abs(signed), starts), sizes)
        return cls(np.where(above <= _ROUNDING * size, 0.0, above), clicks, targets)

    def of_documents(self, documents: NDArray[np.bool_], clicks: float) -> Weights:
        """The weights of some documents [all documents], with their own n."""
        targets = None if self.targets is None else self.targets.of_documents(documents)
        return Weights(self.values[documents], clicks, targets)


def weights_of_log(log: ClickLog, numbers: Numbers) -> Weights:
    """What the learner sees of a log: for each document, the sum of u clicks + v impressions.

    If v is not 0, the smallest sum of each query is subtracted (`Weights.from_signed`); without v,
    sums are never negative and are unchanged. n is always the number of clicks. numbers [rows]: u
    and v, or propensities. Raises InputError if the log has no clicks, or if `RowNumbers.on_log`
    does.
    """
    of_rows = row_numbers(numbers).on_log(log)
    if log.total_clicks == 0:
        raise InputError(
            f"There are no clicks in {counted(log.query_draws, 'presentation')}; learning needs at "
            "least one click."
        )
    values = log.sum_by_document(log.clicks * of_rows.u)
    if of_rows.counts_impressions:
        values += log.sum_by_document(log.impressions * of_rows.v)
    targets = None if log.clicks_only else Targets.of_sums(log, values)
    if not of_rows.counts_impressions:
        return Weights(values, log.total_clicks, targets)
    return Weights.from_signed(values, log.query_offsets, log.total_clicks, targets)


def naive_weights(log: ClickLog) -> Weights:
    """Weights of a learner that takes every click at face value: the clicks on each document.

    This is equation (5) with all propensities equal to 1. Raises InputError for a log without
    clicks.

    >>> from ultr_core.users import simulate_counts
    >>> log = simulate_counts([1.0, 1.0], [1, 2], query_offsets=[0, 2], query_draws=10, seed=0)
    >>> naive_weights(log).values.tolist()
    [10.0, 10.0]
    """
    return weights_of_log(log, RowNumbers(np.ones(log.clicks.size)))


def ips_weights(log: ClickLog, curve: ExaminationCurve, *, clip: float = 0.0) -> Weights:
    """Inverse propensity weights: for each document, the sum of 1 / max(clip, p) over its clicks.

    p is the examination probability of the rank at which the click happened, normalised to
    p_1 = 1 before clipping. Section 6 of Joachims, Swaminathan and Schnabel (2017); the clipped
    form is that of Section 7.2, restricted to clicks.

    Raises InputError for a log without clicks, a clip outside [0, 1], clicks at a rank with
    propensity 0 if clip is 0, or arguments that are not a log and a curve.

    Half the users look at rank 2, so a click there counts twice; clicks on a document add up:

    >>> from ultr_core.users import PowerLaw, simulate_counts
    >>> log = simulate_counts([1.0, 1.0], [1, 2], query_offsets=[0, 2], query_draws=10, seed=0)
    >>> ips_weights(log, PowerLaw(1.0)).values.tolist()
    [10.0, 20.0]
    """
    return weights_of_log(log, clipped_propensities(row_propensities(curve, log), clip))


def full_information_weights(relevance: ArrayLike) -> Weights:
    """Weights of the skyline: the relevance of each document, as if all labels were known.

    Section 3 of the paper. relevance [documents], bool or a degree of 0 or more; n is the number of
    relevant documents. Raises InputError if no document is relevant.
    """
    values = real_numbers(relevance, "Relevance").astype(np.float64)
    relevant = int(np.count_nonzero(values))
    if relevant == 0:
        raise InputError(
            "No document is relevant, so there is nothing to learn from.", "nothing_relevant"
        )
    return Weights(values, relevant, Targets(values, np.ones_like(values)))


def clipped_propensities(propensities: ArrayLike, clip: float) -> FloatArray:
    """max(clip, p), float64 with the shape of ``propensities``; clip = 0 changes nothing.

    Raises InputError for a clip outside [0, 1], or a propensity that is NaN, infinite or negative.

    >>> clipped_propensities([1.0, 0.5, 0.05], clip=0.1).tolist()
    [1.0, 0.5, 0.1]
    """
    threshold = number_or_nan(clip)
    if not 0 <= threshold <= 1:
        raise InputError(f"The clipping threshold must lie in [0, 1], not {in_brief(clip)}.")
    q = real_numbers(propensities, "Propensities").astype(np.float64, copy=False)
    right = (q >= 0) & (q < np.inf)
    if not right.all():
        entry = int(np.argmin(right))
        raise InputError(
            f"Propensity {entry} (counted from 0) is {q.flat[entry]}; it must be finite and "
            "not negative."
        )
    clipped: FloatArray = np.maximum(q, threshold)
    return clipped


def require_clip(clip: object) -> None:
    """Raise InputError for a threshold that clips nothing or is none: outside (0, 1]."""
    if not 0 < number_or_nan(clip) <= 1:
        raise InputError(f"The threshold τ is {in_brief(clip)}; it must be above 0 and at most 1.")


@dataclass(frozen=True)
class ClickWeightDiagnostics:
    """How evenly the weight is spread over the clicks.

    clicks: n.
    effective_sample_size: (sum of w)^2 / sum of w^2 over clicks, from 1 to n; n if all are equal.
    largest_weight: the largest weight of one click.
    heaviest_share: share of the total weight on the five heaviest query-document pairs.
    """

    clicks: int
    effective_sample_size: float
    largest_weight: float
    heaviest_share: float


def effective_sample_size(by_row: FloatArray, weight: FloatArray) -> float:
    """(sum of weights)^2 / sum of squared weights over clicks (Kish, 1965); 0 without clicks.

    weight [rows] of each click of a row; by_row [rows], clicks x weight.
    """
    total = float(by_row.sum())
    return total**2 / float(by_row @ weight) if total > 0 else 0.0


def click_weights(log: ClickLog, numbers: Numbers) -> FloatArray:
    """How much a click counts, float64 [rows]: u of clicked rows, 0 elsewhere, whatever v is.

    numbers [rows]: u and v, or propensities q for u = 1 / q. Raises InputError if
    `RowNumbers.on_log` does.
    """
    of_rows = row_numbers(numbers)
    return RowNumbers(of_rows.u, divisor=of_rows.divisor).on_log(log).u


def click_weight_diagnostics(log: ClickLog, numbers: Numbers) -> ClickWeightDiagnostics:
    """Effective sample size and concentration of the weights u of the clicks.

    numbers [rows]: u and v, or propensities q for u = 1 / q; the effective size is that of Kish
    (1965). A log without clicks gives zeros. Raises InputError if `click_weights` does, for example
    for a clicked row with propensity 0.
    """
    weight = click_weights(log, numbers)
    by_row = log.clicks * weight
    total = float(by_row.sum())
    if total == 0:
        return ClickWeightDiagnostics(0, 0.0, 0.0, 0.0)
    by_document = log.sum_by_document(by_row)
    heaviest = np.partition(by_document, -5)[-5:] if by_document.size > 5 else by_document
    return ClickWeightDiagnostics(
        clicks=log.total_clicks,
        effective_sample_size=effective_sample_size(by_row, weight),
        largest_weight=float(weight.max()),
        heaviest_share=float(heaviest.sum()) / total,
    )


@dataclass(frozen=True)
class ClippingEffect:
    """What a threshold changed, for an estimator that has one.

    threshold: tau.
    clicks: n; clicks_changed: clicks whose u differs from its value without a threshold.
    clicks_without_propensity: those that would otherwise have no finite u. weight_after: sum of u
    over all clicks. weight_removed: net loss of the other changed clicks; negative if they gained.
    """

    threshold: float
    clicks: int
    clicks_changed: int
    clicks_without_propensity: int
    weight_after: float
    weight_removed: float


def clipping_effect(log: ClickLog, estimator: Estimator, belief: Belief) -> ClippingEffect:
    """Count the clicks and the weight that ``belief.clip`` changes, compared with tau = 0.

    Both weights are the estimator's own u: 1 / max(tau, p) against 1 / p for the clipped estimator,
    and its own formula for any other estimator. Raises InputError if `Estimator.weigh` does: for a
    click without a finite u even at the threshold.
    """
    u = estimator.weigh(log, belief).on_log(log).u
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        unclipped = estimator.numbers(log, replace(belief, clip=0.0)).u
    changed = (log.clicks > 0) & (u != unclipped)
    finite = np.abs(unclipped) < 1.0 / LEAST_PROPENSITY
    lost = changed & finite
    after = log.clicks * u
    return ClippingEffect(
        threshold=float(belief.clip),
        clicks=log.total_clicks,
        clicks_changed=int(log.clicks[changed].sum()),
        clicks_without_propensity=int(log.clicks[changed & ~finite].sum()),
        weight_after=float(after.sum()),
        weight_removed=float((log.clicks[lost] * unclipped[lost] - after[lost]).sum()),
    )
