"""Users who leave after a click: their law, their log, and what a log tells of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from tests.meaning import mentions, refused
from tests.unit.risk.test_every_estimator import in_fractions
from ultr_core.corpus import Corpus, synthetic_splits
from ultr_core.errors import InputError
from ultr_core.jobs.job import _settings_from
from ultr_core.lab import Comparison
from ultr_core.lab.logs import belief_about, click_model, simulate_logs, user_model
from ultr_core.lab.methods import WEIGHTED_FIELDS, WORLD_FIELDS, stage
from ultr_core.learners.relevance import Shown, fit_relevance
from ultr_core.own_data.fitting import FIT_METHODS
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    RowNumbers,
    estimate_continuation,
    log_of_fixed_lists,
)
from ultr_core.propensity.hindsight import hindsight_propensities
from ultr_core.risk import estimate_risk, leaving_moments
from ultr_core.risk.by_rank import clicks_by_rank
from ultr_core.settings import POSITION_FIELDS, USERS_FIELD, Settings
from ultr_core.studies.cells import key_of_log
from ultr_core.users import (
    USERS,
    ClickLog,
    Cutoff,
    LeavingUsers,
    PowerLaw,
    Sessions,
    TableCurve,
    count_by_clicks_above,
    count_queries,
    leave_after_clicks,
    rows_by_clicks_above,
    simulate_leaving,
    simulate_sessions,
)

CURVE = TableCurve((1.0, 0.5, 0.25, 0.125))
HALF = LeavingUsers(CURVE, 1.0, 0.25, continuation=0.5)
OFFSETS = np.array([0, 4])
PRESENTED, JUDGED = np.array([2, 1, 4, 3]), np.array([1, 3, 2, 4])
RELEVANCE = np.array([True, False, True, True])
ROWS = rows_by_clicks_above(PRESENTED, OFFSETS)
HINDSIGHT, ROBUST = (ESTIMATORS[key] for key in ("hindsight", "hindsight-doubly-robust"))
FITTED = np.array([0.5, 0.25, 0.75, 0.125])


def visits(users: LeavingUsers) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every click pattern [documents], once for each way of leaving, with its probability."""
    clicking = users.at_first.click_probability(RELEVANCE, PRESENTED)
    stay, order = Fraction(users.continuation), np.argsort(PRESENTED)

    def on(rank: int, clicked: tuple[int, ...], weight: Fraction) -> Iterator:
        if rank == 4 or not weight:
            yield tuple(int(document in clicked) for document in range(4)), weight
            return
        document = int(order[rank])
        a, more = Fraction(clicking[document]), (*clicked, document)
        yield from on(rank + 1, clicked, weight * (1 - a))
        yield from on(rank + 1, more, weight * a * stay)
        yield from on(4, more, weight * a * (1 - stay))

    return on(0, (), Fraction(1))


def above(clicks: tuple[int, ...], document: int) -> int:
    """Clicks above a document in one pattern."""
    return sum(c for c, rank in zip(clicks, PRESENTED, strict=True) if rank < PRESENTED[document])


def enumerated(numbers: RowNumbers, users: LeavingUsers, ranks: np.ndarray) -> tuple:
    """Mean and variance of one presentation over all visits, in fractions."""
    keys = zip(ROWS.document.tolist(), ROWS.context.tolist(), strict=True)
    of_row = dict(zip(keys, in_fractions(numbers), strict=True))
    mean = square = Fraction(0)
    for clicks, weight in visits(users):
        pairs = [of_row[document, above(clicks, document)] for document in range(4)]
        total = sum(int(k) * (u * c + v) for k, (u, v), c in zip(ranks, pairs, clicks, strict=True))
        mean += weight * total
        square += weight * total**2
    return mean, square - mean**2


