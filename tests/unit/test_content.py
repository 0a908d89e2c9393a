"""Text files: what the reader makes of them, and every one with the values that it gets."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pages.app.markdown import in_code
from pages.views.about import view as about_words
from pages.views.lab import words as lab_words
from pages.views.proofs import words as proofs_words
from pages.views.propensities import words as propensity_words
from pages.views.repairs import words as repair_words
from pages.views.studies import page as study_words
from pages.views.your_data import curve as curve_words
from pages.views.your_data import gate as gate_words
from pages.views.your_data import input as data_words
from tests.inputs import lesson_splits
from tests.meaning import refused
from tests.outside_text import texts_in
from ultr_core import claims
from ultr_core.claims import CLAIMS, COMPARISONS, CONVENTIONS, READINGS, compare, small_corpus
from ultr_core.claims.ledger import SIZES
from ultr_core.content import Content, fill, named_in, read, unbroken
from ultr_core.errors import InputError
from ultr_core.lab import Comparison, EstimatedRisks, Lab, RiskPicture
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.lessons import GLOSSARY, LESSONS, PLANS, Choice, Lesson
from ultr_core.lessons.model import words_of
from ultr_core.own_data.deployment import Gate
from ultr_core.own_data.evaluation import RankerDifference
from ultr_core.proofs import BREAKS, DERIVATIONS, PROOFS, SmallWorld, Ways
from ultr_core.risk import Estimate
from ultr_core.settings import Settings
from ultr_core.studies import REPAIRS
from ultr_core.users import PowerLaw

ROOT = Path(__file__).parents[2]
FILES = sorted(path for room in ("ultr_core", "pages") for path in (ROOT / room).rglob("*.toml"))
TEXTS = [
    (path, name, unbroken(text))
    for path in FILES
    for name, text in texts_in(read(str(path.parents[1] / "x.py"), path.stem).entries)
]

# The reader.


def content(folder: Path, text: str) -> Content:
    (folder / "content").mkdir()
    (folder / "content" / "some.toml").write_text(text, encoding="utf-8")
    return read(str(folder / "module.py"), "some")


@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        ("{risk:.2f} of {most:,}", {"risk": 1.005, "most": 1000}, "1.00 of 1,000"),
        ("no value", {}, "no value"),
        ("{{braces}} around {x}", {"x": "{y}"}, "{braces} around {y}"),
    ],
)
def test_a_text_is_shown_with_its_values(
    tmp_path: Path, text: str, values: dict[str, object], shown: str
) -> None:
    words = content(tmp_path, f'a = "{text}"\n[b]\nc = ["{text}"]')
    assert words.text("a", **values) == words.text("b.c.0", **values) == shown
    assert words.filled(**values).texts("b.c") == (shown,)
    assert fill(text, values | {"other": 1}) == shown


@pytest.mark.parametrize(
    ("text", "values", "named"),
    [
        ("{risk:.2f}", {}, "{risk}"),
        ("{risk}", {"risk": 1, "tau": 2}, "{tau}"),
        ("{risk:.2f}", {"risk": "high"}, "'f'"),
        ("{risk", {"risk": 1}, "brace"),
        ("{}", {"risk": 1}, "{}"),
        ("{risk.real}", {"risk": 1}, "{risk.real}"),
    ],
)
def test_a_missing_or_unused_value_is_refused(
    tmp_path: Path, text: str, values: dict[str, object], named: str
) -> None:
    words = content(tmp_path, f'[a]\nb = "{text}"')
    for use in (lambda: words.text("a.b", **values), lambda: words.filled(**values)):
        with pytest.raises(InputError) as caught:
            use()
        assert named in str(caught.value)
        assert str(caught.value).count("\n") == 0


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    words = content(tmp_path, "[a]\nb = 3\nc = [1]")
    for name in ("x", "a.x", "a.b", "a.b.x", "a.c.1", "a.c.0", "a"):
        about = "not_a_text" if name in ("a.b", "a.c.0", "a") else "missing_text"
        with refused(about, f"'{name}'", "content/some.toml"):
            words.text(name)
    with refused("missing_text", "a.x"):
        words.part("a").text("x")


@pytest.mark.parametrize("text", ["a = ", "a = 'x'\na = 'y'", None])
def test_a_file_that_is_damaged_or_missing_is_named(tmp_path: Path, text: str | None) -> None:
    with refused("damaged_file", f"content/{'none' if text is None else 'some'}.toml"):
        read(str(tmp_path / "x.py"), "none") if text is None else content(tmp_path, text)


def test_lines_may_be_broken_anywhere_in_a_paragraph() -> None:
    assert unbroken("a\nb\n\n- c\nd\n- e\n\n    code\n    more\n") == (
        "a b\n\n- c d\n- e\n\n    code\n    more"
    )


# The texts of the house.


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Settings(seed=3), lesson_splits())


def of_lessons(lab: Lab) -> Iterator[str]:
    for lesson in LESSONS:
        at = lab.at(lesson.settings(lab.settings))
        given, found, asked = lesson.given(at), lesson.measure(at), lesson.prediction
        yield from (lesson.title, fill(lesson.idea, given), fill(asked.question, given))
        yield from (found.sentence, fill(lesson.meaning, found.numbers))
        if isinstance(asked, Choice):
            yield from asked.options
        for door in (lesson.shows, *lesson.steps):
            yield from (door.look, door.button, door.page, *map(str, door.state.values()))
        exercise = lesson.exercise
        yield from (*lesson.terms, exercise.unit, exercise.share)
        hints = (mistake.hint for mistake in exercise.mistakes)
        for text in (exercise.question, exercise.hint, exercise.solution, *hints):
            yield fill(text, found.numbers)
    # Which of both is said depends on the corpus.
    yield from (words_of("wrong-propensity").text(name) for name in ("better", "worse"))
    for plan in PLANS:
        yield from (plan.name, plan.purpose)
        for step in plan.steps:
            yield from (step.do, step.ask, step.reply)
    for term in GLOSSARY.values():
        yield from (term.name, term.symbol, term.meaning, term.section)


def of_claims() -> Iterator[str]:
    for entry in CLAIMS.values():
        yield from (*entry.ids, entry.section, entry.where, entry.claim, entry.check, entry.link)
        yield from (entry.origin, entry.mutation)
    yield from SIZES
    for words in read(claims.__file__, "claims").parts("claims"):
        if "not_checkable" in words.entries:
            yield CLAIMS[words.texts("ids")[0]].measure(small_corpus()).reason
    for convention in CONVENTIONS:
        yield from (convention.name, convention.text)
    for reading in READINGS:
        yield from (*reading.ids, reading.place, reading.unclear, reading.taken, reading.why)
        yield from (reading.kind, reading.other)
    small = small_corpus()
    for key in COMPARISONS:
        compared = compare(key, small)
        yield from (compared.quantity, compared.sentence, compared.world)


CURVE = (1.0, 0.5, 0.25)
USERS = (Settings(), Settings(assumed_eta=2.0), Settings(curve=CURVE, assumed_curve=CURVE),
         Settings(curve=CURVE))  # fmt: skip


def of_the_lab_page() -> Iterator[str]:
    value, kinds = np.zeros(2), ("production", "skyline")
    for worth in (9.0, 5.0):
        naive, weighted = (
            EstimatedRisks(value, value, value, value, tau, tau, worth, 3.0, value, value)
            for tau in (0.7, 0.9)
        )
        picture = RiskPicture(kinds, kinds, value, naive, weighted, 1.0, 0.0, 9, 9)
        yield from (lab_words.USERS_HELP, lab_words.ESTIMATES_HELP, lab_words.RANKERS_HELP)
        yield lab_words.USERS_WITHOUT_SCRIPT
        yield lab_words.sample_sentence(picture)
    excess = Estimate(-2.0, 0.1, -2.2, -1.8, 5, 5.0)
    for settings in USERS:
        yield lab_words.law_condition(settings)
        yield from lab_words.broken_assumptions(settings).values()
        yield lab_words.at_rank_ten(settings, "probability")
        yield lab_words.at_rank_ten(settings, "weight")
        comparison = Comparison(settings, {}, {}, 5, 1, 1, excess, None, ())
        yield lab_words.two_orders(picture, comparison)
    for step in lab_words.STEPS:
        yield from (step.question, step.button)


def of_the_proofs_page() -> Iterator[str]:
    proof = DERIVATIONS["ips-unbiased"]
    for curve, assumed, settings in (
        ("1,1/2,1/3,1/4,1/5,1/6", "1,1,1,1,1,1", Settings(assumed_eta=0.0)),
        ("1,1/2,1/3,1/4,1/5,1/6", "1,1,1,1,1,1", Settings()),
        ("1,1/2,0,0,0,0", "1,1/2,0,0,0,0", Settings()),
    ):
        world = SmallWorld.from_query({"curve": curve, "assumed": assumed})
        yield proofs_words.headline(proof, proof.derive(Ways(world)), world, settings)
    for step in proofs_words.STEPS:
        yield from (step.question, step.button)


def of_proofs() -> Iterator[str]:
    for proof in PROOFS.values():
        yield from (proof.name, proof.title, proof.statement, proof.fails_when)
    for entry in BREAKS.values():
        yield from (entry.what, entry.consequence, entry.repair)


def of_the_propensities_page(lab: Lab) -> Iterator[str]:
    for sessions in (2, 20, 50_000):
        design = SwapDesign(sessions=sessions)
        found, truth = lab.swaps(design), PowerLaw(1.0).at(np.arange(1, design.last_rank + 1))
        yield propensity_words.headline(found, truth)
        yield propensity_words.agreement_sentence(found, truth)
    if found.estimate is not None:
        points = tuple(replace(point, standard_error=None) for point in found.estimate.points)
        unsure = replace(found, estimate=replace(found.estimate, points=points))
        yield propensity_words.headline(unsure, truth)
    yield propensity_words.price_sentence(found, design)
    yield propensity_words.trust_warning([1.0, 0.7], truth, design)
    yield propensity_words.precision_sentence(5, 0.1, 123_456, design)
    for step in propensity_words.STEPS:
        yield from (step.question, step.button)


def of_other_pages() -> Iterator[str]:
    yield from (*data_words.LOOKS_LIKE.values(), *data_words.HELP.values())
    difference = RankerDifference("a", "b", Estimate.normal(-1.0, 0.1, 9, 9.0))
    yield from (
        curve_words.other_users(),
        gate_words.gate_promise(),
        *gate_words.gate_points(Gate(difference, 2), 2, by_fold=True),
    )
    for study in study_words.FORMULAS:
        yield from (study_words.meaning(study), study_words.on_own_corpus(study))
    yield from (repair_words.how_enumerated(), *map(repair_words.WORDS.text, ("others", "loggers")))
    yield from (repair_words.how_linked(), repair_words.how_tested())
    for row in (*repair_words.linked_rows(), *repair_words.tower_rows()):
        yield from row.values()
    for name in REPAIRS:
        yield repair_words.enumerated(name)
        yield from repair_words.of_break(name)
    yield from about_words.WORDS.texts("references")
    for section in about_words.WORDS.parts("sections"):
        yield from (section.text("heading"), section.text("text"))


@pytest.fixture(scope="module")
def shown(lab: Lab) -> str:
    """Everything that lessons, claims, proofs and pages say, with real values."""
    return "\n\n".join(
        (
            *of_lessons(lab), *of_claims(), *of_the_lab_page(), *of_the_proofs_page(),
            *of_proofs(), *of_the_propensities_page(lab), *of_other_pages(),
        )
    )  # fmt: skip


def pattern(text: str) -> re.Pattern[str]:
    """The text with anything in the place of its values."""
    parts = string.Formatter().parse(text)
    return re.compile("".join(re.escape(words) + ".+?" * (name is not None)
                              for words, name, _, _ in parts))  # fmt: skip


def test_no_line_of_a_text_ends_within_a_ranking() -> None:
    """Documents from the top, as in "C A B": the spaces between them do not break."""
    breaks = re.compile(r"\b[A-Z] [A-Z] [A-Z]\b")
    assert breaks.search("C A B") and not breaks.search("C\u00a0A\u00a0B")
    found = [(path.stem, name) for path, name, text in TEXTS if breaks.search(text)]
    assert found == []


def test_an_option_of_a_command_on_a_page_is_a_piece_of_code_of_its_own() -> None:
    """Only such a piece is never broken; a line may end after the hyphens of others."""
    codes = [
        code
        for path, _, text in TEXTS if path.is_relative_to(ROOT / "pages")
        for code in re.findall(r"`([^`]+)`", text)
    ]  # fmt: skip
    assert any(code.startswith("--") for code in codes)
    assert [code for code in codes if " --" in code] == []
    assert in_code("a --c --e").split("` `") == ["`a", "--c", "--e`"]


def test_there_are_texts() -> None:
    assert len(FILES) >= 18
    assert len(TEXTS) > 500


def test_every_text_is_shown_with_real_values(shown: str) -> None:
    """None is left over, and none lacks a value."""
    left = [f"{path.name}: {name}" for path, name, text in TEXTS if not pattern(text).search(shown)]
    assert left == []


ONLY_IN_THE_NOTEBOOK = {
    "clicks-lie": {"deep_rate", "top_rate"},
    "propensity": {"missed", "p"},
    "unbiased": {f"{letter}_{of}" for letter in "ACDF" for of in ("new", "weight")},
    "learning": {"weighted"},
    "variance": {"naive", "weighted"},
    "noise": {"default_share", "expected_gap"},
    "wrong-propensity": {"harm_high", "harm_low"},
    "swaps": {"sessions"},
    "live": {"decided", "half", "share", "ties"},
    "doubly-robust": set(),
    "trust-top": set(),
    "leaving": set(),
    "towers": set(),
    "gate": set(),
    "learners": set(),
}
"""Measured numbers that no text of the lesson names; its notebook lists them all."""


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
def test_every_number_of_a_lesson_is_said(lesson: Lesson, lab: Lab) -> None:
    numbers = set(lesson.measure(lab.at(lesson.settings(lab.settings))).numbers)
    said = {name for _, text in texts_in(words_of(lesson.key).entries)
            for name in named_in(text)}  # fmt: skip
    asked = {lesson.prediction.truth, lesson.exercise.answer}
    asked |= {mistake.number for mistake in lesson.exercise.mistakes}
    assert numbers - said - asked == ONLY_IN_THE_NOTEBOOK[lesson.key]
