"""Sample files for readers who want to see the whole way before they bring files of their own.

corpus = sample_corpus()
files = sample_files()
files["log"].name, files["log"].data[:20]
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ultr_core.corpus import Corpus, synthetic_splits
from ultr_core.corpus.ranking import query_of_document
from ultr_core.files import curve_text, write_letor
from ultr_core.files.ranker_files import ranker_text
from ultr_core.files.score_files import scores_text
from ultr_core.lab.production import train_production_ranker
from ultr_core.own_data.clicks import simulate_own_log
from ultr_core.settings import Settings
from ultr_core.users import PowerLaw

SAMPLE_SETTINGS = Settings(eta=1.0, assumed_eta=1.0, eps_minus=0.0, eps_plus=1.0, clicks=20_000)
"""The users behind the sample log: examination 1/rank, no noise, so that IPS can be checked."""

_CORPUS_SEED, _OTHER_RANKER_SEED = 7, 11
_LOGGING_RANKERS = 2  # so that documents change ranks and examination can be harvested


@dataclass(frozen=True)
class SampleFile:
    """One file: its name, its bytes, and in a few words what it holds."""

    name: str
    data: bytes
    about: str


def sample_corpus() -> Corpus:
    """A small corpus with grades 0 to 4 and document ids; the same one every time."""
    train = synthetic_splits(
        _CORPUS_SEED, train_queries=300, validation_queries=2, test_queries=2, features=8,
        mean_candidates=10.0, relevant_share=0.15,
    ).train  # fmt: skip
    query = query_of_document(train.query_offsets)
    ids = tuple(
        f"{train.query_ids[q]}-{row - int(train.query_offsets[q]) + 1}"
        for row, q in enumerate(query.tolist())
    )
    return replace(train, document_ids=ids)


@lru_cache(maxsize=1)
def sample_files() -> Mapping[str, SampleFile]:
    """A corpus, a click log of it, the curve of its users, a ranker and its scores, by kind.

    The log is of users with `SAMPLE_SETTINGS`, served by two rankers; the ranker was trained on
    the grades of a few queries and was never shown.
    """
    corpus = sample_corpus()
    clicks = simulate_own_log(corpus, SAMPLE_SETTINGS, rankers=_LOGGING_RANKERS)
    production = train_production_ranker(
        corpus, SAMPLE_SETTINGS.relevant_grade, _OTHER_RANKER_SEED
    ).ranker
    longest = int(corpus.sizes.max())
    curve = PowerLaw(SAMPLE_SETTINGS.eta).at(range(1, longest + 1))
    rows = f"{corpus.n_queries} queries, {corpus.n_documents:,} documents"
    return {
        "corpus": SampleFile(
            "sample_corpus.txt", file_bytes(lambda path: write_letor(corpus, path)),
            f"LETOR: {rows}, {corpus.n_features} features",
        ),
        "log": SampleFile(
            "sample_log.csv", "".join(clicks.csv_pieces()).encode(),
            f"CSV: {clicks.clicks:,} clicks on two rankers' lists",
        ),
        "curve": SampleFile(
            "sample_curve.csv", curve_text(curve.tolist()).encode(),
            f"CSV: rank and propensity, ranks 1 to {longest}",
        ),
        "ranker": SampleFile(
            "sample_ranker.json", ranker_text(production).encode(),
            "JSON: a linear ranker that no user has seen",
        ),
        "scores": SampleFile(
            "sample_scores.csv",
            scores_text(corpus, production.score(corpus), table=True).encode(),
            "CSV: query, candidate, document, score",
        ),
    }  # fmt: skip


def file_bytes(write: Callable[[Path], object]) -> bytes:
    """What ``write`` puts into the file whose path it is given, which does not stay."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write(path)
        return path.read_bytes()
