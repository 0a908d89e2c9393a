"""Buttons that take an estimated or uploaded curve from one page into the lab's world."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.app.remedies import told
from pages.app.study_link import lab_button
from ultr_core.curve_values import MOST_RANKS, SIGNIFICANT_DIGITS, in_few_digits
from ultr_core.errors import InputError
from ultr_core.settings import Settings


def curve_buttons(values: Sequence[float], settings: Settings, *, key: str) -> None:
    """Open the lab with these values as the learner's belief, or as the truth and the belief."""
    curve = in_few_digits(values[:MOST_RANKS])
    try:
        belief = settings.with_values(assumed_curve=curve)
        both = settings.with_values(assumed_curve=curve, curve=curve)
    except InputError as error:
        st.markdown(f":material/info: {told(error)}")
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"use-curve-{key}"):
        lab_button("Use this curve in the lab", belief, key=f"use-{key}-belief", kind="primary")
        lab_button("Use it for users and learner", both, key=f"use-{key}-both")
    cut = f", ranks 1 to {MOST_RANKS}" if len(values) > MOST_RANKS else ""
    st.markdown(
        "The first button makes it what the learner divides by, the second also how users examine "
        f"({SIGNIFICANT_DIGITS} digits{cut}, so that the link stays short)."
    )
