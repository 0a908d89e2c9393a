"""Names at the ends of curves: at the height of their lines, or as close as others allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import vl_convert
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from pages.app.lecture import enlarged
from tests.made_up_studies import made_up, papers_loss
from ultr_core.figures import Figure
from ultr_core.figures.end_labels import PLACES, placed
from ultr_core.figures.proofs import race_figure
from ultr_core.figures.studies import study_figure
from ultr_core.figures.style import STUDY_STYLES
from ultr_core.proofs import default_world
from ultr_core.proofs.monte_carlo import race
from ultr_core.studies import LOSSES, STUDIES, shipped_result

CURVES = [name for name, study in STUDIES.items() if not (study.is_map or study.by_learner)]
SIZES = ((640, 420, False), (300, 160, True))
"""Width, height, and whether it is in a lecture."""


def apart(heights: NDArray[np.float64], distance: float, height: float) -> NDArray[np.float64]:
    """The least squares solution, by an independent algorithm; heights rise."""
    each = distance * np.arange(len(heights))
    least = isotonic_regression(heights - each).x
    return np.clip(least, 0, height - each[-1]) + each


def drawn(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Marks of a picture with their types, without those of axes and titles."""
    waiting = list(vl_convert.vegalite_to_scenegraph(spec)["scenegraph"]["items"])
    while waiting:
        part = waiting.pop()
        role = part.get("role", "")
        if role.startswith(("axis", "title", "legend")):
            continue
        for item in part.get("items", ()):
            if "marktype" in item or "items" in item:
                waiting.append(item)
            elif role == "mark":
                yield part["marktype"], item


def pictures() -> dict[str, Figure]:
    shipped = {name: study_figure(shipped_result(name, LOSSES["sum-of-ranks"])) for name in CURVES}
    beyond = study_figure(made_up("learning-curve", papers_loss))  # one method is beyond the axis
    found = race(default_world(), seed=0, users=(1, 10, 100), repetitions=50)
    return {**shipped, "beyond": beyond, "race": race_figure(found)}


PICTURES = pictures()


def at_size(figure: Figure, width: int, height: int, lecture: bool) -> dict[str, Any]:
    shown = {**figure.standalone_spec(width=width), "height": height}
    if lecture:
        shown |= {part: enlarged(shown[part]) for part in ("config", "params")}
    return shown


@pytest.mark.parametrize(("width", "height", "lecture"), SIZES)
@pytest.mark.parametrize("name", list(PICTURES))
def test_names_are_at_their_lines_and_nothing_crosses_them(
    name: str, width: int, height: int, lecture: bool
) -> None:
    figure = PICTURES[name]
    names = figure.rows[figure.rows["part"] == "name"].set_index("text")
    marks = list(drawn(at_size(figure, width, height, lecture)))
    texts = {item["text"]: item for kind, item in marks if item.get("text") in names.index}
    assert set(texts) == set(names.index)
    size = 20 if lecture else 16
    ordered = sorted(texts.values(), key=lambda item: item["y"])
    assert {item["fontSize"] for item in ordered} == {size}
    distance = min(1.25 * size, height / (len(ordered) - 1))

    # Where the lines end: the leaders of the picture begin there.
    begins = {
        (item["stroke"], round(item["y2"], 3)): item["y"]
        for kind, item in marks
        if kind == "rule" and item["strokeWidth"] == 1 and "x2" in item and "y2" in item
    }
    ends = []
    for item in ordered:
        row = names.loc[item["text"]]
        color = STUDY_STYLES[row["method"]].color
        beside = [
            other
            for kind, other in marks
            if kind == "symbol" and abs(other["y"] - item["y"]) < 1e-6
            and 0 < item["x"] - other["x"] < 12
        ]  # fmt: skip
        assert [other["stroke"] for other in beside] == [color]
        shape = "stroke" if row["is_line"] else STUDY_STYLES[row["method"]].shape
        assert beside[0]["shape"] == shape
        edge = 0.0 if "↑" in item["text"] else float(height)
        ends.append(begins[(color, round(item["y"], 3))] if row["leads"] else edge)
    assert ends == sorted(ends)
    places = [item["y"] for item in ordered]
    assert places == pytest.approx(apart(np.array(ends), distance, height), abs=0.01)

    left, reach = min(item["x"] for item in ordered), 0.4 * distance
    for kind, item in marks:
        if kind == "rule":
            right = max(item["x"], item.get("x2", item["x"]))
        elif kind in ("line", "symbol"):
            right = item["x"]
        else:
            continue
        close = [place for place in places if abs(place - item["y"]) < reach]
        assert right < left or not close, (kind, item)


@pytest.mark.parametrize("names", [1, 5, 9])
def test_shifts_are_the_smallest(names: int) -> None:
    shares = np.random.default_rng(names).random(names) ** 2
    height = 200.0
    ends = {f"name {i}": 1 - float(share) for i, share in enumerate(shares)}
    spec: dict[str, Any] = {
        "width": 300, "height": height, "data": {"values": [{"text": text} for text in ends]},
        "mark": "text",
        "encoding": {"text": {"field": "text"}, "y": {"value": {"expr": f"{PLACES}[datum.text]"}}},
    }  # fmt: skip
    texts = drawn(placed(spec, ends, 0.0, 1.0))
    places = {item["text"]: item["y"] for _, item in texts}
    order = sorted(ends, key=lambda text: -ends[text])
    heights = np.array([height * (1 - ends[text]) for text in order])
    wanted = apart(heights, min(20.0, height / max(len(order) - 1, 1)), height)
    assert [places[text] for text in order] == pytest.approx(wanted, abs=0.01)
