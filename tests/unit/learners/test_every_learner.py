"""Every learner of the registry keeps what training asks of it, and wrong learners are caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from tests.made_up import RIDGE, certified, ridge, squares
from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.files import parse_ranker
from ultr_core.files.ranker_files import ranker_text
from ultr_core.inspection import inspect_ranker
from ultr_core.learners import LEARNERS, SVM, Certificate, Learner, LinearRanker, learner_named
from ultr_core.learners.learner import Fit
from ultr_core.learners.problem import Progress
from ultr_core.propensity import Targets, Weights, full_information_weights

EVERY = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def made_corpus() -> Corpus:
    rng = np.random.default_rng(4)
    features = rng.random((120, 5))
    grades = (features[:, 0] + 0.1 * rng.random(120) > 0.7).astype(int)
    return Corpus(features=features, grades=grades, query_offsets=np.arange(0, 121, 6))


CORPUS = made_corpus()


def uneven() -> Weights:
    """Summed weights of many sizes, and some on documents that are not relevant."""
    rng = np.random.default_rng(7)
    clicked = (CORPUS.grades > 0) | (rng.random(120) < 0.2)
    return of_clicks(np.where(clicked, rng.uniform(0.5, 9.0, 120), 0.0), float(clicked.sum()))


def of_clicks(values: np.ndarray, clicks: float) -> Weights:
    """Weights and targets of documents whose queries were presented once."""
    return Weights(values, clicks, Targets(values, np.ones_like(values)))


def all_of(learner: Learner, w: np.ndarray, weights: Weights, cost: float) -> np.ndarray:
    """What the objective takes of a ranker: its coefficients, and the best level if it has one."""
    if not learner.level:
        return w
    level = minimize_scalar(
        lambda b: learner.objective(CORPUS, weights, cost, np.append(w, b)), options={"xtol": 1e-12}
    ).x
    return np.append(w, level)


def some(learner: Learner, seed: int) -> np.ndarray:
    """Small coefficients of the corpus's features, so that no hinge is 0."""
    return 0.1 * np.random.default_rng(seed).normal(size=CORPUS.n_features + learner.level)


def of_feature(learner: Learner, w: float) -> np.ndarray:
    """The coefficient of a single feature, and a level of 0 if there is one."""
    return np.array([w, 0.0])[: 1 + learner.level]


WEIGHTS = uneven()


@EVERY
def test_it_trains_a_linear_ranker_with_a_certificate(learner: Learner) -> None:
    weights = full_information_weights(CORPUS.relevance(1))
    ranker = learner.fit(CORPUS, weights, cost=10.0, tolerance=1e-4)
    assert isinstance(ranker, LinearRanker)
    assert ranker.cost == 10.0
    assert ranker.certificate.converged
    assert ranker.certificate.gap <= 1e-4
    assert ranker.certificate.sentence.endswith(".")
    # The first feature marks what is relevant.
    assert np.argmax(ranker.coefficients) == 0
    again = learner.fit(CORPUS, weights, cost=10.0, tolerance=1e-4)
    assert np.array_equal(ranker.coefficients, again.coefficients)


@EVERY
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_no_weight_vector_is_better_than_the_one_it_finds(learner: Learner, cost: float) -> None:
    """By the objective that the learner names, and by searches that know nothing of its solver."""
    ranker = learner.fit(CORPUS, WEIGHTS, cost=cost, tolerance=1e-5)
    w = all_of(learner, ranker.coefficients, WEIGHTS, cost)

    def objective(at: np.ndarray) -> float:
        return learner.objective(CORPUS, WEIGHTS, cost, at)

    reached = objective(w)
    assert ranker.certificate.primal == pytest.approx(reached, rel=1e-4)
    nearby = [scale * w for scale in (0.0, 1 / 3, 0.9, 0.99, 1.01, 1.1, 3.0)]
    searched = [
        minimize(objective, start, method="Nelder-Mead", options={"maxfev": 2_000}).x
        for start in (w, np.ones(w.size))
    ]
    assert min(map(objective, nearby + searched)) >= reached - 1e-4 * abs(reached)


