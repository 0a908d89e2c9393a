"""What an estimator of a ranker's risk is: a function from a log to two numbers a row.

The same function serves a risk and its standard error, the exact moments, the weights that a
learner gets, and validation. All estimators stand in `estimators`.

When an estimator is unbiased is data as well: users and a belief, and what a document counts then.
Tests enumerate every click pattern of these cases, for every estimator of the registry. They hold
for many functions; which of them an estimator is, a few numbers worked out by hand say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ultr_core.propensity.row_numbers import RowNumbers, require_propensities
from ultr_core.users.click_log import ClickLog
from ultr_core.users.click_models import ClickModel, PositionModel
from ultr_core.users.examination import ExaminationCurve, PowerLaw, TableCurve

Need = Literal["curve", "clip"]


@dataclass(frozen=True)
class Belief:
    """What is believed of the users of a log, and how far: all that an estimator may be given.

    curve: examination by rank, normalised to p_1 = 1. clip: the threshold tau, 0 for none.
    """

    curve: ExaminationCurve
    clip: float = 0.0


@dataclass(frozen=True)
class Expectation:
    """What a document counts on average, once shown, under some users and a belief about them.

    A document of relevance r counts factor r + constant, at whichever rank it is shown: the
    estimator is then unbiased for the risk if that is r, and otherwise right up to a factor and a
    constant that are the same for every ranker (section 5.2).

    words: the assumption, as it follows "assumes that". users: how they click. belief: what the
    estimator is given.
    """

    words: str
    users: ClickModel
    belief: Belief
    factor: float = 1.0
    constant: float = 0.0

    @property
    def unbiased(self) -> bool:
        """Whether a document counts its relevance."""
        return (self.factor, self.constant) == (1.0, 0.0)

    def counting(self, factor: float, constant: float = 0.0) -> Expectation:
        """The same users and belief for an estimator to which a document counts this much."""
        return replace(self, factor=factor, constant=constant)


SMALL_CURVE = TableCurve((1.0, 0.5, 0.25, 0.125))
"""Examination in the cases below: powers of two, so that few sums are rounded."""

_FLAT = PowerLaw(0.0)

NO_BIAS = Expectation(
    "every rank is examined equally often, and only relevant documents are clicked",
    PositionModel(_FLAT),
    Belief(_FLAT, clip=0.25),
)
NO_BIAS_BUT_NOISE = Expectation(
    "every rank is examined equally often",
    PositionModel(_FLAT, 1.0, 0.25),
    Belief(_FLAT, clip=0.25),
)
RIGHT_CURVE = Expectation(
    "the propensities are correct and above 0 for every document that can be clicked, and only "
    "relevant documents are clicked",
    PositionModel(SMALL_CURVE),
    Belief(SMALL_CURVE, clip=0.25),
)
RIGHT_CURVE_ABOVE_CLIP = Expectation(
    "the propensities are correct and at least τ for every document that can be clicked, and only "
    "relevant documents are clicked",
    PositionModel(SMALL_CURVE),
    Belief(SMALL_CURVE, clip=0.125),
)
RIGHT_CURVE_BUT_NOISE = Expectation(
    "the propensities are correct and at least τ for every document that can be clicked, and "
    "noise is constant",
    PositionModel(SMALL_CURVE, 1.0, 0.25),
    Belief(SMALL_CURVE, clip=0.125),
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

CLIP_GRID: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Thresholds tau that validation chooses from; 0 is none: unclipped. 1 is naive where it clips."""

WORKED_CLIP = 0.25
"""The threshold tau that worked numbers of an estimator are for, where they name none."""

Worked = tuple[float, float, float] | tuple[float, float, float, float]
"""Propensity, u, v and, where it is not ``WORKED_CLIP``, the threshold tau."""


@dataclass(frozen=True)
class Estimator:
    """One estimator of risk.

    key, label: its stable name, and the name that readers see. counts: what a click counts, in a
    few words. words: what that does to the estimate, in a sentence or two. expects: cases in which
    it is unbiased, or right up to a factor and a constant, at least one and every one of `CASES`;
    readers are told the first. source: where it comes from. numbers: u and v [rows] of a log,
    given a belief; u of rows without a click does not matter. worked: propensity, u and v of each
    row of a log of one click at each propensity, worked out by hand; at 1/2 and at another one.
    One that needs a clip has them at a second threshold as well, the fourth number of a row, for
    many functions of tau are equal at one: a log for each threshold, and a propensity below it.
    needs: the fields of the belief that it uses. clips: the thresholds among which validation
    chooses, more than one only where it needs a clip; ``CLIP_GRID`` is the usual choice.
    normalised: whether its sum is divided by the summed weight instead of the number of query
    draws: a mean rank of clicks instead of a risk, which orders rankers like the sum itself and
    so trains none.
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

    def label_at(self, clip: float) -> str:
        """The label, with the threshold where there is one."""
        return f"{self.label}, τ = {clip:g}" if "clip" in self.needs else self.label

    @property
    def assumes(self) -> str:
        """When it is unbiased, or as near as it gets, in words: the first of its cases."""
        first = self.expects[0]
        text = first.words
        if not first.unbiased:
            text += f"; a document then counts {first.factor:.3g} times its relevance"
            text += f", plus {first.constant:.3g}" if first.constant else ""
            # With another threshold it is another factor.
            text += f", at τ = {first.belief.clip:g}" if "clip" in self.needs else ""
        if self.normalised:
            text += "; as a ratio it is slightly biased, by about 1 / N"
        return text

    @property
    def scale(self) -> str:
        """What its estimate is a number of, in words."""
        what = "mean rank of a clicked document"
        if not self.normalised:
            what = "summed ranks of documents, per query draw"
        return f"{what}, where {self.counts}; lower is better"

    def weigh(self, log: ClickLog, belief: Belief) -> RowNumbers:
        """Its u and v for a log.

        Raises InputError naming rank and clicks where a propensity of 0 leaves no finite number.
        """
        # What divides by a propensity of 0 is told to the reader, not to the programmer.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            found = self.numbers(log, belief)
        if "curve" in self.needs:
            require_propensities(log, belief.curve, found)
        return found
