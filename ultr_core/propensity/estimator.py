"""What an estimator of a ranker's risk is: a function from a log to two numbers a row.

The same function serves a risk and its standard error, the exact moments, the weights that a
learner gets, and validation. All estimators stand in `estimators`.

When an estimator is unbiased is data as well: users and a belief, and what a document counts then.
Tests enumerate every click pattern of these cases, for every estimator of the registry. They hold
for many functions; which of them an estimator is, a few numbers worked out by hand say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError
from ultr_core.propensity.contexts import row_propensities
from ultr_core.propensity.row_numbers import RowNumbers, require_propensities
from ultr_core.users.click_log import ClickLog
from ultr_core.users.click_models import ClickModel, PositionModel, TrustBiasModel
from ultr_core.users.examination import ExaminationCurve, PowerLaw, TableCurve
from ultr_core.users.leaving import LeavingUsers

FloatArray = NDArray[np.float64]

Need = Literal["curve", "clip", "relevance", "noise", "continuation"]


@dataclass(frozen=True)
class Belief:
    """What is assumed about the users of a log: everything that an estimator may be given.

    curve: examination by rank, normalised to p_1 = 1. clip: the threshold tau, 0 for none.
    relevance: r_hat of each document, float64 [documents] in [0, 1], if one has been fitted. users:
    how they click, including noise, if that is known. exposure: rho of each document, float64
    [documents], if the logger is known; otherwise policy-aware weights take it from the log.
    continuation: lambda, the probability that users continue after a click; if it is below 1, the
    contexts of the log are the numbers of clicks above.
    """

    curve: ExaminationCurve
    clip: float = 0.0
    relevance: FloatArray | None = field(default=None, compare=False)
    users: ClickModel | None = None
    exposure: FloatArray | None = field(default=None, compare=False)
    continuation: float = 1.0

    def affine(self, ranks: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The users' alpha and beta in P(c = 1 | r, rank) = alpha r + beta; by default p and 0."""
        if self.users is not None:
            return self.users.affine(ranks)
        alpha = self.curve.at(ranks)
        return alpha, np.zeros(alpha.shape)

    def follows(self, log: ClickLog) -> NDArray[np.bool_]:
        """Rows whose clicks have probability alpha r + beta, bool [rows].

        For users who may leave, these are the rows without a click above: below a click, whether a
        user is still there depends on which other documents were not clicked.
        """
        found: NDArray[np.bool_] = (log.context == 0) | (self.continuation == 1)
        return found

    def differences(self, ranks: NDArray[np.int32], propensities: FloatArray) -> tuple[str, ...]:
        """What keeps some estimators from being right, of ``UNEVEN``, in their order.

        ranks, propensities [rows]: of the same rows. Examination differs if alpha does, noise if
        beta / alpha does, up to rounding.
        """
        alpha, beta = propensities, np.zeros(propensities.size)
        if self.users is not None:
            alpha, beta = self.affine(ranks)
        noise = beta[alpha > 0] / alpha[alpha > 0]
        differs = (_uneven(alpha), _uneven(noise), self.continuation < 1)
        return tuple(words for words, found in zip(UNEVEN, differs, strict=True) if found)

    def relevance_of(self, log: ClickLog) -> FloatArray:
        """r_hat of the document in each row of a log; raises InputError unless each has one."""
        found = self.relevance
        if found is None or found.shape != (log.n_documents,):
            raise InputError(
                f"This estimator needs a fitted relevance for each of the {log.n_documents} "
                "documents in the log.",
                "relevance",
            )
        return found[log.document]


UNEVEN = (
    "the given propensities are unequal; judge by IPS",
    "noise is given that depends on the rank",
    "users are given who may leave after a click",
)
"""What a belief may say that not every estimator allows for, as clauses."""


def _uneven(values: FloatArray) -> bool:
    return bool(values.size and np.ptp(values) > 1e-9 * np.abs(values).max())


def poor_relevance(relevance: NDArray[np.bool_]) -> FloatArray:
    """A fit with different errors for different documents: 1/2, 1/4, ... of r, plus 1/8.

    These are powers of two, so that few sums are rounded.
    """
    return 0.125 + np.asarray(relevance, np.float64) * 0.5 ** np.arange(1.0, relevance.size + 1)


