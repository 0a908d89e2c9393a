"""The paper's claims on its figures, each with a stated test on the intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from ultr_core.findings import Finding, Relation, all_of
from ultr_core.risk import NO_INTERVAL, Estimate, interval_over_draws
from ultr_core.studies.cells import STUDY_METHODS, CellResult
from ultr_core.studies.curves import StudyResult
from ultr_core.studies.grids import Point
from ultr_core.studies.losses import DEFAULT_LOSS, Loss
from ultr_core.words import in_sentence, without_comma

FLAT = 0.05
"""A change below this share of the gap from production to skyline counts as none, of any ranker."""

CLOSE = 0.10
"""A ranker within this share of the gap has approached the skyline."""

FEW_CLICKS = 10_000
"""Up to so many clicks are few, in the claims on figure 1."""

MEDIOCRE = (0.25, 0.5)
"""A propensity model whose exponent is off by so much is mediocre, in the claim on figure 4."""

Origin = Literal["paper", "set-up", "lab", "later"]
"""Whose claim it is: a finding or an argument of the paper; its set-up, which simulator and learner
are made to follow, so that it is not a finding that they do; this lab's own; later work's."""
ORIGINS: tuple[Origin, ...] = ("paper", "set-up", "lab", "later")


def _worse(result: StudyResult, one: tuple[str, Point], other: tuple[str, Point]) -> Estimate:
    return interval_over_draws(list(result.excess(one, other).values()))


def _mean_over(
    result: StudyResult, pairs: Iterable[tuple[tuple[str, Point], tuple[str, Point]]]
) -> Estimate:
    """Interval of the mean difference over several pairs of places, paired by draw."""
    by_pair = [list(result.excess(one, other).values()) for one, other in pairs]
    return interval_over_draws(np.mean(by_pair, axis=0))


def worse(
    one: str, other: str, at: int, name: Callable[[Point], str]
) -> Callable[[StudyResult], Finding]:
    """One method worse than another at one place of a curve: 0 the first, -1 the last."""

    def decide(result: StudyResult) -> Finding:
        point = _points(result)[at]
        return _together([_part(name(point), _worse(result, (one, point), (other, point)))])

    return decide


def weighting_wins(
    low: float, high: float, name: Callable[[Point], str]
) -> Callable[[StudyResult], Finding]:
    """Whether weighting beats the naive ranker wherever x is from ``low`` to ``high``."""

    def decide(result: StudyResult) -> Finding:
        return _together(
            [
                _part(name(p), _worse(result, ("naive", p), ("propensity", p)))
                for p in result.plan.points
                if low <= p.x <= high
            ]
        )

    return decide


def _clicks(point: Point) -> str:
    return f"n = {point.x:,.0f}"


def _assumed(point: Point) -> str:
    return f"η′ = {point.x:g}"


def _part(name: str, found: Estimate, relation: Relation = ">", limit: float = 0.0) -> Finding:
    """One of the numbers of a claim: above 0, unless said otherwise."""
    words = f"{name}: {_numbers(found)}"
    interval = (found.low, found.high)
    return Finding(words, found.value, relation, limit, interval=interval, title=name)


def _numbers(found: Estimate) -> str:
    value, low, high = (round(end, 3) + 0.0 for end in (found.value, found.low, found.high))
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"  # without -0


def _together(parts: Sequence[Finding], more: str = "") -> Finding:
    """The claim that needs all its parts: value, limit and interval are of the part that decides.

    That is, among the parts whose outcome is that of the claim, the one with the least room between
    value and limit, in half-widths of its interval.
    """
    if not parts:
        return Finding("There is no such point.", decided="not checkable")
    outcome = all_of(part.outcome for part in parts)
    decides = min((part for part in parts if part.outcome == outcome), key=_room)
    words = "; ".join(part.sentence for part in parts)
    which = f" The least clear: {decides.title}." if len(parts) > 1 else ""
    return replace(decides, sentence=f"{words}.{which}{more}", title="")


def _room(part: Finding) -> float:
    """From the limit to the value, in half-widths of the interval; below 0 on the wrong side."""
    assert part.value is not None and part.limit is not None and part.interval is not None
    room = (part.value - part.limit) * (-1 if part.relation == "<" else 1)
    half = (part.interval[1] - part.interval[0]) / 2
    return room / half if half > 0 else math.copysign(math.inf, room)


def _tolerance(result: StudyResult, share: float) -> float:
    return share * max(result.gap() or 0.0, 0.0)


def _flat(result: StudyResult, name: str, change: Estimate) -> Finding:
    """A change that counts as none: the size of every value in its interval is below the margin."""
    margin, ends = _tolerance(result, FLAT), (abs(change.low), abs(change.high))
    least = 0.0 if change.low <= 0 <= change.high else min(ends)
    words = f"{name}: {_numbers(change)}.{_margin_text(result, FLAT, 'no change')}"
    return Finding(words, abs(change.value), "<", margin, interval=(least, max(ends)))


def _margin_text(result: StudyResult, share: float, counts_as: str) -> str:
    within = f"{_tolerance(result, share):.3f} ({share:.0%} of the gap)"
    return f" A difference of up to {within} counts as {counts_as}."


def _points(result: StudyResult, series: float | None = None) -> list[Point]:
    return [point for point in result.plan.points if point.series == series]


# Figure 1.


def approaches_skyline(result: StudyResult) -> Finding:
    """Close to the skyline with the most clicks, and better than with the fewest."""
    first, *_, last = _points(result)
    skyline = ("skyline", last)
    left = _worse(result, ("propensity", last), skyline)
    gained = _worse(result, ("propensity", first), ("propensity", last))
    parts = [
        _part(f"left at n = {last.x:,.0f}", left, "<", _tolerance(result, CLOSE)),
        _part(f"gained since n = {first.x:,.0f}", gained, ">", _tolerance(result, FLAT)),
    ]
    margins = _margin_text(result, CLOSE, "close") + _margin_text(result, FLAT, "no change")
    return _together(parts, margins)


def naive_is_flat(least_x: float) -> Callable[[StudyResult], Finding]:
    """No change from the first point at ``least_x`` clicks or more to the last."""

    def decide(result: StudyResult) -> Finding:
        first, *_, last = (p for p in _points(result) if p.x >= least_x)
        change = _worse(result, ("naive", first), ("naive", last))
        return _flat(result, f"change from n = {first.x:,.0f} to {last.x:,.0f}", change)

    return decide


def clipping_helps(result: StudyResult) -> Finding:
    """Whether the clipped ranker is better than the weighted ranker, on average over few clicks."""
    few = [p for p in _points(result) if p.x <= FEW_CLICKS]
    gain = _mean_over(result, [(("propensity", p), ("clipped", p)) for p in few])
    return _together([_part(f"mean over n up to {FEW_CLICKS:,}", gain)])


def skip_above_reverses(result: StudyResult) -> Finding:
    """Its order against production's; the loss is only reported."""
    last = _points(result)[-1]
    found = [result.result("skip-above", last, d) for d in range(result.plan.base.draws)]
    tau = interval_over_draws([r.agreement for r in found if r is not None])
    worse = _worse(result, ("skip-above", last), ("production", last))
    return _together(
        [_part("Kendall's τ", tau, "<")], f" Loss above production's: {_numbers(worse)}."
    )


