"""How often 95% intervals of hindsight estimates contain the truth, with λ from the log or given.

    python -m scripts.leaving_intervals --continuation 0.6 --eta 1 --draws 5000 --logs 300

World: 200 lists of eight documents, a quarter of them relevant, clicked with probability 0.9 or 0.1
when examined, p_r = (1 / r)^η. The truth is what users who never leave would give. Intervals leave
out one of 100 groups of presentations. With --given, λ is known.
"""

from __future__ import annotations

import argparse

import numpy as np

from ultr_core.own_data.continued import Continued
from ultr_core.propensity import ESTIMATORS, Belief, estimate_continuation
from ultr_core.risk import difference_by, estimate_by
from ultr_core.users import ClickLog, GroupCounts, GroupedLog, PowerLaw

QUERIES, SIZE, GROUPS = 200, 8, 100
_SEED = 7


def world() -> tuple[np.ndarray, np.ndarray]:
    """Click probabilities when examined [queries, ranks], and a ranker's ranks [documents]."""
    rng = np.random.default_rng(1)
    relevant = rng.random((QUERIES, SIZE)) < 0.25
    relevant = np.array([r[np.argsort(-(r + rng.normal(0, 1.2, SIZE)))] for r in relevant])
    noisy = [-(r + rng.normal(0, 0.8, SIZE)) for r in relevant]
    judged = np.array([1 + np.argsort(np.argsort(scores)) for scores in noisy]).ravel()
    return np.where(relevant, 0.9, 0.1), judged.astype(np.float64)


def simulated(
    clicked: np.ndarray, examined: np.ndarray, stay: float, draws: int, seed: int
) -> GroupedLog:
    """A log of so many presentations, by clicks above and group."""
    rng = np.random.default_rng([_SEED, seed, draws])
    query = rng.integers(QUERIES, size=draws)
    there, above = np.ones(draws, bool), np.zeros(draws, np.int64)
    group = rng.integers(GROUPS, size=draws)
    keys, clicks = [], []
    for k in range(SIZE):
        click = there & (rng.random(draws) < clicked[query, k] * examined[k])
        keys.append(((query * SIZE + k) * SIZE + above) * GROUPS + group)
        clicks.append(click)
        above = above + click
        there &= ~click | (rng.random(draws) < stay)
    cells, place = np.unique(np.concatenate(keys), return_inverse=True)
    shown = np.bincount(place)
    hits = np.bincount(place, np.concatenate(clicks)).astype(np.int64)
    row, of_group = np.divmod(cells, GROUPS)
    rows, of = np.unique(row, return_inverse=True)
    document, context = np.divmod(rows, SIZE)
    log = ClickLog(
        document, document % SIZE + 1, np.bincount(of, shown).astype(np.int64),
        np.bincount(of, hits).astype(np.int64), draws, np.arange(0, QUERIES * SIZE + 1, SIZE),
        np.bincount(query, minlength=QUERIES), context,
    )  # fmt: skip
    drawn = np.bincount(group, minlength=GROUPS).astype(np.float64)
    return GroupedLog(log, GroupCounts(of, of_group, shown, hits, drawn, of="presentation"))


def main() -> None:
    """Simulate, and print how many intervals contain the truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--continuation", type=float, default=0.6)
    parser.add_argument("--eta", type=float, default=1.0)
    parser.add_argument("--draws", type=int, default=5_000)
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--given", action="store_true")
    asked = parser.parse_args()
    (clicked, judged), curve = world(), PowerLaw(asked.eta)
    shown = np.tile(np.arange(1.0, SIZE + 1), QUERIES)
    places = {"risk": judged, "difference": judged - shown}
    ask = {"risk": estimate_by, "difference": difference_by}
    held, made = dict.fromkeys(places, 0), dict.fromkeys(places, 0)
    for seed in range(asked.logs):
        examined = curve.at(np.arange(1, SIZE + 1))
        log = simulated(clicked, examined, asked.continuation, asked.draws, seed)
        stay, again = asked.continuation, None
        if not asked.given:
            stay, again = estimate_continuation(log).probability, Continued.of(log, curve)
        belief = Belief(curve, continuation=stay)
        for what, ranks in places.items():
            found = ask[what](ESTIMATORS["hindsight"], log, ranks, belief)
            found = found if again is None else again.interval(found, ranks)
            if not found.no_interval:
                truth = float(clicked.ravel() @ ranks) / QUERIES
                made[what] += 1
                held[what] += found.low <= truth <= found.high
    for what in places:
        print(f"{what}: {held[what]} of {made[what]} intervals, {asked.logs} logs")


if __name__ == "__main__":
    main()
