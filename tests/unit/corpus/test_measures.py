"""Measures by the grades: by hand, as trec_eval has them, and over all orders of ties."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, groupby, permutations, product

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Measure, measure_named
from ultr_core.corpus.measures import usual_measures
from ultr_core.corpus.ranking import ndcg, rank_documents

GRADES = np.array([3, 0, 1, 2, 0, 0, 1, 0, 0, 0, 0, 0], np.int16)
SCORES = np.array([2.0, 5, 4, 1, 3, 4, 1, 3, 2, 1, 2, 3])
OFFSETS = np.array([0, 5, 9, 12])
"""Three queries, the last without relevance. In order of score the grades are 0 1 0 3 2, 0 0 0 1
and 0 0 0."""


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("nDCG@10", 0.566305040754699, 0.430676558073393),
        ("nDCG", 0.566305040754699, 0.430676558073393),
        ("nDCG@2", 0.148040955482933, 0.0),
        ("RR", 0.5, 0.25),
        ("RR@2", 0.5, 0.0),
        ("RR(rel=2)", 0.25, 0.0),
        ("AP", 0.533333333333333, 0.25),
        ("AP@3", 0.166666666666667, 0.0),
        ("AP(rel=2)", 0.325, 0.0),
        ("P@2", 0.5, 0.0),
        ("P@5", 0.6, 0.2),
        ("P(rel=2)@5", 0.4, 0.0),
    ],
)
def test_without_ties_a_measure_is_that_of_trec_eval(name, first, second) -> None:
    """Values printed by ir_measures 0.4.3 with pytrec_eval 0.5.11; trec_eval counts empty as 0."""
    measure = measure_named(name)
    assert measure.name == name
    zero = measure.of(SCORES, GRADES, OFFSETS, empty="zero")
    assert zero.value == pytest.approx((first + second) / 3, rel=1e-14)
    has = [first, second] if second or "rel=2" not in name else [first]
    left_out = measure.of(SCORES, GRADES, OFFSETS)
    assert left_out.value == pytest.approx(sum(has) / len(has), rel=1e-14)
    assert (left_out.counted, left_out.left_out) == (len(has), 3 - len(has))
    assert (zero.counted, zero.as_zero) == (3, 3 - len(has))


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("P@4", Fraction(2, 4)), ("P(rel=2)@2", Fraction(0)), ("RR", Fraction(1, 2)),
        ("RR(rel=3)@3", Fraction(0)), ("AP(rel=2)", (Fraction(1, 4) + Fraction(2, 5)) / 2),
        ("AP", (Fraction(1, 2) + Fraction(2, 4) + Fraction(3, 5)) / 3),
    ],
)  # fmt: skip
def test_by_hand(name, by_hand: Fraction) -> None:
    found = measure_named(name).of(SCORES[:5], GRADES[:5], OFFSETS[:2])
    assert found.value == pytest.approx(float(by_hand), rel=1e-15)


def test_both_gains_of_ndcg_by_hand() -> None:
    """Grades 0 1 0 3 2 in order, 3 2 1 0 0 at best."""
    at = 1 / np.log2(1 + np.arange(1, 6))
    for name, gains in (("nDCG@4", (1, 3, 2)), ("nDCG(dcg='exp-log2')@4", (1, 7, 3))):
        one, three, two = gains
        expected = (one * at[1] + three * at[3]) / (three * at[0] + two * at[1] + one * at[2])
        found = measure_named(name).of(SCORES[:5], GRADES[:5], OFFSETS[:2]).value
        assert found == pytest.approx(expected, rel=1e-15)


def reference(measure: Measure, grades: list[int]) -> Fraction:
    """A measure of grades in their order, as defined."""
    k = measure.cutoff or len(grades)
    relevant = [grade >= measure.rel for grade in grades]
    if measure.kind == "P":
        return Fraction(sum(relevant[:k]), k)
    at = [place for place, is_so in enumerate(relevant, 1) if is_so]
    if measure.kind == "RR":
        return Fraction(1, at[0]) if at and at[0] <= k else Fraction(0)
    found = (Fraction(sum(relevant[:place]), place) for place in at if place <= k)
    return sum(found, Fraction(0)) / max(len(at), 1)


def orders(scores: tuple[int, ...]) -> list[list[int]]:
    """Every order of the documents in which no lower score is before a higher."""
    ranked = sorted(range(len(scores)), key=lambda d: -scores[d])
    groups = [list(each) for _, each in groupby(ranked, key=lambda d: scores[d])]
    return [list(chain(*one)) for one in product(*map(permutations, groups))]


@pytest.mark.parametrize("name", ["P@1", "P@3", "P(rel=2)@9", "RR", "RR@2", "RR(rel=2)@3", "AP",
                                  "AP@2", "AP(rel=2)@4"])  # fmt: skip
def test_over_ties_it_is_the_mean_over_all_orders(name: str) -> None:
    """Enumerated in fractions, for one query at a time and for all together."""
    rng = np.random.default_rng(6)
    measure, means = measure_named(name), []
    scores, grades, sizes = [], [], []
    for _ in range(25):
        size = int(rng.integers(1, 7))
        tied, judged = rng.integers(0, 3, size), rng.integers(0, 4, size)
        judged[0] = 3
        every = orders(tuple(tied.tolist()))
        found = [reference(measure, [int(judged[d]) for d in order]) for order in every]
        means.append(sum(found, Fraction(0)) / len(every))
        scores.append(tied.astype(float))
        grades.append(judged.astype(np.int16))
        sizes.append(size)
        alone = measure.of(scores[-1], grades[-1], np.array([0, size])).value
        assert alone == pytest.approx(float(means[-1]), rel=1e-13)
    offsets = np.append(0, np.cumsum(sizes))
    together = measure.of(np.concatenate(scores), np.concatenate(grades), offsets).value
    assert together == pytest.approx(float(sum(means, Fraction(0)) / 25), rel=1e-13)


def test_ndcg_without_ties_is_that_of_the_ranking() -> None:
    rng = np.random.default_rng(1)
    offsets = np.arange(0, 201, 8)
    scores, grades = rng.normal(size=200), rng.integers(0, 5, 200).astype(np.int16)
    ranks = rank_documents(scores, offsets)
    for name, gain in (("nDCG@5", "linear"), ("nDCG(dcg='exp-log2')@5", "exponential")):
        found = measure_named(name).of(scores, grades, offsets).value
        assert found == pytest.approx(ndcg(ranks, grades, offsets, cutoff=5, gain=gain).value)


def test_a_thousand_equal_scores_have_a_reciprocal_rank() -> None:
    """Of n documents in random order with one relevant: the mean of 1 / i, exactly H_n / n."""
    grades = np.zeros(5_000, np.int16)
    grades[17] = 1
    found = measure_named("RR").of(np.zeros(5_000), grades, np.array([0, 5_000])).value
    assert found == pytest.approx(np.sum(1 / np.arange(1, 5_001)) / 5_000, rel=1e-10)


@pytest.mark.parametrize(("text", "name"), [
    ("MRR@10", "RR@10"), ("MAP", "AP"), ("NDCG@5", "nDCG@5"), ("P(rel=1)@5", "P@5"),
    ('nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10"), ("nDCG(dcg=log2)@3", "nDCG@3"),
])  # fmt: skip
def test_other_spellings(text: str, name: str) -> None:
    assert measure_named(text).name == name
    assert measure_named(name) == measure_named(text)


@pytest.mark.parametrize("text", ["", "ndcg10", "P", "ERR@10", "nDCG(rel=2)", "AP(dcg='log2')",
                                  "RR@0", "P(rel=0)@3", "P@5@6", "RR(rel=-1)"])  # fmt: skip
def test_another_name_is_refused(text: str) -> None:
    with refused("measures"):
        measure_named(text)


def test_where_nothing_is_relevant_there_is_no_mean() -> None:
    with refused("no_relevant", "AP(rel=4)", 4):
        measure_named("AP(rel=4)").of(SCORES, GRADES, OFFSETS)
    assert measure_named("AP(rel=4)").of(SCORES, GRADES, OFFSETS, empty="zero").value == 0
    rule = measure_named("AP(rel=2)").of(SCORES, GRADES, OFFSETS).rule
    assert mentions(rule, "2 of 3 queries", 2)
    every = measure_named("AP(rel=2)").of(np.arange(2.0), np.array([2, 0]), np.array([0, 2]))
    assert every.left_out == 0 and not mentions(every.rule, "0")
    assert [one.name for one in usual_measures(3)] == ["nDCG@10", "RR(rel=3)", "AP(rel=3)",
                                                      "P(rel=3)@5"]  # fmt: skip
