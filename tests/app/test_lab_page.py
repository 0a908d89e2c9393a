from __future__ import annotations

import dataclasses
import json
import re
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.app import controls, server_lab, turns
from pages.app.markdown import mark, prose
from pages.app.page_runs import PAGE_RUNS
from pages.views.lab import checks as check_list
from pages.views.lab import view
from pages.views.lab import words as lab_words
from pages.views.lab.words import STEPS
from tests.app.pages import open_savers, opened
from tests.meaning import mentions
from ultr_core.errors import InputError
from ultr_core.figures import Figure, estimates_figure
from ultr_core.figures.estimates import EDGE, NAMED
from ultr_core.files import load_directory
from ultr_core.lab import (
    Lab,
    RiskPicture,
    build_world,
    headline,
    proof_checks,
    ranker_family,
    risk_picture,
)
from ultr_core.lab import lab as stages
from ultr_core.proofs.proof import NO_POSITION_BIAS, PROPENSITIES
from ultr_core.settings import PARAMETERS, PRESETS, Settings
from ultr_core.words import with_minus

OpenApp = Callable[..., AppTest]
FAST = {"draws": "2", "clicks": "500"}
SETTINGS = Settings(draws=2, clicks=500)


CHARTS = 3
PARTS = 92
"""Elements and containers that a class pays for in every run of the page: about 0.3 ms each."""


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


WINDOW = json.dumps({"domain": [-EDGE, EDGE]})[1:-1]


def charts(app: AppTest) -> str:
    return "\n".join(chart.proto.spec for chart in app.get("vega_lite_chart"))


CHECKS = re.escape(mark("holds")) + r" \d+ of \d+"
LABELS = [parameter.label for parameter in PARAMETERS.values()]


def link_notices(app: AppTest) -> str:
    """What is said of the link, a line each, in the frame that "Understood" closes."""
    if not [button for button in app.button if button.key == "dismiss"]:
        return ""
    said = [text.value for text in app.markdown if text.value.startswith(":material/info: ")]
    return "\n".join(text for text in said if "link" in text)


def values(app: AppTest) -> dict[str, float]:
    return {name: app.session_state[name] for name in PARAMETERS}


