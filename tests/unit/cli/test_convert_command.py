"""``convert``: from one format into another and back, and what it does not do."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.inputs import assert_equal_corpora
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.files import (
    load_corpus,
    read_proprank,
    read_ranker,
    read_scores,
    read_weights,
    write_letor,
    write_ranker,
    write_scores,
    write_weights,
)
from ultr_core.files.ranker_files import read_training_record
from ultr_core.files.tables import DELIMITERS
from ultr_core.learners import LinearModel
from ultr_core.propensity import Weights

CORPUS = Corpus(
    np.array([[1, 0.5], [0, 2], [3, 1], [1, 1]]), np.array([3, 0, 1, 4]), np.array([0, 3, 4]),
    ("lamp", "rain"), ("a", "b", "c", "d"),
)  # fmt: skip
WEIGHTS = Weights(np.array([2.5, 0, 1.25, 0]), 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_letor(CORPUS, tmp_path / "c.txt")
    write_weights(tmp_path / "w.csv", CORPUS, WEIGHTS)
    write_scores(tmp_path / "s.txt", CORPUS, np.array([4.0, 3.0, 2.0, 1.0]))
    model = LinearModel(np.array([0.1, -3.0]), np.array([1, 2]))
    write_ranker(model, tmp_path / "r.json", trained={"seed": 3})
    return tmp_path


def convert(folder: Path, source: str, target: str, *options: str) -> Path:
    given = [str(folder / x) if (folder / x).is_file() else x for x in options]
    assert main(["convert", str(folder / source), str(folder / target), *given]) == 0
    return folder / target


def test_a_corpus_is_packed_and_unpacked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = convert(folder, "c.txt", "c.txt.gz")
    assert packed.read_bytes().startswith(b"\x1f\x8b")
    again = convert(folder, "c.txt.gz", "again.txt")
    assert again.read_bytes() == (folder / "c.txt").read_bytes()
    out = capsys.readouterr().out
    assert "c.txt (letor): 2 queries, 4 documents, 2 features." in out
    assert f"Written to {packed} (letor: corpus" in out


@pytest.mark.parametrize("name", [".gz", ".txt.gz", "c.TXT.GZ"])
def test_whatever_else_its_name_is_a_file_that_ends_in_gz_is_packed(
    folder: Path, name: str
) -> None:
    packed = convert(folder, "c.txt", name)
    assert gzip.decompress(packed.read_bytes()) == (folder / "c.txt").read_bytes()


def test_weights_and_corpus_become_a_training_file_and_come_back(folder: Path) -> None:
    for training in (
        convert(folder, "c.txt", "t1.dat", "--weights", "w.csv"),
        convert(folder, "w.csv", "t2.dat.gz", "--corpus", "c.txt"),
        convert(folder, "t1.dat", "t3.dat", "--to", "proprank"),
    ):
        corpus, weights = read_proprank(training)
        assert corpus.query_ids == ("lamp",)
        assert weights.values.tolist() == [2.5, 0, 1.25]
        assert weights.clicks == 8
    table = convert(folder, "t1.dat", "again.csv")
    assert np.array_equal(read_weights(table, CORPUS).values, WEIGHTS.values)
    assert_equal_corpora(
        load_corpus(convert(folder, "t1.dat", "again.txt")), CORPUS.subset([0]), but=["grades"]
    )


def test_without_weights_relevant_documents_are_the_examples(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, weights = read_proprank(convert(folder, "c.txt", "t.dat", "--to", "proprank"))
    assert weights.values.tolist() == [1, 0, 0, 1]
    assert "each document of grade 3 or more weighs 1" in capsys.readouterr().err
    target = convert(folder, "c.txt", "t.dat", "--to", "proprank", "--relevant-grade", "1")
    assert read_proprank(target)[1].values.tolist() == [1, 0, 1, 1]


def test_rankers(folder: Path) -> None:
    model = convert(folder, "r.json", "model.dat")
    assert model.read_text().startswith("SVM-light Version V6.20\n0 # kernel type\n")
    back = convert(folder, "model.dat", "back.json")
    assert read_ranker(back).coefficients.tolist() == [0.1, -3.0]
    packed = convert(folder, "r.json", "packed.json.gz")
    assert read_training_record(packed) == {"seed": 3}
    with gzip.open(packed, "rt") as file:
        assert "seed" in file.read()


def test_scores(folder: Path) -> None:
    table = convert(folder, "s.txt", "s.csv", "--corpus", "c.txt")
    assert table.read_text().splitlines()[1] == "lamp,1,a,4.0"
    lines = convert(folder, "s.csv", "s2.txt", "--corpus", "c.txt")
    assert lines.read_text() == (folder / "s.txt").read_text()
    assert read_scores(table, CORPUS).tolist() == [4, 3, 2, 1]


@pytest.mark.parametrize("mark", DELIMITERS)
def test_tables_may_have_the_separators_that_logs_have(folder: Path, mark: str) -> None:
    weights = (folder / "w.csv").read_bytes()
    scores = convert(folder, "s.txt", "s.csv", "--corpus", "c.txt").read_text()
    for name, text in (("w.csv", weights.decode()), ("s.csv", scores)):
        (folder / name).write_text(text.replace(",", mark))
    back = convert(folder, "s.csv", "s2.txt", "--corpus", "c.txt")
    assert back.read_text() == (folder / "s.txt").read_text()
    assert convert(folder, "w.csv", "w2.csv", "--corpus", "c.txt").read_bytes() == weights


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["c.txt", "c.txt"], "would overwrite"),
        (["c.txt", "./c.txt", "--to", "letor"], "would overwrite"),
        (["c.txt", "w.csv", "--weights", "w.csv"], "would overwrite"),
        (["c.txt", "link.txt"], "would overwrite"),
        (["c.txt", "x", "--to", "pdf"], "--to is 'pdf'; it must be one of letor"),
        (["c.txt", "x", "--from", "json", "--to", "letor"], "(json) cannot become letor"),
        (["c.txt", "x", "--from", "json"], "neither JSON"),
        (["c.txt", "x", "--to", "json"], "(letor) cannot become json; from letor"),
        (["s.txt", "x"], "belong to a corpus; name its file with --corpus"),
        (["c.txt", "x", "--to", "proprank", "--relevant-grade", "0"], "Relevant from grade is '0'"),
        (["c.txt", "x", "--to", "letor", "--relevant-grade", "1"], "it changes nothing"),
        (["c.txt", "x", "--weights", "w.csv", "--relevant-grade", "1"], "it changes nothing"),
        (["no.txt", "x"], "no.txt does not exist"),
        (["log.csv", "x"], "it is of the kind 'log'"),
        (["zero.csv", "x"], "The propensity of rank 1 is 0"),
        (["c.txt", "no/x"], "cannot be written to"),
        (
            ["r.json", "m.xyz"],
            "m.xyz does not say what it is to become: from json it can end in "
            ".dat or .txt or .model for svmlight or .json for json; or name the format with --to.",
        ),
        (["c.txt", "c.csv.gz"], "c.csv.gz does not say what it is to become"),
        (["c.txt", "t.csv", "--weights", "w.csv"], "it can end in .dat or .txt for proprank;"),
        (["c.txt", "new.txt/"], "new.txt/, which names a directory; give the path of a file"),
        (["c.txt", "new.txt/."], "which names a directory; give the path of a file"),
        (["c.txt", ".csv"], "it can end in .txt or .dat or .letor for letor"),
        (["zero.csv", "curve.json"], "from curve it can end in .csv for curve;"),
    ],
)
def test_what_is_not_done(
    folder: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "link.txt").symlink_to(folder / "c.txt")
    (folder / "log.csv").write_text("query,document,position,click\nq,a,1,1\n")
    (folder / "zero.csv").write_text("rank,propensity\n1,0\n2,0.5\n")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    places = [x if x.startswith("-") or ("." not in x and "/" not in x and x != "x") else
              f"{folder}/{x}" for x in arguments]  # fmt: skip
    assert main(["convert", *places]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_curve_is_checked_sorted_and_made_relative_to_rank_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ctr.csv").write_text("pos,p\n3,0.1\n1,0.4\n2,0.2\n")
    assert main(["convert", "ctr.csv", "curve.csv"]) == 0
    assert Path("curve.csv").read_text() == "rank,propensity\n1,1.0\n2,0.5\n3,0.25\n"


def test_help_lists_formats_and_conversions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    out = capsys.readouterr().out
    for line in ("svmlight     ranker as model text", "proprank     to letor, proprank, weights"):
        assert line in out


def test_missing_values_are_told_whatever_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mark = "1.79769313486231570000e+308"
    Path("c.txt").write_text(f"3 qid:1 1:4 2:{mark}\n0 qid:1 1:1 2:2\n")
    Path("t.dat").write_text(f"1 qid:1 cost:1 1:4 2:{mark}\n0 qid:1 1:1 2:2\n")
    for given, made in (("c.txt", "tidy.txt"), ("t.dat", "weights.csv"), ("t.dat", "rows.txt")):
        assert main(["convert", given, made]) == 0
        assert "read as 0; it is in line 1, feature 2." in capsys.readouterr().err
    assert Path("tidy.txt").read_text().startswith("3 qid:1 1:4")
    assert mark not in Path("tidy.txt").read_text()
    for given in ("c.txt", "t.dat"):
        assert main(["check", given]) == 0
        assert "read as 0" in capsys.readouterr().out
