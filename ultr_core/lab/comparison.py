"""The comparison of rankers over several draws of clicks, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ultr_core.lab.logs import world_notices
from ultr_core.lab.measured import PRESENTATIONS
from ultr_core.lab.methods import CLICK_METHODS, LINEAR_METHODS, Method
from ultr_core.lab.training import TrainedMethod
from ultr_core.lab.trees import TREE_METHODS
from ultr_core.lab.world import TestRisk, World
from ultr_core.learners.trees import TREES
from ultr_core.propensity import ESTIMATORS
from ultr_core.risk import (
    NO_INTERVAL,
    Estimate,
    difference_with_reach,
    interval_over_draws,
    plus_minus,
)
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.words import counted

Trained = Mapping[str, Sequence[TrainedMethod]]


@dataclass(frozen=True)
class RankerSummary:
    """Test risk and mean rank of one method over the draws, with 95% intervals from their spread.

    A method that does not learn from clicks has no spread: the two ends of each interval coincide.
    ``costs`` and ``clips`` are the values that validation chose, one per draw. ``estimators`` are
    those used to weight the clicks; if a test by rank rejected the fitted relevance, they differ
    from the method's own. ``learner``: key of the learner, or of a method with its own trainer.
    """

    key: str
    label: str
    risk: Estimate
    mean_rank: Estimate
    costs: tuple[float, ...] = ()
    clips: tuple[float, ...] = ()
    estimators: tuple[str, ...] = ()
    learner: str = ""

    @property
    def method(self) -> Method:
        """Its method, whatever the learner."""
        return _fed_by(self.key)

    @property
    def estimator(self) -> str:
        """Key of the method's own estimator; "" for a ranker that does not learn from clicks."""
        own = self.method.estimator
        return "" if own is None else own.key

    @property
    def swap_presentations(self) -> int:
        """Presentations with swaps, beside each click log, from which it learns about the users."""
        return 0 if self.method.measured is None else PRESENTATIONS

    @property
    def rejected(self) -> int:
        """Draws in which another estimator replaced the method's own."""
        return sum(used != self.estimator for used in self.estimators)


