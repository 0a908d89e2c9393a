"""What lessons say: where their links lead, in which world, and with numbers that add up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultr_core.jobs.links import values_of
from ultr_core.lab import Lab
from ultr_core.lessons import GLOSSARY, LESSONS, Choice, Door, Found, Lesson
from ultr_core.lessons.measures import naive_and_weighted
from ultr_core.settings import Settings
from ultr_core.studies import LOSSES, shipped_result

ROOT = Path(__file__).parents[3]
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
DOORS = [(lesson, door) for lesson in LESSONS for door in (lesson.shows, *lesson.steps)]
every_door = pytest.mark.parametrize(
    ("lesson", "door"), DOORS, ids=lambda part: part.button if isinstance(part, Door) else part.key
)
STUDIES = ("learning_curves", "robustness")
WHERE = re.compile(r"“|at the top|from the top|the picture|in the frame")


def constants(page: str) -> Iterator[str]:
    """Every text that the page and its own parts show."""
    folders = (page, "studies") if page in STUDIES else (page,)
    files = [file for name in folders for file in (ROOT / "pages" / "views" / name).glob("*.py")]
    assert files
    for field in values_of(page):
        yield from (field.label, field.help, *getattr(field, "options", {}).values())
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@every_door
def test_what_a_link_names_is_on_its_page_and_it_says_where_to_look(
    lesson: Lesson, door: Door
) -> None:
    assert WHERE.search(door.look)
    shown = set(constants(door.page))
    for name in re.findall(r"“(.+?)”", door.look):
        assert any(text == name or text.startswith(f"{name}:") for text in shown), name


@every_door
def test_a_link_opens_the_lessons_world_but_for_what_it_says(lesson: Lesson, door: Door) -> None:
    own = lesson.settings(Settings())
    opened = door.settings(own).numbers
    for name, value in own.numbers.items():
        if opened[name] != value:
            assert re.search(rf"= {opened[name]:,g}|{opened[name]:,g} clicks", door.button), name


@pytest.mark.parametrize("lesson", [LESSONS[5]], ids=["noise"])
def test_the_other_tau_is_always_named(lesson: Lesson) -> None:
    assert isinstance(lesson.prediction, Choice)
    texts = [
        lesson.idea, lesson.meaning, lesson.prediction.question, *lesson.prediction.options,
        GLOSSARY["kendall"].name,
    ]  # fmt: skip
    bare = re.compile(r"(?<!Kendall\'s )(?<!threshold )τ")
    assert not [text for text in texts if bare.search(text)]
    assert "threshold" in lesson.idea
    assert GLOSSARY["kendall"].symbol == ""


def test_symbols_of_noise_are_explained_where_they_come_first() -> None:
    idea = next(lesson.idea for lesson in LESSONS if lesson.key == "noise")
    assert "(ε₊ = 1)" in idea
    assert "(ε₋ = 0.3)" in idea


def test_no_term_leans_on_another_ones_words() -> None:
    for term in GLOSSARY.values():
        assert not re.search(r"\b(such|that|this) (a )?test\b", term.meaning), term.name


@every_lesson
def test_a_lesson_says_what_counts_in_it(lesson: Lesson) -> None:
    settings = lesson.settings(Settings())
    words = lesson.traffic(settings)
    expected = {
        "unbiased": ["shown to 1,000 users"],
        "learning": ["3 click logs of about 45,000 clicks"],
        "variance": ["5 click logs of about 250 clicks"],
        "swaps": ["50,000 presentations"],
        "live": ["170,000 clicks to learn from, in 21 days", "10,000 interleaved queries"],
        "doubly-robust": ["3 click logs of about 1,000 clicks"],
        "trust-top": ["45,000 clicks, in one log"],
        "leaving": ["45,000 clicks, in one log"],
        "towers": ["45,000 clicks, in one log"],
        "gate": ["200 click logs of about 1,000 clicks"],
        "learners": ["4 click logs of about 45,000 clicks", "beforehand"],
    }.get(lesson.key, ["170,000 clicks, in one log"])
    assert all(part in words for part in expected)


def test_the_lesson_on_wrong_beliefs_says_how_many_logs_the_study_has(
    built_in: dict[str, Found],
) -> None:
    lesson = next(lesson for lesson in LESSONS if lesson.key == "wrong-propensity")
    result = shipped_result("misspecification", LOSSES["sum-of-ranks"])
    said = f"has {result.plan.base.draws} click logs per point"
    assert said in lesson.meaning.format(**built_in[lesson.key].numbers)


def test_fewer_clicks_tell_the_weighted_ranker_from_the_naive_one() -> None:
    """The step of lesson 4 shows what its meaning says: only the weighted ranker gains."""
    lesson = next(lesson for lesson in LESSONS if lesson.key == "learning")
    lab = Lab(lesson.settings(Settings()))
    fewer = lab.at(lesson.steps[0].settings(lab.settings))
    worlds = naive_and_weighted(fewer), naive_and_weighted(lab)
    few, many = ({key: found.rankers[key].risk for key in ("naive", "propensity")}
                 for found in worlds)  # fmt: skip
    assert few["propensity"].low > many["propensity"].high
    assert few["naive"].low < many["naive"].value < few["naive"].high


@pytest.fixture(scope="module")
def built_in() -> dict[str, Found]:
    lab = Lab()
    return {
        lesson.key: lesson.measure(lab.at(lesson.settings(Settings())))
        for lesson in LESSONS
        if lesson.key in ("learning", "noise", "wrong-propensity")
    }


def test_differences_on_screen_are_those_of_the_numbers_beside_them(
    built_in: dict[str, Found],
) -> None:
    by_key = {lesson.key: lesson for lesson in LESSONS}
    words = by_key["noise"].exercise.question.format(**built_in["noise"].numbers)
    high, low, gap = (float(x) for x in re.findall(r"\d+\.\d\d", words)[:3])
    assert round(high - low, 2) == gap
    words = by_key["learning"].exercise.solution.format(**built_in["learning"].numbers)
    a, b, c, d, way, whole = (float(x) for x in re.findall(r"\d+\.\d\d", words)[:6])
    assert (round(a - b, 2), round(c - d, 2)) == (way, whole)
    assert f"{100 * way / whole:.0f}%" in words
    margin, _, better, worse, *_ = (
        float(x) for x in re.findall(r"\d+\.\d\d", built_in["learning"].sentence)
    )
    assert round(worse - better, 2) == margin
