"""Simulated click logs of a world, one pair (training, validation) for each draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.curve_values import CURVES, Values
from ultr_core.errors import InputError
from ultr_core.fields import Choice, Number
from ultr_core.lab.world import LoggedQueries, World
from ultr_core.propensity import Belief
from ultr_core.propensity.curves import MeasuredCurve, table_curve
from ultr_core.settings import (
    CONTINUATION_FIELD,
    FURTHER_FIELDS,
    LOGGER_FIELD,
    SHOWN_FIELD,
    USERS_FIELD,
    Settings,
)
from ultr_core.users import (
    LOGGERS,
    USERS,
    ClickLog,
    LeavingUsers,
    PositionModel,
    TrustBiasModel,
    clicks_per_query_draw,
    count_queries,
    query_draws_for,
    simulate_counts,
    simulate_leaving,
)
from ultr_core.users.examination import Cutoff, ExaminationCurve, PowerLaw
from ultr_core.users.loggers import Query
from ultr_core.users.query_draws import child
from ultr_core.users.registry import AffineUsers
from ultr_core.words import with_minus


def true_curve(settings: Settings) -> MeasuredCurve:
    """How the users examine ranks: the given curve, or p_r = (1/r)^η (section 5.1)."""
    return _curve(settings.curve, settings.eta)


def assumed_curve(settings: Settings) -> MeasuredCurve:
    """What the learner divides by: the given curve, or (1/r)^η′ (section 7.5)."""
    return _curve(settings.assumed_curve, settings.assumed_eta)


def mistaken_curve(settings: Settings) -> MeasuredCurve:
    """The assumed curve if it is wrong; if it is right, a power law that is wrong.

    That law is (1/r)^η′ with η′ = 1 if a curve is given, 1.5 η for 0 < η <= 1.3, and 0.5 otherwise.
    """
    if not settings.belief_is_right:
        return assumed_curve(settings)
    if settings.curve:
        return PowerLaw(1.0)
    return PowerLaw(1.5 * settings.eta if 0 < settings.eta <= 1.3 else 0.5)


def _curve(values: Values, eta: float) -> MeasuredCurve:
    return table_curve(values) if values else PowerLaw(eta)


def curve_notices(settings: Settings, longest_list: int | None = None) -> tuple[str, ...]:
    """A sentence for each given curve that ends above the lowest rank of the corpus.

    longest_list: size of the longest candidate list for which the curve is needed; None if unknown.
    """
    lists = (
        "but lists may be longer"
        if longest_list is None
        else f"but lists go down to rank {longest_list}"
    )
    return tuple(
        f"{CURVES[name].label} covers ranks 1 to {len(values)}, {lists}: from rank "
        f"{len(values) + 1} down, the value at rank {len(values)}, {values[-1]:.3g}, is used."
        for name, values in settings.curves.items()
        if longest_list is None or len(values) < longest_list
    )


VALIDATION_SHARE = 0.15
"""Validation clicks as a share of the training clicks (section 7.1)."""

FEWEST_QUERY_DRAWS = 2
"""A standard error needs two draws, even where one would bring the clicks that were asked for."""


@dataclass(frozen=True, eq=False)
class Logs:
    """Clicks on the training and on the validation queries."""

    train: ClickLog
    validation: ClickLog


def user_model(settings: Settings) -> PositionModel:
    """The position model with click noise that the simulated users follow (section 5).

    Raises InputError for other users, for other loggers, and for lists that are cut.
    """
    require_usual(settings, *FURTHER_FIELDS)
    found = click_model(settings)
    assert isinstance(found, PositionModel)
    return found


def require_usual(settings: Settings, *fields: Choice | Number) -> None:
    """Raise InputError unless these fields, of ``FURTHER_FIELDS``, are at their defaults."""
    for field in fields:
        if field.name in settings.further:
            value = field.shown(getattr(settings, field.name))
            also = " or a simulated log" if field in (USERS_FIELD, CONTINUATION_FIELD) else ""
            raise InputError(
                f"Only a comparison of rankers{also} can use {field.label} = {value}; everything "
                f"else needs {field.shown(field.default)}.",
                field.name,
            )


def require_fixed_lists(settings: Settings) -> None:
    """Raise InputError where users who leave would see lists that vary."""
    leave = isinstance(click_model(settings), LeavingUsers)
    if leave and not LOGGERS[settings.logger].fixed:
        raise InputError(
            "Users who leave after a click are simulated on fixed lists only; choose the "
            f"logger production, not {settings.logger}.",
            LOGGER_FIELD.name,
        )


def click_model(settings: Settings) -> AffineUsers:
    """How the users of the settings click, whichever of ``USERS`` they are; nobody below rank k."""
    return _of_kind(settings, true_curve(settings))


def _of_kind(settings: Settings, curve: ExaminationCurve) -> AffineUsers:
    users = USERS[settings.users].model(
        curve, settings.eps_plus, settings.eps_minus, settings.continuation
    )
    if settings.shown == SHOWN_FIELD.default:
        return users
    return replace(users, curve=Cutoff(users.curve, settings.shown))


def belief_about(settings: Settings) -> Belief:
    """What the learner believes: the assumed curve, the noise of the users, and their lambda.

    Of users with a curve of their own it knows that. Noise and lambda are for estimators that need
    them.
    """
    believed = _of_kind(settings, assumed_curve(settings))
    continuation = believed.continuation if isinstance(believed, LeavingUsers) else 1.0
    return Belief(believed.curve, users=believed, continuation=continuation)


def world_notices(world: World, settings: Settings) -> tuple[str, ...]:
    """What a reader should know about the corpus and about given curves that are too short for
    it."""
    parts = (world.train.corpus, world.validation.corpus)
    longest = max(int(corpus.sizes.max(initial=1)) for corpus in parts)
    return (
        *world.notices, *curve_notices(settings, longest), *_holes(world, settings),
        *_price(world, settings),
    )  # fmt: skip


def _holes(world: World, settings: Settings) -> tuple[str, ...]:
    """What a logger that always shows the same list never shows."""
    train = world.train
    below = train.relevance & (train.presented_ranks > settings.shown)
    if not LOGGERS[settings.logger].fixed or not below.any():
        return ()
    share = float(below.sum() / train.relevance.sum())
    return (
        f"{share:.0%} of the relevant training documents are below rank {settings.shown}, where "
        "nobody ever sees them; no weight can fix that, but fitted relevance may.",
    )


def _price(world: World, settings: Settings) -> tuple[str, ...]:
    """What users pay for lists that change."""
    logger = LOGGERS[settings.logger]
    if logger.fixed:
        return ()
    price = logger_price(world, settings)
    before = (
        float(world.train.presented_ranks @ world.train.relevance) / world.train.corpus.n_queries
    )
    return (
        f"{logger.label} changes the risk of what users see by {with_minus(f'{price:+.2f}')}, from "
        f"{before:.2f} with production alone (exact, on the training queries).",
    )


def logger_price(world: World, settings: Settings) -> float:
    """Risk of a logger's rankings minus that of production's, on the training queries, exactly.

    Mean over queries of sum_d r_d (E[rank_d] - production's rank of d), equation 2.
    """
    train, total = world.train, 0.0
    logger = LOGGERS[settings.logger]
    for documents, query in _by_query(train, world.logger_scores[0], settings.shown):
        moved = logger.mean_ranks(query) - np.arange(1, documents.size + 1)
        total += float(moved @ train.relevance[documents])
    return total / train.corpus.n_queries


def known_exposure(
    world: World, part: int, settings: Settings, curve: ExaminationCurve
) -> NDArray[np.float64]:
    """The exact rho of each training (part 0) or validation document (1) under the logger.

    float64 [documents]: its mean propensity over all lists that the logger of the settings may
    show, with the examination of ``curve``; correct only for the lists of this logger.
    """
    queries = (world.train, world.validation)[part]
    logger, found = LOGGERS[settings.logger], np.zeros(queries.corpus.n_documents)
    for documents, query in _by_query(queries, world.logger_scores[part], settings.shown):
        found[documents] = logger.exposure(query, curve.at(np.arange(1, query.places + 1)))
    return found


def _by_query(
    queries: LoggedQueries,
    scores: NDArray[np.float64],
    shown: int,
    numbers: NDArray[np.int64] | None = None,
) -> Iterator[tuple[NDArray[np.int64], Query]]:
    """Documents of each query in production's order, and the query as a logger has it.

    numbers: of the queries, None for all.
    """
    offsets = queries.corpus.query_offsets
    every = np.arange(offsets.size - 1) if numbers is None else numbers
    for first, last in zip(offsets[every].tolist(), offsets[every + 1].tolist(), strict=True):
        documents = first + np.argsort(queries.presented_ranks[first:last])
        yield documents, Query(scores[documents], shown, 0)


def simulate_logs(
    world: World, settings: Settings, draw: int = 0, *, training: ClickLog | None = None
) -> Logs:
    """Simulate users' clicks: the logs of draw number ``draw`` with the settings' seed.

    The number of presentations is fixed so that ``settings.clicks`` clicks are expected on the
    training queries, and ``VALIDATION_SHARE`` times as many on the validation queries. Each draw
    and part has its own random stream, so that no draw depends on how many there are. ``training``
    is the result of `simulate_training_log`, if available.
    """
    clicks = settings.clicks * VALIDATION_SHARE
    return Logs(
        training if training is not None else simulate_training_log(world, settings, draw),
        _simulate(world, 1, settings, clicks, (draw, 1)),
    )


def simulate_training_log(world: World, settings: Settings, draw: int = 0) -> ClickLog:
    """The clicks on the training queries alone, the same as from `simulate_logs`.

    If nothing is trained, the clicks on the validation queries need not be simulated.
    """
    return _simulate(world, 0, settings, settings.clicks, (draw, 0))


def _simulate(
    world: World, part: int, settings: Settings, clicks: float, stream: tuple[int, int]
) -> ClickLog:
    queries = (world.train, world.validation)[part]
    users, varied = click_model(settings), not LOGGERS[settings.logger].fixed
    seed = np.random.SeedSequence(settings.seed, spawn_key=stream)
    ranks, offsets = queries.presented_ranks, queries.corpus.query_offsets
    require_fixed_lists(settings)
    if isinstance(users, LeavingUsers):
        probability = users.click_probability(queries.relevance, ranks, offsets)
        draws = draws_for(clicks, probability, offsets)
        return simulate_leaving(users, queries.relevance, ranks, offsets, draws, seed)
    if varied:
        return _varied(queries, users, world.logger_scores[part], settings, clicks, seed)
    probability = users.click_probability(queries.relevance, ranks)
    draws = draws_for(clicks, probability, offsets)
    return simulate_counts(probability, ranks, offsets, draws, seed)


PILOT = 10
"""Draws of each query from which it is learned how many clicks a draw of varied lists brings."""


def _varied(
    queries: LoggedQueries,
    users: PositionModel | TrustBiasModel,
    scores: NDArray[np.float64],
    settings: Settings,
    clicks: float,
    seed: np.random.SeedSequence,
) -> ClickLog:
    """Clicks on lists that change from draw to draw; logs of several sizes are not nested."""
    offsets = queries.corpus.query_offsets
    pilot = np.full(offsets.size - 1, PILOT)
    document, rank, times = shown_rows(queries, scores, settings, pilot, child(seed, 2))
    rate = float(times @ users.click_probability(queries.relevance[document], rank))
    draws = max(FEWEST_QUERY_DRAWS, query_draws_for(clicks, rate / float(pilot.sum())))
    drawn = count_queries(offsets.size - 1, draws, seed)
    document, rank, times = shown_rows(queries, scores, settings, drawn, child(seed, 3))
    pi = users.click_probability(queries.relevance[document], rank)
    clicked = np.random.default_rng(child(seed, 1)).binomial(times, pi)
    return ClickLog(document, rank, times, clicked, draws, offsets, draws=drawn)


def shown_rows(
    queries: LoggedQueries,
    scores: NDArray[np.float64],
    settings: Settings,
    drawn: NDArray[Any],
    seed: np.random.SeedSequence,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Document, rank and impressions of each row of a log, as the logger shows so many draws.

    drawn N_q [queries]. A document that is left out of a list of k is at rank k + 1.
    """
    counts, rng = LOGGERS[settings.logger].counts, np.random.default_rng(seed)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    numbers = np.flatnonzero(drawn)
    asked = _by_query(queries, scores, settings.shown, numbers)
    for number, (documents, query) in zip(numbers.tolist(), asked, strict=True):
        query = replace(query, draws=int(drawn[number]))
        times = counts(query, rng)
        if query.places < documents.size:
            left_out = query.draws - times.sum(axis=1, keepdims=True)
            times = np.hstack([times, left_out])
        place, rank = np.nonzero(times)
        found.append((documents[place], rank + 1, times[place, rank]))
    document, rank, times = (np.concatenate(column) for column in zip(*found, strict=True))
    return document, rank, times


def draws_for(
    clicks: float, probability: NDArray[np.float64], query_offsets: NDArray[np.int64]
) -> int:
    """Presentations from which so many clicks are expected, at least ``FEWEST_QUERY_DRAWS``.

    probability [documents]: of a click on each as it is shown; query_offsets [queries + 1].
    """
    rate = clicks_per_query_draw(probability, query_offsets)
    return max(FEWEST_QUERY_DRAWS, query_draws_for(clicks, rate))
