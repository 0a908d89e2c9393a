"""``convert``: from one format into another and back, and what it does not do."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.inputs import assert_equal_corpora
from tests.meaning import mentions, refused_command
from tests.unit.learners.test_forest import MODEL
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
from ultr_core.files.kinds import KINDS
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
    assert mentions(out, "c.txt", "letor", "2 queries", "4 documents", "2 features", packed)


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
    assert mentions(capsys.readouterr().err, "grade 3", "weight 1")
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
    ("arguments", "fault"),
    [
        (["c.txt", "c.txt"], ("overwrites",)),
        (["c.txt", "./c.txt", "--to", "letor"], ("overwrites",)),
        (["c.txt", "w.csv", "--weights", "w.csv"], ("overwrites", "--weights")),
        (["c.txt", "link.txt"], ("overwrites", "link.txt")),
        (["c.txt", "x", "--to", "pdf"], ("to", "--to", "'pdf'", "letor")),
        (["c.txt", "x", "--from", "qrels"], ("from", "--from", "'qrels'")),
        (["c.txt", "x", "--from", "json", "--to", "letor"], ("no_conversion", "(json)", "letor")),
        (["c.txt", "x", "--from", "json"], ("other_kind",)),
        (["c.txt", "x", "--to", "json"], ("no_conversion", "(letor)", "json")),
        (["s.txt", "x"], ("corpus_needed", "--corpus")),
        (["c.txt", "x", "--to", "proprank", "--relevant-grade", "0"], ("relevant_grade", "'0'")),
        (["c.txt", "x", "--to", "letor", "--relevant-grade", "1"], ("changes_nothing", "letor")),
        (["c.txt", "x", "--weights", "w.csv", "--relevant-grade", "1"], ("changes_nothing",)),
        (["no.txt", "x"], ("not_a_file", "no.txt")),
        (["log.csv", "x"], ("not_convertible", KINDS["log"])),
        (["trees.txt", "x"], ("not_convertible", KINDS["trees"])),
        (["trees.txt", "x", "--from", "svmlight"], ("other_kind", KINDS["trees"], KINDS["ranker"])),
        (["names.csv", "x"], ("not_convertible", KINDS["names"])),
        (["g.qrels", "x"], ("not_convertible", KINDS["judgements"])),
        (["out.json", "x"], ("not_convertible", KINDS["json"])),
        (["zero.csv", "x"], ("first_rank", "rank 1", 0)),
        (["c.txt", "no/x"], ("no_place", "no/x")),
        (
            ["r.json", "m.xyz"],
            ("no_target_format", "m.xyz", ".dat", ".txt", ".model", "svmlight", ".json", "--to"),
        ),
        (["c.txt", "c.csv.gz"], ("no_target_format", "c.csv.gz")),
        (["c.txt", "t.csv", "--weights", "w.csv"], ("no_target_format", ".dat", "proprank")),
        (["c.txt", "new.txt/"], ("names_a_directory", "new.txt/")),
        (["c.txt", "new.txt/."], ("names_a_directory",)),
        (["c.txt", ".csv"], ("no_target_format", ".txt", ".dat", ".letor")),
        (["zero.csv", "curve.json"], ("no_target_format", "curve", ".csv")),
    ],
)
def test_what_is_not_done(folder: Path, arguments: list[str], fault: tuple[object, ...]) -> None:
    (folder / "link.txt").symlink_to(folder / "c.txt")
    (folder / "log.csv").write_text("query,document,position,click\nq,a,1,1\n")
    (folder / "trees.txt").write_text(MODEL)
    (folder / "names.csv").write_text("query_id,text\nq,lamp\n")
    (folder / "g.qrels").write_text("q 0 a 2\n")
    (folder / "out.json").write_text('{\n "files": []\n}\n')
    (folder / "zero.csv").write_text("rank,propensity\n1,0\n2,0.5\n")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    places = [x if x.startswith("-") or ("." not in x and "/" not in x and x != "x") else
              f"{folder}/{x}" for x in arguments]  # fmt: skip
    refused_command(["convert", *places], *fault)
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
    parts = {part.partition(":")[0].strip(): part.split("\n") for part in out.split("\n\n")}
    for part, format_, *values in (
        ("formats", "svmlight", "ranker", "svm_light"),
        ("conversions", "proprank", "letor", "weights"),
    ):
        (row,) = (row for row in parts[part] if row.split()[:1] == [format_])
        assert mentions(row, *values)


def test_missing_values_are_told_whatever_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mark = "1.79769313486231570000e+308"
    Path("c.txt").write_text(f"3 qid:1 1:4 2:{mark}\n0 qid:1 1:1 2:2\n")
    Path("t.dat").write_text(f"1 qid:1 cost:1 1:4 2:{mark}\n0 qid:1 1:1 2:2\n")
    for given, made in (("c.txt", "tidy.txt"), ("t.dat", "weights.csv"), ("t.dat", "rows.txt")):
        assert main(["convert", given, made]) == 0
        assert mentions(capsys.readouterr().err, "1 value", "line 1", "feature 2")
    assert Path("tidy.txt").read_text().startswith("3 qid:1 1:4")
    assert mark not in Path("tidy.txt").read_text()
    for given in ("c.txt", "t.dat"):
        assert main(["check", given]) == 0
        assert mentions(capsys.readouterr().out, "1 value", "line 1", "feature 2")
