"""Every estimator of the registry: exact moments by enumeration, and the digits that it has had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.made_up import SHRUNK
from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.propensity import (
    CLIP_GRID,
    ESTIMATORS,
    Belief,
    Estimator,
    Expectation,
    RowNumbers,
    estimator_named,
    weights_of_log,
)
from ultr_core.propensity.estimator import (
    CASES,
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CURVE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
    SMALL_CURVE,
    WORKED_CLIP,
    WORKED_NOISE,
    WORKED_RELEVANCE,
    poor_relevance,
)
from ultr_core.risk import (
    estimate_by,
    estimate_risk,
    estimate_risks,
    expected_delta,
    expected_risk,
    variance_of_delta,
    variance_of_risk,
)
from ultr_core.users import (
    ClickLog,
    LeavingUsers,
    PositionModel,
    PowerLaw,
    TableCurve,
    rows_by_clicks_above,
    simulate_counts,
)

EVERY = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
PAPER = ("naive", "ips", "clipped", "snips")

# Powers of two, so that floats are exact and fractions equal them to the last bit.
CURVE = SMALL_CURVE
NOISY = PositionModel(CURVE, 1.0, 0.25)
CLEAN = PositionModel(CURVE, 1.0, 0.0)
PRESENTED, JUDGED = np.array([2, 1, 4, 3]), np.array([1, 3, 2, 4])
RELEVANCE, OFFSETS = np.array([True, False, True, True]), np.array([0, 4])
BELIEF = Belief(CURVE, 0.25, poor_relevance(RELEVANCE))
ROWS = ClickLog.presented(PRESENTED, OFFSETS)
LEAVING_ROWS = rows_by_clicks_above(PRESENTED, OFFSETS)


def patterns(pi: np.ndarray) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every click pattern with its probability, in fractions."""
    chance = [Fraction(p) for p in pi.tolist()]
    for clicks in product((0, 1), repeat=len(chance)):
        weight = Fraction(1)
        for c, p in zip(clicks, chance, strict=True):
            weight *= p if c else 1 - p
        if weight:
            yield clicks, weight


def in_fractions(numbers: RowNumbers) -> list[tuple[Fraction, Fraction]]:
    both = zip(numbers.u.tolist(), numbers.v.tolist(), strict=True)
    return [(Fraction(u), Fraction(v)) for u, v in both]


def exactly(numbers: RowNumbers, pi: np.ndarray, ranks: np.ndarray) -> tuple[Fraction, Fraction]:
    """Mean and variance of one presentation, over every click pattern, in fractions."""
    of_rows = in_fractions(numbers)
    mean = square = Fraction(0)
    for clicks, weight in patterns(pi):
        total = sum(
            int(k) * (a * c + b) for k, (a, b), c in zip(ranks, of_rows, clicks, strict=True)
        )
        mean += weight * total
        square += weight * total**2
    return mean, square - mean**2


def means(numbers: RowNumbers, pi: np.ndarray) -> list[Fraction]:
    """What each document counts on average, over every click pattern, in fractions."""
    of_rows = in_fractions(numbers)
    found = [Fraction(0)] * len(of_rows)
    for clicks, weight in patterns(pi):
        for document, ((u, v), c) in enumerate(zip(of_rows, clicks, strict=True)):
            found[document] += weight * (u + v if c else v)
    return found


def visits(users: LeavingUsers, relevance: np.ndarray) -> Iterator[tuple[list, Fraction]]:
    """Clicks by rank of everything that one user may do, leaving or not, with its probability."""
    clicking = users.at_first.click_probability(relevance, PRESENTED)
    at = [Fraction(clicking[document]) for document in np.argsort(PRESENTED)]
    stay, size = Fraction(users.continuation), len(at)

    def on(clicks: list, weight: Fraction) -> Iterator[tuple[list, Fraction]]:
        rank = len(clicks)
        if not weight:
            return
        if rank == size:
            yield clicks, weight
            return
        yield from on([*clicks, 0], weight * (1 - at[rank]))
        yield from on([*clicks, 1], weight * at[rank] * stay)
        yield [*clicks, 1, *[0] * (size - rank - 1)], weight * at[rank] * (1 - stay)

    return on([], Fraction(1))


