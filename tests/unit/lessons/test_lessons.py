from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from tests.inputs import lesson_splits
from ultr_core.claims.gate_runs import CANDIDATES
from ultr_core.jobs.lessons import LESSON, LESSON_PLAN
from ultr_core.jobs.links import page_values, read_page_query
from ultr_core.lab import Lab, simulate_logs, small_world
from ultr_core.lessons import (
    GLOSSARY,
    LESSONS,
    PLANS,
    Choice,
    Found,
    Lesson,
    plan_html,
    plan_markdown,
    plan_row,
)
from ultr_core.lessons.measures import GATED_LOGS, gated
from ultr_core.proofs import DERIVATIONS, Ways
from ultr_core.proofs.towers import CURVED, LOGGERS, TowerCase
from ultr_core.risk.sign_test import sign_test
from ultr_core.settings import Settings

READER = Settings(seed=3)
BY_KEY = {lesson.key: lesson for lesson in LESSONS}
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(READER, lesson_splits())


@pytest.fixture(scope="module")
def found(lab: Lab) -> dict[str, Found]:
    return {lesson.key: lesson.measure(lab.at(lesson.settings(READER))) for lesson in LESSONS}


def templates(lesson: Lesson) -> Iterator[str]:
    exercise = lesson.exercise
    yield from (lesson.meaning, exercise.question, exercise.hint, exercise.solution)
    yield from (mistake.hint for mistake in exercise.mistakes)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_lessons_are_as_many_as_fit_a_row_and_named_once() -> None:
    assert 6 <= len(LESSONS) <= 15
    assert len(BY_KEY) == len({lesson.title for lesson in LESSONS}) == len(LESSONS)
    assert list(LESSON.options) == [str(n) for n in range(1, len(LESSONS) + 1)]


@every_lesson
def test_settings_keep_the_reader_and_fix_the_rest(lesson: Lesson) -> None:
    settings = lesson.settings(READER.with_values(eta=1.7, clicks=500))
    assert settings.seed == READER.seed
    for name, value in settings.numbers.items():
        if name != "seed":
            assert value == lesson.changes.get(name, getattr(Settings(), name))


@every_lesson
def test_doors_open_exactly_what_they_say(lesson: Lesson) -> None:
    settings = lesson.settings(READER)
    for door in (lesson.shows, *lesson.steps):
        page, _, query = door.address(settings).partition("?")
        assert page in {*page_values(), "learning_curves"}
        opened, values, notices = read_page_query(page, query)
        assert not notices
        assert opened == door.settings(settings)
        for key, value in door.state.items():
            assert values[key] == value
        assert "mode=lecture" in door.address(settings, lecture=True)
    assert lesson.shows.settings(settings) == settings


@every_lesson
def test_every_template_has_its_numbers(lesson: Lesson, lab: Lab, found: dict[str, Found]) -> None:
    numbers = found[lesson.key].numbers
    given = lesson.given(lab.at(lesson.settings(READER)))
    assert fields(lesson.idea) | fields(lesson.prediction.question) <= set(given)
    assert given.items() <= numbers.items()
    for text in templates(lesson):
        assert fields(text) <= set(numbers)
        assert "{" not in text.format(**numbers)
    assert all(np.isfinite(value) for value in numbers.values())
    assert all(mistake.number in numbers for mistake in lesson.exercise.mistakes)
    assert set(lesson.terms) <= set(GLOSSARY)


@every_lesson
def test_right_and_wrong_predictions_are_read_with_both_numbers(
    lesson: Lesson, found: dict[str, Found]
) -> None:
    numbers, prediction = found[lesson.key].numbers, lesson.prediction
    truth = numbers[prediction.truth]
    if isinstance(prediction, Choice):
        right, *wrong = sorted(range(len(prediction.options)), key=lambda i: i != truth)
    else:
        right, wrong = truth, [truth + 2 * prediction.near * abs(truth) + prediction.step]
        assert prediction.low <= prediction.high
    good, words = prediction.read(right, numbers)
    assert good
    assert prediction.answer(numbers) in words
    for guess in wrong:
        good, words = prediction.read(guess, numbers)
        assert not good
        assert prediction.spoken(guess) in words
        assert prediction.answer(numbers) in words


