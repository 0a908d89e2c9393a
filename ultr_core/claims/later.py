"""Claims of later work: doubly robust, affine, policy-aware weights; team draft."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from types import MappingProxyType

from ultr_core.claims.common import Measure, Sizes, judged, queries_of, sizes_judged, sizes_of
from ultr_core.claims.live import interleaved_clicks
from ultr_core.findings import Finding
from ultr_core.lab import WORLD_FIELDS, Lab, stage
from ultr_core.lab.interleaved_lists import (
    SCHEMES,
    Document,
    Interleaved,
    every_interleaving,
    exact_verdicts,
)
from ultr_core.lab.training import HALF_SEEN
from ultr_core.proofs.repairs import (
    FITTED,
    LAST_REPLACED,
    POSITION,
    RANKINGS,
    RELEVANCE,
    TOO_STEEP,
    TOP_THREE,
    TRUST_STEEP,
    SmallCase,
)
from ultr_core.proofs.users import ONE, ZERO

FITS = (FITTED, (ZERO,) * 4, (Fraction(1, 2),) * 4, tuple(ONE - r for r in RELEVANCE))
"""Relevances that a fit might give: near the truth, nothing, undecided, all wrong."""

CASES: Mapping[str, SmallCase] = MappingProxyType(
    {
        "R1": SmallCase("affine-doubly-robust", TRUST_STEEP, clip=ZERO),
        "R2": SmallCase("doubly-robust", POSITION),
        "R3": SmallCase("doubly-robust", POSITION, TOO_STEEP, clip=ZERO),
        "R5": SmallCase("policy-aware", TOP_THREE, lists=LAST_REPLACED),
    }
)
"""By claim: what it is enumerated on."""


def small_case(lab: Lab, claim: str) -> SmallCase:
    """The estimator, its users and its logger on the small query, for one claim."""
    return lab.remember(lab.cell("small_case", (), claim), lambda _: CASES[claim])


def _robust_is_affine(lab: Lab) -> Finding:
    """Unclipped doubly robust estimates against the affine ones, for four fits."""
    case = small_case(lab, "R1")
    affine = SmallCase("affine", case.behaviour).numbers((1, 2, 3, 4))
    worst = max(
        abs(one - other)
        for fit in FITS
        for pair, own in zip(replace(case, fitted=fit).numbers((1, 2, 3, 4)), affine, strict=True)
        for one, other in zip(pair, own, strict=True)
    )
    return Finding(
        f"With {len(FITS)} fits, right and wrong, the contribution of each click and each "
        f"impression differs from that in the affine correction by at most {worst}.",
        float(worst),
    )


def _robust_bias(lab: Lab) -> Finding:
    """The error of clipped doubly robust estimates against sum_d rank (r - r_hat) (p / D - 1)."""
    case = small_case(lab, "R2")
    worst = ZERO
    for new in RANKINGS:
        claimed = sum(
            (
                rank * (r - fitted) * (p / max(case.clip, p) - 1)
                for rank, r, fitted, p in zip(
                    new, RELEVANCE, case.fitted, POSITION.look, strict=False
                )
            ),
            ZERO,
        )
        worst = max(worst, abs(case.errors[new] - claimed))
    return Finding(
        f"Over {len(RANKINGS)} rankings, the enumerated error is at most "
        f"{abs(case.largest_error)}; it differs from the closed form by {worst}.",
        float(worst),
    )


def _wrong_curve_stays(lab: Lab) -> Finding:
    """Doubly robust estimates with a wrong curve against IPS with the same."""
    case = small_case(lab, "R3")
    ips = replace(case, estimator="ips")
    differ = max(abs(case.errors[new] - ips.errors[new]) for new in RANKINGS)
    return Finding(
        "With a wrong curve, the doubly robust estimate is off by up to "
        f"{abs(case.largest_error)}; its errors differ from those of IPS by at most {differ}.",
        float(abs(case.largest_error)),
        ">",
        0.0,
    )


def _aware_is_unbiased(lab: Lab) -> Finding:
    """The largest error of policy-aware weights where the logger shows every document at times."""
    worst = abs(small_case(lab, "R5").largest_error)
    return Finding(
        f"Over {len(RANKINGS)} rankings, the largest error of the policy-aware estimate is "
        f"{worst}.",
        float(worst),
    )


GUARD_LOGS, GUARD_CLICKS, GUARD_REJECTS = 20, 9_000, 19
"""Logs on which the test by rank is tried, their clicks, and how many it must reject."""


def _rejected(lab: Lab, draw: int) -> bool:
    """Whether the test by rank rejects the relevance fitted to one log."""
    seen = lab.remember(lab.cell("seen_by_fit", ()), lambda _: HALF_SEEN)
    settings = stage(lab.settings, WORLD_FIELDS).with_values(clicks=GUARD_CLICKS)
    return bool(lab.at(settings).rank_test(draw, "doubly-robust", seen).rejected)


def _guard_rejects(lab: Lab) -> Finding:
    """In how many logs the test by rank rejects a fit that misses half of the logger's features."""
    rejected = sum(_rejected(lab, draw) for draw in range(GUARD_LOGS))
    return Finding(
        f"Without half of the features, the fit is rejected in {rejected} of {GUARD_LOGS} logs.",
        float(rejected),
        "≥",
        float(GUARD_REJECTS),
    )


