"""A file of one kind where another one is expected is said to be that, by every reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.files import (
    parse_corpus,
    parse_curve_values,
    parse_log,
    parse_names,
    parse_proprank,
    parse_ranker,
    parse_scores,
    parse_weights,
)
from ultr_core.files.kinds import KINDS
from ultr_core.files.letor_lines import Source
from ultr_core.files.trec_files import parse_qrels
from ultr_core.inspection import kind_of

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
    "names": ("names", b"query_id,text\n7,lamp\n"),
    "judgements": ("judgements", b"7 0 a 2\n7 0 b 0\n"),
    "training": ("training", b"2 qid:7 cost:1.5 1:0.5 2:1\n0 qid:7 1:0.1 2:3\n"),
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
}


@pytest.mark.parametrize("wanted", READERS)
def test_every_reader_says_what_it_was_given_instead(wanted: str) -> None:
    for name, (kind, data) in FILES.items():
        if wanted == "log" and name not in ("corpus", "ranker", "curve"):
            continue  # each takes an engine to open
        if kind == wanted or (wanted, kind) in (("scores", "groups"), ("training", "corpus")):
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
