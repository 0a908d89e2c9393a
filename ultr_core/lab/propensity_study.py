"""Where propensities come from, and what they cost: all estimators on the same traffic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from ultr_core.corpus.ranking import rank_documents, whole_or_none
from ultr_core.errors import InputError
from ultr_core.fields import Number, set_checked
from ultr_core.lab.logs import Logs
from ultr_core.lab.methods import METHODS, ClickData
from ultr_core.lab.production import train_production_ranker
from ultr_core.lab.training import select
from ultr_core.lab.world import TestRisk, World, test_risk
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    AssembledCurve,
    Belief,
    CurveOptions,
    PropensityEstimate,
    PropensityMethod,
    assemble_curve,
    displays_of_logs,
    sessions_needed,
    simulate_swaps,
    swap_cost,
    swap_limit,
)
from ultr_core.propensity.points import LANDMARK, LAST_RANK
from ultr_core.risk import true_risk
from ultr_core.settings import Settings
from ultr_core.users import ClickModel, ExaminationCurve, PowerLaw, simulate_counts
from ultr_core.users.query_draws import MOST_SESSIONS

FloatArray = NDArray[np.float64]

_STREAM = 53
_SECOND_RANKER = 1_000
# Streams of traffic; those between belong to the `Randomised` of the methods.
_SWAPS, _LOGS = 0, 3


SESSIONS = Number("sessions", "Traffic", 1, MOST_SESSIONS, default=50_000)
"""Presentations that an experiment is given."""


@dataclass(frozen=True)
class SwapDesign:
    """A propensity experiment: landmark k, last rank K, presentations, and how to finish the curve.

    bootstrap: percentile intervals for the swaps instead of the delta method. Raises InputError
    for a design that cannot be run.
    """

    landmark: int = int(LANDMARK.default)
    last_rank: int = int(LAST_RANK.default)
    sessions: int = int(SESSIONS.default)
    bootstrap: bool = False
    options: CurveOptions = field(default_factory=CurveOptions)

    def __post_init__(self) -> None:
        """Check the design."""
        set_checked(self, (LAST_RANK, SESSIONS))
        set_checked(self, [replace(LANDMARK, high=self.last_rank, because=", the last rank")])


@dataclass(frozen=True, eq=False)
class MethodResult:
    """What one method said and what its traffic cost.

    estimate: ratios to the reference rank; None where the data allow none (``reason`` says why).
    curve: finished as the design asks, None likewise.
    cost_exact, cost_simulated: mean increase in the sum of ranks of relevant documents (equation
    2) of one presentation against the production ranking: expected, and as it happened.
    """

    key: str
    estimate: PropensityEstimate | None
    curve: AssembledCurve | None
    cost_exact: float
    cost_simulated: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class SecondRanker:
    """Another production ranker, for harvesting: its ranks [documents] and its extra risk."""

    ranks: NDArray[np.int32]
    extra_risk: float


@one_blas_thread()
def second_ranker(world: World, settings: Settings) -> SecondRanker:
    """A ranker as good as production, trained on another 1% of the queries.

    Two such rankers share the traffic when intervention harvesting has its data.
    """
    corpus = world.train.corpus
    other = train_production_ranker(
        corpus, world.relevant_grade, settings.corpus_seed + _SECOND_RANKER
    )
    ranks = rank_documents(other.ranker.score(corpus), corpus.query_offsets)
    relevance, offsets = world.train.relevance, corpus.query_offsets
    extra = true_risk(ranks, relevance, offsets) - true_risk(
        world.train.presented_ranks, relevance, offsets
    )
    return SecondRanker(ranks, extra)


@one_blas_thread()
def estimate_by(
    key: str,
    world: World,
    users: ClickModel,
    design: SwapDesign,
    second: SecondRanker,
    seed: int,
) -> MethodResult:
    """Give the design's presentations to one method and estimate the curve.

    ``key`` is one of ``PROPENSITY_METHODS``. Two rankers share the presentations half and half.
    Raises InputError for an unknown method; a method that finds nothing to compare gives a result
    without an estimate.
    """
    if key not in PROPENSITY_METHODS:
        raise InputError(f"{key!r} is not a method; choose from {', '.join(PROPENSITY_METHODS)}.")
    method = PROPENSITY_METHODS[key]
    swapped, randomised = method.from_swaps is not None, method.randomised is not None
    show = _swapped if swapped else _randomised if randomised else _logged
    shown = show(method, _Traffic(world, users, design, second, seed))
    try:
        estimate = shown.estimate()
        curve = assemble_curve(estimate, shown.options, click_rates=shown.rates)
    except InputError as error:
        return MethodResult(key, None, None, shown.exact, shown.simulated, str(error))
    return MethodResult(key, estimate, curve, shown.exact, shown.simulated)


class _Traffic(NamedTuple):
    """What a method is given to show: the arguments of `estimate_by`."""

    world: World
    users: ClickModel
    design: SwapDesign
    second: SecondRanker
    seed: int

    def stream(self, traffic: int, number: int = 0) -> SeedSequence:
        return SeedSequence(self.seed, spawn_key=(_STREAM, traffic, number))


class _Shown(NamedTuple):
    """Traffic of one method: what to estimate from it, and its cost as in `MethodResult`.

    options, rates: how ratios become a curve, and the click rates to smooth with.
    """

    estimate: Callable[[], PropensityEstimate]
    exact: float
    simulated: float
    options: CurveOptions
    rates: FloatArray | None = None


def _swapped(method: PropensityMethod, given: _Traffic) -> _Shown:
    shown, design = given.world.train.shown, given.design
    places = {"landmark": design.landmark, "last_rank": design.last_rank}
    counts = simulate_swaps(
        given.users, *shown, **places, sessions=design.sessions, seed=given.stream(_SWAPS)
    )
    bootstrap = given.seed if design.bootstrap else None
    assert method.from_swaps is not None
    return _Shown(
        partial(method.from_swaps, counts, bootstrap_seed=bootstrap),
        swap_cost(*shown, **places),
        counts.extra_rank_sum,
        design.options,
        counts.own_place.rates,
    )


def _randomised(method: PropensityMethod, given: _Traffic) -> _Shown:
    shown, design = given.world.train.shown, given.design
    traffic = method.randomised
    assert traffic is not None
    counts = traffic.simulate(
        given.users,
        *shown,
        last_rank=design.last_rank,
        sessions=design.sessions,
        seed=given.stream(traffic.stream),
    )
    return _Shown(
        partial(traffic.estimate, counts),
        traffic.cost(*shown, last_rank=design.last_rank),
        counts.extra_rank_sum,
        _without_smoothing(design.options),
    )


def _logged(method: PropensityMethod, given: _Traffic) -> _Shown:
    queries, design = given.world.train, given.design
    offsets = queries.corpus.query_offsets
    rankings = [queries.presented_ranks, given.second.ranks][: method.rankers]
    each = max(1, design.sessions // len(rankings))
    logs = [
        simulate_counts(
            given.users.click_probability(queries.relevance, ranks),
            ranks,
            offsets,
            each,
            given.stream(_LOGS, number),
        )
        for number, ranks in enumerate(rankings)
    ]
    extra = sum(
        float(log.impressions @ (queries.relevance * (log.rank - queries.presented_ranks)))
        for log in logs
    )
    assert method.from_displays is not None
    return _Shown(
        partial(
            method.from_displays,
            displays_of_logs(logs),
            last_rank=design.last_rank,
            reference=design.landmark,
        ),
        given.second.extra_risk / 2 if len(rankings) == 2 else 0.0,
        extra / (each * len(rankings)),
        _without_smoothing(design.options),
    )


@dataclass(frozen=True)
class Agreement:
    """How near an estimate comes to the truth.

    covered, intervals: ranks whose interval holds the true ratio, of those with an interval (the
    reference rank left out). error: root mean square of log(ratio / truth) over ranks with a ratio
    above 0, None without any.
    """

    covered: int
    intervals: int
    error: float | None


def agreement_with(estimate: PropensityEstimate, truth: FloatArray) -> Agreement:
    """Compare an estimate with true ratios to its reference rank, truth [K]."""
    covered = intervals = 0
    errors = []
    for point, true in zip(estimate.points, truth.tolist(), strict=True):
        if point.rank == estimate.reference or point.value is None:
            continue
        if point.low is not None and point.high is not None:
            intervals += 1
            covered += point.low <= true <= point.high
        if point.value > 0 and true > 0:
            errors.append(math.log(point.value / true) ** 2)
    error = math.sqrt(sum(errors) / len(errors)) if errors else None
    return Agreement(covered, intervals, error)


def true_ratios(curve: ExaminationCurve, design: SwapDesign) -> FloatArray:
    """True examination of ranks 1..K relative to the landmark, float64 [K]."""
    values = curve.at(np.arange(1, design.last_rank + 1))
    ratios: FloatArray = values / values[design.landmark - 1]
    return ratios


@one_blas_thread()
def swap_bias(world: World, users: ClickModel, design: SwapDesign) -> FloatArray:
    """What the swap estimate tends to with endless traffic in this world, float64 [K]."""
    return swap_limit(
        users, *world.train.shown, landmark=design.landmark, last_rank=design.last_rank
    )


def sessions_for_precision(
    world: World, users: ClickModel, design: SwapDesign, rank: int, precision: float
) -> int:
    """Presentations of the swap experiment until p_r / p_k is known to +- ``precision``.

    From the exact click rates of the landmark documents on the queries with a result at both ranks,
    scaled up by the share of queries that have none (see `sessions_needed`). Raises InputError for
    the landmark itself, a rank outside the range 1 to K or beyond every list.
    """
    if rank == design.landmark or not 1 <= (whole_or_none(rank) or 0) <= design.last_rank:
        raise InputError(
            f"Rank {rank} cannot be the rank of interest; choose a rank from 1 to "
            f"{design.last_rank} other than the landmark {design.landmark}."
        )
    queries = world.train
    sizes = queries.corpus.sizes
    usable = sizes >= max(rank, design.landmark)
    eligible = sizes >= design.landmark
    if not usable.any():
        raise InputError(f"No query has {rank} results, so rank {rank} cannot be measured.")
    landmark = queries.presented_ranks == design.landmark
    relevance = queries.relevance[landmark][usable[eligible]]
    place = np.ones(relevance.size, dtype=np.int64)
    at_rank = float(users.click_probability(relevance, rank * place).mean())
    in_place = float(users.click_probability(relevance, design.landmark * place).mean())
    needed = sessions_needed(at_rank, in_place, design.last_rank, precision)
    return math.ceil(needed * np.count_nonzero(eligible) / np.count_nonzero(usable))


@one_blas_thread()
def risks_with_curves(
    world: World, logs: Logs, curves: Mapping[str, ExaminationCurve | None]
) -> dict[str, TestRisk]:
    """Test risk of the ranker trained with each curve as its propensities; None means no weights.

    C is chosen for each on the validation clicks by its own estimate, as in Section 7.1.
    Raises InputError if a curve is 0 at a clicked rank.
    """
    risks = {}
    for name, curve in curves.items():
        method = METHODS["naive" if curve is None else "propensity"]
        belief = Belief(PowerLaw(0.0) if curve is None else curve)
        data = ClickData(
            world.splits.train, logs.train, world.splits.validation, logs.validation, belief
        )
        risks[name] = test_risk(world, select(method, data).ranker)
    return risks


def _without_smoothing(options: CurveOptions) -> CurveOptions:
    """Smoothing with click rates belongs to the swaps; the other curves stay unmixed."""
    return CurveOptions(ranks=options.ranks, fit=options.fit)


Row = dict[str, Any]


def table_rows(results: Mapping[str, MethodResult], truth: FloatArray) -> list[Row]:
    """One plain row for each method: label, error, coverage, cost, assumption, for tables."""
    rows = []
    for key, result in results.items():
        found = None if result.estimate is None else agreement_with(result.estimate, truth)
        rows.append(
            {
                "method": PROPENSITY_METHODS[key].label,
                "missing": None if result.estimate is None else len(result.estimate.missing),
                "error": None if found is None else found.error,
                "covered": None if found is None else found.covered,
                "intervals": None if found is None else found.intervals,
                "cost_exact": result.cost_exact,
                "cost_simulated": result.cost_simulated,
                "assumes": PROPENSITY_METHODS[key].assumes,
                "reason": result.reason,
            }
        )
    return rows
