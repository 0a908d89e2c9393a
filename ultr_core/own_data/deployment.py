"""A gate for deployment: which ranker may take the place of what users saw.

    found = gate(log, scores, curve, name="the ranker")     # clicks that trained nothing
    found.deploy, found.sentence

The ranker passes if a bound above risk(ranker) - risk(what users saw) is below 0. Where it is no
better, that happens in at most ``PROMISE`` of logs; how often, is in ``docs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ultr_core.corpus.ranking import whole_in_range
from ultr_core.findings import Finding
from ultr_core.own_data.agreement import unshown_decide
from ultr_core.own_data.evaluation import (
    Judge,
    RankerDifference,
    compare_with_shown,
    default_judge,
)
from ultr_core.propensity import Estimator
from ultr_core.propensity.contexts import row_propensities
from ultr_core.risk.intervals import upper_bound
from ultr_core.users import ClickLog, ExaminationCurve, GroupedLog

PROMISE = 0.05
"""Share of logs in which a ranker that is no better passes, at most."""

POWER = 0.8
"""Share of logs in which a ranker that is better by ``Gate.passes_at`` passes."""

MOST_CANDIDATES = 10_000

MOST_CLIPPED = 0.5
"""Share of the clicked rows that a threshold may change before the estimate promises nothing."""
_FIT_TAKEN_AS_KNOWN = (
    "intervals by session treat the fitted relevance as known and are too narrow; judge by IPS or "
    "Clipped"
)

_UNKNOWN = (
    "This holds only if the ranker was not trained on these clicks. Scores by fold are an "
    "exception, because each query was scored by a ranker trained on other queries; the ranker to "
    "deploy is then trained on all queries."
)
_UNTESTED = "candidates that were never shown decide the sign, and there are no clicks on them"


@dataclass(frozen=True)
class Gate:
    """Whether a ranker may replace what users saw.

    difference: risk of the ranker minus the risk of what users saw. candidates: how many rankers
    were judged on these clicks before this one was chosen; the bound holds for all of them at once.
    declined: why the clicks promise nothing, "" if they promise something. known: whether it is
    known that the ranker was trained on other clicks; if not, the answer says so. continuation: as
    in `Judge`.
    """

    difference: RankerDifference
    candidates: int = 1
    declined: str = ""
    known: bool = True
    continuation: float | None = None

    @property
    def misses(self) -> float:
        """Share of logs in which one candidate's bound may be too low: its part of ``PROMISE``."""
        return PROMISE / self.candidates

    @property
    def bound(self) -> float | None:
        """One-sided upper bound on the difference, None if nothing is promised.

        It includes the most that candidates left out of lists can add (`RankerDifference.unseen`).
        """
        found = self.difference.estimate
        if self.declined or found is None:
            return None
        return upper_bound(found, self.misses) + self.difference.unseen[1]

    @property
    def passes_at(self) -> float | None:
        """The decrease in risk at which rankers pass in a share ``POWER`` of logs like this one."""
        bound, found = self.bound, self.difference.estimate
        if bound is None or found is None:
            return None
        return bound - found.value + float(ndtri(POWER)) * found.standard_error

    @property
    def deploy(self) -> bool:
        """Whether the ranker passes."""
        return self.bound is not None and self.bound < 0

    @property
    def sentence(self) -> str:
        """The answer, what it assumes, and whether it is unknown how the ranker was trained."""
        bound = self.bound
        if bound is None:
            name = self.difference.first
            return f"Do not deploy {name}: these clicks do not support it, because {self.declined}."
        unknown = "" if self.known else f" {_UNKNOWN}"
        leaving = "" if self.continuation is None else f" and λ = {self.continuation:.3g}"
        return (
            f"{self._answer(bound)} The propensities{leaving} are assumed to be correct.{unknown}"
        )

    def _answer(self, bound: float) -> str:
        name, other, judge = self.difference.first, self.difference.second, self.difference.judge
        level = f"one-sided {1 - PROMISE:.0%} bound"
        if self.candidates > 1:
            level += f" for the best of {self.candidates:,} candidates"
        size = f"{abs(bound):.2f}" if abs(bound) >= 0.005 else f"{abs(bound):.1g}"
        if self.deploy:
            return (
                f"Deploy {name}: its risk by {judge} is lower than that of {other} by at least "
                f"{size} ({level})."
            )
        return (
            f"Do not deploy {name}: its risk by {judge} may be higher than that of {other} by up "
            f"to {size} ({level}); on such logs a ranker passes {POWER:.0%} of the time if "
            f"its risk is lower by {self.passes_at:.2f}."
        )

    def as_dict(self) -> dict[str, Any]:
        """The gate as plain values."""
        return {
            "deploy": self.deploy,
            "difference": getattr(self.difference.estimate, "value", None),
            "bound": self.bound,
            "promise": PROMISE,
            "candidates": self.candidates,
            "passes_at": self.passes_at,
            "power": POWER,
            "declined": self.declined,
            "sentence": self.sentence,
        }


