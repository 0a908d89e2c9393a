"""What breaks a claim: data, users or a learner altered, never the measure or its limit.

    broken = MUTATIONS["attraction"].lab(Lab())
    measure_entry(broken, CLAIMS["1e"]).outcome       # "does not hold"

A mutation gives a lab in which some stages are altered as they are made (`AlteredStore`), or a lab
of other settings. Each belongs to five claims at most, and each claim that holds or is open has
one: a check that nothing breaks would be no check.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

from ultr_core.claims.common import (
    COST,
    LAST_RANK,
    MANY_SWAPS,
    MORE_CLICKS,
    SWAP_SESSIONS,
    Printed,
    SummedLogs,
)
from ultr_core.claims.estimation import FEW_SESSIONS
from ultr_core.claims.foundations import POOL, repeated_logs
from ultr_core.claims.gate_runs import ALONE, SHARED
from ultr_core.claims.long_runs import LongRuns, Row
from ultr_core.claims.svm import ROUNDING
from ultr_core.corpus.ranking import query_of_document
from ultr_core.lab import Cell, Lab, Store, TrainedMethod, World
from ultr_core.lab.interleaved_lists import Clicks, click_on
from ultr_core.lab.logs import simulate_training_log
from ultr_core.learners import LinearRanker, fit_ranker, weighted_hinge
from ultr_core.proofs import Evidence, SmallWorld
from ultr_core.proofs.contexts import SHARES, ContextCase
from ultr_core.proofs.leaving import LeavingCase
from ultr_core.proofs.repairs import CLIP, FIXED, TOO_STEEP, SmallCase
from ultr_core.proofs.towers import CURVED, LinkedRanks, TowerCase
from ultr_core.propensity import SwapCounts, Weights, ips_weights, simulate_swaps
from ultr_core.studies import FIGURES, Plan, Point, StudyResult
from ultr_core.studies.cells import key_of_log
from ultr_core.users import (
    ClickLog,
    PositionModel,
    PowerLaw,
    TableCurve,
    TrustBiasModel,
)

T = TypeVar("T")
Small = TypeVar("Small", SmallCase, LeavingCase, ContextCase, LinkedRanks, TowerCase)
Change = Callable[[Lab, Any, Cell], Any]
"""Given a lab, what a stage makes and its cell: what it makes instead."""

ORDER = ("splits", "world", "second_ranker", "family", "training_log", "logs", "trained")
"""Stages of a lab, each made from earlier ones only."""


class AlteredStore(Store):
    """A store in which some stages are altered, and what is made of them follows.

    Stages of ``ORDER`` before the first altered one are shared with the lab that is broken.
    """

    def __init__(self, lab: Lab, changes: Mapping[str, Change]) -> None:
        super().__init__()
        self._lab, self._changes = lab, changes
        first = min((ORDER.index(kind) for kind in changes if kind in ORDER), default=len(ORDER))
        self._shared = ORDER[:first]

    def peek(self, kind: str, key: Hashable) -> Any:
        """The value if it is held, here or, of an earlier stage, by the lab that is broken."""
        return self._lab.store.peek(kind, key) if kind in self._shared else super().peek(kind, key)

    def get(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """The value, altered as it is made."""
        if kind in self._shared:
            return self._lab.store.get(kind, key, make)
        if kind not in self._changes:
            return super().get(kind, key, make)
        cell = cast(Cell, key)
        lab = replace(self._lab, settings=cell.settings)
        return super().get(kind, key, lambda: cast(T, self._changes[kind](lab, make(), cell)))


@dataclass(frozen=True)
class Mutation:
    """One way to break claims: in words, and what it makes of a lab."""

    words: str
    lab: Callable[[Lab], Lab]


def _altered(words: str, **changes: Change) -> Mutation:
    return Mutation(words, lambda lab: replace(lab, store=AlteredStore(lab, changes)))


def _settings(words: str, **values: Any) -> Mutation:
    return Mutation(words, lambda lab: lab.at(lab.settings.with_values(**values)))


def _small(words: str, change: Callable[[SmallWorld], SmallWorld], *claims: str) -> Mutation:
    """The small query of some claims altered."""

    def altered(_: Lab, world: SmallWorld, cell: Cell) -> SmallWorld:
        return change(world) if cell.args[0] in claims else world

    return _altered(words, small_world=altered)


def _broken(name: str) -> Callable[[SmallWorld], SmallWorld]:
    return lambda world: world.breaking(name)


def _proofs(words: str, *names: str, **values: Any) -> Mutation:
    """What some proofs look at, altered: broken=("cascade",) breaks this on their small query."""

    def change(_: Lab, evidence: Evidence, cell: Cell) -> Evidence:
        return replace(evidence, **values) if cell.args[0] in names else evidence

    return _altered(words, proved_on=change)


def _case(words: str, claim: str, **values: Any) -> Mutation:
    """The estimator, users or logger of one claim of later work altered."""

    def change(_: Lab, case: Small, cell: Cell) -> Small:
        return replace(case, **values) if cell.args[0] == claim else case

    return _altered(words, small_case=change)


def _interleaved(words: str, claim: str, clicks: Clicks) -> Mutation:
    """The user of the interleaved lists of one claim altered."""

    def change(_: Lab, found: Clicks, cell: Cell) -> Clicks:
        return clicks if cell.args[0] == claim else found

    return _altered(words, interleaved_clicks=change)


def _world(words: str, change: Callable[[World], World]) -> Mutation:
    return _altered(words, world=lambda _, world, __: change(world))


def _printed(words: str, **values: Any) -> Mutation:
    return _altered(words, printed=lambda _, found, __: replace(found, **values))


def _runs(words: str, table: str, change: Callable[[Row], Row]) -> Mutation:
    """The rows of a long run altered."""

    def altered(_: Lab, runs: LongRuns, __: Cell) -> LongRuns:
        rows = tuple(row | change(row) for row in runs.tables[table])
        return replace(runs, tables={**runs.tables, table: rows})

    return _altered(words, long_runs=altered)


def _everywhere(_: Plan, __: Point) -> bool:
    return True


def _at_most_clicks(plan: Plan, point: Point) -> bool:
    """Whether a point of a figure has the most clicks."""
    return point.settings.clicks == max(other.settings.clicks for other in plan.points)


def _studies(
    words: str,
    *names: str,
    where: Callable[[Plan, Point], bool] = _everywhere,
    clip: float | None = None,
    **methods: str,
) -> Mutation:
    """Methods of some studies with the results of others, as in naive="skyline"; "_" is "-".

    where: at which points. clip: the threshold that validation is said to have chosen.
    """

    def altered(_: Lab, result: StudyResult, cell: Cell) -> StudyResult:
        if cell.args[0] not in names:
            return result
        done = dict(result.done)
        plan = result.plan
        for point in (point for point in plan.points if where(plan, point)):
            for name, source in methods.items():
                log = key_of_log(name.replace("_", "-"), point.settings)
                for draw in range(plan.base.draws):
                    found = result.result(source, point, draw)
                    assert found is not None
                    key = f"{log} draw={draw}"
                    done[key] = replace(found, key=key, clip=found.clip if clip is None else clip)
        return replace(result, done=done)

    return _altered(words, study=altered)


# Users and data.


def _attracted(lab: Lab, seen: Any, _: Cell) -> Any:
    """Half of the users who would not look at a document do if it is relevant."""
    return np.where(lab.world().train.relevance, seen + (1 - seen) / 2, seen)


def _if_noisy(noisy: bool, change: Change) -> Change:
    """The change for users who make mistakes only, or for those who make none."""

    def changed(lab: Lab, found: Any, cell: Cell) -> Any:
        return change(lab, found, cell) if (cell.args[0].eps_minus > 0) is noisy else found

    return changed


def _careless(lab: Lab, chance: Any, _: Cell) -> Any:
    """One in ten of those who look at an irrelevant document clicks it."""
    return np.maximum(chance, 0.1)


def _all_clicked(lab: Lab, log: ClickLog, cell: Cell) -> ClickLog:
    """Clicks of users who look at every rank and click whatever is relevant."""
    unbiased = lab.at(cell.settings.with_values(eta=0.0, assumed_eta=0.0))
    return simulate_training_log(lab.world(), unbiased.settings, *cell.args)


def _other_queries(lab: Lab, law: Any, _: Cell) -> Any:
    sizes = lab.world().train.corpus.sizes.astype(np.float64)
    return sizes / sizes.sum()


def _with_ranks(world: World, ranks: Any) -> World:
    return replace(world, train=replace(world.train, presented_ranks=ranks))


def _reversed_production(world: World) -> World:
    sizes, ranks = world.train.corpus.sizes, world.train.presented_ranks
    return _with_ranks(world, (np.repeat(sizes, sizes) + 1 - ranks).astype(ranks.dtype))


def _relevant_on_top(world: World) -> World:
    relevance = world.train.relevance & (world.train.presented_ranks <= POOL)
    return replace(world, train=replace(world.train, relevance=relevance))


def _short_lists(world: World) -> World:
    corpus = world.train.corpus
    first = np.arange(corpus.n_queries)[corpus.sizes < np.median(corpus.sizes)]
    rows = np.isin(query_of_document(corpus.query_offsets), first)
    train = replace(
        world.train,
        corpus=corpus.subset(first),
        relevance=world.train.relevance[rows],
        presented_ranks=world.train.presented_ranks[rows],
    )
    labelled = np.flatnonzero(np.isin(first, world.production.queries))
    return replace(
        world,
        splits=replace(world.splits, train=train.corpus),
        production=replace(world.production, queries=labelled),
        train=train,
    )


def _tests_on_training(world: World) -> World:
    splits = replace(world.splits, test=world.splits.train)
    return replace(world, splits=splits, test_relevance=world.train.relevance)


def _lost_clicks(_: Lab, found: SummedLogs, __: Cell) -> SummedLogs:
    log, rng = found.train, np.random.default_rng(0)
    return replace(found, train=replace(log, clicks=rng.binomial(log.clicks, 0.99)))


def _popular_queries(_: Lab, found: SummedLogs, __: Cell) -> SummedLogs:
    log = found.train
    draws = log.draws + np.where(np.arange(len(log.draws)) % 10 == 0, log.draws // 50, 0)
    return replace(found, train=replace(log, draws=draws, query_draws=int(draws.sum())))


def _new_documents(lab: Lab, log: ClickLog, cell: Cell) -> ClickLog:
    """The fewer clicks fall on the first queries only, as where more clicks mean new queries."""
    if cell.settings.clicks >= SWAP_SESSIONS:
        return log
    train = lab.world().train
    few = query_of_document(train.corpus.query_offsets) < train.corpus.n_queries // 50
    clicks = np.where(few, log.clicks, 0)
    return ClickLog(
        log.document, log.rank, log.impressions, clicks, log.query_draws, log.query_offsets,
        log.draws,
    )  # fmt: skip


def _short_validation(_: Lab, found: SummedLogs, __: Cell) -> SummedLogs:
    return replace(found, validation_clicks=round(0.98 * found.validation_clicks))


def _swaps(lab: Lab, users: Any, last_rank: int = LAST_RANK) -> SwapCounts:
    shown = lab.world().train.shown
    return simulate_swaps(users, *shown, sessions=MANY_SWAPS, last_rank=last_rank, seed=0)


def _few_swaps(users: Callable[[Lab], Any], last_rank: int = LAST_RANK) -> Change:
    """Small swap experiments of other users, or over fewer ranks."""

    def change(lab: Lab, _: SwapCounts, cell: Cell) -> SwapCounts:
        return simulate_swaps(
            users(lab), *lab.world().train.shown,
            sessions=FEW_SESSIONS, last_rank=last_rank, seed=cell.args[0],
        )  # fmt: skip

    return change


def _a_hundred_users(lab: Lab, _: Any, __: Cell) -> Any:
    return repeated_logs(lab, 200)


def _everything(shown: tuple[Hashable, ...]) -> tuple[tuple[frozenset[Hashable], Fraction], ...]:
    """A user who clicks every document that is shown."""
    return ((frozenset(shown), Fraction(1)),)


def _ones(world: SmallWorld) -> tuple[Fraction, ...]:
    return (Fraction(1),) * world.query.size


def _nothing_relevant(world: SmallWorld) -> SmallWorld:
    return replace(world, query=replace(world.query, relevance=(0,) * world.query.size))


_STEP = tuple(1.0 if rank <= 15 else 0.05 for rank in range(1, LAST_RANK + 1))


# Learners.


def _untrained(world: World) -> World:
    rng = np.random.default_rng(0)
    random = replace(world.skyline, coefficients=rng.normal(size=world.splits.train.n_features))
    return replace(world, skyline=random)


def _random_production(world: World) -> World:
    rng = np.random.default_rng(0)
    ranker = replace(
        world.production.ranker, coefficients=rng.normal(size=world.splits.train.n_features)
    )
    return replace(world, production=replace(world.production, ranker=ranker))


def _clips(_: Lab, propensity: Any, __: Cell) -> Any:
    return np.maximum(propensity, 0.1)


def _ignores_cost(lab: Lab, _: Any, cell: Cell) -> Any:
    factor, _ = cell.args
    plain = ips_weights(lab.logs().train, lab.users.curve)
    weights = Weights(factor * plain.values, plain.clicks)
    return fit_ranker(lab.world().train.corpus, weights, cost=COST, tolerance=1e-4).coefficients


def _once(lab: Lab, weights: Any, _: Cell) -> Any:
    """Weights of a learner that makes one example of a document however often it is clicked."""
    log = lab.logs().train
    clicks = log.sum_by_document(log.clicks)[: len(weights)]
    return weights / np.maximum(clicks, 1)


def _no_margin(lab: Lab, _: float, __: Cell) -> float:
    """Slacks of a learner whose constraints ask for no margin: max(0, s_d - s_j)."""
    corpus = lab.world().train.corpus
    weights = ips_weights(lab.logs().train, lab.users.curve)
    scores = corpus.features @ lab.trained(0, "propensity").coefficients
    hinge = weighted_hinge(scores / ROUNDING, weights.values, corpus.query_offsets)
    return hinge * ROUNDING / weights.clicks


def _half_way(_: Lab, coefficients: Any, cell: Cell) -> Any:
    return coefficients / 2 if cell.args[0] != "newton" else coefficients


def _stopped(lab: Lab, trained: TrainedMethod, _: Cell) -> TrainedMethod:
    weights = ips_weights(lab.logs().train, lab.users.curve)
    ranker: LinearRanker = fit_ranker(
        lab.world().train.corpus, weights, cost=trained.cost, tolerance=0.5
    )
    return replace(trained, coefficients=ranker.coefficients, gap=ranker.certificate.gap)


def _believes_some(lab: Lab, trained: TrainedMethod, cell: Cell) -> TrainedMethod:
    if trained.method != "propensity":
        return trained
    believing = lab.at(lab.settings.with_values(assumed_eta=0.25))
    return believing.trained(*cell.args)


_PRINTED = Printed()
_REVERSED = {name: (b, a, ties) for name, (a, b, ties) in _PRINTED.results.items()}
_CLOSER = {name: (a - 1, b + 1, ties) for name, (a, b, ties) in _PRINTED.results.items()}


def _learns_nothing(row: Row) -> Row:
    """Production in place of the weighted ranker, which takes the place of its opponents."""
    wins, losses = row["production_losses"], row["production_wins"]
    return {
        f"{opponent}_{found}": count
        for opponent in ("naive", "production")
        for found, count in (("wins", wins), ("losses", losses))
    }


def _chosen(row: Row) -> Row:
    """Each ranker is the best of many by the clicks that judge it."""
    return {name: row[f"missed, {ALONE}"] for name in row if name.startswith("missed")}


def _shrinking(row: Row) -> Row:
    more = row["clicks"] > MORE_CLICKS
    return {"naive_wins": row["naive_losses"]} if more else {}


MUTATIONS: Mapping[str, Mutation] = MappingProxyType(
    {
        # Users.
        "attraction": _altered(
            "Relevance attracts the eye.", looked_at=_if_noisy(False, _attracted)
        ),
        "careless": _altered(
            "Users who should make no mistakes make some.",
            judged_relevant=_if_noisy(False, _careless),
        ),
        "no-position-bias": _proofs(
            "Users look at every rank.",
            "naive-order",
            users=PositionModel(PowerLaw(0.0), 1.0, 0.1),
        ),
        "all-clicked": _altered(
            "The clicks come from users who look at every rank.", training_log=_all_clicked
        ),
        "milder-users": _settings("Users look further down, η = 0.5.", eta=0.5, assumed_eta=0.5),
        "steeper-users": _settings(
            "Users do not look as far down, η = 1.5.", eta=1.5, assumed_eta=1.5
        ),
        "no-noise": _settings("Users make no mistakes.", eps_minus=0.0),
        "every-look-clicks": _altered(
            "Users click 37% of the documents they look at, relevant or not.",
            judged_relevant=_if_noisy(True, lambda _, chance, __: np.full_like(chance, 0.37)),
        ),
        "wrong-clicks-when-shuffled": _altered(
            "In shuffled lists users click only irrelevant documents.",
            shuffled_chance=lambda lab, chance, _: np.where(
                lab.world().train.relevance, 0.0, chance.max()
            ),
        ),
        "curve-with-a-step": _altered(
            "Users hardly look below rank 15.",
            uneven_users=lambda _, users, __: replace(users, curve=TableCurve(_STEP)),
        ),
        "trusting-swaps": _altered(
            "Users in the swap experiment trust the top ranks.",
            swap_users=lambda *_: TrustBiasModel.published(),
        ),
        "trusting-swap-counts": _altered(
            "Users in the swap experiment trust the top ranks.",
            swap_counts=lambda lab, *_: _swaps(lab, TrustBiasModel.published()),
        ),
        "trusting-few-swaps": _altered(
            "Users in the small swap experiments trust the top ranks.",
            few_swaps=_few_swaps(lambda _: TrustBiasModel.published()),
        ),
        "no-trust": _altered(
            "Users examine ranks as under trust bias, but judge documents alike at every rank.",
            trusting_users=lambda _, users, __: PositionModel(users.curve),
        ),
        "no-salience": _altered(
            "Documents that stand out in the pilot go unnoticed afterwards.",
            salience=lambda *_: 2.0,
        ),
        "clicks-everything": _interleaved(
            "Users click every document in the interleaved list.", "L8b", _everything
        ),
        "clicks-one-favourite": _interleaved(
            "Users click the document at the top of one ranking, if it is shown.",
            "R18",
            click_on("a"),
        ),
        # Data.
        "reversed-production": _world(
            "Production shows its ranking in reverse.", _reversed_production
        ),
        "random-production": _world("Production is a random ranker.", _random_production),
        "relevant-on-top": _world(
            "Production ranks every relevant document in its top five.", _relevant_on_top
        ),
        "short-lists": _world("Only the queries with short lists are kept.", _short_lists),
        "tests-on-training": _world(
            "The test queries are the training queries.", _tests_on_training
        ),
        "a-hundred-users": _altered(
            "Each query is shown 200 times, whatever the design.",
            repeated_logs=_a_hundred_users,
        ),
        "long-queries-judged": _altered(
            "Queries with long lists are judged more often.", judged_queries=_other_queries
        ),
        "judged-by-relevance": _altered(
            "Relevant documents are judged more often than the design specifies.",
            judged_share=_attracted,
        ),
        "lost-clicks": _altered("One click in a hundred is lost.", many_logs=_lost_clicks),
        "popular-queries": _altered(
            "One query in ten is drawn 2% more often.", many_logs=_popular_queries
        ),
        "new-clicks-new-documents": _altered(
            "Larger logs contain new queries.", training_log=_new_documents
        ),
        "validation-log-short": _altered(
            "Two validation clicks in a hundred are missing.", many_logs=_short_validation
        ),
        "fewer-ranks-swapped": _altered(
            "Only the first 10 ranks are swapped.",
            few_swaps=_few_swaps(lambda lab: lab.users, 10),
        ),
        "fewer-ranks-counted": _altered(
            "Only the first 10 ranks are swapped.",
            swap_counts=lambda lab, *_: _swaps(lab, lab.users, 10),
        ),
        "printed-halved": _printed(
            "The training and validation parts are the same size.",
            queries=(19_944, 19_944, 6_983),
            training_clicks=3_596,
            validation_clicks=3_596,
        ),
        "printed-noise": _printed(
            "The paper prints 49.8% instead of 59.8%.", noise={0.1: 0.33, 0.3: 0.498}
        ),
        "printed-steep": _printed("The paper prints a smallest propensity of 0.04.", smallest=0.04),
        "printed-reversed": _printed("Wins and losses are swapped.", results=_REVERSED),
        "printed-reversed-little": _printed("One win becomes a loss.", results=_CLOSER),
        # The small query.
        "small-attraction": _small(
            "Relevance attracts the eye.", _broken("attraction"), "4c", "54a"
        ),
        "small-cascade": _small(
            "Users stop after the first click.", _broken("cascade"), "51a", "51g"
        ),
        "small-trust": _small("Users trust the top ranks.", _broken("trust"), "52d", "52g"),
        "small-wrong-curve": _small("The assumed curve is wrong.", _broken("wrong-curve"), "54c"),
        "small-unseen": _small(
            "A relevant document is never seen.", _broken("zero-relevant"), "4b"
        ),
        "small-noise": _small(
            "Users make mistakes.", lambda world: replace(world, eps_minus=Fraction(1, 10)), "4e"
        ),
        "small-all-seen": _small(
            "Users look at every rank.",
            lambda world: replace(world, examination=_ones(world), assumed=_ones(world)),
            "4f",
        ),
        "small-nothing-relevant": _small(
            "No document is relevant.", _nothing_relevant, "4d", "52i"
        ),
        "robust-clips": _case("The estimator clips.", "R1", clip=CLIP),
        "robust-believes-wrong": _case("The assumed curve is wrong.", "R2", assumed=TOO_STEEP),
        "robust-believes-right": _case("The assumed curve is right.", "R3", assumed=None),
        "fit-sees-scores": _altered(
            "The fit sees the logger's scores as well.",
            seen_by_fit=lambda _, seen, __: replace(seen, scores=True),
        ),
        "logger-is-fixed": _case("The logger always shows the same list.", "R5", lists=FIXED),
        "hindsight-believes-wrong": _case("The assumed λ is 3/4.", "R11", assumed=Fraction(3, 4)),
        "hindsight-believes-right": _case(
            "The users' λ, 9/10, is one of the assumed values.", "R12", continuation=Fraction(9, 10)
        ),
        "all-leave-alike": _case(
            "λ is 1/2 after every click.", "R13", satisfied=None, continuation=Fraction(1, 2)
        ),
        "contexts-pooled": _case("One curve is used for all contexts.", "R25", pooled=SHARES),
        "robust-misjudges-leaving": _case("The assumed λ is 3/4.", "R14", assumed=Fraction(3, 4)),
        "documents-share-a-feature": _case("All documents share a feature.", "R21", shared=True),
        "towers-curved": _case("Relevance is not linear in the features.", "R22", curved=CURVED),
        "towers-straight": _case("Relevance is linear in the features.", "R23", curved=0.0),
        "towers-fit-products": _case("The product form is fitted.", "R24", fitted="product"),
        "proof-unseen": _proofs(
            "A relevant document is never seen.",
            "ips-unbiased",
            "risk-converges",
            broken=("zero-relevant",),
        ),
        "proof-attraction": _proofs(
            "Relevance attracts the eye.",
            "errors-fall",
            "naive-expectation",
            broken=("attraction",),
        ),
        "proof-cascade": _proofs(
            "Users stop after the first click.",
            "variance",
            "overtaking",
            "misspecified-expectation",
            broken=("cascade",),
        ),
        "proof-trust": _proofs(
            "Users trust the top ranks.",
            "noise-keeps-order",
            "noisy-hinge",
            broken=("trust",),
        ),
        "proof-wrong-curve": _proofs(
            "The assumed curve is wrong.", "clipped-moments", broken=("wrong-curve",)
        ),
        "proof-ties": _proofs("All scores are equal.", "hinge-chain", broken=("tied-scores",)),
        # Learners.
        "skyline-untrained": _world("The skyline's coefficients are random.", _untrained),
        "figures-without-skyline": _studies(
            "The skyline is the production ranker.", *FIGURES, skyline="production"
        ),
        "wrong-belief": _proofs(
            "The learner assumes η′ = 2.",
            "order-preserved",
            assumed_curve=PowerLaw(2.0),
        ),
        "clipping-learner": _altered("The learner clips at τ = 0.1.", divided_by=_clips),
        "ignores-cost": _altered("The learner always uses the same C.", scaled_fit=_ignores_cost),
        "one-example-a-document": _altered(
            "The learner turns all clicks on a document into one example.", example_weights=_once
        ),
        "no-margin": _altered("The learner requires no margin.", slacks=_no_margin),
        "stops-early": _altered("The cutting-plane solver stops halfway.", solved=_half_way),
        "stops-early-trained": _altered("Training stops early.", trained=_stopped),
        "believes-some-bias": _altered("The learner assumes η′ = 0.25.", trained=_believes_some),
        "curve-carried-on": _altered(
            "The learner continues the curve below rank 21.",
            live=lambda _, found, __: replace(
                found, curve=replace(found.curve, curve=PowerLaw(1.0))
            ),
        ),
        # Shipped results.
        "runs-unweighted": _runs(
            "The learner ignores the weights.",
            "growing",
            lambda row: {"weighted": row["skyline"] + 0.25 * (row["production"] - row["skyline"])},
        ),
        "endless-labels": _runs(
            "The weighted learner sees all labels.",
            "endless",
            lambda row: {"weighted": row["skyline"]},
        ),
        "runs-learn-nothing": _runs(
            "Production competes in the weighted ranker's place.",
            "live",
            _learns_nothing,
        ),
        "runs-shrinking": _runs(
            "With many clicks, the two rankers are the same.", "live", _shrinking
        ),
        "runs-clip-nothing": _runs(
            "The thresholds are below every propensity.",
            "clipping",
            lambda row: {key: row["0"] for key in row if key.startswith("0.")},
        ),
        "trees-learn-nothing": _runs(
            "The trees learn nothing.", "trees", lambda row: {"trees": row["production"]}
        ),
        "gate-on-chosen": _runs(
            "Every ranker is the best of 20 on the clicks used to judge it.", "gate", _chosen
        ),
        "gate-not-told": _runs(
            "The gate does not know that the ranker is the best of 20.",
            "gate",
            lambda row: {f"passed, {SHARED}": row[f"passed, {ALONE}"]},
        ),
        "study-unweighted": _studies(
            "The weighted learner ignores the weights.", "bias", "noise", propensity="naive"
        ),
        "study-learns-nothing": _studies(
            "The weighted learner learns nothing.", "learning-curve", propensity="production"
        ),
        "series-learns-nothing": _studies(
            "The weighted learner learns nothing.", "bias", "noise", propensity="production"
        ),
        "beliefs-learn-nothing": _studies(
            "The weighted learner learns nothing.", "misspecification", propensity="production"
        ),
        "study-knows-labels": _studies(
            "The weighted learner sees all labels.", "learning-curve", propensity="skyline"
        ),
        "naive-knows": _studies(
            "With the most clicks, the naive learner sees all labels.",
            "learning-curve",
            where=_at_most_clicks,
            naive="skyline",
        ),
        "naive-knows-biased": _studies(
            "With the most clicks, the naive learner sees all labels.",
            "bias",
            where=_at_most_clicks,
            naive="skyline",
        ),
        "naive-knows-noisy": _studies(
            "With the most clicks, the naive learner sees all labels.",
            "noise",
            where=_at_most_clicks,
            naive="skyline",
        ),
        "study-clips-nothing": _studies(
            "The clipped learner does not clip.", "learning-curve", clipped="propensity"
        ),
        "study-clips-all": _studies(
            "The clipped learner always uses τ = 1.", "learning-curve", clip=1.0, clipped="naive"
        ),
        "study-belief-unused": _studies(
            "The learner ignores its assumed η.", "misspecification", propensity="naive"
        ),
        "study-fits-nothing": _studies(
            "The doubly robust learner fits nothing.", "few-clicks", doubly_robust="naive"
        ),
        "study-noise-unknown": _studies(
            "The affine learner mistakes noise for relevance.", "trust-steep", affine="propensity"
        ),
        "study-sees-all": _studies(
            "With the most clicks, the weighted learner sees what the lists leave out.",
            "cut",
            where=_at_most_clicks,
            propensity="skyline",
        ),
        "skip-above-knows": _studies(
            "The skip-above learner sees all labels.", "learning-curve", skip_above="skyline"
        ),
    }
)
"""All mutations by key; an entry of the ledger names one."""
