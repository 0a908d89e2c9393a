"""Contexts and grades, enumerated in fractions: right curves are unbiased, a pooled one says when.

Clicks of a log are the expected clicks of so many presentations that all of them are whole, so an
estimate from it is the expectation of the estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from math import lcm

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.propensity import contextual_propensities
from ultr_core.risk import estimate_risks
from ultr_core.users import ClickLog, PositionModel, PowerLaw, degree_of_relevance
from ultr_core.users.examination import ExaminationCurve, TableCurve

SIZE = 4
RELEVANCE = (0, 1, 0, 1)
PHONE = tuple(Fraction(1, k * k) for k in range(1, SIZE + 1))
DESK = tuple(Fraction(2, k + 1) for k in range(1, SIZE + 1))
EXAMINED = (PHONE, DESK)
SHARE = (Fraction(1, 3), Fraction(2, 3))
POOLED = tuple(sum(s * p[k] for s, p in zip(SHARE, EXAMINED, strict=True)) for k in range(SIZE))
RANKINGS = list(permutations(range(1, SIZE + 1)))
Row = tuple[int, int, Fraction, Fraction]
"""Document, context, share of the presentations, and probability of a click there."""


def curve(p: Sequence[Fraction]) -> ExaminationCurve:
    return TableCurve(tuple(map(float, p)))


CURVES = [curve(p) for p in EXAMINED]


def expected_log(rows: Sequence[Row]) -> ClickLog:
    """One query, shown as A, B, C, D, with the clicks that are expected."""
    draws = lcm(*(share.denominator * (share * click).denominator for *_, share, click in rows))
    document, context, shown, clicks = zip(
        *((d, z, int(draws * share), int(draws * share * click)) for d, z, share, click in rows),
        strict=True,
    )
    rank = np.array(document) + 1
    return ClickLog(document, rank, shown, clicks, draws, [0, SIZE], [draws], context)


def drawn_anew() -> list[Row]:
    return [(d, z, SHARE[z], EXAMINED[z][d] * RELEVANCE[d]) for z in range(2) for d in range(SIZE)]


def of_the_query(z: int) -> list[Row]:
    return [(d, z, Fraction(1), EXAMINED[z][d] * RELEVANCE[d]) for d in range(SIZE)]


def risk(ranks: Sequence[int]) -> int:
    return sum(rank * r for rank, r in zip(ranks, RELEVANCE, strict=True))


def by_enumeration(rows: Sequence[Row], weights: dict[tuple[int, int], Fraction]) -> list[Fraction]:
    """E[R_hat] of every ranking: the sum over click patterns, context by context."""
    found = []
    for ranks in RANKINGS:
        total = Fraction(0)
        for z in {z for _, z, *_ in rows}:
            here = [row for row in rows if row[1] == z]
            for pattern in product((0, 1), repeat=len(here)):
                chance, value = here[0][2], Fraction(0)
                for clicked, (d, _, _, click) in zip(pattern, here, strict=True):
                    chance *= click if clicked else 1 - click
                    value += clicked * ranks[d] * weights[d, z]
                total += chance * value
        found.append(total)
    return found


@pytest.mark.parametrize("rows", [drawn_anew(), of_the_query(0), of_the_query(1)])
def test_the_curve_of_each_context_is_unbiased(rows: list[Row]) -> None:
    own = {(d, z): 1 / EXAMINED[z][d] for d in range(SIZE) for z in range(2)}
    assert by_enumeration(rows, own) == [risk(ranks) for ranks in RANKINGS]
    log = expected_log(rows)
    q = contextual_propensities(CURVES, log.rank, log.context)
    assert estimate_risks(log, RANKINGS, q).value == pytest.approx(
        [risk(ranks) for ranks in RANKINGS], abs=1e-12
    )


def test_a_pooled_curve_is_unbiased_if_the_context_is_drawn_anew_and_off_by_its_ratio_if_not() -> (
    None
):
    """E - R = sum of rank r (p_{z,k} / p_k - 1) if the query has context z."""
    pooled = {(d, z): 1 / POOLED[d] for d in range(SIZE) for z in range(2)}
    for context, rows in ((None, drawn_anew()), (0, of_the_query(0)), (1, of_the_query(1))):
        found = by_enumeration(rows, pooled)
        for ranks, value in zip(RANKINGS, found, strict=True):
            off = sum(
                ranks[d] * RELEVANCE[d] * (EXAMINED[context][d] / POOLED[d] - 1)
                for d in range(SIZE)
                if context is not None
            )
            assert value - risk(ranks) == off
        assert (found == [risk(ranks) for ranks in RANKINGS]) == (context is None)
        log = expected_log(rows)
        by_lab = estimate_risks(log, RANKINGS, curve(POOLED).at(log.rank)).value
        assert by_lab == pytest.approx([float(value) for value in found], abs=1e-12)


def test_grades_are_clicked_by_their_gain_and_weighting_keeps_the_graded_risk() -> None:
    """E[R_hat] = (eps_plus - eps_minus) (sum of rank gain) + eps_minus m (m + 1) / 2."""
    grades, plus, minus = (0, 4, 1, 3), Fraction(9, 10), Fraction(1, 10)
    gain = [Fraction(2**g - 1, 15) for g in grades]
    rows = [(d, 0, Fraction(1), DESK[d] * (minus + (plus - minus) * gain[d])) for d in range(SIZE)]
    own = {(d, 0): 1 / DESK[d] for d in range(SIZE)}
    line = [
        (plus - minus) * sum(rank * g for rank, g in zip(ranks, gain, strict=True)) + minus * 10
        for ranks in RANKINGS
    ]
    assert by_enumeration(rows, own) == line
    users = PositionModel(curve(DESK), eps_plus=0.9, eps_minus=0.1)
    degree = degree_of_relevance(grades)
    assert degree == pytest.approx([float(g) for g in gain], abs=1e-15)
    assert users.click_probability(degree, np.arange(1, SIZE + 1)) == pytest.approx(
        [float(click) for *_, click in rows], abs=1e-15
    )
    log = expected_log(rows)
    by_lab = estimate_risks(log, RANKINGS, curve(DESK).at(log.rank)).value
    assert by_lab == pytest.approx([float(value) for value in line], abs=1e-11)
    # A threshold at grade 3 is another risk: it orders some rankings the other way.
    cut = [sum(rank * (g >= 3) for rank, g in zip(r, grades, strict=True)) for r in RANKINGS]
    pairs = [(a, b) for a in range(24) for b in range(a) if cut[a] < cut[b]]
    assert any(line[a] > line[b] for a, b in pairs)


def test_grades_of_two_levels_are_the_relevance_of_the_paper() -> None:
    assert degree_of_relevance([0, 1, 1, 0]).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert degree_of_relevance([0, 2], highest=4).tolist() == pytest.approx([0, 3 / 15])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: contextual_propensities([PowerLaw(1.0)], [1, 2], [0, 1]), ("", 0)),
        (lambda: contextual_propensities([PowerLaw(1.0)], [1, 2], [0]), ("equal_lengths", 2, 1)),
        (lambda: contextual_propensities([PowerLaw(1.0)], [1], [0.5]), ("whole_numbers", 0.5)),
        (lambda: contextual_propensities([PowerLaw(1.0)], [1], [1]), ("", 0)),
        (lambda: contextual_propensities([PowerLaw(1.0), 1.0], [1], [0]), ("not_a_curve", 1.0)),
        (lambda: contextual_propensities([PowerLaw(1.0)], [[1, 2], [3]], [0, 0, 0]), ("array",)),
        (lambda: degree_of_relevance([0, 1], highest=1.5), ("whole_number", 1.5)),
        (lambda: degree_of_relevance([0, 1], highest="4"), ("whole_number", "4")),
        (lambda: degree_of_relevance([0, 5], highest=4), ("", 4)),
        (lambda: degree_of_relevance([0, 0]), ("whole_number", 0, 60)),
        (lambda: degree_of_relevance([0, -1, 2]), ("", 0, 2)),
    ],
)
def test_what_is_no_context_or_grade_is_refused(call, said) -> None:
    about, *values = said
    with refused(about, *values):
        call()


def test_no_rows_have_no_propensities() -> None:
    assert contextual_propensities([PowerLaw(1.0)], [], []).size == 0