# Figures 2 and 3.


def _series(result: StudyResult) -> list[float]:
    return sorted({p.series for p in result.plan.points if p.series is not None})


def _gain_by_data(result: StudyResult, method: str, least_x: float) -> Estimate:
    few, many = _series(result)
    return _mean_over(
        result,
        [
            ((method, result.point(p.x, few)), (method, result.point(p.x, many)))
            for p in _points(result, few)
            if p.x >= least_x
        ],
    )


def more_data_helps(least_x: float) -> Callable[[StudyResult], Finding]:
    """Five times the clicks improve the weighted ranker, averaged over x >= ``least_x``.

    By as much as would count as a change of the naive ranker, see `more_data_is_no_use`.
    """

    def decide(result: StudyResult) -> Finding:
        gain = _gain_by_data(result, "propensity", least_x)
        part = _part("gain", gain, ">", _tolerance(result, FLAT))
        return _together([part], _margin_text(result, FLAT, "no change"))

    return decide


def more_data_is_no_use(least_x: float) -> Callable[[StudyResult], Finding]:
    """Five times the clicks leave the naive ranker as it was, averaged over x >= ``least_x``."""

    def decide(result: StudyResult) -> Finding:
        return _flat(result, "gain", _gain_by_data(result, "naive", least_x))

    return decide


