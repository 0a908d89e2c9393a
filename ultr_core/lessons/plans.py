"""Plans for lecturers: 45 and 90 minutes, with what to show, what to ask and what comes out."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from ultr_core.content import Content, fill, read
from ultr_core.lessons.model import Found, Lesson
from ultr_core.lessons.registry import CLICKS, FEWER_CLICKS
from ultr_core.settings import Settings


@dataclass(frozen=True)
class PlanStep:
    """Minutes for one lesson: what to do, and what to ask the class besides its prediction.

    ``lesson`` counts from 1; ``reply`` is what a good answer to ``ask`` says.
    """

    minutes: int
    lesson: int
    do: str
    ask: str
    reply: str


@dataclass(frozen=True)
class Plan:
    """A class session: its name, its purpose, and its steps."""

    name: str
    purpose: str
    steps: tuple[PlanStep, ...]

    @property
    def minutes(self) -> int:
        """Length of the whole session."""
        return sum(step.minutes for step in self.steps)


def _plans(words: Content) -> Iterator[Plan]:
    """The plans of a text file, whose steps may name its text ``vote``."""
    told = words.filled(vote=words.text("vote"), clicks=CLICKS, fewer=FEWER_CLICKS)
    for plan in told.parts("plans"):
        steps = (
            PlanStep(
                step.entries["minutes"],
                step.entries["lesson"],
                step.text("do"),
                step.text("ask"),
                step.text("reply"),
            )
            for step in plan.parts("steps")
        )
        yield Plan(plan.text("name"), plan.text("purpose"), tuple(steps))


PLANS = tuple(_plans(read(__file__, "plans")))


@dataclass(frozen=True)
class PlanRow:
    """One line of a plan as it is shown and printed."""

    begins: int
    minutes: int
    number: int
    title: str
    do: str
    ask: str
    answer: str
    finding: str
    then: str
    reply: str
    exercise: str
    lesson_link: str
    page_link: str


def plan_row(
    plan: Plan,
    position: int,
    lessons: tuple[Lesson, ...],
    found: Found,
    reader: Settings,
    address: str,
) -> PlanRow:
    """Line ``position`` (from 0) of a plan, with the numbers of its lesson.

    ``address`` is the app's, without a trailing slash; links open in lecture mode.
    """
    step = plan.steps[position]
    lesson = lessons[step.lesson - 1]
    numbers = found.numbers
    settings = lesson.settings(reader)
    prediction = lesson.prediction
    question = fill(prediction.question, numbers).replace("**", "")
    own = "&".join(
        part for part in (_shared_query(reader), f"lesson={step.lesson}", "mode=lecture") if part
    )
    return PlanRow(
        begins=sum(earlier.minutes for earlier in plan.steps[:position]),
        minutes=step.minutes,
        number=step.lesson,
        title=lesson.title,
        do=step.do,
        ask=question,
        then=step.ask,
        reply=step.reply,
        answer=f"{_upper(prediction.answer(numbers))}.",
        finding=found.sentence,
        exercise=fill(lesson.exercise.solution, numbers),
        lesson_link=f"{address}/lessons?{own}",
        page_link=f"{address}/{lesson.shows.address(settings, lecture=True)}",
    )


def _upper(text: str) -> str:
    return text if text.startswith("η") else text[:1].upper() + text[1:]


def _shared_query(reader: Settings) -> str:
    return Settings(
        seed=reader.seed, corpus_seed=reader.corpus_seed, relevant_grade=reader.relevant_grade
    ).to_query()


def plan_markdown(plan: Plan, rows: list[PlanRow]) -> str:
    """The plan as a Markdown document, for printing or editing."""
    lines = [f"# Clicks that lie, in {plan.name}", "", plan.purpose, ""]
    for row in rows:
        lines += [
            f"## {_clock(row)}: lesson {row.number}, {row.title}",
            "",
            f"- **Do.** {row.do}",
            f"- **Ask.** {row.ask}",
            f"- **Answer.** {row.answer} {row.finding}",
            f"- **Then ask.** {row.then} *A good answer:* {row.reply}",
            f"- **Exercise.** {row.exercise}",
            f"- **Project.** [The lesson]({row.lesson_link}), [the page]({row.page_link})",
            "",
        ]
    return "\n".join(lines)


_STYLE = """
body { font: 12pt/1.4 sans-serif; max-width: 48em; margin: 2em auto; padding: 0 1em; color: #111 }
h1 { font-size: 18pt } h2 { font-size: 13pt; margin: 1.2em 0 .3em }
section { break-inside: avoid; page-break-inside: avoid }
dt { font-weight: bold; float: left; clear: left; width: 5.5em }
dd { margin: 0 0 .3em 6em } a { color: #005F94; overflow-wrap: anywhere }
@media print { body { margin: 0; max-width: none; font-size: 10.5pt }
  a::after { content: " (" attr(href) ")"; font-size: 8pt } }
"""


def plan_html(plan: Plan, rows: list[PlanRow]) -> str:
    """The plan as one HTML page that prints well: no script, nothing loaded from elsewhere."""
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{html.escape(plan.name)}: lesson plan</title><style>{_STYLE}</style></head><body>",
        f"<h1>Clicks that lie, in {html.escape(plan.name)}</h1>",
        f"<p>{html.escape(plan.purpose)}</p>",
    ]
    for row in rows:
        links = " · ".join(
            f'<a href="{html.escape(link)}">{name}</a>'
            for name, link in (("the lesson", row.lesson_link), ("the page", row.page_link))
        )
        entries = {
            "Do": html.escape(row.do),
            "Ask": html.escape(row.ask),
            "Answer": _bold(f"{row.answer} {row.finding}"),
            "Then ask": html.escape(row.then),
            "Reply": html.escape(row.reply),
            "Exercise": _bold(row.exercise),
            "Project": links,
        }
        items = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in entries.items())
        heading = html.escape(f"{_clock(row)}: lesson {row.number}, {row.title}")
        parts.append(f"<section><h2>{heading}</h2><dl>{items}</dl></section>")
    return "\n".join([*parts, "</body></html>", ""])


def _clock(row: PlanRow) -> str:
    return f"Minute {row.begins} to {row.begins + row.minutes}"


def _bold(text: str) -> str:
    """HTML of a sentence in which ** marks bold words."""
    pieces = html.escape(text).split("**")
    return "".join(f"<b>{p}</b>" if i % 2 else p for i, p in enumerate(pieces))
