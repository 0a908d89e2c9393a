"""Files made for a visitor: their size is known before, and none fills a memory or a disk."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.files import proprank_bytes, write_proprank
from ultr_core.files.score_files import scores_text
from ultr_core.files.weight_files import weights_text
from ultr_core.limits import LARGEST_TRAINING_FILE, VISITORS_PAIRS
from ultr_core.own_data.curves import training_file, training_file_bytes
from ultr_core.own_data.fitting import fit_from_log
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.propensity import Weights
from ultr_core.settings import Settings
from ultr_core.users import ClickLog, PowerLaw


def one_query(documents: int, *, names: int = 1, queries: int = 1) -> tuple[Corpus, Weights]:
    """A corpus all of whose documents were clicked."""
    features = np.linspace(0, 1, 4 * documents * queries).reshape(-1, 4)
    corpus = Corpus(
        features,
        np.tile(np.arange(documents) % 5, queries),
        np.arange(queries + 1) * documents,
        document_ids=[f"{'é' * names}{row}" for row in range(documents * queries)],
    )
    return corpus, Weights(np.ones(documents * queries), float(documents * queries))


def written(corpus: Corpus, weights: Weights, folder: Path) -> int:
    write_proprank(folder / "training.txt", corpus, weights)
    return (folder / "training.txt").stat().st_size


@pytest.mark.parametrize("seed", range(12))
def test_the_size_of_a_training_file_is_bounded_before_it_is_made(
    seed: int, tmp_path: Path
) -> None:
    """Never above the bound, and the bound never more than four times too large."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, 8)
    rows = int(sizes.sum())
    scale = 10.0 ** rng.integers(-30, 30)
    features = rng.normal(0, scale, (rows, 6)) * (rng.random((rows, 6)) < 0.7)
    features[0] = scale
    corpus = Corpus(
        sparse.csr_array(features) if seed % 2 else features,
        np.zeros(rows),
        np.concatenate([[0], np.cumsum(sizes)]),
        query_ids=[f"frage-ä{'x' * q}" for q in range(8)],
        document_ids=[f"d{row}" for row in range(rows)] if seed % 3 else None,
        feature_ids=np.array([1, 2, 30, 400, 5_000, 99_999_999]),
    )
    values = rng.random(rows) * (rng.random(rows) < 0.5) / 3
    values[0] = 1e-11
    weights = Weights(values, 1e9 / 3)
    size = written(corpus, weights, tmp_path)
    assert size <= proprank_bytes(corpus, weights) <= 4 * size


def test_a_query_with_many_clicks_is_refused_at_once(tmp_path: Path) -> None:
    started = time.monotonic()
    corpus, weights = one_query(20_000)
    with refused("", 128, "51,778"):
        training_file(corpus, weights)
    assert time.monotonic() - started < 5
    corpus, weights = one_query(300, names=3_000)
    with refused("", 128, 551):
        training_file_bytes(corpus, weights)


def test_what_is_not_refused_is_the_file_of_the_command_line(tmp_path: Path) -> None:
    corpus, weights = one_query(12, queries=30)
    assert training_file_bytes(corpus, weights) < LARGEST_TRAINING_FILE.most
    size = written(corpus, weights, tmp_path)
    packed = training_file(corpus, weights)
    assert gzip.decompress(packed) == (tmp_path / "training.txt").read_bytes()
    assert len(packed) < size


def simulated(corpus: Corpus, _: Weights) -> str:
    return "".join(simulate_own_log(corpus, Settings(clicks=1_000), rankers=2).csv_pieces())


@pytest.mark.parametrize(
    "make",
    [
        simulated,
        lambda corpus, weights: weights_text(corpus, weights),
        lambda corpus, weights: scores_text(corpus, weights.values / 3, form="table"),
    ],
    ids=["simulated log", "weights", "scores"],
)
def test_all_else_grows_no_faster_than_what_it_is_made_from(
    make: Callable[[Corpus, Weights], str],
) -> None:
    """In one query twice as long, or with names twice as long."""
    base = len(make(*one_query(400, names=20)))
    assert len(make(*one_query(800, names=20))) < 2.3 * base
    assert len(make(*one_query(400, names=40))) < 2.3 * base


def some_clicked(documents: int, clicked: int) -> tuple[Corpus, ClickLog]:
    """One query of as many documents, the first of which were clicked."""
    corpus, _ = one_query(documents)
    rank = np.arange(1, documents + 1)
    return corpus, ClickLog(
        np.arange(documents), rank, np.ones(documents, int), (rank <= clicked).astype(int),
        1, corpus.query_offsets,
    )  # fmt: skip


def test_pairs_to_train_on_are_counted_before_there_are_any() -> None:
    """Without a bound 6 GB and more."""
    corpus, log = some_clicked(14_000, 6_900)
    began = time.perf_counter()
    with refused("too_large", "96,593,100", "pairs"):
        fit_from_log(corpus, log, PowerLaw(1.0), cost=1.0, pairs=VISITORS_PAIRS)
    with refused("too_large", "pairs", "document"):
        simulate_own_log(corpus, Settings(clicks=100), pairs=VISITORS_PAIRS)
    assert time.perf_counter() - began < 5.0


@pytest.mark.parametrize("clicked", [1, 7])
def test_the_bound_on_pairs_is_exact(clicked: int) -> None:
    corpus, log = some_clicked(50, clicked)
    most = replace(VISITORS_PAIRS, most=clicked * 49)
    fit_from_log(corpus, log, PowerLaw(1.0), cost=1.0, pairs=most)
    with refused("too_large", f"{clicked * 49} pairs"):
        fit_from_log(
            corpus, log, PowerLaw(1.0), cost=1.0, pairs=replace(most, most=clicked * 49 - 1)
        )
