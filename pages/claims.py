"""The paper's claims with what was found for each, and how its unclear places are read."""

from __future__ import annotations

from pages.shared import claims_view, page_link, shell
from ultr_core.export.claims_values import PART

page = shell.enter()
if page_link.choose(PART, label_visibility="collapsed") == "readings":
    claims_view.show_readings()
else:
    claims_view.show_ledger(page.launch.corpus)
