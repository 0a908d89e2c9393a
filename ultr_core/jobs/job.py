"""A job: one call with a few typed values, and the command, link and notebook made from them.

A job is one file, with a line in :data:`ultr_core.jobs.JOBS`. Its ``JOB`` says which fields the
command has and what is called with their values; its pages say what their links hold beside the
settings, and carry the cells of their notebooks. `docs/adding.md` adds one step by step.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from ultr_core.curve_values import CURVES, CurveField
from ultr_core.errors import InputError
from ultr_core.fields import Choice, Choices, Field, Number, Switch
from ultr_core.jobs.files import File, protect_inputs
from ultr_core.jobs.output import BAD_INPUT, CHECK_FAILED, OK, option_of, print_json, print_notes
from ultr_core.settings import ALL_FIELDS, POSITION_FIELDS, Settings
from ultr_core.words import as_argument

if TYPE_CHECKING:
    from ultr_core.export.notebook import Cell
    from ultr_core.lab import Lab


def setting_fields(*names: str, **helps: str) -> tuple[Field, ...]:
    """The fields of the settings of these names, numbers and curves.

    helps: by name, what a setting does in a job, where that is not what it does elsewhere.
    """
    known = {each.name: each for each in ALL_FIELDS}
    return tuple(replace(known[n], help=helps.get(n, known[n].help)) for n in names)


class Given(SimpleNamespace):
    """What a job is called with: the value of each of its fields by name, and ``settings``.

    ``asked`` has the texts that were given, by name. json: whether the result is printed as JSON.
    """

    settings: Settings
    asked: dict[str, Any]
    json: bool = False

    @property
    def lab(self) -> Lab:
        """A lab at the settings, on ``corpus`` where that is a field."""
        from ultr_core.lab import Lab

        corpus = vars(self).get("corpus")
        if corpus is not None and vars(self).get("missing_zero"):
            from ultr_core.files import load_directory

            corpus = load_directory(corpus, missing_zero=True)
        return Lab(self.settings, corpus)


OWN_WORK = "work"
"""Key of the work on a reader's files among the values of the page on their own data."""


@dataclass(frozen=True)
class PageState:
    """What a page shows: its address, the settings, its own values by key.

    ``corpus`` is the directory of a LETOR corpus, or None for the built-in one; ``link`` is named
    in the notebook, and of the settings only those that are ``acting``; empty: all.
    """

    page: str
    settings: Settings = field(default_factory=Settings)
    values: Mapping[str, Any] = field(default_factory=dict)
    corpus: str | None = None
    link: str = ""
    acting: tuple[str, ...] = ()

    @classmethod
    def of_query(cls, page: str, query: str) -> PageState:
        """The state of a URL query; unusable values fall back to their defaults."""
        from ultr_core.jobs.links import read_page_query

        settings, values, _ = read_page_query(page, query)
        return cls(page, settings, values)

    def at(self, corpus: str | Path) -> PageState:
        """The same state on the corpus in a directory."""
        return replace(self, corpus=str(corpus))


def all_possible(_: PageState) -> Mapping[str, tuple[Any, str]]:
    """For a page whose values rule out none of the others."""
    return {}


Begins = Literal["lab", "settings", "title", "nothing"]


@dataclass(frozen=True)
class Page:
    """What a job knows of a page: its question, its link's content and its notebook's cells.

    fields: the page's own values, beside the settings; ``cells`` finds all of them in the state.
    settings: the fields of the settings that have an effect, if they differ from those of the
    command. begins: what a notebook has before the cells: the settings and their ``lab`` on the
    corpus, the ``settings`` alone, only its ``title``, or nothing at all. fixed: the page has the
    paper's settings, whatever the controls say. shown: the state with the settings of its results,
    if they differ. possible: by key, a value that takes the place of one that the others rule out,
    with a sentence on it or "". in_app: whether the app has a page at this address, so that a
    notebook can link to it.
    """

    question: str
    cells: Callable[[PageState], Sequence[Cell]]
    fields: tuple[Field, ...] = ()
    settings: tuple[Field, ...] = ()
    begins: Callable[[PageState], Begins] = lambda _: "lab"
    fixed: bool = False
    shown: Callable[[PageState], PageState] = lambda state: state
    possible: Callable[[PageState], Mapping[str, tuple[Any, str]]] = all_possible
    in_app: bool = True