def test_click_probabilities_are_those_of_all_visits() -> None:
    found = HALF.click_probability(RELEVANCE, PRESENTED)
    for document in range(4):
        wanted = sum(weight for clicks, weight in visits(HALF) if clicks[document])
        assert found[document] == wanted  # powers of two: nothing is rounded
    two = HALF.click_probability(np.tile(RELEVANCE, 2), np.tile(PRESENTED, 2), [0, 4, 8])
    assert two.tolist() == [*found, *found]
    stays = replace(HALF, continuation=1.0).click_probability(RELEVANCE, PRESENTED)
    assert stays.tolist() == HALF.at_first.click_probability(RELEVANCE, PRESENTED).tolist()
    once = replace(HALF, continuation=0.0).click_probability(RELEVANCE, PRESENTED)
    assert once.sum() <= 1.0  # a cascade: the first click is the last


@pytest.mark.parametrize("key", ["naive", "ips", "hindsight", "hindsight-doubly-robust"])
@pytest.mark.parametrize("stay", [1.0, 0.5, 0.25])
def test_moments_by_recursion_are_those_of_all_visits(key: str, stay: float) -> None:
    users = replace(HALF, continuation=stay)
    belief = Belief(CURVE, 0.25, FITTED, continuation=0.5)
    numbers = ESTIMATORS[key].weigh(ROWS, belief)
    for ranks in (JUDGED, PRESENTED):
        found = leaving_moments(users, numbers, RELEVANCE, PRESENTED, ranks, OFFSETS)
        wanted = [float(moment) for moment in enumerated(numbers, users, ranks)]
        assert [found.mean[0], found.variance[0]] == pytest.approx(wanted, rel=1e-12)


def test_hindsight_counts_what_users_who_never_leave_would_do() -> None:
    """E = sum of rank a, for every ranking; clipping leaves (r - r_hat) times what it cuts."""
    a = HALF.at_first.click_given_examined(RELEVANCE)
    right = HINDSIGHT.weigh(ROWS, Belief(CURVE, continuation=0.5))
    unclipped = ROBUST.weigh(ROWS, Belief(CURVE, 0.0, FITTED, continuation=0.5))
    assert unclipped.u.tolist() == right.u.tolist() and not unclipped.v.any()
    exact = ROBUST.weigh(ROWS, Belief(CURVE, 0.25, a, continuation=0.5))
    for ranks in map(np.array, list(permutations(range(1, 5)))[::5]):
        for numbers in (right, exact):
            mean, _ = enumerated(numbers, HALF, ranks)
            assert mean == ranks @ a
    poor = ROBUST.weigh(ROWS, Belief(CURVE, 0.25, FITTED, continuation=0.5))
    found = float(enumerated(poor, HALF, JUDGED)[0]) - JUDGED @ a
    assert found == pytest.approx(JUDGED @ ((a - FITTED) * (counted_in_full() - 1)), rel=1e-12)
    assert abs(found) > 1


def counted_in_full() -> np.ndarray:
    """Sum over h of P(still there after h clicks) p / max(1/4, p lambda^h), of each document."""
    p = CURVE.at(PRESENTED)
    clicking = HALF.at_first.click_probability(RELEVANCE, PRESENTED)
    found, there = np.zeros(4), np.array([1.0, 0, 0, 0])
    for document in np.argsort(PRESENTED):
        stays = 0.5 ** np.arange(4)
        found[document] = (there * p[document] / np.maximum(0.25, p[document] * stays)).sum()
        clicked = there * clicking[document]
        there = there - clicked + np.append(0.0, 0.5 * clicked[:-1])
    return found


def test_a_wrong_lambda_or_none_is_biased() -> None:
    a = HALF.at_first.click_given_examined(RELEVANCE)
    believed = {stay: Belief(CURVE, continuation=stay) for stay in (0.5, 0.75)}
    errors = {
        stay: float(enumerated(HINDSIGHT.weigh(ROWS, belief), HALF, JUDGED)[0]) - JUDGED @ a
        for stay, belief in believed.items()
    }
    ips = float(enumerated(ESTIMATORS["ips"].weigh(ROWS, Belief(CURVE)), HALF, JUDGED)[0])
    assert errors[0.5] == 0.0 > errors[0.75] > ips - JUDGED @ a
    with refused("continuation", "λ"):
        HINDSIGHT.weigh(ROWS, Belief(CURVE, continuation=0.0))
    for key in ("ips", "clipped", "affine"):
        one, two = (ESTIMATORS[key].weigh(ROWS, belief) for belief in believed.values())
        assert one.u.tolist() == two.u.tolist()
    assert {"hindsight", "hindsight-doubly-robust"}.isdisjoint(FIT_METHODS)