def right_relevance(relevance: NDArray[np.bool_]) -> FloatArray:
    """A fit that is the relevance itself."""
    return np.asarray(relevance, np.float64)


@dataclass(frozen=True)
class Expectation:
    """What a document counts for on average, once shown, for given users and a belief about them.

    A document of relevance r counts for factor r + constant at every rank. The estimator is then
    unbiased for the risk if the factor is 1 and the constant 0, and otherwise correct up to a
    factor and a constant that are the same for every ranker (section 5.2).

    words: the assumption, worded to follow "assumes that". users: how they click. belief: what the
    estimator is given, with the relevance that ``fitted`` derives from the true relevance.
    """

    words: str
    users: ClickModel
    belief: Belief
    factor: float = 1.0
    constant: float = 0.0
    fitted: Callable[[NDArray[np.bool_]], FloatArray] = poor_relevance

    def believing(self, relevance: NDArray[np.bool_]) -> Belief:
        """The belief, with the relevance that is fitted to documents of this true relevance."""
        return replace(self.belief, relevance=self.fitted(relevance))

    @property
    def allows_for(self) -> tuple[str, ...]:
        """What of ``UNEVEN`` is the case at the first ranks, by the belief."""
        ranks = np.arange(1, SMALL_RANKS + 1, dtype=np.int32)
        return self.belief.differences(ranks, self.belief.curve.at(ranks))

    @property
    def unbiased(self) -> bool:
        """Whether each document counts for exactly its relevance."""
        return (self.factor, self.constant) == (1.0, 0.0)

    def counting(self, factor: float, constant: float = 0.0) -> Expectation:
        """The same users and assumptions, but with a document counting for this much."""
        return replace(self, factor=factor, constant=constant)


SMALL_CURVE = TableCurve((1.0, 0.5, 0.25, 0.125))
"""Examination in the cases below: powers of two, so that few sums are rounded."""

SMALL_RANKS = len(SMALL_CURVE.values)

_FLAT = PowerLaw(0.0)

NO_BIAS = Expectation(
    "every rank is examined equally often, and irrelevant documents are not clicked",
    PositionModel(_FLAT),
    Belief(_FLAT, clip=0.25),
)
NO_BIAS_BUT_NOISE = Expectation(
    "every rank is examined equally often",
    PositionModel(_FLAT, 1.0, 0.25),
    Belief(_FLAT, clip=0.25),
)
RIGHT_CURVE = Expectation(
    "the propensities are correct and above 0 for every document that can be clicked, and "
    "irrelevant documents are not clicked",
    PositionModel(SMALL_CURVE),
    Belief(SMALL_CURVE, clip=0.25),
)
RIGHT_CURVE_ABOVE_CLIP = Expectation(
    "the propensities are correct and at least τ for every document that can be clicked, and "
    "irrelevant documents are not clicked",
    PositionModel(SMALL_CURVE),
    Belief(SMALL_CURVE, clip=0.125),
)
RIGHT_CURVE_BUT_NOISE = Expectation(
    "the propensities are correct and at least τ for every document that can be clicked, and "
    "noise is constant",
    PositionModel(SMALL_CURVE, 1.0, 0.25),
    Belief(SMALL_CURVE, clip=0.125),
)
RIGHT_RELEVANCE = Expectation(
    "the propensities and the relevance fitted to the clicks are correct, and "
    "irrelevant documents are not clicked",
    PositionModel(SMALL_CURVE),
    Belief(SMALL_CURVE, clip=0.25),
    fitted=right_relevance,
)

_TRUSTING = TrustBiasModel(SMALL_CURVE, (1.0, 1.0, 0.75, 0.75), (0.5, 0.25, 0.25, 0.125))

