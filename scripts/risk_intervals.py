"""How often 95% intervals of estimated risks contain their target, in the default world.

    python -m scripts.risk_intervals --logs 2000 --seed 1

Users of the position model, (1/r)^eta with correct propensities, click on the training queries.
Each log gives, by every estimator, an interval for the risk of the skyline, for that of the
production ranker, and for their difference; the truth is the exact expectation (for SNIPS, the
ratio of two). The rows say how many logs had an interval, what share of these contained the truth
(next to the normal intervals of the same logs), and how many times as wide as the normal intervals
they were on average.
``--sessions`` does the same with the sessions of ``scripts/session_intervals.py`` and logs that are
grouped by them. ``--lists LOGGER`` has lists of ten from a logger in the registry, and policy-aware
estimates with the exposure of the log itself; the intervals are then for the mean estimate over all
logs. The results are in ``docs/intervals.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scripts.session_intervals import CURVE, FIRST, LIKED, SECOND, corpus, simulated
from ultr_core.claims.gate_runs import drawn_log
from ultr_core.inspection import join_log
from ultr_core.lab import Lab
from ultr_core.lab.logs import belief_about, draws_for, simulate_training_log, user_model
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.risk import (
    Estimate,
    difference_by,
    estimate_by,
    estimate_difference,
    estimate_mean_rank,
    estimate_risks,
)
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.risk.moments import expected_contribution
from ultr_core.settings import Settings
from ultr_core.users import LOGGERS, PowerLaw, TableCurve

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
RankArray = NDArray[np.int32]

BY_CURVE = {key: each for key, each in ESTIMATORS.items() if each.beside_others}
CLIP = 0.1
CELLS = tuple((1.0, eps, clicks) for clicks in (250, 500, 1_000, 5_000) for eps in (0.0, 0.1))
OTHERS = ((0.0, 0.0, 1_000), (0.5, 0.1, 500), (1.5, 0.0, 3_000), (1.5, 0.1, 3_000))
"""eta, eps_minus and clicks: the default world, and others just above the fewest clicks."""

SESSIONS = (250, 500, 2_000)


class Case(NamedTuple):
    """An interval of one log: its kind, the estimate, and what the interval is for."""

    kind: str
    found: Estimate
    truth: float


class Row(NamedTuple):
    """Intervals of one kind: logs, share with an interval; of those, coverage and mean width."""

    kind: str
    logs: int
    shown: float
    held: float
    normal: float
    width: float


def cases(eta: float, eps_minus: float, clicks: int, logs: int, seed: int) -> Iterator[Case]:
    """All intervals of one cell, log after log."""
    lab = Lab(Settings(eta=eta, assumed_eta=eta, eps_minus=eps_minus))
    world, family = lab.world(), lab.family()
    relevance, presented, offsets = world.train.shown
    pi = user_model(lab.settings).click_probability(relevance, presented)
    draws, belief = draws_for(clicks, pi, offsets), Belief(PowerLaw(eta), CLIP)
    kinds = ("skyline", "production")
    ranks = np.stack([family.ranks[family.kinds.index(kind)] for kind in kinds]).astype(np.float64)
    judged = np.vstack([ranks, ranks[0] - ranks[1], np.ones(pi.size)])
    truth = {
        key: judged @ expected_contribution(pi, each.numbers(world.train.presentation, belief))
        / (offsets.size - 1)
        for key, each in BY_CURVE.items()
    }  # fmt: skip
    rng = np.random.default_rng([seed, round(100 * eta), round(100 * eps_minus), clicks])
    for _ in range(logs):
        log, documents = drawn_log(rng, pi, presented, offsets, draws)
        of_log = judged[:, documents]
        for key, each in BY_CURVE.items():
            sky, production, margin, total = truth[key].tolist()
            numbers = each.weigh(log, belief)
            if each.normalised:
                found = estimate_mean_rank(log, of_log[0], numbers)
                yield Case(f"{each.label}, skyline", found, sky / total)
                continue
            risks = estimate_risks(log, of_log[:2], numbers)
            yield Case(f"{each.label}, skyline", risks.estimate(0), sky)
            yield Case(f"{each.label}, production", risks.estimate(1), production)
            difference = estimate_difference(log, of_log[2], numbers)
            yield Case(f"{each.label}, difference", difference, margin)


def session_cases(clicks: int, logs: int, *, strong: bool) -> Iterator[Case]:
    """Intervals of the logs of ``scripts/session_intervals.py``, by group of sessions."""
    of, belief = corpus(), Belief(TableCurve(tuple(CURVE)))
    risk = float((FIRST * LIKED).sum()) / len(LIKED)
    margin = float(((FIRST - SECOND) * LIKED).sum()) / len(LIKED)
    mean = float((FIRST * LIKED).sum() / LIKED.sum())
    for seed in range(logs):
        log = join_log(simulated(seed, clicks, strong=strong), of).clicks
        ips, snips = ESTIMATORS["ips"], ESTIMATORS["snips"]
        yield Case("IPS, risk", estimate_by(ips, log, FIRST.ravel(), belief), risk)
        differences = (FIRST - SECOND).ravel()
        yield Case("IPS, difference", difference_by(ips, log, differences, belief), margin)
        yield Case("SNIPS", estimate_by(snips, log, FIRST.ravel(), belief), mean)


def list_cases(logger: str, clicks: int, logs: int, seed: int) -> Iterator[Case]:
    """Policy-aware intervals of logs of varied lists of ten, for the mean estimate of all logs."""
    settings = Settings(logger=logger, shown=10, clicks=clicks, seed=seed)
    lab = Lab(Settings())
    world, family = lab.world(), lab.family()
    first, second = (
        family.ranks[family.kinds.index(kind)].astype(np.float64)
        for kind in ("skyline", "production")
    )
    judged = {"skyline": first, "production": second, "difference": first - second}
    belief, estimator = belief_about(settings), ESTIMATORS["policy-aware"]
    found: dict[str, list[Estimate]] = {kind: [] for kind in judged}
    for draw in range(logs):
        log = simulate_training_log(world, settings, draw)
        for kind, ranks in judged.items():
            by = difference_by if kind == "difference" else estimate_by
            found[kind].append(by(estimator, log, ranks, belief))
    for kind, every in found.items():
        mean = float(np.mean([estimate.value for estimate in every]))
        for estimate in every:
            yield Case(f"{estimator.label}, {kind}", estimate, mean)


def table(found: Iterator[Case]) -> list[Row]:
    """Coverage of the intervals, by kind."""
    by_kind: dict[str, list[Case]] = {}
    for case in found:
        by_kind.setdefault(case.kind, []).append(case)
    return [_row(kind, every) for kind, every in by_kind.items()]


def _row(kind: str, every: list[Case]) -> Row:
    shown = [case for case in every if not case.found.no_interval]
    reach = [NORMAL_QUANTILE * case.found.standard_error for case in every]
    normal = [abs(c.found.value - c.truth) <= r for c, r in zip(every, reach, strict=True)]
    if not shown:
        return Row(kind, len(every), 0.0, float("nan"), float(np.mean(normal)), float("nan"))
    held = [case.found.low <= case.truth <= case.found.high for case in shown]
    widths = sum(case.found.high - case.found.low for case in shown)
    normal_widths = sum(2.0 * NORMAL_QUANTILE * case.found.standard_error for case in shown)
    return Row(
        kind, len(every), len(shown) / len(every), float(np.mean(held)), float(np.mean(normal)),
        widths / normal_widths,
    )  # fmt: skip


def show(title: str, rows: list[Row]) -> None:
    """Print the rows of one cell as lines of a Markdown table."""
    for row in rows:
        held, width = ("—", "—") if not row.shown else (f"{row.held:.3f}", f"{row.width:.2f}")
        print(
            f"| {title} | {row.kind} | {row.logs:,} | {row.shown:.0%} | {held} "
            f"| {row.normal:.3f} | {width} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("--lists", choices=[key for key, one in LOGGERS.items() if not one.fixed])
    parser.add_argument("--clicks", type=int, default=1_000, help="clicks of each log with --lists")
    given = parser.parse_args()
    if given.lists:
        title = f"{LOGGERS[given.lists].label}, {given.clicks:,}"
        show(title, table(list_cases(given.lists, given.clicks, given.logs, given.seed)))
        return
    if given.sessions:
        for strong in (True, False):
            for clicks in SESSIONS:
                title = f"{'strong' if strong else 'no'} sessions, {clicks:,}"
                show(title, table(session_cases(clicks, given.logs, strong=strong)))
        return
    for eta, eps_minus, clicks in OTHERS if given.others else CELLS:
        title = f"η = {eta:g}, ε₋ = {eps_minus:g}, {clicks:,}"
        show(title, table(cases(eta, eps_minus, clicks, given.logs, given.seed)))


if __name__ == "__main__":
    main()
