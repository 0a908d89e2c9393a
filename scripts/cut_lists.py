"""How often verdicts and their intervals are correct if lists leave out candidates.

    python -m scripts.cut_lists --logs 300 --seed 1

Users of the position model with eta = 1 and noise 0.1, which the estimators know, click on
production's lists for the first queries of the default world. The lists leave out up to 8% of the
candidates, either because some presentations of every query end after half of them (varied), or
because all presentations of some queries do (fixed). Each log judges rankers against what users
saw, once by IPS on what was shown alone, and once as ``evaluate`` does. The truth is the expected
difference over all candidates, where candidates left out of a list have the mean of the ranks below
it. The results are in ``docs/intervals.md``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ultr_core.claims.gate_runs import default_world
from ultr_core.corpus.ranking import query_of_document
from ultr_core.own_data.agreement import shown_ranks
from ultr_core.own_data.evaluation import JUDGE, Judge, compare_with_shown, default_judge
from ultr_core.propensity import Belief
from ultr_core.risk import Estimate
from ultr_core.users import ClickLog, PowerLaw

FloatArray = NDArray[np.float64]

SHARES = (0.0, 0.01, 0.02, 0.04, 0.08)
CLICKS = (3_000, 30_000)
KINDS = ("varied", "fixed")
CURVE = PowerLaw(1.0)
NOISE = 0.1
QUERIES = 100


@dataclass(frozen=True, eq=False)
class World:
    """Lists, where they are cut, and rankers to judge.

    after_cut [documents]: whether a cut list of its query leaves it out; places [documents]: its
    rank in production's list; below [documents]: the mean of the ranks below a cut list.
    """

    pi: FloatArray
    places: FloatArray
    offsets: NDArray[np.int64]
    after_cut: NDArray[np.bool_]
    below: FloatArray
    rankers: dict[str, FloatArray]

    @property
    def query(self) -> NDArray[np.int64]:
        """The query of each document."""
        return query_of_document(self.offsets)


def world() -> World:
    """The first queries of the default world, with lists that may end after half of them."""
    shown = default_world(NOISE)
    offsets = shown.offsets[: QUERIES + 1]
    places = shown.presented[: offsets[-1]].astype(np.float64)
    sizes = np.diff(offsets)[query_of_document(offsets)]
    half = sizes // 2
    names = (*shown.names, "near production")
    rankers = {
        name: places + moved[: offsets[-1]]
        for name, moved in zip(names, shown.differences, strict=False)
        if name != "production reversed"
    }
    return World(
        shown.pi[: offsets[-1]], places, offsets, places > half, (half + 1 + sizes) / 2.0, rankers
    )


def cut_chances(of: World, kind: str, share: float) -> FloatArray:
    """Probability that a presentation is cut, float64 [queries]; ``share`` of all is left out."""
    queries = of.offsets.size - 1
    if kind == "varied":
        return np.full(queries, share * of.after_cut.size / of.after_cut.sum())
    lost = np.bincount(of.query, of.after_cut, queries)
    order = np.random.default_rng(0).permutation(queries)
    cut = order[np.cumsum(lost[order]) <= share * of.after_cut.size]
    return np.isin(np.arange(queries), cut).astype(np.float64)


def truths(of: World, chances: FloatArray) -> dict[str, float]:
    """Expected difference of each ranker from what users saw."""
    chance = chances[of.query] * of.after_cut
    seen = (1.0 - chance) * of.places + chance * of.below
    relevance = of.pi * of.places
    queries = of.offsets.size - 1
    return {name: float(relevance @ (ranks - seen)) / queries for name, ranks in of.rankers.items()}


def simulated(of: World, chances: FloatArray, draws: int, rng: np.random.Generator) -> ClickLog:
    """A log of this many presentations."""
    queries = of.offsets.size - 1
    drawn = np.bincount(rng.integers(queries, size=draws), minlength=queries)
    whole = rng.binomial(drawn, 1.0 - chances)
    shown = np.where(of.after_cut, whole[of.query], drawn[of.query])
    rows = np.flatnonzero(shown)
    return ClickLog(
        rows, of.places[rows].astype(np.int64), shown[rows], rng.binomial(shown, of.pi)[rows],
        draws, of.offsets, drawn, whole_lists=False,
    )  # fmt: skip


class Row(NamedTuple):
    """Answers of one judge on one ranker, as shares of logs.

    shown: with an interval that is not withheld. held: of these, the share that contains the truth.
    width: their mean width. told: with a verdict on which is better. wrong: with the wrong verdict.
    """

    shown: float
    held: float
    width: float
    told: float
    wrong: float

    def __str__(self) -> str:
        if not self.shown:
            return "0% | — | — | — | —"
        return (
            f"{self.shown:.0%} | {self.held:.3f} | {self.width:.2f} | {self.told:.0%} "
            f"| {self.wrong:.1%}"
        )


def rows(
    of: World, kind: str, share: float, clicks: int, logs: int, seed: int
) -> dict[str, tuple[float, Row, Row]]:
    """By ranker: the truth, what IPS says from what was shown alone, and what `evaluate` says."""
    chances = cut_chances(of, kind, share)
    truth = truths(of, chances)
    seen = of.pi @ (1.0 - chances[of.query] * of.after_cut)
    draws = round(clicks * (of.offsets.size - 1) / float(seen))
    rng = np.random.default_rng([seed, KINDS.index(kind), round(1000 * share), clicks])
    alone: dict[str, list[Estimate]] = {name: [] for name in of.rankers}
    told: dict[str, list[Estimate]] = {name: [] for name in of.rankers}
    ips = Judge(JUDGE, Belief(CURVE))
    for _ in range(logs):
        log = simulated(of, chances, draws, rng)
        judge = default_judge(log, CURVE)
        for name, ranks in of.rankers.items():
            alone[name].append(ips.difference(log, ranks - shown_ranks(log)))
            found = compare_with_shown(log, -ranks, CURVE, name=name, judge=judge)
            if found.whole is not None and not found.withheld:
                told[name].append(found.whole)
    return {
        name: (value, _row(value, alone[name], logs), _row(value, told[name], logs))
        for name, value in truth.items()
    }


def _row(truth: float, every: list[Estimate], logs: int) -> Row:
    ends = np.array([(each.low, each.high) for each in every if not each.no_interval])
    if not ends.size:
        return Row(0.0, *[float("nan")] * 4)
    low, high = ends.T
    sides = (low > 0).astype(int) - (high < 0)
    return Row(
        len(ends) / logs, float(np.mean((low <= truth) & (truth <= high))),
        float(np.mean(high - low)), np.count_nonzero(sides) / logs,
        np.count_nonzero(sides * truth < 0) / logs,
    )  # fmt: skip


def main() -> None:
    """Print lines of a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    of = world()
    for kind, share, clicks in product(KINDS, SHARES, CLICKS):
        found = rows(of, kind, share, clicks, given.logs, given.seed)
        for name, (truth, alone, told) in found.items():
            print(
                f"| {kind}, {share:.0%}, {clicks:,} | {name} | {truth:+.2f} | {alone.held:.3f} "
                f"| {alone.wrong:.1%} | {told} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
