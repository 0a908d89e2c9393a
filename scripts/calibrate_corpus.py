"""Find the share of relevant documents that gives the built-in corpus the paper's noise shares.

Under the production ranker with p_r = 1/r, let A and B be the expected numbers of examined
irrelevant and relevant documents in the training queries. The share of clicks on irrelevant
documents is then eps A / (B + eps A). The paper prints "about 33%" for eps = 0.1 and 59.8% for
0.3, which gives 33.1% for 0.1; both are true for A/B from 4.948 to 4.959.

The share of relevant documents is varied until A/B meets its target. Only the labels of the few
queries on which the production ranker was trained change that ranker; between two such changes the
presented ranking is fixed, and A/B for every share follows from one cumulative sum. If A/B jumps
past the target at a change, the queries are drawn again.

    python scripts/calibrate_corpus.py            # writes ultr_core/corpus/calibration.json
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ultr_core.corpus import DEFAULT_SHAPE, YAHOO_SHAPE, CorpusShape
from ultr_core.corpus.ranking import rank_documents
from ultr_core.corpus.synthetic import (
    CALIBRATION_FILE,
    Candidates,
    draw_candidates,
    grade_candidates,
    grade_cuts,
)
from ultr_core.lab.production import train_production_ranker

TARGET = 4.957
TOLERANCE = 0.0008
THRESHOLD = 3
FIRST_SHARE = 0.075
FITS_PER_DRAW = 40
DRAWS = 10


@dataclass(frozen=True)
class Attempt:
    """One share of relevant documents and the ratio it gives."""

    relevant: int
    ratio: float

    @property
    def miss(self) -> float:
        """Distance from the target."""
        return abs(self.ratio - TARGET)


def ratios(candidates: Candidates, relevant: int, seed: int) -> NDArray[np.float64]:
    """A/B [documents] if the best 1, 2, ... documents were relevant, with the ranking fixed.

    The ranking is that of the production ranker when the best ``relevant`` documents are relevant.
    """
    cuts = grade_cuts(candidates.utility, relevant / len(candidates.utility))
    corpus = grade_candidates(candidates, cuts, first_query=1)
    production = train_production_ranker(corpus, THRESHOLD, seed)
    ranks = rank_documents(production.ranker.score(corpus), corpus.query_offsets)
    examined = np.cumsum(1.0 / ranks[np.argsort(-candidates.utility, kind="stable")])
    return np.asarray((examined[-1] - examined) / examined)


def calibrate_draw(candidates: Candidates, seed: int) -> Attempt:
    """Search the plateaus of fixed production labels for a share that meets the target."""
    edges = plateau_edges(candidates, seed)
    start = int(np.searchsorted(edges, FIRST_SHARE * len(candidates.utility)))
    tried: dict[int, Attempt] = {}
    waiting = [start]
    while waiting and len(tried) < FITS_PER_DRAW:
        plateau = waiting.pop(0)
        if plateau in tried or not 1 <= plateau < len(edges):
            continue
        low, high = int(edges[plateau - 1]) + 1, int(edges[plateau])
        curve = ratios(candidates, low, seed)
        best = low + int(np.argmin(np.abs(curve[low - 1 : high] - TARGET)))
        tried[plateau] = Attempt(best, float(curve[best - 1]))
        if tried[plateau].miss <= TOLERANCE:
            return tried[plateau]
        # Where this ranking would meet the target, then the neighbours.
        crossing = int(np.searchsorted(-curve, -TARGET)) + 1
        waiting += [int(np.searchsorted(edges, crossing)), plateau - 1, plateau + 1]
    return min(tried.values(), key=lambda attempt: attempt.miss)


def plateau_edges(candidates: Candidates, seed: int) -> NDArray[np.int64]:
    """Places, by utility, of the production queries' documents: where their labels change."""
    cuts = grade_cuts(candidates.utility, FIRST_SHARE)
    corpus = grade_candidates(candidates, cuts, first_query=1)
    queries = train_production_ranker(corpus, THRESHOLD, seed).queries
    chosen = np.isin(np.repeat(np.arange(corpus.n_queries), corpus.sizes), queries)
    place = np.empty(len(chosen), np.int64)
    place[np.argsort(-candidates.utility, kind="stable")] = np.arange(len(chosen))
    return np.sort(place[chosen])


def calibrate(seed: int, shape: CorpusShape) -> dict[str, Any]:
    """Calibrate one corpus; return its entry in the file."""
    for redraw in range(DRAWS):
        candidates = draw_candidates(seed, shape, redraw)[0]
        attempt = calibrate_draw(candidates, seed)
        if attempt.miss <= TOLERANCE:
            return {
                "corpus_seed": seed,
                "shape": asdict(shape),
                "redraw": redraw,
                "relevant_share": attempt.relevant / len(candidates.utility),
                "irrelevant_to_relevant": round(attempt.ratio, 4),
            }
    raise SystemExit(f"Corpus seed {seed}: no share within {TOLERANCE} of {TARGET}.")


def main() -> None:
    """Calibrate every corpus seed and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="default-size corpora, from seed 0")
    parser.add_argument("--yahoo-seeds", type=int, default=1, help="corpora of Yahoo's size")
    options = parser.parse_args()
    corpora = []
    for shape, seeds in ((DEFAULT_SHAPE, options.seeds), (YAHOO_SHAPE, options.yahoo_seeds)):
        for seed in range(seeds):
            corpora.append(calibrate(seed, shape))
            print(corpora[-1], flush=True)
    content = {
        "made_by": "scripts/calibrate_corpus.py",
        "meaning": "relevant_share: share of training documents with grade 3 or 4 for which "
        "irrelevant_to_relevant = A/B, the ratio of expected examined irrelevant to relevant "
        "training documents under the production ranker with p_r = 1/r, meets the target",
        "target": TARGET,
        "tolerance": TOLERANCE,
        "corpora": corpora,
    }
    CALIBRATION_FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
