"""Damaged files: every reader either reads one or refuses it with one sentence that says where."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.inputs import fuzz
from ultr_core.corpus import Corpus
from ultr_core.files import (
    load_corpus,
    preview_log,
    read_curve,
    read_log,
    read_proprank,
    read_ranker,
    read_scores,
    read_weights,
    write_letor,
    write_proprank,
    write_ranker,
    write_scores,
    write_svm_light_model,
    write_weights,
)
from ultr_core.learners import Certificate, LinearModel, LinearRanker
from ultr_core.propensity import Weights

CORPUS = Corpus(
    np.round(np.random.default_rng(0).normal(size=(9, 4)), 3),
    np.array([0, 2, 1, 0, 0, 4, 1, 0, 0]),
    np.array([0, 3, 5, 9]),
    ("11", "lamp", "käse"),
    tuple(f"D{number}" for number in range(9)),
)
ROWS = (
    b"2 qid:11 1:0.3 2:0.7 # docid = AX-1 inc = 1\r\n0 qid:11 1:0.1 2:0.2 # docid = AX-2\r\n",
    b"0 qid:0 0:31 3:4.5 9:2\n1 qid:0 0:8 2:5\n1 qid:4 10:0.61 251:3.1e-05",
    b"# head\n1\tqid:7\t3:.3 1:1e3\n\n0 qid:3 1:-0.2\n0 qid:7 1:0.1\n1 qid:3 1:0.8 # x\n",
)
WHOLE = re.compile(
    "is empty|has only blank lines|has no features in any|add up to|gzip file|more than 200 times|"
    "is a binary file|has no query ids|is a (zip|bzip2|xz|zstandard|Parquet)|UTF-16|"
    "because it is read as one|is compressed twice|accepted, because each is checked"
)
IN_TABLES = re.compile(
    WHOLE.pattern + "|has no (score|weight|line)|contains no scores|corpus has \\d+ documents|"
    "no propensity for rank|its first line must name|names the column|: The propensity of rank"
)
IN_MODELS = re.compile(
    WHOLE.pattern
    + "|contains JSON that|JSON but not a ranker|has version|feature_ids|coefficients|"
    ": C is|certificate|the vectors sum|is blank"
)
IN_LOGS = re.compile(
    WHOLE.pattern
    + "|has no usable rows|has no column|has no [a-z ]+ column|is not UTF-8 text with|"
    "[Tt]he column .* (contains|was taken|share)|begins like JSON|is not utf-16 text|"
    "clicked rows have|^Positions restart|rows are at position 0|"
    "is a damaged or truncated zstandard|and only one can be the"
)
TRAINING = re.compile(WHOLE.pattern + "|has no row with label 1")


def written(folder: Path, write: Callable[[Path], object]) -> bytes:
    write(folder / "seed")
    return (folder / "seed").read_bytes()


def case(
    kind: str, folder: Path
) -> tuple[Callable[[Path], object], tuple[bytes, ...], re.Pattern[str]]:
    """Reader, good files and what may be said of a whole file, for one kind of file."""
    model = LinearModel(np.array([0.5, -2e-3]), np.array([1, 7]))
    certificate = Certificate(1.5, 1.4, 0.1, 3, 9, "newton", True, False)
    trained = LinearRanker(model.coefficients, model.feature_ids, 3.0, certificate)
    weights = Weights(np.array([0, 2, 1.5, 0, 0, 4, 0, 0, 1]), 12)
    if kind == "corpora":
        return load_corpus, (*ROWS, written(folder, lambda p: write_letor(CORPUS, p))), WHOLE
    if kind == "group sizes":
        (folder / "rows").write_bytes(b"1 1:0.5\n0 1:0.1 7:2\n2 7:1\n0 1:2\n")
        return lambda p: load_corpus(folder / "rows", groups=p), (b"1\n2\n1\n", b"4"), WHOLE
    if kind == "scores":
        seeds = tuple(
            written(
                folder,
                lambda p, form=form: write_scores(p, CORPUS, np.arange(9) / 7, form=form),
            )
            for form in ("lines", "table", "run")
        )
        return lambda p: read_scores(p, CORPUS), seeds, IN_TABLES
    if kind == "weights":
        seed = written(folder, lambda p: write_weights(p, CORPUS, weights))
        return lambda p: read_weights(p, CORPUS), (seed,), IN_TABLES
    if kind == "rankers":
        seeds = tuple(
            written(folder, write)
            for write in (
                lambda p: write_ranker(trained, p, trained={"clicks": 45_000}),
                lambda p: write_ranker(model, p),
                lambda p: write_svm_light_model(model, p),
            )
        )
        return read_ranker, seeds, IN_MODELS
    if kind == "training files":
        rankings = b"1 qid:1 cost:2.0 1:1 2:1 # 1A\n0 qid:1 3:1\n1 qid:2 1:1\n0 qid:2 3:1\n"
        seed = written(folder, lambda p: write_proprank(p, CORPUS, weights))
        return read_proprank, (seed, rankings), TRAINING
    if kind == "click logs":
        return _read_whole_log, _click_logs(), IN_LOGS
    return read_curve, (b"rank,propensity\n1,1\n2,0.61\n3,0.4\n", b"pos,p\n2,.5\n1,1"), IN_TABLES


def _read_whole_log(path: Path) -> None:
    preview_log(path)
    log = read_log(path)
    assert (log.clicks >= 0).all()
    assert (log.clicks <= log.impressions).all()
    assert log.position.min() >= 1
    assert log.document.max() < len(log.query_names) * len(log.document_names)


def _click_logs() -> tuple[bytes, ...]:
    """Every column, plain and packed; quotes, other delimiters; JSON lines.

    Parquet is read in processes of its own, one a file; the fuzzer of all readers does without.
    """
    head = b"query,document,position,click,impressions,swapped_rank,ranker,page,propensity\n"
    full = head + b"q1,a,1,1,3,1,A,p1,1\nq1,b,2,0,3,,A,p1,.5\nq2,a,1,0,1,2,B,p2,1\n"
    quoted = b'qid;doc;pos;click;views\r\nq;"a;b";0;1;3\r\nq;"c\nd";1;0;2\r\n'
    lines = b'{"query": "q", "item": {"id": "a"}, "document": "a", "position": 1, "click": true}\n'
    return (
        full, gzip.compress(full, mtime=0), quoted, full.decode().encode("utf-16"), lines * 3,
        pa.compress(full, "zstd", asbytes=True),
    )  # fmt: skip


KINDS = (
    "corpora", "group sizes", "scores", "weights", "rankers", "training files", "curves",
    "click logs",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_damaged_files(kind: str, tmp_path: Path) -> None:
    read, seeds, whole = case(kind, tmp_path)
    count = {"corpora": 500, "click logs": 250}.get(kind, 250)
    taken = fuzz(read, tmp_path / "damaged", seeds, count, whole)
    assert 0 < taken < count


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_damaged_files(kind: str, tmp_path: Path) -> None:
    read, seeds, whole = case(kind, tmp_path)
    count = {"corpora": 34_000, "click logs": 100_000}.get(kind, 11_000)
    assert fuzz(read, tmp_path / "damaged", seeds, count, whole, seed=1) > 0
