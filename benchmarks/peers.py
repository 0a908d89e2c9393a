"""Other software on the same objective, or on the same clicks."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.works import Work
from ultr_core.corpus import Corpus
from ultr_core.propensity.weights import Weights

Differences = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]


def explicit_pairs(corpus: Corpus, weights: Weights, cost: float) -> Differences:
    """Differences x_i - x_j with random signs, the signs, and cost / n times the weights."""
    x = np.asarray(corpus.features)
    preferred, other = [], []
    for begin, end in pairwise(corpus.query_offsets.tolist()):
        clicked = begin + np.flatnonzero(weights.values[begin:end])
        left = np.repeat(clicked, end - begin)
        right = np.tile(np.arange(begin, end), len(clicked))
        preferred.append(left[left != right])
        other.append(right[left != right])
    i, j = np.concatenate(preferred), np.concatenate(other)
    signs = np.where(np.random.default_rng(0).random(len(i)) < 0.5, 1, -1)
    differences = (x[i] - x[j]).astype(np.float64)
    differences *= signs[:, None]
    return differences, signs, cost / weights.clicks * weights.values[i]


def linear_svc(corpus: Corpus, weights: Weights, cost: float) -> NDArray[np.float64]:
    """scikit-learn's LinearSVC (hinge, dual coordinate descent), including the differences."""
    from sklearn.svm import LinearSVC

    differences, signs, factors = explicit_pairs(corpus, weights, cost)
    model = LinearSVC(loss="hinge", dual=True, C=1.0, fit_intercept=False, tol=0.1, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(differences, signs, sample_weight=factors)
    return np.asarray(model.coef_[0])


def sgd(corpus: Corpus, weights: Weights, cost: float) -> NDArray[np.float64]:
    """scikit-learn's SGDClassifier (hinge, averaged, 5 epochs), including the differences."""
    from sklearn.linear_model import SGDClassifier

    differences, signs, factors = explicit_pairs(corpus, weights, cost)
    model = SGDClassifier(
        loss="hinge",
        alpha=1.0 / factors.sum(),
        average=True,
        max_iter=5,
        tol=None,
        fit_intercept=False,
        random_state=0,
    )
    model.fit(differences, signs, sample_weight=factors * len(factors) / factors.sum())
    return np.asarray(model.coef_[0])


def exact_program(corpus: Corpus, weights: Weights, cost: float) -> NDArray[np.float64]:
    """The quadratic program with one slack per pair, by an interior-point method (Clarabel)."""
    import cvxpy as cp

    differences, signs, factors = explicit_pairs(corpus, weights, cost)
    differences *= signs[:, None]
    w = cp.Variable(corpus.n_features)
    slack = cp.Variable(len(factors), nonneg=True)
    goal = cp.Minimize(0.5 * cp.sum_squares(w) + factors @ slack)
    cp.Problem(goal, [differences @ w >= 1 - slack]).solve(solver="CLARABEL")
    return np.asarray(w.value)


def lightgbm_ranker(work: Work, clicks: int) -> object:
    """LightGBM lambdarank with positions, 100 trees, on the sessions of a click log."""
    import lightgbm

    from ultr_core.users import simulate_sessions

    offsets = work.corpus.query_offsets
    draws = work.log(clicks).query_draws
    _, sessions = simulate_sessions(work.click_probability, work.ranks, offsets, draws, 0)
    sizes = work.corpus.sizes[sessions.query]
    first = np.cumsum(sizes) - sizes
    rows = np.repeat(offsets[sessions.query] - first, sizes) + np.arange(sizes.sum())
    labels = np.zeros(len(rows))
    starts = offsets[sessions.query[sessions.click_draw]]
    labels[first[sessions.click_draw] + sessions.click_document - starts] = 1
    data = lightgbm.Dataset(
        np.asarray(work.corpus.features)[rows], labels, group=sizes, position=work.ranks[rows]
    )
    options = {"objective": "lambdarank", "num_threads": 1, "verbose": -1}
    return lightgbm.train(options, data, num_boost_round=100)
