"""Share, notebooks, lecture mode, undo, pins and links, on the pages themselves."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
import segno
from streamlit.testing.v1 import AppTest

from pages.app import lecture, take_away
from pages.app.registry import PAGES
from tests.app.pages import WITH_VALUES, open_savers
from tests.meaning import mentions
from ultr_core.export.notebook import Notebook
from ultr_core.jobs.compare import PINS
from ultr_core.jobs.job import PageState
from ultr_core.jobs.links import page_values, read_page_query
from ultr_core.jobs.notebooks import page_notebook
from ultr_core.lessons import LESSONS
from ultr_core.settings import PARAMETERS, PRESETS, SHARED_FIELDS, Settings

ROOT = Path(__file__).resolve().parents[2]
OpenApp = Callable[..., AppTest]
FAST = {"draws": "2", "clicks": "500"}


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def open_page(monkeypatch: pytest.MonkeyPatch, corpus: Path, page: str, **link: str) -> AppTest:
    """A session whose first page is ``page``, with the values of a link."""
    monkeypatch.setattr(sys, "argv", ["app.py", "--corpus", str(corpus)])
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.switch_page(str(ROOT / "pages" / f"{page}.py"))
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def shared(app: AppTest) -> str:
    """The query of the link that the page offers."""
    app.button(key="share").click().run()
    assert not app.exception
    return urlsplit(app.code[0].value).query


LINKS = {
    "lab": {**FAST, "eta": "0.5", "examination": "weight"},
    "learning_curves": {"loss": "ndcg", "draws": "2", "result": "quick"},
    "robustness": {"study": "map-noise", "loss": "dcg", "result": "quick"},
    "proofs": {
        "proof": "affine-law", "break_trust": "true", "users": "50", "view": "svm",
        "list": "BACDEF", "relevant": "B", "clip": "1/3",
    },
    "propensities": {**FAST, "swap_landmark": "2", "swap_fit": "monotone", "swap_users": "trust",
                     "swap_smoothing": "0.3", "swap_precision": "20%", "swap_traffic": "2,000"},
    "live": {**FAST, "live_queries": "218", "live_scheme": "team-draft", "live_swap_days": "3"},
    "repairs": {"breaks": "cut", "repair_clicks": "many", "draws": "2", "result": "quick"},
}  # fmt: skip


@pytest.mark.parametrize("page", WITH_VALUES)
def test_link_to_page_and_back_is_the_identity(
    page: str, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = LINKS.get(page, {})
    app = open_page(monkeypatch, small_corpus, page, **link)
    assert not app.exception
    assert not [button for button in app.button if button.key == "dismiss"]
    asked = "&".join(f"{key}={value.replace('%', '%25')}" for key, value in link.items())
    assert read_page_query(page, shared(app)) == read_page_query(page, asked)


@pytest.mark.parametrize("page", LINKS)
def test_hostile_values_never_raise_and_are_said(
    page: str, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_ = random.Random(page)
    texts = ("NaN", "inf", "x" * 600, "\u200b")
    for text in texts:
        app = open_page(
            monkeypatch, small_corpus, page, **FAST,
            **{value.key: text for value in page_values()[page] if random_.random() < 0.8},
            mode=text,
        )  # fmt: skip
        assert not app.exception, text
        assert app.button(key="dismiss")


def test_lecture_mode_shows_the_chosen_controls_and_keeps_the_rest(open_app: OpenApp) -> None:
    app = open_app(**FAST, mode="lecture", controls="eta,seed", eps_minus="0.2")
    assert not app.exception
    assert [slider.key for slider in app.slider] == ["eta"]
    assert [field.key for field in app.number_input] == ["seed"]
    assert app.session_state["eps_minus"] == 0.2
    app.slider(key="eta").set_value(0.5).run()
    expected = Settings(eta=0.5, eps_minus=0.2, draws=2, clicks=500)
    assert Settings.from_query(dict(parse_qsl(shared(app))))[0] == expected
    assert app.query_params["mode"] == ["lecture"] or app.query_params["mode"] == "lecture"


def test_lecture_link_names_the_chosen_controls(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    shared(app)
    links = [code.value for code in app.code]
    assert "&mode=lecture&controls=eta,assumed_eta,eps_minus,clicks" in links[1]
    assert "embed=true" in links[2] and links[2].startswith("<iframe ")


@pytest.mark.parametrize(("page", "offered"), [("lessons", SHARED_FIELDS), ("claims", ())])
def test_a_lecture_offers_no_control_that_does_nothing_on_its_page(
    page: str, offered: tuple[str, ...], small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(monkeypatch, small_corpus, page)
    app.button(key="share").click().run()
    assert [PARAMETERS[name].label for name in offered] == [
        label for box in app.multiselect for label in box.options
    ]
    assert app.code[1].value.endswith("mode=lecture")
    app = open_page(monkeypatch, small_corpus, page, mode="lecture", controls="eta,clicks")
    assert not app.exception
    assert not [slider for slider in app.slider if slider.key in PARAMETERS]


def test_a_lecture_on_proofs_keeps_the_name_of_its_switches(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(monkeypatch, small_corpus, "proofs", mode="lecture")
    assert app.get_by_key("switches").markdown[0].value
    assert "switches" in lecture._SHOWN


@pytest.mark.parametrize("part", ["lessons", "lecturers", "glossary"])
def test_files_of_the_lessons_name_their_own_worlds(
    part: str, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[PageState] = []

    def note(state: PageState) -> Notebook:
        states.append(state)
        return page_notebook(state)

    monkeypatch.setattr(take_away, "page_notebook", note)
    link = {"part": part, "lesson": "4", "seed": "3", "eta": "0.5", "clicks": "500"}
    app = open_page(monkeypatch, small_corpus, "lessons", **link)
    app.button(key="share").click().run()
    assert not app.exception
    saved = json.loads(take_away.settings_file(states[-1]))["settings"]
    reader = Settings(seed=3, eta=0.5, clicks=500)
    if part == "lessons":
        assert saved == LESSONS[3].settings(reader).as_dict()
    else:
        assert saved == {name: getattr(reader, name) for name in SHARED_FIELDS}


def test_unknown_controls_of_a_lecture_are_said(open_app: OpenApp) -> None:
    app = open_app(**FAST, mode="lecture", controls="eta,zeta")
    assert not app.exception
    assert app.button(key="dismiss")
    assert mentions(words(app), "'zeta'")
    assert not mentions(words(app), "'eta'")


def test_undo_and_redo_walk_through_the_settings(open_app: OpenApp) -> None:
    app = open_app(draws="1")
    assert app.button(key="undo").disabled
    app.selectbox(key="preset-0").select(PRESETS[1].name).run()
    app.slider(key="eta").set_value(0.5).run()
    app.button(key="undo").click().run()
    assert app.session_state["eta"] == 1.0
    app.button(key="undo").click().run()
    assert {n: app.session_state[n] for n in PARAMETERS} == Settings(draws=1).numbers
    app.button(key="redo").click().run()
    assert app.session_state["clicks"] == PRESETS[1].settings.clicks
    app.slider(key="eta").set_value(1.5).run()
    assert app.button(key="redo").disabled
    app.button(key="reset").click().run()
    app.button(key="undo").click().run()
    assert app.session_state["eta"] == 1.5


def test_undo_takes_back_what_a_page_itself_has(open_app: OpenApp) -> None:
    app = open_app(draws="1").switch_page("pages/proofs.py").run()
    assert app.button(key="undo").disabled
    app.toggle(key="break_trust").set_value(True).run()
    app.text_input(key="new").set_value("FEDCBA").run()
    app.slider(key="eta").set_value(0.5).run()
    assert not app.exception
    shown = ("break_trust", "new", "eta")
    steps = [[app.session_state[key] for key in shown]]
    for _ in range(3):
        app.button(key="undo").click().run()
        steps.append([app.session_state[key] for key in shown])
    typed, before = steps[0][1], steps[-1][1]
    assert typed != before
    assert steps == [
        [True, typed, 0.5], [True, typed, 1.0], [True, before, 1.0], [False, before, 1.0],
    ]  # fmt: skip
    assert app.button(key="undo").disabled
    app.button(key="redo").click().run()
    assert app.session_state["break_trust"] is True
    # Another page has its own past, and takes back settings that act there.
    app.switch_page("pages/lab.py").run()
    assert app.button(key="undo").disabled
    app.button(key="redo").click().run()
    assert app.session_state["eta"] == 0.5
    assert not app.exception


def test_the_glossary_is_a_click_away_from_every_page_but_in_lectures(open_app: OpenApp) -> None:
    for mode, links in (({}, 1), ({"mode": "lecture"}, 0)):
        app = open_app(draws="1", clicks="500", **mode)
        for page in PAGES if links else PAGES[-1:]:
            app.switch_page(page.file).run()
            found = [link.proto.query_string for link in app.get("page_link")]
            assert found.count("part=glossary") == links, page.path


def test_a_page_without_anything_to_change_has_no_undo(open_app: OpenApp) -> None:
    app = open_app(draws="1").switch_page("pages/about.py").run()
    assert not [button for button in app.button if button.key in ("undo", "redo")]
    app.switch_page("pages/claims.py").run()
    assert app.button(key="undo").disabled


def test_pinned_run_is_compared_with_the_current_one(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    app.button(key="pin").click().run()
    assert app.button(key="pin").disabled
    assert mentions(words(app), "Pin 1")
    app.slider(key="eta").set_value(0.0).run()
    assert not app.exception
    assert mentions(app.get_by_key("panel-rankers").markdown[-1].value, "pin 1", "#pinned-runs")
    since = next(text.value for text in app.markdown if text.value.startswith("**Since pin 1"))
    assert mentions(since, "η", 1, 0)
    assert list(app.table[-1].value.columns)[1:] == ["Pin 1", "Now"]
    (ghosts,) = [c for c in app.get("vega_lite_chart") if "'pin'" in c.proto.spec]
    assert ghosts
    app.button(key="undo").click().run()
    app.button(key="undo").click().run()
    assert "Pin 1" not in words(app)
    for _ in range(2):
        app.button(key="redo").click().run()
    assert mentions(words(app), "Pin 1")
    assert "draws=2" in str(app.query_params["pins"])
    app.button(key="unpin-back-1").click().run()
    assert app.session_state["eta"] == 1.0
    app.button(key="unpin-1").click().run()
    assert "Pin 1" not in words(app)


def test_separators_of_a_link_reach_the_sliders(open_app: OpenApp) -> None:
    app = open_app(draws="1", clicks="1,000", seed="1 000", eps_minus="20%")
    found = {key: app.session_state[key] for key in ("clicks", "seed", "eps_minus")}
    assert found == {"clicks": 1_000, "seed": 1_000, "eps_minus": 0.2}
    assert dict(app.query_params) == {
        "draws": "1", "clicks": "1,000", "seed": "1000", "eps_minus": "0.2"
    }  # fmt: skip
    assert "dismiss" not in [button.key for button in app.button]  # nothing to be said


def test_a_link_brings_its_pins(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = Settings(draws=2, clicks=500, eta=0.5)
    app = open_page(monkeypatch, small_corpus, "lab", **FAST, pins=PINS.write((pinned,)))
    assert not app.exception
    assert app.button(key="unpin-back-1")
    assert "**Pin 1**" not in words(app)  # another run than this
    assert read_page_query("lab", shared(app))[1]["pins"] == (pinned,)


@pytest.mark.parametrize("page", LINKS)
def test_every_figure_offers_every_format(
    page: str, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(monkeypatch, small_corpus, page, **FAST)
    charts = app.get("vega_lite_chart")
    assert not app.get("download_button")  # a class pays for each at every move of a slider
    open_savers(app)
    labels = [button.proto.label for button in app.get("download_button")]
    for label in ("SVG", "PNG", "PDF", "CSV", "Vega-Lite"):
        assert labels.count(label) == len(charts)


def test_controls_have_one_place_and_keep_their_values(open_app: OpenApp) -> None:
    app = open_app(eta="2.0", eps_plus="0.9", draws="1", clicks="500")
    for page in ("about", "proofs", "lab"):
        app.switch_page(f"pages/{page}.py").run()
        assert app.session_state["eta"] == 2.0
        assert app.session_state["eps_plus"] == 0.9
        # To be told the browser anew would undo a move that is on its way.
        assert not any(slider.proto.set_value for slider in app.slider if slider.key == "eta")


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://localhost:8501/lab?eta=0.5", True),
        ("http://127.0.0.1:8501/", True),
        ("http://[::1]:8501/", True),
        ("http://192.168.1.7:8501/lab", False),
        ("https://lab.example.org/localhost", False),
        ("", False),
    ],
)
def test_a_link_that_opens_only_here_is_known(address: str, here: bool) -> None:
    assert take_away.opens_only_here(address) is here


def test_the_picture_of_a_link_is_its_code_with_a_quiet_zone() -> None:
    address, quiet = "http://10.0.0.2:8501/lab?eta=0.5&clicks=500", 4
    path = unquote(take_away.code_picture(address)).split("stroke='#000' d='")[1].split("'")[0]
    dark, x, y = set(), 0, 0
    for kind, first, second in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", path):
        if kind == "h":
            dark |= {(x + step, y) for step in range(int(first))}
        x += int(first)
        y += int(float(second or 0))
    code = segno.make(address, error="l", boost_error=False, micro=False)
    assert dark == {
        (quiet + column, quiet + row)
        for row, line in enumerate(code.matrix)
        for column, bit in enumerate(line)
        if bit
    }
