"""Queries, candidate sets, features and grades: types, the synthetic default, LETOR files.

splits = synthetic_splits(0)            # the built-in corpus
splits = load_directory("MSLR/Fold1")   # train.txt, vali.txt, test.txt
corpus = load_corpus("test.txt.gz")     # one file
relevance = splits.train.relevance(3)   # bool [documents]
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.corpus.feature_matrix import FeatureMatrix
    from ultr_core.corpus.measures import Measure, measure_named
    from ultr_core.corpus.model import Corpus
    from ultr_core.corpus.splits import CorpusSplits, propose_relevance_threshold
    from ultr_core.corpus.synthetic import DEFAULT_SHAPE, YAHOO_SHAPE, CorpusShape, synthetic_splits
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "DEFAULT_SHAPE",
    "YAHOO_SHAPE",
    "Corpus",
    "CorpusShape",
    "CorpusSplits",
    "FeatureMatrix",
    "Measure",
    "measure_named",
    "propose_relevance_threshold",
    "synthetic_splits",
]
