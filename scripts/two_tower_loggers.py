"""Two-tower models and IPS, trained on lists from a random ranker, production or the skyline.

    python -m scripts.two_tower_loggers --clicks 170000 --draws 3 --corpus-seed 0

Users are those of the default settings, and each query has one fixed list in each log: a random
order, drawn anew for each log, or the order of the ranker. IPS knows the true examination curve.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ultr_core.corpus.ranking import rank_documents
from ultr_core.lab import build_world, train_method
from ultr_core.lab.world import World
from ultr_core.risk import interval_over_draws, plus_minus
from ultr_core.settings import Settings

LOGGERS = ("random", "production", "skyline")
METHODS = ("propensity", "one-tower", "two-towers-additive", "two-towers-product")


def scores_of(world: World, logger: str, draw: int) -> list[np.ndarray]:
    """The scores that order the lists of the training and of the validation queries."""
    parts = (world.splits.train, world.splits.validation)
    if logger == "random":
        return [
            np.random.default_rng([draw, number]).normal(size=part.n_documents)
            for number, part in enumerate(parts)
        ]
    ranker = {"production": world.production.ranker, "skyline": world.skyline}[logger]
    return [ranker.score(part) for part in parts]


def shown_by(world: World, scores: Sequence[np.ndarray]) -> World:
    """The world with lists in the order of these scores in place of production's."""
    train, validation = (
        replace(part, presented_ranks=rank_documents(by, part.corpus.query_offsets))
        for part, by in zip((world.train, world.validation), scores, strict=True)
    )
    return replace(world, train=train, validation=validation)


def risks(world: World, logger: str, clicks: int, draws: int) -> dict[str, list[float]]:
    """Test risk of each of ``METHODS`` in each log."""
    found: dict[str, list[float]] = {key: [] for key in METHODS}
    for draw in range(draws):
        shown = shown_by(world, scores_of(world, logger, draw))
        # The seed, not the number of the draw, so that a log is that of `compare --seed`.
        settings = Settings(clicks=clicks, seed=draw)
        for key in METHODS:
            found[key].append(train_method(shown, settings, 0, key).test.risk)
    return found


def main() -> None:
    """Print test risks with 95% intervals over logs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=170_000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--corpus-seed", type=int, default=0)
    asked = parser.parse_args()
    world = build_world(Settings(corpus_seed=asked.corpus_seed))
    print(f"| lists from | {' | '.join(METHODS)} |")
    for logger in LOGGERS:
        found = risks(world, logger, asked.clicks, asked.draws)
        means = [interval_over_draws(each) for each in found.values()]
        shown = [plus_minus(one.value, one.high - one.value) for one in means]
        print(f"| {logger} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
