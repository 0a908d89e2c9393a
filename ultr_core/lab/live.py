"""The live experiment of Section 7.6, on a simulated search engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy import sparse

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_documents
from ultr_core.fields import Field, Number, set_checked
from ultr_core.lab import true_curve
from ultr_core.lab.interleaved_lists import SCHEME, Scheme
from ultr_core.lab.interleaving import Contest, interleave, judge
from ultr_core.lab.logs import draws_for, user_model, world_notices
from ultr_core.lab.methods import METHODS, ClickData, Method
from ultr_core.lab.production import hand_made_weights
from ultr_core.lab.training import final_fit, select, weights_by
from ultr_core.lab.world import World
from ultr_core.learners import LinearRanker
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.propensity import (
    AssembledCurve,
    Belief,
    CurveOptions,
    PropensityEstimate,
    Weights,
    assemble_curve,
    estimate_swaps,
    simulate_swaps,
)
from ultr_core.propensity.curves import SMOOTHING
from ultr_core.propensity.points import LANDMARK, LAST_RANK
from ultr_core.risk import true_risk
from ultr_core.settings import Settings
from ultr_core.users import (
    ClickLog,
    ClickModel,
    simulate_counts,
)

FloatArray = NDArray[np.float64]

PAPER_CLICKS = 7_192
"""Clicks of the paper's 21 days: 5,437 for training and 1,755 for validation."""

PAPER_RESULTS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {"production": (87, 48, 83), "naive": (95, 60, 102)}
)
"""Wins, losses and ties of the weighted ranker by opponent, Section 7.6."""

_LOG_STREAM, _VALIDATION_STREAM, _SWAP_STREAM, _INTERLEAVING_STREAM = range(4)


DAYS = Number("days", "Number of days of clicks", 2, 366, default=21)
VALIDATION_DAYS = Number(
    "validation_days", "Number of days for validation", 1, 365, default=5,
    help="The last days, reserved for choosing C.",
)  # fmt: skip
SWAP_DAYS = Number("swap_days", "Days of swaps", 1, 366, default=7)
INTERLEAVED = Number(
    "interleaved", "Interleaved queries", 1, 1_000_000, default=10_000,
    help="Queries shown in each interleaved comparison.",
)  # fmt: skip
SMOOTHING_BIAS = (
    "At 0.5 the curve is too steep: in the default world it gives 0.075 at rank 10 and 0.032 at "
    "rank 21 (means of 16 runs); the true values are 0.100 and 0.048."
)
"""What the default smoothing does to the curve, as it is said where it is set and shown."""
LIVE_SMOOTHING = replace(
    SMOOTHING, default=0.5,
    help="Weight of overall click rates in the curve; the paper does not report it. "
    f"{SMOOTHING_BIAS}",
)  # fmt: skip
LIVE_FIELDS: tuple[Field, ...] = (
    DAYS, VALIDATION_DAYS, SWAP_DAYS, LANDMARK, LAST_RANK, INTERLEAVED, LIVE_SMOOTHING, SCHEME,
)  # fmt: skip
"""The fields of `LiveDesign`."""


@dataclass(frozen=True)
class LiveDesign:
    """Design of the live experiment; the defaults are the paper's where it gives them.

    days, validation_days: 21 days of clicks, the last 5 of them for validation.
    swap_days: days of swaps that the curve is estimated from. landmark, last_rank: k and K.
    smoothing: weight of the overall click rates in the curve; the paper does not give it.
    interleaved: queries shown in each comparison. scheme: one of ``SCHEMES``, "balanced" in the
    paper. Raises InputError for a design that cannot be run.
    """

    days: int = int(DAYS.default)
    validation_days: int = int(VALIDATION_DAYS.default)
    swap_days: int = int(SWAP_DAYS.default)
    landmark: int = int(LANDMARK.default)
    last_rank: int = int(LAST_RANK.default)
    smoothing: float = float(LIVE_SMOOTHING.default)
    interleaved: int = int(INTERLEAVED.default)
    scheme: Scheme = "balanced"

    def __post_init__(self) -> None:
        """Check the design."""
        set_checked(self, LIVE_FIELDS)
        remain = ", so that at least one day remains for training"
        lowest = ", the lowest rank it is swapped with"
        set_checked(
            self,
            (
                replace(VALIDATION_DAYS, high=self.days - 1, because=remain),
                replace(LANDMARK, high=self.last_rank, because=lowest),
            ),
        )

    @property
    def training_days(self) -> int:
        """Days of clicks before those for validation."""
        return self.days - self.validation_days


