"""The picture of each lesson: the figures of the normal pages, from the lesson's own numbers.

Chart libraries are imported where a picture is drawn; words and measures of lessons need none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ultr_core.claims.gate_runs import ALONE, CANDIDATES, ON_AVERAGE, SHARED
from ultr_core.lab import METHODS, Lab
from ultr_core.lab.logs import true_curve
from ultr_core.lab.propensity_study import SwapDesign, true_ratios
from ultr_core.lessons.measures import (
    BELIEFS,
    GATED_LOGS,
    LEAVING_METHODS,
    ROBUST,
    belief_risks,
    clean_world,
    click_rate,
    learners_result,
    leaving_risks,
    naive_and_weighted,
    robust_comparison,
    trust_risks,
)
from ultr_core.lessons.measures import gate_shares as shares_of_gate
from ultr_core.own_data.deployment import PROMISE
from ultr_core.proofs.monte_carlo import running_mean, simulate
from ultr_core.proofs.users import times
from ultr_core.risk import Estimate, interval_over_draws, plus_minus
from ultr_core.risk.sign_test import sign_test

if TYPE_CHECKING:
    from ultr_core.figures import Figure, Theme

LAST_RANK = 20
VISITS = 1_000
"""Simulated visits in the picture of the lesson on unbiasedness."""

SHARES = {
    ON_AVERAGE: "One, chosen beforehand",
    ALONE: f"Best of {CANDIDATES}, counted as one",
    SHARED: f"Best of {CANDIDATES}, all counted",
}
"""By row of the gate's shares: what it is called in their picture."""

Picture: TypeAlias = "Callable[[Lab, Theme], Figure]"


def clicks_by_rank(lab: Lab, theme: Theme) -> Figure:
    """Click rate and relevance by rank, both relative to rank 1."""
    from ultr_core.figures.by_rank import clicks_and_relevance

    queries, log = lab.world().train, lab.logs().train
    last = min(LAST_RANK, int(np.median(queries.corpus.sizes)))
    ranks = range(1, last + 1)
    relevance = [float(queries.relevance[queries.presented_ranks == r].mean()) for r in ranks]
    return clicks_and_relevance([click_rate(log, r) for r in ranks], relevance, theme=theme)


def examination(lab: Lab, theme: Theme) -> Figure:
    """Examination probability by rank, with its live what-if curve."""
    from ultr_core.figures import examination_figure

    return examination_figure(lab.settings, "probability", theme=theme)


def settling_users(lab: Lab, theme: Theme) -> Figure:
    """How the weighted sum of ranks of one query settles over its users."""
    from ultr_core.figures.proofs import settling

    world = clean_world(lab.settings)
    weights = tuple(times(world.query.new, world.inverse))
    _, clicks = simulate(world, VISITS, lab.settings.seed)
    at, mean, error = running_mean(clicks, weights)
    loss = float(world.query.loss(world.query.new))
    return settling(
        at, mean, error, expected=float(world.users.mean(weights)), claimed=loss, theme=theme
    )


def trained(lab: Lab, theme: Theme) -> Figure:
    """Test risks of production, of the naive and weighted rankers, and of full information."""
    from ultr_core.figures import comparison_figure

    return comparison_figure(naive_and_weighted(lab), complete=True, theme=theme)


def risks(lab: Lab, theme: Theme) -> Figure:
    """Weighted estimates of the sixty rankers against their true risk."""
    from ultr_core.figures import risk_figure

    return risk_figure(lab.picture(), "propensity", theme=theme)


def beliefs(lab: Lab, theme: Theme) -> Figure:
    """Test risk by the η that the learner believes in."""
    from ultr_core.figures import curve_risk_figure

    found = belief_risks(lab)
    naive = lab.trained(0, "naive").test.risk
    rows = {"naive": ("η′ = 0, naive", "naive", naive)}
    for belief in BELIEFS:
        right = ", the truth" if belief == lab.settings.eta else ""
        rows[str(belief)] = (f"η′ = {belief:g}{right}", "propensity", found[belief])
    return curve_risk_figure(rows, theme=theme)


