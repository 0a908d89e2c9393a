"""Lists that leave candidates out: who judges, what the interval contains, and what trains."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from scripts import cut_lists
from tests.meaning import mentions
from ultr_core.corpus import Corpus
from ultr_core.files import parse_log
from ultr_core.inspection import inspect_log, unshown_candidates
from ultr_core.own_data.agreement import ranks_over_draws, shown_ranks
from ultr_core.own_data.deployment import gate
from ultr_core.own_data.evaluation import (
    JUDGE,
    Judge,
    compare_with_shown,
    default_judge,
    evaluate_ranker,
    unseen_part,
)
from ultr_core.own_data.fitting import FEW_LEFT_OUT, default_estimator, fit_from_log
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.risk.intervals import upper_bound
from ultr_core.users import ClickLog, PowerLaw

CURVE = PowerLaw(1.0)
IPS = Judge(ESTIMATORS["ips"], Belief(CURVE))
POLICY_AWARE = Judge(ESTIMATORS["policy-aware"], Belief(CURVE))


def expected(relevance: np.ndarray) -> ClickLog:
    """Two queries, drawn 8 and 4 times: one list in four of the first ends after two of its four
    candidates; no list of the second shows its last. Clicks are expectations, times 240."""
    shown = 240 * np.array([8, 8, 6, 6, 4, 4])
    rank = np.array([1, 2, 3, 4, 1, 2])
    document = np.array([0, 1, 2, 3, 4, 5])
    clicks = np.rint(shown * relevance[document] / rank).astype(int)
    return ClickLog(
        document, rank, shown, clicks, 240 * 12, [0, 4, 7], draws=[240 * 8, 240 * 4],
        whole_lists=False,
    )  # fmt: skip


@pytest.mark.parametrize("judge", [IPS, POLICY_AWARE], ids=["ips", "policy-aware"])
def test_what_is_missing_lies_between_its_bounds_for_every_relevance(judge: Judge) -> None:
    """All 128 relevances: the difference over all candidates is the estimate plus what is missing,
    and the bounds are the least and the most of that."""
    ranks = np.array([4.0, 2.0, 1.0, 3.0, 3.0, 2.0, 1.0])
    missing = []
    for number in range(2**7):
        relevance = np.array([number >> d & 1 for d in range(7)], float)
        log = expected(relevance)
        draws = np.repeat(log.draws, [4, 3])
        every = ranks - ranks_over_draws(log)
        truth = float((draws * relevance) @ every) / log.query_draws
        differences = ranks - shown_ranks(log) if judge is IPS else every
        missing.append(truth - judge.difference(log, differences).value)
        low, high = unseen_part(log, judge, differences, every)
        assert low - 1e-9 <= missing[-1] <= high + 1e-9
    assert (min(missing), max(missing)) == pytest.approx((low, high))
    assert low < high


def test_lists_that_differ_are_judged_and_trained_by_document() -> None:
    """By the same function; a log of which all lists show the same keeps IPS."""
    log = expected(np.array([1.0, 0, 1, 0, 1, 0, 1]))
    found = unshown_candidates(log, CURVE)
    assert found.never == 1 and found.sometimes == pytest.approx(4 / 44)
    # One of seven is never shown, which is too much for policy-aware weights as well.
    judge = default_judge(log, CURVE)
    assert judge.estimator.key == "ips"
    assert mentions(judge.notices, "IPS", "Policy-aware", "1 of 7", "5%")
    every = replace(log, impressions=240 * np.array([8, 8, 8, 8, 4, 4]))
    assert default_estimator(every, CURVE) == (ESTIMATORS["ips"], ())
    first = ClickLog(
        log.document[:4], log.rank[:4], log.impressions[:4], log.clicks[:4], 240 * 8, [0, 4, 7],
        draws=[240 * 8, 0], whole_lists=False,
    )  # fmt: skip
    corpus = Corpus(np.eye(7), np.array([4, 0, 4, 0, 4, 0, 4]), np.array([0, 4, 7]))
    fit = fit_from_log(corpus, first, CURVE, cost=1.0)
    assert fit.method == "policy-aware" == default_judge(first, CURVE).estimator.key
    assert mentions(fit.notices, "Policy-aware", "IPS")
    assert fit_from_log(corpus, first, CURVE, cost=1.0, method="ips").method == "ips"
    assert fit_from_log(corpus, first, CURVE, cost=1.0, clip=0.1).method == "clipped"
    assert default_judge(first, CURVE, 0.1).estimator.key == "clipped"
    same = replace(first, impressions=np.full(4, 240 * 8))
    assert default_estimator(same, CURVE) == (ESTIMATORS["ips"], ())


@pytest.fixture(scope="module")
def of() -> cut_lists.World:
    return cut_lists.world()


def test_the_gate_and_the_sentence_allow_for_what_was_never_shown(of: cut_lists.World) -> None:
    chances = cut_lists.cut_chances(of, "fixed", 0.04)
    log = cut_lists.simulated(of, chances, 60_000, np.random.default_rng(1))
    scores = -of.rankers["skyline"]
    found = gate(log, scores, CURVE, name="it", trained=False)
    less, more = found.difference.unseen
    assert less < 0 < more
    clicks, whole = found.difference.estimate, found.difference.whole
    assert clicks is not None and whole is not None
    assert (whole.low, whole.high) == (clicks.low + less, clicks.high + more)
    assert found.bound == upper_bound(clicks, found.misses) + more
    assert found.difference.as_dict()["high"] == whole.high
    assert mentions(found.difference.sentence, "3.8%", "interval")
    # Nothing is left out where all is shown.
    whole_lists = cut_lists.simulated(of, 0.0 * chances, 60_000, np.random.default_rng(1))
    assert compare_with_shown(whole_lists, scores, CURVE, name="it").unseen == (0.0, 0.0)


@pytest.mark.parametrize("kind", cut_lists.KINDS)
def test_intervals_hold_where_lists_leave_out_4_percent(of: cut_lists.World, kind: str) -> None:
    """40 logs: an interval that holds in 95% misses 7 or more of them once in 300 seeds.

    Those of IPS without allowance, as before, miss in a sixth of such logs and more.
    """
    for _, _, told in cut_lists.rows(of, kind, 0.04, 30_000, 40, seed=3).values():
        assert told.shown == 0 or told.held >= 34 / 40
        assert told.shown == 0 or told.wrong == 0


def of_lists(lists: list[tuple[int, list[int]]], queries: int, candidates: int) -> ClickLog:
    """A log of lists, each of a query and its documents, all clicked at rank 1."""
    rows = Counter(
        (query * candidates + document, rank)
        for query, shown in lists
        for rank, document in enumerate(shown, 1)
    )
    document, rank = np.array(list(rows)).T
    impressions = np.array(list(rows.values()))
    draws = np.bincount([query for query, _ in lists], minlength=queries)
    offsets = candidates * np.arange(queries + 1)
    return ClickLog(
        document, rank, impressions, impressions * (rank == 1), len(lists), offsets, draws=draws,
        whole_lists=False,
    )  # fmt: skip


@pytest.mark.parametrize("ordered", [True, False])
def test_the_number_of_lists_that_leave_out_is_exact_or_the_least(ordered: bool) -> None:
    """500 random logs, against a count list by list; lists that are cut give the exact number."""
    random = np.random.default_rng(5)
    exact = 0
    for _ in range(500):
        lists = []
        for _ in range(int(random.integers(1, 9))):
            shown = random.permutation(4)[: random.integers(1, 5)] if not ordered else range(4)
            cut = int(random.integers(1, 5)) if ordered else 4
            lists.append((int(random.integers(2)), [int(d) for d in shown][:cut]))
        ever = {q: set().union(*(s for of, s in lists if of == q)) for q in range(2)}
        truth = sum(set(shown) < ever[query] for query, shown in lists)
        found = unshown_candidates(of_lists(lists, 2, 4), CURVE, sees="document")
        assert found.draws == len(lists)
        assert found.lists == truth if found.lists_known else found.lists <= truth
        assert bool(found.lists) == bool(truth) == bool(found.sometimes)
        exact += found.lists_known
    assert exact == 500


def test_one_list_of_many_is_told_as_one() -> None:
    lists = [(0, [0, 1, 2, 3])] * 265 + [(0, [0])]
    _, told = default_estimator(of_lists(lists, 1, 4), CURVE)
    assert mentions(told[0], "1 of 266", "0.3%")
    ids = [f"d{number}" for number in range(4)]
    corpus = Corpus(np.eye(4), np.zeros(4, int), np.array([0, 4]), query_ids=["q7"])
    corpus = replace(corpus, document_ids=tuple(ids))
    log = of_lists(lists, 1, 4)
    _, told = default_estimator(log, CURVE, name_of=corpus.name_of_document)
    assert mentions(told[0], "1 of 266", "d1", "q7", "265 of 266")
    fit = fit_from_log(corpus, log, CURVE, cost=1.0)
    assert fit.method == "policy-aware" and mentions(fit.notices, "d1", "q7", "265 of 266")


def test_one_broken_row_of_a_large_log_changes_no_method_and_is_named() -> None:
    """120,000 lists of ten, of which one ends a row early: the allowance for it is added to IPS."""
    draws, candidates = 40_000, 10
    impressions = np.full(3 * candidates, draws)
    impressions[2 * candidates - 1] -= 1
    place = np.tile(np.arange(1, candidates + 1), 3)
    log = ClickLog(
        np.arange(3 * candidates), place, impressions, impressions // (5 * place), 3 * draws,
        candidates * np.arange(4), draws=[draws] * 3, whole_lists=False,
    )  # fmt: skip
    corpus = Corpus(np.eye(30), np.zeros(30, int), np.array([0, 10, 20, 30]))
    whole = replace(log, impressions=np.full(3 * candidates, draws))
    assert default_judge(log, CURVE).estimator is default_judge(whole, CURVE).estimator is JUDGE
    scores = np.tile(np.arange(10.0), 3)
    found, before = (
        compare_with_shown(one, scores, CURVE, name="it").whole for one in (log, whole)
    )
    assert found is not None and before is not None
    assert found.value == pytest.approx(before.value, rel=1e-4)
    assert before.high - before.low < found.high - found.low < 1.01 * (before.high - before.low)
    told = evaluate_ranker(corpus, log, scores, CURVE).unshown.finding()
    assert told.severity == "warning"
    assert mentions(told.sentence, "1 of 120,000", "document 10", "39,999 of 40,000")
    # One list in three hundred is another matter.
    impressions[2 * candidates - 1] -= 400
    assert default_judge(replace(log, impressions=impressions), CURVE).estimator is not JUDGE


def test_below_the_limit_the_allowance_for_lists_widens_intervals_by_under_1_percent(
    of: cut_lists.World,
) -> None:
    clicks = 300_000
    chances = cut_lists.cut_chances(of, "varied", 0.5 * FEW_LEFT_OUT / clicks**0.5)
    log = cut_lists.simulated(of, chances, clicks, np.random.default_rng(1))
    assert 0 < unshown_candidates(log).sometimes * log.total_clicks**0.5 < FEW_LEFT_OUT
    for ranks in of.rankers.values():
        found = compare_with_shown(log, -ranks, CURVE, name="it")
        assert found.judge == JUDGE.label and found.estimate is not None
        assert found.whole is not None
        assert found.whole.high - found.whole.low < 1.01 * (
            found.estimate.high - found.estimate.low
        )


@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
def test_a_file_that_ends_within_a_list_may_be_cut_off(end: str) -> None:
    """Cut at each row of its last list, and within a row."""
    lists = [
        [f"{q},{q}{d},{d},{int(d == 1)}" for d in range(1, 5)] for q in ("p", "q", "p", "q", "q")
    ]
    rows = [row for shown in lists for row in shown]
    for left in range(1, 5):
        text = "query,document,position,click\n" + "\n".join(rows[: 16 + left]) + end
        found = {finding.key: finding for finding in inspect_log(parse_log(text, "x")).findings}
        assert ("cut_off" in found) == (left < 4)
        if left < 4:
            assert mentions(found["cut_off"].sentence, "x", left)
            torn = text.rstrip() + f"\nq,q{left + 1}"
            assert inspect_log(parse_log(torn, "x")).finding("cut_off").value == 1
    # A list that is short elsewhere is no sign of it.
    every = [row for shown in lists for row in shown]
    for rows in (lists[0] + lists[1][:2] + lists[2] + lists[3], every[:-1] + lists[0][:2]):
        text = "\n".join(["query,document,position,click", *rows])
        assert "cut_off" not in {f.key for f in inspect_log(parse_log(text)).findings}