@dataclass(frozen=True, eq=False)
class LiveResult:
    """Everything the live experiment produced.

    estimate, curve: from the swaps. true_curve: examination at ranks 1..K, relative to rank 1.
    clicks: in training, validation and swap days. costs: the C that validation chose.
    test_risk: of production, naive and propensity on the test queries (equation 2).
    contests: against production and against the naive ranker.
    """

    design: LiveDesign
    settings: Settings
    estimate: PropensityEstimate
    curve: AssembledCurve
    true_curve: tuple[float, ...]
    clicks: dict[str, int]
    costs: dict[str, float]
    test_risk: dict[str, float]
    contests: tuple[Contest, ...]
    notices: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The result in words."""
        return " ".join(contest.sentence for contest in self.contests)

    @property
    def headline(self) -> str:
        """Both verdicts with their win shares, in at most 15 words and two numbers."""
        verbs = {1: "beats", -1: "loses to", 0: "cannot be told apart from"}
        first, second = (contest.test for contest in self.contests)
        one, two = (contest.opponent for contest in self.contests)
        shares = [
            f"{test.win_share:.1%}" if test.decided else "all ties" for test in (first, second)
        ]
        if first.decided:
            shares[0] += " of decided queries"
        same = first.side == second.side
        then = "and" if same else f"but {verbs[second.side]}"
        return f"Weighting {verbs[first.side]} {one} ({shares[0]}) {then} {two} ({shares[1]})."

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, as the command line prints it with ``--json``."""
        return {
            "settings": self.settings.as_dict(),
            "design": dict(vars(self.design)),
            "clicks": self.clicks,
            "curve": [
                {"rank": p.rank, "ratio": p.value, "low": p.low, "high": p.high,
                 "used": used, "true": true}
                for p, used, true in zip(
                    self.estimate.points, self.curve.values, self.true_curve, strict=True
                )
            ],
            "costs": self.costs,
            "test_risk": self.test_risk,
            "contests": {contest.opponent: contest.as_dict() for contest in self.contests},
            "sentence": self.sentence,
            "notices": list(self.notices),
        }  # fmt: skip


