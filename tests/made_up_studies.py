"""Studies with made-up losses: a world like the paper's, its opposite, and mere noise."""

from __future__ import annotations

from collections.abc import Callable

from ultr_core.settings import Settings
from ultr_core.studies import (
    LOSSES,
    STUDIES,
    CellResult,
    Plan,
    Point,
    Study,
    StudyResult,
    WorldDescription,
    cell_of,
)

Loss = Callable[[str, Point, int], float]
DESCRIPTION = WorldDescription("0", {"name": "made up"}, 0, ())


def made_up(
    study: str | Study, loss: Loss, *, draws: int = 5, agreement: float = -0.9
) -> StudyResult:
    if isinstance(study, str):
        study = STUDIES[study]
    plan = Plan(study, "quick", Settings(draws=draws))
    done = {}
    for point in plan.points:
        for method in plan.study.methods:
            for draw in range(draws):
                key = cell_of(method, point.settings, draw).key
                value = loss(method, point, draw)
                losses = dict.fromkeys(LOSSES, value) | {"sum-of-ranks": value}
                share = 0.598 if point.x == 0.3 else 0.3
                tau = agreement if method == "skip-above" else 1.0
                done[key] = CellResult(key, losses, tau, 1.0, 0.0, 0.0, 9, 9, share, 0.0, 0.0)
    return StudyResult(plan, LOSSES["sum-of-ranks"], done, DESCRIPTION)


def papers_loss(method: str, point: Point, draw: int) -> float:
    settings = point.settings
    wiggle = 0.001 * (draw - 2)
    if method == "production":
        return 13.0
    if method == "skyline":
        return 10.0
    if method == "skip-above":
        return 40.0 + wiggle
    naive = 10.0 + min(settings.eta, 1.5) * (0.9 + 2 * settings.eps_minus)
    if method == "naive":
        return naive
    exaggeration = settings.assumed_eta - settings.eta
    # Of weighted clicks so much that five times as many gain more than 5% of the gap.
    variance = 122 / settings.clicks**0.5 if method == "propensity" else 2000 / settings.clicks
    if settings.eta == settings.assumed_eta == 0:
        return naive
    if settings.assumed_eta == 0:
        return naive
    hurt = 3 * exaggeration**2 if exaggeration > 0 else 0.9 * exaggeration**2
    return 10.0 + variance + hurt + wiggle


def opposite(method: str, point: Point, draw: int) -> float:
    swap = {"naive": "propensity", "propensity": "naive", "clipped": "naive"}
    value = papers_loss(swap.get(method, method), point, draw)
    if method == "skip-above":
        return 11.0
    few = 0.4 if method == "propensity" and point.settings.clicks < 100_000 else 0.0
    drift = 3.0 * point.x if method == "propensity" else 0.0
    return value + drift - few + 0.002 * (draw - 2) + (0.5 if method == "clipped" else 0.0)


def misled(method: str, point: Point, draw: int) -> float:
    """Weighting loses to naive wherever the assumed bias is wrong, and more if it is too small."""
    wrong = point.settings.eta - point.settings.assumed_eta
    naive = papers_loss("naive", point, draw)
    return naive + 1.0 + wrong if method == "propensity" and wrong else naive


def noise(method: str, point: Point, draw: int) -> float:
    if method in ("production", "skyline"):
        return papers_loss(method, point, draw)
    place = (round(point.x * 100) * 31 + len(method) * 7 + draw * 3) % 1000
    sign = 1.0 if method == "naive" else -1.0
    return 11.0 + (draw - 2) * sign * (1.0 + point.x) + place / 1e6