def leaving_means(numbers: RowNumbers, users: LeavingUsers, relevance: np.ndarray) -> list:
    """What each document counts on average, over all visits, in fractions."""
    rows = zip(LEAVING_ROWS.document.tolist(), LEAVING_ROWS.context.tolist(), strict=True)
    of_row = dict(zip(rows, in_fractions(numbers), strict=True))
    found = [Fraction(0)] * 4
    for clicks, weight in visits(users, relevance):
        for document, rank in enumerate(PRESENTED):
            u, v = of_row[document, sum(clicks[: rank - 1])]
            found[document] += weight * (u * clicks[rank - 1] + v)
    return found


def moments(estimator: Estimator, users: PositionModel, ranks: np.ndarray) -> tuple:
    """Mean and variance of a presentation: enumerated, and in closed form."""
    pi = users.click_probability(RELEVANCE, PRESENTED)
    numbers = estimator.numbers(ROWS, BELIEF)
    closed = [f(pi, numbers, ranks, OFFSETS)[0] for f in (expected_delta, variance_of_delta)]
    return [float(moment) for moment in exactly(numbers, pi, ranks)], closed


@EVERY
@pytest.mark.parametrize("users", [NOISY, CLEAN], ids=["noisy", "clean"])
def test_closed_forms_are_the_enumeration(estimator: Estimator, users: PositionModel) -> None:
    """Of the sum; what divides a normalised one is the same sum with every rank 1."""
    for ranks in (JUDGED, np.ones(4, int)):
        enumerated, closed = moments(estimator, users, ranks)
        assert closed == pytest.approx(enumerated, rel=1e-12, abs=1e-12)
        if estimator.key in PAPER:
            assert closed == enumerated  # nothing is rounded


def counted_on_average(estimator: Estimator, case: Expectation) -> list[tuple[bool, Fraction]]:
    """Relevance, and what a document counts on average, for both and at every rank.

    Over every click pattern of every list of four documents.
    """
    found = []
    for relevance in product((False, True), repeat=4):
        if isinstance(case.users, LeavingUsers):
            numbers = estimator.weigh(LEAVING_ROWS, case.believing(np.array(relevance)))
            counted = leaving_means(numbers, case.users, np.array(relevance))
            found += zip(relevance, counted, strict=True)
            continue
        numbers = estimator.weigh(ROWS, case.believing(np.array(relevance)))
        pi = case.users.click_probability(np.array(relevance), PRESENTED)
        found += zip(relevance, means(numbers, pi), strict=True)
    return found


def follows(estimator: Estimator, case: Expectation) -> bool:
    """Whether the estimator counts what this case says, but for rounding."""
    return all(
        float(mean) == pytest.approx(case.factor * r + case.constant, rel=1e-12, abs=1e-12)
        for r, mean in counted_on_average(estimator, case)
    )


@EVERY
def test_it_counts_what_it_says_under_the_users_that_it_names(estimator: Estimator) -> None:
    assert estimator.expects, "name a case in which it is right, at least up to a factor"
    for case in estimator.expects:
        assert case.factor > 0
        assert follows(estimator, case), f"wrong where {case.words}"


def right_up_to(estimator: Estimator, case: Expectation) -> Expectation | None:
    """The case with the factor and the constant that hold at every rank; None if none do."""
    found = counted_on_average(estimator, case)
    constant, relevant = (next(float(m) for r, m in found if r is is_) for is_ in (False, True))
    counting = case.counting(relevant - constant, constant)
    return counting if counting.factor > 0 and follows(estimator, counting) else None


@EVERY
def test_it_says_every_case_in_which_it_is_right_up_to_a_factor_and_no_other(
    estimator: Estimator,
) -> None:
    for case in estimator.cases:
        said = [one for one in estimator.expects if one.counting(1.0) == case]
        found = right_up_to(estimator, case)
        if found is None:
            assert not said, f"wrong where {case.words}"
        else:
            of_found = pytest.approx((found.factor, found.constant), rel=1e-9, abs=1e-9)
            assert [(one.factor, one.constant) for one in said] == [of_found], (
                f"say .counting({found.factor:g}, {found.constant:g}) where {case.words}"
            )


