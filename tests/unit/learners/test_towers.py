"""Two-tower fits: derivatives, optimality, what is left out, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.learners.certificate import DUALITY_GAP
from ultr_core.learners.towers import (
    JOINS,
    RIDGES,
    TOLERANCE,
    Join,
    TowerRows,
    Towers,
    _Problem,
    fit_towers,
    ranks_apart,
    select_towers,
)
from ultr_core.users import ClickLog

FORMS = list(JOINS.values())
LABELS = list(JOINS)
ADDITIVE, PRODUCT = FORMS


def made(seed: int, documents: int = 60, ranks: int = 5) -> TowerRows:
    """Random rows, two for each document, with whole clicks and a click at every rank."""
    rng = np.random.default_rng(seed)
    x, rank = rng.normal(size=(documents, 3)), rng.integers(1, ranks + 1, 2 * documents)
    document = np.repeat(np.arange(documents), 2)
    shown = rng.integers(20, 60, 2 * documents)
    chance = expit(x[document] @ [1.0, -0.5, 0.0] - 1.0) / rank
    return TowerRows(
        x, document, rank, shown.astype(float), rng.binomial(shown, chance).astype(float)
    )


def log_of(rows: TowerRows, clicked: bool = True) -> tuple[Corpus, ClickLog]:
    """The same rows, each document once, as a corpus of one query and its log."""
    documents = len(rows.features)
    first = np.arange(0, rows.rank.size, 2)
    corpus = Corpus(
        rows.features.astype(np.float32), np.zeros(documents, int), np.array([0, documents])
    )
    shown, clicks = rows.impressions[first].astype(int), rows.clicks[first].astype(int)
    return corpus, ClickLog(
        np.arange(documents), rows.rank[first], shown, clicks * clicked, 100, [0, documents]
    )


@pytest.mark.parametrize("join", FORMS, ids=LABELS)
def test_the_gradient_is_that_of_the_objective(join: Join) -> None:
    rows = made(1)
    problem = _Problem(rows, rows.rank - 1, join, ridge=3.0)
    t = np.array([0.3, -0.2, 0.1, -0.7, -0.5, -0.9, -1.2, -0.1])
    slope, bend = problem.derivatives(t)
    for i, step in enumerate(np.eye(t.size) * 1e-6):
        rise = (problem.value(t + step) - problem.value(t - step)) / 2e-6
        assert slope[i] == pytest.approx(rise, abs=1e-7)
    assert np.array_equal(bend, bend.T) and np.linalg.eigvalsh(bend)[0] > 0
    if join is ADDITIVE:  # where the expected curvature is the curvature
        for i, step in enumerate(np.eye(t.size) * 1e-6):
            turn = (problem.derivatives(t + step)[0] - problem.derivatives(t - step)[0]) / 2e-6
            assert bend[i] == pytest.approx(turn, abs=1e-7)


@pytest.mark.parametrize("join", FORMS, ids=LABELS)
def test_nothing_near_a_fit_is_lower_and_the_certificate_says_so(join: Join) -> None:
    rows = made(2)
    found = fit_towers(rows, join)
    assert found.gradient <= TOLERANCE and found.bias[0] == 0.0
    problem = _Problem(rows, rows.rank - 1, found.join, ridge=1.0)
    best = problem.parameters(found)
    assert problem.value(best) == pytest.approx(found.objective, rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(20):
        near = np.clip(best + 0.05 * rng.normal(size=best.size), problem.low, problem.high)
        assert problem.value(near) > found.objective
    elsewhere = problem.minimised(np.clip(best + 0.1, problem.low, problem.high))
    assert elsewhere[1] == pytest.approx(found.objective, rel=1e-12)


def test_without_a_position_tower_it_is_logistic_regression() -> None:
    rows = made(3)
    found = fit_towers(rows, ADDITIVE, position=False, ridge=2.0)

    def objective(t: np.ndarray) -> float:
        z = rows.features[rows.document] @ t[:3] + t[3]
        return float(rows.impressions @ np.logaddexp(0, z) - rows.clicks @ z + t[:3] @ t[:3])

    plain = minimize(objective, np.zeros(4), options={"gtol": 1e-6}).x
    assert [*found.coefficients, found.constant] == pytest.approx(plain, abs=1e-5)
    assert found.bias.tolist() == [0.0]


@pytest.mark.parametrize("join", FORMS, ids=LABELS)
def test_order_parts_of_rows_and_sparse_features_change_nothing(join: Join) -> None:
    rows = made(4)
    found = fit_towers(rows, join)
    mixed = np.random.default_rng(5).permutation(rows.rank.size)
    columns = ("document", "rank", "impressions", "clicks")
    shuffled = replace(rows, **{name: getattr(rows, name)[mixed] for name in columns})
    half = replace(rows, impressions=rows.impressions / 2, clicks=rows.clicks / 2)
    twice = replace(half, **{name: np.tile(getattr(half, name), 2) for name in columns})
    thin = replace(rows, features=sparse.csr_array(rows.features))
    for same in (shuffled, twice, thin):
        again = fit_towers(same, found.join)
        assert again.coefficients == pytest.approx(found.coefficients, abs=1e-7)
        assert again.bias == pytest.approx(found.bias, abs=1e-7)


def test_what_moves_between_the_towers_leaves_the_likelihood() -> None:
    """A feature that is a function of the rank: the same clicks whatever goes to which tower."""
    rows = made(6)
    rank = np.arange(1, 6)
    at = replace(rows, features=np.eye(5), document=rows.rank - 1)
    f, b = np.array([0.0, 0.3, -0.4, 1.0, 2.0]), -np.log(rank)
    one, other = (
        Towers(ADDITIVE, w, -1.0, bias, 1.0, 0.0, 0.0, 0) for w, bias in ((0 * f, b), (f, b - f))
    )
    assert one.log_odds(at) == pytest.approx(other.log_odds(at), abs=1e-15)
    assert one.loss(at) == pytest.approx(other.loss(at), rel=1e-14)


@pytest.mark.parametrize("join", FORMS, ids=LABELS)
def test_a_rank_without_a_click_says_nothing_about_relevance(join: Join) -> None:
    rows = made(7)
    silent = replace(rows, clicks=np.where(rows.rank == 4, 0.0, rows.clicks))
    found = fit_towers(silent, join)
    without = fit_towers(silent.among(rows.rank != 4), found.join)
    assert found.bias[3] == -np.inf and np.isfinite(np.delete(found.bias, 3)).all()
    assert np.array_equal(found.coefficients, without.coefficients)
    assert found.examination[3] == 0.0
    assert (expit(found.log_odds(silent))[rows.rank == 4] == 0.0).all()
    assert found.loss(silent) == found.loss(silent.among(rows.rank != 4))


def test_examination_of_the_product_form_is_a_probability() -> None:
    """Clicks that rise down the list push b to its bound, where the gradient leads outwards."""
    rows = made(8)
    rising = replace(rows, clicks=np.minimum(rows.impressions, 3.0 * rows.rank))
    found = fit_towers(rising, PRODUCT)
    assert found.bias.max() == 0.0 and (found.bias == 0.0).sum() > 1
    assert found.gradient <= TOLERANCE
    assert fit_towers(rising, ADDITIVE).bias[-1] > 0.5


def test_low_ranks_share_the_last_one() -> None:
    rows = made(9)
    found = fit_towers(rows, ADDITIVE, last_rank=3)
    pooled = fit_towers(replace(rows, rank=np.minimum(rows.rank, 3)), ADDITIVE)
    assert found.bias.size == 3
    assert np.array_equal(found.bias, pooled.bias)
    assert found.loss(rows) == pytest.approx(found.loss(replace(rows, rank=rows.rank.clip(max=3))))


def test_held_out_clicks_choose_the_penalty() -> None:
    corpus, log = log_of(made(10, documents=120))
    other, held_out = log_of(made(11, documents=120))
    found = select_towers(corpus, log, other, held_out, ADDITIVE)
    rows, judged = TowerRows.of_log(corpus, log), TowerRows.of_log(other, held_out)
    losses = [fit_towers(rows, ADDITIVE, ridge=ridge).loss(judged) for ridge in RIDGES]
    assert found.estimates[0] == pytest.approx(losses, rel=1e-9)
    best = RIDGES[int(np.argmin(losses))]
    assert found.ranker.cost == pytest.approx(log.total_clicks / best)
    certificate = found.ranker.certificate
    assert certificate.measure != DUALITY_GAP and certificate.gap <= TOLERANCE
    silent = log_of(made(11, documents=120), clicked=False)[1]
    alone = select_towers(corpus, log, other, silent, ADDITIVE)
    assert alone.estimates.shape == (1, 1) and np.isnan(alone.estimates).all()


@pytest.mark.parametrize("join", FORMS, ids=LABELS)
def test_units_of_features_and_certain_clicks_do_not_stop_a_fit(join: Join) -> None:
    """With next to no penalty, s is the same in any units; a rank may be clicked every time."""
    rows = made(13)
    one, other = (
        fit_towers(replace(rows, features=rows.features * units), join, ridge=1e-12)
        for units in (1.0, np.array([1e6, 1.0, 1e-3]))
    )
    assert max(one.gradient, other.gradient) <= TOLERANCE
    assert other.coefficients * [1e6, 1.0, 1e-3] == pytest.approx(one.coefficients, abs=1e-6)
    always = replace(rows, clicks=np.where(rows.rank <= 2, rows.impressions, rows.clicks))
    found = fit_towers(always, join)
    assert found.gradient <= TOLERANCE
    assert expit(found.log_odds(always))[rows.rank == 2].min() > 0.999


def test_logs_that_cannot_tell_are_refused() -> None:
    rows = made(12)
    corpus, log = log_of(rows)
    for ridge in (0.0, -1.0, np.nan, np.inf):
        with refused("towers_ridge"):
            fit_towers(rows, ADDITIVE, ridge=ridge)
    with refused("towers_reference", 1):
        fit_towers(replace(rows, clicks=np.where(rows.rank == 1, 0.0, rows.clicks)), PRODUCT)
    for clicks in (np.zeros_like(log.clicks), log.impressions):
        one_kind = ClickLog(log.document, log.rank, log.impressions, clicks, 100, log.query_offsets)
        with refused("towers_clicks"):
            TowerRows.of_log(corpus, one_kind)


def test_ranks_are_linked_by_documents_that_moved() -> None:
    """Two queries of three: document 0 at ranks 1 and 2, document 5 at ranks 3 and 1."""
    document, rank = [0, 0, 1, 1, 2, 3, 4, 5], [1, 2, 2, 1, 3, 1, 2, 3]
    one = np.ones(8, int)
    log = ClickLog(document, rank, one, 0 * one, 4, [0, 3, 6])
    assert ranks_apart(log, 3).tolist() == [0, 0, 1]
    more = ClickLog([*document, 5], [*rank, 1], np.ones(9, int), np.zeros(9, int), 4, [0, 3, 6])
    assert ranks_apart(more, 3).tolist() == [0, 0, 0]


def test_the_example_of_the_guide_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    guide = Path(__file__).parents[3] / "docs" / "two_towers.md"
    found = re.search(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    exec(found[1], {})
    assert capsys.readouterr().out == found[2]
