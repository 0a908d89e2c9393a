"""Pictures of propensities and contests: what is drawn, and that it is a valid specification."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import vl_convert

from tests.meaning import mentions, refused
from ultr_core.export import FILE_FORMATS
from ultr_core.figures import (
    Figure,
    curve_figure,
    curve_risk_figure,
    live_curve_figure,
    trained_rankers,
    win_share_figure,
)
from ultr_core.figures.by_rank import clicks_and_relevance, propensity_curves
from ultr_core.figures.dots import interval_dots
from ultr_core.files import load_directory
from ultr_core.lab import World, build_world
from ultr_core.lab.live import LiveDesign, run_live
from ultr_core.lab.propensity_study import MethodResult
from ultr_core.propensity import PropensityEstimate, RankEstimate, assemble_curve
from ultr_core.settings import Settings

TRUTH = [1.0, 0.5, 0.33, 0.25]


@pytest.fixture(scope="module")
def found() -> MethodResult:
    points = (
        RankEstimate(1, 1.0, 1.0, 1.0, 0.0, 100, 50),
        RankEstimate(2, 0.6, 0.4, 0.9, 0.2, 100, 30),
        RankEstimate(3, None, reason="nothing was shown at rank 3"),
        RankEstimate(4, 4.0, None, None, None, 100, 3),
    )
    estimate = PropensityEstimate("swap", 1, points)
    return MethodResult("swap", estimate, assemble_curve(estimate), 0.5, 0.4)


def domain_of(figure: Figure) -> list[float]:
    layer = next(part for part in figure.spec["layer"] if "scale" in part["encoding"]["y"])
    domain: list[float] = layer["encoding"]["y"]["scale"]["domain"]
    return domain


def picture_of(*values: tuple[float, float | None]) -> Figure:
    points = tuple(
        RankEstimate(rank, value, low, None if low is None else 1.0, 0.1, 900, 9 * bool(value))
        for rank, (value, low) in enumerate(values, start=1)
    )
    estimate = PropensityEstimate("swap", 1, points)
    return propensity_curves(estimate, curve=assemble_curve(estimate), alt_text="a", title="t")


def test_the_axis_reaches_down_to_the_values() -> None:
    """An estimate of 0.006 stood on an axis that ended at 0.01, like one of 0.01."""
    figure = picture_of((1.0, 1.0), (0.006, 0.004), (0.002, 0.0004))
    assert domain_of(figure) == [0.001, 3.0]
    marks = figure.rows[figure.rows["part"] == "estimate"]
    assert marks["y"].tolist() == [1.0, 0.006, 0.002]
    assert set(marks["stands"]) == {"inside"}
    assert marks["cut"].tolist() == [False, False, True]  # its interval goes below the axis


def test_what_no_axis_reaches_has_a_mark_of_its_own_and_its_value() -> None:
    figure = picture_of((1.0, 1.0), (0.00002, None), (0.0, 0.0), (90.0, None))
    marks = figure.rows[figure.rows["part"] == "estimate"]
    assert marks["stands"].tolist() == ["inside", "below", "zero", "above"]
    assert marks["value"].tolist() == [1.0, 0.00002, 0.0, 90.0]
    one, below, zero, above = marks["told"].tolist()
    assert [one, below, above] == ["1", "2e-05", "90"]
    assert zero not in {"", "0"}
    low, high = domain_of(figure)
    assert marks["y"].between(low, high).all()
    drawn = vl_convert.vegalite_to_svg(figure.standalone_spec())
    assert f">{zero}<" in drawn and drawn.count(" axis<") == 2
    plain = vl_convert.vegalite_to_svg(picture_of((1.0, 1.0), (0.5, 0.4)).standalone_spec())
    assert f">{zero}<" not in plain and " axis<" not in plain


def test_no_line_runs_along_the_edge_of_the_picture() -> None:
    points = (RankEstimate(1, 1.0, 1.0, 1.0, 0.0, 9, 9), RankEstimate(2, 0.5, 0.4, 0.6, 0.1, 9, 9))
    estimate = PropensityEstimate("swap", 1, points)
    figure = propensity_curves(
        estimate, curve=assemble_curve(estimate), truth=[1.0, 0.0], alt_text="a", title="t"
    )
    truth = figure.rows[figure.rows["part"] == "truth"]
    assert truth["y"].iloc[1] < domain_of(figure)[0] / 100


def test_estimates_that_the_curve_does_not_use_are_hollow_and_a_guess_is_dashed() -> None:
    points = (
        RankEstimate(1, 1.0, 1.0, 1.0, 0.0, 900, 500),
        RankEstimate(2, 0.5, 0.4, 0.6, 0.1, 900, 250),
        RankEstimate(3, 0.9, 0.01, 70.0, 2.2, 20, 2),
    )
    estimate = PropensityEstimate("swap", 1, points)
    figure = propensity_curves(estimate, curve=assemble_curve(estimate), alt_text="a", title="t")
    marks = figure.rows[figure.rows["part"] == "estimate"]
    assert marks["used"].tolist() == [True, True, False]
    assert figure.rows.loc[figure.rows["part"] == "guess", "rank"].tolist() == [2, 3]
    drawn = vl_convert.vegalite_to_svg(figure.standalone_spec())
    assert re.search(">[^<>]*few[^<>]*<", drawn) and re.search(">[^<>]*guess[^<>]*<", drawn)


def test_clicks_by_rank_go_down_to_the_last_and_none_is_not_little() -> None:
    figure = clicks_and_relevance([0.5, 0.0001, 0.0], [0.4, 0.3, 0.2])
    assert domain_of(figure)[0] == pytest.approx(0.0001)
    assert figure.rows["mark_y"].tolist() == pytest.approx([1.0, 0.0002, 0.0001])
    assert figure.rows["stands"].tolist() == ["inside", "inside", "zero"]
    assert ">none<" in vl_convert.vegalite_to_svg(figure.standalone_spec())


@pytest.fixture(scope="module")
def world(small_corpus: Path) -> World:
    return build_world(Settings(), load_directory(small_corpus))


def test_missing_ranks_have_no_mark_and_far_ones_stand_at_the_end(found: MethodResult) -> None:
    figure = curve_figure(found, TRUTH, limit=TRUTH, other=replace(found, key="ctr"))
    marks = figure.rows[figure.rows["part"] == "estimate"]
    assert marks["rank"].tolist() == [1, 2, 4]
    assert marks["y"].tolist() == [1.0, 0.6, 4.0]
    assert marks["value"].tolist() == [1.0, 0.6, 4.0]
    assert domain_of(figure) == [0.01, 10.0]
    assert set(figure.rows["part"]) == {"estimate", "curve", "other", "truth", "limit"}
    # Each method keeps its own shape; a scale would be shared by the layers.
    assert not any("shape" in layer["encoding"] for layer in figure.spec["layer"])
    assert mentions(figure.alt, "3 of 4 ranks")


def test_every_picture_can_be_saved_in_both_themes(found: MethodResult, world: World) -> None:
    design = LiveDesign(interleaved=300, last_rank=5)
    result = run_live(world, Settings(clicks=9_000), design)
    risks = {"a": ("One", "naive", 11.0), "b": ("Other", "propensity", 10.0)}
    for theme in ("light", "dark"):
        for figure in (
            curve_figure(found, TRUTH, theme=theme),
            curve_risk_figure(risks, theme=theme),
            win_share_figure(result, theme=theme),
            live_curve_figure(result, theme=theme),
        ):
            json.dumps(figure.standalone_spec(), allow_nan=False)
            assert figure.alt
            assert FILE_FORMATS
    shares = win_share_figure(result).rows
    levels, dots = (shares[shares["part"] == part] for part in ("level", "dot"))
    assert set(levels["value"]) == {0.5} and levels["label"].tolist() == dots["label"].tolist()
    assert shares["value"].round(3).tolist()[2:4] == [0.644, 0.613]
    assert mentions(curve_risk_figure(risks).alt, "Other")


def test_a_method_without_a_curve_has_no_picture() -> None:
    with refused("no_curve"):
        curve_figure(MethodResult("swap", None, None, 0.0, 0.0, "too few"), TRUTH)


def test_rows_keep_their_order_and_numbers() -> None:
    rows = pd.DataFrame(
        [
            {"method": "naive", "label": name, "value": v, "low": v, "high": v, "text": f"{v}"}
            for name, v in (("second", 2.0), ("first", 1.0))
        ]
    )
    figure = interval_dots(rows, name="n", title="t", alt_text="a", x_title="x")
    assert figure.rows["name"].tolist() == ["second: 2.0", "first: 1.0"]


def test_the_axis_has_no_powers_of_ten_for_tens() -> None:
    row = {"method": "naive", "label": "x", "value": 53.0, "low": 5.0, "high": 60.0, "text": "53"}
    figure = interval_dots(pd.DataFrame([row]), name="n", title="t", alt_text="a", x_title="x")
    drawn = vl_convert.vegalite_to_svg(figure.standalone_spec())
    assert "1e+1" not in drawn
    assert ">40<" in drawn


@pytest.mark.parametrize("kind", ["trained", "interval"])
def test_no_level_runs_through_the_names_of_rows(kind: str) -> None:
    row = {"method": "production", "label": "Full information", "low": 9.0, "high": 11.0}
    if kind == "trained":
        rows = pd.DataFrame([row | {"risk": 10.0}])
        figure = trained_rankers(rows, labels=["Full information"], alt_text="a", title="t")
    else:
        rows = pd.DataFrame([row | {"value": 10.0, "text": "10"}])
        figure = interval_dots(rows, name="n", title="t", alt_text="a", x_title="x", level=9.5)
    marks = [layer["mark"] for layer in figure.spec["layer"]]
    halo = next(place for place, mark in enumerate(marks) if mark["type"] == "text")
    if kind == "interval":  # a dash beside each mark, which ends below the name
        tick = next(mark for mark in marks if mark["type"] == "tick")
        assert tick["size"] / 2 < -marks[halo]["dy"] - 6  # half a line of words
        return
    assert marks[halo]["strokeWidth"] >= 12  # the gap between words is 4 pixels wide
    below = [mark for mark in marks[:halo] if "strokeDash" in mark]
    assert below and not any("strokeDash" in mark for mark in marks[halo:])
    assert {mark["type"] for mark in marks[halo + 1 :]} == {"rule", "point", "text"}


@pytest.mark.parametrize("reference", [1, 2])
def test_the_axis_says_what_its_ratios_are_relative_to(reference: int) -> None:
    points = (RankEstimate(1, 1.4, 1.2, 1.6, 0.1, 900, 90), RankEstimate(2, 1.0, 1.0, 1.0, 0, 9, 9))
    estimate = PropensityEstimate("swap", reference, points)
    figure = propensity_curves(estimate, curve=assemble_curve(estimate), alt_text="a", title="t")
    assert f"rank {reference} (log)" in json.dumps(figure.spec)
