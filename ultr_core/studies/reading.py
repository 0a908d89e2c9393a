"""Sentences about a study: what its curve or map shows, with its numbers, and what a plan sets."""

from __future__ import annotations

from itertools import groupby
from math import inf

from ultr_core.curve_values import CURVES
from ultr_core.risk import NO_INTERVAL, Estimate, interval_over_draws, plus_minus
from ultr_core.settings import PARAMETERS, SHOWN_FIELD
from ultr_core.studies.cells import SKYLINE_OF_TREES, STUDY_METHODS, learner_label
from ultr_core.studies.curves import FIXED_METHODS, StudyResult
from ultr_core.studies.grids import BASE_FIELDS, Plan, Point, Study
from ultr_core.users import USERS
from ultr_core.words import counted, in_sentence, with_minus

_MIDDLE = 1.0  # the true eta of figure 4
_ONE_LOG = "on the single click log"
_HOLDS_ZERO = "the interval for the difference contains 0"


def read_study(result: StudyResult) -> str:
    """What the curve shows, in words, from the finished points: the verdict, then the numbers."""
    return " ".join([_read(result), *_without_interval(result), *_on_given_curves(result)])


def study_headline(result: StudyResult) -> str:
    """Only the reading's verdict, in at most 15 words and two numbers."""
    study = result.plan.study
    points = [p for p in result.plan.points if _both(result, p)]
    if study.repaired_by:
        return repair_headline(result, result.point(study.read_at))
    if study.is_map:
        return _map_headline(result)
    if not points or result.gap() is None:
        return _NOT_YET
    if study.name == "learning-curve":
        return _curve_headline(result, points[-1])
    if study.name == "misspecification":
        return _belief_headline(result, points)
    most = max(p.series or 0.0 for p in points)
    curve = [p for p in points if (p.series or 0.0) == most]
    return _who_is_hurt(result, curve[0], curve[-1]) or _NOT_YET


_NOT_YET = "No point on the curve is finished yet."
_AHEAD = {
    1: "weighting beats naive",
    -1: "naive beats weighting",
    0: "neither ranker is clearly ahead",
}
_FALSE = (0.5, 1.5)  # assumed eta, where users have 1
_ON_ONE_LOG = "One click log gives no interval, so it cannot show whether there is a difference."


def _curve_headline(result: StudyResult, last: Point) -> str:
    gain = _gain(result, last)
    if gain.n < 2:
        return _ON_ONE_LOG
    closed = _share_of_gap(result, last)
    how = f" and closes {closed} of the gap to full information" if gain.side > 0 else ""
    return f"With {last.x:,.0f} clicks {_AHEAD[gain.side]}{how}."


def _belief_headline(result: StudyResult, points: list[Point]) -> str:
    ends = [min(points, key=lambda p: abs(p.x - far)) for far in _FALSE]
    gains = [_gain(result, point) for point in ends]
    if min(gain.n for gain in gains) < 2:
        return _ON_ONE_LOG
    symbol = "η" if result.plan.curves else "η′"
    (low, high), (first, last) = ends, (gain.side for gain in gains)
    if first == last:
        return f"With {symbol} = {low.x:g} or {high.x:g} {_AHEAD[first]}."
    return f"With {symbol} = {low.x:g} {_AHEAD[first]}; with {high.x:g} {_AHEAD[last]}."


def _map_headline(result: StudyResult) -> str:
    gains = [_gain(result, point) for point in result.plan.points if _both(result, point)]
    gains = [gain for gain in gains if gain.n > 1]
    if not gains:
        return _ON_ONE_LOG if result.plan.base.draws < 2 else "No point is finished yet."
    wins, loses = (sum(gain.side == side for gain in gains) for side in (1, -1))
    if not wins + loses:
        return "Neither ranker is clearly ahead at any point on the map."
    if loses:
        return f"Weighting beats the naive ranker at {wins} points on the map and loses at {loses}."
    return f"Weighting beats the naive ranker at {wins} of {len(gains)} points and loses at none."


def _without_interval(result: StudyResult) -> list[str]:
    return [NO_INTERVAL] if result.plan.base.draws < 2 and result.done else []


def _on_given_curves(result: StudyResult) -> list[str]:
    """Which examination is not a power law, so that the paper's claims are not judged."""
    who = {"curve": "Users follow", "assumed_curve": "the learner assumes"}
    used = [who[name] for name in result.plan.curves]
    if not used:
        return []
    both = " and ".join(used)
    return [
        f"{both[0].upper()}{both[1:]} the given examination curve; the paper's claims are about "
        "power laws and are not judged here."
    ]