def same_without_bias(result: StudyResult) -> Finding:
    """Equal losses at eta = 0 in every draw."""
    differences = [
        value
        for p in result.plan.points
        if p.x == 0
        for value in result.excess(("naive", p), ("propensity", p)).values()
    ]
    return _equal(differences)


def _equal(differences: Iterable[float]) -> Finding:
    largest = max(abs(value) for value in differences)
    return Finding(f"Largest difference over all click logs: {largest:g}.", largest)


def gap_grows(result: StudyResult) -> Finding:
    """Whether the gap between naive and weighted grows with every step of the noise, at each n."""
    parts = []
    for series in _series(result):
        points = _points(result, series)
        gaps = np.array(
            [list(result.excess(("naive", p), ("propensity", p)).values()) for p in points]
        )
        for (low, high), change in zip(pairwise(points), np.diff(gaps, axis=0), strict=True):
            name = f"n = {series:,.0f}, ε₋ from {low.x:g} to {high.x:g}"
            parts.append(_part(name, interval_over_draws(change)))
    return _together(parts)


def gap_is_larger(result: StudyResult) -> Finding:
    """Whether the gap between naive and weighted is larger with the most noise, at each n."""
    parts = []
    for series in _series(result):
        first, *_, last = _points(result, series)
        gaps = [
            np.array(list(result.excess(("naive", p), ("propensity", p)).values()))
            for p in (first, last)
        ]
        name = f"n = {series:,.0f}, ε₋ from {first.x:g} to {last.x:g}"
        parts.append(_part(name, interval_over_draws(gaps[1] - gaps[0])))
    return _together(parts)


# Figure 4.


def above_can_be_worse(result: StudyResult) -> Finding:
    """Whether assuming 1.5 is worse than assuming the truth."""
    truth, above = (result.point(x) for x in (1.0, 1.5))
    excess = _worse(result, ("propensity", above), ("propensity", truth))
    return _together([_part("η′ = 1.5 against the true value", excess)])


def mediocre_can_win(result: StudyResult) -> Finding:
    """Whether weighting beats the naive ranker at some assumed eta that is ``MEDIOCRE``."""
    found = {p.x: _worse(result, ("naive", p), ("propensity", p)) for p in result.plan.points}
    low, high = MEDIOCRE
    wrong = {x: gain for x, gain in found.items() if low <= abs(x - 1) <= high}
    best = max(wrong, key=lambda x: wrong[x].low)
    wins = [x for x, gain in found.items() if gain.low > 0]
    range_ = (
        f" Weighting beats the naive ranker at η′ from {min(wins):g} to {max(wins):g}."
        if wins
        else ""
    )
    return _together([_part(f"η′ = {best:g}", wrong[best])], range_)


def zero_is_naive(result: StudyResult) -> Finding:
    """Equal losses at an assumed eta of 0 in every draw."""
    zero = result.point(0.0)
    return _equal(result.excess(("propensity", zero), ("naive", zero)).values())


# What breaks weighting, and what repairs it.


def in_order(*methods: str) -> Callable[[StudyResult], Finding]:
    """Whether each method is worse than the next, where the study is read."""

    def decide(result: StudyResult) -> Finding:
        point = result.point(result.plan.study.read_at)
        return _together(
            [
                _part(_minus(one, other), _worse(result, (one, point), (other, point)))
                for one, other in pairwise(methods)
            ]
        )

    return decide


def better_than(best: str, *others: str, at: int | None = None) -> Callable[[StudyResult], Finding]:
    """One method better than each of the others; ``at``: as in `worse`, None where it is read."""

    def decide(result: StudyResult) -> Finding:
        read_at = result.plan.study.read_at
        point = result.point(read_at) if at is None else _points(result)[at]
        return _together(
            [
                _part(_minus(other, best), _worse(result, (other, point), (best, point)))
                for other in others
            ]
        )

    return decide


def _minus(one: str, other: str) -> str:
    """A difference of two methods, by their labels."""
    first, second = (STUDY_METHODS[method].label for method in (one, other))
    return f"{without_comma(first)} minus {in_sentence(second)}"