DEEP = TableCurve((1.0, 2.0**-2, 2.0**-6, 2.0**-12))
"""Propensities so small that any cap on weights acts."""


def deeper(case: Expectation) -> Expectation:
    """The case with the propensities of ``DEEP``, and τ at the smallest if it was there."""
    smallest = case.belief.clip == min(SMALL_CURVE.values)
    clip = min(DEEP.values) if smallest else case.belief.clip
    users = replace(case.users, curve=DEEP)  # type: ignore[type-var]
    return replace(case, users=users, belief=replace(case.belief, curve=DEEP, clip=clip))


@EVERY
def test_what_it_says_is_as_true_where_propensities_are_small(estimator: Estimator) -> None:
    for case in estimator.expects:
        if isinstance(case.users, PositionModel) and case.belief.curve == SMALL_CURVE:
            assert right_up_to(estimator, deeper(case)), f"wrong at small p where {case.words}"


@pytest.mark.parametrize("most", [10.0, 1000.0])
def test_a_cap_that_acts_only_at_small_propensities_is_found(most: float) -> None:
    def numbers(log: ClickLog, belief: Belief) -> RowNumbers:
        return RowNumbers(np.minimum(1 / belief.curve.at(log.rank), most))

    capped = replace(ESTIMATORS["ips"], numbers=numbers)
    test_it_counts_what_it_says_under_the_users_that_it_names(capped)
    with pytest.raises(AssertionError):
        test_what_it_says_is_as_true_where_propensities_are_small(capped)


@EVERY
def test_it_gives_the_numbers_that_were_worked_out_by_hand(estimator: Estimator) -> None:
    """One click at each propensity: many functions are as unbiased, but are not this one."""
    logs: dict[float, list[tuple[float, float, float]]] = {}
    for p, u, v, *clip in estimator.worked:
        logs.setdefault(clip[0] if clip else WORKED_CLIP, []).append((p, u, v))
    at = {row[0] for row in logs[WORKED_CLIP]}
    assert 0.5 in at and len(at) >= 2, "work out p = 1/2 and another one"
    if "clip" in estimator.needs:
        assert len(logs) >= 2, "work out a second threshold: many functions are equal at one"
        assert all(min(rows)[0] < clip for clip, rows in logs.items())
    for clip, rows in logs.items():
        p, u, v = np.array(rows).T
        assert np.all((p > 0) & (p < 1)) and len(set(p)) == p.size
        ranks, ones = np.arange(2, p.size + 2), np.ones(p.size, int)
        log = ClickLog(ranks - 2, ranks, ones, ones, 1, [0, p.size + 1])
        fitted = np.full(log.n_documents, WORKED_RELEVANCE)
        curve = TableCurve((1.0, *p))
        users = PositionModel(curve, *WORKED_NOISE)
        found = estimator.weigh(log, Belief(curve, clip, fitted, users))
        assert found.u == pytest.approx(u, rel=1e-9)
        assert found.v == pytest.approx(v, rel=1e-9)


@EVERY
def test_a_relevant_document_counts_more_where_only_relevant_ones_are_clicked(
    estimator: Estimator,
) -> None:
    """At each rank, whatever it corrects: else it would prefer the worse of two rankings."""
    for case in CASES:
        found = counted_on_average(estimator, case)
        for at in range(4):
            of_rank = found[at::4]
            assert min(m for r, m in of_rank if r) > max(m for r, m in of_rank if not r)


@EVERY
@pytest.mark.parametrize(
    ("need", "other"),
    [
        ("curve", replace(BELIEF, curve=PowerLaw(0.5))),
        ("clip", replace(BELIEF, clip=0.5)),
        ("relevance", replace(BELIEF, relevance=np.full(4, 0.5))),
        ("noise", replace(BELIEF, users=NOISY)),
    ],
)
def test_it_uses_the_parts_of_a_belief_that_it_names(
    estimator: Estimator, need: str, other: Belief
) -> None:
    """A command that is told of no need asks for no curve, and gives one of 1 everywhere."""
    one, two = (estimator.weigh(ROWS, belief) for belief in (BELIEF, other))
    same = np.array_equal(one.u, two.u) and np.array_equal(one.v, two.v)
    assert same is (need not in estimator.needs)


