"""A button that opens a world on the main page."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from pages.app import link
from pages.app.registry import LAB
from ultr_core.settings import Settings

WAY = "way-to-world"
"""Key of the container above a chart for the button that a click on a mark makes appear."""

STYLE = f"""
[data-testid="stLayoutWrapper"]:has(> .st-key-{WAY}) {{ background: light-dark(#FFFFFF, #101418);
  padding-block: 0.25rem; position: sticky; top: 3.75rem; z-index: 1 }}
.st-key-{WAY} {{ justify-content: center; min-height: 2.5rem }}
#vg-tooltip-element {{ pointer-events: none }}
"""
"""It stays in sight, below the page's bar, as long as any of its chart does.

Words are as high there as the button, and a mark's tooltip lets a tap through to it.
"""


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