def hole_stays(result: StudyResult) -> Finding:
    """With the most clicks, weighting by rank is no better than where the study is read."""
    read, last = result.point(result.plan.study.read_at), _points(result)[-1]
    if read == last:
        return Finding(f"No point has more than {read.x:,.0f} clicks.", decided="not checkable")
    change = _worse(result, ("propensity", read), ("propensity", last))
    return _flat(result, f"change from n = {read.x:,.0f} to {last.x:,.0f}", change)


ORIGIN_WORDS: Mapping[Origin, str] = MappingProxyType(
    {"paper": "paper", "set-up": "set-up", "lab": "this lab", "later": "later work"}
)
"""Whose a claim is, in words; the same on every page and in every command."""


@dataclass(frozen=True)
class Rule:
    """A claim before it is judged: its statement, its section, its criterion and its origin.

    ``{most}`` in a statement is the largest number of clicks in the study being judged. quantity:
    see `Finding`.
    """

    key: str
    statement: str
    section: str
    test: str
    decide: Callable[[StudyResult], Finding]
    origin: Origin = "paper"
    quantity: str = ""

    def measures(self, loss: Loss) -> str:
        """What its number measures, and the unit: unless stated otherwise, a difference in loss."""
        unit = " (summed ranks)" if loss.key == DEFAULT_LOSS else ""
        return self.quantity or f"difference in {loss.name}{unit}"

    @property
    def said(self) -> str:
        """The statement, with a note if the paper does not print it."""
        note = "" if self.origin == "paper" else f" ({ORIGIN_WORDS[self.origin]})"
        return f"{self.statement}{note}"

    def on(self, result: StudyResult) -> Rule:
        """The same claim, with the numbers of this study in its statement."""
        most = f"{max(point.x for point in result.plan.points):,.0f}"
        return replace(self, statement=self.statement.replace("{most}", most))


@dataclass(frozen=True)
class Claim:
    """One claim from the paper and its finding; ``finding.sentence`` gives the numbers."""

    rule: Rule
    finding: Finding

    def as_dict(self) -> dict[str, Any]:
        """Plain values; value, interval and limit are None if a study leaves a claim open."""
        rule, found = self.rule, self.finding
        return {
            "key": rule.key,
            "statement": rule.statement,
            "section": rule.section,
            "origin": rule.origin,
            "test": rule.test,
            "verdict": found.outcome,
            "numbers": found.sentence,
            "value": found.value,
            "interval": found.interval and dict(zip(("low", "high"), found.interval, strict=True)),
            "relation": found.relation if found.value is not None else None,
            "limit": found.limit if found.value is not None else None,
        }


def judge(result: StudyResult, rules: Iterable[Rule] | None = None) -> tuple[Claim, ...]:
    """All claims about the study's figure, or some of them; open if cells or draws are missing.

    Intervals are 95% Student t intervals over draws, for differences between methods on the same
    users. A claim about several intervals needs all of them and fails if any fails. It fails only
    if an interval contradicts it; an interval that contains the limit leaves it open. With a given
    examination curve, nothing is judged, because the claims are about power laws.
    """
    if result.plan.curves:
        return ()
    judged = RULES.get(result.plan.study.name, ()) if rules is None else rules
    return tuple(_judged(rule, result) for rule in judged)


@dataclass(frozen=True, eq=False)
class _Watched(StudyResult):
    """A result that notes which of its points are read."""

    read: set[Point] = field(default_factory=set)

    def result(self, method: str, point: Point, draw: int) -> CellResult | None:
        self.read.add(point)
        return super().result(method, point, draw)

    def excess(self, one: tuple[str, Point], other: tuple[str, Point]) -> dict[int, float]:
        self.read.update((one[1], other[1]))
        return super().excess(one, other)


def points_of(rule: Rule, result: StudyResult) -> frozenset[Point]:
    """The points of a study that decide about a claim."""
    watched = _Watched(result.plan, result.loss, result.done, result.world)
    rule.decide(watched)
    return frozenset(watched.read)


def _judged(rule: Rule, result: StudyResult) -> Claim:
    if result.plan.base.draws < 2:
        found = Finding(NO_INTERVAL, decided="open")
    elif not result.complete:
        found = Finding("The study is not finished.", decided="open")
    else:
        found = replace(rule.decide(result), quantity=rule.measures(result.loss))
    return Claim(rule.on(result), found)


_LOW = "The lower end of the interval for the difference is above 0"
_OF_GAP = f"{FLAT:.0%} of the gap from production to skyline"

