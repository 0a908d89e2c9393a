"""Curves from logs with a long, rarely clicked tail, as the README's walk makes them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from tests.meaning import mentions
from ultr_core.corpus import Corpus
from ultr_core.corpus.synthetic import synthetic_splits
from ultr_core.files import parse_log
from ultr_core.inspection import JoinedLog, join_log
from ultr_core.own_data.evaluation import compare_with_shown
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.propensity.log_estimates import LogEstimate, estimate_from_log
from ultr_core.settings import Settings
from ultr_core.users import ExaminationCurve, PowerLaw, TableCurve

SEEDS = (1, 2, 3)


@lru_cache(maxsize=1)
def corpus() -> Corpus:
    return synthetic_splits(0).train


@lru_cache(maxsize=len(SEEDS))
def found(seed: int) -> tuple[JoinedLog, LogEstimate]:
    clicks = simulate_own_log(corpus(), Settings(clicks=20_000, seed=seed), rankers=2)
    log = parse_log("".join(clicks.csv_pieces()).encode(), "log.csv")
    return join_log(log, corpus()), estimate_from_log(log)


def through_every_estimate(estimate: LogEstimate) -> np.ndarray:
    """As curves were made before: every ratio counts, and the last one is carried on."""
    points = estimate.estimate.points
    known = [point for point in points if point.value]
    logs = np.log([point.value for point in known if point.value])
    rank = np.log(np.arange(1, len(points) + 1))
    curve: np.ndarray = np.exp(np.interp(rank, np.log([p.rank for p in known]), logs))
    return curve


def error(values: np.ndarray) -> float:
    """Root mean square of log(p / truth) over all ranks; the truth is 1/r."""
    return float(np.sqrt(np.mean(np.log(values * np.arange(1, values.size + 1)) ** 2)))


def check_curves() -> None:
    """Closer to the truth, and nothing rises in the tail."""
    before, after = [], []
    for seed in SEEDS:
        _, estimate = found(seed)
        values = np.array(estimate.curve.values)
        before.append(error(through_every_estimate(estimate)))
        after.append(error(values))
        first = estimate.curve.guess_from
        assert first is not None and 25 < first < 60
        assert np.all(values[first - 1 :] <= values[first - 2])
        assert mentions(estimate.trust, f"{len(estimate.curve.known)} of {values.size}")
        assert mentions(estimate.trust, f"rank {first}")
    # Each log by itself; over seeds 1 to 5 the means are 0.76 and 0.11.
    assert all(new < 0.2 < 0.4 < old for new, old in zip(after, before, strict=True)), after
    assert np.mean(after) < np.mean(before) / 4


def check_verdicts() -> None:
    """The difference in risk from what users saw, for the ranking by the corpus's grades."""
    scores = corpus().grades.astype(float)

    def difference(joined: JoinedLog, curve: ExaminationCurve) -> tuple[float, float]:
        found = compare_with_shown(joined.clicks, scores, curve, name="by grades").estimate
        return found.value, found.high - found.low

    before, after, wider = [], [], []
    for seed in SEEDS:
        joined, estimate = found(seed)
        truth, width = difference(joined, PowerLaw(1.0))
        old, old_width = difference(joined, TableCurve(tuple(through_every_estimate(estimate))))
        new, new_width = difference(joined, estimate.curve.curve)
        before.append(abs(old - truth))
        after.append(abs(new - truth))
        wider.append((old_width / width, new_width / width))
    # Over seeds 1 to 4 the means are 1.19 and 0.34; a lucky tail may win in a single log.
    assert np.mean(after) < np.mean(before) / 2
    assert all(new == pytest.approx(1, abs=0.15) for _, new in wider), wider


def test_curves_and_verdicts_from_small_logs_are_closer_to_the_truth() -> None:
    """Together, so that parallel workers estimate each log once."""
    check_curves()
    check_verdicts()
