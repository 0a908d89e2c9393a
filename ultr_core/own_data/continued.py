"""Intervals of hindsight estimates whose lambda was estimated from the same log."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, Remark
from ultr_core.findings import Finding
from ultr_core.propensity.continuation import continuation_without_groups, estimate_continuation
from ultr_core.risk import Estimate
from ultr_core.users import ClickLog, ExaminationCurve, GroupedLog

FloatArray = NDArray[np.float64]


def against_log(continuation: float, log: ClickLog) -> tuple[Finding, ...]:
    """Hold a given lambda against the log's own estimate; none where the log has no estimate.

    "stop" if the log contradicts it, which happens by chance in 1% of logs; estimates by that
    lambda are then not given.
    """
    try:
        found = estimate_continuation(log)
    except InputError:  # of lists that change, or too few clicks below others
        return ()
    title = "Users who leave after a click"
    if found.contradicts(continuation):
        words = (
            f"The log contradicts λ = {continuation:.3g}; it gives {found.words}. Estimate λ from "
            "the log."
        )
        return (
            Finding.of_file(
                "continuation", title, found.value, "stop", Remark(words, "log_lambda")
            ),
        )
    words = f"λ = {continuation:.3g} is compatible with the log, which gives {found.words}."
    return (Finding.of_file("continuation", title, found.value, "good", words),)


@dataclass(frozen=True, eq=False)
class Continued:
    """A jackknife over the groups of a log that estimates lambda again without each of them.

    without: lambda without each group, float64 [groups], at most 1.
    """

    log: GroupedLog
    curve: ExaminationCurve
    without: FloatArray

    @classmethod
    def of(cls, log: GroupedLog, curve: ExaminationCurve) -> Continued:
        """For a log from which `estimate_continuation` estimates lambda."""
        return cls(log, curve, np.minimum(continuation_without_groups(log), 1.0))

    def interval(self, found: Estimate, places: FloatArray) -> Estimate:
        """The estimate for these ranks or differences [documents], with the noise of lambda.

        The ends move away from the value by the factor by which the standard error of this
        jackknife exceeds that of the estimate.
        """
        log, groups = self.log, self.log.by_group
        if found.no_interval or not found.standard_error:
            return found
        if not (self.without > 0).all():
            return found.without_interval(
                "no interval: if one group of presentations is left out, λ cannot be estimated"
            )
        many = int(log.context.max()) + 1
        row = groups.row
        # A rank with propensity 0 has no clicks.
        clicked = groups.clicks > 0
        value = np.zeros(row.size)
        of_click = places[log.document[row]] / np.where(clicked, self.curve.at(log.rank[row]), 1.0)
        value[clicked] = (groups.clicks * of_click)[clicked]
        cell = log.context[row].astype(np.int64) * groups.number + groups.group
        sums = np.bincount(cell, value, many * groups.number).reshape(many, groups.number)
        left = sums.sum(axis=1)[:, None] - sums
        kept = groups.draws.sum() - groups.draws
        each = (left * self.without ** -np.arange(many)[:, None]).sum(axis=0) / kept
        number = groups.number
        error = math.sqrt((number - 1) / number * float(np.square(each - each.mean()).sum()))
        wider = error / found.standard_error
        return replace(
            found,
            standard_error=error,
            low=found.value - wider * (found.value - found.low),
            high=found.value + wider * (found.high - found.value),
        )