@every_lesson
def test_exercises_accept_the_answer_and_teach_otherwise(
    lesson: Lesson, found: dict[str, Found]
) -> None:
    numbers, exercise = found[lesson.key].numbers, lesson.exercise
    answer = numbers[exercise.answer]
    for digits in range(1, 7):
        assert exercise.judge(f"{answer:.{digits}e}", numbers).right
    assert exercise.judge(f"{answer:.4f} {exercise.unit}", numbers).right
    for wrong in (answer * (1 + 3 * exercise.tolerance), -answer, 0):
        assert not exercise.judge(f"{wrong:.6g}", numbers).right
    for mistake in exercise.mistakes:
        value = numbers[mistake.number]
        if f"{value:.6g}" == f"{answer:.6g}":  # half of the way done is half of it left
            continue
        verdict = exercise.judge(f"{value:.8g}", numbers)
        assert not verdict.right
        assert verdict.words == mistake.hint.format(**numbers)


@every_lesson
def test_pictures_state_their_finding(lesson: Lesson, lab: Lab) -> None:
    figure = lesson.figure(lab.at(lesson.settings(READER)), "dark")
    assert len(figure.alt) > 30
    assert len(figure.rows)


def test_answers_agree_with_closed_forms(found: dict[str, Found], lab: Lab) -> None:
    def answer(key: str) -> float:
        return found[key].numbers[BY_KEY[key].exercise.answer]

    first = found["clicks-lie"].numbers
    assert answer("clicks-lie") == pytest.approx(1000 * first["middle_share"] / first["middle"])
    world = lab.world()
    here = world.train.presented_ranks == int(first["middle"])
    assert first["middle_share"] == round(float(world.train.relevance[here].mean()), 3)
    assert answer("propensity") == pytest.approx(10**0.7)
    assert answer("unbiased") == 5 * 2 + 1 * 5
    assert answer("variance") == pytest.approx(100 / 52)
    noise = found["noise"].numbers
    assert answer("noise") == pytest.approx(0.7 * noise["true_gap"], rel=1e-9)
    assert answer("noise") == pytest.approx(noise["expected_gap"], abs=0.01)
    assert answer("wrong-propensity") == pytest.approx(3)
    swaps = found["swaps"].numbers
    rates = swaps["clicked"] / swaps["shown"], swaps["top_clicked"] / swaps["top_shown"]
    assert answer("swaps") == pytest.approx(rates[0] / rates[1])
    assert answer("live") == pytest.approx(22 / 1024)
    assert answer("doubly-robust") == pytest.approx(0.6 + (1 - 0.06) / 0.4)
    assert answer("trust-top") == pytest.approx((1 - 0.1625) / (0.485 - 0.1625))
    assert answer("leaving") == pytest.approx(10**0.3 / 0.2**2)
    off = TowerCase("product", curved=CURVED).off("perfect")[-1]
    assert answer("towers") == pytest.approx(np.exp(-off))
    assert answer("gate") == pytest.approx(0.4 * 2.8070338 - 0.9)
    learners = found["learners"].numbers
    assert answer("learners") == pytest.approx(
        learners["weighted"] + learners["naive_trees"] - learners["naive"]
    )
    learned = found["learning"].numbers
    way = learned["production"] - learned["naive"]
    whole = learned["production"] - learned["skyline"]
    assert answer("learning") == pytest.approx(100 * way / whole, abs=1.5 / whole)


def test_findings_agree_with_the_core(found: dict[str, Found], lab: Lab) -> None:
    one_query = found["unbiased"].numbers
    assert (one_query["lowest"], one_query["highest"], one_query["loss"]) == (0, 27, 8)
    assert one_query["weighted"] == 8
    assert one_query["naive"] == pytest.approx(5 / 2 + 1 / 5 + 2 / 6)
    assert found["live"].numbers["p"] == sign_test(87, 48).p_value
    lesson = BY_KEY["clicks-lie"]
    settings = lesson.settings(READER)
    log = simulate_logs(lab.world(), settings).train
    top, low = log.rank == 1, log.rank == int(found["clicks-lie"].numbers["deep"])
    rates = [log.clicks[rows].sum() / log.impressions[rows].sum() for rows in (top, low)]
    assert found["clicks-lie"].numbers["truth"] == pytest.approx(rates[0] / rates[1])
    rows = low & ~lab.world().train.relevance[log.document]
    assert log.clicks[rows].sum() == 0


