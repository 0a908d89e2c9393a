"""Words of the page on propensities, with the numbers in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.app.markdown import told
from pages.app.steps import Step, read_step
from ultr_core.content import read
from ultr_core.jobs.propensities import POSITION, TRUST
from ultr_core.lab.propensity_study import MethodResult, SwapDesign, agreement_with, table_rows
from ultr_core.propensity.points import RankEstimate
from ultr_core.words import part_of, rounded_up, with_minus

COMPUTE = "Compute for this design"
"""Button of what takes longer, and so is not done for every design."""


_WORDS = read(__file__, "propensities")


STEPS: tuple[Step[Mapping[str, Any]], ...] = (
    read_step(
        _WORDS,
        "less-traffic",
        {"swap_traffic": 2_000, "swap_users": POSITION, "swap_smoothing": 0.0},
        compute=COMPUTE,
    ),
    read_step(_WORDS, "click-rates", {"swap_other": "ctr", "swap_users": POSITION}),
    read_step(_WORDS, "trust", {"swap_users": TRUST, "swap_traffic": 1_000_000}),
)


def headline(found: MethodResult, truth: NDArray[np.float64]) -> str:
    """The state of the estimate in one sentence."""
    words = _WORDS.part("headline")
    if found.estimate is None:
        return words.text("none", reason=told(found.reason))
    last = _lowest(found, truth)
    if last is None:
        return words.text("too-few")
    assert last.value is not None
    return words.text("found", rank=last.rank, value=last.value, truth=truth[last.rank - 1])


def agreement_sentence(found: MethodResult, truth: NDArray[np.float64]) -> str:
    """The interval of the headline's number, and how many intervals hold the truth."""
    last = _lowest(found, truth)
    if last is None or found.estimate is None:
        return ""
    agreement = agreement_with(found.estimate, truth)
    covered = part_of(
        agreement.covered, agreement.intervals, "interval", does="contains", do="contain"
    )
    assert last.low is not None and last.high is not None
    return _WORDS.text(
        "agreement.found",
        rank=last.rank,
        reference=found.estimate.reference,
        low=last.low,
        high=last.high,
        covered=covered,
    )


def _lowest(found: MethodResult, truth: NDArray[np.float64]) -> RankEstimate | None:
    """The lowest rank with an estimate and its error."""
    if found.estimate is None or agreement_with(found.estimate, truth).error is None:
        return None
    known = [point for point in found.estimate.observed if point.standard_error]
    return known[-1] if known else None


def trust_warning(limit: list[float], truth: NDArray[np.float64], design: SwapDesign) -> str:
    """Why swaps miss under trust bias, with this world's number."""
    rank = 2 if design.landmark == 1 else 1
    return _WORDS.text(
        "trust-warning",
        rank=rank,
        landmark=design.landmark,
        limit=limit[rank - 1],
        truth=truth[rank - 1],
    )


def price_sentence(found: MethodResult, design: SwapDesign) -> str:
    """What the experiment costs in ranking quality."""
    worse = "raises" if found.cost_exact >= 0 else "lowers"
    return _WORDS.text(
        "price",
        worse=worse,
        exact=abs(found.cost_exact),
        sessions=design.sessions,
        seen=with_minus(f"{found.cost_simulated:+.2f}"),
    )


def precision_sentence(rank: int, precision: float, needed: int, design: SwapDesign) -> str:
    """How much traffic a wanted precision takes."""
    share = design.sessions / needed
    enough = (
        "the current traffic is enough"
        if share >= 1
        else f"the current traffic is {share:.0%} of that"
    )
    return _WORDS.text(
        "precision", rank=rank, precision=precision, needed=rounded_up(needed), enough=enough
    )


def method_rows(
    results: Mapping[str, MethodResult], truth: NDArray[np.float64]
) -> list[dict[str, str]]:
    """The table of methods as it reads on the page."""
    rows = []
    for row in table_rows(results, truth):
        intervals = "none" if not row["intervals"] else f"{row['covered']} of {row['intervals']}"
        error = "–" if row["error"] is None else f"{row['error']:.2f}"
        rows.append(
            {
                "Method": row["method"],
                "Error": error,
                "Coverage": "–" if row["intervals"] is None else intervals,
                "Missing ranks": "all" if row["missing"] is None else str(row["missing"]),
                "Exact cost": with_minus(f"{row['cost_exact']:+.2f}"),
                "Observed cost": with_minus(f"{row['cost_simulated']:+.2f}"),
            }
        )
    return rows
