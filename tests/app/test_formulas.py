"""Formulas in sentences of the core are set as formulas on pages."""

from __future__ import annotations

import pytest

from pages.app.markdown import JOINER, prose, set_formulas, told, whole_equations
from ultr_core.claims import CLAIMS, READINGS
from ultr_core.jobs.links import page_values
from ultr_core.settings import PARAMETERS


@pytest.mark.parametrize(
    ("said", "set_as"),
    [
        ("p_r = (1/r)^η. At 0", r"$p_r$ = $(1/r)^{\eta}$. At 0"),
        ("p = (1/r)^η′.", r"p = $(1/r)^{\eta'}$."),
        ("p_r / p_k, Y_j", "$p_r$ / $p_k$, $Y_j$"),
        ("1/p = 10^0.7, (1/10)^0.7", r"1/p = $10^{0.7}$, $(1/10)^{0.7}$"),
        ("rank^(η′ − η), e^4.3", r"$\mathrm{rank}^{\eta' - \eta}$, $e^{4.3}$"),
        ("9\\^1.5", "9\\^1.5"),
        ("swapped_rank and log_p_x stay", "swapped_rank and log_p_x stay"),
    ],
)
def test_formulas_are_set(said: str, set_as: str) -> None:
    assert set_formulas(said) == set_as
    assert set_formulas(set_as) == set_as


def test_no_line_ends_inside_an_equation_and_code_can_be_copied() -> None:
    told_so = whole_equations("λ = 0, 1/τ: `x = 1/2`, $1/r$.")
    assert told_so == f"λ\u00a0=\u00a00, 1/{JOINER}τ: `x = 1/2`, $1/r$."


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
