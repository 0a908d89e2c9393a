"""Formulas in sentences of the core are set as formulas on pages."""

from __future__ import annotations

import re
from colorsys import rgb_to_hsv

import pytest

from pages.app.markdown import JOINER, in_colors, prose, set_formulas, told, whole_equations
from pages.app.style import page_style
from tests.app.conftest import OpenApp
from ultr_core.claims import CLAIMS, READINGS
from ultr_core.figures.style import INKS, METHOD_STYLES
from ultr_core.jobs.links import page_values
from ultr_core.settings import PARAMETERS


def red_green_blue(color: str) -> list[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(color: str) -> float:
    parts = red_green_blue(color)
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("term", "method"), [("naive", "naive"), ("IPS", "propensity"), ("CIPS", "clipped")]
)
def test_a_term_of_a_method_has_the_hue_of_its_marks_and_the_contrast_of_letters(
    term: str, method: str
) -> None:
    named = re.search(r"textcolor{(\w+)}", in_colors(rf"\hat R_{{{term}}}"))
    assert named is not None
    rule = rf'style\*="{named[1]}"\] {{ color: light-dark\((#\w+), (#\w+)\)'
    found = re.search(rule, page_style(charts=False, place=1))
    assert found is not None
    for color, theme in zip(found.groups(), ("light", "dark"), strict=True):
        page = INKS[theme].background  # type: ignore[index]
        low, high = sorted([luminance(color), luminance(page)])
        assert (high + 0.05) / (low + 0.05) >= 4.5
        hue = rgb_to_hsv(*red_green_blue(color))[0]
        hues = {
            key: abs((rgb_to_hsv(*red_green_blue(style.color))[0] - hue + 0.5) % 1 - 0.5)
            for key, style in METHOD_STYLES.items() if key != "production"  # grey has none
        }  # fmt: skip
        assert min(hues, key=lambda key: hues[key]) == method


@pytest.mark.parametrize(
    ("said", "set_as"),
    [
        ("p_r = (1/r)^η. At 0", r"$p_r$ = $(1/r)^{\eta}$. At 0"),
        ("p = (1/r)^η′.", r"p = $(1/r)^{\eta'}$."),
        ("p_r / p_k, Y_j", "$p_r$ / $p_k$, $Y_j$"),
        ("1/p = 10^0.7, (1/10)^0.7", r"1/p = $10^{0.7}$, $(1/10)^{0.7}$"),
        ("rank^(η′ − η), e^4.3", r"$\mathrm{rank}^{\eta' - \eta}$, $e^{4.3}$"),
        ("(2^grade − 1)/(2\\^G − 1)", r"($2^{\mathrm{grade}}$ − 1)/($2^{\mathrm{G}}$ − 1)"),
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


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("compare has the option --trust-bias.", ["--trust-bias"]),
        ("--corpus, (--eps-plus) or --eta", ["--corpus", "--eps-plus", "--eta"]),
        ("'--corpus' is somebody's, as are --a*b, `--a` and --a`; a -- b, a--b", []),
    ],
)
def test_an_option_in_a_message_is_code_unless_it_is_quoted(said: str, options: list[str]) -> None:
    assert re.findall(r"(?<!\\)`([^`]*[^`\\])`", told(said)) == options


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


def test_every_control_with_a_symbol_explains_it(open_app: OpenApp) -> None:
    app = open_app(draws="1", clicks="500")
    controls = {
        control.label: control.help
        for kind in ("slider", "select_slider", "number_input")
        for control in app.get(kind)
    }
    shown = [parameter for parameter in PARAMETERS.values() if parameter.label in controls]
    assert {parameter.symbol for parameter in shown} >= {"η", "η′", "ε₋", "ε₊", "n"}
    assert [parameter.key for parameter in shown if not controls[parameter.label]] == []