def one_by_one(users: LeavingUsers, draws: int, rng: np.random.Generator) -> Sessions:
    """Users who come one by one, on the list of this file."""
    a = users.at_first.click_probability(RELEVANCE, PRESENTED)
    found: list[tuple[int, int]] = []
    for draw in range(draws):
        for document in np.argsort(PRESENTED):
            if rng.random() < a[document]:
                found.append((draw, int(document)))
                if rng.random() >= users.continuation:
                    break
    draw_of, document_of = np.array(found).T
    return Sessions(np.zeros(draws, np.int32), draw_of, document_of)


def shares(log: ClickLog) -> dict[tuple[int, int], np.ndarray]:
    """Impressions and clicks by document and clicks above."""
    keys = zip(log.document.tolist(), log.context.tolist(), strict=True)
    return dict(zip(keys, np.stack([log.impressions, log.clicks], 1), strict=True))


def test_counts_follow_the_law_of_users_who_come_one_by_one() -> None:
    """Three logs of 4,000 against the exact law: chi-square by row; by chance 1 run in 800."""
    draws = 4_000
    law: dict[tuple[int, int], np.ndarray] = {}
    for clicks, weight in visits(HALF):
        for document in range(4):
            row = law.setdefault((document, above(clicks, document)), np.zeros(2))
            row += float(weight) * np.array([1, clicks[document]])
    at_first = HALF.at_first.click_probability(RELEVANCE, PRESENTED)
    _, stayed = simulate_sessions(at_first, PRESENTED, OFFSETS, draws, 5)
    logs = (
        *(
            count_by_clicks_above(sessions, PRESENTED, OFFSETS)
            for sessions in (
                one_by_one(HALF, draws, np.random.default_rng(5)),
                leave_after_clicks(stayed, PRESENTED, HALF.continuation, 5),
            )
        ),
        simulate_leaving(HALF, RELEVANCE, PRESENTED, OFFSETS, draws, 5),
    )
    for log in logs:
        found = shares(log)
        assert found.keys() <= law.keys() and log.draws.tolist() == [draws]
        for document, rank in enumerate(PRESENTED):
            wanted = draws * np.stack([law[document, h] for h in range(rank)])
            seen = np.stack([found.get((document, h), np.zeros(2)) for h in range(rank)])
            cells = [np.column_stack([each[:, 1], each[:, 0] - each[:, 1]]) for each in
                     (seen, wanted)]  # fmt: skip
            counts, expected = (each.ravel()[cells[1].ravel() > 0] for each in cells)
            statistic = float(((counts - expected) ** 2 / expected).sum())
            assert statistic < chi2.ppf(1 - 1e-4, max(expected.size - 1, 1))


def test_a_log_keeps_its_queries_and_grows_with_them() -> None:
    relevance, ranks = np.tile(RELEVANCE, 30), np.tile(PRESENTED, 30)
    offsets = np.arange(0, 121, 4)
    small, again, large = (
        simulate_leaving(HALF, relevance, ranks, offsets, draws, 3) for draws in (500, 500, 900)
    )
    assert small.clicks.tolist() == again.clicks.tolist()
    assert small.draws.tolist() == count_queries(30, 500, 3).tolist()
    assert (small.impressions_per_document == np.repeat(small.draws, 4)).all()
    assert (small.clicks_per_document <= large.clicks_per_document).all()
    rows = zip(small.document, small.context, strict=True)
    assert len(set(rows)) == small.rank.size and small.context.max() >= 2
    for wrong in ([1, 1, 2, 3], [1, 2, 3, 5]):
        with refused("whole_lists"):
            simulate_leaving(HALF, RELEVANCE, wrong, OFFSETS, 10, 0)
    with refused("twice"):
        twice = Sessions(np.zeros(1, np.int32), np.array([0, 0]), np.array([1, 1]))
        count_by_clicks_above(twice, PRESENTED, OFFSETS)
    for wrong_stay in (-0.1, 1.1, float("nan")):
        with refused("continuation"):
            LeavingUsers(CURVE, continuation=wrong_stay)


