"""How often the gate of ``evaluate --gate`` errs, and what it lets through, in the default world.

    python -m scripts.gate_promise --logs 1000 --seed 1

Prints the rows of `ultr_core.claims.gate_runs` as lines of a Markdown table; the results are in
``docs/intervals.md``. ``--folds`` judges scores by fold instead, as ``fit --fold-scores-out``
writes them, on the sample corpus: each log trains its rankers, with C chosen on its held-out
clicks, and then judges them against what users saw, which is a production ranker or the skyline
(trained on all grades, so that few rankers are better). ``--first`` is the number of the first log,
so that parts can be run separately; the columns are counts.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from ultr_core.claims.gate_runs import CELLS, default_world, drawn_log, gate_rows
from ultr_core.corpus.ranking import expected_ranks, query_of_document, rank_documents
from ultr_core.lab.logs import draws_for
from ultr_core.lab.production import train_production_ranker
from ultr_core.learners import fit_ranker
from ultr_core.own_data import fit_from_log, fold_scores, gate
from ultr_core.own_data.samples import SAMPLE_SETTINGS, sample_corpus
from ultr_core.propensity import Weights
from ultr_core.users import PowerLaw

NOISE = 0.1
FOLD_CELLS = (("production", 500), ("production", 2_000), ("skyline", 500), ("skyline", 2_000))
"""What users saw, and the number of clicks in the logs of ``--folds``."""


def fold_counts(saw: str, clicks: int, first: int, logs: int, seed: int) -> Counter[str]:
    """How many logs had a bound, one below the truth, and one that lets a worse ranker pass.

    The truth is the expected difference of the rankers that scored the queries from what
    users saw: queries that the log lacks count 0, as in the estimate.
    """
    corpus, curve = sample_corpus(), PowerLaw(1.0)
    grade = SAMPLE_SETTINGS.relevant_grade
    relevant = corpus.relevance(grade)
    if saw == "skyline":
        grades = Weights(relevant.astype(np.float64), float(relevant.sum()))
        logger = fit_ranker(corpus, grades, cost=1.0)
    else:
        logger = train_production_ranker(corpus, grade, seed).ranker
    presented = rank_documents(logger.score(corpus), corpus.query_offsets)
    relevance = np.where(relevant, 1.0, NOISE)
    pi, found = relevance * curve.at(presented), Counter[str]()
    draws = draws_for(clicks, pi, corpus.query_offsets)
    for number in range(first, first + logs):
        rng = np.random.default_rng([seed, clicks, number])
        log, documents = drawn_log(rng, pi, presented, corpus.query_offsets, draws)
        part = corpus.subset(np.unique(query_of_document(corpus.query_offsets)[documents]))
        scores = fold_scores(part, log, fit_from_log(part, log, curve))
        moved = expected_ranks(scores, log.query_offsets) - presented[documents]
        truth = float(moved @ relevance[documents]) / corpus.n_queries
        bound = gate(log, scores, curve, name="it", trained=False).bound
        found.update(logs=1)
        if bound is not None:
            found.update(
                bounds=1, better=truth < 0, missed=bound < truth, passed=bound < 0,
                wrongly=bound < 0 <= truth,
            )  # fmt: skip
    return found


def main() -> None:
    """Print lines of a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus-seed", type=int, default=0)
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    if given.folds:
        for saw, clicks in FOLD_CELLS:
            found = fold_counts(saw, clicks, given.first, given.logs, given.seed)
            names = ("logs", "bounds", "better", "missed", "passed", "wrongly")
            cells = " | ".join(f"{found[name]:,}" for name in names)
            print(f"| {saw}, {clicks:,} | {cells} |", flush=True)
        return
    worlds = {
        eps: default_world(eps, given.corpus_seed) for eps in dict.fromkeys(eps for eps, _ in CELLS)
    }
    for eps, clicks in CELLS:
        for row in gate_rows(worlds[eps], clicks, given.logs, given.seed):
            print(
                f"| ε₋ = {eps:g}, {clicks:,} | {row.name} | {row.truth} | {row.misses:.1%} "
                f"| {row.passed:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
