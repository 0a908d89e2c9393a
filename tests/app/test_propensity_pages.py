"""The pages on propensities and on the live experiment."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from streamlit.testing.v1 import AppTest

from pages.views.live.view import STEPS as LIVE_STEPS
from pages.views.propensities.words import COMPUTE, STEPS
from tests.meaning import mentions
from ultr_core.lab import Lab
from ultr_core.lab.interleaving import Verdicts, judge
from ultr_core.lab.live import LiveDesign, LiveResult
from ultr_core.limits import UPLOADED_LOG_ROWS
from ultr_core.propensity import PROPENSITY_METHODS

OpenApp = Callable[..., AppTest]
FAST = {"draws": "1", "clicks": "500", "swap_traffic": "2,000", "swap_ranks": "10"}


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def open_page(open_app: OpenApp, name: str, **link: str) -> AppTest:
    app = open_app(**(FAST | link))
    app.switch_page(f"pages/{name}.py").run()
    assert not app.exception
    return app


def test_propensities_untouched_make_their_point(open_app: OpenApp) -> None:
    app = open_page(open_app, "propensities")
    assert app.title[0].value.endswith("?")
    assert re.search(r"\d+ of \d+ intervals", words(app))
    assert re.search(r"[\d,]+ presentations", words(app))
    assert len(app.get("vega_lite_chart")) == 1
    for name in ("ways", "rankers"):
        app.button(key=f"swap_ask_{name}").click().run()
        assert not app.exception
    assert len(app.get("vega_lite_chart")) == 2
    rows = app.table[0].value
    # A phone shows six columns only while every word of the headers is short.
    assert max(len(word) for name in rows.columns for word in str(name).split()) <= 9
    assert rows["Method"].tolist() == [method.label for method in PROPENSITY_METHODS.values()]
    for method in PROPENSITY_METHODS.values():
        assert f"**{method.label}**: {method.assumes}" in words(app)
    assert not app.warning


def test_trust_bias_is_warned_of_with_its_numbers(open_app: OpenApp) -> None:
    app = open_page(open_app, "propensities")
    app.selectbox(key="swap_users").select("Trust bias").run()
    assert not app.exception
    (warning,) = app.warning
    assert mentions(warning.value, "0.79")


def test_bootstrap_intervals_change_the_interval_and_not_the_ratio(open_app: OpenApp) -> None:
    app = open_page(open_app, "propensities", swap_traffic="50,000")
    before = words(app).split("95% interval")
    app.toggle(key="swap_bootstrap").set_value(True).run()
    assert not app.exception
    after = words(app).split("95% interval")
    assert before[0] == after[0]
    assert before[1][:16] != after[1][:16]


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_every_step_sets_its_controls(open_app: OpenApp, number: int) -> None:
    app = open_page(open_app, "propensities")
    app.button(key=f"swap-step-{number}").click().run()
    assert not app.exception
    for name, value in STEPS[number].sets.items():
        assert app.session_state[name] == value


@pytest.mark.parametrize(
    ("control", "value"), [("swap_landmark", 3), ("swap_ranks", 40), ("swap_rank", 40)]
)
def test_sliders_at_unusual_places(open_app: OpenApp, control: str, value: int) -> None:
    app = open_page(open_app, "propensities")
    app.slider(key=control).set_value(value).run()
    assert not app.exception


def as_parquet(text: str) -> bytes:
    out = io.BytesIO()
    parquet.write_table(csv.read_csv(io.BytesIO(text.encode())), out)
    return out.getvalue()


def bring(app: AppTest, kind: str, file: tuple[str, bytes, str]) -> None:
    own = app.session_state["your_data"]
    if kind in own.files:
        app.button(key=f"data-remove-{kind}").click().run()
    app.file_uploader(key=f"data-upload-{kind}-{own.turns[kind]}").set_value(file).run()


def test_your_own_log_and_curve(open_app: OpenApp) -> None:
    app = open_page(open_app, "propensities")
    log = "query,document,position,click\nq,a,1,1\nq,a,2,0\nr,b,1,1\nr,b,2,1\ns,c,,1\n"
    bring(app, "own-log", ("log.csv", log.encode(), "text/csv"))
    assert not app.exception
    assert mentions(words(app), "1 click")
    unmoved = ("log.csv", b"query,document,position,click\nq,a,1,1\nq,b,2,0\n", "text/csv")
    bring(app, "own-log", unmoved)
    (error,) = app.error
    assert mentions(error.value, "swaps", "rankers")
    bring(app, "own-log", ("log.csv", log.encode(), "text/csv"))
    assert app.table[0].value["Ratio"].tolist() == ["1.000", "0.500"]
    for packed in (gzip.compress(log.encode()), as_parquet(log)):
        bring(app, "own-log", ("log", packed, "text/csv"))
        assert not app.error
        assert app.table[0].value["Ratio"].tolist() == ["1.000", "0.500"]
    bomb = gzip.compress(log.encode() + b"r,b,2,1\n" * 6_000_000)
    bring(app, "own-log", ("log.csv.gz", bomb, "text/csv"))
    assert mentions(app.error[0].value, f"{UPLOADED_LOG_ROWS.most:,}")
    deep = ("log*.csv", log.replace("b,2", "b,9999").encode(), "text/csv")
    bring(app, "own-log", deep)
    assert mentions(app.error[0].value, "rank 500", "9,999")
    bring(app, "own-log", ("log.csv", log.encode(), "text/csv"))
    wrong = ("curve.csv", b"rank,propensity\n1,1\n3,0.5\n", "text/csv")
    bring(app, "own-curve", wrong)
    assert mentions(app.error[0].value, "curve.csv", "rank 2")
    right = ("curve.csv", b"rank,propensity\n1,1\n2,0.5\n", "text/csv")
    bring(app, "own-curve", right)
    assert not app.error


@pytest.mark.parametrize("text", ["", "abc", "NaN", "inf", "-1", "99999999999"])
def test_hostile_links_are_survived(open_app: OpenApp, text: str) -> None:
    keys = ("swap_landmark", "swap_traffic", "swap_users", "live_queries", "live_scheme")
    for page in ("propensities", "live"):
        open_page(open_app, page, **dict.fromkeys(keys, text))


def test_live_reads_its_result_and_a_null_in_words(open_app: OpenApp) -> None:
    app = open_page(open_app, "live", live_queries="500")
    assert app.title[0].value.endswith("?")
    text = words(app)
    assert mentions(text, "500 queries")
    assert re.search(r"p\s=\s0\.000999", text)
    assert len(app.get("vega_lite_chart")) == 2
    exact = app.table[1].value
    assert exact["B wins"].tolist() == ["2/3", "1/2", "0.386", "1", "1/2", "0.265"]


def test_the_sign_test_answers_any_counts(open_app: OpenApp) -> None:
    app = open_page(open_app, "live", live_queries="100")
    app.number_input(key="sign_wins").set_value(95).run()
    app.number_input(key="sign_losses").set_value(60).run()
    assert re.search(r"p\s=\s0\.0061", words(app))
    app.number_input(key="sign_wins").set_value(0).run()
    app.number_input(key="sign_losses").set_value(0).run()
    assert not app.exception
    assert not re.search(r"p\s=\s0\.0061|nan", words(app))


def test_of_ties_alone_the_sentence_stands_alone(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Lab.live
    nothing = Verdicts(np.zeros(100, dtype=np.int8), np.zeros(100, dtype=bool))

    def tied(lab: Lab, design: LiveDesign) -> LiveResult:
        result = run(lab, design)
        contests = tuple(judge(c.opponent, c.label, nothing, 135) for c in result.contests)
        return replace(result, contests=contests)

    monkeypatch.setattr(Lab, "live", tied)
    text = words(open_page(open_app, "live", live_queries="100"))
    assert text.count("all 100 queries") == 2
    for claim in ("At this win share", "Relative risk nan", "50.0%", "If both were"):
        assert claim not in text


@pytest.mark.parametrize("number", range(3))
def test_live_steps(open_app: OpenApp, number: int) -> None:
    app = open_page(open_app, "live", live_queries="100")
    app.button(key=f"live-step-{number}").click().run()
    assert not app.exception
    for name, value in LIVE_STEPS[number].sets.items():
        assert app.session_state[name] == value


def test_the_step_on_little_traffic_names_the_button_that_brings_the_rankers(
    open_app: OpenApp,
) -> None:
    app = open_page(open_app, "propensities", swap_traffic="2,000")
    labels = {button.label for button in app.button}
    assert COMPUTE in labels
    assert f"press “{COMPUTE}”" in words(app)