@EVERY
def test_its_objective_is_half_the_square_and_c_over_n_times_a_loss(learner: Learner) -> None:
    w = some(learner, 3)

    def loss(values: np.ndarray, clicks: float, cost: float) -> float:
        found = learner.objective(CORPUS, of_clicks(values, clicks), cost, w) - 0.5 * float(w @ w)
        return found * clicks / cost

    of_all = loss(WEIGHTS.values, WEIGHTS.clicks, 1.0)
    assert abs(of_all) > 1e-3
    for clicks, cost in ((WEIGHTS.clicks, 7.0), (5.0, 1.0), (900.0, 0.01)):
        assert loss(WEIGHTS.values, clicks, cost) == pytest.approx(of_all, rel=1e-6)
    # The size of each document's weight counts, not only whether there is one.
    for document in range(CORPUS.n_documents):
        for more in (1.0, 5.0):
            values = WEIGHTS.values + more * np.eye(CORPUS.n_documents)[document]
            assert loss(values, WEIGHTS.clicks, 1.0) != pytest.approx(of_all, rel=1e-9)


@EVERY
def test_its_loss_is_linear_in_the_weights(learner: Learner) -> None:
    """Else weights that are right on average do not make it right on average.

    But for a term without w, as a^2 in (s - a)^2, and for one without weights.
    """
    rng, w = np.random.default_rng(5), some(learner, 5)

    def loss(values: np.ndarray) -> float:
        at_w, at_0 = (
            learner.objective(CORPUS, of_clicks(values, WEIGHTS.clicks), 1.0, at)
            for at in (w, np.zeros_like(w))
        )
        return (at_w - at_0 - 0.5 * float(w @ w)) * WEIGHTS.clicks

    a = WEIGHTS.values
    one = loss(a)
    assert one != pytest.approx(loss(2 * a), rel=1e-3)
    for b in (3 * a, a + 5 * np.eye(a.size)[7], a * rng.uniform(0, 2, a.size), rng.permutation(a)):
        size = abs(one) + abs(loss(b))
        assert loss((a + b) / 2) == pytest.approx((one + loss(b)) / 2, abs=1e-9 * size)


@EVERY
def test_its_loss_of_two_queries_is_the_sum_of_theirs(learner: Learner) -> None:
    """Else what a click is worth would depend on how many queries or documents there are."""
    w, n = some(learner, 3), WEIGHTS.clicks

    def loss(queries: slice) -> float:
        documents = slice(6 * (queries.start or 0), 6 * (queries.stop or 20))
        part = CORPUS.subset(np.arange(20)[queries])
        weights = of_clicks(WEIGHTS.values[documents], n)
        return learner.objective(part, weights, 1.0, w) - 0.5 * float(w @ w)

    whole = loss(slice(None))
    for cut in (3, 10):
        assert loss(slice(cut)) + loss(slice(cut, None)) == pytest.approx(whole, rel=1e-9)


@EVERY
def test_it_says_whether_it_learns_from_pairs(learner: Learner) -> None:
    """From pairs, the loss of queries with one candidate is the same for all rankers."""
    alone = Corpus(features=np.array([[1.0], [0.5]]), grades=[1, 0], query_offsets=[0, 1, 2])

    def loss(w: float) -> float:
        weights = of_clicks(np.array([2.0, 1.0]), 2.0)
        return learner.objective(alone, weights, 1.0, of_feature(learner, w)) - 0.5 * w**2

    same = all(loss(w) == pytest.approx(loss(0.0), rel=1e-12) for w in (-1.0, 0.3, 0.7, 4.0))
    assert same is learner.from_pairs


@EVERY
def test_its_loss_of_a_pair_is_what_was_worked_out_by_hand(learner: Learner) -> None:
    pair = Corpus(features=np.array([[1.0], [0.0]]), grades=[1, 0], query_offsets=[0, 2])
    assert len(dict(learner.worked)) >= 2, "work out the loss at two margins or more"
    assert any(0 < margin < 1 for margin, _ in learner.worked)
    for margin, loss in learner.worked:
        weights = of_clicks(np.array([1.0, 0.0]), 1.0)
        found = learner.objective(pair, weights, 1.0, of_feature(learner, margin))
        assert found - 0.5 * margin**2 == pytest.approx(loss, rel=1e-9, abs=1e-12)


