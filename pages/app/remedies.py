"""What pages call what a message of the core is about: their controls, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pages.app.formulas import set_formulas
from pages.app.plain_words import plain
from ultr_core.errors import with_remedy
from ultr_core.settings import PARAMETERS

CONTROLS: Mapping[str, str] = MappingProxyType(
    {
        "relevant_grade": f"“{PARAMETERS['relevant_grade'].label}” in the sidebar",
        "propensities": "“Where they come from” in step 3",
        "carry_on": "in step 3",
        "harvest": "“Method”",
    }
)
"""By key of what a message is about: the control that repairs it.

A message about a setting names it by the label of its control; it needs no more.
"""


def told(message: object) -> str:
    """An error or a sentence of the core in a page's Markdown, with the page's remedy."""
    return set_formulas(plain(with_remedy(message, CONTROLS)))
