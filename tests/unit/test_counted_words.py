"""Sentences with one thing in them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.meaning import mentions
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import inspect_corpus, inspect_together, join_log
from ultr_core.inspection.of_together import _share
from ultr_core.own_data.evaluation import NDCG
from ultr_core.own_data.fitting import fit_from_log
from ultr_core.risk.sign_test import sign_test
from ultr_core.users import PowerLaw
from ultr_core.words import counted, part_of


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 losses"), (1, "1 loss"), (2, "2 losses"), (1_000, "1,000 losses")]
)
def test_a_number_of_things_has_the_plural_that_it_needs(number: int, words: str) -> None:
    assert counted(number, "loss", "losses") == words


def test_some_of_a_number_of_things_have_the_verb_that_they_need() -> None:
    assert part_of(1, 5, "query", "queries").split() == ["1", "of", "5", "queries", "has"]
    assert part_of(1, 1, "query", "queries").split() == ["1", "of", "1", "query", "has"]
    assert part_of(2, 1_000, "row", does="is", do="are").split()[2:] == ["1,000", "rows", "are"]


def test_a_corpus_of_one_query_and_one_feature_is_told_in_the_singular() -> None:
    corpus = parse_corpus(b"1 qid:1 1:0\n0 qid:2 1:0\n0 qid:2 1:0\n", "c.txt")
    told = " ".join(finding.sentence for finding in inspect_corpus(corpus).findings)
    assert mentions(told, "1 of 2 queries", "1 of 1 feature", "1 of 2 queries (50%)")
    assert not re.search(r"\b(have|are)\b", "".join(re.findall(r"1 of [^.;]*", told)))
    rule = NDCG.of(np.zeros(3), corpus.grades, corpus.query_offsets).rule
    assert mentions(rule, "1 of 2 queries")


def test_a_log_of_one_click_is_told_in_the_singular() -> None:
    corpus = parse_corpus(b"1 qid:1 1:1 # docid = a\n0 qid:1 1:0 # docid = b\n", "c.txt")
    log = parse_log("query,document,position,click\n1,a,1,1\n1,b,2,0\n")
    joined = join_log(log, corpus)
    fit = fit_from_log(corpus, joined.clicks, PowerLaw(1.0), cost=0.1)
    assert mentions(fit.sentence, "1 click", "C = 0.1")
    told = " ".join(finding.sentence for finding in inspect_together(joined, corpus).findings)
    assert mentions(told, "1 of 1 query", "1 of 1 click (100%)")
    log = parse_log("query,document,position,click\n1,a,1,1\n2,b,2,0\n")
    assert mentions(" ".join(join_log(log, corpus).notices), "1 of 2 queries", "'2'", "0 clicks")


def test_clicks_of_one_held_out_query_are_told_in_the_singular() -> None:
    rows = "".join(f"1 qid:{q} 1:1 # docid = a\n0 qid:{q} 1:0 # docid = b\n" for q in range(4))
    corpus = parse_corpus(rows.encode(), "c.txt")
    text = "".join(f"{q},a,1,1\n{q},b,2,0\n" for q in range(4))
    log = join_log(parse_log("query,document,position,click\n" + text), corpus).clicks
    one = replace(log, clicks=np.eye(1, log.clicks.size, dtype=np.int64)[0])
    fit = fit_from_log(corpus, log, PowerLaw(1.0), validation=(corpus, one))
    assert mentions(fit.sentence, "1 click", "1 held-out")


def test_the_sign_test_loses_once() -> None:
    assert mentions(sign_test(1, 1, 1).sentence, "1 win", "1 loss", "1 tie")
    assert "p = 0.0215" in sign_test(9, 1, 5).sentence  # as in the lesson on it


def test_a_small_share_of_the_weight_is_never_told_as_nothing() -> None:
    assert mentions(_share(0.0004), "0.1%")
    assert _share(0.0004) not in {_share(0.001), _share(0.0)}
    assert _share(0.0) == "0.0%"
    assert _share(0.25) == "25.0%"
