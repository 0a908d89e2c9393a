"""Scores, weights, rankers and training files: what is written reads back equal."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.inputs import DOUBLES, assert_equal_corpora, corpora, dense, models, weights_of
from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files import (
    load_corpus,
    on_columns_of,
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
from ultr_core.files.ranker_files import read_training_record
from ultr_core.learners import LinearModel, LinearRanker, fit_ranker
from ultr_core.propensity import Weights

FEW = settings(max_examples=40, deadline=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@given(data=st.data(), name=st.sampled_from(["s.txt", "s.csv", "s.txt.gz", "s.csv.gz"]))
@FEW
def test_scores(folder: Path, data: st.DataObject, name: str) -> None:
    corpus = data.draw(corpora())
    scores = data.draw(hnp.arrays(np.float64, corpus.n_documents, elements=DOUBLES))
    write_scores(folder / name, corpus, scores)
    assert np.array_equal(read_scores(folder / name, corpus), scores)


@given(data=st.data(), every=st.booleans())
@FEW
def test_weights(folder: Path, data: st.DataObject, every: bool) -> None:
    corpus = data.draw(corpora())
    weights = data.draw(weights_of(corpus))
    write_weights(folder / "w.csv", corpus, weights, all_documents=every)
    again = read_weights(folder / "w.csv", corpus)
    assert np.array_equal(again.values, weights.values)
    assert again.clicks == weights.clicks


@given(model=models(), trained=st.dictionaries(st.text(), st.integers() | st.text()))
@FEW
def test_rankers_as_json(folder: Path, model: LinearModel, trained: dict[str, object]) -> None:
    write_ranker(model, folder / "r.json.gz", trained=trained)
    again = read_ranker(folder / "r.json.gz")
    assert np.array_equal(again.coefficients, model.coefficients)
    assert np.array_equal(again.feature_ids, model.feature_ids)
    assert type(again) is type(model)
    if isinstance(again, LinearRanker) and isinstance(model, LinearRanker):
        assert (again.cost, again.certificate) == (model.cost, model.certificate)
    assert read_training_record(folder / "r.json.gz") == trained


@given(model=models(1, 99_999_999))
@FEW
def test_models_of_svm_light(folder: Path, model: LinearModel) -> None:
    write_svm_light_model(model, folder / "model.dat")
    again = read_ranker(folder / "model.dat")
    assert np.array_equal(again.coefficients, model.coefficients)
    assert np.array_equal(again.feature_ids, model.feature_ids)


@given(data=st.data())
@FEW
def test_training_files(folder: Path, data: st.DataObject) -> None:
    corpus = data.draw(corpora(1, 99_999_999))
    weights = data.draw(weights_of(corpus))
    write_proprank(folder / "train.dat.gz", corpus, weights)
    again, values = read_proprank(folder / "train.dat.gz")
    totals = np.add.reduceat(weights.values, corpus.query_offsets[:-1])
    part = corpus.subset(np.flatnonzero(totals))
    assert_equal_corpora(again, part, but=("grades",))
    expected = np.concatenate(
        [
            weights.values[start:stop]
            for start, stop, total in zip(
                corpus.query_offsets, corpus.query_offsets[1:], totals, strict=False
            )
            if total
        ]
    )
    np.testing.assert_allclose(values.values, expected, rtol=1e-14)
    assert values.clicks == weights.clicks
    assert np.array_equal(again.grades, values.values > 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_ranker_trained_from_a_training_file_is_the_same(tmp_path: Path, sparse: bool) -> None:
    import scipy.sparse

    from ultr_core.corpus import synthetic_splits

    corpus = synthetic_splits(
        1, train_queries=60, validation_queries=1, test_queries=1, features=9, relevant_share=0.2
    ).train
    if sparse:
        corpus = Corpus(
            scipy.sparse.csr_array(corpus.features), corpus.grades, corpus.query_offsets
        )
    rng = np.random.default_rng(0)
    clicks = rng.poisson(0.3, corpus.n_documents)
    weights = Weights(clicks * rng.uniform(1, 9, len(clicks)), float(clicks.sum()))
    write_proprank(tmp_path / "train.dat", corpus, weights)
    own = fit_ranker(corpus, weights, cost=3.0, tolerance=1e-12)
    read = fit_ranker(*read_proprank(tmp_path / "train.dat"), cost=3.0, tolerance=1e-12)
    np.testing.assert_allclose(read.coefficients, own.coefficients, atol=1e-6)
    assert np.abs(own.coefficients).max() > 0.1


def test_lines_of_a_training_file_are_what_the_program_reads(tmp_path: Path) -> None:
    corpus = Corpus(
        np.array([[0.5, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0]]),
        np.array([0, 1, 2]), np.array([0, 2, 3]), ("lamp", "rain"), ("A", "B", "C"),
    )  # fmt: skip
    write_proprank(tmp_path / "t", corpus, Weights(np.array([2.0, 5.0, 1.0]), 30))
    lines = (tmp_path / "t").read_text().splitlines()
    assert lines[1] == "# n = 30.0"
    rows = [tuple(re.split(" # query = | candidate = | docid = ", line)) for line in lines[3:]]
    assert rows == [
        ("1 qid:1 cost:0.2 1:0.5 3:0", "lamp", "1", "A"),
        ("0 qid:1 2:2.0", "lamp", "2", "B"),
        ("1 qid:2 cost:0.5 2:2.0", "lamp", "2", "B"),
        ("0 qid:2 1:0.5", "lamp", "1", "A"),
        ("1 qid:3 cost:0.1 1:1.0 2:1.0", "rain", "1", "C"),
    ]


def test_a_training_file_from_elsewhere_has_a_query_for_each_ranking(tmp_path: Path) -> None:
    path = tmp_path / "train.dat"
    path.write_text(
        "1 qid:1 cost:2.0 1:1 2:1 # 1A\n0 qid:1 3:1 # 1B\n"
        "1\tqid:2\tcost:3.5 1:1\n0 qid:2 3:1\n0 qid:2 2:1\n1 qid:3 2:4\n0 qid:3 3:4\n"
    )
    corpus, weights = read_proprank(path)
    assert corpus.sizes.tolist() == [2, 3, 2]
    assert weights.values.tolist() == [2, 0, 3.5, 0, 0, 1, 0]
    assert weights.clicks == 3
    assert dense(corpus)[2].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1 qid:1 cost:x 1:1\n", ("not_a_cost", "line 1", "'x'")),
        ("1 qid:1 1:1\n\n0 qid:1 1:2\n1 qid:1 cost:-2 1:3\n", ("not_a_cost", "line 4", "'-2'")),
        ("1 qid:1 cost:1 1:1\n1 qid:1 cost:2 1:3\n", ("clicked_twice", "line 2")),
        ("1 qid:1 1:1\n0 qid:1 cost:2 1:3\n", ("cost_misplaced", "line 2")),
        ("0 qid:1 1:1\n0 qid:1 1:3\n", ("no_click_rows", "label 1")),
        ("# n = 0\n1 qid:1 1:1\n", ("not_a_number", "line 1", "n", "'0'")),
        ("1 qid:1 1:1 cost:3\n", ("cost_in_corpus", "column 13", "'cost:3'")),
        ("1 qid:1 1:1 # query = a candidate = 2\n", ("candidates_unnumbered", "line 1", "'a'")),
        (
            "1 qid:1 1:1 # query = a candidate = 1\n1 qid:2 1:2 # query = a candidate = 1\n",
            ("candidate_differs", "lines 1 and 2"),
        ),
    ],
)
def test_training_files_that_contradict_themselves(
    tmp_path: Path, text: str, fault: tuple[object, ...]
) -> None:
    path = tmp_path / "train.dat"
    path.write_text(text)
    with refused(*fault, path):
        read_proprank(path)


def test_scores_keep_the_order_of_a_file_whose_queries_are_torn_apart(tmp_path: Path) -> None:
    (tmp_path / "torn").write_text("1 qid:7 1:9\n0 qid:3 1:2\n0 qid:7 1:1\n1 qid:3 1:8\n")
    corpus = load_corpus(tmp_path / "torn")
    write_scores(tmp_path / "scores", corpus, dense(corpus)[:, 0])
    assert (tmp_path / "scores").read_text() == "9.0\n2.0\n1.0\n8.0\n"
    assert read_scores(tmp_path / "scores", corpus).tolist() == dense(corpus)[:, 0].tolist()


def test_tables_find_documents_by_id_where_there_is_no_candidate(tmp_path: Path) -> None:
    corpus = Corpus(np.eye(3), np.zeros(3), np.array([0, 2, 3]), ("a", "b"), ("x", "y", "x"))
    path = tmp_path / "scores.csv"
    path.write_text("document;QID;Score\ny;a;2\nx;b; 3\nx;a;-1.5\n")
    assert read_scores(path, corpus).tolist() == [-1.5, 2, 3]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "query,candidate,score\na,1,1\na,2,1\n",
            ("score_missing", "1 of 3", "candidate 1", "b"),
        ),
        ("query,candidate,score\na,3,1\n", ("unknown_candidate", "line 2", "'3'", "'a'")),
        ("query,candidate,score\nc,1,1\n", ("unknown_query", "line 2", "'c'")),
        ("query,candidate,score\na,1\n", ("cells_missing", "line 2", "2 cells", 3)),
        ("query,candidate,score\na,1,nan\n", ("not_a_number", "line 2", "score", "'nan'")),
        ("query,candidate,score\na,1,1\na,1,1\n", ("document_twice", "line 3")),
        ("query,candidate,document,score\na,1,y,1\n", ("another_corpus", "'x'", "'y'")),
        ("query,score\na,1\n", ("column_missing", "line 1", "candidate")),
        ("query,candidate,score,Score\na,1,1,2\n", ("column_twice", "line 1", "score")),
        ("1\n2\n", ("one_score_each", "2 scores", "3 documents")),
        ("1\nx\n3\n", ("not_a_number", "line 2", "'x'")),
        ("", ("empty_file",)),
    ],
)
def test_scores_that_do_not_fit(tmp_path: Path, text: str, fault: tuple[object, ...]) -> None:
    corpus = Corpus(np.eye(3), np.zeros(3), np.array([0, 2, 3]), ("a", "b"), ("x", "y", "x"))
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with refused(*fault, path):
        read_scores(path, corpus)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", ("not_a_model", "line 1", "column 2")),
        ("[" * 100_000, ("too_large", "100,000", "10,000")),
        ('{"format": "x"}', ("not_a_ranker", "'format'")),
        (
            '{"format": "ultr-lab linear ranker", "version": 2}',
            ("ranker_version", "version 2", "version 1"),
        ),
        (
            '{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1, 1], '
            '"coefficients": [1, 2]}',
            ("model_ids", "feature_ids"),
        ),
        (
            '{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1], '
            '"coefficients": [true]}',
            ("ranker_number", "entry 1", "coefficients", "True"),
        ),
        (
            '{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1], '
            '"coefficients": [NaN]}',
            ("ranker_json",),
        ),
        (
            '{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1], '
            '"coefficients": [1e999]}',
            ("ranker_number", "entry 1", "coefficients", "inf"),
        ),
        (
            "SVM-light Version V6.20\n2 # kernel\n" + "0\n" * 9 + "1 1:1\n",
            ("model_kernel", "line 2", "'2'"),
        ),
        (
            "SVM-light Version V6.20\n0\n" + "0\n" * 9 + "1 1:1 1:2\n",
            ("model_ids", "line 12", "feature 1"),
        ),
        (
            "SVM-light Version V6.20\n0\n" + "0\n" * 9 + "1 1:x\n",
            ("not_a_number", "line 12", "feature 1", "'x'"),
        ),
        ("SVM-light Version V6.20\n0\n", ("model_too_short", "line 2")),
        ("1 qid:1 1:1\n", ("other_kind",)),
    ],
)
def test_models_that_are_none(tmp_path: Path, text: str, fault: tuple[object, ...]) -> None:
    path = tmp_path / "model"
    path.write_text(text)
    with refused(*fault, path):
        read_ranker(path)


def test_vectors_of_a_svm_light_model_are_summed(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text(
        "SVM-light Version V6.20\n0 # kernel type\n" + "1 # x\n" * 9
        + "0.5 1:2 3:1 #\n-1 2:4 3:1 # second\n"
    )  # fmt: skip
    model = read_ranker(path)
    assert model.feature_ids.tolist() == [1, 2, 3]
    assert model.coefficients.tolist() == [1, -4, -0.5]


def test_a_model_meets_a_corpus_with_other_columns() -> None:
    corpus = Corpus(np.array([[1.0, 2.0]]), [0], [0, 1], feature_ids=np.array([2, 5]))
    other = LinearModel(np.array([3.0, 4.0]), np.array([1, 5]))
    model, notices = on_columns_of(corpus, other, missing_zero=True)
    assert model.score(corpus).tolist() == [8]
    assert mentions(notices[0], "1 feature", "corpus", "(2)")
    assert mentions(notices[1], "1 feature", "ranker", "(1)")
    with refused("no_common_features"):
        on_columns_of(corpus, LinearModel(np.array([3.0]), np.array([1])))


def test_ids_below_1_are_not_written_for_svm_light(tmp_path: Path) -> None:
    corpus = Corpus(np.eye(2), [1, 0], [0, 2], feature_ids=np.array([0, 1]))
    with refused("svm_light_ids", 0, 1):
        write_svm_light_model(LinearModel(np.ones(2), corpus.feature_ids), tmp_path / "m")
    with refused("svm_light_ids", 0, 1):
        write_proprank(tmp_path / "t", corpus, Weights(np.array([1.0, 0.0]), 1))
    assert not list(tmp_path.iterdir())


def test_a_fault_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("old")
    with pytest.raises(InputError):
        write_letor(Corpus(np.eye(1), [0], [0, 1], query_ids=("a b",)), path)
    with refused("unwritable", tmp_path / "no" / "corpus.txt"):
        write_letor(Corpus(np.eye(1), [0], [0, 1]), tmp_path / "no" / "corpus.txt")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["corpus.txt"]


def test_equal_content_gives_equal_gzip(tmp_path: Path) -> None:
    corpus = Corpus(np.eye(2), [1, 0], [0, 2])
    for name in ("one.gz", "two.gz"):
        write_letor(corpus, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    with gzip.open(tmp_path / "one.gz") as file:
        assert io.TextIOWrapper(file).read() == "1 qid:0 1:1.0 2:0.0\n0 qid:0 1:0.0 2:1.0\n"
