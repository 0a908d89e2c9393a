"""A study's picture on the page: files to save, and a way from a mark into its world."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from pages.app.curves import learner_believes, users_have
from pages.app.frame import offer_files, page_spec, show_chart, theme
from pages.app.link import lab_button
from pages.app.style import FITTED, WAY
from ultr_core.figures.figure import Figure
from ultr_core.figures.studies import PICKED, cut_words, series_text, study_figure
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.studies import Point, StudyResult


def show_partial(result: StudyResult) -> None:
    """The picture of what is finished so far, without anything to click."""
    show_chart(study_figure(result, theme=theme()))


def show_study(result: StudyResult, *, key: str) -> None:
    """The picture, files to download, and the world behind a mark that is clicked."""
    draw = partial(study_figure, result)
    figure = draw(theme=theme())
    with st.container(key=f"whole-figure-{figure.name}-{key}", gap="xsmall"):
        above = st.container(key=WAY)
        point = _clickable(result, figure, key)
        with above:
            _way_to(point, key, what="cell" if result.plan.study.is_map else "point")
        if cut := cut_words(figure, result):
            st.markdown(cut)
        offer_files(figure, draw)


def _clickable(result: StudyResult, figure: Figure, key: str) -> Point | None:
    with st.container(key=f"{FITTED}{figure.name}"):
        event = st.vega_lite_chart(
            figure.rows,
            page_spec(figure),
            width="stretch",
            height="stretch",
            alt=figure.alt,
            key=f"chart-{figure.name}-{key}",
            on_select="rerun",
            selection_mode=PICKED,
        )
    marks = event["selection"].get(PICKED) or []
    return point_of(result, marks[0]) if marks else None


def point_of(result: StudyResult, mark: Mapping[str, Any]) -> Point | None:
    """The place of the grid that a mark stands for, or None."""
    for point in result.plan.points:
        if point.x != mark.get("x"):
            continue
        names = {None, "", point.series}
        if point.series is not None:
            names.add(series_text(point.series))
        if mark.get("y", mark.get("series")) in names:
            return point
    return None


def _way_to(point: Point | None, key: str, *, what: str) -> None:
    """A button that opens the world of a point on the main page, or how to get one."""
    if point is None:
        st.markdown(
            f":material/touch_app: Click a {what}, then press the button that appears here to "
            "open its world in the Lab."
        )
        return
    lab_button(
        f"Open {_describe(point.settings)} in the Lab",
        point.settings,
        key=f"open-{key}",
        kind="primary",
    )


def _describe(settings: Settings) -> str:
    names = ("eps_minus", "clicks")
    numbers = [f"{PARAMETERS[name].symbol} = {getattr(settings, name):,.10g}" for name in names]
    return ", ".join([users_have(settings), learner_believes(settings), *numbers])