@dataclass(frozen=True)
class Job:
    """One job: its call, its command, and its pages.

    call: does the work with the given values; raises InputError if that is impossible. arguments,
    options: the fields of the command, as positional arguments and as options. A field without a
    label takes its name from the command line. settings: the fields of the settings that matter.
    show: prints what the call returned; as_dict: its JSON, None for a job without ``--json``.
    passed: whether the exit code is 0. refused: whether some input could not be used although
    the rest could. notes: the end of the help, with its line breaks if ``as_typed``. pages: its
    pages, by address.
    """

    call: Callable[[Given], Any] | None = None
    arguments: tuple[Field, ...] = ()
    options: tuple[Field, ...] = ()
    settings: tuple[Field, ...] = ()
    show: Callable[[Any], None] = lambda _: None
    as_dict: Callable[[Any], dict[str, Any]] | None = None
    passed: Callable[[Any], bool] = lambda _: True
    refused: Callable[[Any], bool] = lambda _: False
    notes: str = ""
    as_typed: bool = False
    pages: Mapping[str, Page] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Name the fields that have no label."""
        named = tuple(_labelled(each, _metavar(each, each.name.upper())) for each in self.arguments)
        object.__setattr__(self, "arguments", named)
        named = tuple(_labelled(each, option_of(each.name)) for each in self.options)
        object.__setattr__(self, "options", named)

    @property
    def offered(self) -> frozenset[str]:
        """Names of the fields that have an option."""
        return frozenset(each.name for each in (*self.options, *self.settings))

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add arguments and options to a parser."""
        parser.epilog = self.notes
        if self.as_typed:
            parser.formatter_class = argparse.RawDescriptionHelpFormatter
        for each in self.arguments:
            none_needed = each.default is not None
            many, one = ("*", "?") if none_needed else ("+", None)
            parser.add_argument(
                each.name,
                metavar=each.label,
                nargs=many if _is_several(each) else one,
                help=_help(each),
            )
        for each in self.options:
            if isinstance(each, Switch):
                parser.add_argument(option_of(each.name), action="store_true", help=_help(each))
                continue
            parser.add_argument(
                option_of(each.name),
                metavar=_metavar(each, "X" if isinstance(each, Number) else "NAME"),
                nargs="+" if _is_several(each) else None,
                required=isinstance(each, File) and each.required,
                help=_help(each),
            )
        for each in self.settings:
            metavar = "NAME" if isinstance(each, Choice) else "X"
            metavar = "FILE.csv" if each.name in CURVES else metavar
            parser.add_argument(option_of(each.name), metavar=metavar, help=_help(each))
        if self.as_dict is not None:
            parser.add_argument("--json", action="store_true", help="print JSON on standard output")

    def given(self, options: argparse.Namespace) -> Given:
        """The values from the arguments; notes go to standard error.

        Raises InputError for an unusable value, and for an output that would overwrite an input.
        """
        every = (*self.arguments, *self.options, *self.settings)
        texts = {each.name: getattr(options, each.name) for each in every}
        asked = {name: text for name, text in texts.items() if text not in (None, False)}
        values = {e.name: self._value(e, asked) for e in (*self.arguments, *self.options)}
        curves = [File(n, option_of(n)) for n in CURVES if n in asked]
        protect_inputs((*self.arguments, *self.options, *curves), {**asked, **values})
        settings = self._settings(asked) if self.settings else Settings()
        json = self.as_dict is not None and bool(options.json)
        return Given(**values, settings=settings, asked=asked, json=json)

    def _value(self, each: Field, asked: Mapping[str, Any]) -> Any:
        try:
            return each.checked(asked[each.name]) if each.name in asked else each.default
        except InputError as error:
            if each in self.arguments:  # which no option repairs
                raise InputError(str(error)) from None
            raise

    def _settings(self, asked: Mapping[str, Any]) -> Settings:
        names = [each.name for each in self.settings]
        settings, notices = _settings_from(
            {n: asked[n] for n in names if n in asked}, believing="assumed_eta" in names
        )
        print_notes(notices)
        return settings

    def run(self, options: argparse.Namespace) -> int:
        """Do the work, print the result, and return the exit code."""
        assert self.call is not None
        result = self.call(self.given(options))
        if self.as_dict is not None and options.json:
            print_json(self.as_dict(result))
        else:
            self.show(result)
        if self.refused(result):
            return BAD_INPUT
        return OK if self.passed(result) else CHECK_FAILED

    def words(self, values: Mapping[str, Any]) -> list[str]:
        """The arguments that give the command these values, by name.

        Values that are None, False or empty are left out. Raises KeyError for an unknown name.
        """
        fields = {f.name: f for f in (*self.options, *self.settings, *self.arguments)}
        found: list[str] = []
        for name, value in values.items():
            each = fields[name]
            if value is None or value is False or value == "":
                continue
            texts = [_text(each, v) for v in (value if isinstance(value, list) else [value])]
            if each in self.arguments:
                found += texts
            else:
                found += [option_of(name), *([] if value is True else texts)]
        return found


