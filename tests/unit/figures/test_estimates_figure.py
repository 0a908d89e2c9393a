"""Estimates against the truth relative to production: a fixed window, and nothing lost outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ultr_core.figures import estimates_figure
from ultr_core.figures.estimates import ARROW, EDGE, MARGIN, METHODS
from ultr_core.lab import Lab, RiskPicture, named_rankers
from ultr_core.settings import Settings

WORLDS: tuple[dict[str, Any], ...] = (
    {},
    {"eta": 0.0},
    {"assumed_eta": 1.5},
    {"clicks": 1_000},
    {"eps_minus": 0.3},
    {"eta": 2.0, "assumed_eta": 2.0},
)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


@pytest.fixture(params=WORLDS, ids=str)
def picture(request: pytest.FixtureRequest, lab: Lab) -> RiskPicture:
    return lab.at(Settings(**request.param)).picture()


def test_every_ranker_is_a_mark_or_an_arrow_and_arrows_are_counted(picture: RiskPicture) -> None:
    rows = estimates_figure(picture).rows
    for method in METHODS:
        own = rows[rows["method"] == method]
        marks, arrows = (own[own["part"] == part] for part in ("ranker", "edge"))
        assert len(marks) + len(arrows) == len(picture.kinds) - 1  # production is the origin
        assert (marks[["x", "y"]].abs() <= EDGE).all(axis=None)
        beyond = arrows[["true_risk", "estimate"]].abs().max(axis=1)
        assert (beyond > EDGE).all()
        assert np.allclose(arrows[["x", "y"]].abs().max(axis=1), EDGE - MARGIN)
        counts = own[own["part"] == "count"]["text"].astype(int)
        assert counts.sum() == len(arrows)


def test_a_number_at_an_edge_covers_no_arrow_and_no_other_number(picture: RiskPicture) -> None:
    rows = estimates_figure(picture).rows
    counts = rows[rows["part"] == "count"]
    drawn = rows[rows["part"].isin(["edge", "count"])]
    assert len(counts) > 1
    for place, count in counts.iterrows():
        others = drawn.drop(index=place)
        near = (others["x"] - count["x"]).abs() < 0.3
        assert not (near & ((others["y"] - count["y"]).abs() < 0.3)).any()
        line = np.linspace(-EDGE, EDGE, 500)
        near = (np.abs(line - count["x"]) < 0.3) & (
            np.abs(picture.slope * line - count["y"]) < 0.25
        )
        assert not near.any()


def test_differences_are_those_of_the_picture(picture: RiskPicture) -> None:
    rows, here = estimates_figure(picture).rows, picture.production
    for method, said in zip(METHODS, (picture.naive, picture.weighted), strict=True):
        own = rows[(rows["method"] == method) & rows["part"].isin(["ranker", "edge"])]
        others = np.arange(len(picture.kinds)) != here
        assert np.array_equal(own["estimate"], (said.value - said.value[here])[others])
        assert np.array_equal(own["low"], said.difference_low[others])
        inside = own[own["part"] == "ranker"]
        assert np.array_equal(inside["y"], inside["estimate"])
        assert (own["low"] <= own["estimate"]).all()
        assert (own["estimate"] <= own["high"]).all()


def test_three_rankers_are_named_on_both_sides_of_production(picture: RiskPicture) -> None:
    skyline, halfway, worse = named_rankers(picture)
    true = picture.true_risk - picture.true_risk[picture.production]
    assert picture.kinds[skyline] == "skyline"
    assert true[skyline] < true[halfway] < 0 < true[worse] < EDGE
    rows = estimates_figure(picture).rows
    names = rows[rows["part"] == "name"]
    for side, part in ((names["x"] < 0, "left"), (names["x"] > 0, "right")):
        words = rows[rows["part"] == part]["y"]
        # Names are written half a unit below their place.
        assert all(abs(y - 0.5 - words.iloc[0]) > 0.6 for y in names[side]["y"])
    parts = list(rows["part"])
    assert 1 <= parts.count("name") <= 3
    assert parts.count("interval") >= parts.count("name")


def test_the_line_has_the_slope_of_the_noise_and_is_dashed_where_p_is_wrong(lab: Lab) -> None:
    picture = lab.at(Settings(eps_minus=0.3)).picture()
    drawn = {right: estimates_figure(picture, belief_is_right=right) for right in (True, False)}
    for right, figure in drawn.items():
        law = figure.rows[figure.rows["part"] == "law"]
        assert np.isclose(np.diff(law["y"]) / np.diff(law["x"]), 0.7).all()
        lines = [layer["mark"] for layer in figure.spec["layer"] if layer["mark"]["type"] == "line"]
        assert [mark["strokeDash"] == [1, 0] for mark in lines] == [right]


def test_words_at_the_edge_are_beside_its_arrows(picture: RiskPicture) -> None:
    rows = estimates_figure(picture, belief_is_right=False).rows
    half = MARGIN + np.sqrt(ARROW) / 2 * EDGE / 230  # half an arrow where the plot is 460 pixels
    for part, side in (("left", -1), ("right", 1)):
        assert (side * rows[rows["part"] == part]["x"] < EDGE - half).all()
    assert "arrow" in str(estimates_figure(picture).spec) and "wedge" not in str(
        estimates_figure(picture).spec
    )


def test_axes_stay_where_they_are_unless_they_are_absolute(lab: Lab) -> None:
    def domains(figure: Any) -> set[tuple[float, ...]]:
        encodings = [layer["encoding"] for layer in figure.spec["layer"]]
        scales = [one["scale"] for of in encodings for key, one in of.items() if key in "xy"
                  and "scale" in one]  # fmt: skip
        return {tuple(scale["domain"]) for scale in scales}

    pictures = [lab.at(Settings(**changes)).picture() for changes in WORLDS[:3]]
    assert {*map(tuple, map(domains, map(estimates_figure, pictures)))} == {((-EDGE, EDGE),)}
    absolute = estimates_figure(pictures[0], "absolute")
    marks = absolute.rows[absolute.rows["part"] == "ranker"]
    assert len(marks) == 2 * len(pictures[0].kinds)
    assert (-EDGE, EDGE) not in domains(absolute)


def test_the_difference_has_an_interval_of_its_own(lab: Lab) -> None:
    """From the same clicks, so that it is narrower than both of the estimates."""
    said = lab.picture().weighted
    skyline = lab.picture().kinds.index("skyline")
    width = said.difference_high[skyline] - said.difference_low[skyline]
    assert 0 < width < said.high[skyline] - said.low[skyline]
    here = lab.picture().production
    assert said.difference_low[here] == said.difference_high[here] == 0
