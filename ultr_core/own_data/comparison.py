"""Two rankers compared on one click log, and a ranker with what the users of the log saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.inspection import Unshown, expected_ranks, require_covered, unshown_candidates
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.own_data.evaluation import JUDGE, Evaluation, no_click
from ultr_core.propensity import Belief
from ultr_core.risk import Estimate, estimate_difference
from ultr_core.users import ClickLog, ExaminationCurve
from ultr_core.users.click_log import require_log
from ultr_core.users.examination import require_curve

SHOWN = "what users saw"


@dataclass(frozen=True)
class RankerDifference:
    """How much lower or higher the risk of the first ranker is, from the same clicks.

    estimate: of risk(first) - risk(second), by ``JUDGE``; negative is better for the first; None
    for a log without clicks, and then reason says so. unshown: what the log leaves out of the
    candidate sets; where that is much, there is no verdict.
    """

    first: str
    second: str
    estimate: Estimate | None
    unshown: Unshown | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, and in a second one what the log leaves out."""
        unshown, found = self.unshown, self.estimate
        if found is None:
            return f"These clicks cannot compare {self.first} with {self.second}: {self.reason}"
        if unshown is None or not unshown.what:
            return self._verdict(found)
        because = f"{unshown.what}, and {unshown.consequence}."
        if not unshown.withheld:
            return f"{self._verdict(found)} But {because}"
        return (
            f"These clicks cannot say whether {self.first} is better than {self.second}: {because}"
        )

    def _verdict(self, found: Estimate) -> str:
        size = abs(found.value)
        if found.side == 0:
            return (
                f"These clicks cannot tell {self.first} from {self.second}: the difference in risk "
                f"by {JUDGE.label} is {found.value:+.2f} (95% interval {found.low:+.2f} to "
                f"{found.high:+.2f})."
            )
        word, low, high = (
            ("better", -found.high, -found.low) if found.value < 0 else
            ("worse", found.low, found.high)
        )  # fmt: skip
        side = "lower" if found.value < 0 else "higher"
        return (
            f"These clicks say that {self.first} is {word} than {self.second}: its risk by "
            f"{JUDGE.label} is {size:.2f} {side} (95% interval {low:.2f} to {high:.2f})."
        )

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain values."""
        found = self.estimate
        return {
            "first": self.first,
            "second": self.second,
            "difference": None if found is None else found.value,
            "low": None if found is None else found.low,
            "high": None if found is None else found.high,
            "withheld": self.unshown is not None and self.unshown.withheld,
            "sentence": self.sentence,
        }


@one_blas_thread()
def compare_with_shown(
    log: ClickLog, scores: NDArray[np.float64], curve: ExaminationCurve, *, name: str
) -> RankerDifference:
    """The ranker against the rankings in the log, by ``JUDGE`` on the same clicks.

    The risk is linear in the ranks, so that of the log's rankers together is the one of the mean
    rank at which each document was shown. scores [documents]. A log without a click gives no
    estimate. Raises InputError as `evaluate_ranker` does.
    """
    require_log(log)
    ranks = expected_ranks(scores, log.query_offsets)
    return _difference(log, ranks, shown_ranks(log), curve, (name, SHOWN))


def compare_rankers(
    log: ClickLog,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    curve: ExaminationCurve,
    *,
    names: tuple[str, str],
) -> RankerDifference:
    """Two rankers by their scores [documents], by ``JUDGE`` on the same clicks."""
    require_log(log)
    ranks, others = (expected_ranks(scores, log.query_offsets) for scores in (first, second))
    return _difference(log, ranks, others, curve, names)


def shown_ranks(log: ClickLog) -> NDArray[np.float64]:
    """Mean rank at which each document was shown, float64 [documents]; 0 for one never shown."""
    shown = np.bincount(log.document, log.impressions, log.n_documents)
    summed = np.bincount(log.document, log.impressions * log.rank, log.n_documents)
    return np.divide(summed, shown, out=np.zeros(log.n_documents), where=shown > 0)


def _difference(
    log: ClickLog,
    ranks: NDArray[np.float64],
    others: NDArray[np.float64],
    curve: ExaminationCurve,
    names: tuple[str, str],
) -> RankerDifference:
    require_curve(curve)
    require_covered(log, curve)
    if log.total_clicks == 0:
        reason = no_click(log)
        return RankerDifference(
            *names, None, unshown_candidates(log), f"{reason[:1].lower()}{reason[1:]}"
        )
    estimate = estimate_difference(log, ranks - others, JUDGE.weigh(log, Belief(curve)))
    return RankerDifference(*names, estimate, unshown_candidates(log))


def _listed(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``: the names hold commas, so the last is set off."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def truth_sentence(found: Evaluation) -> str:
    """Which intervals hold the true risk of the logged queries; "" without grades or intervals."""
    if found.true is None:
        return ""
    truth = found.true.risk_of_log
    holds: list[str] = []
    misses: list[str] = []
    for report in found.risks:
        if report.estimate is not None:
            inside = report.estimate.low <= truth <= report.estimate.high
            (holds if inside else misses).append(report.label)
    if not holds and not misses:
        return ""
    parts = []
    if holds:
        parts.append(f"inside the interval of {_listed(holds)}")
    if misses:
        interval = "that" if holds else "the interval"
        parts.append(f"outside {interval} of {_listed(misses)}")
    return f"The true risk by the grades, {truth:.2f}, lies {', '.join(parts)}."