def _read(result: StudyResult) -> str:
    study = result.plan.study
    if study.is_map:
        return _read_map(result)
    points = [p for p in result.plan.points if _both(result, p)]
    if not points or result.gap() is None:
        return _NOT_YET
    if study.name == "learning-curve":
        return _read_learning_curve(result, points)
    if study.repaired_by:
        return _read_repair(result)
    if study.name == "misspecification":
        return _read_misspecification(result, points)
    return _read_severity(result, points)


def _both(result: StudyResult, point: Point) -> bool:
    return all(result.losses(method, point) for method in ("naive", "propensity"))


def _value(result: StudyResult, method: str, point: Point) -> str:
    """Mean loss with half its interval."""
    found = result.estimate(method, point)
    return "unknown" if found is None else plus_minus(found.value, (found.high - found.low) / 2)


def _measure(result: StudyResult) -> str:
    return f"{result.loss.name}, {result.loss.direction}"


def _gain(result: StudyResult, point: Point) -> Estimate:
    """How much worse the naive ranker is than the weighted one, on the same users."""
    excess = result.excess(("naive", point), ("propensity", point))
    return interval_over_draws(list(excess.values()))


def _against_naive(result: StudyResult, point: Point) -> str:
    """What the weighted ranker does to the naive one at a point."""
    gain = _gain(result, point)
    if gain.low == gain.high == 0:
        return "does exactly as well as the naive ranker"
    if gain.n < 2:
        return f"is {'better' if gain.value > 0 else 'worse'} than the naive ranker {_ONE_LOG}"
    verbs = {1: "beats", -1: "loses to", 0: "cannot be told apart from"}
    return f"{verbs[gain.side]} the naive ranker"


def _share_of_gap(result: StudyResult, point: Point) -> str:
    gap = result.gap() or 1.0
    left = list(result.excess(("propensity", point), ("skyline", point)).values())
    return with_minus(f"{1 - interval_over_draws(left).value / gap:.0%}")


def _read_learning_curve(result: StudyResult, points: list[Point]) -> str:
    last = points[-1]
    return (
        f"With {last.x:,.0f} clicks the weighted ranker {_against_naive(result, last)}: "
        f"{_value(result, 'propensity', last)} against {_value(result, 'naive', last)} "
        f"({_measure(result)}). That is {_share_of_gap(result, last)} of the way from "
        f"production ({result.level('production'):.2f}) to full information "
        f"({result.level('skyline'):.2f}).{_where_ahead(result, points)}"
    )


def repair_headline(result: StudyResult, point: Point) -> str:
    """How many clicks the best repair needs to pay off at a point, and what it beats there.

    For a study by learner: which learners the weights help, and which learner is best with them.
    """
    best = best_repair(result, point)
    if best is None:
        return _ON_ONE_LOG if result.plan.base.draws < 2 else _NOT_YET
    if result.plan.study.by_learner:
        return (
            f"With {point.x:,.0f} clicks {_helped(result, point)}; {_leading(result, point, best)}."
        )
    clicks, label, start = f"{point.x:,.0f}", _spoken(best), pays_from(result, best)
    verdict = _verdict(result, point, best, short=start is not None)
    if start is not None:
        first = f"{label[0].upper()}{label[1:]} needs {start:,.0f} clicks"
        return f"{first}; with {clicks} it {verdict}."
    pays = [
        (from_, key)
        for key in result.plan.study.repaired_by
        if (from_ := pays_from(result, key)) is not None
    ]
    other = f"; {_spoken(min(pays)[1])} needs {min(pays)[0]:,.0f}" if pays else ""
    return f"With {clicks} clicks {label} {verdict}{other}."


def gains_by_learner(result: StudyResult, point: Point) -> dict[str, Estimate]:
    """How much weights lower the loss of each learner at a point, paired by log.

    Keys are labels of learners; a learner without two finished logs is left out.
    """
    study = result.plan.study
    gains = {}
    for broken, repair in zip(broken_methods(study), study.repaired_by, strict=True):
        found = list(result.excess((broken, point), (repair, point)).values())
        if len(found) > 1:
            gains[learner_label(repair)] = interval_over_draws(found)
    return gains


