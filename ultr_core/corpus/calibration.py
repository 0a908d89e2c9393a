"""Sizes of synthetic corpora, and what was calibrated for each corpus seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ultr_core.errors import InputError

FEWEST_CANDIDATES = 3
CALIBRATION_FILE = Path(__file__).with_name("calibration.json")


@dataclass(frozen=True)
class CorpusShape:
    """How large a synthetic corpus is.

    Attributes:
        train_queries: number of training queries.
        validation_queries: number of validation queries (15% of training in the paper).
        test_queries: number of test queries.
        features: number of features of a document.
        mean_candidates: mean number of candidate documents of a query; the counts vary.

    Raises:
        InputError: a count below 1, or fewer than 3 candidates on average.

    """

    train_queries: int = 2000
    validation_queries: int = 300
    test_queries: int = 2000
    features: int = 50
    mean_candidates: float = 24.0

    def __post_init__(self) -> None:
        """Check every count."""
        for name in ("train_queries", "validation_queries", "test_queries", "features"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be 1 or more.")
        if not self.mean_candidates >= FEWEST_CANDIDATES:
            raise InputError(
                f"mean_candidates is {self.mean_candidates}; "
                f"it must be {FEWEST_CANDIDATES} or more."
            )


DEFAULT_SHAPE = CorpusShape()
# Training, validation and test queries and features of Yahoo LTRC set 1, the paper's corpus.
YAHOO_SHAPE = CorpusShape(19_944, 2_994, 6_983, 519, 23.7)


@dataclass(frozen=True)
class Calibration:
    """What was found for one corpus seed and shape so that the noise shares are the paper's.

    Attributes:
        relevant_share: share of training documents with grade 3 or 4.
        redraw: how often the queries had to be drawn anew. The noise shares jump where the labels
            of the production ranker's few queries change, and may jump past their targets.

    """

    relevant_share: float
    redraw: int


def find_calibration(corpus_seed: int, shape: CorpusShape) -> Calibration | None:
    """Look up what was calibrated for a seed and a shape; None if nothing was."""
    for entry in load_calibration()["corpora"]:
        if entry["corpus_seed"] == corpus_seed and CorpusShape(**entry["shape"]) == shape:
            return Calibration(entry["relevant_share"], entry["redraw"])
    return None


def mean_calibrated_share() -> float:
    """Return the mean share of relevant documents over the calibrated seeds."""
    shares = [entry["relevant_share"] for entry in load_calibration()["corpora"]]
    return float(np.mean(shares))


@cache
def load_calibration() -> Any:
    """Return the content of ``calibration.json``, which says how it was made."""
    return json.loads(CALIBRATION_FILE.read_text(encoding="utf-8"))
