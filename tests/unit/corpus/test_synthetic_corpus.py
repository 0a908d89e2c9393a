"""The built-in corpus: its shape, its determinism and the calibrated noise shares."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import DEFAULT_SHAPE, YAHOO_SHAPE, Corpus, CorpusSplits, synthetic_splits
from ultr_core.corpus.ranking import rank_documents
from ultr_core.corpus.synthetic import find_calibration, load_calibration
from ultr_core.lab.production import train_production_ranker

SEEDS = range(10)


@pytest.fixture(scope="module")
def splits() -> CorpusSplits:
    return synthetic_splits()


def parts(splits: CorpusSplits) -> tuple[Corpus, Corpus, Corpus]:
    return splits.train, splits.validation, splits.test


def test_default_sizes_and_names(splits: CorpusSplits) -> None:
    assert [part.n_queries for part in parts(splits)] == [2000, 300, 2000]
    assert {part.n_features for part in parts(splits)} == {50}
    assert splits.source == "synthetic"
    assert splits.notices == ()
    names = [name for part in parts(splits) for name in part.query_ids]
    assert names == [f"q{number}" for number in range(1, 4301)]
    third = splits.train.query_offsets[16] + 2
    assert splits.train.document_ids is not None
    assert splits.train.document_ids[third] == "q17-d3"


def test_candidate_counts_vary_around_24_and_are_not_sorted(splits: CorpusSplits) -> None:
    sizes = splits.train.sizes
    # Standard deviation 15 over 2,000 queries: 24 +- 1.3 is exceeded once in 10,000 corpora.
    assert abs(sizes.mean() - 24) < 1.3
    assert sizes.min() >= 3
    assert sizes.max() > 70
    assert np.unique(sizes).size > 50
    assert np.mean(sizes) > np.median(sizes)
    assert abs(np.corrcoef(np.arange(2000), sizes)[0, 1]) < 0.1


def test_parts_do_not_share_documents(splits: CorpusSplits) -> None:
    rows = np.concatenate([part.features for part in parts(splits)])
    assert np.unique(rows, axis=0).shape[0] == len(rows)


def test_grades_fill_all_five_steps(splits: CorpusSplits) -> None:
    for part in parts(splits):
        shares = np.bincount(part.grades, minlength=5) / part.n_documents
        assert len(shares) == 5
        assert (shares > [0.2, 0.35, 0.17, 0.03, 0.01]).all()


def test_features_are_bounded_correlated_and_partly_missing(splits: CorpusSplits) -> None:
    features = splits.train.features
    assert features.min() == 0
    assert features.max() <= 1
    assert 0.1 < (features == 0).mean() < 0.35
    correlation = np.abs(np.corrcoef(features.T)[np.triu_indices(50, 1)])
    assert correlation.mean() > 0.05
    assert correlation.max() > 0.4


def test_relevance_is_not_exactly_linear(splits: CorpusSplits) -> None:
    """Squares of the features explain more of the grade than the features alone."""
    features, grades = splits.train.features.astype(float), splits.train.grades.astype(float)

    def explained(columns: np.ndarray) -> float:
        design = np.column_stack([columns, np.ones(len(columns))])
        rest = grades - design @ np.linalg.lstsq(design, grades, rcond=None)[0]
        return float(1 - rest.var() / grades.var())

    linear = explained(features)
    assert 0.3 < linear < 0.9
    assert explained(np.column_stack([features, features**2])) > linear + 0.01


def test_same_seed_same_corpus_other_seed_other_corpus() -> None:
    sizes = {"train_queries": 30, "validation_queries": 5, "test_queries": 10}
    first, again, other = (synthetic_splits(seed, **sizes) for seed in (3, 3, 4))
    for one, two, three in zip(parts(first), parts(again), parts(other), strict=True):
        assert np.array_equal(one.features, two.features)
        assert np.array_equal(one.grades, two.grades)
        assert not np.array_equal(one.query_offsets, three.query_offsets)


def test_other_sizes_work_and_say_that_they_are_not_calibrated() -> None:
    splits = synthetic_splits(
        7,
        train_queries=1200,
        validation_queries=1,
        test_queries=2,
        features=519,
        mean_candidates=6,
    )
    assert [part.n_queries for part in parts(splits)] == [1200, 1, 2]
    assert splits.train.n_features == 519
    assert 5 < splits.train.sizes.mean() < 7
    assert len(splits.notices) == 1
    assert splits.notices == synthetic_splits(1234).notices
    assert not synthetic_splits(0).notices


def test_given_share_of_relevant_documents_is_met_exactly() -> None:
    splits = synthetic_splits(0, relevant_share=0.2)
    train = splits.train
    assert train.relevance(3).sum() == round(0.2 * train.n_documents)
    assert splits.notices == ()


def test_smallest_corpus() -> None:
    splits = synthetic_splits(
        0,
        train_queries=1,
        validation_queries=1,
        test_queries=1,
        features=1,
        mean_candidates=3,
        relevant_share=0.4,
    )
    assert splits.train.n_queries == 1
    assert splits.train.sizes[0] >= 3


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"corpus_seed": -1}, ("", "seed", -1)),
        ({"train_queries": 0}, ("", "train_queries", 0)),
        ({"features": 0}, ("", "features", 0)),
        ({"mean_candidates": 2.0}, ("", "mean_candidates", "2.0", 3)),
        ({"mean_candidates": float("nan")}, ("", "mean_candidates", "nan", 3)),
        ({"relevant_share": 0.0}, ("", "relevant_share", "0.0", 48662)),
        ({"relevant_share": 1.0}, ("", "relevant_share", "1.0", 48662)),
        ({"relevant_share": 1e-9}, ("", "relevant_share", "1e-09", 48662)),
        ({"relevant_share": float("nan")}, ("", "relevant_share", "nan", 48662)),
    ],
)
def test_nonsensical_options_are_refused(
    options: dict[str, float], fault: tuple[object, ...]
) -> None:
    with refused(*fault):
        synthetic_splits(**options)


def noise_shares(seed: int) -> tuple[float, float]:
    """Shares of clicks on irrelevant documents at eta = 1, eps- = 0.1 and 0.3."""
    train = synthetic_splits(seed).train
    ranker = train_production_ranker(train, 3, seed).ranker
    examined = 1.0 / rank_documents(ranker.score(train), train.query_offsets)
    relevant = train.relevance(3)
    a, b = examined[~relevant].sum(), examined[relevant].sum()
    return 0.1 * a / (b + 0.1 * a), 0.3 * a / (b + 0.3 * a)


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_shares_are_those_the_paper_prints(seed: int) -> None:
    at_one, at_three = noise_shares(seed)
    assert at_one == pytest.approx(0.331, abs=0.0005)
    assert at_three == pytest.approx(0.598, abs=0.0005)


def test_calibration_names_how_it_was_made() -> None:
    content = load_calibration()
    assert content["made_by"] == "scripts/calibrate_corpus.py"
    for seed in SEEDS:
        assert find_calibration(seed, DEFAULT_SHAPE) is not None
    assert find_calibration(0, YAHOO_SHAPE) is not None
    for entry in content["corpora"]:
        assert abs(entry["irrelevant_to_relevant"] - content["target"]) <= content["tolerance"]


def test_default_corpus_is_made_fast() -> None:
    """About 0.25 s on an idle core; the limit leaves room for a busy machine."""
    start = time.process_time()
    synthetic_splits(0)
    assert time.process_time() - start < 1.5
