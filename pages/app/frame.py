"""A figure on the page, with what can be taken away from it."""

from __future__ import annotations

from typing import Any, Protocol, cast

import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.app import lecture
from pages.app.markdown import plain
from pages.app.style import FITTED
from pages.app.take_away import origin
from ultr_core.export import FILE_FORMATS, FileFormat, Origin
from ultr_core.figures import Figure, Theme


class Draw(Protocol):
    """Makes a figure for a light or a dark page."""

    def __call__(self, *, theme: Theme) -> Figure:
        """The figure, with its text readable on the theme's background."""


def show_figure(draw: Draw, *, key: str = "", above: str = "", fits: bool = False) -> None:
    """Show the figure that ``draw`` makes for the reader's theme, and offer it as files.

    ``key`` tells apart two figures of one name on a page; ``above`` are words over the picture;
    ``fits`` lets the picture end where the first window does.
    """
    figure = draw(theme=theme())
    frame = "whole-figure" if fits else "figure"  # a lecture gives others their height
    with st.container(key=f"{frame}-{figure.name}{key}", gap="xsmall"):
        if above:
            st.markdown(above)
        if fits:
            with st.container(key=f"{FITTED}{figure.name}"):
                show_chart(figure, fills=True)
        else:  # in a lecture as high as the window leaves room, so that a room sees it all
            show_chart(figure, fills=lecture.read() is not None)
        offer_files(figure, draw, key=key)


def show_chart(
    figure: Figure, place: DeltaGenerator | None = None, *, fills: bool = False
) -> DeltaGenerator:
    """Show the picture alone; it may be shown again in the same place while results come in.

    fills: it is as high as its container leaves room, instead of as high as it is made.
    """
    return (place or st).vega_lite_chart(
        _sent(figure), page_spec(figure), width="stretch", alt=figure.alt,
        height="stretch" if fills else figure.height,
    )  # fmt: skip


def _sent(figure: Figure) -> Any:
    """The data as they are sent; a missing number is no value there, as from a frame."""
    if isinstance(figure.data, pd.DataFrame):
        return figure.data
    columns = {name: pa.array(values, from_pandas=True) for name, values in figure.data.items()}
    return pa.table(columns)


def page_spec(figure: Figure) -> dict[str, Any]:
    """The figure's specification for this page: with larger type in lecture mode."""
    spec = dict(figure.spec)
    return spec if lecture.read() is None else cast(dict[str, Any], lecture.enlarged(spec))


def offer_files(figure: Figure, draw: Draw, *, key: str = "") -> None:
    """Offer the figure as files, drawn for a white page on a click, without another run."""
    st.fragment(save_figure)(figure.name, figure.title, draw, key)


def save_figure(name: str, title: str, draw: Draw, key: str = "") -> None:
    """What to save as; made when it is opened, for a class pays for everything on a page.

    To be called in a fragment, which is run again on opening.
    """
    opened = st.popover(
        "Save figure", icon=":material/download:", type="tertiary", on_change="rerun",
        key=f"save-figure-{name}{key}",
    )  # fmt: skip
    if not opened.open:
        return
    made_by = origin()
    with opened:
        st.markdown(f"**{plain(title)}**")
        with st.container(horizontal=True):
            for file_format in FILE_FORMATS.values():
                _download(draw, name, file_format, made_by, key)
        st.markdown(
            "Each file records the settings that produced it and, except in PDFs, the link. Free "
            "to use and share (MIT licence)."
        )


def theme() -> Theme:
    """The reader's theme; light until the browser has told."""
    return "dark" if st.context.theme.type == "dark" else "light"


def _download(
    draw: Draw, name: str, file_format: FileFormat, made_by: Origin | None, key: str
) -> None:
    st.download_button(
        file_format.label,
        data=lambda: file_format.write(draw(theme="light"), made_by),
        file_name=name + file_format.suffix,
        mime=file_format.mime,
        on_click="ignore",
        key=f"save-{name}{key}-{file_format.suffix}",
    )