def _helped(result: StudyResult, point: Point) -> str:
    """Which learners surely gain or lose by weights."""
    sides = [gain.side for gain in gains_by_learner(result, point).values()]
    for side, verb in ((1, "helps"), (-1, "hurts")):
        if sides and set(sides) == {side}:
            return f"weighting {verb} all learners"
    if 1 in sides and -1 in sides:
        return "weighting helps some learners and hurts others"
    for side, verb in ((1, "helps"), (-1, "hurts")):
        if side in sides:
            return f"weighting {verb} some learners"
    return "weighting does not clearly help any learner"


def _leading(result: StudyResult, point: Point, best: str) -> str:
    """The weighted learner with the smallest loss, and which others it surely leads, if any."""
    repairs = result.plan.study.repaired_by
    others = [key for key in repairs if key != best and len(result.losses(key, point)) > 1]
    behind = [key for key in others if _side(result, point, key, best) > 0]
    first, *names = (in_sentence(learner_label(key)) for key in (best, *behind))
    if len(behind) == len(others):
        return f"best: {first}"
    return f"clearly behind {first}: {_listed(names)}" if names else "no learner is clearly best"


def pays_from(result: StudyResult, repair: str) -> float | None:
    """The fewest clicks at which, and above which, a repair clearly beats every unrepaired ranker.

    None if the repair does not do so even with the most clicks.
    """
    start = None
    for point in result.plan.points:
        sides = [_side(result, point, rival, repair) for rival in broken_methods(result.plan.study)]
        start = (point.x if start is None else start) if min(sides) > 0 else None
    return start


def _side(result: StudyResult, point: Point, rival: str, repair: str) -> int:
    """1 where the repair surely beats the rival at a place, -1 where it loses, 0 where neither."""
    gains = list(result.excess((rival, point), (repair, point)).values())
    return interval_over_draws(gains).side if len(gains) > 1 else 0


def _verdict(result: StudyResult, point: Point, best: str, *, short: bool) -> str:
    """Whom the repair beats and to whom it loses; in short only the latter, where there are any."""
    sides: dict[int, list[str]] = {1: [], -1: [], 0: []}
    for rival in broken_methods(result.plan.study):
        name = _SHORT.get(rival, in_sentence(STUDY_METHODS[rival].label))
        sides[_side(result, point, rival, best)].append(name)
    verdicts = [
        f"{verb} {_listed(names)}".replace(*_TWICE)
        for verb, names in (("beats", sides[1]), ("loses to", sides[-1]))
        if names
    ]
    if not verdicts:
        return "is not clearly ahead" if short else "is not clearly ahead of any other ranker"
    return verdicts[-1] if short else " but ".join(verdicts)


def _spoken(method: str) -> str:
    return _REPAIR.get(method, in_sentence(STUDY_METHODS[method].label))


_TWICE = ("steeper weighting and flatter weighting", "steeper and flatter weighting")
_SHORT = {
    "naive": "naive", "propensity": "weighting", "clipped": "clipping",
    "swap-ratio": "swap ratios",
    "too-steep": "steeper weighting", "too-flat": "flatter weighting",
}  # fmt: skip
_REPAIR = {
    "propensity": "correct weighting",
    "two-towers-additive": "the additive two-tower model",
    "two-towers-product": "the product two-tower model",
}


def broken_methods(study: Study) -> tuple[str, ...]:
    """What learns from the clicks of a study of a repair, and is none of its repairs."""
    return tuple(key for key in study.methods if key not in (*FIXED_METHODS, *study.repaired_by))


def guarded_method(study: Study) -> str | None:
    """The method of a study whose fit of relevance a test by rank may reject; None without one."""
    for key in study.methods:
        estimator = STUDY_METHODS[key].estimator
        if estimator is not None and estimator.instead is not None:
            return key
    return None


