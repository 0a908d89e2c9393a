from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.propensity.weights import Weights

Problem = tuple[Corpus, Weights]


def make_problem(
    seed: int,
    *,
    queries: int = 8,
    most: int = 8,
    features: int = 4,
    ties: bool = False,
    weighted: bool = False,
    scales: float = 1.0,
) -> Problem:
    """A small random corpus with clicks; sizes differ and are in no order."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, queries)
    sizes[0] = max(sizes[0], 2)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    documents = int(offsets[-1])
    x = rng.normal(size=(documents, features))
    if ties:
        x = np.round(x)
        x[rng.integers(documents, size=documents // 2)] = x[0]
        x[:, -1] = x[:, 0]
    x *= np.exp(rng.uniform(-scales, scales, features))
    values = (rng.random(documents) < 0.4).astype(float) * rng.integers(1, 4, documents)
    values[0] = 1.0
    clicks = values.sum()
    if weighted:
        values *= rng.integers(1, 20, documents)
    corpus = Corpus(
        features=x.astype(np.float32),
        grades=rng.integers(0, 5, documents).astype(np.int16),
        query_offsets=offsets,
    )
    return corpus, Weights(values, clicks)


@pytest.fixture(scope="session")
def small_problem() -> Callable[..., Problem]:
    return make_problem


@pytest.fixture(scope="session")
def medium_problem() -> Problem:
    """Large enough for the solver to work in float32: 600 queries of 2 to 60 documents."""
    rng = np.random.default_rng(5)
    sizes = np.clip(np.round(rng.gamma(2.6, 8, 600)), 2, 60).astype(int)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    x = rng.random((offsets[-1], 30)).astype(np.float32)
    utility = x @ rng.normal(size=30) + rng.normal(size=len(x))
    relevant = utility > np.quantile(utility, 0.9)
    rank = np.concatenate([rng.permutation(m) + 1 for m in sizes])
    clicks = rng.poisson(20 / rank * np.where(relevant, 1, 0.1))
    corpus = Corpus(features=x, grades=relevant.astype(np.int16), query_offsets=offsets)
    return corpus, Weights((clicks * rank).astype(float), float(clicks.sum()))
