"""Sentences that read a study's curve with its numbers."""

from __future__ import annotations

from ultr_core.experiments.studies.curves import StudyResult
from ultr_core.experiments.studies.grids import Point
from ultr_core.risk import Estimate, interval_over_draws

_MIDDLE = 1.0  # the true eta of figure 4


def read_study(result: StudyResult) -> str:
    """What the curve shows, in words, from whatever points are finished."""
    return " ".join([_read(result), *_on_given_curves(result)])


def _on_given_curves(result: StudyResult) -> list[str]:
    """Which examination is not a power law, so that the paper's claims are not judged."""
    who = {"curve": "Users follow", "assumed_curve": "the learner believes"}
    used = [who[name] for name in result.plan.curves]
    if not used:
        return []
    both = " and ".join(used)
    return [
        f"{both[0].upper()}{both[1:]} the given examination curve; the paper's claims are about "
        "power laws and are not judged on it."
    ]


def _read(result: StudyResult) -> str:
    study = result.plan.study
    if study.is_map:
        return _read_map(result)
    points = [p for p in result.plan.points if _both(result, p)]
    if not points or result.gap() is None:
        return "No point of the curve is finished yet."
    if study.name == "learning-curve":
        return _read_learning_curve(result, points)
    if study.name == "misspecification":
        return _read_misspecification(result, points)
    return _read_severity(result, points)


def _both(result: StudyResult, point: Point) -> bool:
    return all(result.losses(method, point) for method in ("naive", "propensity"))


def _value(result: StudyResult, method: str, point: Point) -> str:
    """Mean loss with half its interval."""
    return _plus_minus(result.estimate(method, point))


def _plus_minus(estimate: Estimate | None) -> str:
    if estimate is None:
        return "unknown"
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:.2f} ± {half:.2f}" if estimate.n > 1 else f"{estimate.value:.2f}"


def _share_of_gap(result: StudyResult, point: Point) -> float:
    gap = result.gap() or 1.0
    left = list(result.excess(("propensity", point), ("skyline", point)).values())
    return 1 - interval_over_draws(left).value / gap


def _read_learning_curve(result: StudyResult, points: list[Point]) -> str:
    last = points[-1]
    sentence = (
        f"With {last.x:,.0f} clicks the weighted ranker is at "
        f"{_value(result, 'propensity', last)}, {_share_of_gap(result, last):.0%} of the way from "
        f"production ({result.level('production'):.2f}) to full information "
        f"({result.level('skyline'):.2f}); the naive ranker is at {_value(result, 'naive', last)}."
    )
    wins = [p for p in points if _mean_gain(result, p) > 0]
    if not wins:
        return sentence + " The naive ranker is the better one at every number of clicks here."
    loses = [p.x for p in points if _mean_gain(result, p) <= 0]
    if not loses:
        return sentence + " Weighting is ahead from the fewest clicks on."
    return sentence + f" Up to {max(loses):,.0f} clicks the naive ranker is ahead."


def _mean_gain(result: StudyResult, point: Point) -> float:
    excess = list(result.excess(("naive", point), ("propensity", point)).values())
    return sum(excess) / len(excess)


def _read_severity(result: StudyResult, points: list[Point]) -> str:
    most = max(p.series or 0.0 for p in points)
    curve = [p for p in points if (p.series or 0.0) == most]
    first, last = curve[0], curve[-1]
    symbol = "η" if result.plan.study.name == "bias" else "ε₋"
    shares = ""
    if symbol == "ε₋":
        shares = f", where {result.noise_share(last) or 0:.0%} of the clicks are noise,"
    return (
        f"From {symbol} = {first.x:g} to {last.x:g}{shares} the naive ranker goes from "
        f"{_value(result, 'naive', first)} to {_value(result, 'naive', last)}, the weighted one "
        f"from {_value(result, 'propensity', first)} to {_value(result, 'propensity', last)} "
        f"({most:,.0f} clicks; production {result.level('production'):.2f}, full information "
        f"{result.level('skyline'):.2f})."
    )


def _read_misspecification(result: StudyResult, points: list[Point]) -> str:
    truth = min(points, key=lambda p: abs(p.x - _MIDDLE))
    below = min(points, key=lambda p: abs(p.x - 0.5))
    above = min(points, key=lambda p: abs(p.x - 1.5))
    users = "" if result.plan.curves else f"Users have η = {_MIDDLE:g}. "
    return (
        f"{users}Assuming {truth.x:g} the weighted ranker is at "
        f"{_value(result, 'propensity', truth)}, assuming {below.x:g} at "
        f"{_value(result, 'propensity', below)}, assuming {above.x:g} at "
        f"{_value(result, 'propensity', above)}; the naive ranker is at "
        f"{_value(result, 'naive', truth)}."
    )


def _read_map(result: StudyResult) -> str:
    wins = loses = places = 0
    for point in result.plan.points:
        excess = list(result.excess(("naive", point), ("propensity", point)).values())
        if excess:
            gain = interval_over_draws(excess)
            places += 1
            wins += gain.low > 0
            loses += gain.high < 0
    return (
        f"Weighting beats the naive ranker in {wins} of {places} places and loses in {loses}; in "
        f"the other {places - wins - loses} the interval over click logs holds 0."
    )
