"""A button that opens a world on the main page."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from pages.shared import link
from pages.shared.registry import LAB
from ultr_core.settings import Settings


def lab_button(
    label: str,
    settings: Settings,
    *,
    key: str,
    kind: Literal["primary", "secondary"] = "secondary",
) -> None:
    """Set all controls to ``settings`` and go to the main page when it is clicked."""
    if st.button(
        label, key=key, icon=":material/science:", type=kind, on_click=link.write, args=(settings,)
    ):
        # Without a mapping of its own Streamlit would try to clear the controls' parameters.
        st.switch_page(LAB.file, query_params={})
