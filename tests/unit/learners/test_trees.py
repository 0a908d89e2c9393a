"""Trees on pointwise targets: what the targets are, that trees rank, and their files."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_many
from ultr_core.files.tree_files import read_model_record, read_trees, write_trees
from ultr_core.learners import trees
from ultr_core.learners.trees import STEP, TreeRanker, fit_trees, select_trees
from ultr_core.own_data.samples import sample_corpus
from ultr_core.propensity import ESTIMATORS, Belief, RowNumbers, Targets
from ultr_core.risk import true_risk
from ultr_core.users import ClickLog, PositionModel, PowerLaw, simulate_counts

CURVE = PowerLaw(1.0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sample_corpus()


@pytest.fixture(scope="module")
def log(corpus: Corpus) -> ClickLog:
    return clicks_on(corpus, 0)


def clicks_on(corpus: Corpus, seed: int) -> ClickLog:
    ranks = rank_many(
        np.random.default_rng(2).normal(size=(1, corpus.n_documents)), corpus.query_offsets
    )[0]
    pi = PositionModel(CURVE, 1.0, 0.0).click_probability(corpus.relevance(3), ranks)
    return simulate_counts(pi, ranks, corpus.query_offsets, 20_000, seed)


@pytest.fixture(scope="module")
def grown(corpus: Corpus, log: ClickLog) -> TreeRanker:
    return fit_trees(corpus, Targets.of_log(log, CURVE.at(log.rank)), trees=60)


def test_a_target_is_what_rows_count_by_query_draw() -> None:
    """Document 0: (2 x 2 + 3 x 4 x 1/8) / 8 in two rows; 1 never clicked; 2 never shown."""
    log = ClickLog(
        document=np.array([0, 0, 1]), rank=np.array([1, 2, 1]), impressions=np.array([4, 4, 4]),
        clicks=np.array([2, 3, 0]), query_draws=8, query_offsets=np.array([0, 3]),
        draws=np.array([8]), whole_lists=False,
    )  # fmt: skip
    found = Targets.of_log(log, RowNumbers([2.0, 0.5, np.inf]))
    assert found.value.tolist() == [(2 * 2 + 3 * 0.5) / 8, 0.0, 0.0]
    assert found.draws.tolist() == [8, 8, 0]
    signed = Targets.of_log(log, RowNumbers([2.0, 0.5, 0.0], np.array([-0.25, 0.0, -0.5])))
    assert signed.value.tolist() == [(2 * 2 + 3 * 0.5 - 4 * 0.25) / 8, -0.5 * 4 / 8, 0.0]
    with refused("clicks_only"):
        only = replace(log, impressions=np.array([2, 3, 0]), clicks=np.array([2, 3, 0]))
        Targets.of_log(only, RowNumbers([1.0, 1.0, 1.0]))


@pytest.mark.parametrize("key", ["ips", "policy-aware"])
def test_the_mean_target_is_the_relevance(corpus: Corpus, log: ClickLog, key: str) -> None:
    """Weighted by draws, over relevant documents and over the others; 4 standard errors."""
    found = Targets.of_log(log, ESTIMATORS[key].weigh(log, Belief(CURVE)))
    relevant = corpus.relevance(3)
    mean = np.average(found.value[relevant], weights=found.draws[relevant])
    spread = np.sqrt(
        np.average((found.value[relevant] - mean) ** 2, weights=found.draws[relevant])
        / relevant.sum()
    )
    assert abs(mean - 1) < 4 * spread
    assert not found.value[~relevant].any()


def test_trees_rank_and_the_same_seed_gives_the_same_trees(
    corpus: Corpus, log: ClickLog, grown: TreeRanker
) -> None:
    again = fit_trees(corpus, Targets.of_log(log, CURVE.at(log.rank)), trees=60)
    assert again.text == grown.text
    assert grown.trees == 60
    ranks = rank_many(
        np.stack([grown.score(corpus), np.zeros(corpus.n_documents)]), corpus.query_offsets
    )
    own, constant = (true_risk(each, corpus.relevance(3), corpus.query_offsets) for each in ranks)
    assert own < 0.7 * constant


def test_scores_are_those_of_lightgbm_to_the_last_bit(corpus: Corpus, grown: TreeRanker) -> None:
    theirs = lightgbm.Booster(model_str=grown.text).predict(corpus.features)
    np.testing.assert_array_equal(grown.score(corpus), theirs)


def test_validation_clicks_choose_targets_and_the_number_of_trees(
    corpus: Corpus, log: ClickLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_TREES", 4 * STEP)
    held_out, right = clicks_on(corpus, 1), Targets.of_log(log, CURVE.at(log.rank))
    wrong = replace(right, value=-right.value)
    numbers = CURVE.at(held_out.rank)
    found = select_trees(corpus, [wrong, right], corpus, held_out, numbers)
    assert found.candidate == 1
    assert found.losses.shape == (2, 4)
    assert found.losses[1].min() == found.losses.min()
    assert found.ranker.trees == STEP * (1 + int(found.losses[1].argmin()))
    wanted = Targets.of_log(held_out, numbers)
    loss = np.average((found.ranker.score(corpus) - wanted.value) ** 2, weights=wanted.draws)
    assert loss == pytest.approx(found.losses.min())


def test_a_file_is_lightgbms_own_and_remembers_its_training(
    corpus: Corpus, grown: TreeRanker, tmp_path: Path
) -> None:
    path = tmp_path / "trees.txt"
    write_trees(grown, path, trained={"clicks": 7})
    assert read_model_record(path) == {"clicks": 7}
    np.testing.assert_array_equal(read_trees(path).score(corpus), grown.score(corpus))
    theirs = lightgbm.Booster(model_file=str(path))
    np.testing.assert_array_equal(theirs.predict(corpus.features), grown.score(corpus))
    theirs.save_model(str(path))
    np.testing.assert_array_equal(read_trees(path).score(corpus), grown.score(corpus))
    assert read_model_record(path) == {}


def test_trees_find_their_features_in_a_larger_corpus(corpus: Corpus, grown: TreeRanker) -> None:
    more = np.hstack([np.ones((corpus.n_documents, 1), np.float32), corpus.features])
    larger = replace(corpus, features=more, feature_ids=np.append(0, corpus.feature_ids))
    np.testing.assert_array_equal(grown.score(larger), grown.score(corpus))
    smaller = replace(corpus, features=corpus.features[:, 1:], feature_ids=corpus.feature_ids[1:])
    with refused("missing_zero", 1):
        grown.score(smaller)
    first = corpus.features.copy()
    first[:, 0] = 0
    scores, notices = grown.score_with_notices(smaller, missing_zero=True)
    np.testing.assert_array_equal(scores, grown.score(replace(corpus, features=first)))
    assert len(notices) == 1
    foreign = replace(corpus, feature_ids=corpus.feature_ids + 1000)
    with refused("missing_zero"):
        grown.score_with_notices(foreign, missing_zero=True)


def test_without_lightgbm_one_sentence_says_what_to_install(
    corpus: Corpus, grown: TreeRanker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with refused("lightgbm", "lightgbm"):
        fit_trees(corpus, Targets(np.zeros(corpus.n_documents), np.ones(corpus.n_documents)))
    assert grown.score(corpus).size == corpus.n_documents