def best_repair(result: StudyResult, point: Point) -> str | None:
    """The repair with the smallest mean loss at a place, of those with two finished logs.

    Of equal ones, the one that pays from the fewest clicks.
    """
    repairs = [key for key in result.plan.study.repaired_by if len(result.losses(key, point)) > 1]
    skyline = ("skyline", point)
    ranked = {
        key: interval_over_draws(list(result.excess((key, point), skyline).values())).value
        for key in repairs
        if result.excess((key, point), skyline)
    }
    return min(ranked, key=lambda key: (ranked[key], pays_from(result, key) or inf), default=None)


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _read_repair(result: StudyResult) -> str:
    study = result.plan.study
    read, last = result.point(study.read_at), result.plan.points[-1]
    names = {
        key: STUDY_METHODS[key].label
        for key in study.methods
        if key not in FIXED_METHODS and result.losses(key, read)
    }
    at_read, at_last = (
        "; ".join(f"{name} {_value(result, key, point)}" for key, name in names.items())
        for point in (read, last)
    )
    further = "" if last == read else f" With {last.x:,.0f} clicks: {at_last}."
    return (
        f"{repair_headline(result, read)} {_measure(result).capitalize()}: {at_read}; production "
        f"{result.level('production'):.2f}; full information {result.level('skyline'):.2f}"
        f"{_of_trees(result)}.{further}"
    )


def _of_trees(result: StudyResult) -> str:
    """The level of trees that see all labels, where a study has it."""
    has = SKYLINE_OF_TREES.key in result.plan.study.methods
    level = result.level(SKYLINE_OF_TREES.key) if has else None
    return "" if level is None else f"; {in_sentence(SKYLINE_OF_TREES.label)} {level:.2f}"


def _where_ahead(result: StudyResult, points: list[Point]) -> str:
    """At which numbers of clicks which ranker is ahead, and at which that cannot be told."""
    gains = ((point, _gain(result, point)) for point in points)
    sides = [(gain.side, point.x) for point, gain in gains if gain.n > 1]
    runs = [(side, [x for _, x in run]) for side, run in groupby(sides, key=lambda pair: pair[0])]
    open_ = "the two cannot be told apart"
    words = {1: "weighting is ahead", -1: "the naive ranker is ahead", 0: open_}
    parts: list[str] = []
    for side, numbers in runs:
        ends = dict.fromkeys(f"{number:,.0f}" for number in (numbers[0], numbers[-1]))
        span = f"with {' to '.join(ends)}{'' if parts else ' clicks'}"
        where = span if len(runs) > 1 else "at every number of clicks here"
        parts.append(f"{where} {words[side]}")
    if not parts:
        return ""
    sentence = ", ".join(parts).replace(open_, f"{open_} ({_HOLDS_ZERO})", 1)
    return f" {sentence[0].upper()}{sentence[1:]}."


def _read_severity(result: StudyResult, points: list[Point]) -> str:
    most = max(p.series or 0.0 for p in points)
    curve = [p for p in points if (p.series or 0.0) == most]
    first, last = curve[0], curve[-1]
    x = result.plan.study.x_fields[0]
    shares = ""
    if x == "eps_minus":
        shares = f", where {result.noise_share(last) or 0:.0%} of the clicks are noise,"
    return (
        f"{_who_is_hurt(result, first, last)} From {PARAMETERS[x].symbol} = {first.x:g} to "
        f"{last.x:g}{shares} the naive ranker goes from {_value(result, 'naive', first)} to "
        f"{_value(result, 'naive', last)}, and the weighted ranker from "
        f"{_value(result, 'propensity', first)} to {_value(result, 'propensity', last)} "
        f"({_measure(result)}; {last.settings.clicks:,} clicks; production "
        f"{result.level('production'):.2f}, full information {result.level('skyline'):.2f})."
    )


def _who_is_hurt(result: StudyResult, first: Point, last: Point) -> str:
    """Which ranker loses more from the first point to the last, by the intervals."""
    cause = result.plan.study.cause
    harms = {key: result.excess((key, last), (key, first)) for key in ("naive", "propensity")}
    naive, weighted = harms["naive"], harms["propensity"]
    both = [naive[draw] - weighted[draw] for draw in naive if draw in weighted]
    if not both:
        return ""
    found = interval_over_draws(both)
    more = found.side
    if found.n < 2 or more == 0:
        return f"It is not clear whether {cause.lower()} hurts one ranker more than the other."
    worse, other = ("naive", "weighted") if more > 0 else ("weighted", "naive")
    harm = interval_over_draws(list((naive if more > 0 else weighted).values()))
    if harm.side > 0:
        return f"{cause} hurts the {worse} ranker more than the {other} ranker."
    return f"With {cause.lower()} the {other} ranker gains on the {worse} ranker."


