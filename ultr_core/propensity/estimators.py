"""The estimators of a ranker's risk from clicks, in one place: what each counts, needs and assumes.

An estimator is a function from the rows of a log, and what is believed of its users, to two numbers
a row (`RowNumbers`). The same function serves a risk and its standard error, the exact moments, the
weights that a learner gets, and validation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from ultr_core.errors import InputError, quoted
from ultr_core.feedback.click_log import ClickLog
from ultr_core.feedback.examination import ExaminationCurve
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.propensity.weights import clipped_propensities

CLIP_GRID: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Clipping thresholds tau that validation chooses from; 0 is unclipped, 1 is naive."""

Need = Literal["curve", "clip"]


@dataclass(frozen=True)
class Belief:
    """What is believed of the users of a log, and how far: all that an estimator may be given.

    curve: examination by rank, normalised to p_1 = 1. clip: the threshold tau, 0 for none.
    """

    curve: ExaminationCurve
    clip: float = 0.0


@dataclass(frozen=True)
class Estimator:
    """One estimator of risk.

    key, label: its stable name, and the name that readers see. counts: what a click counts, in a
    few words. words: what that does to the estimate, in a sentence or two. assumes: when it is
    unbiased. source: where it comes from. numbers: u and v [rows] of a log, given a belief; u of
    rows without a click does not matter. needs: the fields of the belief that it uses.
    clips: the thresholds among which validation chooses; more than one only where it needs a clip.
    normalised: whether its sum is divided by the summed weight instead of the number of query
    draws: a mean rank of clicks instead of a risk, which orders rankers like the sum itself and
    so trains none.
    """

    key: str
    label: str
    counts: str
    words: str
    assumes: str
    source: str
    numbers: Callable[[ClickLog, Belief], RowNumbers]
    needs: tuple[Need, ...] = ()
    clips: tuple[float, ...] = (0.0,)
    normalised: bool = False

    def label_at(self, clip: float) -> str:
        """The label, with the threshold where there is one."""
        return f"{self.label}, τ = {clip:g}" if "clip" in self.needs else self.label


def _naive(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers(np.ones(log.rank.size))


def _inverse(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers.dividing_by(belief.curve.at(log.rank))


def _clipped(log: ClickLog, belief: Belief) -> RowNumbers:
    propensities = clipped_propensities(belief.curve.at(log.rank), belief.clip)
    return RowNumbers.dividing_by(propensities)


_PAPER = "Joachims, Swaminathan and Schnabel (2017)"

ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {
        estimator.key: estimator
        for estimator in (
            Estimator(
                "naive",
                "Naive",
                counts="every click counts 1",
                words="Every click counts 1, as if all ranks were examined alike; too low for "
                "documents that were shown far down.",
                assumes="every rank is examined equally often, and only relevant documents are "
                "clicked",
                source=f"equation (5) of {_PAPER} with all propensities 1",
                numbers=_naive,
                clips=(1.0,),
            ),
            Estimator(
                "ips",
                "IPS",
                counts="a click counts 1 / propensity",
                words="Every click counts 1 / propensity of the position where it happened; right "
                "on average if the propensities are and every candidate was shown, but for noise: "
                "clicks on irrelevant documents move it by a factor and a constant, the same for "
                "every ranker.",
                assumes="the propensities are right and above 0 for every document that can be "
                "clicked, and only relevant documents are clicked",
                source=f"equation (5) of {_PAPER}",
                numbers=_inverse,
                needs=("curve",),
            ),
            Estimator(
                "clipped",
                "Clipped",
                counts="a click counts 1 / propensity, and at most 1 / τ",
                words="As IPS, with no propensity below τ: less spread, some bias downwards.",
                assumes="as IPS, and no propensity of a clicked document is below τ",
                source=f"section 7.2 of {_PAPER}",
                numbers=_clipped,
                needs=("curve", "clip"),
                clips=CLIP_GRID,
            ),
            Estimator(
                "snips",
                "SNIPS",
                counts="a click counts 1 / propensity, divided by the sum of all",
                words="As IPS, but divided by the summed weight: the mean rank of a clicked "
                "document, also of irrelevant ones that were clicked. A common factor of the "
                "propensities leaves it as it is.",
                assumes="as IPS; as a ratio it is slightly biased, by about 1 / N",
                source="Swaminathan and Joachims (NIPS 2015)",
                numbers=_inverse,
                needs=("curve",),
                normalised=True,
            ),
        )
    }
)
"""All estimators by key; risks, training, command line, pages and tests read this."""


def estimator_named(key: str) -> Estimator:
    """The estimator of that key; raises InputError for any other name."""
    if key not in ESTIMATORS:
        raise InputError(f"{quoted(key)} is no estimator; choose from {', '.join(ESTIMATORS)}.")
    return ESTIMATORS[key]