def swap_curves(lab: Lab, theme: Theme) -> Figure:
    """The curve from swaps beside plain click rates and the truth."""
    from ultr_core.figures import curve_figure

    design = SwapDesign()
    truth = true_ratios(true_curve(lab.settings), design)
    return curve_figure(
        lab.swaps(design),
        truth.tolist(),
        other=lab.swaps(design, "ctr"),
        theme=theme,
    )


def repaired(lab: Lab, theme: Theme) -> Figure:
    """Test risks of the naive, weighted and doubly robust rankers, with their intervals."""
    rankers = robust_comparison(lab).rankers
    return _risks({key: rankers[key].risk for key in ROBUST}, theme)


def trusted(lab: Lab, theme: Theme) -> Figure:
    """Test risks of the naive, weighted and affine rankers of trusting users."""
    found = trust_risks(lab)
    keys = zip(("naive", "propensity", "affine"), found.values(), strict=True)
    return _risks({key: interval_over_draws([risk]) for key, risk in keys}, theme)


def left(lab: Lab, theme: Theme) -> Figure:
    """Test risks of the naive, weighted and both hindsight rankers of users who leave."""
    found = leaving_risks(lab)
    risks = {LEAVING_METHODS[name]: interval_over_draws([risk]) for name, risk in found.items()}
    return _risks(risks, theme)


def towers(_: Lab, theme: Theme) -> Figure:
    """Examination, and what the position tower takes for it under three loggers."""
    from ultr_core.figures.repairs import towers_figure

    return towers_figure(theme=theme)


def gate_shares(lab: Lab, theme: Theme) -> Figure:
    """Shares of logs in which a ranker worse than production passes, beside what is promised."""
    import pandas as pd

    from ultr_core.figures import interval_dots
    from ultr_core.figures.dots import COLUMNS

    found, rows = shares_of_gate(lab), []
    for place, (row, label) in enumerate(SHARES.items()):
        share = found[row].passed
        # One ranker at a time is a mean over all of them, whose logs are the same.
        passed = round(share * GATED_LOGS)
        exact = sign_test(passed, GATED_LOGS - passed)
        low, high = (share, share) if row == ON_AVERAGE else (exact.low, exact.high)
        cells = (f"neutral-{place}", label, share, low, high, f"{share:.1%}")
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    told = "; ".join(f"{row['label']} {row['text']}" for row in rows)
    return interval_dots(
        pd.DataFrame(rows), name="gate-shares", title="How often a worse ranker passes the gate",
        alt_text=f"Share of logs in which a ranker worse than production passes: {told}.",
        x_title=f"Share of logs (dashed: the promised {PROMISE:.0%})", number=".0%", level=PROMISE,
        include=(0.0,), theme=theme,
    )  # fmt: skip


def learners(_: Lab, theme: Theme) -> Figure:
    """Test risk of each learner, with and without weights."""
    from ultr_core.figures import repair_figure

    result = learners_result()
    return repair_figure(result, result.point(result.plan.study.read_at), theme=theme)


def _risks(found: Mapping[str, Estimate], theme: Theme) -> Figure:
    """Test risks of rankers by the key of their method, on one axis."""
    import pandas as pd

    from ultr_core.figures import METHOD_STYLES, interval_dots
    from ultr_core.figures.dots import COLUMNS

    rows = []
    others = [key for key in found if key not in METHOD_STYLES]
    for key, risk in found.items():
        style = f"neutral-{others.index(key)}" if key in others else key
        low, high = risk.ends
        text = plus_minus(risk.value, (high - low) / 2)
        row = (style, METHODS[key].label, risk.value, low, high, text)
        rows.append(dict(zip(COLUMNS, row, strict=True)))
    told = "; ".join(f"{row['label']} {row['text']}" for row in rows)
    return interval_dots(
        pd.DataFrame(rows), name="repaired-risks", title="Test risk of trained rankers",
        alt_text=f"Test risk, lower is better: {told}.", x_title="Test risk (lower is better)",
        theme=theme,
    )  # fmt: skip


def win_shares(lab: Lab, theme: Theme) -> Figure:
    """Win shares of both contests, here and in the paper."""
    from ultr_core.figures import win_share_figure

    return win_share_figure(lab.live(), theme=theme)
