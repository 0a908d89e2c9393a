"""How often the gate of ``evaluate --gate`` errs, and what it lets through, in the default world.

    python -m scripts.gate_promise --logs 1000 --seed 1

Users of the position model with eta = 1, believed rightly, click on the training queries. Each log
judges rankers by IPS against production, which users saw: the skyline, production turned round, and
``NEAR`` that are a little worse than production. *Misses*: share of logs in which the gate's bound
is below the exact difference in expected risk. *Passed*: share of logs in which the gate says
deploy. The last ranker is, in each log, the best by its clicks of the ``NEAR``; once as if it were
the only one, once with the number of candidates. What it measured is in ``docs/intervals.md``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scripts.risk_intervals import drawn_log
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.lab import Lab
from ultr_core.lab.logs import draws_for, user_model
from ultr_core.own_data.deployment import PROMISE
from ultr_core.risk import estimate_differences, too_few_telling
from ultr_core.risk.intervals import upper_bound
from ultr_core.settings import Settings
from ultr_core.users import PowerLaw

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEAR = 20
CELLS = ((0.1, 500), (0.1, 1_350), (0.1, 25_500), (0.0, 5_000))
"""eps_minus and clicks."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What users saw and click on, and rankers that may take its place.

    pi, presented [documents]: click probability and rank; propensity [documents] of that rank.
    differences [rankers, documents] of ranks from ``presented``; the last ``NEAR`` are candidates
    to choose from, the others have ``names``.
    """

    pi: FloatArray
    presented: NDArray[np.int32]
    offsets: IntArray
    propensity: FloatArray
    differences: FloatArray
    names: tuple[str, ...]

    @property
    def truth(self) -> FloatArray:
        """Expected difference of each ranker, float64 [rankers]."""
        each: FloatArray = self.differences @ (self.pi / self.propensity) / (self.offsets.size - 1)
        return each


class Row(NamedTuple):
    """One ranker: its expected difference, and shares of logs."""

    name: str
    truth: str
    misses: float
    passed: float


def measured(shown: Shown, clicks: float, logs: int, seed: int) -> list[Row]:
    """What the gate does in logs of this many clicks."""
    rng = np.random.default_rng([seed, round(clicks)])
    draws = draws_for(clicks, shown.pi, shown.offsets)
    truth, size = shown.truth, len(shown.differences)
    values, alone, shared = np.empty((3, logs, size))
    for number in range(logs):
        log, documents = drawn_log(rng, shown.pi, shown.presented, shown.offsets, draws)
        places = shown.differences[:, documents]
        propensity = shown.propensity[documents]
        found = estimate_differences(log, places, propensity)
        values[number] = found.value
        every = [
            found.estimate(n).without_interval(too_few_telling(log, propensity, place))
            for n, place in enumerate(places)
        ]
        alone[number] = [upper_bound(one, PROMISE) for one in every]
        shared[number] = [upper_bound(one, PROMISE / NEAR) for one in every]
    first = len(shown.names)
    rows = [
        Row(name, f"{truth[n]:+.2f}", _share(alone[:, n] < truth[n]), _share(alone[:, n] < 0))
        for n, name in enumerate(shown.names)
    ]
    near = slice(first, size)
    span = f"{truth[near].min():+.2f} to {truth[near].max():+.2f}"
    missed = (alone[:, near] < truth[near]).mean(axis=0)
    passed = (alone[:, near] < 0).mean(axis=0)
    rows += [
        Row("a little worse, on average", span, float(missed.mean()), float(passed.mean())),
        Row("a little worse, at most", span, float(missed.max()), float(passed.max())),
    ]
    chosen = first + values[:, near].argmin(axis=1)
    for name, bounds in (("as one", alone), (f"of {NEAR} candidates", shared)):
        bound = bounds[np.arange(logs), chosen]
        missing = _share(bound < truth[chosen])
        rows.append(Row(f"best of {NEAR}, gated {name}", span, missing, _share(bound < 0)))
    return rows


def _share(of: NDArray[np.bool_]) -> float:
    return float(np.mean(of))


def default_world(eps_minus: float) -> Shown:
    """Production of the default world, and rankers near it and far from it."""
    lab = Lab(Settings(eps_minus=eps_minus))
    world, corpus = lab.world(), lab.world().splits.train
    relevance, presented, offsets = world.train.shown
    pi = user_model(lab.settings).click_probability(relevance, presented)
    propensity = PowerLaw(1.0).at(presented)
    own = world.production.ranker.coefficients / np.linalg.norm(
        world.production.ranker.coefficients
    )

    def difference(w: FloatArray) -> FloatArray:
        return expected_ranks(corpus.features @ w, offsets) - presented

    rng = np.random.default_rng(0)
    near = [
        difference(own + size * rng.normal(size=own.size) / own.size**0.5)
        for size in np.linspace(0.05, 0.4, 200)
    ]
    truth = [float(each @ (pi / propensity)) for each in near]
    worse = [near[n] for n in np.argsort(truth) if truth[n] > 0][:NEAR]
    far = [difference(world.skyline.coefficients), difference(-own)]
    return Shown(
        pi, presented, offsets, propensity, np.stack([*far, *worse]),
        ("skyline", "production turned round"),
    )  # fmt: skip


def main() -> None:
    """Print lines of a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worlds = {eps: default_world(eps) for eps in dict.fromkeys(eps for eps, _ in CELLS)}
    for eps, clicks in CELLS:
        for row in measured(worlds[eps], clicks, given.logs, given.seed):
            print(
                f"| ε₋ = {eps:g}, {clicks:,} | {row.name} | {row.truth} | {row.misses:.1%} "
                f"| {row.passed:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
