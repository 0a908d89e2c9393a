"""How often the gate of ``evaluate --gate`` errs, and what it lets through, on simulated logs.

Users of the position model with eta = 1, believed rightly, click on the training queries. Each log
judges rankers by IPS against production, which users saw: the skyline, production reversed, and
``CANDIDATES`` that are a little worse than production. The last ranker is, in each log, the best of
the ``CANDIDATES`` by its clicks; once as if it were the only one, once with their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import expected_ranks
from ultr_core.errors import InputError
from ultr_core.lab import Lab
from ultr_core.lab.logs import draws_for, user_model
from ultr_core.lab.world import LoggedQueries
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.own_data.deployment import PROMISE
from ultr_core.risk import estimate_differences, too_few_telling
from ultr_core.risk.intervals import upper_bound
from ultr_core.settings import Settings
from ultr_core.users import ClickLog

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CANDIDATES = 20
"""Rankers a little worse than production, of which the gate gets the best."""

CELLS = ((0.1, 500), (0.1, 1_350), (0.1, 25_500), (0.0, 5_000))
"""eps_minus and clicks of the logs."""

AT_MOST = "a little worse, at most"
"""Of the ``CANDIDATES``, the highest share."""

ON_AVERAGE = "a little worse, on average"
"""The mean over the ``CANDIDATES``."""

_TRIED = 200
"""Rankers near production, among which the ``CANDIDATES`` are found."""

_ROUNDING = 1e-9
"""Summed differences up to which a ranker is as good as production."""

ALONE, SHARED = (
    f"best of {CANDIDATES}, gated {how}" for how in ("as one", f"of {CANDIDATES} candidates")
)
"""The best of the ``CANDIDATES``: as if it were the only one, and with their number."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What users saw and click on, and rankers that may take its place.

    pi, presented [documents]: click probability and rank; propensity [documents] of that rank.
    differences [rankers, documents] of ranks from ``presented``; the last ``CANDIDATES`` are
    those to choose from, the others have ``names``.
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


class GateRow(NamedTuple):
    """One ranker: its expected difference, and shares of logs.

    misses: in which the gate's bound is below the expected difference. passed: in which the gate
    says deploy.
    """

    name: str
    truth: str
    misses: float
    passed: float


def drawn_log(
    rng: np.random.Generator,
    pi: FloatArray,
    presented: NDArray[np.int32],
    offsets: IntArray,
    draws: int,
) -> tuple[ClickLog, IntArray]:
    """A simulated log of the queries that were drawn, and their documents in the corpus."""
    drawn = np.bincount(rng.integers(offsets.size - 1, size=draws), minlength=offsets.size - 1)
    sizes = np.diff(offsets)
    documents = np.flatnonzero(np.repeat(drawn > 0, sizes))
    shown = np.repeat(drawn, sizes)[documents]
    log = ClickLog(
        np.arange(documents.size),
        presented[documents],
        shown,
        rng.binomial(shown, pi[documents]),
        draws,
        np.append(0, np.cumsum(sizes[drawn > 0])),
    )
    return log, documents


@one_blas_thread()
def gate_rows(shown: Shown, clicks: float, logs: int, seed: int) -> list[GateRow]:
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
        shared[number] = [upper_bound(one, PROMISE / CANDIDATES) for one in every]
    first = len(shown.names)
    rows = [
        GateRow(name, f"{truth[n]:+.2f}", _share(alone[:, n] < truth[n]), _share(alone[:, n] < 0))
        for n, name in enumerate(shown.names)
    ]
    near = slice(first, size)
    span = f"{truth[near].min():+.2f} to {truth[near].max():+.2f}"
    missed = (alone[:, near] < truth[near]).mean(axis=0)
    passed = (alone[:, near] < 0).mean(axis=0)
    rows += [
        GateRow(ON_AVERAGE, span, float(missed.mean()), float(passed.mean())),
        GateRow(AT_MOST, span, float(missed.max()), float(passed.max())),
    ]
    chosen = first + values[:, near].argmin(axis=1)
    for name, bounds in ((ALONE, alone), (SHARED, shared)):
        bound = bounds[np.arange(logs), chosen]
        missing = _share(bound < truth[chosen])
        rows.append(GateRow(name, span, missing, _share(bound < 0)))
    return rows


def _share(of: NDArray[np.bool_]) -> float:
    return float(np.mean(of))


def default_world(eps_minus: float, corpus_seed: int = 0) -> Shown:
    """Production of a built-in corpus on the training queries, and rankers near and far from it."""
    lab = Lab(Settings(eps_minus=eps_minus, corpus_seed=corpus_seed))
    return shown_to_users(lab, lab.world().train)


@one_blas_thread()
def shown_to_users(lab: Lab, queries: LoggedQueries) -> Shown:
    """What production shows on some queries, and rankers near it and far from it.

    Raises InputError if fewer than ``CANDIDATES`` of ``_TRIED`` rankers near it are worse.
    """
    world, corpus = lab.world(), queries.corpus
    relevance, presented, offsets = queries.shown
    users = user_model(lab.settings)
    pi = users.click_probability(relevance, presented)
    propensity = users.curve.at(presented)
    own = world.production.ranker.coefficients / np.linalg.norm(
        world.production.ranker.coefficients
    )

    def difference(w: FloatArray) -> FloatArray:
        return expected_ranks(corpus.features @ w, offsets) - presented

    rng = np.random.default_rng(0)
    near = [
        difference(own + size * rng.normal(size=own.size) / own.size**0.5)
        for size in np.linspace(0.05, 0.4, _TRIED)
    ]
    truth = [float(each @ (pi / propensity)) for each in near]
    worse = [near[n] for n in np.argsort(truth) if truth[n] > _ROUNDING][:CANDIDATES]
    if len(worse) < CANDIDATES:
        raise InputError(
            f"Only {len(worse)} of {_TRIED} rankers near production are worse than production; "
            f"{CANDIDATES} are needed, so choose a corpus with more queries."
        )
    far = [difference(world.skyline.coefficients), difference(-own)]
    return Shown(
        pi, presented, offsets, propensity, np.stack([*far, *worse]),
        ("skyline", "production reversed"),
    )  # fmt: skip
