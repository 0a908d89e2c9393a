"""Pictures of studies: valid for any part of a result, on stable axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import vl_convert

from tests.meaning import mentions
from ultr_core.export.figure_files import to_svg
from ultr_core.figures.studies import cut_words, loss_range, study_figure
from ultr_core.figures.style import INKS, STUDY_STYLES, Theme
from ultr_core.settings import Settings
from ultr_core.studies import LOSSES, STUDIES, Plan, StudyResult, cell_of
from ultr_core.studies import CellResult as Result
from ultr_core.studies.source import WorldDescription

THEMES: tuple[Theme, Theme] = ("dark", "light")


def result_of(
    name: str,
    *,
    share: float = 1.0,
    far: float = 30.0,
    spread_by: float = 0.1,
    draws: int = 2,
    sign: float = 1.0,
) -> StudyResult:
    plan = Plan(STUDIES[name], "quick", Settings(draws=draws))
    levels = {"production": 13.0, "skyline": 10.0, "naive": 11.8, "propensity": 10.6}
    done = {}
    for point, draw in itertools.product(plan.points, range(draws)):
        for method in plan.study.methods:
            cell = cell_of(method, point.settings, draw)
            value = levels.get(method, 10.5) + spread_by * draw * (method == "propensity")
            if method == "skip-above" or (method == "propensity" and point.x == 2.0):
                value = far
            losses = dict.fromkeys(LOSSES, sign * value)
            done[cell.key] = Result(cell.key, losses, 0.5, 1, 0, 0, 9, 9, 0.33, 0, 0)
    kept = dict(list(done.items())[: round(share * len(done))])
    return StudyResult(plan, LOSSES["sum-of-ranks"], kept, WorldDescription("0", {}, 0, ()))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("name", list(STUDIES))
def test_any_part_of_a_study_can_be_drawn(name: str, share: float) -> None:
    result = result_of(name, share=share)
    figure = study_figure(result)
    assert figure.alt
    assert figure.name == f"study-{name}"
    if share == 1.0:
        assert to_svg(figure).startswith(b"<svg")


@pytest.mark.parametrize("name", ["bias", "map-noise"])
def test_text_is_readable_on_a_dark_page(name: str) -> None:
    result = result_of(name)
    dark, light = (str(study_figure(result, theme=t).spec) for t in THEMES)
    assert INKS["dark"].text in dark
    assert INKS["dark"].text not in light


def test_values_far_away_stand_at_the_edge_with_their_number() -> None:
    rows = study_figure(result_of("misspecification")).rows
    beyond = rows[rows["part"] == "beyond"]
    assert list(beyond["text"]) == ["30"]
    curve = rows[rows["part"] == "curve"]
    assert curve["value"].max() == 30
    assert curve["high_y"].max() < 20
    names = study_figure(result_of("learning-curve")).rows.query("part == 'name'")
    assert "↑ Skip-above: 30" in set(names["text"])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_bar_that_goes_on_beyond_the_axis_has_an_arrowhead_and_words(sign: float) -> None:
    result = result_of("learning-curve", spread_by=6.0, sign=sign)
    figure = study_figure(result)
    cut = figure.rows[figure.rows["part"] == "cut"]
    end = "high" if sign > 0 else "low"
    assert list(cut["method"]) == ["propensity"] * 5
    assert list(cut["x"]) == [500, 2_000, 9_000, 45_000, 170_000]
    assert set(cut["upwards"]) == {sign > 0}
    assert (sign * cut["y"] < sign * cut[end]).all()
    words = cut_words(figure, result)
    value = f"{cut[end].iloc[0]:.4g}".replace("-", "−")
    assert mentions(words, "n = 500", value)
    assert mentions(words.rpartition(";")[2], 2)


def test_a_picture_without_a_cut_bar_says_nothing_of_it() -> None:
    for name in STUDIES:
        result = result_of(name, share=0.0)
        assert cut_words(study_figure(result), result) == ""
    for name in ("learning-curve", "map-noise"):
        result = result_of(name)
        assert cut_words(study_figure(result), result) == ""


@pytest.mark.parametrize("name", ["learning-curve", "few-clicks", "misspecification"])
def test_no_group_of_marks_is_empty_at_the_axis(name: str) -> None:
    """An empty one has no name for screen readers."""
    for far in (30.0, 11.0):
        figure = study_figure(result_of(name, far=far))
        layers = " ".join(str(layer["transform"]) for layer in figure.spec["layer"])
        for part in ("beyond", "cut"):
            assert (f"'{part}'" in layers) == (part in set(figure.rows["part"]))


def test_a_mark_beyond_the_axis_points_away_from_it() -> None:
    for sign in (1.0, -1.0):
        rows = study_figure(result_of("misspecification", sign=sign)).rows
        assert set(rows[rows["part"] == "beyond"]["upwards"]) == {sign > 0}


def test_marks_of_several_rankers_at_one_place_stand_side_by_side_with_their_true_place() -> None:
    result = result_of("learning-curve")
    figure = study_figure(result)
    places = figure.rows[figure.rows["part"].isin(["point", "curve"])]
    assert set(places["x"]) == set(STUDIES["learning-curve"].x_values["quick"])
    drawn = vl_convert.vegalite_to_scenegraph(figure.standalone_spec())["scenegraph"]
    bars = [
        bar
        for part in drawn["items"][0]["items"]
        if (part["marktype"], part["role"]) == ("rule", "mark")
        for bar in part["items"]
        if "y2" in bar and bar["strokeWidth"] == 2  # leaders to names are thinner
    ]
    naive, weighted, clipped = (
        sorted(bar["x"] for bar in bars if bar["stroke"] == STUDY_STYLES[method].color)
        for method in ("naive", "propensity", "clipped")
    )
    assert len(naive) == len(weighted) == len(clipped) == 5
    assert np.subtract(weighted, naive) == pytest.approx(3)
    assert np.subtract(clipped, weighted) == pytest.approx(3)


def test_intervals_and_noise_shares_are_in_the_picture() -> None:
    rows = study_figure(result_of("noise")).rows
    curve = rows[(rows["part"] == "curve") & (rows["method"] == "propensity")]
    assert (curve["low"] < curve["value"]).all()
    assert (curve["value"] < curve["high"]).all()
    assert set(rows.query("part == 'share'")["text"]) == {"33%"}
    assert set(rows.query("part == 'name'")["text"]) == {
        "Naive 170K", "Naive 850K", "Weighted 170K", "Weighted 850K", "Production", "Skyline",
    }  # fmt: skip


def test_maps_put_what_is_not_certain_in_brackets() -> None:
    certain = study_figure(result_of("map-noise", far=11.8)).rows
    assert set(certain[certain["x"] == 2.0]["text"]) == {"0"}
    assert set(certain[certain["x"] != 2.0]["text"]) == {"38"}
    open_ = study_figure(result_of("map-noise", far=11.8, spread_by=1.0)).rows
    assert set(open_[open_["x"] != 2.0]["text"]) == {"(23)"}
    one_log = study_figure(result_of("map-noise", far=11.8, draws=1)).rows
    assert set(one_log[one_log["x"] == 2.0]["text"]) == {"(0)"}
    assert set(one_log[one_log["x"] != 2.0]["text"]) == {"(40)"}


def test_the_axis_ends_where_the_far_values_begin() -> None:
    low, high = loss_range(10.0, 13.0, [10.5, 11.0, 12.0, 400.0])
    assert low < 10 < 13 < high < 20
    low, high = loss_range(0.9, 0.8, [0.85, 0.1])  # a gain: the worse end is the lower one
    assert 0.5 < low < 0.8 < 0.9 < high
    assert loss_range(None, None, [1.0, 2.0]) == (1.0, 2.0)
