"""Curves from ratios: smoothing, interpolation, fits, files."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.files import curve_text, parse_curve, parse_curve_values, read_curve, write_curve
from ultr_core.files.letor_lines import Source
from ultr_core.files.tables import DELIMITERS
from ultr_core.inspection.of_file import kind_of
from ultr_core.propensity import (
    CurveOptions,
    PropensityEstimate,
    RankEstimate,
    RelativeCurve,
    assemble_curve,
    table_curve,
)
from ultr_core.propensity.curves import falling
from ultr_core.propensity.points import FEWEST_CLICKS
from ultr_core.users import TableCurve


def estimate(*values: float | None, reference: int = 1) -> PropensityEstimate:
    points = tuple(
        RankEstimate(rank, value, standard_error=None if value is None else 0.1)
        for rank, value in enumerate(values, start=1)
    )
    return PropensityEstimate("swap", reference, points)


def test_without_options_the_ratios_are_the_curve_and_the_last_one_holds() -> None:
    curve = assemble_curve(estimate(1.0, 0.5, 0.25))
    assert curve.values == (1.0, 0.5, 0.25)
    assert curve.curve.at(np.array([1, 3, 22])) == pytest.approx([1, 0.25, 0.25])


def test_smoothing_mixes_ratio_and_click_rate() -> None:
    rates = np.array([0.4, 0.1, 0.02])
    curve = assemble_curve(
        estimate(1.0, 0.5, 0.25), CurveOptions(smoothing=0.25), click_rates=rates
    )
    assert curve.values == pytest.approx((1.0, 0.75 * 0.5 + 0.25 * 0.25, 0.75 * 0.25 + 0.0125))
    with refused("click_rates"):
        assemble_curve(estimate(1.0, 0.5), CurveOptions(smoothing=0.5))
    with refused("smoothing", 0, 1):
        CurveOptions(smoothing=1.5)


def test_missing_ranks_are_interpolated_and_never_zero() -> None:
    curve = assemble_curve(estimate(1.0, None, None, 0.25, None))
    assert curve.interpolated == (2, 3)
    assert curve.guessed == (5,)
    assert curve.values == pytest.approx((1, 0.5, 1 / 3, 0.25, 0.2))
    assert [curve.made_by(rank) for rank in (1, 2, 5)] == ["measured", "interpolated", "guess"]
    assert any("Ranks 2 and 3: interpolated" in notice for notice in curve.notices)
    assert any("Rank 5: a guess" in notice for notice in curve.notices)
    assert not any("5: interpolated" in notice for notice in curve.notices)


def measured(*points: tuple[float | None, float | None], reference: int = 1) -> PropensityEstimate:
    """Ratios with the standard errors of their logarithms; None: too few clicks for one."""
    return PropensityEstimate("all-pairs", reference, tuple(
        RankEstimate(rank, value, standard_error=error, reason="" if error else "too few clicks")
        for rank, (value, error) in enumerate(points, start=1)
    ))  # fmt: skip


def test_a_wild_tail_does_not_steer_the_curve() -> None:
    """The faults of a real log: 0.1 on two clicks at the end, an estimate without an interval."""
    head = [(1 / rank, 0.05) for rank in range(1, 7)]
    wild = [(0.9, None), (None, None), (0.6, 1.2), (None, None)]
    curve = assemble_curve(measured(*head, *wild))
    assert curve.used == (1, 2, 3, 4, 5, 6)
    assert curve.guess_from == 7
    assert curve.values == pytest.approx([1 / rank for rank in range(1, 11)])
    assert curve.known == (1,)  # errors without an interval
    assert mentions(curve.sentence, "1 of 10 ranks", 1.5, 6, "rank 7")
    few, guessed = curve.notices
    assert mentions(few, "ranks 7", 9)
    assert mentions(guessed, "ranks 7", 10)


def test_a_weak_rank_between_known_ones_is_interpolated() -> None:
    curve = assemble_curve(measured((1, 0.1), (5.0, 0.9), (1 / 3, 0.1)))
    assert curve.values == pytest.approx((1, 1 / 2, 1 / 3))
    assert curve.interpolated == (2,) and not curve.guessed


def test_known_ranks_may_rise_and_the_guess_never_does() -> None:
    """Where many clicks say so the curve rises; below it nothing rises above the last known."""
    curve = assemble_curve(measured((1, 0.1), (0.3, 0.05), (0.6, 0.05), (0.2, 0.3), (9.0, 2.0)))
    assert curve.values[2] == pytest.approx(0.6)
    assert curve.values[4] <= curve.values[3] == pytest.approx(0.2)


def with_intervals(found: PropensityEstimate) -> PropensityEstimate:
    points = [
        replace(p, low=p.value * np.exp(-1.96 * p.standard_error),
                high=p.value * np.exp(1.96 * p.standard_error), clicks=FEWEST_CLICKS)
        for p in found.points
        if p.value is not None and p.standard_error is not None
    ]  # fmt: skip
    return replace(found, points=tuple(points))


def test_values_of_a_fit_are_no_measurements() -> None:
    """A power law through 1, 1/2, 1/3 and a sharp fall: no value of it is one that was measured."""
    found = with_intervals(
        measured((1.0, 0.0), (0.5, 0.01), (0.33, 0.01), (0.05, 0.01), (0.2, 0.9))
    )
    plain = assemble_curve(found)
    assert plain.fitted == plain.outside == ()
    assert plain.made_by(4) == "measured"
    power = assemble_curve(found, CurveOptions(fit="power-law"))
    told = [power.made_by(rank) for rank in range(1, 6)]
    assert told == ["measured", "fitted", "fitted", "fitted", "guess"]
    assert power.values[3] > 0.05 * 1.02
    assert power.values[1] < 0.5 * 0.98
    assert {2, 4} <= set(power.outside)
    assert not power.sure
    assert mentions(power.sentence, "95%", len(power.outside), "3 ranks")
    # Pooled values are fitted, the others stay as they were measured.
    pooled = assemble_curve(
        with_intervals(measured((1.0, 0.0), (0.4, 0.1), (0.42, 0.1))),
        CurveOptions(fit="monotone"),
    )
    assert [pooled.made_by(rank) for rank in (1, 2, 3)] == ["measured", "fitted", "fitted"]
    assert pooled.outside == ()
    assert pooled.sure


@pytest.mark.parametrize("fit", ["none", "monotone", "power-law"])
def test_no_fit_listens_to_a_wild_point(fit: Literal["none", "monotone", "power-law"]) -> None:
    head = [(rank**-0.8, 0.05) for rank in range(1, 9)]
    options = CurveOptions(fit=fit)
    calm = assemble_curve(measured(*head, (None, None)), options)
    assert assemble_curve(measured(*head, (7.0, 1.0)), options).values == calm.values


def test_without_a_known_rank_the_whole_curve_is_a_guess() -> None:
    curve = assemble_curve(measured((1, 0.1), (0.5, 0.8), (0.2, None)))
    assert curve.values == pytest.approx((1, 0.5, 0.2))
    assert curve.known == curve.used == (1,) and curve.guess_from == 2
    assert mentions(curve.sentence, "rank 1")
    assert not mentions(curve.sentence, 3)


def test_clicks_stand_in_where_a_method_has_no_interval_at_all() -> None:
    points = tuple(
        RankEstimate(rank, value, clicks=clicks, reason="no interval")
        for rank, value, clicks in ((1, 1.0, 900), (2, 0.5, 400), (3, 4.0, 2))
    )
    curve = assemble_curve(PropensityEstimate("em", 1, points))
    assert curve.used == (1, 2)
    assert curve.known == (1,)
    assert curve.values == pytest.approx((1, 1 / 2, 1 / 3))


def test_smoothing_makes_a_weak_ratio_usable() -> None:
    """With click rates alone the ratio plays no part, however wide its interval."""
    rates = np.array([0.4, 0.1])
    weak = measured((1, 0.1), (5.0, 0.9))
    for weight, used in ((0.9, False), (1.0, True)):
        curve = assemble_curve(weak, CurveOptions(smoothing=weight), click_rates=rates)
        assert (curve.used == (1, 2)) == used


def test_chosen_ranks_are_joined_by_a_power_law() -> None:
    given_ratios = estimate(1.0, 0.9, 0.9, 0.25)
    curve = assemble_curve(given_ratios, CurveOptions(ranks=(4,)))
    assert curve.values == pytest.approx((1, 0.5, 1 / 3, 0.25))
    with refused("", "rank", 9, 4):
        assemble_curve(given_ratios, CurveOptions(ranks=(9,)))


def test_ratios_above_one_survive_as_a_relative_curve() -> None:
    curve = assemble_curve(estimate(1.0, 2.0, 1.5))
    assert isinstance(curve.curve, RelativeCurve)
    assert curve.values == (1.0, 2.0, 1.5)
    assert curve.curve.at(np.array([1, 2, 3, 9])) == pytest.approx([0.5, 1, 0.75, 0.75])
    assert "rank 2" in curve.curve.describe()
    assert any(mentions(notice, "ranks 2", 3, "rank 1") for notice in curve.notices)


def test_another_landmark_is_normalised_to_rank_one() -> None:
    curve = assemble_curve(estimate(2.0, 1.0, 0.5, reference=2))
    assert curve.values == pytest.approx((1, 0.5, 0.25))


def test_a_ratio_of_zero_is_no_propensity() -> None:
    curve = assemble_curve(estimate(1.0, 0.0, 1 / 3))
    assert curve.values == pytest.approx((1, 0.5, 1 / 3))
    assert any(mentions(notice, "rank 2", "click") for notice in curve.notices)


def test_fits() -> None:
    monotone = assemble_curve(estimate(1.0, 0.3, 0.5, 0.1), CurveOptions(fit="monotone")).values
    assert all(a >= b for a, b in pairwise(monotone))
    assert 0.3 < monotone[1] == monotone[2] < 0.5
    ratios = [rank**-0.7 for rank in range(1, 6)]
    power = assemble_curve(estimate(*ratios), CurveOptions(fit="power-law"))
    assert power.values == pytest.approx(ratios, rel=1e-12)
    assert any("0.700" in notice for notice in power.notices)
    with refused("fit", "none", "monotone", "power-law"):
        CurveOptions(fit="spline")  # type: ignore[arg-type]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(0.01, 2), st.floats(0.1, 9)), min_size=1, max_size=12))
def test_monotone_fit_is_the_weighted_projection(pairs: list[tuple[float, float]]) -> None:
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    fitted = falling(values, weights)
    assert np.all(np.diff(fitted) <= 1e-12)
    assert float(weights @ fitted) == pytest.approx(float(weights @ values))
    # Projection on a convex cone: the residual is orthogonal to the fit.
    assert float((weights * (values - fitted)) @ fitted) == pytest.approx(0, abs=1e-9)


def test_the_curve_of_section_7_6() -> None:
    """p of about 0.12 at rank 21 is eta = 0.70; eta = 1 would have 0.048."""
    curve = assemble_curve(
        estimate(1.0, *[None] * 19, 0.12), CurveOptions(fit="power-law", ranks=(21,))
    )
    assert any("0.696" in notice for notice in curve.notices)
    assert round(math.log(0.12) / math.log(1 / 21), 2) == 0.70
    assert round(1 / 21, 3) == 0.048


def test_files_keep_every_digit(tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    values = (1.0, 1 / 3, 0.1)
    write_curve(path, values)
    assert path.read_text().splitlines()[0] == "rank,propensity"
    assert read_curve(path) == TableCurve(values)


def test_files_of_any_scale_and_order_are_normalised() -> None:
    assert parse_curve("position;x\n".replace(";", ",").replace("x", "p") + "2,5\n1,10\n") == (
        TableCurve((1.0, 0.5))
    )
    assert isinstance(parse_curve(curve_text([1.0, 2.0])), RelativeCurve)


@pytest.mark.parametrize("mark", DELIMITERS)
def test_a_file_may_have_the_separators_that_logs_have(mark: str) -> None:
    text = f"propensity{mark}rank\n10{mark}1\n5{mark}2\n"
    assert parse_curve_values(text) == [10.0, 5.0]
    assert kind_of(Source.upload(text.encode(), "c.csv")) == "curve"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ("column_missing", "column", "rank")),
        ("a b\n", ("column_missing", "rank", "propensity")),
        ("rank,weight\n1,1\n", ("column_missing", "column", "propensity")),
        ("rank,propensity\n", ("empty_file",)),
        ("rank,propensity\n1,1\n3,0.2\n", ("rank_missing", "propensity", "rank", 2, 3)),
        ("rank,propensity\n1,1\n1,0.2\n", ("rank_twice", "line", 3, "rank", 1)),
        ("rank,propensity\n1,x\n", ("not_a_number", "line", 2, "column", "propensity", "x")),
        ("rank,propensity\n1,nan\n", ("not_a_number", 2, "nan")),
        ("rank,propensity\n0,1\n", ("curve_rank", "rank", 0, "ranks", 1, "10,000", 2)),
        ("rank,propensity\n1,1\n2,-1\n", ("negative_propensity", "line", 3, "propensity", -1)),
        ("rank,propensity\n1,0\n2,1\n", ("first_rank", "rank", 1, 0)),
        ("rank,propensity\n1\n", ("cells_missing", "line", 2, 1, "column")),
        ("rank;propensity\n1;0,5\n", ("not_a_number", "0,5", 2)),
    ],
)
def test_faulty_files_are_refused_in_one_sentence(text: str, fault: tuple[object, ...]) -> None:
    with refused(*fault) as error:
        parse_curve(text, "curve.csv")
    assert "\n" not in str(error.value)


def test_unreadable_files_and_values(tmp_path: Path) -> None:
    with refused("not_a_file"):
        read_curve(tmp_path / "none.csv")
    with refused("unwritable"):
        write_curve(tmp_path / "no" / "curve.csv", [1.0])
    (tmp_path / "binary.csv").write_bytes(b"rank\xe9")
    with pytest.raises(InputError, match="UTF-8"):
        read_curve(tmp_path / "binary.csv")
    with pytest.raises(InputError, match="rank 2 is -1"):
        table_curve([1.0, -1.0])
    with refused("curve_numbers", 0):
        RelativeCurve((0.0, 0.0))
    with refused("no_ratio"):
        assemble_curve(estimate(None, None))
