"""The paper's claims with what was found for each, and how its unclear places are read."""

from __future__ import annotations

from pages.app.context import PageContext
from pages.app.field_control import choose
from pages.views.claims import ledger as claims_view
from ultr_core.jobs.claims import PART


def show(page: PageContext) -> None:
    """Draw the page."""
    if choose(PART, label_visibility="collapsed") == "readings":
        claims_view.show_readings()
    else:
        claims_view.show_ledger(page.launch.corpus)
