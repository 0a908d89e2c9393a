from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pytest

from ultr_core.export.figure_files import to_png
from ultr_core.figures import (
    INKS,
    METHOD_STYLES,
    Figure,
    examination_curves,
    examination_figure,
    rank_test_figure,
    risk_scatter,
    trained_rankers,
)
from ultr_core.figures.estimates import EDGE, MARGIN
from ultr_core.figures.style import NEUTRAL_STYLES, REPAIR_STYLES, STUDY_STYLES
from ultr_core.lab import METHODS
from ultr_core.risk.by_rank import RankTest
from ultr_core.settings import Settings
from ultr_core.studies import FIXED_METHODS, STUDIES
from ultr_core.studies.cells import learner_label


def family_rows(count: int = 6) -> pd.DataFrame:
    risk = np.linspace(8.0, 20.0, count)
    return pd.DataFrame(
        {
            "true_risk": risk,
            "estimate": 0.9 * risk + 30,
            "low": 0.9 * risk + 29,
            "high": 0.9 * risk + 31,
            "expected": 0.9 * risk + 30,
            "label": [f"ranker {i}" for i in range(count)],
            "kind": ["skyline", "production", *["random"] * (count - 2)],
        }
    )


def risk_rows() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": ["production", "naive", "propensity"],
            "label": ["Production", "Naive", "Weighted"],
            "risk": [9.4, 8.5, 7.65],
            "low": [9.4, 8.4, 7.6],
            "high": [9.4, 8.6, 7.7],
        }
    )


def curve_rows() -> pd.DataFrame:
    rank = np.arange(1, 25)
    return pd.DataFrame({"rank": rank, "users": 1 / rank, "learner": rank**-0.5})