def command_line(name: str, job: Job, values: Mapping[str, Any]) -> str:
    """A line to be pasted that gives a command these values, by name; see `Job.words`."""
    return shlex.join(["python", "-m", "ultr_core", name, *job.words(values)])


def _is_several(each: Field) -> bool:
    return isinstance(each, File) and each.several


def _labelled(each: Field, label: str) -> Field:
    return each if each.label else replace(each, label=label)


def _metavar(each: Field, otherwise: str) -> str:
    return str(getattr(each, "metavar", "") or otherwise)


def _text(each: Field, value: Any) -> str:
    """A value as it is typed; a text was typed before, and a path never looks like an option."""
    if isinstance(value, str):
        return as_argument(value) if isinstance(each, File | CurveField) else value
    return each.write(value)


def _help(each: Field) -> str:
    """What an option does, what it takes, and its default."""
    text = each.help or each.label
    if isinstance(each, CurveField):
        text = f"{text} Columns: rank and propensity."
    elif isinstance(each, Number | Choice | Choices):
        none = each.default in (None, "", ())
        default = "" if none else f"; default {each.in_words(each.default)}"
        stop = "." if text.endswith(".") else ""
        text = f"{text.removesuffix('.')} ({each.wanted}{default}){stop}"
    return text.replace("%", "%%")


def _settings_from(
    asked: Mapping[str, str], *, believing: bool = True
) -> tuple[Settings, tuple[str, ...]]:
    """The settings that texts by name ask for, with notes; a curve's text names its file.

    believing: whether there is a learner with a belief of its own about the users.

    Raises InputError for a value that cannot be used, and for a curve
    beside the exponent that it takes the place of.
    """
    others = {name: text for name, text in asked.items() if name not in CURVES}
    files = {name: path for name, path in asked.items() if name in CURVES}
    for name in files:
        if CURVES[name].power in others:
            raise InputError(
                f"{option_of(name)} replaces {option_of(CURVES[name].power)}; give one of the two.",
                "one_of_two",
            )
    settings, notices = Settings.from_options({**others, **_curve_values(files)})
    notes = (*notices, *_idle_note(settings, asked))
    if not set(POSITION_FIELDS).isdisjoint(settings.idle):
        return settings, notes
    return settings, (*notes, *(_belief_note(settings, asked) if believing else ()))


def _curve_values(files: Mapping[str, str]) -> dict[str, Any]:
    if not files:
        return {}
    from ultr_core.files import read_curve_values

    return {name: read_curve_values(path) for name, path in files.items()}


def _idle_note(settings: Settings, asked: Mapping[str, str]) -> tuple[str, ...]:
    """Users with a curve and noise of their own, or who never leave, do not use all settings."""
    idle = [option_of(name) for name in asked if name in settings.idle]
    if not idle:
        return ()
    has = "has" if len(idle) == 1 else "have"
    return (f"{', '.join(idle)} {has} no effect with {option_of('users')} {settings.users}.",)


def _belief_note(settings: Settings, asked: Mapping[str, str]) -> tuple[str, ...]:
    """A reader who changes how users look may forget that the learner's belief stays."""
    told = "assumed_eta" in asked or "assumed_curve" in asked
    if told or settings.belief_is_right or not ("eta" in asked or "curve" in asked):
        return ()
    users = f"have η = {settings.eta:g}"
    right = f"{option_of('assumed_eta')} {settings.eta:g}"
    if "curve" in asked:
        users = "follow the given curve"
        right = f"{option_of('assumed_curve')} {shlex.quote(as_argument(asked['curve']))}"
    return (
        f"users {users}, but the learner still assumes η′ = {settings.assumed_eta:g}; for correct "
        f"propensities add {right}.",
    )