def gate(
    log: ClickLog,
    scores: NDArray[np.float64],
    curve: ExaminationCurve,
    *,
    name: str,
    clip: float | None = None,
    judge: Judge | None = None,
    candidates: int = 1,
    declined: str = "",
    agreement: tuple[Finding, ...] | None = None,
    trained: bool | None = None,
) -> Gate:
    """Compare a ranker with what users saw, on clicks not used to train or to choose it.

    scores [documents]; clip, judge, agreement: as in `compare_with_shown`. trained: whether the
    ranker was trained on these clicks, None if that is unknown (the answer then says so).
    candidates: how many rankers were judged on these clicks before this one was chosen, each at
    the level ``PROMISE`` / candidates (Bonferroni). declined: the caller's reason why the clicks
    must not be used.

    No ranker passes if there is no interval, if `RankerDifference` gives no verdict, or if a
    threshold changes what most clicks count. Raises InputError if `compare_with_shown` does, or if
    ``candidates`` is not a whole number from 1 to ``MOST_CANDIDATES``.
    """
    candidates = whole_in_range(candidates, "The number of candidates", 1, MOST_CANDIDATES)
    judge = judge or default_judge(log, curve, clip)
    found = compare_with_shown(
        log, scores, curve, name=name, judge=judge, agreement=agreement, trained=bool(trained)
    )
    fitted = judge.estimator.fits_relevance and isinstance(log, GroupedLog)
    known = _FIT_TAKEN_AS_KNOWN if fitted else ""
    known = known or (_UNTESTED if unshown_decide(agreement or ()) else "")
    known = known or _clips_most(judge.estimator, judge.belief.clip, curve, log)
    return Gate(
        found, candidates, _no_verdict(found) or declined or known, trained is not None,
        judge.continuation,
    )  # fmt: skip


def reason_against(findings: Iterable[Finding], *, copies: Sized) -> str:
    """Why clicks that can compare rankers still promise nothing; "" where they do.

    findings: checks of the files, some of which may say stop. copies: files of the log with the
    same content as another.
    """
    if copies:
        return "some of its files have the same content, so clicks are counted several times"
    stops = [finding.title for finding in findings if finding.severity == "stop"]
    return f"a check of the files says “stop” ({', '.join(stops)})" if stops else ""


def _clips_most(estimator: Estimator, clip: float, curve: ExaminationCurve, log: ClickLog) -> str:
    """Why a promise by this threshold is none; "" where it changes few rows."""
    p = row_propensities(curve, log)[log.clicks > 0]
    clips = "clip" in estimator.needs and not estimator.fits_relevance
    if clips and p.size and np.mean(p < clip) > MOST_CLIPPED:
        return f"τ = {clip:g} changes how much most clicks count; judge by IPS, or lower τ"
    return ""


def _no_verdict(found: RankerDifference) -> str:
    """Why there is no verdict on the difference; "" where there is."""
    if found.estimate is None:
        return found.reason.removesuffix(".")
    if found.withheld:
        return found.because
    return found.estimate.no_interval.removeprefix("no interval: ")