RIGHT_NOISE = Expectation(
    "α and β in P(click) = α r + β are correct at every rank, and α is above 0",
    _TRUSTING,
    Belief(SMALL_CURVE, users=_TRUSTING),
)
RIGHT_NOISE_AND_RELEVANCE = Expectation(
    "α and β in P(click) = α r + β are correct at every rank, and so is the relevance fitted to "
    "the clicks",
    _TRUSTING,
    Belief(SMALL_CURVE, clip=0.25, users=_TRUSTING),
    fitted=right_relevance,
)

_LEAVING = LeavingUsers(SMALL_CURVE, continuation=0.5)

RIGHT_CONTINUATION = Expectation(
    "the propensities and λ are correct and above 0, λ does not depend on what was clicked, and "
    "irrelevant documents are not clicked",
    _LEAVING,
    Belief(SMALL_CURVE, continuation=0.5),
)
RIGHT_CONTINUATION_AND_RELEVANCE = Expectation(
    "the propensities, λ and the relevance fitted to the clicks are correct, and "
    "irrelevant documents are not clicked",
    _LEAVING,
    Belief(SMALL_CURVE, clip=0.25, continuation=0.5),
    fitted=right_relevance,
)

CASES: tuple[Expectation, ...] = (
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CURVE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
)
"""Cases in which every estimator of the registry is right, at least up to a factor and a constant,
if it says so, and only then."""

FURTHER_CASES: Mapping[Need, tuple[Expectation, ...]] = MappingProxyType(
    {
        "relevance": (RIGHT_RELEVANCE,),
        "noise": (RIGHT_NOISE, RIGHT_NOISE_AND_RELEVANCE),
        "continuation": (RIGHT_CONTINUATION, RIGHT_CONTINUATION_AND_RELEVANCE),
    }
)
"""Cases of what only estimators with that need are told."""

