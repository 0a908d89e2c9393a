"""Plans for lecturers: 45 and 90 minutes, with what to show, what to ask and what comes out."""

from __future__ import annotations

import html
from dataclasses import dataclass

from ultr_core.lessons.learning_lessons import CLICKS, FEWER_CLICKS
from ultr_core.lessons.model import Found, Lesson
from ultr_core.settings import Settings


@dataclass(frozen=True)
class PlanStep:
    """Minutes for one lesson: what to do, and what to ask the room besides its prediction.

    ``lesson`` counts from 1, ``reply`` is what a good answer to ``ask`` says.
    """

    minutes: int
    lesson: int
    do: str
    ask: str
    reply: str


@dataclass(frozen=True)
class Plan:
    """A session: its name, what it is for, and its steps."""

    name: str
    purpose: str
    steps: tuple[PlanStep, ...]

    @property
    def minutes(self) -> int:
        """Length of the whole session."""
        return sum(step.minutes for step in self.steps)


VOTE = "Read the question aloud, let the room vote, commit to the majority, then reveal."

PLANS = (
    Plan(
        "45 minutes",
        "One idea: a click counts 1/p times. For a room that has seen a lecture on ranking.",
        (
            PlanStep(
                6,
                1,
                VOTE,
                "Who has ever clicked on the second page of a search result?",
                "Hardly anybody: what is far down is not seen.",
            ),
            PlanStep(
                6,
                2,
                VOTE + " Do the exercise together.",
                "If one user in eight looks, how many relevant documents does one click stand for?",
                "Eight: itself and about seven that were missed.",
            ),
            PlanStep(
                9,
                3,
                VOTE + " Then write p × 1/p on the board and open the proof.",
                "Which document could break this?",
                "A relevant one that nobody ever looks at: no weight repairs p = 0.",
            ),
            PlanStep(
                8,
                4,
                VOTE + f" Show both rankers in the Lab, then again with {FEWER_CLICKS:,} clicks.",
                f"From {FEWER_CLICKS:,} clicks to {CLICKS:,}, which of the two gets better, and "
                "why not the other?",
                "The weighted one. What is left of the other's error is bias, and bias does not "
                "shrink with data.",
            ),
            PlanStep(
                6,
                5,
                VOTE,
                "Would you rather be a little wrong every time, or right on average?",
                "With few clicks a little wrong; with many right on average.",
            ),
            PlanStep(
                6,
                7,
                VOTE + " Drag η′ in the Lab.",
                "You do not know the bias. Would you guess too low or too high?",
                "Too low: a little bias is left, but no click is blown up.",
            ),
            PlanStep(
                4,
                9,
                VOTE,
                "Is a small p-value the same as a large difference?",
                "No. With enough queries a tiny difference has a small p-value.",
            ),
        ),
    ),
    Plan(
        "90 minutes",
        "The whole paper, with the exercises done in pairs.",
        (
            PlanStep(
                8,
                1,
                VOTE + " Exercise in pairs, two minutes.",
                "Name another place where people only react to what they are shown.",
                "Video suggestions, shop shelves, front pages: no reaction may mean not seen.",
            ),
            PlanStep(
                8,
                2,
                VOTE + " Exercise in pairs.",
                "What would the weight be at a rank that nobody looks at?",
                "1/0, which is no number: such a document never gets a click to weigh.",
            ),
            PlanStep(
                14,
                3,
                VOTE + " Walk through the lines of the proof, then break one "
                "assumption and let the room find the line.",
                "Where exactly did we use that p depends on the rank alone?",
                "Where p × 1/p cancels: p must be the true chance of looking, and known from what "
                "was shown.",
            ),
            PlanStep(
                12,
                4,
                VOTE + " Exercise in pairs. Open the learning curves.",
                "At how many clicks would you switch from naive to weighted?",
                "Where the curves cross; read the number off the chart.",
            ),
            PlanStep(
                10,
                5,
                VOTE + " Exercise, then 5,000 clicks in the Lab.",
                "What does clipping give up, and what does it get for it?",
                "It gives up being right on average, and gets less variance.",
            ),
            PlanStep(
                10,
                6,
                VOTE + " Derive the straight line: the ranks of a list always add up to m(m+1)/2.",
                "What if users make more mistakes at the top than further down?",
                "The constant then depends on the ranker, and the order may change.",
            ),
            PlanStep(
                10,
                7,
                VOTE + " Exercise, then the study with all beliefs.",
                "Why is guessing too low the safer mistake?",
                "Too low stays between naive and right; too high blows up noise far down.",
            ),
            PlanStep(
                10,
                8,
                VOTE + " Exercise with the real counts.",
                "What does the experiment cost the users? What else could move documents?",
                "Worse lists for some of them. Two rankers in turn also move documents.",
            ),
            PlanStep(
                8,
                9,
                VOTE + " Exercise. Then collect what the paper leaves open.",
                "What would convince you that this works on your own search engine?",
                "An interleaving test there, with enough queries and measured propensities.",
            ),
        ),
    ),
)


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
    """Line ``position`` (from 0) of a plan, with the numbers that were found for its lesson.

    ``address`` is the app's, without a slash at its end; links open in lecture mode.
    """
    step = plan.steps[position]
    lesson = lessons[step.lesson - 1]
    numbers = found.numbers
    settings = lesson.settings(reader)
    prediction = lesson.prediction
    question = prediction.question.format(**numbers).replace("**", "")
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
        exercise=lesson.exercise.solution.format(**numbers),
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
