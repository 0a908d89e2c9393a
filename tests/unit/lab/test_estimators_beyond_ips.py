"""Estimators that are not IPS, from a log to every number and word that tells of them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.figures import dots, evidence_figure
from ultr_core.figures.style import METHOD_STYLES, NEUTRAL_STYLES
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import JoinedLog, inspect_together, join_log
from ultr_core.lab.methods import ClickData, Method
from ultr_core.learners import COST_GRID, fit_ranker
from ultr_core.learners.selection import Selection
from ultr_core.limits import VISITORS_PAIRS
from ultr_core.own_data import evaluation, fitting
from ultr_core.own_data.evaluation import compare_with_shown, evaluate_ranker
from ultr_core.own_data.fitting import fit_from_log
from ultr_core.own_data.provenance import record_of, trained_on
from ultr_core.own_data.samples import sample_files
from ultr_core.propensity import ESTIMATORS, Belief, Estimator, RowNumbers, Weights
from ultr_core.propensity.estimator import NO_BIAS
from ultr_core.users import ClickLog, PowerLaw, TableCurve

CURVE = PowerLaw(1.0)


def _affine(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers(1.0 / (belief.curve.at(log.rank) * 0.9), -0.1 / 0.9)


def _shrunken(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers(1.0 / (belief.curve.at(log.rank) + 0.1))


AFFINE = Estimator(
    "affine", "Affine", "a click counts 10/9 / propensity and an impression -1/9",
    "words", (NO_BIAS.counting(10 / 9, -1 / 9),), "source", _affine, (), needs=("curve",),
)  # fmt: skip
SHRUNKEN = Estimator(
    "shrunken", "Shrunken", "a click counts 1 / (propensity + 0.1)",
    "words", (NO_BIAS.counting(1 / 1.1),), "source", _shrunken, (), needs=("curve",),
)  # fmt: skip
MEAN = Estimator(
    "mean", "Mean rank", "a click counts 1 / (propensity + 0.1), divided by the sum of all",
    "words", SHRUNKEN.expects, "source", _shrunken, (), needs=("curve",), normalised=True,
)  # fmt: skip


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {one.key: one for one in (AFFINE, SHRUNKEN, MEAN)}
    every = MappingProxyType({**ESTIMATORS, **more})
    for module in (fitting, evaluation, dots):
        monkeypatch.setattr(module, "ESTIMATORS", every)
    trained = tuple(key for key, one in every.items() if not one.normalised)
    monkeypatch.setattr(fitting, "FIT_METHODS", trained)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(sample_files()["corpus"].data, "sample")


@pytest.fixture(scope="module")
def joined(corpus: Corpus) -> JoinedLog:
    return join_log(parse_log(sample_files()["log"].data), corpus)


def test_clicked_documents_are_those_with_a_click(corpus: Corpus, joined: JoinedLog) -> None:
    """Not those with a weight: where impressions count, others have one as well."""
    log = joined.clicks
    fit = fit_from_log(corpus, log, CURVE, method="affine", cost=0.1)
    clicked = int(np.count_nonzero(log.clicks_per_document))
    assert fit.as_dict()["clicked_documents"] == clicked
    assert trained_on(corpus, log, record_of(fit)).same_counts


def test_pairs_of_documents_without_a_click_count_where_they_are_learned_from() -> None:
    """One click among ten documents, shown 10 to 19 times: the one shown most weighs 0."""
    corpus = Corpus(np.eye(10), np.zeros(10, int), np.array([0, 10]))
    log = ClickLog(
        np.arange(10), np.arange(1, 11), np.arange(10, 20), np.eye(10, dtype=int)[0], 20, [0, 10],
        whole_lists=False,
    )  # fmt: skip
    for method, pairs in (("ips", 9), ("affine", 81)):
        limit = replace(VISITORS_PAIRS, most=pairs)
        fit_from_log(corpus, log, CURVE, method=method, cost=0.1, pairs=limit)
        with refused("too_large", f"{pairs} pairs"):
            fit_from_log(
                corpus, log, CURVE, method=method, cost=0.1, pairs=replace(limit, most=pairs - 1)
            )


def test_rounding_is_no_weight() -> None:
    """Equal impressions, summed over rows in different ways, differ in their last digit."""
    document = np.array([0, 0, 0, 1, 2])
    impressions = np.array([1, 1, 12, 14, 14])
    log = ClickLog(
        document, [1, 2, 3, 2, 1], impressions, [0, 0, 0, 0, 2], 14, [0, 3], whole_lists=False
    )
    each = 0.1 / 0.9
    assert each + each + 12 * each != 14 * each
    weights = fitting.weights_by(AFFINE, log, Belief(CURVE))
    assert weights.values[:2].tolist() == [0.0, 0.0]
    assert weights.values[2] == pytest.approx(2 / 0.9)
    # A small number is no rounding.
    assert Weights.from_signed([0.0, 1e-9, 1.0], [0, 3], 1).values.tolist() == [0.0, 1e-9, 1.0]


def test_checks_are_of_the_weights_that_train(corpus: Corpus, joined: JoinedLog) -> None:
    log = joined.clicks
    p = CURVE.at(log.rank)
    for estimator, u in ((SHRUNKEN, 1 / (p + 0.1)), (AFFINE, 1 / (0.9 * p)), (None, 1 / p)):
        chosen = {} if estimator is None else {"estimator": estimator}
        found = inspect_together(joined, corpus, CURVE, **chosen)
        assert found.finding("largest_weight").value == pytest.approx(u[log.clicks > 0].max())
        size = (log.clicks @ u) ** 2 / (log.clicks @ u**2)
        assert found.finding("effective_sample_size").value == pytest.approx(size)
        told = found.finding("largest_weight").sentence
        assert f"has weight {u[log.clicks > 0].max():,.3g}" in told
    keys = {f.key for f in inspect_together(joined, corpus, CURVE, estimator=SHRUNKEN).findings}
    unclipped = inspect_together(joined, corpus, CURVE, estimator=SHRUNKEN, clip=0.5)
    assert {f.key for f in unclipped.findings} == keys


def test_propensity_0_stops_those_who_divide_by_it(corpus: Corpus, joined: JoinedLog) -> None:
    last = int(joined.clicks.rank[joined.clicks.clicks > 0].max())
    gone = TableCurve((*CURVE.at(np.arange(1, last)).tolist(), 0.0))
    for estimator, stops in ((SHRUNKEN, False), (AFFINE, True), (ESTIMATORS["ips"], True)):
        checks = inspect_together(joined, corpus, gone, estimator=estimator)
        assert (checks.severity == "stop") is stops
        assert any(f.key == "zero_propensities" for f in checks.findings) is stops
        if not stops:
            fit_from_log(corpus, joined.clicks, gone, method=estimator.key, cost=0.1)
            continue
        with refused("", "rank", last, "propensity", 0):
            fit_from_log(corpus, joined.clicks, gone, method=estimator.key, cost=0.1)
    scores = np.arange(corpus.n_documents, dtype=float)
    reports = evaluate_ranker(corpus, joined.clicks, scores, gone).reports
    assert reports["affine"].words == reports["ips"].words
    assert reports["shrunken"].estimate is not None


def test_an_estimate_says_what_it_is_a_number_of(corpus: Corpus, joined: JoinedLog) -> None:
    scores = np.arange(corpus.n_documents, dtype=float)
    found = evaluate_ranker(corpus, joined.clicks, scores, CURVE)
    scales = {key: report.scale for key, report in found.reports.items()}
    assert len(set(scales.values())) == len(scales)
    for key, scale in scales.items():
        estimator = evaluation.ESTIMATORS[key]
        assert estimator.counts in scale
        assert mentions(scale, "summed") is not estimator.normalised
        assert found.as_dict()["estimates"][key]["assumes"] == estimator.assumes


def test_verdicts_name_their_estimator(corpus: Corpus, joined: JoinedLog) -> None:
    fit = fit_from_log(corpus, joined.clicks, CURVE, method="affine", cost=0.1)
    scores = fit.ranker.score(corpus)
    for sentence in (
        evaluate_ranker(corpus, joined.clicks, scores, CURVE).sentence,
        compare_with_shown(joined.clicks, scores, CURVE, name="it").sentence,
    ):
        assert mentions(sentence, ESTIMATORS["ips"].label)


def test_each_has_a_style_of_its_own(corpus: Corpus, joined: JoinedLog) -> None:
    scores = np.arange(corpus.n_documents, dtype=float)
    found = evaluate_ranker(corpus, joined.clicks, scores, CURVE)
    figure = evidence_figure(found)
    dots = figure.table[figure.table["part"] == "dot"]
    assert dots["label"].tolist() == [report.label for report in found.risks]
    assert dots["method"].is_unique
    assert dots["method"].tolist()[:3] == ["naive", "propensity", "clipped"]
    assert set(dots["method"][3:]) <= set(NEUTRAL_STYLES)
    scale = figure.spec["layer"][-3]["encoding"]["color"]["scale"]
    assert set(dots["method"]) <= set(scale["domain"])
    plain = {**METHOD_STYLES, **NEUTRAL_STYLES}
    assert scale["range"] == [plain[key].color for key in scale["domain"]]


@pytest.mark.parametrize(
    ("chosen", "told"), [(COST_GRID[0], "smallest"), (0.1, ""), (COST_GRID[-1], "largest")]
)
def test_the_end_of_the_grid_is_told(
    corpus: Corpus, joined: JoinedLog, monkeypatch: pytest.MonkeyPatch, chosen: float, told: str
) -> None:
    def choose(way: Method, data: ClickData, **more: object) -> Selection:
        weights = fitting.weights_by(ESTIMATORS["ips"], data.log, data.belief)
        return Selection(fit_ranker(data.corpus, weights, cost=chosen), 0.0, np.zeros((1, 9)))

    monkeypatch.setattr(fitting, "select", choose)
    fit = fit_from_log(corpus, joined.clicks, CURVE)
    assert fit.cost == chosen
    said = [notice for notice in fit.notices if notice.startswith("Validation chose C")]
    assert len(said) == bool(told)
    assert all(f"the {told} of {len(COST_GRID)} values" in notice for notice in said)
    assert not fit_from_log(corpus, joined.clicks, CURVE, cost=chosen).notices