def many(stay: float, draws: int, seed: int, queries: int = 150) -> ClickLog:
    """Lists of eight, a quarter relevant."""
    relevance = np.random.default_rng(seed).random(queries * 8) < 0.25
    ranks = np.tile(np.arange(1, 9), queries)
    users = LeavingUsers(PowerLaw(0.5), 0.9, 0.1, stay)
    return simulate_leaving(users, relevance, ranks, np.arange(0, queries * 8 + 1, 8), draws, seed)


@pytest.mark.parametrize("stay", [0.2, 0.6, 1.0])
def test_lambda_is_found_in_its_interval(stay: float) -> None:
    """Of 6 logs; with 95% intervals fewer than 4 would happen once in 400 runs."""
    found = [estimate_continuation(many(stay, 800, seed, queries=100)) for seed in range(6)]
    assert sum(one.low <= stay <= one.high for one in found) >= 4
    mean = np.mean([one.value for one in found])
    error = np.sqrt(sum(one.standard_error**2 for one in found)) / 6
    assert abs(mean - stay) < 4 * error < 0.2


def test_lambda_above_1_by_chance_is_1_for_weights() -> None:
    found = estimate_continuation(many(1.0, 800, 1, queries=100))
    above = replace(found, value=1.02, low=0.97, high=1.07)
    assert above.probability == 1.0 and found.probability == min(found.value, 1.0)
    for one in (found, above):
        assert (hindsight_propensities(PowerLaw(1.0), one.probability, [2], [1]) <= 0.5).all()
    with refused("continuation", "1.30", "1.20"):
        assert replace(found, value=1.3, low=1.2, high=1.4).probability


def test_lambda_is_refused_where_it_is_not_identified() -> None:
    log = many(0.5, 1_500, 1)
    pooled = ClickLog(
        np.arange(log.n_documents), np.tile(np.arange(1, 9), 150), log.impressions_per_document,
        log.clicks_per_document, log.query_draws, log.query_offsets, log.draws,
    )  # fmt: skip
    with refused("continuation", 0, 20):
        estimate_continuation(pooled)
    with refused("continuation", 15, 20):
        estimate_continuation(many(0.5, 1_500, 1, queries=15))
    rank = log.rank.copy()
    rank[np.flatnonzero(log.document == 7)[0]] = 7
    moved = ClickLog(
        log.document, rank, log.impressions, log.clicks, log.query_draws, log.query_offsets,
        log.draws, log.context,
    )  # fmt: skip
    with refused("whole_lists", "Document 7", 7, 8):
        estimate_continuation(moved)


LISTS = {
    "moved": [("a", "b"), ("b", "a"), ("a", "b")],
    "replaced": [("a", "b"), ("a", "c"), ("a", "b")],
    "cut": [("a", "b"), ("a",), ("a", "b")],
}


@pytest.mark.parametrize(
    ("lists", "named"),
    [("moved", ("a", 1, 2)), ("replaced", ("b", 2, 3, "another")), ("cut", ("b", 2, 3, "cut"))],
)
def test_lists_that_are_not_fixed_are_refused_for_what_they_are(
    lists: str, named: tuple[object, ...]
) -> None:
    rows: dict[tuple[int, int], int] = {}
    for each in LISTS[lists]:
        for rank, name in enumerate(each, 1):
            rows[ord(name) - 97, rank] = rows.get((ord(name) - 97, rank), 0) + 1
    document, rank = np.array(sorted(rows)).T
    shown = np.array([rows[key] for key in sorted(rows)])
    log = ClickLog(document, rank, shown, document == 0, 3, [0, 3], whole_lists=False)
    with refused("whole_lists", *named) as caught:
        estimate_continuation(log, name_of=lambda place: f"Document {'abc'[place]}")
    assert ("cut" in str(caught.value)) is (lists == "cut")