@EVERY
def test_validation_has_thresholds_to_choose_from_where_it_needs_one(estimator: Estimator) -> None:
    """Those of an estimator that names none are (0,): its tau would always be 0."""
    chosen = len(set(estimator.clips)) > 1 or estimator.falls > 0
    assert chosen is ("clip" in estimator.needs)
    assert all(0 <= clip <= 1 for clip in estimator.clips)


@EVERY
def test_it_says_what_readers_ask(estimator: Estimator) -> None:
    assert estimator.source and estimator.words and estimator.counts
    assert estimator.assumes.startswith(estimator.expects[0].words)
    assert estimator.counts in estimator.scale


@EVERY
def test_a_click_at_propensity_0_is_told_in_the_readers_words(estimator: Estimator) -> None:
    log = ClickLog([0, 1, 2], [1, 2, 3], [9, 9, 9], [5, 3, 2], 9, [0, 3])
    try:
        belief = Belief(TableCurve((1.0, 0.5, 0.0)), relevance=np.full(3, 0.5))
        estimator.weigh(log, belief).on_log(log)
    except InputError as error:
        assert mentions(error, "rank 3", "2 clicks", 0)


NOISE_BELOW = 0.125
CORRECTED = Expectation(
    "the propensities are right, and irrelevant documents are clicked once in eight",
    PositionModel(CURVE, 1.0, NOISE_BELOW),
    Belief(CURVE),
)


Made = Callable[[np.ndarray], tuple[np.ndarray, object]]


def by_row(numbers: Made) -> Callable[[ClickLog, Belief], RowNumbers]:
    return lambda log, belief: RowNumbers(*numbers(belief.curve.at(log.rank)))


def made(numbers: Made, *expects: Expectation, worked: tuple = ()) -> Estimator:
    """An estimator; its worked numbers are its own unless they are given."""
    at = np.array([0.5, 0.25])
    u, v = np.broadcast_arrays(*numbers(at))
    return Estimator(
        "made", "Made", "counts", "words", expects, "source", by_row(numbers),
        worked or tuple(zip(at, u, v, strict=True)), ("curve",),
    )  # fmt: skip


def affine(p: np.ndarray, noise: float = NOISE_BELOW) -> tuple[np.ndarray, object]:
    return 1.0 / (p * (1.0 - noise)), -noise / (1.0 - noise)


def complaints(estimator: Estimator) -> list[str]:
    """Names of the checks of this file that an estimator fails."""
    of_needs = test_it_uses_the_parts_of_a_belief_that_it_names
    checks: dict[str, Callable[[], None]] = {
        "said": lambda: test_it_counts_what_it_says_under_the_users_that_it_names(estimator),
        "cases": lambda: test_it_says_every_case_in_which_it_is_right_up_to_a_factor_and_no_other(
            estimator
        ),
        "worked": lambda: test_it_gives_the_numbers_that_were_worked_out_by_hand(estimator),
        "order": lambda: test_a_relevant_document_counts_more_where_only_relevant_ones_are_clicked(
            estimator
        ),
        "needs": lambda: of_needs(estimator, "curve", replace(BELIEF, curve=PowerLaw(0.5))),
        "clip": lambda: of_needs(estimator, "clip", replace(BELIEF, clip=0.5)),
        "clips": lambda: test_validation_has_thresholds_to_choose_from_where_it_needs_one(
            estimator
        ),
        "moments": lambda: test_closed_forms_are_the_enumeration(estimator, NOISY),
        "zero": lambda: test_a_click_at_propensity_0_is_told_in_the_readers_words(estimator),
    }
    found = []
    for name, check in checks.items():
        try:
            check()
        except AssertionError:
            found.append(name)
    return found


# What is not a power of two is rounded, and right all the same.
SHRUNKEN = made(
    lambda p: (1.0 / (p + 0.05), 0.0),
    NO_BIAS.counting(1 / 1.05), NO_BIAS_BUT_NOISE.counting(0.75 / 1.05, 0.25 / 1.05),
    worked=((0.5, 20 / 11, 0.0), (0.25, 10 / 3, 0.0)),
)  # fmt: skip
AFFINE = (
    CORRECTED,
    *(case.counting(8 / 7, -1 / 7) for case in (NO_BIAS, RIGHT_CURVE, RIGHT_CURVE_ABOVE_CLIP)),
    *(case.counting(6 / 7, 1 / 7) for case in (NO_BIAS_BUT_NOISE, RIGHT_CURVE_BUT_NOISE)),
)