RULES: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "learning-curve": (
            Rule(
                "approaches-skyline",
                "With more clicks, the propensity-weighted ranker approaches the skyline.",
                "7.2",
                f"With the most clicks, at most {CLOSE:.0%} of the gap between production and "
                f"skyline is left, and the ranker is better than with the fewest by more than "
                f"{FLAT:.0%} of the gap (upper and lower ends of the intervals).",
                approaches_skyline,
            ),
            Rule(
                "naive-flat",
                "The learning curve of the naive ranker is essentially flat.",
                "7.2",
                "From the fewest clicks to the most, the naive ranker's loss changes by less than "
                f"{FLAT:.0%} of the gap (both ends of the interval). The paper does not print its "
                "range of clicks.",
                naive_is_flat(0),
            ),
            Rule(
                "naive-flat-late",
                "Beyond tens of thousands of clicks, more clicks change the naive ranker by less "
                f"than {_OF_GAP}.",
                "7.2",
                f"From the first point above {FEW_CLICKS:,} clicks to the last, the naive ranker's "
                f"loss changes by less than {FLAT:.0%} of the gap (both ends of the interval).",
                naive_is_flat(FEW_CLICKS),
                "lab",
            ),
            Rule(
                "naive-worse",
                "With many clicks, the naive ranker does not reach the level of the weighted "
                "ranker.",
                "7.2",
                f"{_LOW} with the most clicks.",
                worse("naive", "propensity", -1, _clicks),
            ),
            Rule(
                "naive-better-early",
                "With very few clicks, the naive ranker is better than the weighted ranker.",
                "7.2",
                f"{_LOW} with the fewest clicks.",
                worse("propensity", "naive", 0, _clicks),
            ),
            Rule(
                "clipping-helps",
                "With few clicks, clipping improves on plain weighting.",
                "7.2",
                f"{_LOW}, averaged over all points up to {FEW_CLICKS:,} clicks.",
                clipping_helps,
            ),
            Rule(
                "tau-not-found",
                "With very few clicks, the clipped ranker is worse than the naive ranker, which "
                "τ = 1 would give.",
                "7.2",
                f"{_LOW} with the fewest clicks, for the clipped ranker against the naive ranker.",
                worse("clipped", "naive", 0, _clicks),
                "lab",
            ),
            Rule(
                "skip-above-reverses",
                "A ranker that learns to prefer clicked over skipped documents tends to reverse "
                "the presented order.",
                "1",
                "With the most clicks, Kendall's τ between this ranker's order and production's is "
                "below 0 (upper end of the interval).",
                skip_above_reverses,
                quantity="Kendall's τ",
            ),
        ),
        "bias": (
            Rule(
                "weighting-helps",
                "Once the bias is substantial, weighting beats the naive ranker.",
                "7.3",
                f"{_LOW} at every η of 1 or more.",
                weighting_wins(1.0, math.inf, lambda p: f"η = {p.x:g}, n = {p.series:,.0f}"),
            ),
            Rule(
                "more-data-helps-propensity",
                f"Five times as many clicks improve the weighted ranker by more than {_OF_GAP}.",
                "7.3",
                f"The lower end of the interval for the gain, averaged over η of 1 or more, is "
                f"above {FLAT:.0%} of the gap.",
                more_data_helps(1.0),
            ),
            Rule(
                "more-data-no-use-naive",
                f"Five times as many clicks change the naive ranker by less than {_OF_GAP}.",
                "7.3",
                "Averaged over η of 1 or more, the naive ranker's loss changes by less than "
                f"{FLAT:.0%} of the gap (both ends of the interval).",
                more_data_is_no_use(1.0),
            ),
            Rule(
                "same-without-bias",
                "Without bias, the weighted and the naive ranker are the same.",
                "5.1",
                "At η = 0, the losses are equal in every click log.",
                same_without_bias,
                "lab",
            ),
        ),
        "noise": (
            Rule(
                "gap-grows",
                "As noise grows, weighting increasingly outperforms the naive ranker.",
                "7.4",
                "The lower end of the interval for the change in the gap is above 0 at every "
                "step of ε₋, at both numbers of clicks.",
                gap_grows,
            ),
            Rule(
                "gap-larger",
                "With the most noise, weighting is further ahead of the naive ranker "
                "than without noise.",
                "7.4",
                "The lower end of the interval for the change in the gap from no noise to the most "
                "is above 0, at both numbers of clicks.",
                gap_is_larger,
                "lab",
            ),
            Rule(
                "more-data-helps-propensity",
                f"Five times as many clicks improve the weighted ranker by more than {_OF_GAP}.",
                "7.4",
                "The lower end of the interval for the gain, averaged over all values of ε₋, is "
                f"above {FLAT:.0%} of the gap.",
                more_data_helps(0.0),
            ),
            Rule(
                "more-data-no-use-naive",
                f"Five times as many clicks change the naive ranker by less than {_OF_GAP}.",
                "7.4",
                "Averaged over all values of ε₋, the naive ranker's loss changes by less than "
                f"{FLAT:.0%} of the gap (both ends of the interval). "
                "The paper says this only in section 7.3.",
                more_data_is_no_use(0.0),
                "lab",
            ),
        ),
        "misspecification": (
            Rule(
                "below-is-tolerable",
                "Overestimating small propensities (η′ < 1) is tolerable: weighting "
                "still beats the naive ranker.",
                "7.5",
                f"{_LOW} at every assumed η from 0.25 to 0.9.",
                weighting_wins(0.25, 0.9, _assumed),
            ),
            Rule(
                "above-is-worse",
                "Underestimating small propensities (η′ > 1) can be harmful.",
                "7.5",
                f"{_LOW} at an assumed η of 1.5, compared with the true value.",
                above_can_be_worse,
            ),
            Rule(
                "above-beyond-naive",
                "Far too much assumed bias can be worse than no weighting.",
                "7.5",
                f"{_LOW} at the largest assumed η.",
                worse(
                    "propensity", "naive", -1, lambda p: f"η′ = {p.x:g} against the naive ranker"
                ),
                "lab",
            ),
            Rule(
                "mediocre-beats-naive",
                "Even a mediocre propensity model can improve on the naive ranker.",
                "7.5",
                f"{_LOW} at some assumed η that is off by {MEDIOCRE[0]:g} to {MEDIOCRE[1]:g}.",
                mediocre_can_win,
            ),
            Rule(
                "zero-is-naive",
                "Assuming no bias gives the naive ranker.",
                "7.5",
                "At an assumed η of 0, the losses are equal in every click log.",
                zero_is_naive,
                "set-up",
            ),
        ),
        "few-clicks": (
            Rule(
                "doubly-robust-early",
                "With 1,000 clicks, a doubly robust ranker beats the naive, weighted and clipped "
                "rankers.",
                "7.2",
                f"{_LOW} at 1,000 clicks, against each of the three.",
                better_than("doubly-robust", "naive", "propensity", "clipped"),
                "later",
            ),
            Rule(
                "direct-stops",
                "With {most} clicks, fitted relevance on its own is worse than fitted relevance "
                "corrected by clicks.",
                "7.2",
                f"{_LOW} with the most clicks, for the direct ranker against the doubly robust "
                "ranker.",
                better_than("doubly-robust", "direct", at=-1),
                "later",
            ),
        ),
        "trust-steep": (
            Rule(
                "affine-beats-weighting",
                "With 45,000 clicks from users who trust the top ranks, dividing by examination "
                "beats the naive ranker, and the affine correction beats dividing.",
                "5.4",
                f"{_LOW} at 45,000 clicks, for the naive ranker against the weighted ranker "
                "and the weighted ranker against the affine ranker.",
                in_order("naive", "propensity", "affine"),
                "later",
            ),
        ),
        "cut": (
            Rule(
                "hole-stays",
                "From 45,000 to 170,000 clicks, more clicks do not make up for documents that a "
                "fixed logger never shows.",
                "4",
                "From 45,000 clicks to the most, the weighted ranker's loss changes by less than "
                f"{FLAT:.0%} of the gap (both ends of the interval).",
                hole_stays,
                "later",
            ),
            Rule(
                "policy-aware-fills",
                "With {most} clicks, policy-aware weights on Plackett-Luce lists beat weights by "
                "rank on a fixed logger's lists.",
                "4",
                f"{_LOW} with the most clicks, for the weighted ranker against the policy-aware "
                "ranker with Plackett-Luce lists.",
                better_than("plackett-luce", "propensity", at=-1),
                "later",
            ),
        ),
    }
)
"""The claims about each study, by its name, in the order in which they are shown."""