DRAWN: dict[str, Callable[[], Figure]] = {
    "naive": lambda: risk_scatter(family_rows(), method="naive", alt_text="finding", title="Naive"),
    "weighted": lambda: risk_scatter(
        family_rows(), method="propensity", alt_text="finding", title="Weighted", law=(0.9, 30)
    ),
    "trained": lambda: trained_rankers(
        risk_rows(),
        labels=["Production", "Naive", "Weighted", "Clipped"],
        alt_text="finding",
        title="Trained",
    ),
    "pinned": lambda: trained_rankers(
        risk_rows(),
        pinned={"1": {name: list(column) for name, column in risk_rows().items()}},
        labels=["Production", "Naive", "Weighted"],
        alt_text="finding",
        title="Trained",
    ),
    "probability": lambda: examination_figure(Settings(), "probability"),
    "weight": lambda: examination_figure(Settings(eta=0.0, assumed_eta=2.0), "weight"),
    "rank test": lambda: rank_test_figure(
        {"one": RankTest((9, 9, 9, 9, 9), (9.0, 9.0, 99.0, 9.0, 0.0), 20)}
    ),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_specification_is_valid_vega_lite_and_self_contained(draw: Callable[[], Figure]) -> None:
    figure = draw()
    spec = figure.standalone_spec()
    alt.Chart.from_dict(spec, validate=True)
    text = json.dumps(spec, allow_nan=False)  # raises for NaN and inf
    assert "http" not in text.replace(spec["$schema"], "")
    assert spec["description"] == figure.alt


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_type_is_large_enough_for_a_projector(draw: Callable[[], Figure]) -> None:
    figure = draw()
    config = figure.spec["config"]
    assert config["axis"]["labelFontSize"] >= 16
    assert config["axis"]["titleFontSize"] >= 16
    assert config["text"]["fontSize"] >= 16


def test_new_data_keep_the_specification() -> None:
    moved = family_rows().assign(estimate=lambda rows: rows["estimate"] + 0.01)
    first = risk_scatter(family_rows(), method="naive", alt_text="", title="")
    second = risk_scatter(moved, method="naive", alt_text="", title="")
    assert first.spec == second.spec


def test_drawing_leaves_the_shared_template_alone() -> None:
    first = risk_scatter(family_rows(), method="naive", alt_text="", title="")
    before = copy.deepcopy(dict(first.spec))
    risk_scatter(family_rows(9), method="naive", alt_text="", title="", law=(5.0, 100.0))
    first.standalone_spec()
    assert dict(first.spec) == before


def test_without_intervals_there_are_no_bars_and_the_axis_says_so() -> None:
    nothing = family_rows().assign(low=np.nan, high=np.nan)
    with_bars, without = (
        risk_scatter(rows, method="naive", alt_text="", title="", law=(1.0, 30.0))
        for rows in (family_rows(), nothing)
    )
    assert with_bars.spec != without.spec
    rows = without.rows[without.rows["part"] == "ranker"]
    assert len(rows) == 6
    assert rows[["low", "high"]].isna().all(axis=None)
    assert rows["estimate"].notna().all()
    json.dumps(without.standalone_spec(), allow_nan=False)


def test_a_tooltip_shows_no_end_of_an_interval_that_is_missing() -> None:
    """A missing number that Vega formats reads as 0."""
    for draw in DRAWN.values():
        for layer in draw().spec["layer"]:
            made = {one.get("as"): one["calculate"] for one in layer.get("transform", ())
                    if "calculate" in one}  # fmt: skip
            for shown in layer["encoding"].get("tooltip", ()):
                assert shown["field"] not in ("low", "high")
                if shown["title"].startswith("95%"):
                    assert made[shown["field"]].startswith("isValid(datum.")


def test_a_ranker_without_an_interval_has_no_bar() -> None:
    rows = risk_rows()
    rows.loc[0, ["low", "high"]] = np.nan
    figure = trained_rankers(rows, labels=list(rows["label"]), alt_text="", title="")
    assert "±" not in figure.rows["name"][0]
    assert len(to_png(figure)) > 1_000


def test_law_line_has_the_given_slope_and_intercept() -> None:
    figure = risk_scatter(
        family_rows(), method="propensity", alt_text="", title="", law=(0.9, 30.0)
    )
    line = figure.rows[figure.rows["part"] == "law"]
    np.testing.assert_allclose(line["law"], 0.9 * line["true_risk"] + 30.0)


def test_weights_are_reciprocal_probabilities() -> None:
    figure = examination_curves(
        curve_rows(), quantity="weight", alt_text="", title="", high_eta=2.0, eta_step=0.05
    )
    np.testing.assert_allclose(figure.rows["users"], np.arange(1, 25))


def test_csv_rows_carry_the_numbers_only() -> None:
    figure = trained_rankers(risk_rows(), labels=["Production"], alt_text="", title="")
    assert len(figure.table) == 3
    assert list(figure.table["risk"]) == [9.4, 8.5, 7.65]


def test_interval_without_width_is_not_printed() -> None:
    figure = trained_rankers(risk_rows(), labels=["Production"], alt_text="", title="")
    assert list(figure.rows["name"]) == [
        "Production  9.40",
        "Naive  8.50 ± 0.10",
        "Weighted  7.65 ± 0.05",
    ]


def test_every_method_has_its_own_colour_and_shape() -> None:
    shown = {key for key, method in METHODS.items() if not method.asked}
    assert set(METHOD_STYLES) == shown
    assert len({style.color for style in METHOD_STYLES.values()}) == len(shown)
    assert len({style.shape for style in METHOD_STYLES.values()}) == len(shown)
    assert set(REPAIR_STYLES) == {key for key, method in METHODS.items() if method.asked}
    every = [*METHOD_STYLES.values(), *REPAIR_STYLES.values()]
    assert len({style.color for style in every}) == len(every)


SOLID = {"circle", "square", "diamond", "triangle-up", "triangle-down", "triangle-left"}
SOLID |= {"triangle-right", "cross"}


def test_marks_of_a_study_differ_without_colour_and_none_is_thin() -> None:
    assert {style.shape for style in STUDY_STYLES.values()} <= SOLID
    for study in STUDIES.values():
        marks = [
            (learner_label(key) if study.by_learner else "", STUDY_STYLES[key].shape)
            for key in study.methods
            if key not in FIXED_METHODS
        ]
        assert len(set(marks)) == len(marks), study.name


def test_the_script_that_draws_while_a_slider_moves_draws_as_the_charts_do() -> None:
    script = (Path(__file__).parents[3] / "pages/views/lab/live.js").read_text(encoding="utf-8")
    colors = dict(re.findall(r"(\w+): \"(#[0-9A-F]{6})\"", script))
    of_charts = {"naive": METHOD_STYLES["naive"], "weighted": METHOD_STYLES["propensity"]}
    assert colors == {name: style.color for name, style in of_charts.items()}
    assert f"EDGE = {EDGE}, MARGIN = {MARGIN};" in script


def test_neutral_styles_are_each_other_than_all_the_others() -> None:
    both = [*METHOD_STYLES.values(), *NEUTRAL_STYLES.values()]
    assert len({(style.color, style.shape) for style in both}) == len(both)
    assert not {s.color for s in METHOD_STYLES.values()} & {
        s.color for s in NEUTRAL_STYLES.values()
    }


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_on_both_backgrounds(theme: str) -> None:
    ink = INKS[theme]  # type: ignore[index]
    for style in [*METHOD_STYLES.values(), *REPAIR_STYLES.values(), *NEUTRAL_STYLES.values()]:
        assert contrast(style.color, ink.background) >= 3.0
    assert contrast(ink.text, ink.background) >= 7.0
    assert contrast(ink.quiet, ink.background) >= 4.5


def test_marks_of_pinned_runs_are_on_the_axis() -> None:
    far = {**{name: list(column) for name, column in risk_rows().items()}}
    for name in ("risk", "low", "high"):
        far[name] = [value + 40.0 for value in far[name]]
    figure = trained_rankers(
        risk_rows(), pinned={"1": far}, labels=["Production"], alt_text="", title=""
    )
    scales = [layer["encoding"].get("x", {}).get("scale", {}) for layer in figure.spec["layer"]]
    domains = [scale["domain"] for scale in scales if "domain" in scale]
    assert domains
    for low, high in domains:
        assert low <= min(risk_rows()["low"]) and max(far["high"]) <= high
