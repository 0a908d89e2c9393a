"""Relevance fitted to clicks by least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.learners import relevance
from ultr_core.learners.relevance import RIDGES, Shown, fit_relevance, with_relevance
from ultr_core.propensity import Belief
from ultr_core.risk.by_rank import clicks_by_rank
from ultr_core.users import ClickLog, PowerLaw, TableCurve

CURVE = TableCurve((1.0, 0.5, 0.25))
BELIEF = Belief(CURVE)
TIMES = 1_000_000


def made(seed: int, queries: int = 30, columns: int = 3) -> tuple[Corpus, np.ndarray]:
    """A corpus, and a relevance that is linear in its features and lies in [0, 1]."""
    rng = np.random.default_rng(seed)
    x = rng.random((3 * queries, columns)).astype(np.float32)
    r = 0.1 + x.astype(np.float64) @ np.linspace(0.1, 0.4, columns)
    return Corpus(x, np.zeros(3 * queries, int), np.arange(0, 3 * queries + 1, 3)), r


def counted(corpus: Corpus, r: np.ndarray, seed: int = 0) -> ClickLog:
    """As many clicks as are expected of very many impressions: the fit has nothing to average."""
    queries = corpus.n_queries
    rank = np.concatenate(
        [np.random.default_rng((seed, q)).permutation(3) + 1 for q in range(queries)]
    )
    times = np.full(3 * queries, TIMES)
    clicks = np.rint(times * CURVE.at(rank) * r).astype(int)
    offsets = corpus.query_offsets
    return ClickLog(np.arange(3 * queries), rank, times, clicks, TIMES * queries, offsets)


def test_a_linear_relevance_is_found_whatever_was_shown_where() -> None:
    corpus, r = made(1)
    fit = fit_relevance(Shown(corpus, counted(corpus, r)), BELIEF, ridges=(1e-6,))
    assert fit.of(corpus) == pytest.approx(r, abs=1e-5)
    assert fit.coefficients == pytest.approx([0.1, 0.25, 0.4], abs=1e-5)
    assert fit.constant == pytest.approx(0.1, abs=1e-5)


def test_it_minimises_the_squares_of_the_rows() -> None:
    """Against plain least squares on one equation a row, of a log with several rows a document."""
    corpus, _ = made(2, queries=4)
    rng = np.random.default_rng(3)
    document, rank = np.repeat(np.arange(12), 2), np.tile([1, 3], 12)
    shown = rng.integers(1, 9, 24)
    log = ClickLog(document, rank, shown, rng.binomial(shown, 0.4), 100, corpus.query_offsets)
    scores = rng.normal(size=12)
    fit = fit_relevance(Shown(corpus, log, scores), BELIEF, ridges=(2.0,))
    x = np.column_stack([corpus.features.astype(np.float64), scores, np.ones(12)])[document]
    root, alpha = np.sqrt(shown), CURVE.at(rank)
    rows = np.vstack([x * (alpha * root)[:, None], np.sqrt(2.0) * np.eye(4, 5)])
    right = np.concatenate([root * log.clicks / shown, np.zeros(4)])
    plain = np.linalg.lstsq(rows, right, rcond=None)[0]
    assert [*fit.coefficients, fit.constant] == pytest.approx(plain, rel=1e-9)
    assert fit.of(corpus, scores).min() >= 0.0 and fit.of(corpus, scores).max() <= 1.0


def test_sparse_features_and_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, r = made(4)
    log = counted(corpus, r)
    dense = fit_relevance(Shown(corpus, log), BELIEF, ridges=(1.0,))
    kept = Corpus(sparse.csr_array(corpus.features), corpus.grades, corpus.query_offsets)
    monkeypatch.setattr(relevance, "_DOCUMENTS", 7)
    for other in (corpus, kept):
        found = fit_relevance(Shown(other, log), BELIEF, ridges=(1.0,))
        assert found.coefficients == pytest.approx(dense.coefficients, rel=1e-9)
        assert found.of(other) == pytest.approx(dense.of(corpus), rel=1e-9)


def test_held_out_clicks_choose_the_penalty() -> None:
    corpus, r = made(5)
    many, other = counted(corpus, r), counted(corpus, r, seed=1)
    exact = fit_relevance(Shown(corpus, many), BELIEF, validation=Shown(corpus, other))
    assert exact.ridge == min(RIDGES)
    against = counted(corpus, 1.0 - r)  # whatever was learned is wrong there
    wrong = fit_relevance(Shown(corpus, many), BELIEF, validation=Shown(corpus, against))
    assert wrong.ridge == max(RIDGES)
    silent = ClickLog([0], [1], [1], [0], 1, corpus.query_offsets)
    none = fit_relevance(Shown(corpus, many), BELIEF, validation=Shown(corpus, silent))
    assert none.ridge == relevance.RIDGE_WITHOUT_VALIDATION


def test_what_cannot_be_fitted_is_refused() -> None:
    corpus, _ = made(6, queries=2)
    only = ClickLog([0], [1], [2], [2], 2, corpus.query_offsets)
    with refused("clicks_only"):
        fit_relevance(Shown(corpus, only), BELIEF)
    below = ClickLog([0, 1], [2, 3], [2, 2], [1, 0], 2, corpus.query_offsets)
    with refused("relevance"):
        fit_relevance(Shown(corpus, below), Belief(TableCurve((1.0, 0.0))))
    wide = Corpus(np.zeros((2, 4_001), np.float32), np.zeros(2, int), np.array([0, 2]))
    with refused("too_large", "4,001 features"):
        fit_relevance(Shown(wide, ClickLog([0, 1], [1, 2], [1, 1], [1, 0], 1, [0, 2])), BELIEF)


def test_clicks_by_rank_show_a_fit_that_does_not_see_why_documents_were_low() -> None:
    """200 lists of 16 in the order of relevance, 0.7 down to 0.1, fitted by one number."""
    queries, size = 200, 16
    rank = np.tile(np.arange(1, size + 1), queries)
    r = 0.7 - 0.04 * (rank - 1)
    shown = np.full(rank.size, 5_000)
    belief = Belief(PowerLaw(1.0))
    clicks = np.rint(shown * PowerLaw(1.0).at(rank) * r).astype(int)
    offsets = np.arange(0, rank.size + 1, size)
    log = ClickLog(np.arange(rank.size), rank, shown, clicks, 5_000 * queries, offsets)
    one = Corpus(np.ones((rank.size, 1), np.float32), np.zeros(rank.size, int), offsets)
    blind = fit_relevance(Shown(one, log), belief)
    found = clicks_by_rank(log, with_relevance(belief, blind, Shown(one, log)))
    assert found.rejected == (3, 4) and found.finding.outcome == "does not hold"
    assert found.shares[0] > 1.0 and sum(found.observed) == log.total_clicks
    assert found.as_dict()["rejected"] is True
    seeing = Shown(one, log, r)
    known = with_relevance(belief, fit_relevance(seeing, belief), seeing)
    found = clicks_by_rank(log, known)
    assert not found.rejected and found.finding.outcome == "holds"
    # More clicks than predicted do no harm.
    low = clicks_by_rank(log, Belief(PowerLaw(1.0), relevance=np.full(rank.size, 0.01)))
    assert not low.rejected
    nothing = clicks_by_rank(log, Belief(PowerLaw(1.0), relevance=np.zeros(rank.size)))
    assert nothing.finding.outcome == "not checkable"


def test_few_missing_clicks_are_chance() -> None:
    log = ClickLog([0], [1], [20], [2], 20, [0, 1])
    assert not clicks_by_rank(log, Belief(CURVE, relevance=np.array([0.5]))).rejected
    more = ClickLog([0], [1], [2_000], [200], 2_000, [0, 1])
    assert clicks_by_rank(more, Belief(CURVE, relevance=np.array([0.5]))).rejected == (0,)
