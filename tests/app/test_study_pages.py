"""The study pages: shipped results, verdicts, loss switch, quick runs, ways into a world."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.app import server_lab, turns
from pages.views.studies import run as study_run
from pages.views.studies.chart import point_of
from tests.app.pages import open_savers
from tests.meaning import mentions
from ultr_core.findings import OUTCOMES
from ultr_core.lab import Lab
from ultr_core.settings import Settings
from ultr_core.studies import (
    LOSSES,
    RULES,
    STUDIES,
    Plan,
    judge,
    read_study,
    shipped_result,
    study_headline,
)

OpenApp = Callable[..., AppTest]
LABELS = {
    "bias": "Bias",
    "noise": "Noise",
    "misspecification": "Wrong propensities",
    "map-noise": "Map: bias and noise",
    "map-assumed": "Map: true and assumed bias",
}


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def open_study(open_app: OpenApp, name: str, corpus: Path | None = None, **link: str) -> AppTest:
    app = open_app(corpus, **link)
    page = "learning_curves" if name == "learning-curve" else "robustness"
    app.switch_page(f"pages/{page}.py").run()
    if name in LABELS:
        app.segmented_control(key="study").set_value(LABELS[name]).run()
    assert not app.exception
    return app


@pytest.fixture
def built_in(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """The app on the built-in corpus, begun on a page that trains nothing."""

    def open_(_: Path | None, **link: str) -> AppTest:
        app = AppTest.from_file(
            str(Path(__file__).resolve().parents[2] / "app.py"), default_timeout=120
        )
        monkeypatch.setattr("sys.argv", ["app.py"])
        for key, value in link.items():
            app.query_params[key] = value
        app.switch_page("pages/about.py")
        return app.run()

    return open_


@pytest.mark.parametrize("name", ["learning-curve", *LABELS])
def test_the_shipped_result_makes_its_point_untouched(built_in: OpenApp, name: str) -> None:
    app = open_study(built_in, name)
    assert app.title[0].value.endswith("?")
    result = shipped_result(name, LOSSES["sum-of-ranks"])
    assert f"**{study_headline(result)}**" in words(app)
    assert read_study(result) in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    what = "cell" if result.plan.study.is_map else "point"
    assert mentions(words(app), what, "button")
    labels = [expander.label for expander in app.expander]
    for claim in judge(result):
        assert any(
            f"**{claim.finding.outcome}**: {claim.rule.statement}" in label for label in labels
        )
    assert "python -m ultr_core reproduce" in words(app)
    assert len(open_savers(app).get("download_button")) == 5


SYMBOLS = {"η": "eta", "η′": "assumed_eta", "ε₋": "eps_minus", "ε₊": "eps_plus"}


def told(line: str) -> dict[str, tuple[float, float]]:
    """Lowest and highest value of each setting that a line of settings names."""
    found = {}
    for part in line.split(", "):
        *symbols, values = part.split(" = ")
        numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", values)]
        ends = (numbers[0], numbers[-1])
        if symbols:
            found |= dict.fromkeys((SYMBOLS[symbol] for symbol in symbols), ends)
        else:
            found["draws" if "click log" in values else "clicks"] = ends
    return found


@pytest.mark.parametrize("name", ["learning-curve", *LABELS])
def test_a_line_names_exactly_the_settings_of_what_is_shown(built_in: OpenApp, name: str) -> None:
    app = open_study(built_in, name, eps_minus="0.25", eta="0.3", clicks="500", draws="2")
    (line,) = [text.value for text in app.markdown if "**Made with**" in text.value]
    made, after = line.removeprefix(":material/tune: **Made with** ").split(". ", 1)
    points = shipped_result(name, LOSSES["sum-of-ranks"]).plan.points
    named = ("eta", "assumed_eta", "eps_minus", "eps_plus", "clicks", "draws")
    expected = {key: [getattr(point.settings, key) for point in points] for key in named}
    assert told(made) == {key: (min(found), max(found)) for key, found in expected.items()}
    assert mentions(after, "settings")


@pytest.mark.parametrize("name", ["learning-curve", *LABELS])
def test_a_quick_study_says_what_it_takes_from_the_settings(built_in: OpenApp, name: str) -> None:
    app = open_study(built_in, name, eps_plus="0.8", eps_minus="0.25", draws="2", result="quick")
    (line,) = [text.value for text in app.markdown if "**Will be made with**" in text.value]
    made, after = line.removeprefix(":material/tune: **Will be made with** ").split(". ", 1)
    points = Plan(STUDIES[name], "quick", Settings(eps_plus=0.8, draws=2)).points
    for key, ends in told(made).items():
        found = [getattr(point.settings, key) for point in points]
        assert ends == (min(found), max(found)), key
    for control in ("Click logs", "Random seed", "ε₊", "Corpus", "Lowest relevant"):
        assert control in after
    assert "ε₋" not in after


def test_the_loss_switch_needs_no_new_run(built_in: OpenApp) -> None:
    app = open_study(built_in, "noise")
    app.selectbox(key="loss").select("ndcg").run()
    assert not app.exception
    assert read_study(shipped_result("noise", LOSSES["ndcg"])) in words(app)
    assert mentions(words(app), "NDCG")


def test_a_quick_run_ends_with_curve_and_verdicts(open_app: OpenApp, small_corpus: Path) -> None:
    app = open_study(open_app, "bias", small_corpus, draws="2", clicks="500")
    assert not app.get("vega_lite_chart")
    assert mentions(app.button(key="run-bias").label, "42 rankers")
    app.button(key="run-bias").click().run(timeout=120)
    assert not app.exception
    assert mentions(words(app), "η = 0")
    judged = [e for e in app.expander if any(f"**{word}**" in e.label for word in OUTCOMES)]
    assert len(judged) == len(RULES["bias"])
    assert len(app.get("vega_lite_chart")) == 1


def test_what_the_server_holds_is_shown_to_others_without_a_run(
    open_app: OpenApp, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = {"draws": "1", "seed": "79", "result": "quick"}
    first = open_study(open_app, "map-noise", small_corpus, **link)
    first.button(key="run-map-noise").click().run(timeout=120)
    monkeypatch.setattr(study_run, "run_in_process", None)  # nothing may be computed again
    other = open_study(open_app, "map-noise", small_corpus, **link)
    assert [text.value for text in other.markdown][:3] == [t.value for t in first.markdown][:3]
    assert not [button for button in other.button if button.key == "run-map-noise"]
    assert len(other.get("vega_lite_chart")) == 1
    of_another_seed = open_study(open_app, "map-noise", small_corpus, **{**link, "seed": "80"})
    assert of_another_seed.button(key="run-map-noise")
    assert not of_another_seed.get("vega_lite_chart")
    impossible = open_study(open_app, "map-noise", small_corpus, **link, eps_plus="0.2")
    assert any("ε₊" in error.value for error in impossible.error)


def test_a_part_that_another_visitor_left_is_not_shown(
    open_app: OpenApp, small_corpus: Path
) -> None:
    shown = {"draws": "1", "seed": "81", "result": "quick"}
    app = open_study(open_app, "map-noise", small_corpus, **shown)
    app.button(key="run-map-noise").click().run(timeout=120)
    other = open_study(open_app, "map-noise", small_corpus, **{**shown, "draws": "2"})
    assert other.button(key="run-map-noise")
    assert not other.get("vega_lite_chart")


def test_a_stopped_run_is_shown_as_far_as_it_came_and_goes_on(
    open_app: OpenApp, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_study(open_app, "bias", small_corpus, draws="2", clicks="500", seed="78")
    app.button(key="run-bias").click().run(timeout=120)
    plan = Plan(STUDIES["bias"], "quick", Settings(draws=2, seed=78))
    key = study_run._name(Lab(corpus=str(small_corpus)), plan)
    app.session_state[key] = dict(list(app.session_state[key].items())[:30])
    monkeypatch.setattr(server_lab, "LAB", Lab())  # which has forgotten all
    app.run()
    assert mentions(app.button(key="run-bias").label, "12 rankers")
    assert len(app.get("vega_lite_chart")) == 1
    claims = [e.label for e in app.expander if any(f"**{word}**" in e.label for word in OUTCOMES)]
    assert len(claims) == len(RULES["bias"])
    assert all("**open**" in label for label in claims)
    app.button(key="run-bias").click().run(timeout=120)
    assert not app.exception
    assert not [button for button in app.button if button.key == "run-bias"]


def test_a_visitor_waits_while_another_study_runs(open_app: OpenApp, small_corpus: Path) -> None:
    app = open_study(open_app, "bias", small_corpus, draws="2", clicks="500", seed="77")
    inside, other = threading.Event(), threading.Event()
    leave = threading.Timer(1.5, other.set)

    def other_study() -> None:
        with turns.LONG_WORK.turn() as turn:
            assert turn.comes(1)
            inside.set()
            other.wait(30)

    visitor = threading.Thread(target=other_study)
    visitor.start()
    assert inside.wait(5)
    began = time.monotonic()
    leave.start()
    app.button(key="run-bias").click().run(timeout=120)
    assert time.monotonic() - began > 1.5
    assert not app.exception
    visitor.join()
    assert len(turns.LONG_WORK) == 0


def test_a_mark_leads_into_its_world(built_in: OpenApp) -> None:
    result = shipped_result("bias", LOSSES["sum-of-ranks"])
    point = point_of(result, {"x": 1.5, "series": "225K"})
    assert point is not None
    assert point.settings.eta == point.settings.assumed_eta == 1.5
    assert point.settings.eps_minus == 0
    assert point_of(result, {"x": 0.123}) is None
    cell = point_of(shipped_result("map-assumed", LOSSES["dcg"]), {"x": 0.5, "y": 1.5})
    assert cell is not None
    assert (cell.settings.eta, cell.settings.assumed_eta) == (0.5, 1.5)


def test_a_step_opens_the_lab_with_its_settings(built_in: OpenApp) -> None:
    app = open_study(built_in, "learning-curve", draws="1")
    app.button(key="try-learning-curve-0").click().run(timeout=120)
    assert not app.exception
    assert app.session_state["clicks"] == 500


def test_settings_that_make_no_study_are_said(open_app: OpenApp, small_corpus: Path) -> None:
    app = open_study(open_app, "noise", small_corpus, eps_plus="0.2", eps_minus="0.05")
    assert not app.exception
    assert any("ε₊" in error.value for error in app.error)