def shrunken_wrongly(numbers: Made) -> Estimator:
    """What says of itself that it is `SHRUNKEN`, and is where p = 1, but is not."""
    return replace(SHRUNKEN, numbers=by_row(numbers))


def shrunk_by(of_clip: Callable[[float], float]) -> Estimator:
    """What says of itself that it is `SHRUNK`, and is at tau = 1/4."""

    def numbers(log: ClickLog, belief: Belief) -> RowNumbers:
        p = belief.curve.at(log.rank)
        return RowNumbers(p / (p**2 + of_clip(belief.clip)))

    return replace(SHRUNK, numbers=numbers)


@pytest.mark.parametrize(
    ("estimator", "wrong"),
    [
        (made(affine, *AFFINE), []),
        (SHRUNKEN, []),
        (made(lambda p: (1.0 / p, 0.0), NO_BIAS), ["cases"]),
        (made(lambda p: (-1.0 / p, 0.0), RIGHT_CURVE), ["said", "cases", "order"]),
        (made(lambda p: (-1.0 / (p + 0.1), 0.0), NO_BIAS.counting(1.0 / 1.1)),
         ["said", "cases", "order"]),
        (shrunken_wrongly(lambda p: (1.0 / (p**2 + 0.05), 0.0)), ["worked"]),
        (shrunken_wrongly(lambda p: (1.0 / (p * 1.05), 0.0)), ["cases", "worked"]),
        (shrunken_wrongly(lambda p: (1.0 / (np.sqrt(p) * 1.05), 0.0)), ["worked"]),
        (made(lambda p: (1.0 / (p * 1.05), 0.0), *SHRUNKEN.expects), ["cases"]),
        (replace(SHRUNKEN, worked=SHRUNKEN.worked[:1]), ["worked"]),
        (made(lambda p: (affine(p)[0], NOISE_BELOW / (1 - NOISE_BELOW)), *AFFINE),
         ["said", "cases"]),
        (made(lambda p: affine(np.ones(p.size)), *AFFINE), ["said", "cases", "needs"]),
        (made(affine, CORRECTED, *CASES), ["said", "cases"]),
        (made(affine), ["said", "cases"]),
        (replace(SHRUNKEN, needs=()), ["needs"]),
        (SHRUNK, []),
        (shrunk_by(lambda tau: tau / 16), ["worked"]),
        (shrunk_by(lambda tau: tau**3), ["worked"]),
        (replace(SHRUNK, worked=SHRUNK.worked[:2]), ["worked"]),
        (replace(SHRUNK, clips=(0.0,)), ["clips"]),
        (replace(SHRUNK, needs=("curve",)), ["clip", "clips"]),
    ],
    ids=[
        "affine", "shrunken", "IPS that says too little", "negative", "negative, shrunken",
        "p squared", "p times 1.05", "root of p", "right up to a factor, not said",
        "too little worked out",
        "wrong sign of v", "without p", "always unbiased", "says nothing", "forgotten need",
        "with a threshold", "tau / 16", "tau cubed", "one threshold worked out",
        "no threshold to choose", "forgotten need of a threshold",
    ],
)  # fmt: skip
def test_right_estimators_pass_and_wrong_ones_do_not(estimator: Estimator, wrong: list) -> None:
    assert complaints(estimator) == wrong


def test_clipping_at_0_is_ips_and_at_1_is_naive() -> None:
    clipped = ESTIMATORS["clipped"]
    for clip, same in ((0.0, "ips"), (1.0, "naive")):
        ours = clipped.numbers(ROWS, replace(BELIEF, clip=clip))
        assert np.array_equal(ours.u, ESTIMATORS[same].numbers(ROWS, BELIEF).u)
    assert clipped.clips == CLIP_GRID
    assert clipped.label_with(replace(BELIEF, clip=0.1)) == f"{clipped.label}, τ = 0.1"
    assert ESTIMATORS["ips"].label_with(replace(BELIEF, clip=0.1)) == "IPS"


