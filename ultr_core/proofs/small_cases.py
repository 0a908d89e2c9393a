"""What each study of a repair compares, in small: four documents, every ranking, fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from ultr_core.proofs.leaving import LeavingCase
from ultr_core.proofs.repairs import (
    CLIP,
    LAST_REPLACED,
    MIXED,
    POSITION,
    TOO_FLAT,
    TOO_STEEP,
    TOP_THREE,
    TRUST_MILD,
    TRUST_STEEP,
    Enumerated,
    SmallCase,
    swap_ratios,
)
from ultr_core.proofs.users import ZERO

_ON_POSITION = SmallCase("ips", POSITION)
_LEAVING = LeavingCase("hindsight", Fraction(1, 5), eps_minus=ZERO)

SMALL_CASES: Mapping[str, Mapping[str, Enumerated]] = MappingProxyType(
    {
        "few-clicks": {
            "naive": replace(_ON_POSITION, estimator="naive"),
            "propensity": _ON_POSITION,
            "clipped": replace(_ON_POSITION, estimator="clipped"),
            "direct": replace(_ON_POSITION, estimator="direct"),
            "doubly-robust": replace(_ON_POSITION, estimator="doubly-robust"),
        },
        **{
            name: {
                "naive": SmallCase("naive", users),
                "propensity": SmallCase("ips", users),
                "swap-ratio": SmallCase("ips", users, swap_ratios(users)),
                "affine": SmallCase("affine", users),
                "affine-swaps": SmallCase("affine", users, lines=True),
                "affine-doubly-robust": SmallCase("affine-doubly-robust", users),
            }
            for name, users in (("trust-mild", TRUST_MILD), ("trust-steep", TRUST_STEEP))
        },
        "leaving": {
            "naive": replace(_LEAVING, estimator="naive"),
            "propensity": replace(_LEAVING, estimator="ips"),
            "hindsight": _LEAVING,
            "hindsight-doubly-robust": replace(
                _LEAVING, estimator="hindsight-doubly-robust", clip=CLIP
            ),
        },
        "cut": {
            "naive": SmallCase("naive", TOP_THREE),
            "propensity": SmallCase("ips", TOP_THREE),
            "replace-last": SmallCase("policy-aware", TOP_THREE, lists=LAST_REPLACED),
            "plackett-luce": SmallCase("policy-aware", TOP_THREE, lists=LAST_REPLACED),
            "mixture": SmallCase("policy-aware", TOP_THREE, lists=MIXED),
            "doubly-robust": SmallCase("doubly-robust", TOP_THREE),
        },
        "wrong-curve": {
            "naive": replace(_ON_POSITION, estimator="naive"),
            "too-steep": replace(_ON_POSITION, assumed=TOO_STEEP),
            "too-flat": replace(_ON_POSITION, assumed=TOO_FLAT),
            "propensity": _ON_POSITION,
        },
        "learners": {
            "naive": replace(_ON_POSITION, estimator="naive"),
            "propensity": _ON_POSITION,
        },
    }
)
"""By name of a study of a repair and by method; those of "learners" are of every learner."""