def _read_misspecification(result: StudyResult, points: list[Point]) -> str:
    truth = min(points, key=lambda p: abs(p.x - _MIDDLE))
    below = min(points, key=lambda p: abs(p.x - 0.5))
    above = min(points, key=lambda p: abs(p.x - 1.5))
    little, much = f"η = {below.x:g}", f"η = {above.x:g}"
    if not result.plan.curves:
        little, much = f"too little bias ({below.x:g})", f"too much ({above.x:g})"
    users = "" if result.plan.curves else f"; users have η = {_MIDDLE:g}"
    return (
        f"Assuming {little}, the weighted ranker {_against_naive(result, below)}; assuming {much}, "
        f"it {_against_naive(result, above)}. It reaches {_value(result, 'propensity', truth)} "
        f"when it assumes {truth.x:g}, {_value(result, 'propensity', below)} with {below.x:g} and "
        f"{_value(result, 'propensity', above)} with {above.x:g}; the naive ranker reaches "
        f"{_value(result, 'naive', truth)} ({_measure(result)}{users})."
    )


def _read_map(result: StudyResult) -> str:
    needed = min(2, result.plan.base.draws)
    done = [_gain(result, point) for point in result.plan.points if _both(result, point)]
    gains = [gain for gain in done if gain.n >= needed]
    if not gains:
        return f"No point on the map has {counted(needed, 'finished click log')} yet."
    if needed < 2:
        better, worse = (sum(side * gain.value > 0 for gain in gains) for side in (1, -1))
        return (
            f"{_ONE_LOG.capitalize()} weighting is better than the naive ranker at {better} of "
            f"{len(gains)} points on the map and worse at {worse or 'none'}."
        )
    wins, loses = (sum(gain.side == side for gain in gains) for side in (1, -1))
    left = len(gains) - wins - loses
    rest = f"; at the other {left} the two cannot be told apart ({_HOLDS_ZERO})" if left else ""
    return (
        f"Weighting beats the naive ranker at {wins} of {len(gains)} points on the map and loses "
        f"at {loses or 'none'}{rest}."
    )


# What a plan sets.

_NOISE = ("eps_minus", "eps_plus")


def settings_words(plan: Plan) -> str:
    """The values for a plan's users, learner and logs: one value, or a range."""
    logs = f"{counted(plan.base.draws, 'click log')} per point"
    first = plan.points[0].settings
    if USERS[first.users].own:
        return f"users: {USERS[first.users].label}, {_span(plan, 'clicks')} clicks, {logs}"
    users, learner = (_examination(plan, name) for name in CURVES)
    believed = all(point.settings.belief_is_right for point in plan.points)
    if believed and not plan.curves:
        examination = [users.replace("η", "η = η′", 1)]
    else:
        examination = [users, learner]
    noise = (f"{PARAMETERS[name].symbol} = {_span(plan, name)}" for name in _NOISE)
    leaving = [f"λ = {_span(plan, 'continuation')}"] if "continuation" not in first.idle else []
    lists = [] if first.shown == SHOWN_FIELD.default else [f"lists of {first.shown}"]
    return ", ".join(
        [*examination, *noise, *leaving, *lists, f"{_span(plan, 'clicks')} clicks", logs]
    )


def left_out_words(plan: Plan) -> str:
    """Which rankers of a plan cannot be trained here, and what they need; empty if all can."""
    if not plan.left_out:
        return ""
    return (
        "Trees are left out, because the package LightGBM is not installed (pip install lightgbm)."
    )


def taken_words(plan: Plan) -> str:
    """The controls at the top of the page that a plan for this study uses, in words."""
    numbers = [PARAMETERS[name].label for name in BASE_FIELDS if name in PARAMETERS]
    *first, last = [*numbers, *(CURVES[name].label for name in plan.curves)]
    return f"{', '.join(first)} and {last}"


def _examination(plan: Plan, curve: str) -> str:
    """The exponent of the users or of the learner, unless a curve takes its place."""
    if curve in plan.curves:
        who = "users follow" if curve == "curve" else "the learner assumes"
        return f"{who} the given curve"
    power = CURVES[curve].power
    return f"{PARAMETERS[power].symbol} = {_span(plan, power)}"


def _span(plan: Plan, name: str) -> str:
    """The one value that a setting has over the grid, its two, or the ends of several."""
    values = sorted({getattr(point.settings, name) for point in plan.points})
    texts = [f"{value:,}" if name == "clicks" else f"{value:g}" for value in values]
    if len(texts) == 1:
        return texts[0]
    return f"{texts[0]} {'or' if len(texts) == 2 else 'to'} {texts[-1]}"