def bigger() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, ClickLog]:
    rng = np.random.default_rng(11)
    sizes = rng.integers(2, 20, 150)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    presented = np.concatenate([rng.permutation(m) + 1 for m in sizes])
    judged = np.stack([np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(2)])
    relevance = rng.random(offsets[-1]) < 0.25
    pi = PositionModel(PowerLaw(0.7), 0.9, 0.1).click_probability(relevance, presented)
    return offsets, presented, judged, pi, simulate_counts(pi, presented, offsets, 800, 29)


# Recorded before estimators gave two numbers a row: values and standard errors of two rankers,
# their expectations and variances at 800 draws. Other processors may round powers differently.
RECORDED = {
    "naive": (
        (6.57875, 6.69125), (0.30938618111288646, 0.3180212435730501),
        (6.847641767718367, 6.876185156478897), (0.09900023824125757, 0.10242090319921228),
    ),
    "ips": (
        (20.376155736985705, 20.63033499304406), (1.22673397364927, 1.248152447176822),
        (21.320666666666654, 21.87533333333332), (1.5290554651229582, 1.6520552309885081),
    ),
    "clipped": (
        (15.748071385947076, 15.828687431674615), (0.8325992791538552, 0.8417129527294329),
        (16.480259812757104, 16.66486872363077), (0.7268146126746865, 0.7598962861629478),
    ),
}  # fmt: skip
RECORDED_SNIPS = (7.144622380537777, 0.2058369898123419)


@pytest.mark.parametrize("key", RECORDED)
def test_it_gives_the_numbers_that_it_has_always_given(key: str) -> None:
    offsets, presented, judged, pi, log = bigger()
    belief = Belief(PowerLaw(0.7), 0.3)
    numbers = ESTIMATORS[key].numbers(log, belief)
    p = PowerLaw(0.7).at(log.rank)
    q = {"naive": np.ones(p.size), "ips": p, "clipped": np.maximum(p, 0.3)}[key]
    found = estimate_risks(log, judged, numbers)
    by_propensities = estimate_risks(log, judged, q)
    assert np.array_equal(found.value, by_propensities.value)
    assert np.array_equal(found.standard_error, by_propensities.standard_error)
    shown = ESTIMATORS[key].numbers(ClickLog.presented(presented, offsets), belief)
    ours = (
        found.value,
        found.standard_error,
        expected_risk(pi, shown, judged, offsets),
        variance_of_risk(pi, shown, judged, offsets, 800),
    )
    for computed, recorded in zip(ours, RECORDED[key], strict=True):
        assert computed == pytest.approx(recorded, rel=1e-12)
    # What a learner sees is the product of before, to the last bit.
    assert np.array_equal(weights_of_log(log, numbers).values, log.clicks * (1.0 / q))
    of_one = estimate_by(ESTIMATORS[key], log, judged[0], belief)
    assert (of_one.value, of_one.standard_error) == (found.value[0], found.standard_error[0])


def test_the_registry_is_what_readers_know() -> None:
    assert list(ESTIMATORS)[:4] == ["naive", "ips", "clipped", "snips"]
    assert [key for key in PAPER if ESTIMATORS[key].normalised] == ["snips"]
    assert all(key == estimator.key for key, estimator in ESTIMATORS.items())
    with refused("", "ipsx", "estimator", "naive", "ips"):
        estimator_named("ipsx")
    assert estimator_named("ips") is ESTIMATORS["ips"]


def test_a_normalised_estimate_is_the_sum_over_the_summed_weight() -> None:
    _, presented, judged, _, log = bigger()
    belief = Belief(PowerLaw(0.7))
    found = estimate_by(ESTIMATORS["snips"], log, judged[0], belief)
    weight = log.clicks / PowerLaw(0.7).at(presented)
    assert found.value == pytest.approx(judged[0] @ weight / weight.sum(), rel=1e-13)
    assert (found.value, found.standard_error) == pytest.approx(RECORDED_SNIPS, rel=1e-12)
    risk = estimate_by(ESTIMATORS["ips"], log, judged[0], belief)
    assert risk == estimate_risk(log, judged[0], PowerLaw(0.7).at(log.rank))
