"""How often 95% intervals contain the truth if the curve is estimated from the same log.

    python -m scripts.curve_intervals --logs 200

World: 150 queries with twelve documents each, a fifth of them relevant; users of the position model
with p_r = 1 / r, eps+ = 1 and eps- = 0.05. Two noisy rankers show half of the lists each, so the
curve can be harvested from documents that they show at different ranks. Judged are two rankers
against what users saw: one that knows which documents are relevant, and the less noisy of the two.
Printed are, for the true and for the estimated curve, the logs whose interval for the difference in
risk contains the expected difference, eps+ - eps- times the true one.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import join_log
from ultr_core.propensity import estimate_from_log
from ultr_core.risk import estimate_difference
from ultr_core.users import PowerLaw

QUERIES, DOCUMENTS = 150, 12
EPS_PLUS, EPS_MINUS = 1.0, 0.05
NOISE = (1.0, 2.0)
"""Of the two rankers' scores; relevant documents are higher by 1."""

_rng = np.random.default_rng(5)
RELEVANT = _rng.random((QUERIES, DOCUMENTS)) < 0.2


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(np.argsort(-scores, axis=1), axis=1) + 1


SHOWN = [_ranks(RELEVANT + noise * _rng.normal(size=RELEVANT.shape)) for noise in NOISE]
JUDGED = {"relevant first": _ranks(RELEVANT.astype(np.float64)), "less noisy": SHOWN[0]}


def corpus() -> Corpus:
    """The queries, with documents 1 to 12 in the log."""
    rows = (
        f"{int(relevant)} qid:q{query:03} 1:{number}"
        for query, of_query in enumerate(RELEVANT)
        for number, relevant in enumerate(of_query)
    )
    return parse_corpus("\n".join([*rows, ""]).encode(), "corpus.txt")


def log_file(seed: int, lists: int) -> bytes:
    """Counts of clicks and impressions by query, document and rank, as CSV."""
    rng = np.random.default_rng([seed, lists])
    lines = ["query,document,position,ranker,impressions,clicks"]
    for name, ranks in zip("AB", SHOWN, strict=True):
        draws = rng.multinomial(lists // 2, np.full(QUERIES, 1 / QUERIES))
        chance = np.where(RELEVANT, EPS_PLUS, EPS_MINUS) / ranks
        clicks = rng.binomial(draws[:, None], chance)
        lines += [
            f"q{query:03},{number + 1},{ranks[query, number]},{name},{draws[query]},"
            f"{clicks[query, number]}"
            for query, number in np.ndindex(RELEVANT.shape)
            if draws[query]
        ]
    return "\n".join([*lines, ""]).encode()


def covered(seed: int, lists: int, of: Corpus) -> dict[str, tuple[bool, bool]]:
    """Whether the interval of each judged ranker holds, with the true and the estimated curve."""
    log = parse_log(log_file(seed, lists), "log.csv")
    clicks = join_log(log, of).clicks
    estimated = estimate_from_log(log).curve.curve
    mean = np.mean(SHOWN, axis=0)
    found = {}
    for name, ranks in JUDGED.items():
        apart = (ranks - mean).ravel()
        truth = float((apart * np.where(RELEVANT, EPS_PLUS, EPS_MINUS).ravel()).sum()) / QUERIES
        both = [
            estimate_difference(clicks, apart, curve.at(clicks.rank))
            for curve in (PowerLaw(1.0), estimated)
        ]
        held = [each.low is not None and each.low <= truth <= each.high for each in both]
        found[name] = held[0], held[1]
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--lists", type=int, nargs="*", default=(2_000, 12_000, 100_000))
    given = parser.parse_args()
    of = corpus()
    for lists in given.lists:
        found = [covered(seed, lists, of) for seed in range(given.logs)]
        for name in JUDGED:
            true, estimated = (sum(each[name][curve] for each in found) for curve in (0, 1))
            print(
                f"{lists:9,} lists  {name:15} true curve {true}, estimated curve {estimated} "
                f"of {given.logs}",
                flush=True,
            )


if __name__ == "__main__":
    main()
