"""The lessons and the glossary: what measures and draws each; the rest is in text files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultr_core.content import Content, fill, read
from ultr_core.lab import Lab
from ultr_core.lab.live import LiveDesign
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.lessons import measures, pictures
from ultr_core.lessons.answers import Exercise, Mistake
from ultr_core.lessons.model import Choice, Door, Found, Guess, Lesson, words_of
from ultr_core.settings import Settings
from ultr_core.words import counted

_LEARNING = words_of("learning").entries
CLICKS: int = _LEARNING["changes"]["clicks"]
FEWER_CLICKS: int = _LEARNING["steps"]["fewer-clicks"]["changes"]["clicks"]
"""Clicks of lesson 4, and as many as already teach the naive ranker all that it will learn."""


def _one_log(settings: Settings) -> str:
    return f"about {counted(settings.clicks, 'click')}, in one log"


def _a_log_for_each_draw(settings: Settings) -> str:
    return f"{counted(settings.draws, 'click log')} of about {settings.clicks:,} clicks each"


def _visits(_: Settings) -> str:
    return f"a single query, shown to {pictures.VISITS:,} users"


def _presentations(_: Settings) -> str:
    return f"{SwapDesign().sessions:,} presentations of a list"


def _gated_logs(settings: Settings) -> str:
    return f"{measures.GATED_LOGS} click logs of about {settings.clicks:,} clicks each"


def _beforehand(settings: Settings) -> str:
    logs = measures.learners_result().plan.base.draws
    return f"{logs} click logs of about {settings.clicks:,} clicks each, simulated beforehand"


def _live(settings: Settings) -> str:
    design = LiveDesign()
    return (
        f"about {settings.clicks:,} clicks to learn from, in {design.days} days, then "
        f"{design.interleaved:,} interleaved queries for each contest"
    )


def _lesson(
    key: str,
    measure: Callable[[Lab], Found],
    figure: pictures.Picture,
    *,
    given: Callable[[Lab], Mapping[str, float]] = lambda _: {},
    traffic: Callable[[Settings], str] = _one_log,
    users: str = "position",
    shipped: bool = False,
    **values: int,
) -> Lesson:
    """A lesson with the words of ``content/KEY.toml``; ``values`` are named by its tasks."""
    words = words_of(key)
    return Lesson(
        key=key,
        terms=words.texts("terms"),
        changes=words.entries["changes"],
        prediction=_prediction(words.part("prediction"), values),
        measure=measure,
        figure=figure,
        shows=_door(words.part("shows"), values),
        steps=tuple(_door(step, values) for step in words.parts("steps")),
        exercise=_exercise(words.part("exercise")),
        given=given,
        traffic=traffic,
        users=users,
        shipped=shipped,
    )


def _prediction(words: Content, values: Mapping[str, int]) -> Choice | Guess:
    question = words.template("question")
    if "options" in words.entries:
        return Choice(question, words.texts("options"))
    return Guess(fill(question, values) if values else question, **words.entries["slider"])


def _door(words: Content, values: Mapping[str, int]) -> Door:
    look, button = (fill(words.template(name), values) for name in ("look", "button"))
    changes, state = (words.entries.get(name, {}) for name in ("changes", "state"))
    return Door(look, button, words.text("page"), changes, state)


def _exercise(words: Content) -> Exercise:
    """The task; its mistakes are named by their numbers."""
    mistakes = words.part("mistakes")
    return Exercise(
        question=words.template("question"),
        answer="answer",
        unit=words.text("unit"),
        tolerance=words.entries["tolerance"],
        mistakes=tuple(Mistake(name, mistakes.template(name)) for name in mistakes.entries),
        hint=words.template("hint"),
        solution=words.template("solution"),
        share=words.entries.get("share", ""),
    )


LESSONS: tuple[Lesson, ...] = (
    _lesson(
        "clicks-lie",
        measures.clicks_by_rank,
        pictures.clicks_by_rank,
        given=measures.relevance_by_rank,
    ),
    _lesson(
        "propensity",
        measures.unseen_relevant,
        pictures.examination,
        given=measures.rank_of_unseen,
    ),
    _lesson("unbiased", measures.one_query, pictures.settling_users, traffic=_visits),
    _lesson(
        "learning",
        measures.learned,
        pictures.trained,
        given=measures.baselines,
        traffic=_a_log_for_each_draw,
        clicks=CLICKS,
        fewer=FEWER_CLICKS,
        more=CLICKS - FEWER_CLICKS,
    ),
    _lesson("variance", measures.few_clicks, pictures.trained, traffic=_a_log_for_each_draw),
    _lesson("noise", measures.noisy_order, pictures.risks, given=measures.noise_share),
    _lesson("wrong-propensity", measures.wrong_belief, pictures.beliefs),
    _lesson(
        "swaps",
        measures.swapped,
        pictures.swap_curves,
        given=measures.rank_of_swap,
        traffic=_presentations,
    ),
    _lesson("live", measures.live_test, pictures.win_shares, traffic=_live),
    _lesson("doubly-robust", measures.repaired, pictures.repaired, traffic=_a_log_for_each_draw),
    _lesson(
        "trust-top",
        measures.trusted,
        pictures.trusted,
        given=measures.trust_by_rank,
        users=measures.TRUST,
    ),
    _lesson(
        "leaving",
        measures.left,
        pictures.left,
        given=measures.left_by_rank,
        users=measures.LEAVING,
    ),
    _lesson("towers", measures.two_towers, pictures.towers, given=measures.examined_last),
    _lesson(
        "gate",
        measures.selected,
        pictures.gate_shares,
        given=measures.worse_rankers,
        traffic=_gated_logs,
    ),
    _lesson(
        "learners",
        measures.learners,
        pictures.learners,
        given=measures.learners_given,
        traffic=_beforehand,
        shipped=True,
    ),
)
"""All lessons in order; the first is number 1."""


@dataclass(frozen=True)
class Term:
    """A term: its name, its symbol if any, its meaning, and where the paper introduces it."""

    key: str
    name: str
    symbol: str
    meaning: str
    section: str = ""


def _term(words: Content) -> Term:
    """A term of the text file; symbol and section may be left out there."""
    symbol, section = (
        words.text(name) if name in words.entries else "" for name in ("symbol", "section")
    )
    return Term(words.key, words.text("name"), symbol, words.text("meaning"), section)


GLOSSARY: Mapping[str, Term] = MappingProxyType(
    {term.key: term for term in map(_term, read(__file__, "glossary").parts())}
)
"""Terms and symbols: lessons explain them on hover, and the glossary lists them."""
