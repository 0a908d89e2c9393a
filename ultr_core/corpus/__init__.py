"""Queries, candidate sets, features and grades: types, the synthetic default, LETOR files.

splits = synthetic_splits(0)            # the built-in corpus
splits = load_directory("MSLR/Fold1")   # train.txt, vali.txt, test.txt
relevance = splits.train.relevance(3)   # bool [documents]
"""

from __future__ import annotations

from ultr_core.corpus.calibration import DEFAULT_SHAPE, YAHOO_SHAPE, CorpusShape
from ultr_core.corpus.letor import load_directory, read_letor
from ultr_core.corpus.letor_writer import write_letor
from ultr_core.corpus.model import (
    Corpus,
    CorpusSplits,
    FeatureMatrix,
    propose_relevance_threshold,
)
from ultr_core.corpus.synthetic import synthetic_splits

__all__ = [
    "DEFAULT_SHAPE",
    "YAHOO_SHAPE",
    "Corpus",
    "CorpusShape",
    "CorpusSplits",
    "FeatureMatrix",
    "load_directory",
    "propose_relevance_threshold",
    "read_letor",
    "synthetic_splits",
    "write_letor",
]