def test_clicks_alone_are_no_evidence_of_continuing() -> None:
    log = ClickLog([0, 1], [1, 2], [5, 3], [5, 3], 8, [0, 2], context=[0, 1], whole_lists=False)
    with refused("clicks_only"):
        estimate_continuation(log)


def test_clicks_of_one_presentation_give_no_interval_that_takes_them_as_independent() -> None:
    log = many(0.5, 1_500, 2)
    ranks = np.tile(np.arange(1, 9), 150)
    numbers = HINDSIGHT.weigh(log, Belief(PowerLaw(0.5), continuation=0.5))
    found = estimate_risk(log, ranks, numbers)
    assert found.no_interval and found.low == -np.inf
    assert found.value > 0


def test_settings_of_leaving_users_are_in_links_keys_and_notes() -> None:
    leaving = Settings(users="leaving", continuation=0.2)
    assert leaving.to_query() == "click_model=leaving&continuation=0.2"
    assert Settings.from_query({"click_model": "leaving", "continuation": "0.2"}) == (leaving, ())
    assert click_model(leaving) == LeavingUsers(PowerLaw(1.0), 1.0, 0.1, 0.2)
    assert click_model(replace(leaving, shown=3)).curve == Cutoff(PowerLaw(1.0), 3)
    assert belief_about(leaving).continuation == 0.2
    assert belief_about(Settings(continuation=0.2)).continuation == 1.0
    assert stage(leaving, WORLD_FIELDS) == Settings() and stage(leaving, WEIGHTED_FIELDS) == leaving
    assert key_of_log("naive", leaving) != key_of_log("naive", Settings(users="leaving"))
    assert Settings(users="leaving").as_dict()["continuation"] == 0.5
    assert "continuation" not in Settings().as_dict()
    with refused("users"):
        user_model(leaving)
    for users, idle in ((key, Settings(users=key).idle) for key in USERS_FIELD.options):
        assert ("continuation" in idle) is (users != "leaving")
        assert set(POSITION_FIELDS).issubset(idle) is USERS[users].own
    _, notes = _settings_from({"continuation": "0.2"})
    assert len(notes) == 1 and "--continuation" in notes[0]
    assert _settings_from({"users": "leaving", "continuation": "0.2"})[1] == ()
    _, notes = _settings_from({"users": "leaving", "eta": "0.5"}, believing=True)
    assert len(notes) == 1 and "--assumed-eta 0.5" in notes[0]
    of_plain = Comparison(Settings(continuation=0.2), {}, {}, 1, 1, 1, None, None, ()).as_dict()
    assert of_plain["without_effect"] == ["continuation"]


def tiny_world(queries: int = 150) -> SimpleNamespace:
    """What clicks are simulated on: training and validation queries as they are shown."""
    log = many(0.5, 10, 4, queries)
    shown = SimpleNamespace(
        relevance=np.random.default_rng(4).random(log.n_documents) < 0.25,
        presented_ranks=np.tile(np.arange(1, 9), queries),
        corpus=SimpleNamespace(query_offsets=log.query_offsets),
    )
    return SimpleNamespace(train=shown, validation=shown, logger_scores=(None, None))


@pytest.mark.parametrize(
    ("setting", "value", "acts_on"),
    [
        ("eta", 0.5, "log"), ("eps_plus", 0.8, "log"), ("eps_minus", 0.3, "log"),
        ("curve", (1.0, 0.3), "log"), ("continuation", 0.9, "both"),
        ("assumed_eta", 0.5, "weights"), ("assumed_curve", (1.0, 0.3), "weights"),
    ],
)  # fmt: skip
def test_each_setting_acts_on_the_clicks_or_on_what_they_are_divided_by(
    setting: str, value: object, acts_on: str
) -> None:
    usual = Settings(users="leaving", continuation=0.3, clicks=2_000)
    other = replace(usual, **{setting: value})
    logs = [simulate_logs(tiny_world(), each).train for each in (usual, other)]  # type: ignore[arg-type]
    same = [x.clicks.tolist() == logs[0].clicks.tolist() for x in logs]
    assert same == [True, acts_on == "weights"]
    plain, weighted = (
        [ESTIMATORS[key].weigh(logs[0], belief_about(each)).u for each in (usual, other)]
        for key in ("ips", "hindsight")
    )
    assert (plain[0] == plain[1]).all() == (acts_on != "weights")
    assert (weighted[0] == weighted[1]).all() == (acts_on == "log")
    assert plain[0].tolist() == logs[0].rank.tolist()  # 1 / p, whatever λ
    assert weighted[1] == pytest.approx(plain[1] / other.continuation ** logs[0].context)


