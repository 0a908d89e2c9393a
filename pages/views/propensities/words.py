"""Words of the page on propensities, with the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages.app.remedies import told
from ultr_core.jobs.propensities import POSITION, TRUST
from ultr_core.lab.propensity_study import MethodResult, SwapDesign, agreement_with, table_rows
from ultr_core.words import part_of, with_minus

COMPUTE = "Compute for this design"
"""Button of what takes longer, and so is not done for every design."""


@dataclass(frozen=True)
class Step:
    """Something to try: a question, a button and the controls that it sets."""

    question: str
    button: str
    values: Mapping[str, Any]


STEPS = (
    Step(
        "**How little traffic is enough?** Watch the bars at the lower ranks. Then press "
        f"“{COMPUTE}” further down, to see the rankers that learn from it.",
        "Give it 2,000 presentations",
        {"swap_traffic": 2_000, "swap_users": POSITION, "swap_smoothing": 0.0},
    ),
    Step(
        "**Why not just click rates?** A ranker puts relevant documents on top. How far off is the "
        "green curve at rank 10?",
        "Show click rates beside it",
        {"swap_other": "ctr", "swap_users": POSITION},
    ),
    Step(
        "**What if users trust the top?** More traffic makes the bars shorter. Does it bring them "
        "to the truth?",
        "Switch on trust bias",
        {"swap_users": TRUST, "swap_traffic": 1_000_000},
    ),
)


def apply_step(values: Mapping[str, Any]) -> None:
    """Callback: set the controls of a step."""
    for name, value in values.items():
        st.session_state[name] = value


def headline(found: MethodResult, truth: NDArray[np.float64]) -> str:
    """The state of the estimate in one sentence."""
    if found.estimate is None:
        return f"This experiment gives no curve: {told(found.reason)}"
    agreement = agreement_with(found.estimate, truth)
    known = [point for point in found.estimate.observed if point.standard_error]
    if not known or agreement.error is None:
        return "Too few clicks for an interval at any rank; give the experiment more traffic."
    last = known[-1]
    covered = part_of(agreement.covered, agreement.intervals, "interval", does="holds", do="hold")
    assert last.value is not None and last.low is not None and last.high is not None
    return (
        f"Swaps put the examination of rank {last.rank} at {last.value:.3f} of rank "
        f"{found.estimate.reference} (95% interval {last.low:.3f} to {last.high:.3f}; the truth "
        f"is {truth[last.rank - 1]:.3f}), and {covered} the true ratio."
    )


def trust_warning(limit: list[float], truth: NDArray[np.float64], design: SwapDesign) -> str:
    """Why swaps miss under trust bias, with this world's number."""
    rank = 2 if design.landmark == 1 else 1
    return (
        "Under trust bias a swap measures more than examination: a click at the top is also trust "
        f"in the top. With endless traffic the ratio of rank {rank} to rank {design.landmark} "
        f"tends to {limit[rank - 1]:.2f}, while examination is {truth[rank - 1]:.2f}. It depends "
        "on how relevant the landmark documents are, so no traffic, fit or smoothing repairs it."
    )


def price_sentence(found: MethodResult, design: SwapDesign) -> str:
    """What the experiment costs in ranking quality."""
    worse = "adds" if found.cost_exact >= 0 else "takes away"
    seen = with_minus(f"{found.cost_simulated:+.2f}")
    return (
        f"A presentation in the experiment {worse} **{abs(found.cost_exact):.2f}** to the sum of "
        f"ranks of relevant documents, on average over all queries (exact); in these "
        f"{design.sessions:,} presentations it was {seen}. A swap of rank r "
        "with the landmark k costs (r − k) times the difference in relevance."
    )


def precision_sentence(rank: int, precision: float, needed: int, design: SwapDesign) -> str:
    """How much traffic a wanted precision takes."""
    share = design.sessions / needed
    enough = (
        "the present traffic is enough"
        if share >= 1
        else f"the present traffic is {share:.0%} of it"
    )
    return (
        f"To know rank {rank} to ± {precision:.0%} takes about **{_rounded(needed):,}** "
        f"presentations; {enough}. Half the error takes about four times the traffic."
    )


def _rounded(number: int) -> int:
    """Two digits, which is what the prediction supports."""
    power = max(0, math.floor(math.log10(max(number, 1))) - 1)
    step = int(10**power)
    return -(-number // step) * step


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
                "Intervals right": "–" if row["intervals"] is None else intervals,
                "Missing ranks": "all" if row["missing"] is None else str(row["missing"]),
                "Exact cost": with_minus(f"{row['cost_exact']:+.2f}"),
                "Cost seen": with_minus(f"{row['cost_simulated']:+.2f}"),
            }
        )
    return rows