@EVERY
def test_c_and_the_number_of_clicks_count_as_their_ratio(learner: Learner) -> None:
    def fitted(cost: float, times: float = 1.0) -> np.ndarray:
        weights = of_clicks(WEIGHTS.values, times * WEIGHTS.clicks)
        return learner.fit(CORPUS, weights, cost=cost, tolerance=1e-6).coefficients

    one = fitted(1.0)
    assert fitted(3.0, times=3.0) == pytest.approx(one, abs=1e-2)
    # The larger C, the longer w may become: neither C nor n is ignored, or upside down.
    size = np.linalg.norm
    assert size(fitted(0.03)) < 0.99 * size(one) < 0.99 * size(fitted(30.0)) * 0.99
    assert size(fitted(1.0, times=30.0)) < 0.99 * size(one)


@EVERY
def test_it_tells_a_callback_that_can_end_it(learner: Learner) -> None:
    """A page shows what a callback is told, and stops a fit by raising in one."""
    told: list[Progress] = []
    learner.fit(CORPUS, WEIGHTS, cost=1.0, callback=told.append)
    assert told, "call the callback, at least once"
    assert all(isinstance(progress, Progress) for progress in told)

    def end(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.fit(CORPUS, WEIGHTS, cost=1.0, callback=end)
    with pytest.raises(KeyboardInterrupt):
        learner.paths_of(CORPUS, [WEIGHTS], callback=end)[0].to((0.1, 1.0), 1e-3)


@EVERY
def test_its_file_says_what_its_certificate_measures(learner: Learner) -> None:
    ranker = learner.fit(CORPUS, WEIGHTS, cost=1.0)
    found = ranker.certificate
    # A name on a subclass, without a type, would be hidden by the field.
    if type(found) is not Certificate:
        assert found.measure == vars(type(found)).get("measure", found.measure)
    back = parse_ranker(ranker_text(ranker).encode(), "ranker.json")
    assert isinstance(back, LinearRanker)
    assert asdict(back.certificate) == asdict(found)
    by_duality = found.measure == "relative duality gap"
    of_file = inspect_ranker(back).finding("duality_gap" if by_duality else "certificate")
    assert of_file.value == found.gap
    assert f"a {found.measure} of " in of_file.sentence


@EVERY
def test_a_path_has_a_ranker_for_each_cost_in_their_order(learner: Learner) -> None:
    weights = full_information_weights(CORPUS.relevance(1))
    one_by_one = replace(learner, paths=None)
    for way in (learner, one_by_one):
        (path,) = way.paths_of(CORPUS, [weights])
        path.to((1.0, 0.1), 1e-2)
        path.keep((0.1,))
        found = path.to((10.0, 0.1, 1.0), 1e-6)
        assert [ranker.cost for ranker in found] == [10.0, 0.1, 1.0]
        alone = learner.fit(CORPUS, weights, cost=0.1, tolerance=1e-6)
        assert found[1].coefficients == pytest.approx(alone.coefficients, abs=2e-2)


def wrong(change: Callable[..., np.ndarray]) -> Learner:
    def fit(corpus: Corpus, weights: Weights, *, cost: float, callback=None, **_: object):
        def right(values=weights.values, clicks=weights.clicks, c=cost) -> np.ndarray:
            return ridge(corpus, Weights(values, clicks), cost=c).coefficients

        return certified(corpus, weights, cost, change(right, weights, cost, corpus), callback)

    return replace(RIDGE, fit=fit)


def unregularised(right: object, weights: Weights, cost: float, corpus: Corpus) -> np.ndarray:
    return np.linalg.lstsq(np.asarray(corpus.features, np.float64), weights.values, rcond=None)[0]


def half(weights: Weights) -> np.ndarray:
    return np.where(np.arange(weights.values.size) < weights.values.size // 2, weights.values, 0.0)


def half_squares(corpus: Corpus, weights: Weights, cost: float, w: np.ndarray) -> float:
    return squares(corpus, Weights(half(weights), weights.clicks), cost, w)


def other_loss(change: Callable[[Weights], Weights], shift: float = 0.0) -> Learner:
    """A wrong objective in fit and objective alike: other weights, or another wanted score."""

    def changed(weights: Weights) -> Weights:
        return Weights(change(weights).values + shift * (weights.values > 0), weights.clicks)

    def fit(corpus: Corpus, weights: Weights, **more: object):
        return ridge(corpus, changed(weights), **more)

    def objective(corpus: Corpus, weights: Weights, cost: float, w: np.ndarray) -> float:
        return squares(corpus, changed(weights), cost, w)

    return replace(RIDGE, fit=fit, objective=objective)


def below_zero() -> Learner:
    """The same learner without the constant a^2 / 2 in its loss, whose optimum is below 0."""

    def objective(corpus: Corpus, weights: Weights, cost: float, w: np.ndarray) -> float:
        constant = cost / weights.clicks * 0.5 * float(weights.values @ weights.values)
        return squares(corpus, weights, cost, w) - constant

    def fit(corpus: Corpus, weights: Weights, *, cost: float, **more: object):
        found = ridge(corpus, weights, cost=cost, **more)
        reached = objective(corpus, weights, cost, found.coefficients)
        return replace(found, certificate=replace(found.certificate, primal=reached, dual=reached))

    return replace(RIDGE, fit=fit, objective=objective, worked=((-1.0, 1.5), (0.5, -0.375)))


def per_document() -> Learner:
    """The loss times 2 / number of documents, in fit and objective alike: right of one pair."""

    def scaled(corpus: Corpus, cost: float) -> float:
        return cost * 2 / corpus.n_documents

    def fit(corpus: Corpus, weights: Weights, *, cost: float, **more: object):
        found = ridge(corpus, weights, cost=scaled(corpus, cost), **more)
        return replace(found, cost=cost)

    def objective(corpus: Corpus, weights: Weights, cost: float, w: np.ndarray) -> float:
        return squares(corpus, weights, scaled(corpus, cost), w)

    return replace(RIDGE, fit=fit, objective=objective)


def hinge_at(wanted: float) -> Learner:
    """The SVM that asks for another margin than 1: that of margin 1 on stretched features."""

    def stretched(corpus: Corpus) -> Corpus:
        return replace(corpus, features=np.asarray(corpus.features, np.float64) / wanted)

    def fit(corpus: Corpus, weights: Weights, **more: object):
        return SVM.fit(stretched(corpus), weights, **more)

    return replace(SVM, fit=fit, objective=lambda c, *more: SVM.objective(stretched(c), *more))


def silent(corpus: Corpus, weights: Weights, *, callback=None, **more: object):
    return ridge(corpus, weights, **more)


FIT_OF_HALF = wrong(lambda right, weights, cost, corpus: right(half(weights)))
HIDDEN_MEASURE: Fit = lambda corpus, weights, **more: replace(  # noqa: E731
    ridge(corpus, weights, **more), certificate=_Hidden(1.0, 1.0, 0.0, 1, 1, "x", True, False)
)


class _Hidden(Certificate):
    measure = "gradient norm"


def complaints(learner: Learner) -> set[str]:
    """Names of the checks of this file that a learner fails."""
    checks: dict[str, Callable[[], None]] = {
        "trained": lambda: test_it_trains_a_linear_ranker_with_a_certificate(learner),
        "optimum": lambda: [
            test_no_weight_vector_is_better_than_the_one_it_finds(learner, cost)
            for cost in (0.1, 10.0)
        ],
        "objective": lambda: test_its_objective_is_half_the_square_and_c_over_n_times_a_loss(
            learner
        ),
        "ratio": lambda: test_c_and_the_number_of_clicks_count_as_their_ratio(learner),
        "linear": lambda: test_its_loss_is_linear_in_the_weights(learner),
        "worked": lambda: test_its_loss_of_a_pair_is_what_was_worked_out_by_hand(learner),
        "sum": lambda: test_its_loss_of_two_queries_is_the_sum_of_theirs(learner),
        "pairs": lambda: test_it_says_whether_it_learns_from_pairs(learner),
        "callback": lambda: test_it_tells_a_callback_that_can_end_it(learner),
        "file": lambda: test_its_file_says_what_its_certificate_measures(learner),
        "path": lambda: test_a_path_has_a_ranker_for_each_cost_in_their_order(learner),
    }
    found = set()
    for name, check in checks.items():
        try:
            check()
        except (AssertionError, pytest.fail.Exception):
            found.add(name)
    return found


@pytest.mark.parametrize(
    ("learner", "fails"),
    [
        (RIDGE, set()),
        (below_zero(), set()),
        (wrong(lambda right, *_: 3.0 * right()), {"optimum"}),
        (wrong(unregularised), {"optimum", "ratio"}),
        (wrong(lambda right, w, *_: right(values=1.0 * (w.values > 0))), {"optimum"}),
        (wrong(lambda right, *_: right(c=1.0)), {"optimum", "ratio"}),
        (wrong(lambda right, *_: right(clicks=1.0)), {"optimum", "ratio"}),
        (wrong(lambda right, w, cost, c: right(c=1.0 / cost)), {"optimum", "ratio"}),
        (FIT_OF_HALF, {"optimum"}),
        (replace(FIT_OF_HALF, objective=half_squares), {"objective"}),
        (other_loss(lambda w: replace(w, values=w.values**2)), {"linear"}),
        (other_loss(lambda w: replace(w, values=np.sqrt(w.values))), {"linear"}),
        (other_loss(lambda w: w, shift=1.0), {"worked"}),
        (hinge_at(2.0), {"worked"}),
        (per_document(), {"sum"}),
        (replace(RIDGE, from_pairs=True), {"pairs"}),
        (replace(SVM, from_pairs=False), {"pairs"}),
        (replace(RIDGE, worked=RIDGE.worked[:1]), {"worked"}),
        (replace(RIDGE, fit=silent), {"callback"}),
        (replace(RIDGE, fit=HIDDEN_MEASURE), {"file"}),
    ],
    ids=[
        "right", "right, below 0", "tripled", "no ridge", "sizes ignored", "C ignored", "n ignored",
        "C inverted", "half ignored", "half ignored, said", "weights squared, said",
        "roots of weights, said",
        "another score, said", "another margin, said", "by the document, said",
        "pointwise, not said", "pairwise, not said", "too little worked out", "no callback",
        "hidden measure",
    ],
)  # fmt: skip
def test_right_learners_pass_and_wrong_ones_do_not(learner: Learner, fails: set[str]) -> None:
    found = complaints(learner)
    assert found == fails if fails & {"sum", "pairs"} else fails <= found
    assert bool(fails) or not found


def test_a_file_without_a_measure_is_of_a_duality_gap() -> None:
    text = ranker_text(SVM.fit(CORPUS, WEIGHTS, cost=1.0))
    old = text.replace(',\n  "measure": "relative duality gap"', "")
    assert old != text
    back = parse_ranker(old.encode(), "old.json")
    assert isinstance(back, LinearRanker)
    new = parse_ranker(text.encode(), "new.json")
    assert isinstance(new, LinearRanker)
    assert back.certificate == new.certificate
    assert inspect_ranker(back).finding("duality_gap").value == back.certificate.gap
    with refused("kind", 5):
        parse_ranker(text.replace('"relative duality gap"', "5").encode(), "odd.json")
    for measure in ('""', '"a\\nb"', f'"{"x" * 61}"'):
        with refused("ranker_measure", "line", 60):
            parse_ranker(text.replace('"relative duality gap"', measure).encode(), "odd.json")


def test_the_registry_is_by_key() -> None:
    assert LEARNERS["svm"] is SVM
    assert all(key == learner.key for key, learner in LEARNERS.items())
    assert learner_named("svm") is SVM
    with refused("", "tree", "learner", "svm"):
        learner_named("tree")
