"""The words of the page Your data."""

from __future__ import annotations

from ultr_core.lab.methods import method_of
from ultr_core.propensity import ESTIMATORS

LOOKS_LIKE = {
    "corpus": "One candidate document a line, plain or gzip: "
    "`2 qid:7 1:0.3 2:0.7 # docid = D4` (LETOR, as MSLR, Yahoo, Istella and MQ2008 have it).",
    "groups": "One number a line: how many documents each query has.",
    "log": "A first line that names the columns, then one line for each document shown: "
    "`query,document,position,click` (CSV, gzip or Parquet).",
    "curve": "`rank,propensity`, then a line for each rank from 1; only ratios matter.",
    "ranker": "A linear ranker as JSON from this lab, or as model text of svm_light.",
    "scores": "One score a line in the order of the corpus, or a table "
    "`query,candidate,document,score`.",
}

HELP = {
    "corpus": "Queries with their candidate documents, features and, if there are any, grades.",
    "groups": "Needed only where the rows of the corpus have no qid:.",
    "log": "Other names of columns can be mapped below once the file is here. Optional columns: "
    "impressions, ranker, swapped rank, page, session, propensity. Evidence on a ranker needs "
    "whole lists: candidates that were never shown have no clicks.",
    "curve": "How often a result is examined at each rank, relative to rank 1.",
    "ranker": "To judge a ranker that exists already, by the clicks of your log.",
    "scores": "To judge any ranker, whatever it is made of, by its scores for your corpus.",
}

KINDS = {
    "corpus": "a corpus",
    "log": "a click log",
    "curve": "a propensity curve",
    "ranker": "a ranker",
    "scores": "scores of a ranker",
    "groups": "a list of numbers, such as group sizes or scores",
    "training": "a training file of svm_proprank",
}


def weights_words(key: str) -> str:
    """A way to weight the clicks, by key: its name and what a click counts."""
    estimator = ESTIMATORS[key]
    return f"{method_of(estimator).label}: {estimator.counts}"