FIRST = "abc"
OTHERS = tuple(permutations("abcd", 3))
"""The list of one ranker, and all that another may have; three places are shown."""


def _score(found: Interleaved, clicked: Collection[Document]) -> Fraction:
    """What these clicks say for A by the credit of their documents."""
    assert found.credit is not None
    credit = dict(zip(found.documents, found.credit, strict=True))
    return sum((credit[document] for document in clicked), ZERO)


def _no_preference(lab: Lab) -> Finding:
    """What interleaving prefers if one document is clicked at random, over pairs of lists."""
    clicks = interleaved_clicks(lab, "R18")
    apart, score = dict[str, Fraction](), ZERO
    for scheme in SCHEMES:
        found = [exact_verdicts(FIRST, other, clicks, scheme, shown=3) for other in OTHERS]
        apart[scheme] = max(abs(one.a - one.b) for one in found)
    for other in OTHERS:
        drawn = every_interleaving(FIRST, other, "probabilistic", shown=3)
        mean = sum(
            (share * said * _score(one, clicked)
             for one, share in drawn for clicked, said in clicks(one.documents)),
            ZERO,
        )  # fmt: skip
        score = max(score, abs(mean))
    return Finding(
        f"Over {len(OTHERS)} pairs of lists of three documents, win shares differ by at most "
        f"{apart['team-draft']} with team draft; the mean score of probabilistic interleaving is "
        f"at most {score}. If each query is decided by the sign of that score, win shares differ "
        f"by up to {float(apart['probabilistic']):.2f}; with balanced interleaving, they differ by "
        f"up to {float(apart['balanced']):.2f}.",
        float(max(score, apart["team-draft"])),
    )


_JUDGED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "R6": ("few-clicks", "doubly-robust-early"),
        "R7": ("few-clicks", "direct-stops"),
        "R8": ("trust-steep", "affine-beats-weighting"),
        "R9": ("cut", "hole-stays"),
        "R10": ("cut", "policy-aware-fills"),
    }
)
"""Claims that a study judges, each with the study and its rule."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "R1": _robust_is_affine,
        "R2": _robust_bias,
        "R3": _wrong_curve_stays,
        "R5": _aware_is_unbiased,
        "R15": _guard_rejects,
        "R18": _no_preference,
        **{key: partial(judged, *rule) for key, rule in _JUDGED.items()},
    }
)

SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "logs for the guard": lambda lab: sizes_of(GUARD_CLICKS, queries_of(lab), GUARD_LOGS),
        **{rule[1]: partial(sizes_judged, *rule) for rule in _JUDGED.values()},
    }
)
"""Sizes of what the studies judge, by rule, and of the logs that are simulated here."""
