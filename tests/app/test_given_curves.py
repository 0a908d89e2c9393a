"""A curve given rank by rank, from the address bar to every page and back to the power law."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.app.curves import KEY
from pages.views.lab import words as lab_words
from tests.app.pages import opened
from tests.meaning import is_text, mentions
from ultr_core.content import read
from ultr_core.curve_values import CURVES
from ultr_core.lab import Lab
from ultr_core.settings import Settings

LAB_WORDS = read(lab_words.__file__, "lab")
OpenApp = Callable[..., AppTest]
FAST = {"draws": "1", "clicks": "500", "swap_traffic": "2,000", "swap_ranks": "10"}
CURVE = "1,0.62,0.45"


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def test_the_lab_computes_with_the_curves_of_the_link(
    open_app: OpenApp, small_corpus: Path
) -> None:
    app = open_app(**FAST, p=CURVE, assumed_p="1,0.5")
    assert not app.exception
    settings = Settings(draws=1, clicks=500, curve=(1, 0.62, 0.45), assumed_curve=(1, 0.5))
    expected = Lab(settings, str(small_corpus)).comparison()
    text = words(app)
    assert f"**{expected.sentence}**" in text
    for label in (CURVES["curve"].label, "η′"):
        assert mentions(text, label)
    assert is_text(text, LAB_WORDS, "law.other-curve")
    assert r"p_1=1,\;p_2=0.5" in text
    assert app.slider(key="eta").disabled
    assert app.slider(key="assumed_eta").disabled


def test_the_power_law_comes_back(open_app: OpenApp) -> None:
    app = open_app(**FAST, p=CURVE, eta="0.5")
    assert mentions(words(app), "η′ = 1")
    app.button(key="power-law").click().run()
    assert not app.exception
    assert app.session_state["p"] == ""
    assert not app.slider(key="eta").disabled
    assert app.slider(key="eta").value == 0.5


def test_pasted_numbers_are_used_and_what_is_none_is_said(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    app.text_input(key="p").set_value("0.5 0.7 0.2").run()
    assert not app.exception
    assert mentions(words(app), CURVES["curve"].label, "0.7", "rank 2")
    app.text_input(key="p").set_value("1, x").run()
    assert not app.exception
    (warning,) = app.warning
    assert mentions(warning.value, CURVES["curve"].label, "'x'", "rank 2")


ODD: tuple[tuple[bytes, tuple[object, ...]], ...] = (
    (b"", ("rank",)),
    (b"\x89PNG\xff\xfe", ("curve.csv", "UTF-8", "CSV")),
    (b"\x89PNG\r\n\x1a\n\0", ("curve.csv", "PNG", "CSV")),
    ("rank,propensity\n1,1\n".encode("utf-16"), ("curve.csv", "UTF-16", "CSV")),
    ("rank,propensity\n1,1\n".encode("utf-16-le"), ("curve.csv", "UTF-16", "CSV")),
    ("rank,propensity\n1,1\n".encode("utf-32"), ("curve.csv", "UTF-32", "CSV")),
    (b"rank,propensity\n1,\0\n", ("curve.csv", "binary", "CSV")),
    (b"a,b\n1,2\n", ("rank",)),
    (b"rank,propensity\n1,1\n2,0\n", (0, "rank 2")),
    (b"rank,propensity\n1,1\n1,1\n", ("rank 1",)),
    (b'rank,propensity\n"1,1\n', (2,)),
    (
        b"rank,propensity\n" + b"".join(b"%d,1\n" % r for r in range(1, 300)),
        (200,),
    ),
)
"""Uploads that are no curve, and what each sentence names."""


def test_odd_uploads_are_one_sentence_each_and_change_nothing(open_app: OpenApp) -> None:
    app = opened(open_app(**FAST, p=CURVE), KEY)
    for turn, (data, named) in enumerate(ODD):
        app.file_uploader(key=f"upload-curve-{turn}").set_value(("curve.csv", data, "text/csv"))
        app.run()
        assert not app.exception
        (told,) = app.error
        assert mentions(told.value, *named), data
        assert app.session_state["p"] == CURVE


def test_an_uploaded_curve_goes_into_the_field(open_app: OpenApp) -> None:
    app = opened(open_app(**FAST), KEY)
    data = b"Rank, Propensity\n2,0.5\n1,1\n"
    app.file_uploader(key="upload-assumed_curve-0").set_value(("c.csv", data, "text/csv")).run()
    assert not app.exception
    assert app.session_state["assumed_p"] == "1,0.5"
    assert app.slider(key="assumed_eta").disabled
    assert not app.slider(key="eta").disabled


@pytest.mark.parametrize("text", ["nonsense", "1,-1", "9" * 9_999])
def test_hostile_links_open_the_power_law_with_one_notice(open_app: OpenApp, text: str) -> None:
    app = open_app(**FAST, p=text)
    assert not app.exception
    assert app.button(key="dismiss")
    assert app.session_state["p"] == ""


@pytest.mark.parametrize(
    "page", ["proofs", "propensities", "live", "robustness", "learning_curves"]
)
def test_every_page_opens_with_a_curve_that_rises(open_app: OpenApp, page: str) -> None:
    app = open_app(**FAST, p="0.5,0.8,0.3", assumed_p="1,0.5", live_queries="100")
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert not app.error
    assert mentions(words(app), "given")


def test_the_estimated_curve_is_taken_into_the_lab(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    app.switch_page("pages/propensities.py").run()
    app.button(key="use-swaps-belief").click().run()
    assert not app.exception
    belief = app.session_state["assumed_p"]
    assert belief.startswith("1,0.")
    assert belief.count(",") == 9
    assert app.session_state["p"] == ""
    app.switch_page("pages/propensities.py").run()
    app.button(key="use-swaps-both").click().run()
    assert app.session_state["p"] == app.session_state["assumed_p"] == belief


def test_the_curve_of_an_own_log_is_taken_into_the_lab(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    app.switch_page("pages/propensities.py").run()
    log = "query,document,position,click\nq,a,1,1\nq,a,2,0\nr,b,1,1\nr,b,2,1\n"
    app.file_uploader(key="data-upload-own-log-0").set_value(
        ("log.csv", log.encode(), "text/csv")
    ).run()
    app.button(key="use-log-both").click().run()
    assert not app.exception
    assert app.session_state["p"] == "1,0.5"
