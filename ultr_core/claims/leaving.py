"""Claims of later work on users who leave after a click, enumerated on a small query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from ultr_core.claims.common import Measure
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.proofs.leaving import LeavingCase
from ultr_core.proofs.repairs import CLIP, RANKINGS
from ultr_core.proofs.users import ZERO

HALF = Fraction(1, 2)
STAYS = (Fraction(1, 5), HALF, Fraction(9, 10))
"""Probabilities λ of continuing after a click."""

ASSUMED = tuple(Fraction(number, 10) for number in range(1, 11))
"""What is assumed of λ where several are tried."""

CASES: Mapping[str, LeavingCase] = MappingProxyType(
    {
        "R11": LeavingCase("hindsight"),
        "R12": LeavingCase("hindsight", HALF),
        "R13": LeavingCase("hindsight", Fraction(4, 5), satisfied=Fraction(3, 10)),
        "R14": LeavingCase("hindsight-doubly-robust", clip=CLIP),
    }
)
"""By claim: what it is enumerated on."""


def leaving_case(lab: Lab, claim: str) -> LeavingCase:
    """The estimator and its users on the small query, for one claim."""
    return lab.remember(lab.cell("small_case", (), claim), lambda _: CASES[claim])


def _unbiased(lab: Lab) -> Finding:
    """The largest error of hindsight estimates, for several values of lambda."""
    case = leaving_case(lab, "R11")
    worst = max(abs(replace(case, continuation=stay).largest_error) for stay in STAYS)
    by_rank = max(
        abs(replace(case, estimator="ips", continuation=stay).largest_error) for stay in STAYS
    )
    return Finding(
        f"Over {len(RANKINGS)} rankings, each with λ = {', '.join(map(str, STAYS))}, the largest "
        f"error is {worst}; for IPS, which divides by p alone, it is {by_rank}.",
        float(worst),
    )


def _best_assumed(
    case: LeavingCase, assumed: Iterable[Fraction] = ASSUMED
) -> tuple[Fraction, Fraction]:
    """The largest error with the best of several assumed values of lambda, and that value."""
    return min((abs(replace(case, assumed=stay).largest_error), stay) for stay in assumed)


def _needs_lambda(lab: Lab) -> Finding:
    """The largest error of hindsight estimates with the best of several wrong values of lambda."""
    case = leaving_case(lab, "R12")
    wrong = [stay for stay in ASSUMED if stay != HALF]
    least, best = _best_assumed(case, wrong)
    return Finding(
        f"Users have λ = {case.continuation}. Of {len(wrong)} other assumed values, from "
        f"{wrong[0]} to {wrong[-1]}, {best} has the smallest maximum error over rankings: "
        f"{float(least):.3f}.",
        float(least),
        ">",
        0.0,
    )


def _satisfied_leave(lab: Lab) -> Finding:
    """The largest error of hindsight estimates where lambda depends on what was clicked."""
    case = leaving_case(lab, "R13")
    least, best = _best_assumed(case)
    return Finding(
        f"λ is {case.satisfied or case.continuation} after a click on a relevant document and "
        f"{case.continuation} after a click on any other document. Of {len(ASSUMED)} assumed "
        f"values, from {ASSUMED[0]} to {ASSUMED[-1]}, {best} has the smallest maximum error over "
        f"rankings: {float(least):.3f}.",
        float(least),
        ">",
        0.0,
    )


def _robust_bias(lab: Lab) -> Finding:
    """The error of hindsight doubly robust estimates against its closed form."""
    case = leaving_case(lab, "R14")
    worst = ZERO
    for new in RANKINGS:
        parts = zip(new, case.clicked, case.fitted, case.counted, strict=True)
        claimed = sum((rank * (a - fit) * (full - 1) for rank, a, fit, full in parts), ZERO)
        worst = max(worst, abs(case.errors[new] - claimed))
    return Finding(
        f"Over {len(RANKINGS)} rankings, the enumerated error is at most "
        f"{abs(case.largest_error)}; it differs from the closed form by {worst}.",
        float(worst),
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {"R11": _unbiased, "R12": _needs_lambda, "R13": _satisfied_leave, "R14": _robust_bias}
)