def test_logs_of_a_comparison_are_counted_by_clicks_above() -> None:
    """Clicks as many as asked for, within 5 standard deviations of a sum of at most 3 a draw."""
    settings = Settings(users="leaving", continuation=0.3, clicks=2_000)
    logs = simulate_logs(tiny_world(), settings)  # type: ignore[arg-type]
    assert logs.train.context.max() >= 2 and logs.validation.context.any()
    assert abs(logs.train.total_clicks - 2_000) < 5 * np.sqrt(3 * 2_000)
    with refused("logger", "plackett-luce"):
        simulate_logs(tiny_world(), replace(settings, logger="plackett-luce"))  # type: ignore[arg-type]


def test_a_relevance_is_fitted_where_every_user_is_still_there() -> None:
    """To the rows without a click above: below one, fewer examine than the curve says."""
    log = many(0.3, 3_000, 7)
    rng = np.random.default_rng(7)
    relevance = rng.random(log.n_documents) < 0.25
    features = np.column_stack([relevance, rng.random(log.n_documents)]).astype(np.float32)
    corpus = Corpus(features, relevance.astype(int), log.query_offsets)
    first = log.context == 0
    alone = ClickLog(
        log.document[first], log.rank[first], log.impressions[first], log.clicks[first],
        log.query_draws, log.query_offsets, log.draws,
    )  # fmt: skip
    told, plain = (Belief(PowerLaw(0.5), continuation=stay) for stay in (0.3, 1.0))
    fit = fit_relevance(Shown(corpus, log), told)
    assert (
        fit.coefficients.tolist()
        == fit_relevance(Shown(corpus, alone), plain).coefficients.tolist()
    )
    wrong = fit_relevance(Shown(corpus, log), plain)
    truth = np.where(relevance, 0.9, 0.1)
    errors = [np.abs(one.of(corpus) - truth).mean() for one in (fit, wrong)]
    assert 2 * errors[0] < 0.06 < errors[1]
    belief = replace(told, relevance=truth)
    test = clicks_by_rank(log, belief)
    assert sum(test.observed) == log.clicks[first].sum() and not test.rejected
    assert clicks_by_rank(log, replace(belief, continuation=1.0)).rejected


def test_a_log_as_a_reader_has_it_can_have_leaving_users() -> None:
    """Clicks as many as asked for; λ in it, and the same law with and without sessions."""
    corpus = synthetic_splits(1, train_queries=60, validation_queries=1, test_queries=1).train
    settings = Settings(users="leaving", continuation=0.3, eta=0.3, clicks=4_000)
    counts, events = (
        simulate_own_log(corpus, settings, rankers=2, sessions=sessions)
        for sessions in (False, True)
    )
    assert counts.sessions is None and events.sessions is not None
    for made in (counts, events):
        assert abs(made.clicks - 4_000) < 4 * 4_000**0.5
        rows = list(csv.reader("".join(made.csv_pieces()).splitlines()))[1:]
        assert sum(int(row[-2]) for row in rows) == made.clicks  # the last is the ranker
    for one, other in zip(counts.logs, events.logs, strict=True):
        assert one.impressions.tolist() == other.impressions.tolist()
        assert one.covers_corpus and other.covers_corpus
        gap = (one.clicks - other.clicks) / np.sqrt(one.clicks + other.clicks).clip(1)
        assert abs(gap).max() < 5
    log = count_by_clicks_above(events.sessions[0], events.ranks[0], corpus.query_offsets)
    found = estimate_continuation(log)
    assert found.low < 0.3 < found.high < 0.6