def test_the_lesson_on_leaving_users_says_how_many_are_left_and_what_a_click_counts(
    found: dict[str, Found], lab: Lab
) -> None:
    numbers, queries = found["leaving"].numbers, lab.world().train
    bounds, deep = queries.corpus.query_offsets, int(numbers["deep"])
    here = []
    for first, last in pairwise(bounds):
        in_order = queries.relevance[first:last][np.argsort(queries.presented_ranks[first:last])]
        look = (1 / np.arange(1, deep)) ** 0.3
        if last - first >= deep:
            a = look * np.where(in_order[: deep - 1], 1.0, 0.1)
            here.append(np.prod(1 - 0.8 * a))
    assert numbers["still"] == pytest.approx(100 * np.mean(here), rel=1e-12)
    settings = BY_KEY["leaving"].settings(READER).with_values(users="leaving", continuation=0.2)
    log = simulate_logs(lab.world(), settings).train
    weights = np.repeat(log.rank**0.3 * 5.0**log.context, log.clicks)
    assert numbers["largest"] == pytest.approx(weights.max())
    top = np.sort(weights)[::-1]
    whole = int(top.size / 100)
    share = (top[:whole].sum() + (top.size / 100 - whole) * top[whole]) / top.sum()
    assert numbers["heavy"] == pytest.approx(100 * share)
    assert 1 < numbers["heavy"] < 100


def test_the_lesson_on_towers_has_the_towers_of_the_proofs(found: dict[str, Found]) -> None:
    numbers = found["towers"].numbers
    right = TowerCase("product")
    for logger in LOGGERS:
        fitted = TowerCase("product", curved=CURVED).fit(logger).examination[-1]
        assert numbers[logger] == pytest.approx(100 * fitted)
        assert np.exp(right.off(logger)[-1]) == pytest.approx(1, abs=1e-6)
    assert numbers["truth"] == 2 and numbers["random"] == pytest.approx(numbers["truly"], rel=0.05)


def test_the_lesson_on_the_gate_shows_what_choosing_does_to_the_promise(
    found: dict[str, Found], lab: Lab
) -> None:
    """200 logs: 5% is 10 of them; a bound that errs so often gives 20 once in 500 seeds.

    Twenty rankers, each a little worse; whoever picks the best by its clicks gets one that passes
    far more often than promised, unless the gate knows how many there were.
    """
    numbers = found["gate"].numbers
    assert numbers["single"] <= 5 and numbers["counted"] <= 10
    assert numbers["alone"] == numbers["truth"] > 2 * numbers["promise"]
    at = lab.at(BY_KEY["gate"].settings(READER))
    shown, validation = gated(at), lab.world().validation
    assert shown.pi.size == validation.corpus.n_documents
    assert (shown.truth[-CANDIDATES:] > 0).all()
    assert numbers["most"] == pytest.approx(shown.truth[-CANDIDATES:].max())
    share = numbers["alone"] / 100
    assert share * GATED_LOGS == pytest.approx(round(share * GATED_LOGS))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_plans_fill_their_time_and_print_every_number(
    plan: object, found: dict[str, Found]
) -> None:
    chosen = next(p for p in PLANS if p == plan)
    assert chosen.name == f"{chosen.minutes} minutes"
    assert str(chosen.minutes) in LESSON_PLAN.options
    rows = [
        plan_row(chosen, place, LESSONS, found[LESSONS[step.lesson - 1].key], READER, "http://x")
        for place, step in enumerate(chosen.steps)
    ]
    assert [row.begins for row in rows[1:]] == list(
        np.cumsum([step.minutes for step in chosen.steps])[:-1]
    )
    text, page = plan_markdown(chosen, rows), plan_html(chosen, rows)
    for row in rows:
        assert row.finding in text
        assert text.index(row.then) < text.index(row.reply)
        assert row.reply.endswith(".")
        assert f"seed=3&lesson={row.number}&mode=lecture" in row.lesson_link
        assert row.page_link in text
        assert row.page_link.replace("&", "&amp;") in page
    assert "@media print" in page
    assert "<script" not in page
    assert "{" not in text
    assert "**" not in page


def test_the_door_on_trust_bias_opens_a_proof_that_it_breaks() -> None:
    lesson = BY_KEY["noise"]
    door = next(door for door in lesson.steps if door.state.get("break_trust"))
    settings = door.settings(lesson.settings(READER))
    world = small_world(settings, {})
    derive = DERIVATIONS[door.state["proof"]].derive
    assert derive(Ways(world)).holds
    assert not derive(Ways(world.breaking("trust"))).holds


def test_glossary_terms_are_complete_and_used() -> None:
    for key, term in GLOSSARY.items():
        assert key == term.key
        assert term.meaning.endswith(".")
    assert len({term.name for term in GLOSSARY.values()}) == len(GLOSSARY)
    symbols = {term.symbol for term in GLOSSARY.values()}
    assert {"Eₒ", "Δ(y|x, r)", "Q(d)"} <= symbols  # as the proofs write them
    assert {"trust", "position-model", "smoothing", "power", "skip-above"} <= set(GLOSSARY)