@dataclass(frozen=True)
class Comparison:
    """The result for one world: every ranker's test risk and what follows from it.

    Attributes:
        settings: the world's parameters.
        corpus: sizes of the corpus.
        rankers: summaries by key, in the order of ``METHODS``.
        draws: number of click logs used.
        clicks, query_draws: numbers of clicks and presentations in the first training log.
        naive_excess: naive minus propensity-weighted risk, paired by draw; None until both exist.
        closed_gap: share of the way from production to skyline (the best linear ranker) that the
            weighted ranker covers; None if the skyline is no better than production.
        notices: sentences about the corpus that a reader should see.
        asked: whether methods were chosen; if so, each ranker's JSON says how it was trained.
        differences: risk of one method minus that of another, paired by draw, for each pair of
            methods that learn from clicks and have a draw, in the order of ``rankers``.
    """

    settings: Settings
    corpus: Mapping[str, Any]
    rankers: Mapping[str, RankerSummary]
    draws: int
    clicks: int
    query_draws: int
    naive_excess: Estimate | None
    closed_gap: Estimate | None
    notices: tuple[str, ...]
    asked: bool = False
    differences: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)

    def side(self, first: str, second: str) -> int:
        """Sign of risk(first) - risk(second) if its interval does not contain 0, otherwise 0."""
        if (first, second) in self.differences:
            return self.differences[first, second].side
        return -self.differences[second, first].side

    @property
    def sentence(self) -> str:
        """The numbers in words; if click logs are still missing, also how many are covered."""
        if self.asked:
            return _read_best(self)
        read = " ".join(part for part in (_read_excess(self), _read_gap(self)) if part)
        done = self.naive_excess.n if self.naive_excess is not None else 0
        if 1 < done < self.settings.draws:
            return f"After {done} of {self.settings.draws} click logs: {read[0].lower()}{read[1:]}"
        return read

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain values, as the command line prints it with ``--json``."""
        return {
            **_settings(self.settings),
            "seed": self.settings.seed,
            "corpus": dict(self.corpus),
            "draws": self.draws,
            "clicks": self.clicks,
            "query_draws": self.query_draws,
            "rankers": {
                key: {**_ranker_dict(summary), **(_origin(summary) if self.asked else {})}
                for key, summary in self.rankers.items()
            },
            "naive_minus_propensity": _interval(self.naive_excess),
            "closed_gap": _interval(self.closed_gap),
            **({"differences": self._pairs()} if self.asked else {}),
            "sentence": self.sentence,
            "notices": list(self.notices),
        }

    def _pairs(self) -> list[dict[str, Any]]:
        return [
            {"first": first, "second": second, **(_interval(found) or {})}
            for (first, second), found in self.differences.items()
        ]


def summarise(
    world: World, settings: Settings, trained: Trained, *, asked: bool = False
) -> Comparison:
    """Summarise what has been trained so far; the page calls this after every draw.

    ``trained`` contains the finished draws of each method that learns from clicks; methods without
    a draw are left out. ``asked``: whether these methods were chosen explicitly.
    """
    fixed = world.baselines
    done = {key: runs for key, runs in trained.items() if len(runs)}
    rankers = {}
    for key in dict.fromkeys((*LINEAR_METHODS, *TREE_METHODS)):
        if key in fixed:
            rankers[key] = _summary(key, label_of(key), [fixed[key]])
        elif key in done:
            runs, method, of_trees = done[key], _fed_by(key), key in TREE_METHODS
            rankers[key] = _summary(
                key,
                label_of(key),
                [run.test for run in runs],
                tuple(run.cost for run in runs),
                tuple(run.clip for run in runs),
                tuple(run.estimator for run in runs),
                TREES if of_trees else method.key if method.trainer else method.learner.key,
            )
    first = next((runs[0] for runs in done.values()), None)
    return Comparison(
        settings,
        world.counts(),
        rankers,
        max((len(runs) for runs in done.values()), default=0),
        first.clicks if first else 0,
        first.query_draws if first else 0,
        _difference(done, "naive", "propensity"),
        _closed_gap(fixed, done.get("propensity", ())),
        world_notices(world, settings),
        asked,
        {
            pair: found
            for pair in combinations([key for key in rankers if key in done], 2)
            if (found := _difference(done, *pair)) is not None
        },
    )


def _fed_by(key: str) -> Method:
    """The method of this key, or the one whose estimator feeds its trees."""
    return LINEAR_METHODS[TREE_METHODS.get(key, key)]


def label_of(key: str) -> str:
    """The name of one of ``LINEAR_METHODS`` or ``TREE_METHODS``.

    >>> label_of("naive-trees")
    'Naive, trees'
    """
    method = _fed_by(key)
    return method.label if key == method.key else f"{method.label}, {TREES}"


def training_plan(draws: int, methods: Sequence[str] = CLICK_METHODS) -> Iterator[tuple[int, str]]:
    """The cells (draw, method) of a comparison, in the best order for running them."""
    for draw in range(draws):
        for method in methods:
            yield draw, method


def _summary(
    key: str,
    label: str,
    tests: Sequence[TestRisk],
    costs: tuple[float, ...] = (),
    clips: tuple[float, ...] = (),
    estimators: tuple[str, ...] = (),
    learner: str = "",
) -> RankerSummary:
    return RankerSummary(
        key,
        label,
        interval_over_draws(_array([test.risk for test in tests])),
        interval_over_draws(_array([test.mean_rank for test in tests])),
        costs,
        clips,
        estimators,
        learner,
    )


def _difference(done: Trained, first: str, second: str) -> Estimate | None:
    """Risk of the first method minus that of the second, on the draws that both have."""
    pairs = list(zip(done.get(first, ()), done.get(second, ()), strict=False))
    if not pairs:
        return None
    return interval_over_draws(_array([one.test.risk - other.test.risk for one, other in pairs]))


def _closed_gap(fixed: Mapping[str, TestRisk], runs: Sequence[TrainedMethod]) -> Estimate | None:
    production, skyline = fixed["production"].risk, fixed["skyline"].risk
    if not runs or production <= skyline:
        return None
    return interval_over_draws(
        _array([(production - run.test.risk) / (production - skyline) for run in runs])
    )


def _array(values: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


def _read_excess(comparison: Comparison) -> str:
    excess = comparison.naive_excess
    if excess is None:
        return ""
    weighted = comparison.rankers["propensity"].risk.value
    # Over the same click logs: naive may have learned from one more by now.
    naive = weighted + excess.value
    if excess.n < 2:
        return (
            f"On the first click log the weighted ranker has a test risk of {weighted:.2f} "
            f"and the naive ranker one of {naive:.2f} (lower is better)."
        )
    shown = difference_with_reach(naive, weighted, (excess.high - excess.low) / 2)
    margin = shown.margin
    numbers = f"(test risk {shown.second} against {shown.first}; lower is better)"
    if excess.low == excess.high == 0:
        return f"The naive and weighted rankers are identical {numbers}."
    if excess.side > 0:
        return f"The weighted ranker beats the naive ranker by {margin} {numbers}."
    numbers = f"(test risk {shown.first} against {shown.second}; lower is better)"
    if excess.side < 0:
        return f"The naive ranker beats the weighted ranker by {margin} {numbers}."
    return f"The naive and weighted rankers cannot be told apart {numbers}: {margin}."


def _read_best(comparison: Comparison) -> str:
    """The best method trained on clicks, and where fitted relevance was not used."""
    learned = [one for one in comparison.rankers.values() if one.costs]
    if not learned:
        return ""
    best, *others = sorted(learned, key=lambda one: one.risk.value)
    said = (
        f"Of the rankers trained on clicks, {best.label} has the lowest test risk, "
        f"{best.risk.value:.2f}"
    )
    beaten = [other for other in others if comparison.side(other.key, best.key) > 0]
    if others and best.risk.n > 1:
        told = "every other" if len(beaten) == len(others) else (
            ", ".join(other.label for other in beaten) or "no other"
        )  # fmt: skip
        said += f"; judged by 95% intervals for differences paired by click log, it beats {told}"
    parts = [f"{said}."]
    production = comparison.rankers["production"].risk.value
    if best.risk.value > production:
        chance = ", which may be chance" if best.risk.n > 1 and best.risk.low <= production else ""
        parts.append(f"It is worse than the production ranker ({production:.2f}){chance}.")
    for one in learned:
        if one.rejected:
            used = ESTIMATORS[next(key for key in one.estimators if key != one.estimator)]
            parts.append(
                f"{one.label}: in {one.rejected} of {counted(len(one.estimators), 'click log')} "
                "the fitted relevance predicts too many clicks at some ranks, so "
                f"{used.label} weights were used to train the ranker instead."
            )
    return " ".join(parts)


def _read_gap(comparison: Comparison) -> str:
    gap = comparison.closed_gap
    if gap is None:
        return ""
    production = comparison.rankers["production"].risk.value
    skyline = comparison.rankers["skyline"].risk.value
    way = f"from production ({production:.2f}) to full information ({skyline:.2f})"
    worse = f"worse than the production ranker ({production:.2f})"
    if gap.n > 1 and gap.low < 0 < gap.high:
        found = f"is {worse}" if gap.value < 0 else f"goes {gap.value:.0%} of the way {way}"
        return f"On average the weighted ranker {found}, which may be chance."
    if gap.value < 0:
        return f"The weighted ranker is {worse}."
    return f"The weighted ranker goes {gap.value:.0%} of the way {way}."


def _settings(settings: Settings) -> dict[str, Any]:
    """The settings that act, and the names of those that do not act on these users."""
    found = settings.as_dict()
    idle = [name for name in settings.idle if name in found]
    if not idle:
        return {"settings": found}
    acting = {name: value for name, value in found.items() if name not in idle}
    return {"settings": acting, "without_effect": idle}


def _ranker_dict(summary: RankerSummary) -> dict[str, Any]:
    reason = NO_INTERVAL if summary.costs else NO_SPREAD
    return {
        "label": summary.label,
        "risk": _interval(summary.risk, reason),
        "mean_rank": _interval(summary.mean_rank, reason),
        TREES if summary.learner == TREES else "costs": list(summary.costs),
        "clips": list(summary.clips),
    }


def _origin(summary: RankerSummary) -> dict[str, Any]:
    return {
        "estimator": summary.estimator or None,
        "learner": summary.learner or None,
        "estimators": [key for key in summary.estimators if key],
        "swap_presentations": summary.swap_presentations,
    }


NO_SPREAD = "This ranker is not trained on clicks, so it is the same for every click log."
"""Why the interval of a baseline would only be its value."""


def _interval(estimate: Estimate | None, reason: str = NO_INTERVAL) -> dict[str, Any] | None:
    """A value with its interval over click logs, or with the reason why it has none."""
    if estimate is None:
        return None
    if estimate.n < 2:
        return {"value": estimate.value, "low": None, "high": None, "no_interval": reason}
    ends = {"low": estimate.low, "high": estimate.high}
    return {"value": estimate.value, **ends, "no_interval": ""}


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
            return f"{numbers}; one click log gives no interval, so this may be chance."
        size = plus_minus(abs(self.difference), (self.high - self.low) / 2)
        if self.is_noise:
            return f"{numbers}; the difference, {size}, is within the noise."
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
