"""The picture of each lesson: the figures of the normal pages, from the lesson's own numbers.

Chart libraries are imported where a picture is drawn; words and measures of lessons need none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ultr_core.experiments.live import LiveDesign
from ultr_core.experiments.propensity_study import SwapDesign, true_ratios
from ultr_core.lessons.measures import BELIEFS, belief_risks, click_rate, small_world
from ultr_core.lessons.source import Source, comparison_of
from ultr_core.lessons.traffic import VISITS
from ultr_core.proofs.monte_carlo import running_mean, simulate
from ultr_core.proofs.users import times
from ultr_core.propensity.chosen import true_curve
from ultr_core.settings import Settings

if TYPE_CHECKING:
    from ultr_core.figures import Figure, Theme

LAST_RANK = 20

Picture: TypeAlias = "Callable[[Source, Settings, Theme], Figure]"


def clicks_by_rank(source: Source, settings: Settings, theme: Theme) -> Figure:
    """Click rate and relevance by rank, both relative to rank 1."""
    from ultr_core.figures.clicks_by_rank import clicks_and_relevance

    queries, log = source.world(settings).train, source.logs(settings, 0).train
    last = min(LAST_RANK, int(np.median(queries.corpus.sizes)))
    ranks = range(1, last + 1)
    relevance = [float(queries.relevance[queries.presented_ranks == r].mean()) for r in ranks]
    return clicks_and_relevance([click_rate(log, r) for r in ranks], relevance, theme=theme)


def examination(source: Source, settings: Settings, theme: Theme) -> Figure:
    """Examination probability by rank, with its live what-if curve."""
    from ultr_core.figures import examination_figure

    return examination_figure(settings, "probability", theme=theme)


def settling_users(source: Source, settings: Settings, theme: Theme) -> Figure:
    """How the weighted sum of ranks of one query settles over its users."""
    from ultr_core.figures.proof_curves import settling

    world = small_world(settings)
    weights = tuple(times(world.query.new, world.inverse))
    _, clicks = simulate(world, VISITS, settings.seed)
    at, mean, error = running_mean(clicks, weights)
    loss = float(world.query.loss(world.query.new))
    return settling(
        at, mean, error, expected=float(world.users.mean(weights)), claimed=loss, theme=theme
    )


def trained(source: Source, settings: Settings, theme: Theme) -> Figure:
    """Test risks of production, naive, weighted and full information."""
    from ultr_core.figures import comparison_figure

    return comparison_figure(comparison_of(source, settings), complete=True, theme=theme)


def risks(source: Source, settings: Settings, theme: Theme) -> Figure:
    """Weighted estimates of the sixty rankers against their true risk."""
    from ultr_core.figures import risk_figure

    return risk_figure(source.picture(settings), "propensity", theme=theme)


def beliefs(source: Source, settings: Settings, theme: Theme) -> Figure:
    """Test risk by the η that the learner believes in."""
    from ultr_core.figures.propensity_charts import curve_risk_figure

    found = belief_risks(source, settings)
    naive = source.trained(settings, 0, "naive").test.risk
    rows = {"naive": ("η′ = 0, naive", "naive", naive)}
    for belief in BELIEFS:
        right = ", the truth" if belief == settings.eta else ""
        rows[str(belief)] = (f"η′ = {belief:g}{right}", "propensity", found[belief])
    return curve_risk_figure(rows, theme=theme)


def swap_curves(source: Source, settings: Settings, theme: Theme) -> Figure:
    """The curve from swaps beside plain click rates and the truth."""
    from ultr_core.figures.propensity_charts import curve_figure

    design = SwapDesign()
    truth = true_ratios(true_curve(settings), design)
    return curve_figure(
        source.swaps(settings, design, "swap"),
        truth.tolist(),
        other=source.swaps(settings, design, "ctr"),
        theme=theme,
    )


def win_shares(source: Source, settings: Settings, theme: Theme) -> Figure:
    """Win shares of both contests, here and in the paper."""
    from ultr_core.figures.propensity_charts import win_share_figure

    return win_share_figure(source.live(settings, LiveDesign()), theme=theme)
