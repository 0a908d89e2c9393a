from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.app.markdown import plain, set_formulas
from pages.views.lessons import state
from pages.views.lessons.lesson import OTHER, world_words
from pages.views.lessons.state import Progress
from tests.meaning import mentions
from ultr_core.lab import Lab
from ultr_core.lessons import GLOSSARY, LESSONS, Choice, Found, Guess
from ultr_core.lessons.answers import MORE_DIGITS
from ultr_core.settings import Settings
from ultr_core.users import USERS

ROOT = Path(__file__).resolve().parents[2]
OpenApp = Callable[..., AppTest]
numbers_of = pytest.mark.parametrize("number", range(1, len(LESSONS) + 1))


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def raw_powers(text: str) -> list[str]:
    """Powers that are not set as formulas."""
    return re.findall(r"\S*\^\S*", re.sub(r"\$[^$]*\$", "", text))


@pytest.fixture
def open_app(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """Open the lessons as a deep link does, without the main page before them."""

    def open_(**link: str) -> AppTest:
        monkeypatch.setattr(sys, "argv", ["app.py", "--corpus", str(small_corpus)])
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for name, value in link.items():
            app.query_params[name] = value
        app.switch_page("pages/lessons.py").run()
        assert not app.exception
        return app

    return open_


@pytest.fixture(scope="module")
def found(small_corpus: object) -> dict[int, Found]:
    lab = Lab(corpus=str(small_corpus))
    return {
        number: lesson.measure(lab.at(lesson.settings(Settings())))
        for number, lesson in enumerate(LESSONS, start=1)
    }


def commit(app: AppTest, number: int) -> None:
    if isinstance(LESSONS[number - 1].prediction, Choice):
        assert app.button(key="lesson-commit").disabled
        app.radio(key=f"lesson-guess-{number}").set_value(1).run()
    else:
        # Where the slider starts is no prediction.
        assert app.button(key="lesson-commit").disabled
        app.select_slider(key=f"lesson-guess-{number}").set_value(10).run()
    app.button(key="lesson-commit").click().run()
    assert not app.exception


def test_one_move_gives_any_answer_the_lowest_too(open_app: OpenApp) -> None:
    number, lesson = next(
        (n, each) for n, each in enumerate(LESSONS, 1) if isinstance(each.prediction, Guess)
    )
    assert isinstance(lesson.prediction, Guess)
    app = open_app(lesson=str(number))
    place = app.select_slider(key=f"lesson-guess-{number}")
    assert place.value is None and app.button(key="lesson-commit").disabled
    place.set_value(lesson.prediction.low).run()
    app.button(key="lesson-commit").click().run()
    assert done(app)[number].guess == lesson.prediction.low


SOLUTION, REFUSED = ":material/route:", ":material/info: T"
"""Where the way to the solution begins, and what is said of an answer that cannot be judged."""


def wrong(app: AppTest) -> str:
    """The answer that is shown as wrong, "" if none is."""
    exercise = app.get_by_key("lesson-exercise")
    shown = [re.match(re.escape(OTHER) + r" \*\*(.*?)\*\*:", t.value) for t in exercise.markdown]
    return "".join(found[1] for found in shown if found)


def done(app: AppTest) -> dict[int, Progress]:
    """What the session knows of each lesson."""
    known: dict[int, Progress] = app.session_state["lesson_progress"]
    return known


def answer(app: AppTest, number: int, text: str) -> None:
    app.text_input(key=f"lesson-answer-{number}").set_value(text)
    app.button(f"FormSubmitter:lesson-form-{number}-Check").click().run()
    assert not app.exception


@numbers_of
def test_predict_reveal_and_solve(open_app: OpenApp, found: dict[int, Found], number: int) -> None:
    app, lesson = open_app(lesson=str(number)), LESSONS[number - 1]
    assert f"Lesson {number}: {lesson.title}" in words(app)
    assert found[number].sentence not in words(app)
    assert not app.get("vega_lite_chart")
    what_the_lesson_sets_stands_under_its_title(app, number)
    the_words_of_a_lesson_can_be_read_without_a_pointer(app, number)

    commit(app, number)
    assert found[number].sentence in words(app)
    assert app.get_by_key("lesson-reading").markdown
    charts = 2 if isinstance(LESSONS[number - 1].prediction, Guess) else 1
    assert len(app.get("vega_lite_chart")) == charts

    numbers, exercise = found[number].numbers, lesson.exercise
    right = numbers[exercise.answer]
    answer(app, number, "abc")
    assert not wrong(app) and REFUSED in words(app)
    answer(app, number, str(right * 7 + 1))
    assert wrong(app)
    assert SOLUTION not in words(app)
    answer(app, number, f"{right:.6g}")
    assert "**Right.**" in words(app)
    assert set_formulas(exercise.solution.format(**numbers)) in words(app)
    assert not raw_powers(words(app))
    assert done(app)[number].solved
    assert mentions(words(app), f"1 of {len(LESSONS)}", number)


def test_two_wrong_answers_show_the_way(open_app: OpenApp, found: dict[int, Found]) -> None:
    app = open_app(lesson="2")
    commit(app, 2)
    exercise, numbers = LESSONS[1].exercise, found[2].numbers
    answer(app, 2, "10")
    assert set_formulas(exercise.mistakes[1].hint.format(**numbers)) in words(app)
    answer(app, 2, "10")
    assert SOLUTION not in words(app)
    answer(app, 2, "7")
    assert SOLUTION in words(app)
    assert set_formulas(exercise.solution.format(**numbers)) in words(app)
    # Whoever copies the solution has not solved it.
    answer(app, 2, f"{numbers[exercise.answer]:.6g}")
    assert "**Right.**" in words(app)
    assert (done(app)[2].solved, done(app)[2].shown) == (False, True)
    assert mentions(words(app), f"1 of {len(LESSONS)}", 2)
    assert "solved 2" not in words(app)
    app.button(key="lesson-next").click().run()
    commit(app, 3)
    answer(app, 3, f"{found[3].numbers[LESSONS[2].exercise.answer]:.6g}")
    assert (done(app)[3].solved, done(app)[3].shown) == (True, False)
    assert mentions(words(app), f"2 of {len(LESSONS)}", "solved 3")


def test_answers_stay_while_other_pages_are_visited(open_app: OpenApp) -> None:
    app = open_app(lesson="3")
    commit(app, 3)
    app.switch_page("pages/about.py").run()
    app.switch_page("pages/lessons.py").run()
    app.get_by_key("lesson").set_value("3").run()
    assert done(app)[3].guess is not None
    app.button(key="lesson-again").click().run()
    assert not app.get("vega_lite_chart")


def test_next_lesson_is_opened(open_app: OpenApp) -> None:
    app = open_app(lesson="1")
    commit(app, 1)
    app.button(key="lesson-next").click().run()
    assert not app.exception
    assert f"Lesson 2: {LESSONS[1].title}" in words(app)
    assert app.query_params["lesson"] in ("2", ["2"])


@pytest.mark.parametrize("text", ["", str(len(LESSONS) + 1), "abc", "é" * 300])
def test_hostile_lessons_are_survived(open_app: OpenApp, text: str) -> None:
    app = open_app(lesson=text, part=text)
    assert f"Lesson 1: {LESSONS[0].title}" in words(app)


def test_links_carry_the_lessons_settings(open_app: OpenApp) -> None:
    app = open_app(lesson="5", seed="4")
    commit(app, 5)
    links = [button.proto.url for button in app.get("link_button")]
    assert any(link.startswith("lab?eps_minus=0&clicks=250") for link in links)


@pytest.mark.parametrize("plan", ["45", "90"])
def test_plans_show_computed_answers(open_app: OpenApp, found: dict[int, Found], plan: str) -> None:
    app = open_app(part="lecturers", plan=plan)
    text = words(app)
    assert found[1].sentence in text
    assert found[9].sentence in text
    assert not raw_powers(text)
    assert len(app.get("download_button")) == 2
    links = [button.proto.url for button in app.get("link_button")]
    assert sum("lesson=" in link and "mode=lecture" in link for link in links) >= 7


def test_a_lesson_names_its_own_users_instead_of_a_noise_that_they_do_not_have() -> None:
    told = {each.key: world_words(each, each.settings(Settings())) for each in LESSONS}
    assert {key for key, text in told.items() if "ε₋" not in text} == {"trust-top"}
    assert USERS["trust-steep"].label in told["trust-top"]
    assert mentions(told["leaving"], USERS["leaving"].label, 0.3, "0.1")


def test_glossary_is_listed(open_app: OpenApp) -> None:
    app = open_app(part="glossary")
    terms = app.table[0].value
    assert "Propensity" in terms["Term"].tolist()
    assert not raw_powers("\n".join([*terms["Symbol"], *terms["Meaning"]]))


def test_odd_answers_get_one_sentence_and_are_no_try(open_app: OpenApp) -> None:
    app = open_app(lesson="3")
    commit(app, 3)
    for text in ("∞", "1e999", "-1e999", "9" * 200, "<b>1</b>", "*" * 40, "1/0"):
        answer(app, 3, text)
        assert REFUSED in words(app), text
        assert SOLUTION not in words(app), text
    assert f" of {len(LESSONS)} " not in words(app)


def test_an_empty_answer_is_met_with_a_sentence(open_app: OpenApp) -> None:
    app = open_app(lesson="3")
    commit(app, 3)
    answer(app, 3, "  ")
    assert REFUSED in words(app)
    assert not done(app)[3].tries
    answer(app, 3, "15")
    assert REFUSED not in words(app)
    assert "**Right.**" in words(app)


@pytest.mark.parametrize("text", ["", "-45"])
def test_a_hostile_plan_shows_the_first_one(open_app: OpenApp, text: str) -> None:
    app = open_app(part="lecturers", plan=text)
    assert app.get_by_key("plan").value == "45"


def test_what_a_browser_kept_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    done = {1: Progress(10.0, ("2", "1/3"), (0, 0, 3), True), 3: Progress(1.0)}
    monkeypatch.setattr("streamlit.session_state", {"lesson_progress": done})
    kept = state.as_text()
    session: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", session)
    assert state.as_text() is None
    state.restore(kept)
    assert session["lesson_progress"] == done


@pytest.mark.parametrize(
    "kept",
    [
        None, "", "no", "[1]", "{}", '{"x": {}}', '{"1": 2}', '{"1": {"guess": "a"}}',
        '{"99": {"guess": 1}}', '{"1": {"guess": -5}}', '{"3": {"guess": 0.5}}',
        '{"1": {"guess": NaN}}', '{"1": {"unknown": 1}}', '{"1": {"tries": 5}}',
    ],
)  # fmt: skip
def test_nothing_that_a_browser_kept_breaks_a_lesson(
    kept: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    session: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", session)
    state.restore(kept)
    assert not session.get("lesson_progress")


def test_a_click_counts_before_an_address_from_before_the_last_one(open_app: OpenApp) -> None:
    app = open_app(lesson="9")
    app.button_group(key="lesson").set_value("2").run()
    assert app.query_params["lesson"] in ("2", ["2"])
    app.query_params["lesson"] = "9"
    app.button_group(key="lesson").set_value("5").run()
    assert app.button_group(key="lesson").value == "5"
    assert app.query_params["lesson"] in ("5", ["5"])


def test_back_is_followed(open_app: OpenApp) -> None:
    app = open_app(lesson="9")
    app.button_group(key="lesson").set_value("2").run()
    app.query_params["lesson"] = "9"
    app.run()
    assert app.button_group(key="lesson").value == "9"


def test_a_refused_answer_is_shown_as_it_was_typed(open_app: OpenApp) -> None:
    app = open_app(lesson="3")
    commit(app, 3)
    for text in ("2***3", "1*x*2", "_1_", "`1`", "$1$", ":red[1]", "[1](x)"):
        answer(app, 3, text)
        assert plain(f"'{text}'") in words(app)
        assert not wrong(app)


def test_a_wrong_product_is_shown_as_it_was_typed(open_app: OpenApp) -> None:
    app = open_app(lesson="3")
    commit(app, 3)
    answer(app, 3, "0.132*0.2*1000")
    assert wrong(app) == r"0.132\*0.2\*1000"


def test_an_answer_that_is_too_short_is_no_try(open_app: OpenApp, found: dict[int, Found]) -> None:
    app = open_app(lesson="5")
    commit(app, 5)
    for _ in range(2):
        answer(app, 5, "2")
        assert MORE_DIGITS in words(app)
        answer(app, 5, "2.")
    assert SOLUTION not in words(app)
    answer(app, 5, "1.9")
    assert done(app)[5].solved


def what_the_lesson_sets_stands_under_its_title(app: AppTest, number: int) -> None:
    lesson = LESSONS[number - 1]
    texts = [element.value for element in app.markdown]
    title = texts.index(f"### Lesson {number}: {lesson.title}")
    assert lesson.traffic(lesson.settings(Settings())) in texts[title + 1]
    assert mentions(texts[title + 1], "corpus", "seed") != lesson.shipped


def test_settings_that_do_not_act_here_are_hidden_and_keep_their_values(open_app: OpenApp) -> None:
    def hides(app: AppTest) -> bool:
        return any(".st-key-eta" in html.proto.body for html in app.get("html"))

    app = open_app(lesson="2", eta="2", seed="5")
    assert hides(app)
    assert app.slider(key="eta").value == 2.0
    app.switch_page("pages/lab.py").run()
    assert not app.exception
    assert not hides(app)
    assert app.slider(key="eta").value == 2.0
    assert app.number_input(key="seed").value == 5


def the_words_of_a_lesson_can_be_read_without_a_pointer(app: AppTest, number: int) -> None:
    told = app.get_by_key("meanings").markdown[0].value
    for key in LESSONS[number - 1].terms:
        assert set_formulas(GLOSSARY[key].meaning) in told


def test_an_answer_is_not_held_against_other_numbers(
    open_app: OpenApp, found: dict[int, Found]
) -> None:
    app = open_app(lesson="5")
    commit(app, 5)
    answer(app, 5, "7")
    assert wrong(app) == plain("7")
    app.number_input(key="seed").set_value(1).run()
    assert not wrong(app)
    app.number_input(key="seed").set_value(0).run()
    assert wrong(app) == plain("7")
