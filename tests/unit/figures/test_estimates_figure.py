"""Estimates against the truth relative to production: a fixed window, and nothing lost outside."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ultr_core.figures import estimates_figure
from ultr_core.figures.estimates import COUNTED, EDGE, MARGIN, METHODS, PHONE, PIXELS, WIDE
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
CROWDED: tuple[dict[str, Any], ...] = (
    {"eta": 0.5, "assumed_eta": 0.7, "clicks": 500, "eps_minus": 0.3},
    {"eta": 1.5, "assumed_eta": 1.0, "eps_minus": 0.5},
    {"eta": 2.0, "assumed_eta": 0.0, "eps_plus": 0.6},
    {"eta": 1.0, "assumed_eta": 1.1, "clicks": 10_000, "eps_minus": 0.0},
    {"eta": 0.0, "assumed_eta": 0.0, "eps_minus": 0.2, "clicks": 250},
    {"eta": 0.3, "assumed_eta": 0.2, "eps_minus": 0.1, "clicks": 20_000},
    {"eta": 1.2, "assumed_eta": 0.8, "eps_minus": 0.2, "clicks": 1_000_000},
    {"eta": 0.8, "assumed_eta": 1.0, "eps_plus": 0.7, "eps_minus": 0.4, "clicks": 5_000},
)
FULL: tuple[dict[str, Any], ...] = (
    {"eta": 0.0, "assumed_eta": 2.0, "eps_minus": 0.0, "clicks": 100},
    {"users": "trust-steep", "seed": 3, "clicks": 100},
    {"relevant_grade": 4, "eta": 2.0, "assumed_eta": 2.0, "clicks": 100},
)
NARROW = {
    "narrow": (PIXELS["narrow"], (221, 205), (PHONE - 1, 200)),
    "phone": (PIXELS["phone"], (290, 200), (WIDE - 1, PIXELS["wide"][1])),
}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


@pytest.fixture(params=WORLDS, ids=str)
def picture(request: pytest.FixtureRequest, lab: Lab) -> RiskPicture:
    return lab.at(Settings(**request.param)).picture()


def test_every_ranker_is_a_mark_or_an_arrow_and_arrows_are_counted(picture: RiskPicture) -> None:
    rows = estimates_figure(picture).rows
    for method, plot in product(METHODS, PIXELS):
        own = rows[rows["method"] == method]
        marks, arrows = (own[own["part"] == part] for part in ("ranker", "edge"))
        assert len(marks) + len(arrows) == len(picture.kinds) - 1  # production is the origin
        assert (marks[["x", "y"]].abs() <= EDGE).all(axis=None)
        beyond = arrows[["true_risk", "estimate"]].abs().max(axis=1)
        assert (beyond > EDGE).all()
        assert np.allclose(arrows[["x", "y"]].abs().max(axis=1), EDGE - MARGIN)
        told = "|".join(rows[(rows["part"] == "count") & (rows["plot"] == plot)]["text"]).split("|")
        counts = [int(text.split()[1]) for text in told if text.startswith(COUNTED[plot][method])]
        assert sum(counts) == len(arrows)


def boxes(
    rows: pd.DataFrame, size: Any, pixels: tuple[int, int] = PIXELS["wide"]
) -> list[tuple[str, float, float, float, float]]:
    """What each row is, and its left, right, lower and upper end on a plot, in pixels."""
    unit = np.array(pixels) / (2 * EDGE)
    found = []
    for _, row in rows.iterrows():
        x, y = row[["x", "y"]].to_numpy(float) * unit
        if row["part"] == "name":
            x, y = x + row["across"], y + row["up"]
        across, up = size(row)
        what = row["text"] if row["part"] in WORDS else f"{row['method']} {row['label']}"
        found.append((what, x - across / 2, x + across / 2, y - up / 2, y + up / 2))
    return found


def of_words(row: pd.Series) -> tuple[float, float]:
    """Letters are 6.9 pixels wide on average, bold ones 7.8, in the browser; 11 are high."""
    lines = row["text"].split("|")
    letter = 7.8 if row["part"] == "name" or lines[0][0] in "▲●" else 6.9
    return letter * max(map(len, lines)), 17 * len(lines) - 6


def on_each_other(
    ones: list[tuple[str, float, float, float, float]],
    others: list[tuple[str, float, float, float, float]],
) -> list[tuple[str, str]]:
    return [
        (a[0], b[0])
        for a in ones
        for b in others
        if a is not b and a[1] < b[2] and b[1] < a[2] and a[3] < b[4] and b[3] < a[4]
    ]


def beyond(ones: list[tuple[str, float, float, float, float]], plot: tuple[int, int]) -> list[str]:
    """What is not within a plot of this size."""
    return [what for what, *ends in ones if (np.abs(ends) > np.repeat(plot, 2) / 2).any()]


WORDS = ("count", "name", "words")


@pytest.mark.parametrize("changes", [*WORLDS, *CROWDED], ids=str)
def test_words_cover_no_mark_no_arrow_no_line_and_no_words(lab: Lab, changes: Any) -> None:
    picture = lab.at(Settings(**changes)).first_picture()
    line = np.linspace(-EDGE, EDGE, 500)
    law = {"part": "law", "method": "", "label": "line", "x": line, "y": picture.slope * line}
    for right in (True, False):
        rows = estimates_figure(picture, belief_is_right=right).rows
        wide = rows[rows["part"].isin(WORDS) & (rows["plot"] == "wide")]
        words = boxes(wide, of_words)
        assert len(words) >= 5
        assert on_each_other(words, words) == []
        assert on_each_other(words, boxes(rows[rows["part"] == "ranker"], lambda _: (8, 8))) == []
        assert on_each_other(words, boxes(rows[rows["part"] == "edge"], lambda _: (6, 6))) == []
        assert on_each_other(words, boxes(pd.DataFrame(law), lambda _: (1, 1))) == []
        for plot in (PIXELS["wide"], (WIDE, PIXELS["wide"][1])):
            assert beyond(boxes(wide, of_words, plot), plot) == []


@pytest.mark.parametrize("changes", [*WORLDS, *CROWDED, *FULL], ids=str)
def test_words_of_a_phone_cover_no_others_and_the_counts_are_there(lab: Lab, changes: Any) -> None:
    picture = lab.at(Settings(**changes)).first_picture()
    rows = estimates_figure(picture, belief_is_right=False).rows
    counts = rows[rows["part"] == "count"]
    assert sorted(counts["plot"]) == sorted([*PIXELS] * (len(counts) // len(PIXELS)))
    for name, plots in NARROW.items():
        drawn = rows[rows["part"].isin(WORDS) & (rows["plot"] == name)]
        assert len(drawn) > counts["plot"].eq(name).sum() + 1
        for plot in plots:
            words = boxes(drawn, of_words, plot)
            assert on_each_other(words, words) == []
            assert beyond(words, plot) == []
    wide = boxes(rows[rows["part"].isin(WORDS) & (rows["plot"] == "wide")], of_words)
    assert on_each_other(wide, wide) == []


def test_words_about_arrows_are_in_their_quadrant(picture: RiskPicture) -> None:
    rows = estimates_figure(picture).rows
    arrows = rows[rows["part"] == "edge"]
    for _, count in rows[rows["part"] == "count"].iterrows():
        inside = arrows[(np.sign(arrows[["x", "y"]]) == np.sign(count[["x", "y"]])).all(axis=1)]
        for told in count["text"].split("|"):
            name, number = told.split()
            method = next(key for key, word in COUNTED[count["plot"]].items() if word == name)
            assert (inside["method"] == method).sum() == int(number)
    assert "arrow" in str(estimates_figure(picture).spec)


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
    parts = list(rows[~rows["plot"].isin(NARROW)]["part"])
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
