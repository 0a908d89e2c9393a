"""What an estimator of a ranker's risk is: a function from a log to two numbers a row.

The same function serves a risk and its standard error, the exact moments, the weights that a
learner gets, and validation. All estimators stand in `estimators`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ultr_core.feedback.click_log import ClickLog
from ultr_core.feedback.examination import ExaminationCurve
from ultr_core.propensity.row_numbers import RowNumbers

Need = Literal["curve", "clip"]


@dataclass(frozen=True)
class Belief:
    """What is believed of the users of a log, and how far: all that an estimator may be given.

    curve: examination by rank, normalised to p_1 = 1. clip: the threshold tau, 0 for none.
    """

    curve: ExaminationCurve
    clip: float = 0.0


@dataclass(frozen=True)
class Estimator:
    """One estimator of risk.

    key, label: its stable name, and the name that readers see. counts: what a click counts, in a
    few words. words: what that does to the estimate, in a sentence or two. assumes: when it is
    unbiased. source: where it comes from. numbers: u and v [rows] of a log, given a belief; u of
    rows without a click does not matter. needs: the fields of the belief that it uses.
    clips: the thresholds among which validation chooses; more than one only where it needs a clip.
    normalised: whether its sum is divided by the summed weight instead of the number of query
    draws: a mean rank of clicks instead of a risk, which orders rankers like the sum itself and
    so trains none.
    """

    key: str
    label: str
    counts: str
    words: str
    assumes: str
    source: str
    numbers: Callable[[ClickLog, Belief], RowNumbers]
    needs: tuple[Need, ...] = ()
    clips: tuple[float, ...] = (0.0,)
    normalised: bool = False

    def label_at(self, clip: float) -> str:
        """The label, with the threshold where there is one."""
        return f"{self.label}, τ = {clip:g}" if "clip" in self.needs else self.label
