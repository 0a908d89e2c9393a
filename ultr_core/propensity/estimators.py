"""The estimators of a ranker's risk from clicks, in one place: what each counts, needs, assumes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ultr_core.errors import InputError, quoted
from ultr_core.propensity.affine import AFFINE
from ultr_core.propensity.contexts import row_propensities
from ultr_core.propensity.estimator import (
    CLIP_GRID,
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CURVE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
    Belief,
    Estimator,
)
from ultr_core.propensity.fitted_relevance import DIRECT, affine_doubly_robust, doubly_robust
from ultr_core.propensity.hindsight import HINDSIGHT, HINDSIGHT_DOUBLY_ROBUST
from ultr_core.propensity.policy_aware import POLICY_AWARE
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.propensity.weights import clipped_propensities
from ultr_core.users.click_log import ClickLog


def _naive(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers(np.ones(log.rank.size))


def _inverse(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers.dividing_by(row_propensities(belief.curve, log))


def _clipped(log: ClickLog, belief: Belief) -> RowNumbers:
    propensities = clipped_propensities(row_propensities(belief.curve, log), belief.clip)
    return RowNumbers.dividing_by(propensities)


_UNDER_NOISE = (
    NO_BIAS_BUT_NOISE.counting(0.75, 0.25),
    RIGHT_CURVE_BUT_NOISE.counting(0.75, 0.25),
)
_INVERSE = (RIGHT_CURVE, RIGHT_CURVE_ABOVE_CLIP, NO_BIAS, *_UNDER_NOISE)

_PAPER = "Joachims, Swaminathan and Schnabel (2017)"

CLIPPED = Estimator(
    "clipped",
    "Clipped",
    counts="a click counts for 1 / propensity, at most 1 / τ",
    words="Like IPS, but with no propensity below τ: it has less variance but some downward bias.",
    expects=(RIGHT_CURVE_ABOVE_CLIP, NO_BIAS, *_UNDER_NOISE),
    source=f"section 7.2 of {_PAPER}",
    numbers=_clipped,
    worked=((0.5, 2.0, 0.0), (0.125, 4.0, 0.0), (0.125, 2.0, 0.0, 0.5)),
    needs=("curve", "clip"),
    clips=CLIP_GRID,
)

ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {
        estimator.key: estimator
        for estimator in (
            Estimator(
                "naive",
                "Naive",
                counts="every click counts once",
                words="Every click counts once, as if all ranks were examined equally often; "
                "documents shown far down count too little.",
                expects=(NO_BIAS, NO_BIAS_BUT_NOISE.counting(0.75, 0.25)),
                source=f"equation (5) of {_PAPER} with all propensities equal to 1",
                numbers=_naive,
                worked=((0.5, 1.0, 0.0), (0.125, 1.0, 0.0)),
                clips=(1.0,),
            ),
            Estimator(
                "ips",
                "IPS",
                counts="a click counts for 1 / propensity",
                words="Every click counts for 1 / the propensity of its rank; correct on average "
                "if the propensities are correct, every candidate was shown and irrelevant "
                "documents are not clicked. Clicks on irrelevant documents change the estimate "
                "by a factor and a constant that are the same for every ranker.",
                expects=_INVERSE,
                source=f"equation (5) of {_PAPER}",
                numbers=_inverse,
                worked=((0.5, 2.0, 0.0), (0.125, 8.0, 0.0)),
                needs=("curve",),
            ),
            CLIPPED,
            Estimator(
                "snips",
                "SNIPS",
                counts="a click counts for 1 / propensity, divided by the sum of these weights",
                words="Like IPS, but divided by the sum of the weights: the mean rank of clicked "
                "documents, including irrelevant ones. A common factor in the propensities does "
                "not change the estimate.",
                expects=_INVERSE,
                source="Swaminathan and Joachims (NIPS 2015)",
                numbers=_inverse,
                worked=((0.5, 2.0, 0.0), (0.125, 8.0, 0.0)),
                needs=("curve",),
                normalised=True,
            ),
            DIRECT,
            doubly_robust(instead=CLIPPED),
            AFFINE,
            affine_doubly_robust(instead=AFFINE),
            POLICY_AWARE,
            HINDSIGHT,
            HINDSIGHT_DOUBLY_ROBUST,
        )
    }
)
"""All estimators by key, for risks, training, the command line, pages and tests."""


def estimator_named(key: str) -> Estimator:
    """The estimator with that key; raises InputError for an unknown key."""
    if key not in ESTIMATORS:
        raise InputError(f"{quoted(key)} is not an estimator; choose from {', '.join(ESTIMATORS)}.")
    return ESTIMATORS[key]
