"""TREC runs and judgements, and tables of names, at the door of a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core import cli
from ultr_core.corpus.ranking import rank_documents
from ultr_core.files import load_corpus, parse_corpus, parse_log, parse_scores, read_scores
from ultr_core.files.letor_lines import Source
from ultr_core.files.name_tables import parse_names
from ultr_core.files.score_files import parse_score_file, write_scores
from ultr_core.files.trec_files import parse_qrels, qrels_text
from ultr_core.inspection import inspect_scores, join_log, kind_of

TEXT = (
    b"4 qid:1 1:1 2:0 # docid = a\n0 qid:1 1:0 2:1 # docid = b\n1 qid:1 1:2 2:1 # docid = c\n"
    b"0 qid:2 1:1 2:1 # docid = a\n3 qid:2 1:5 2:1 # docid = d\n"
)
CORPUS = parse_corpus(TEXT, "corpus")
RUN = (
    "1 Q0 b 1 9.5 bm25\n1 Q0 a 2 3 bm25\n1 Q0 c 3 -1e-3 bm25\n1 Q0 z 4 -2 bm25\n"
    "2 Q0 d 1 0.25 bm25\n2 Q0 a 2 0.125 bm25\n9 Q0 a 1 1 bm25\n"
)


def test_a_run_is_read_by_its_scores_and_written_best_first(tmp_path: Path) -> None:
    scores = parse_scores(RUN, CORPUS, "run")
    assert scores.tolist() == [3, 9.5, -1e-3, 0.125, 0.25]
    write_scores(tmp_path / "again.run.gz", CORPUS, scores)
    assert read_scores(tmp_path / "again.run.gz", CORPUS).tolist() == scores.tolist()
    write_scores(tmp_path / "again.run", CORPUS, scores)
    cells = [line.split() for line in (tmp_path / "again.run").read_text().splitlines()]
    assert [c[2] for c in cells] == ["b", "a", "c", "d", "a"]
    assert [int(c[3]) for c in cells] == [1, 2, 3, 1, 2]
    assert rank_documents(scores, CORPUS.query_offsets).tolist() == [2, 1, 3, 2, 1]
    assert kind_of(Source.upload(RUN.encode(), "run")) == "scores"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("1 Q0 c 3 -1e-3 bm25\n", ""), ("score_missing", 1, 5, "'c'")),
        (("2 Q0 a 2 0.125 bm25\n", "2 Q0 d 2 0.125 bm25\n"), ("document_twice", "line 6")),
        (("2 Q0 a 2 0.125 bm25\n", "2 Q0 a 2 nan bm25\n"), ("not_a_number", "line 6", "nan")),
        (("2 Q0 a 2 0.125 bm25\n", "2 Q0 a 2 0.125\n"), ("cells_missing", "line 6", 5)),
    ],
)
def test_a_run_needs_one_score_for_each_document(change, fault) -> None:
    with refused(*fault):
        parse_scores(RUN.replace(*change), CORPUS, "run")


@pytest.mark.parametrize(
    ("ranks", "against"),
    [("12312", 0), ("11111", 0), ("00000", 0), ("x1x12", 0), ("13212", 1), ("12321", 1)],
)
def test_ranks_of_a_run_that_contradict_its_scores_are_counted(ranks: str, against: int) -> None:
    """Scores decide, as in trec_eval; what was meant only their writer knows."""
    starts, ends = ("1 Q0 b", "1 Q0 a", "1 Q0 c", "2 Q0 d", "2 Q0 a"), ("9.5", "3", "-1", "2", "1")
    lines = [f"{s} {r} {e} x" for s, r, e in zip(starts, ranks, ends, strict=True)]
    text = "\n".join(["9 Q0 z 1 1 x", *lines])
    found = parse_score_file(text, CORPUS, "run")
    assert found.scores.tolist() == [3, 9.5, -1, 1, 2]
    assert len(found.notices) == (against > 0)
    if against:
        assert mentions(found.notices[0], "run", against, 3)
        (note,) = inspect_scores(found.scores, CORPUS, notices=found.notices).warnings
        assert note.sentence == found.notices[0]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (RUN.replace("2 Q0 a 2 0.125 bm25", "2 Q0 a 2 0.125 dense"), ("'bm25'", 1, "'dense'", 6)),
        (f"\n{RUN}{RUN.replace('bm25', 'dense')}", ("'bm25'", 2, "'dense'", 9)),
    ],
)
def test_a_file_of_several_runs_is_refused(text: str, tags: tuple[object, ...]) -> None:
    """Scores of two programs have different scales; one would count for some queries."""
    with refused("several_runs", "run", *tags):
        parse_scores(text, CORPUS, "run")
    other = RUN.replace("9 Q0 a 1 1 bm25", "9 Q0 a 1 1 dense")
    assert parse_scores(other, CORPUS, "run").size == 5  # of a query that nobody asks about


def test_a_run_whose_scores_are_distances_is_refused() -> None:
    """They rise with the rank: most documents would change places."""
    starts = ("1 Q0 b 1 -9.5", "1 Q0 a 2 0", "1 Q0 c 3 4", "2 Q0 d 1 9", "2 Q0 a 2 8")
    with refused("ranks_against_scores", "run", 2, 3):
        parse_scores("".join(f"{start} x\n" for start in starts), CORPUS, "run")


def test_judgements_are_the_grades_and_are_written_back() -> None:
    found = parse_qrels("1 0 b 2\n2 0 d 1\n2 0 a -2\n7 0 q 4\n", CORPUS, "qrels")
    assert found.grades.tolist() == [0, 2, 0, 0, 1]
    assert len(found.notices) == 1
    assert mentions(found.notices[0], 3, 5)
    again = parse_qrels(qrels_text(CORPUS), CORPUS, "qrels")
    assert np.array_equal(again.grades, CORPUS.grades)


@pytest.mark.parametrize(
    ("text", "about"),
    [("9 0 a 1\n", "no_document"), ("1 0 a 1\n1 0 a 2\n", "document_twice"),
     ("1 0 a 1.5\n", "not_a_grade"), ("1 0 a\n", "cells_missing"),
     ("1 0 a 99999\n", "not_a_grade")],
)  # fmt: skip
def test_judgements_that_cannot_be_used_are_refused(text, about) -> None:
    with refused(about):
        parse_qrels(text, CORPUS, "qrels")


def test_a_corpus_without_ids_is_named_by_places() -> None:
    plain = parse_corpus(b"1 qid:1 1:1\n0 qid:1 1:2\n", "corpus")
    assert qrels_text(plain) == "1 0 1 1\n1 0 2 0\n"


# Tables of names.

QUERIES = parse_names("query_id,text\n1,desk lamp\n1,lamp for a desk\n2,chair\n", "texts")
DOCUMENTS = parse_names("document_id,name\na,Lamp A\na,Lamp A (old)\nb,Lamp B\n", "names")
LOG = (
    "query,document,position,impressions,clicks\ndesk lamp,Lamp A,1,10,4\n"
    "desk lamp,Lamp B,2,10,1\nlamp for a desk,Lamp A (old),1,5,3\nlamp for a desk,c,2,5,1\n"
    "sofa,Lamp A,1,20,1\n"
)


def test_a_log_of_texts_joins_a_corpus_by_tables_of_names() -> None:
    log = parse_log(LOG, "log")
    with refused("query_texts"):
        join_log(log, CORPUS)
    joined = join_log(log, CORPUS, queries=QUERIES, documents=DOCUMENTS)
    clicks = joined.clicks
    assert clicks.document.tolist() == [0, 1, 2]
    assert clicks.rank.tolist() == [1, 2, 2]
    assert clicks.impressions.tolist() == [15, 10, 5]
    assert clicks.clicks.tolist() == [7, 1, 1]
    assert clicks.draws.tolist() == [15, 0]
    assert joined.overlap.clicks_of_unknown_queries == 1
    shares = [text for text in joined.notices if "texts lacks" in text]
    assert len(shares) == 1
    assert "40.0%" in shares[0]  # 20 of 50 impressions
    assert "10.0%" in shares[0]  # 1 of 10 clicks


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("query_id,text\n1,lamp\n2,lamp\n", "two_ids"),
        ("query_id,text\n1,\n", "name_missing"),
        ("query_id,text\n,lamp\n", "id_missing"),
        ("query_id\n1\n", "column_missing"),
        ("one,two\n1,lamp\n", "column_missing"),
        ("query_id,one,two\n1,lamp,desk\n", "column_missing"),
        ("query_id,text\n1\n", "cells_missing"),
        ("query_id,text\n", "empty_file"),
    ],
)
def test_a_table_that_could_mean_two_things_is_refused(text, about) -> None:
    with refused(about):
        parse_names(text, "texts")


@pytest.mark.parametrize(
    "text", ["sku,docid\nS1,a\n", "docid,sku\na,S1\n", "query_id,what\na,S1\n", "one,text\na,S1\n"]
)
def test_of_two_columns_one_may_have_any_name(text: str) -> None:
    assert parse_names(text).ids == {"S1": "a"}


def test_a_table_without_known_columns_names_its_own() -> None:
    with refused("column_missing", "'one'", "'two'", "docid", "name"):
        parse_names("one,two\n1,lamp\n")


def test_a_log_of_names_says_that_a_table_would_join_it() -> None:
    texts = parse_log("query,document,position,click\n1,Lamp A,1,1\n", "log")
    with refused("document_names"):
        join_log(texts, CORPUS)


def test_a_log_without_a_column_of_queries_says_so() -> None:
    log = parse_log("keyword_id,product_sku,position,click\nk,a,1,1\n", "log")
    assert log.columns["document"] == "product_sku"
    with refused("query", "'keyword_id'", "'product_sku'", "search_query"):
        join_log(log, CORPUS)


# The commands take all of it.


def test_evaluate_takes_a_run_judgements_and_tables(tmp_path: Path, capsys) -> None:
    files = {
        "corpus.txt": TEXT.decode(),
        "log.csv": LOG,
        "texts.csv": "query_id,text\n1,desk lamp\n1,lamp for a desk\n",
        "names.csv": "document_id,name\na,Lamp A\na,Lamp A (old)\nb,Lamp B\n",
        "model.run": RUN,
        "qrels": "1 0 a 3\n2 0 d 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    path = {name: str(tmp_path / name) for name in files}
    command = ["evaluate", "--corpus", path["corpus.txt"], "--log", path["log.csv"], "--eta", "0",
               "--scores", path["model.run"], "--query-texts", path["texts.csv"],
               "--document-names", path["names.csv"], "--qrels", path["qrels"],
               "--json"]  # fmt: skip
    assert cli.main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["clicks"] == 9
    # a is at rank 2 by the run, b at 1 and c at 3: (7 * 2 + 1 * 1 + 1 * 3) / 15 draws.
    assert found["estimates"]["ips"]["value"] == pytest.approx(18 / 15)
    assert found["true"]["risk"] == pytest.approx((2 + 1) / 2)


def test_convert_writes_runs_and_judgements(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_bytes(TEXT)
    (tmp_path / "in.txt").write_text("1\n2\n3\n4\n5\n")
    corpus = str(tmp_path / "corpus.txt")
    run, qrels = str(tmp_path / "out.run"), str(tmp_path / "out.qrels")
    assert cli.main(["convert", str(tmp_path / "in.txt"), run, "--corpus", corpus]) == 0
    assert read_scores(run, load_corpus(corpus)).tolist() == [1, 2, 3, 4, 5]
    assert cli.main(["convert", run, str(tmp_path / "back.csv"), "--corpus", corpus]) == 0
    assert cli.main(["convert", corpus, qrels]) == 0
    assert Path(qrels).read_text().splitlines()[0] == "1 0 a 4"


# H35: nothing is left over on exit 2.


def test_fit_leaves_no_output_behind_when_another_cannot_be_written(tmp_path: Path) -> None:
    zero_based = TEXT.replace(b"2:", b"0:")
    (tmp_path / "corpus.txt").write_bytes(zero_based)
    (tmp_path / "log.csv").write_text("query,document,position,click\n1,a,1,1\n1,b,2,0\n")
    before = set(tmp_path.iterdir())
    command = ["fit", "--corpus", str(tmp_path / "corpus.txt"), "--log", str(tmp_path / "log.csv"),
               "--eta", "1", "--cost", "1", "--out", str(tmp_path / "x.json"),
               "--svm-light-out", str(tmp_path / "y.dat")]  # fmt: skip
    assert cli.main(command) == 2
    assert set(tmp_path.iterdir()) == before
