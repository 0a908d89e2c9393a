"""Scores that no number can hold are refused by name: tied, they would be judged wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus, parse_log, parse_scores
from ultr_core.files.score_files import scores_text
from ultr_core.inspection import inspect_ranker, inspect_scores, join_log
from ultr_core.learners.ranker import LinearModel
from ultr_core.own_data.evaluation import compare_rankers, compare_with_shown, evaluate_ranker
from ultr_core.users import ClickLog, PowerLaw

CURVE = PowerLaw(1.0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(b"1 qid:1 1:3 2:1\n0 qid:1 1:2 2:1\n0 qid:1 1:1 2:-9\n", "corpus")


@pytest.fixture(scope="module")
def log(corpus: Corpus) -> ClickLog:
    text = (
        "query,document,position,impressions,clicks\n1,1,1,900,400\n1,2,2,900,200\n1,3,3,900,90\n"
    )
    return join_log(parse_log(text), corpus).clicks


@pytest.mark.parametrize(
    "coefficients", [(1.7e308, 0.0), (-1.7e308, 0.0), (1.7e308, 1.7e308)], ids=str
)
def test_a_ranker_whose_scores_overflow_is_named_and_refused(
    corpus: Corpus, log: ClickLog, coefficients: tuple[float, float]
) -> None:
    model = LinearModel(np.array(coefficients), np.array([1, 2]))
    scores, right = model.score(corpus), np.array([3.0, 2.0, 1.0])
    assert not np.isfinite(scores).all()
    with refused("score_not_finite", "mine.json"):
        evaluate_ranker(corpus, log, scores, CURVE, name="mine.json")
    with refused("score_not_finite", "mine.json"):
        compare_with_shown(log, scores, CURVE, name="mine.json")
    for both in ((scores, right), (right, scores)):
        names = tuple("mine.json" if each is scores else "other" for each in both)
        with refused("score_not_finite", "mine.json"):
            compare_rankers(log, *both, CURVE, names=(names[0], names[1]))
    for found in (inspect_ranker(model, corpus), inspect_scores(scores, corpus)):
        assert found.finding("finite_scores").severity == "stop"
        assert found.finding("finite_scores").value == np.count_nonzero(~np.isfinite(scores))
    with refused("score_not_finite"):
        scores_text(corpus, scores)


@pytest.mark.parametrize("form", ["lines", "table", "run"])
@pytest.mark.parametrize("score", ["9007199254740993", "-9007199254740993", "1e-400", "0.1e-330"])
def test_a_score_that_would_become_another_number_is_refused(
    corpus: Corpus, form: str, score: str
) -> None:
    rows = {
        "lines": "{0}\n",
        "table": "1,{1},{0}\n",
        "run": "1 Q0 {1} {1} {0} x\n",
    }
    text = "".join(rows[form].format(each, n) for n, each in enumerate((score, "2", "1"), 1))
    first = 1
    if form == "table":
        text, first = f"query,candidate,score\n{text}", 2
    with refused("number_lost", score, first):
        parse_scores(text, corpus, "scores")
    whole = text.replace(score, "9007199254740994")
    assert parse_scores(whole, corpus, "scores").tolist() == [2.0**53 + 2, 2.0, 1.0]
