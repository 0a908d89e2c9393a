"""What a lesson is: a question, a prediction, what is found, and an exercise with its answer.

Its words are in ``content/KEY.toml``: templates over the numbers that were found, as in
"{weighted:.2f}", so that no number is ever typed. So are its settings and the pages it opens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ultr_core.content import Content, named_in, read
from ultr_core.lessons.answers import Exercise
from ultr_core.settings import SHARED_FIELDS, Settings

if TYPE_CHECKING:
    from ultr_core.figures import Figure, Theme
    from ultr_core.lab import Lab


def words_of(key: str) -> Content:
    """The words of a lesson, by its key."""
    return read(__file__, key)


@dataclass(frozen=True)
class Found:
    """The result of a lesson: its numbers by name, and a sentence about them."""

    numbers: Mapping[str, float]
    sentence: str

    @classmethod
    def told(cls, key: str, numbers: Mapping[str, float], **chosen: str) -> Found:
        """The numbers and sentence for lesson ``key``; ``chosen``: words for its text."""
        words = words_of(key)
        named = named_in(words.template("found"))
        told = {name: value for name, value in numbers.items() if name in named}
        return cls(numbers, words.text("found", **told, **chosen))


@dataclass(frozen=True)
class Choice:
    """A prediction made by choosing one of ``options``.

    ``truth`` names the number that is the index of the right option.
    """

    question: str
    options: tuple[str, ...]
    truth: str = "truth"

    def answer(self, numbers: Mapping[str, float]) -> str:
        """The right option in words."""
        return self.spoken(numbers[self.truth])

    def spoken(self, value: float) -> str:
        """The option with this index."""
        return self.options[int(value)]

    def read(self, guess: float, numbers: Mapping[str, float]) -> tuple[bool, str]:
        """Whether the prediction was right, and a sentence with the prediction and the result.

        ``guess`` is the index of the option that was chosen.
        """
        given, right = self.spoken(guess), self.answer(numbers)
        if given == right:
            return True, f"You predicted “{given}”. Correct."
        return False, f"You predicted “{given}”. The result: “{right}”."


@dataclass(frozen=True)
class Guess:
    """A prediction of a number on a slider from ``low`` to ``high``.

    ``truth`` names the number that is asked for, ``unit`` is what it counts, and ``decimals`` says
    how precisely it is shown. A guess counts as right if it is within ``near`` (a share of the
    truth), or within half a step, of the truth.
    """

    question: str
    low: int
    high: int
    step: int
    unit: str
    near: float
    decimals: int = 0
    truth: str = "truth"

    def spoken(self, value: float) -> str:
        """A number with its unit; whole numbers have no decimals."""
        number = f"{value:g}" if value == int(value) else f"{value:.{self.decimals}f}"
        one = value == 1 and self.unit.endswith("s")
        return number + (self.suffix[:-1] if one else self.suffix)

    @property
    def suffix(self) -> str:
        """The text after a number: the unit, after a space unless it is a percent sign."""
        return self.unit if self.unit in ("", "%") else f" {self.unit}"

    def answer(self, numbers: Mapping[str, float]) -> str:
        """The right number in words."""
        return self.spoken(numbers[self.truth])

    def read(self, guess: float, numbers: Mapping[str, float]) -> tuple[bool, str]:
        """Whether the prediction was close, and a sentence with the prediction and the result."""
        truth = numbers[self.truth]
        given, right = self.spoken(guess), self.answer(numbers)
        if abs(guess - truth) <= max(self.near * abs(truth), self.step / 2):
            return True, f"You predicted {given}. It is {right}: a good prediction."
        far = "less" if guess < truth else "more"
        return False, f"You predicted {given}. It is {right}; you expected {far}."


@dataclass(frozen=True)
class Door:
    """A link to a page in an exact state, and what to look for there.

    ``changes`` adds settings to the lesson's own; ``state`` sets the controls of that page, by
    their names in a link.
    """

    look: str
    button: str
    page: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, str | int] = field(default_factory=dict)

    def settings(self, lesson_settings: Settings) -> Settings:
        """The world that the link opens."""
        return lesson_settings.with_values(**self.changes)

    def address(self, lesson_settings: Settings, *, lecture: bool = False) -> str:
        """Page and query string, as in ``lab?eta=0.5``; relative to the app's address."""
        query = self.settings(lesson_settings).to_query()
        state = {key: "true" if value is True else value for key, value in self.state.items()}
        mode = "mode=lecture" if lecture else ""
        parts = [part for part in (query, urlencode(state), mode) if part]
        return f"{self.page}?{'&'.join(parts)}" if parts else self.page


@dataclass(frozen=True)
class Lesson:
    """One lesson, which computes its numbers with a lab in the lesson's own settings.

    Attributes:
        key: short name, for files and tests.
        terms: keys of the glossary terms that it uses.
        changes: settings that it fixes; the others keep their defaults.
        prediction: what readers commit to before anything is shown.
        given: numbers that the idea and the prediction show beforehand; quick to compute.
        measure: all numbers, including those of ``given``, and a sentence about them.
        figure: the picture of the result.
        shows: the normal page with exactly these settings.
        steps: what to try next.
        traffic: its clicks, visits or presentations, in words, with the numbers.
        exercise: the task with its checked answer.
        users: the key of its users in ``USERS``.
        shipped: whether its numbers came with the code, so that no setting affects them.
    """

    key: str
    terms: tuple[str, ...]
    changes: Mapping[str, Any]
    prediction: Choice | Guess
    measure: Callable[[Lab], Found]
    figure: Callable[[Lab, Theme], Figure]
    shows: Door
    steps: tuple[Door, ...]
    exercise: Exercise
    given: Callable[[Lab], Mapping[str, float]]
    traffic: Callable[[Settings], str]
    users: str = "position"
    shipped: bool = False

    @property
    def title(self) -> str:
        """The question that the lesson answers."""
        return words_of(self.key).text("title")

    @property
    def idea(self) -> str:
        """What a reader has to know first: a template for the numbers of ``given``."""
        return words_of(self.key).template("idea")

    @property
    def meaning(self) -> str:
        """What follows from the result: a template for the numbers of ``measure``."""
        return words_of(self.key).template("meaning")

    def settings(self, reader: Settings) -> Settings:
        """The lesson's world, with the users and corpus from the reader's settings."""
        shared = {name: getattr(reader, name) for name in SHARED_FIELDS}
        return Settings(**{**shared, **self.changes})
