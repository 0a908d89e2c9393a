"""The words of the page Your data."""

from __future__ import annotations

from ultr_core.content import read
from ultr_core.lab.methods import method_of
from ultr_core.propensity import ESTIMATORS

_WORDS = read(__file__, "your_data")

LOOKS_LIKE, HELP = (
    {kind: words.text(kind) for kind in words.entries}
    for words in (_WORDS.part("looks-like"), _WORDS.part("help"))
)
"""By kind of file: how it looks, and what it is for."""

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