@pytest.mark.parametrize("users", [key for key in USERS if key != "position"])
def test_a_log_as_a_reader_has_it_has_whole_lists_of_production(users: str) -> None:
    corpus = synthetic_splits(1, train_queries=40, validation_queries=1, test_queries=1).train
    settings = Settings(users=users, clicks=500)
    assert 400 < simulate_own_log(corpus, settings).clicks < 600
    with refused("shown", "10"):
        simulate_own_log(corpus, settings.with_values(shown=10))
    with refused("logger"):
        simulate_own_log(corpus, settings.with_values(logger="mixture"))


def test_the_guide_estimates_lambda_from_a_simulated_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = synthetic_splits(1, train_queries=40, validation_queries=1, test_queries=1).train
    settings = Settings(users="leaving", continuation=0.2, eta=0.3, clicks=2_000)
    made = simulate_own_log(corpus, settings, sessions=True)
    (tmp_path / "clicks.csv").write_text("".join(made.csv_pieces()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[3] / "docs" / "leaving.md").read_text(encoding="utf-8")
    (recipe,) = (part for part in re.findall(r"```python\n(.*?)```", guide, re.S) if "csv" in part)
    there: dict[str, Any] = {}
    exec(recipe, there)
    found = there["found"]
    assert found.low < 0.2 < found.high < 0.4
    assert found.later_clicks == sum(
        made.sessions[0].click_draw[1:] == made.sessions[0].click_draw[:-1]
    )


def test_a_log_of_two_lists_per_query_gives_no_lambda() -> None:
    corpus = synthetic_splits(1, train_queries=40, validation_queries=1, test_queries=1).train
    settings = Settings(users="leaving", continuation=0.2, eta=0.3, clicks=2_000)
    assert simulate_own_log(corpus, settings, sessions=True).notices == ()
    made = simulate_own_log(corpus, settings, sessions=True, rankers=2)
    assert mentions(made.notices[-1], 2, "λ")
    rows = pd.read_csv(io.StringIO("".join(made.csv_pieces())))
    page, query, document, position, click, ranker = (
        rows[name].to_numpy()
        for name in ("page", "query", "document", "position", "click", "ranker")
    )
    with refused("whole_lists", "position"):
        log_of_fixed_lists(page, query, document, position, click)
    of_list = [f"{q} by {r}" for q, r in zip(query, ranker, strict=True)]
    found = estimate_continuation(log_of_fixed_lists(page, of_list, document, position, click))
    assert found.low < 0.2 < found.high < 0.4


@pytest.mark.parametrize(
    ("changed", "about"),
    [
        ({"document": list("aaab")}, "whole_lists"),  # twice in one list
        ({"document": list("abac")}, "whole_lists"),  # two documents at one position
        ({"query": list("qqqr")}, "whole_lists"),  # two queries in one presentation
        ({"position": [1, 2, 1, 3]}, "whole_lists"),  # a gap
        ({"position": [1, 1, 1, 1]}, "whole_lists"),
        ({"position": [1, 2, 1, 0]}, "position"),
        ({"position": ["1", "2", "x", "1"]}, "position"),
        ({"click": [1, 1, 0, 2]}, "click"),
        ({"click": [1, 1, 0]}, ""),
    ],
)
def test_rows_that_are_not_whole_fixed_lists_are_refused(
    changed: dict[str, Any], about: str
) -> None:
    rows: dict[str, Any] = {
        "presentation": [1, 1, 2, 2], "query": list("qqqq"), "document": list("abab"),
        "position": [1, 2, 1, 2], "click": [1, 1, 0, 1],
    }  # fmt: skip
    log = log_of_fixed_lists(**rows)
    assert list(zip(log.document, log.context, log.clicks, strict=True)) == [
        (0, 0, 1), (1, 0, 1), (1, 1, 1),
    ]  # fmt: skip
    with pytest.raises(InputError) as error:
        log_of_fixed_lists(**{**rows, **changed})
    assert error.value.about == about