@one_blas_thread()
def run_live(
    world: World,
    settings: Settings,
    design: LiveDesign | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> LiveResult:
    """Run the paper's live experiment on a simulated engine that serves hand-made weights.

    ``settings.clicks`` are expected over all days; users follow the position model of
    ``settings``; the assumed eta is not used, since propensities are estimated. Queries of the
    validation days are others than those of the training days, test queries are new. C is chosen
    on the validation days, by the IPS estimate for the weighted and by plain counts for the naive
    ranker; both are then retrained on all days with the chosen C and interleaved.

    ``progress`` is told what is about to run. Raises InputError where a stage has no click.
    """
    plan = design if design is not None else LiveDesign()
    tell = progress if progress is not None else _say_nothing
    users = user_model(settings)
    engine = _engine(world, settings, plan)
    tell("clicks on the training and validation days")
    logs = _logs(engine, users, settings, plan)
    tell("swap experiment")
    estimate, curve, swap_clicks = _propensities(engine, users, settings, plan, logs)
    rankers = {}
    for name in ("naive", "propensity"):
        tell(f"training the {name} ranker")
        rankers[name] = _trained(engine, logs, METHODS[name], Belief(curve.curve))
    test = world.splits.test
    scores = {name: ranker.score(test) for name, ranker in rankers.items()}
    scores["production"] = test.features @ engine.production
    ranks = {name: rank_documents(score, test.query_offsets) for name, score in scores.items()}
    contests = []
    for number, (name, (wins, losses, _)) in enumerate(PAPER_RESULTS.items()):
        label = f"the {name} ranker"
        tell(f"interleaving with {label}")
        verdicts = interleave(
            users,
            world.test_relevance,
            ranks["propensity"],
            ranks[name],
            test.query_offsets,
            queries=plan.interleaved,
            scheme=plan.scheme,
            seed=_seed(settings, _INTERLEAVING_STREAM, number),
        )
        contests.append(judge(name, label, verdicts, wins + losses))
    truth = true_curve(settings).at(np.arange(1, plan.last_rank + 1))
    return LiveResult(
        plan,
        settings,
        estimate,
        curve,
        tuple((truth / truth[0]).tolist()),
        {
            "training": logs[0].total_clicks,
            "validation": logs[1].total_clicks,
            "swaps": swap_clicks,
        },
        {name: ranker.cost for name, ranker in rankers.items()},
        {
            name: true_risk(ranks[name], world.test_relevance, test.query_offsets)
            for name in ("production", "naive", "propensity")
        },
        tuple(contests),
        (*world_notices(world, settings), *estimate.notices, *curve.notices),
    )


@dataclass(frozen=True, eq=False)
class _Engine:
    """The queries of all days, what production shows for them, and how they are divided by day."""

    training: Corpus
    validation: Corpus
    all_days: Corpus
    relevance: NDArray[np.bool_]
    ranks: NDArray[np.int32]
    production: FloatArray


def _engine(world: World, settings: Settings, plan: LiveDesign) -> _Engine:
    first, second = world.splits.train, world.splits.validation
    features: Any = [first.features, second.features]
    corpus = Corpus(
        sparse.vstack(features, format="csr") if first.is_sparse else np.vstack(features),
        np.concatenate([first.grades, second.grades]),
        np.concatenate([first.query_offsets, second.query_offsets[1:] + first.n_documents]),
        feature_ids=first.feature_ids,
    )
    weights = hand_made_weights(first, world.relevant_grade, settings.corpus_seed)
    cut = round(corpus.n_queries * plan.training_days / plan.days)
    cut = min(max(cut, 1), corpus.n_queries - 1)
    return _Engine(
        corpus.subset(np.arange(cut)),
        corpus.subset(np.arange(cut, corpus.n_queries)),
        corpus,
        corpus.relevance(world.relevant_grade),
        rank_documents(corpus.features @ weights, corpus.query_offsets),
        weights,
    )


def _logs(
    engine: _Engine, users: ClickModel, settings: Settings, plan: LiveDesign
) -> tuple[ClickLog, ClickLog]:
    parts = (
        (engine.training, plan.training_days, _LOG_STREAM, 0),
        (engine.validation, plan.validation_days, _VALIDATION_STREAM, engine.training.n_documents),
    )
    logs = []
    for corpus, days, stream, first in parts:
        rows = slice(first, first + corpus.n_documents)
        relevance, ranks = engine.relevance[rows], engine.ranks[rows]
        probability = users.click_probability(relevance, ranks)
        draws = draws_for(settings.clicks * days / plan.days, probability, corpus.query_offsets)
        seed = _seed(settings, stream)
        logs.append(simulate_counts(probability, ranks, corpus.query_offsets, draws, seed))
    return logs[0], logs[1]


def _propensities(
    engine: _Engine,
    users: ClickModel,
    settings: Settings,
    plan: LiveDesign,
    logs: tuple[ClickLog, ClickLog],
) -> tuple[PropensityEstimate, AssembledCurve, int]:
    per_day = (logs[0].query_draws + logs[1].query_draws) / plan.days
    counts = simulate_swaps(
        users,
        engine.relevance,
        engine.ranks,
        engine.all_days.query_offsets,
        landmark=plan.landmark,
        last_rank=plan.last_rank,
        sessions=max(1, round(per_day * plan.swap_days)),
        seed=_seed(settings, _SWAP_STREAM),
    )
    estimate = estimate_swaps(counts)
    curve = assemble_curve(
        estimate, CurveOptions(smoothing=plan.smoothing), click_rates=counts.own_place.rates
    )
    return estimate, curve, counts.total_clicks


def _trained(
    engine: _Engine, logs: tuple[ClickLog, ClickLog], method: Method, belief: Belief
) -> LinearRanker:
    """Choose C on the validation days, retrain on all days with it."""
    train, validation = logs
    chosen = select(
        method, ClickData(engine.training, train, engine.validation, validation, belief)
    )
    estimator = method.estimator
    assert estimator is not None
    final = replace(belief, clip=chosen.clip)
    parts = [weights_by(estimator, log, final) if log.total_clicks else None for log in logs]
    values = [
        np.zeros(log.n_documents) if part is None else part.values
        for log, part in zip(logs, parts, strict=True)
    ]
    together = Weights(np.concatenate(values), sum(log.total_clicks for log in logs))
    return final_fit(method.learner, engine.all_days, together, cost=chosen.ranker.cost)


def _seed(settings: Settings, *stream: int) -> SeedSequence:
    return SeedSequence(settings.seed, spawn_key=(76, *stream))


def _say_nothing(_: str) -> None:
    """Progress for nobody."""
