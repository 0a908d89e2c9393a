"""Formulas in sentences of the core are set as formulas on pages."""

from __future__ import annotations

import pytest

from pages.app.markdown import prose, set_formulas, told
from ultr_core.claims import CLAIMS, READINGS
from ultr_core.jobs.links import page_values
from ultr_core.settings import PARAMETERS


@pytest.mark.parametrize(
    ("said", "set_as"),
    [
        ("p_r = (1/r)^η. At 0", r"$p_r$ = $(1/r)^{\eta}$. At 0"),
        ("p = (1/r)^η′.", r"p = $(1/r)^{\eta'}$."),
        ("p_r / p_k", "$p_r$ / $p_k$"),
        ("swapped_rank and log_p_x stay", "swapped_rank and log_p_x stay"),
    ],
)
def test_formulas_are_set(said: str, set_as: str) -> None:
    assert set_formulas(said) == set_as
    assert set_formulas(set_as) == set_as


def test_messages_with_escaped_signs_have_formulas() -> None:
    assert told("Fitted power law: p = (1/r)^η with η = 0.7.") == (
        r"Fitted power law: p = $(1/r)^{\eta}$ with η = 0.7."
    )


def test_no_text_of_a_claim_has_a_raw_power() -> None:
    texts = [text for entry in CLAIMS.values() for text in (entry.claim, entry.check)]
    texts += [text for each in READINGS for text in (each.taken, each.other, each.why)]
    assert any("^" in text for text in texts)
    for text in texts:
        assert ")\\^η" not in prose(text)


def test_no_help_text_has_a_raw_power() -> None:
    texts = [parameter.help for parameter in PARAMETERS.values()]
    texts += [value.help for page in page_values().values() for value in page]
    assert any("^" in text for text in texts)
    for text in texts:
        assert ")^η" not in set_formulas(text)
