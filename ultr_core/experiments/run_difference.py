"""Two comparisons of rankers side by side: what changed, and whether it is more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtrit

from ultr_core.experiments.comparison import Comparison
from ultr_core.risk import Estimate, plus_minus
from ultr_core.settings import PARAMETERS, Settings

_UPPER_TAIL = 0.975


@dataclass(frozen=True)
class RiskChange:
    """How the test risk of one ranker differs between two runs, second minus first.

    ``low``, ``high``: 95% interval by Welch's t over click logs; None where a run has only one
    log. Runs with the same seed share their users, so that the interval is on the safe side.
    """

    label: str
    before: float
    after: float
    low: float | None
    high: float | None

    @property
    def difference(self) -> float:
        """Second minus first; above 0 the second is worse."""
        return self.after - self.before

    @property
    def is_noise(self) -> bool | None:
        """Whether the interval holds 0; None where there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= 0 <= self.high

    @property
    def sentence(self) -> str:
        """The change in words."""
        numbers = f"{self.label}: {self.before:.2f} before, {self.after:.2f} now"
        if self.difference == 0:
            return f"{numbers}, the same."
        if self.low is None or self.high is None:
            return f"{numbers}; one click log has no interval, so this may be chance."
        size = plus_minus(abs(self.difference), (self.high - self.low) / 2)
        if self.is_noise:
            return f"{numbers}; the difference, {size}, is inside the noise."
        return f"{numbers}, {'worse' if self.difference > 0 else 'better'} by {size}."


def risk_changes(first: Comparison, second: Comparison) -> tuple[RiskChange, ...]:
    """The change of every ranker that both runs have, in the order of the first."""
    return tuple(
        _change(summary.label, summary.risk, second.rankers[key].risk)
        for key, summary in first.rankers.items()
        if key in second.rankers
    )


def _change(label: str, first: Estimate, second: Estimate) -> RiskChange:
    """Welch (1947): (a + b)² / (a²/(n-1) + b²/(m-1)) degrees of freedom, a, b squared errors."""
    a, b = first.standard_error**2, second.standard_error**2
    change = second.value - first.value
    fixed = a == b == 0
    if fixed and (first.n > 1 or second.n > 1 or change == 0):
        return RiskChange(label, first.value, second.value, change, change)
    if fixed or first.n < 2 or second.n < 2:
        return RiskChange(label, first.value, second.value, None, None)
    freedom = (a + b) ** 2 / (a**2 / (first.n - 1) + b**2 / (second.n - 1))
    reach = float(stdtrit(freedom, _UPPER_TAIL)) * math.sqrt(a + b)
    return RiskChange(label, first.value, second.value, change - reach, change + reach)


def settings_changes(first: Settings, second: Settings) -> tuple[str, ...]:
    """What differs between two settings: "η from 1 to 0.5"."""
    changed = [
        f"{PARAMETERS[name].symbol} from {_spoken(before)} to {_spoken(after)}"
        for name, before in first.numbers.items()
        if (after := second.numbers[name]) != before
    ]
    curves = {
        name
        for name in (*first.curves, *second.curves)
        if first.curves.get(name) != second.curves.get(name)
    }
    return (*changed, *(f"{name.replace('_', ' ')} changed" for name in sorted(curves)))


def _spoken(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
