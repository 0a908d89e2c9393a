"""What takes too long to measure on a page: made by one command, shipped as data, read here.

    python -m ultr_core.claims.long_runs OUT.json

All on synthetic corpora of the built-in size, one row a run: the live experiment of section 7.6 at
the paper's clicks and at more (``live``) and with other smoothing (``smoothing``), the weighted
ranker as clicks grow (``growing``) and without end (``endless``), clipping at fixed thresholds
(``clipping``, section 7.5), how often the gate of ``evaluate --gate`` errs (``gate``), and trees on
weighted clicks (``trees``, which need LightGBM).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ultr_core.claims import gate_runs
from ultr_core.corpus.ranking import rank_many
from ultr_core.lab import METHODS, Lab, Store
from ultr_core.lab.live import PAPER_CLICKS, LiveDesign
from ultr_core.lab.logs import assumed_curve
from ultr_core.lab.methods import ClickData
from ultr_core.lab.training import select
from ultr_core.lab.world import LoggedQueries, test_risk
from ultr_core.learners import COST_GRID
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.ranker import fit_path, score_many
from ultr_core.propensity import Belief, Weights
from ultr_core.settings import Settings

NAME = "long_runs.json"

CORPORA = tuple(range(10))
SEEDS = tuple(range(5))
LIVE_CLICKS = (PAPER_CLICKS, 45_000, 170_000, 850_000)
GROWING_CLICKS = (17_000, 170_000, 1_700_000, 5_000_000)
NOISES = (0.0, 0.1)
EXACT = 1e-5
"""Relative duality gap of the fits on expected clicks."""

CLIPPING_CLICKS = (1_000, 17_000, 170_000)
ASSUMED_ETAS = (0.75, 1.0, 1.25, 1.5)
THRESHOLDS = (0.03, 0.1, 0.3)
CLIPPING_DRAWS = tuple(range(12))

SMOOTHINGS = (0.0, 0.5)
"""Weights of the overall click rates that are compared: none, and half."""

GATE_LOGS = 3_000

TREE_CLICKS = (5_000, 45_000)

Row = dict[str, float]


def _labs() -> Iterator[Lab]:
    """One lab a corpus, with a store of its own."""
    for corpus in CORPORA:
        yield Lab(Settings(corpus_seed=corpus), store=Store(otherwise=4))


def live_rows() -> Iterator[Row]:
    """Wins, losses and ties of every contest, by corpus, seed and clicks."""
    for lab in _labs():
        for seed in SEEDS:
            for clicks in LIVE_CLICKS:
                found = lab.at(lab.settings.with_values(seed=seed, clicks=clicks)).live()
                row: Row = {"corpus": lab.settings.corpus_seed, "seed": seed, "clicks": clicks}
                for contest in found.contests:
                    test = contest.test
                    row |= {
                        f"{contest.opponent}_wins": test.wins,
                        f"{contest.opponent}_losses": test.losses,
                        f"{contest.opponent}_ties": test.ties,
                    }
                yield row


def smoothing_rows() -> Iterator[Row]:
    """Smallest propensity and test risk by corpus and seed, for each weight of the click rates."""
    for lab in _labs():
        for seed in SEEDS:
            at = lab.at(lab.settings.with_values(seed=seed, clicks=PAPER_CLICKS))
            row: Row = {"corpus": lab.settings.corpus_seed, "seed": seed, "clicks": PAPER_CLICKS}
            for weight in SMOOTHINGS:
                found = at.live(LiveDesign(smoothing=weight, interleaved=1))
                row[f"smallest {weight:g}"] = found.curve.values[-1]
                row[f"risk {weight:g}"] = found.test_risk["propensity"]
            yield row


def _expected(queries: LoggedQueries, lab: Lab, weighted: bool) -> Weights:
    """Weights of endless clicks: P(c = 1) / q of every document, q = 1 for the naive learner."""
    chance = lab.users.click_probability(queries.relevance, queries.presented_ranks)
    q = lab.users.curve.at(queries.presented_ranks) if weighted else np.ones_like(chance)
    return Weights(chance / q, float(chance.sum()))


def _endless(lab: Lab, weighted: bool) -> float:
    """Test risk of the ranker that endless clicks train, C chosen on endless validation clicks."""
    world = lab.world()
    train, held_out = (_expected(part, lab, weighted) for part in (world.train, world.validation))
    path = fit_path(world.splits.train, train, COST_GRID, tolerance=EXACT)
    validation = world.splits.validation
    ranks = rank_many(score_many(path, validation), validation.query_offsets)
    estimates = ranks @ held_out.values
    return test_risk(world, path[int(np.argmin(estimates))]).risk


def growing_rows() -> Iterator[Row]:
    """Test risk of the weighted ranker by corpus, noise and clicks, beside the two levels."""
    for lab in _noisy_labs():
        for clicks in GROWING_CLICKS:
            at = lab.at(lab.settings.with_values(clicks=clicks))
            risk = at.trained(0, "propensity").test.risk
            yield {**_where(lab), "clicks": clicks, "weighted": risk, **_levels(lab)}


def endless_rows() -> Iterator[Row]:
    """Test risks after endless clicks, by corpus and noise, beside the two levels."""
    for lab in _noisy_labs():
        risks = {name: _endless(lab, name == "weighted") for name in ("weighted", "naive")}
        yield {**_where(lab), **risks, **_levels(lab)}


def _noisy_labs() -> Iterator[Lab]:
    for lab in _labs():
        for noise in NOISES:
            yield lab.at(lab.settings.with_values(eps_minus=noise))


def _where(lab: Lab) -> Row:
    return {"corpus": lab.settings.corpus_seed, "eps_minus": lab.settings.eps_minus}


def _levels(lab: Lab) -> Row:
    return {name: found.risk for name, found in lab.world().baselines.items()}


def clipping_rows() -> Iterator[Row]:
    """Test risk by draw, clicks and believed exponent: unclipped, and clipped at each threshold."""
    base = Lab(store=Store(otherwise=2))
    for clicks in CLIPPING_CLICKS:
        for assumed in ASSUMED_ETAS:
            lab = base.at(base.settings.with_values(clicks=clicks, assumed_eta=assumed))
            for draw in CLIPPING_DRAWS:
                row: Row = {"clicks": clicks, "assumed_eta": assumed, "draw": draw}
                row["0"] = lab.trained(draw, "propensity").test.risk
                row |= {f"{clip:g}": _clipped(lab, draw, clip) for clip in THRESHOLDS}
                yield row


def _clipped(lab: Lab, draw: int, clip: float) -> float:
    """Test risk of the ranker clipped at this threshold; C is chosen as for the unclipped one."""
    world, logs = lab.world(), lab.logs(draw)
    data = ClickData(
        world.splits.train, logs.train, world.splits.validation, logs.validation,
        Belief(assumed_curve(lab.settings)),
    )  # fmt: skip
    return test_risk(world, select(METHODS["clipped"], data, clips=(clip,)).ranker).risk


def gate_rows() -> Iterator[Row]:
    """Shares of logs in which the gate errs, by noise and clicks, for several rankers."""
    worlds = {eps: gate_runs.default_world(eps) for eps, _ in gate_runs.CELLS}
    for eps, clicks in gate_runs.CELLS:
        row: Row = {"eps_minus": eps, "clicks": clicks, "logs": GATE_LOGS}
        for found in gate_runs.gate_rows(worlds[eps], clicks, GATE_LOGS, seed=1):
            row |= {f"missed, {found.name}": found.misses, f"passed, {found.name}": found.passed}
        yield row


def tree_rows() -> Iterator[Row]:
    """Test risks of trees on weighted clicks and of linear rankers, by corpus and clicks."""
    for lab in _labs():
        for clicks in TREE_CLICKS:
            at = lab.at(lab.settings.with_values(clicks=clicks))
            row: Row = {"corpus": lab.settings.corpus_seed, "clicks": clicks}
            for name, method in (("trees", "propensity-trees"), ("clipped", "clipped")):
                row[name] = at.trained(0, method).test.risk
            yield row | _levels(lab)


@dataclass(frozen=True)
class LongRuns:
    """The experiments as shipped, with the command and the day that made them.

    tables: rows by name, those of ``MAKERS``.
    """

    command: str
    made: str
    tables: Mapping[str, tuple[Row, ...]]

    @property
    def source(self) -> str:
        """Which run the numbers come from, in a sentence."""
        return f"Precomputed result from {self.made}, made by `{self.command}`."


@lru_cache(maxsize=1)
def shipped_runs() -> LongRuns:
    """What is shipped with the code."""
    found = json.loads(resources.files(__package__).joinpath(NAME).read_text("utf-8"))
    tables = {
        name: tuple(dict(zip(table["columns"], row, strict=True)) for row in table["rows"])
        for name, table in found["tables"].items()
    }
    return LongRuns(found["command"], found["made"], tables)


MAKERS: Mapping[str, Callable[[], Iterator[Row]]] = MappingProxyType(
    {
        "live": live_rows,
        "smoothing": smoothing_rows,
        "growing": growing_rows,
        "endless": endless_rows,
        "clipping": clipping_rows,
        "gate": gate_rows,
        "trees": tree_rows,
    }
)


@one_blas_thread()
def make_runs() -> dict[str, Any]:
    """Run all; about ten minutes on one core."""
    tables = {}
    for name, make in MAKERS.items():
        rows = list(make())
        tables[name] = {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows]}
    return {
        "command": "python -m ultr_core.claims.long_runs OUT.json",
        "made": date.today().isoformat(),
        "tables": tables,
    }


if __name__ == "__main__":
    text = json.dumps(make_runs(), separators=(",", ":")).replace("],[", "],\n[")
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
