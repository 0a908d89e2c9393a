"""A figure on the page, with what can be taken away from it."""

from __future__ import annotations

from typing import Protocol

import streamlit as st

from ultr_core.export import FILE_FORMATS, FileFormat
from ultr_core.figures import Figure, Theme


class Draw(Protocol):
    """Makes a figure for a light or a dark page."""

    def __call__(self, *, theme: Theme) -> Figure:
        """The figure, with its text readable on the theme's background."""


def show_figure(draw: Draw) -> None:
    """Show the figure that ``draw`` makes for the reader's theme, and offer it as files."""
    figure = draw(theme=theme())
    with st.container(key=f"figure-{figure.name}", gap="xsmall"):
        show_chart(figure)
        offer_files(figure, draw)


def show_chart(figure: Figure) -> None:
    """Show the picture alone; it may be shown again in the same place while results come in."""
    st.vega_lite_chart(
        figure.rows, dict(figure.spec), width="stretch", height=figure.height, alt=figure.alt
    )


def offer_files(figure: Figure, draw: Draw) -> None:
    """Offer the figure as files, drawn for a white page on a click, without another run."""
    with st.popover("Save figure", icon=":material/download:", type="tertiary"):
        st.markdown(f"**{figure.title}**")
        with st.container(horizontal=True):
            for file_format in FILE_FORMATS.values():
                _download(draw, figure.name, file_format)


def theme() -> Theme:
    """The reader's theme; light until the browser has told."""
    return "dark" if st.context.theme.type == "dark" else "light"


def _download(draw: Draw, name: str, file_format: FileFormat) -> None:
    st.download_button(
        file_format.label,
        data=lambda: file_format.write(draw(theme="light")),
        file_name=name + file_format.suffix,
        mime=file_format.mime,
        on_click="ignore",
        key=f"save-{name}-{file_format.suffix}",
    )
