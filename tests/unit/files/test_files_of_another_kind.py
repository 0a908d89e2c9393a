"""A file of one kind where another one is expected is said to be that, by every reader."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.meaning import refused
from tests.unit.learners.test_forest import MODEL
from ultr_core import studies
from ultr_core.errors import InputError
from ultr_core.export.notebook import Notebook, code, words
from ultr_core.files import (
    parse_corpus,
    parse_curve_values,
    parse_log,
    parse_names,
    parse_proprank,
    parse_ranker,
    parse_scores,
    parse_weights,
    read_curve_values,
    read_names,
    read_scores,
    read_weights,
)
from ultr_core.files.kinds import KINDS, NOT_ALONE, UNREAD
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_query import DIALECTS, counting_query
from ultr_core.files.parquet_pages import columns_of
from ultr_core.files.target_files import write_targets
from ultr_core.files.trec_files import parse_qrels, read_qrels
from ultr_core.files.tree_files import parse_trees, read_model
from ultr_core.inspection import kind_of
from ultr_core.jobs.convert import _detect
from ultr_core.learners.trees import TreeRanker
from ultr_core.propensity.targets import Targets
from ultr_core.studies.journal import FORMAT

SHIPPED = Path(studies.__file__).parent / "paper_scale"
ROWS = b"2 qid:7 1:0.5 2:1 # docid = a\n0 qid:7 1:0.1 2:3 # docid = b\n"
CORPUS = parse_corpus(ROWS, "corpus")
RANKER = {
    "format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1, 2], "coefficients": [1, 2],
}  # fmt: skip
SVM_LIGHT = b"SVM-light Version V6.20\n0 # kernel type\n" + b"0 #\n" * 9 + b"1 1:0.5 2:1 #\n"
NESTED = {"action_name": "click", "event_attributes": {"object": {"object_id": "a"}}}

FILES: dict[str, tuple[str, bytes]] = {
    "corpus": ("corpus", ROWS),
    "log": ("log", b"query,document,position,click\n7,a,1,1\n7,b,2,0\n"),
    "events": ("log", json.dumps(NESTED).encode() + b"\n"),
    "nested rows": ("log", b'{"seen": {"q": "7", "shown": [1, 2]}}\n' * 2),
    "list of rows": ("log", b'[{"query": "7", "document": "a", "position": 1, "click": 1}]\n'),
    "list over lines": ("log", b'[\n {\n  "query": "7"\n }\n]\n'),
    "curve": ("curve", b"rank,propensity\n1,1\n2,0.5\n"),
    "ranker": ("ranker", json.dumps(RANKER).encode()),
    "ranker over lines": ("ranker", json.dumps(RANKER, indent=1).encode()),
    "svm_light": ("ranker", SVM_LIGHT),
    "table of scores": ("scores", b"query,candidate,score\n7,1,0.5\n7,2,1\n"),
    "run": ("scores", b"7 Q0 a 1 2.5 x\n7 Q0 b 2 1 x\n"),
    "numbers": ("groups", b"0.5\n1.5\n"),
    "weights": ("weights", b"query,candidate,weight\n7,1,2\n"),
    "targets": ("targets", b"query,candidate,row,target,sample_weight\n7,1,1,0.5,2\n"),
    "names": ("names", b"query_id,text\n7,lamp\n"),
    "judgements": ("judgements", b"7 0 a 2\n7 0 b 0\n"),
    "training": ("training", b"2 qid:7 cost:1.5 1:0.5 2:1\n0 qid:7 1:0.1 2:3\n"),
    "trees": ("trees", MODEL.encode()),
    "notebook": ("notebook", Notebook("n", (words("# A"), code("1"))).as_bytes()),
    "journal": ("results", (json.dumps({"format": FORMAT, "grid": {}}) + "\n").encode()),
    "shipped results": ("results", (SHIPPED / "few-clicks.json").read_bytes()),
    "shipped cells": ("results", (SHIPPED / "few-clicks.csv").read_bytes()),
    "curve of a study": ("results", b"study,method,label,clicks,loss,value,low,high\n"),
    "printed with --json": ("json", b'{\n "files": []\n}\n'),
    "drawing": ("markup", b'<svg xmlns="http://www.w3.org/2000/svg"></svg>\n'),
    "report": ("markup", b"<!DOCTYPE html>\n<title>A report</title>\n"),
    "statement": ("statement", counting_query("log", None, DIALECTS["duckdb"]).encode()),
    "link": ("link", b"http://localhost:8501/lab?eta=1.5&seed=3\n"),
}
BINARY = {
    "a Parquet file": b"PAR1" + bytes(16),
    "a DuckDB file": bytes(8) + b"DUCK" + bytes(16),
    "a picture (PNG)": b"\x89PNG\r\n" + bytes(16),
}
READERS: dict[str, Callable[[bytes, str], Any]] = {
    "corpus": parse_corpus,
    "log": parse_log,
    "curve": lambda data, name: parse_curve_values(data.decode(), name),
    "ranker": parse_ranker,
    "scores": lambda data, name: parse_scores(data, CORPUS, name),
    "weights": lambda data, name: parse_weights(data, CORPUS, name),
    "names": parse_names,
    "judgements": lambda data, name: parse_qrels(data, CORPUS, name),
    "training": parse_proprank,
    "trees": parse_trees,
    "groups": lambda data, name: parse_corpus(b"2 1:1\n", "c", groups=Source.upload(data, name)),
}
SAYS_ITSELF = {"ranker": "json", "log": "json"}
"""What a reader of JSON tells in its own words."""


@pytest.mark.parametrize("wanted", READERS)
def test_every_reader_says_what_it_was_given_instead(wanted: str) -> None:
    for name, (kind, data) in FILES.items():
        if wanted == "log" and name not in ("corpus", "ranker", "curve", "trees", "notebook"):
            continue  # each takes an engine to open
        if kind == SAYS_ITSELF.get(wanted):
            with pytest.raises(InputError) as caught:
                READERS[wanted](data, name)
            assert caught.value.about not in ("", "other_kind")
        elif kind == wanted or (wanted, kind) in (("scores", "groups"), ("training", "corpus")):
            try:
                READERS[wanted](data, name)
            except InputError as error:  # of its own kind, with a fault
                assert error.about != "other_kind", name
        elif kind == "groups" and wanted in ("corpus", "training"):
            with refused("not_a_grade", name):  # rows may have lost all but the grade
                READERS[wanted](data, name)
        else:
            with refused("other_kind", name, KINDS[kind], KINDS[wanted]):
                READERS[wanted](data, name)


@pytest.mark.parametrize("wanted", ["curve", "ranker", "scores", "weights", "names", "judgements"])
@pytest.mark.parametrize("what", BINARY)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, wanted: str, what: str) -> None:
    """Read by its path, it is also said what should be there as text."""
    path = tmp_path / "given"
    path.write_bytes(BINARY[what])
    read = {
        "curve": (read_curve_values, "the curve"), "ranker": (read_model, "the ranker"),
        "scores": (lambda path: read_scores(path, CORPUS), "the score file"),
        "weights": (lambda path: read_weights(path, CORPUS), "the weights table"),
        "names": (read_names, "the table of names"),
        "judgements": (lambda path: read_qrels(path, CORPUS), "the judgements"),
    }[wanted]  # fmt: skip
    with refused("not_text", "given", what, read[1]):
        read[0](path)


@pytest.mark.parametrize("what", BINARY)
def test_a_corpus_that_is_no_text_is_named(what: str) -> None:
    with refused("not_text", "given", what):
        parse_corpus(BINARY[what], "given")


def test_what_no_command_takes_by_itself_is_named_before_it_is_read() -> None:
    for name, (kind, data) in FILES.items():
        source = Source.upload(data, name)
        if kind in (*NOT_ALONE, *UNREAD) and kind != "json":
            with refused("other_kind", name, KINDS[kind].split(" (")[0]):
                kind_of(source)
        else:
            assert kind_of(source) == {"groups": "scores", "json": "log"}.get(kind, kind), name


def as_parquet(columns: dict[str, list[Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_tables_that_the_lab_writes_as_parquet_are_named(tmp_path: Path) -> None:
    path = tmp_path / "targets.parquet"
    targets = Targets(np.array([1.5, 0.0]), np.array([3.0, 3.0]))
    write_targets(path, CORPUS, targets, made_with={"method": "ips", "clicks": 2})
    cells = pd.read_csv(SHIPPED / "few-clicks.csv").to_parquet(index=False)
    for kind, data in (("targets", path.read_bytes()), ("results", cells)):
        source = Source.upload(data, "table.parquet")
        with refused("other_kind", "table.parquet", KINDS[kind]):
            kind_of(source)
        with refused("other_kind", "table.parquet", KINDS[kind], KINDS["log"]):
            parse_log(data, "table.parquet")
    with refused("not_convertible", path.name, KINDS["targets"]):
        _detect(str(path))


def test_other_parquet_is_read_as_a_log() -> None:
    log = {"query": ["7"], "document": ["a"], "position": [1], "click": [1]}
    nested = [{"target": 1.0, "sample_weight": {"query": 1}}]
    for columns in (log, {**log, "target": [1.0], "sample_weight": [1.0]}, {"seen": nested}):
        data = as_parquet(columns)
        assert columns_of(io.BytesIO(data), "log") == tuple(columns)
        assert kind_of(Source.upload(data, "log")) == "log"
    targets = as_parquet({"query": ["7"], "target": [1.0], "sample_weight": [1.0]})
    assert kind_of(Source.upload(targets, "log"), {"click": "target"}) == "log"


def test_a_log_whose_columns_the_reader_maps_is_a_log_whatever_they_are_called() -> None:
    source = Source.upload(b"query_id,text\n7,lamp\n", "log.csv")
    assert kind_of(source, {"query": "query_id", "document": "text"}) == "log"


@pytest.mark.parametrize("odd", ["with image", "<b>", "https://a"])
def test_a_log_may_have_a_column_of_any_name(odd: str) -> None:
    source = Source.upload(f"{odd},query,document,position,click\n1,7,a,1,1\n".encode(), "log")
    assert kind_of(source) == "log"


def test_a_model_may_be_trees_or_linear_and_nothing_else(tmp_path: Path) -> None:
    for name, (kind, data) in FILES.items():
        (tmp_path / "given").write_bytes(data)
        if kind in ("trees", "ranker"):
            is_trees = isinstance(read_model(tmp_path / "given"), TreeRanker)
            assert is_trees == (kind == "trees"), name
        elif kind != "json":
            with refused("other_kind", "given", KINDS["model"]):
                read_model(tmp_path / "given")


@pytest.mark.parametrize("header", ["query,document,position,score", "query,document,rank,value"])
def test_a_log_that_only_lacks_a_column_is_not_taken_for_another_kind(header: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_log(f"{header}\n7,a,1,1\n", "log.csv")
    assert caught.value.about == "clicks_apart"


@pytest.mark.parametrize("name", ["events", "nested rows", "list of rows", "list over lines"])
def test_json_is_a_ranker_only_with_the_parts_of_one(name: str) -> None:
    assert kind_of(Source.upload(FILES[name][1], name)) == "log"
    assert kind_of(Source.upload(FILES["ranker over lines"][1], name)) == "ranker"


@pytest.mark.parametrize("text", ['{"1": 1.0, "2": 0.5}', '{"rank": 1, "propensity": 1.0}'])
def test_a_curve_as_json_is_not_said_to_be_a_log(text: str) -> None:
    with refused("column_missing", "curve.json"):
        parse_curve_values(text, "curve.json")