def test_untouched_page_makes_its_point(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    assert not app.exception
    assert app.title[0].value.endswith("?")
    assert len(app.get("vega_lite_chart")) == CHARTS
    assert "Kendall's τ" in words(app)
    assert re.search(CHECKS, words(app))
    assert len(open_savers(app).get("download_button")) == 15


def test_a_run_sends_few_parts_and_nothing_that_is_closed(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    assert re.search(CHECKS, words(app))
    assert sum(1 for half in (app.main, app.sidebar) for _ in half) <= PARTS
    for closed in ("download_button", "file_uploader", "table"):
        assert not app.get(closed)


def test_numbers_on_the_page_are_those_of_the_core(open_app: OpenApp, small_corpus: Path) -> None:
    app = open_app(**FAST)
    expected = Lab(SETTINGS, str(small_corpus)).comparison()
    assert f"**{expected.sentence}**" in words(app)
    shown = opened(app, "numbers").table[0].value.to_dict("records")
    assert len(shown) == len(expected.rankers)
    for row, summary in zip(shown, expected.rankers.values(), strict=True):
        assert row["Ranker"] == summary.label
        for name, estimate in (("Risk", summary.risk), ("Mean rank", summary.mean_rank)):
            assert row[name] == f"{estimate.value:.4f}"
            if estimate.low < estimate.high:
                assert row[f"{name}, 95%"] == f"{estimate.low:.4f} to {estimate.high:.4f}"


def test_picture_and_checks_are_those_of_the_core(open_app: OpenApp, small_corpus: Path) -> None:
    app = open_app(**FAST)
    world = build_world(SETTINGS, load_directory(small_corpus))
    family = ranker_family(world)
    picture = risk_picture(world, family, SETTINGS)
    said = words(app).replace("\N{NO-BREAK SPACE}", " ")
    assert f"τ = **{picture.naive.kendall:.2f}**" in said
    assert f"τ = **{picture.weighted.kendall:.2f}**" in said
    checks = proof_checks(world, family, SETTINGS)
    good = sum(check.finding.holds for check in checks)
    assert f"{mark('holds')} {good} of {len(checks)} " in words(app)
    assert f"**{headline(picture)}**" in words(app)
    opened(app, "checks")
    for check in checks:
        assert with_minus(check.as_dict()["sentence"]) in words(app)


def test_all_rankers_have_intervals_once_the_rankers_are_there(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []

    def watched(picture: RiskPicture, *given: Any, **options: Any) -> Figure:
        shown.append(int(np.isfinite(picture.weighted.difference_low).sum()))
        return estimates_figure(picture, *given, **options)

    monkeypatch.setattr(view, "estimates_figure", watched)
    app = open_app(**FAST, seed="8191")  # which no other test has shown
    rankers = len(server_lab.LAB.family().kinds)
    assert shown == [len(NAMED), rankers]
    app.run()
    assert shown[2:] == [rankers]


@pytest.mark.parametrize("trained", [True, False])
def test_a_page_without_the_other_intervals_says_why_and_shows_the_rest(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, trained: bool
) -> None:
    def refuse(_: Lab) -> RiskPicture:
        raise InputError("600")

    seed = str(8192 + trained)  # which no other test has shown
    if trained:
        open_app(**FAST, seed=seed)
        server_lab.LAB.store.forget("picture")
    monkeypatch.setattr(Lab, "picture", refuse)
    app = open_app(**FAST, seed=seed)
    assert not app.exception
    assert len(app.error) == 1
    assert "600" in app.error[0].value
    assert re.search(CHECKS, words(app))
    assert [button.key for button in app.button if button.key == "pin"] == ["pin"]


def test_pages_run_one_after_the_other(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the frame to the rankers; nobody waits for training, or for a run that has ended."""
    alone: list[tuple[str, bool]] = []

    def watch(owner: object, name: str) -> None:
        former = getattr(owner, name)

        def watched(*given: object, **options: object) -> object:
            alone.append((name, PAGE_RUNS._inside is not None))
            return former(*given, **options)

        monkeypatch.setattr(owner, name, watched)

    watch(controls, "controls")
    watch(Lab, "first_picture")
    watch(Lab, "comparison")
    watch(turns._QUEUE, "wait")
    server_lab.LAB.store.forget("trained", "checks")
    open_app(draws="1")
    assert {name for name, held in alone if held} >= {"controls", "first_picture", "comparison"}
    assert ("wait", False) in alone
    assert PAGE_RUNS._inside is None


def test_a_released_slider_has_new_estimates_within_a_tenth_of_a_second(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU seconds of a whole run whose rankers are still to come, as in a class."""
    for name, answer in (
        ("order", None), ("wait", False), ("crowded", True), ("before", 1), ("done", False),
    ):  # fmt: skip
        monkeypatch.setattr(turns._QUEUE, name, lambda *_, found=answer, **__: found)
    app, seen, spent = open_app(**FAST), set(), []
    for number in range(5):
        app.slider(key="eta").set_value(0.53 + number / 4)
        began = time.process_time()
        app.run()
        spent.append(time.process_time() - began)
        seen.add(app.get("vega_lite_chart")[0].proto.SerializeToString())
        assert not re.search(CHECKS, words(app))
    assert not app.exception
    assert len(seen) == 5
    assert statistics.median(spent) < 0.1


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_opens_and_sets_all_controls(open_app: OpenApp, preset: object) -> None:
    assert dataclasses.is_dataclass(preset)
    app = open_app(draws="1")
    app.selectbox(key="preset-0").select(preset.name).run()
    assert not app.exception
    assert not app.warning
    assert values(app) == preset.settings.as_dict()
    assert preset.watch in words(app)
    assert app.selectbox(key="preset-1").placeholder == preset.name


def test_a_presets_words_leave_with_it_before_the_page_computes(open_app: OpenApp) -> None:
    def below_presets(app: AppTest) -> str:
        elements = [element for element in app.main if element.type != "vertical"]
        box = next(at for at, element in enumerate(elements) if element.type == "selectbox")
        return elements[box + 1].type  # what replaces the words at their place

    app = open_app(draws="1")
    app.selectbox(key="preset-0").select(PRESETS[1].name).run()
    assert below_presets(app) == "markdown"
    app.slider(key="eta").set_value(0.5).run()
    assert below_presets(app) == "empty"


def test_both_panels_say_which_queries_they_are_over(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    helps = {heading.value: heading.help for heading in app.subheader}
    assert mentions(helps["Estimates"], "training")
    assert mentions(helps["Rankers"], "training", "test")


def test_the_switch_shows_all_rankers_and_the_link_keeps_it(open_app: OpenApp) -> None:
    app = open_app(estimates="absolute", **FAST)
    assert "absolute" in app.query_params["estimates"]
    assert WINDOW not in charts(app)
    app.get_by_key("estimates").set_value("Relative").run()
    assert not app.exception
    assert WINDOW in charts(app)


def test_a_late_message_of_an_old_choice_changes_nothing(open_app: OpenApp) -> None:
    app = open_app(draws="1")
    app.selectbox(key="preset-0").select(PRESETS[1].name).run()
    app.slider(key="eta").set_value(0.5).run()
    assert app.session_state["eta"] == 0.5
    assert app.session_state["clicks"] == PRESETS[1].settings.clicks


HOSTILE = ("", "abc", "NaN", "inf", "-inf", "1e999", "-1", "99999999999", "0x10", "1,5", "é" * 500)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_link_is_corrected_with_a_sentence_each(open_app: OpenApp, text: str) -> None:
    app = open_app(**dict.fromkeys(PARAMETERS, text))
    assert not app.exception
    assert values(app) == Settings().as_dict()
    named = [label for label in LABELS if label in link_notices(app)]
    assert len(named) >= len(PARAMETERS) - 1
    app.button(key="dismiss").click().run()
    assert not link_notices(app)


def test_a_key_of_a_link_that_is_nearly_one_is_said(open_app: OpenApp) -> None:
    app = open_app(**{"eps-minus": "0.2", "utm_source": "mail"})
    assert app.session_state["eps_minus"] == Settings().eps_minus
    assert mentions(link_notices(app), "'eps-minus'", "eps\\_minus")
    assert "utm_source" not in words(app)


def test_link_values_between_steps_are_rounded_with_a_notice(open_app: OpenApp) -> None:
    app = open_app(eta="1.237", clicks="480", draws="1")
    assert app.session_state["eta"] == 1.24
    assert app.session_state["clicks"] == 500
    assert link_notices(app).count("\n") == 1
    assert mentions(link_notices(app), "1.237", "1.24", 480, 500)


def test_usable_link_is_taken_as_it_is(open_app: OpenApp) -> None:
    app = open_app(eta="0.5", clicks="2000", eps_minus="0.2", seed="7", draws="1")
    assert values(app) == Settings(eta=0.5, clicks=2000, eps_minus=0.2, seed=7, draws=1).as_dict()
    assert not link_notices(app)


def test_unknown_keys_of_a_link_are_left_alone(open_app: OpenApp) -> None:
    app = open_app(utm_source="mail", **FAST)
    assert not app.exception
    assert not link_notices(app)


def test_impossible_noise_gives_one_sentence_and_no_results(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    app.slider(key="eps_plus").set_value(0.1).run()
    assert not app.exception
    assert len(app.warning) == 1
    assert mentions(app.warning[0].value, "ε₊", "ε₋", "0.1")
    assert "--" not in app.warning[0].value
    assert not app.get("vega_lite_chart")
    app.slider(key="eps_plus").set_value(0.9).run()
    assert not app.warning
    assert len(app.get("vega_lite_chart")) == CHARTS


def test_reset_returns_to_the_default_world(open_app: OpenApp) -> None:
    app = open_app(eta="0.3", eps_plus="0.6", seed="12", draws="1")
    app.button(key="reset").click().run()
    assert values(app) == Settings().as_dict()


def test_steps_set_what_they_say(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    wanted: list[tuple[object, ...]] = []
    for number, step in enumerate(STEPS):
        app.button(key=f"step-{number}").click().run()
        assert not app.exception
        wanted.append(tuple(app.session_state[name] for name in PARAMETERS))
        assert wanted[-1] == tuple(step.sets.numbers.values())
    assert len(set(wanted)) == 3


def test_share_link_names_what_differs_from_the_defaults(open_app: OpenApp) -> None:
    app = open_app(eta="0.5", clicks="2000", draws="1")
    app.button(key="share").click().run()
    assert "?eta=0.5&clicks=2,000&draws=1" in app.code[0].value


def test_settings_stay_when_the_page_changes(open_app: OpenApp) -> None:
    app = open_app(eta="0.5", **FAST)
    app.switch_page("pages/about.py").run()
    assert not app.exception
    assert app.session_state["eta"] == 0.5


@pytest.mark.parametrize("content", [None, "", "2 qid:1 1:0.5 2:x\n", "hello\n"])
def test_unusable_corpus_gives_one_sentence(
    open_app: OpenApp, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        for name in ("train", "vali", "test"):
            (tmp_path / f"{name}.txt").write_text(content)
    app = open_app(corpus=tmp_path)
    assert not app.exception
    assert len(app.error) == 1
    assert "Traceback" not in app.error[0].value
    assert not app.get("vega_lite_chart")


def test_weights_can_be_shown_instead_of_probabilities(open_app: OpenApp) -> None:
    app = open_app(**FAST)
    app.get_by_key("examination").set_value("Weight 1/p").run()
    assert not app.exception
    assert "1000" in app.get("vega_lite_chart")[CHARTS - 1].proto.spec


def test_words_of_a_check_bring_no_markup(small_corpus: Path) -> None:
    world = build_world(SETTINGS, load_directory(small_corpus))
    check = proof_checks(world, ranker_family(world), SETTINGS)[0].as_dict()
    odd = {**check, "formula": "a<b", "title": "<b>x</b>", "sentence": "1<2 & <i>", "details": {}}
    entry = check_list.entry(odd)
    assert re.findall(r"</?\w+>", entry) == ["<details>", "<summary>", "</summary>", "</details>"]
    assert "$$\na<b\n$$" in entry
    assert r"\<b\>x\</b\>" in entry
    assert r"1\<2 \& \<i\>" in entry


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        (1, ": “c0”."),
        (2, ": “c0” and “c1”."),
        (3, ": “c0”, “c1” and 1 more."),
    ],
)
def test_the_summary_names_what_should_hold(failing: int, told: str) -> None:
    failed = [
        {"holds": False, "status": "does not hold", "title": f"c{number}", "assumes": ()}
        for number in range(failing)
    ]
    assert check_list.summary(failed, {}).endswith(told)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, {NO_POSITION_BIAS}),
        ({"eta": 0.0, "assumed_eta": 0.0}, set()),
        ({"assumed_eta": 1.5}, {NO_POSITION_BIAS, PROPENSITIES}),
        ({"eta": 0.0, "assumed_curve": (1.0, 0.3)}, {PROPENSITIES}),
    ],
)
def test_whatever_fails_as_predicted_has_a_reason(
    small_corpus: Path, changes: dict[str, Any], broken: set[str]
) -> None:
    settings = SETTINGS.with_values(**changes)
    world = build_world(settings, load_directory(small_corpus))
    checks = [check.as_dict() for check in proof_checks(world, ranker_family(world), settings)]
    reasons = lab_words.broken_assumptions(settings)
    told = check_list.summary(checks, reasons)
    assert set(reasons) == broken
    assert set(re.findall("because (.*?)(?=[;.])", told)) == {
        prose(why) for why in reasons.values()
    }
    failing = sum(check["status"] == "does not hold, as predicted" for check in checks)
    assert (mark("does not hold, as predicted") in told) is (failing > 0)
    assert len(told.split()) <= 30


@pytest.mark.parametrize("refused", ["naive", "checks", "clipped"])
def test_what_is_refused_is_said_beside_what_could_be_made(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    train, check = stages.train_method, stages.proof_checks

    def unless_refused(made: str, make: Callable[..., Any], *given: Any, **options: Any) -> Any:
        if made == refused:
            raise InputError("Untrained: *bad*.")
        return make(*given, **options)

    def trained(world: Any, settings: Any, draw: int, method: str, *further: Any) -> Any:
        return unless_refused(method, train, world, settings, draw, method, *further)

    monkeypatch.setattr(stages, "train_method", trained)
    monkeypatch.setattr(stages, "proof_checks", partial(unless_refused, "checks", check))
    # Rankers are trained on in the background, so that each case has a world of its own.
    app = open_app(draws="2", clicks="500", eta="1.37", seed=str(7000 + len(refused)))
    for _ in range(2):  # in the second run, all that can be had is there
        assert not app.exception
        (error,) = app.error
        assert error.value.startswith("Untrained: ")
        assert "shimmer" not in words(app)
        assert bool(re.search(CHECKS, words(app))) == (refused == "clipped")
        assert len(app.get("vega_lite_chart")) == (CHARTS - (refused == "naive"))
        app.run()
    monkeypatch.undo()  # and not for ever