CLIP_GRID: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Thresholds tau that validation chooses from; 0 clips nothing; 1 gives the naive estimate."""

WORKED_CLIP = 0.25
"""The threshold tau that worked numbers of an estimator are for, where they name none."""

WORKED_RELEVANCE = 0.5
"""The fitted relevance of every document, in worked numbers."""

WORKED_NOISE = (1.0, 0.25)
"""Eps_plus and eps_minus of the users, in worked numbers: alpha = 3/4 p and beta = 1/4 p."""

Worked = tuple[float, float, float] | tuple[float, float, float, float]
"""Propensity, u, v and, where it is not ``WORKED_CLIP``, the threshold tau."""


@dataclass(frozen=True)
class Estimator:
    """An estimator of risk.

    key, label: its stable name, and the name that readers see. counts: what a click counts for, in
    a few words. words: what that does to the estimate, in a sentence or two. expects: cases where
    it is unbiased, or correct up to a factor and a constant: at least one, and all of `CASES` that
    apply; readers see the first. source: where it comes from. numbers: u and v [rows] for a log,
    given a belief; u does not matter for rows without clicks. worked: for a log with one click at
    each of several propensities, 1/2 among them, each row's propensity, u and v, worked out by
    hand. An estimator that needs a clip also has rows for a second threshold, the fourth number in
    a row, because many functions of tau agree at a single value; each threshold has a log of its
    own, with a propensity below that threshold. needs: the fields of the belief that it uses.
    clips: the thresholds from which validation chooses, more than one only if it needs a clip;
    ``CLIP_GRID`` is the usual choice. falls: if it is above 0, the threshold is ``falls`` n^(-1/4),
    at most 1, for a log of n clicks, and nothing is chosen. instead: the estimator used for
    training if a test shows that the fitted relevance is wrong; None if there is none. asked:
    whether it is shown with others only on request. over_draws: whether it corrects for lists that
    leave a document out. normalised: whether its sum is divided by the summed weight instead of by
    the number of presentations. The result, a mean rank of clicked documents instead of a risk,
    orders rankers as the sum itself does, so it is not used for training.
    """

    key: str
    label: str
    counts: str
    words: str
    expects: tuple[Expectation, ...]
    source: str
    numbers: Callable[[ClickLog, Belief], RowNumbers]
    worked: tuple[Worked, ...]
    needs: tuple[Need, ...] = ()
    clips: tuple[float, ...] = (0.0,)
    normalised: bool = False
    falls: float = 0.0
    instead: Estimator | None = None
    asked: bool = False
    over_draws: bool = False

    def clips_for(self, log: ClickLog) -> tuple[float, ...]:
        """The candidate thresholds for a log: one that falls as the log grows, or ``clips``.

        >>> from dataclasses import replace
        >>> from ultr_core.propensity import ESTIMATORS
        >>> log = ClickLog([0], [1], [20_000], [10_000], 20_000, [0, 1])
        >>> replace(ESTIMATORS["clipped"], falls=1.0).clips_for(log)
        (0.1,)
        """
        if not self.falls:
            return self.clips
        falling = round(self.falls * float(max(log.total_clicks, 1)) ** -0.25, 3)
        return (min(1.0, max(falling, 0.001)),)

    @property
    def cases(self) -> tuple[Expectation, ...]:
        """The possible cases; ``expects`` must name all those in which the estimator is correct."""
        return (*CASES, *(case for need in self.needs for case in FURTHER_CASES.get(need, ())))

    @property
    def beside_others(self) -> bool:
        """Whether it is shown for every log, because it needs only a log and a curve."""
        return {"curve", "clip"}.issuperset(self.needs) and not self.asked

    @property
    def fits_relevance(self) -> bool:
        """Whether it needs relevance fitted to the clicks with a curve."""
        return "relevance" in self.needs

    @property
    def needs_curve(self) -> bool:
        """Whether it cannot be used without propensities."""
        return "curve" in self.needs or self.fits_relevance

    def label_with(self, belief: Belief) -> str:
        """The label, with the threshold and λ if it uses them."""
        label = f"{self.label}, τ = {belief.clip:g}" if "clip" in self.needs else self.label
        return f"{label} (λ = {belief.continuation:.3g})" if self.uses_continuation else label

    @property
    def uses_continuation(self) -> bool:
        """Whether it needs λ, the probability that users continue after a click."""
        return "continuation" in self.needs

    @property
    def assumes(self) -> str:
        """When it is unbiased, or as close as it gets, in words: the first of its cases."""
        first = self.expects[0]
        text = first.words
        if not first.unbiased:
            text += f"; a document then counts for {first.factor:.3g} times its relevance"
            text += f", plus {first.constant:.3g}" if first.constant else ""
            # With another threshold it is another factor.
            text += f", at τ = {first.belief.clip:g}" if "clip" in self.needs else ""
        if self.normalised:
            text += "; as a ratio, it is slightly biased, by about 1 / N"
        return text

    @property
    def scale(self) -> str:
        """The unit of its estimate, in words."""
        what = "mean rank of a clicked document"
        if not self.normalised:
            what = "summed ranks of documents, per presentation"
        return f"{what}, where {self.counts}; lower is better"

    def unfit(self, log: ClickLog, belief: Belief) -> str:
        """Why it is not expected to be right for this belief, as a clause; "" if it is.

        It is if one of ``expects`` allows for all that the belief says of the log's rows
        (`Belief.differences`). A threshold above propensities is left to the reader.
        """
        given = belief.differences(log.rank, row_propensities(belief.curve, log))
        if any(set(given) <= set(case.allows_for) for case in self.expects):
            return ""
        first = self.expects[0]
        but = next((one for one in given if one not in first.allows_for), given[0])
        return f"{self.label} assumes that {first.words}, but {but}"

    def told(self, belief: Belief) -> Belief:
        """The belief without the users' noise and their lambda, unless the estimator needs them."""
        users = belief.users if "noise" in self.needs else None
        continuation = belief.continuation if "continuation" in self.needs else 1.0
        return replace(belief, users=users, continuation=continuation)

    def weigh(self, log: ClickLog, belief: Belief) -> RowNumbers:
        """The estimator's u and v for a log.

        Raises InputError, naming the rank and the clicks, if a propensity of 0 leaves no finite
        number.
        """
        # What divides by a propensity of 0 is told to the reader, not to the programmer.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            found = self.numbers(log, self.told(belief))
        if "curve" in self.needs:
            require_propensities(log, belief.curve, found)
        return found
