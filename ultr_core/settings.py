"""Every parameter of a world, once: name, symbol, range, step, default, help and URL key.

Sliders, command-line options, URL queries, presets and exports all read :data:`PARAMETERS`,
:data:`~ultr_core.curve_values.CURVES` and :class:`Settings`; nothing else may repeat a range or a
default.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from ultr_core.curve_values import CURVES, CurveField, Values, curve_text, ungrouped
from ultr_core.errors import InputError, Remark, number_in_text, quoted

Number = int | float


@dataclass(frozen=True)
class Parameter:
    """One adjustable quantity of a world.

    ``name`` is the field of :class:`Settings`, the URL key and, with dashes, the command-line
    option. ``decimals`` is the precision that is kept (0 makes it a whole number), ``step`` the
    distance between two slider positions, ``stops`` the slider positions where they are not
    evenly spaced.
    """

    name: str
    symbol: str
    label: str
    help: str
    default: Number
    low: Number
    high: Number
    step: Number
    decimals: int
    stops: tuple[int, ...] = ()

    @property
    def range_text(self) -> str:
        """The permitted values in words, for messages and help."""
        kind = "a whole number" if self.decimals == 0 else "a number"
        return f"{kind} from {self.low:,} to {self.high:,}"

    def quantise(self, value: Any) -> Number:
        """Return ``value`` rounded to ``decimals`` places.

        Raises :class:`InputError` when it is no number, not finite or outside the range.
        """
        number = self._number(value)
        if not self.low <= number <= self.high:
            raise self._wrong(value)
        return int(number) if self.decimals == 0 else round(number, self.decimals) + 0.0

    def _wrong(self, value: Any) -> InputError:
        text = f"{self.label} is {quoted(value)}; it must be {self.range_text}."
        return InputError(text, self.name)

    def _number(self, value: Any) -> float:
        wrong = self._wrong(value)
        if isinstance(value, bool):
            raise wrong
        try:
            number = number_in_text(value) if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
        if not math.isfinite(number) or (self.decimals == 0 and number != int(number)):
            raise wrong
        return number

    def nearest_stop(self, value: Number) -> Number:
        """The slider position closest to ``value`` on a logarithmic scale, or ``value`` itself."""
        if not self.stops:
            return value
        return min(self.stops, key=lambda stop: abs(math.log(stop / value)))


SHARED_FIELDS = ("seed", "corpus_seed", "relevant_grade")
"""Settings that a lesson takes over from its reader; it fixes all others."""

CLICK_STOPS = (
    100, 250, 500, 1_000, 2_000, 5_000, 9_000, 20_000,
    45_000, 100_000, 170_000, 225_000, 450_000, 850_000,
)  # fmt: skip

_ALL = (
    Parameter(
        "eta", "η", "Bias severity η",
        "How quickly users stop looking: the document at rank r is examined with probability "
        "p_r = (1/r)^η. At 0 everybody reads the whole list; the paper uses 1.",
        default=1.0, low=0.0, high=2.0, step=0.05, decimals=2,
    ),
    Parameter(
        "eps_minus", "ε₋", "Click noise ε₋",
        "Probability that an examined document is clicked although it is irrelevant.",
        default=0.1, low=0.0, high=0.99, step=0.01, decimals=2,
    ),
    Parameter(
        "eps_plus", "ε₊", "Click probability ε₊",
        "Probability that an examined relevant document is clicked. It must be above ε₋, or "
        "clicks say nothing about relevance.",
        default=1.0, low=0.01, high=1.0, step=0.01, decimals=2,
    ),
    Parameter(
        "assumed_eta", "η′", "Assumed bias η′",
        "The severity that the learner believes in: each click is weighted by 1/p with "
        "p = (1/r)^η′. Equal to η the weights are right; 0 is the naive learner.",
        default=1.0, low=0.0, high=2.0, step=0.05, decimals=2,
    ),
    Parameter(
        "clicks", "n", "Number of clicks n",
        "Expected number of training clicks. Queries are drawn at random until about this many "
        "clicks have come; validation clicks are 15% of it.",
        default=170_000, low=10, high=5_000_000, step=1, decimals=0, stops=CLICK_STOPS,
    ),
    Parameter(
        "seed", "seed", "Seed of the users",
        "Which simulated users come. The same seed gives the same numbers on the page, on "
        "the command line and in Python.",
        default=0, low=0, high=9_999, step=1, decimals=0,
    ),
    Parameter(
        "draws", "draws", "Click logs per interval",
        "How many independent click logs are drawn; the risk of a trained ranker is their mean "
        "and its 95% interval comes from their spread. The paper uses 5.",
        default=5, low=1, high=20, step=1, decimals=0,
    ),
    Parameter(
        "corpus_seed", "corpus", "Corpus",
        "Which of the built-in synthetic corpora is used. With a corpus read from files it only "
        "chooses the 1% of queries that the production ranker is trained on.",
        default=0, low=0, high=9, step=1, decimals=0,
    ),
    Parameter(
        "relevant_grade", "grade", "Relevant from grade",
        "A document counts as relevant when its grade is at least this. The paper takes grades "
        "3 and 4 of 0 to 4.",
        default=3, low=1, high=4, step=1, decimals=0,
    ),
)  # fmt: skip

PARAMETERS: Mapping[str, Parameter] = MappingProxyType({p.name: p for p in _ALL})


@dataclass(frozen=True)
class Settings:
    """All parameters of one world, quantised and validated on construction.

    ``curve`` is the users' examination and ``assumed_curve`` the learner's belief, numbers for
    ranks 1, 2, ... that take the place of (1/r)^η and (1/r)^η′; empty for the power laws.

    Raises :class:`InputError` for a value outside its range and for ε₊ ≤ ε₋ (section 5.2 of the
    paper needs 1 ≥ ε₊ > ε₋ ≥ 0).
    """

    eta: float = float(PARAMETERS["eta"].default)
    eps_minus: float = float(PARAMETERS["eps_minus"].default)
    eps_plus: float = float(PARAMETERS["eps_plus"].default)
    assumed_eta: float = float(PARAMETERS["assumed_eta"].default)
    clicks: int = int(PARAMETERS["clicks"].default)
    seed: int = int(PARAMETERS["seed"].default)
    draws: int = int(PARAMETERS["draws"].default)
    corpus_seed: int = int(PARAMETERS["corpus_seed"].default)
    relevant_grade: int = int(PARAMETERS["relevant_grade"].default)
    curve: Values = ()
    assumed_curve: Values = ()

    def __post_init__(self) -> None:
        for name, parameter in PARAMETERS.items():
            object.__setattr__(self, name, parameter.quantise(getattr(self, name)))
        for name, field in CURVES.items():
            object.__setattr__(self, name, field.checked(getattr(self, name)))
        if self.eps_plus <= self.eps_minus:
            raise InputError(
                f"{PARAMETERS['eps_plus'].label} is {self.eps_plus:g} and "
                f"{PARAMETERS['eps_minus'].label} is {self.eps_minus:g}; a relevant document must "
                "be clicked more often than an irrelevant one, so ε₊ must be above ε₋.",
                "click_probabilities",
            )

    def with_values(self, **changes: Any) -> Settings:
        """A copy with some values changed, validated anew."""
        return replace(self, **changes)

    @property
    def numbers(self) -> dict[str, Number]:
        """Name to value of every parameter, in the order of the sliders."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def curves(self) -> dict[str, Values]:
        """The curves that are given, by name."""
        return {name: getattr(self, name) for name in CURVES if getattr(self, name)}

    @property
    def belief_is_right(self) -> bool:
        """Whether the learner is told the same curve, or the same exponent, as the users have."""
        if self.curve or self.assumed_curve:
            return self.curve == self.assumed_curve
        return self.eta == self.assumed_eta

    def as_dict(self) -> dict[str, Any]:
        """Name to plain value, in the order of the sliders; a curve only where one is given."""
        return {**self.numbers, **{name: list(values) for name, values in self.curves.items()}}

    def to_query(self) -> str:
        """URL query string of the values that differ from their defaults, as sliders write them."""
        changed = {
            name: f"{value:,}" if PARAMETERS[name].stops else _plain(value)
            for name, value in self.numbers.items()
            if value != PARAMETERS[name].default
        }
        curves = {CURVES[name].key: curve_text(values) for name, values in self.curves.items()}
        return urlencode({**changed, **curves}, safe=",")

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
        """Settings from named values, with a sentence for each value that was rounded.

        Raises :class:`InputError` for an unknown name or a value that cannot be used.
        """
        known = (*PARAMETERS, *CURVES)
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise InputError(
                f"{quoted(unknown[0])} is no setting; the settings are {', '.join(known)}."
            )
        settings = cls(**options)
        rounded = tuple(
            Remark(f"{PARAMETERS[name].label}: {value} was rounded to {_plain(used)}.", name)
            for name, value in options.items()
            if name in PARAMETERS and float(value) != (used := getattr(settings, name))
        )
        given = [(field, options[name]) for name, field in CURVES.items() if name in options]
        scaled = [text for field, values in given for text in field.scaled(values)]
        return settings, (*rounded, *scaled)

    @classmethod
    def from_query(
        cls, query: Mapping[str, Any], *, on_stops: bool = False
    ) -> tuple[Settings, tuple[str, ...]]:
        """Settings from the values of a URL, with a sentence for each value that was corrected.

        No value in ``query``, of whatever type, can raise; of several values the last counts.
        Unusable values fall back to their default, in-between values are rounded, keys that are
        no parameter are left alone. ``on_stops`` moves values to the nearest slider position
        where a slider has unevenly spaced ones.
        """
        values: dict[str, Any] = {}
        notices: list[str] = []
        for name, parameter in PARAMETERS.items():
            if name in query:
                asked = ungrouped(_last(query[name]))
                values[name], notice = _corrected(parameter, asked, on_stops)
                notices += notice
        for name, field in CURVES.items():
            if field.key in query:
                values[name], notice = _curve(field, _last(query[field.key]))
                notices += notice
        try:
            return cls(**values), tuple(notices)
        except InputError as error:
            for name in ("eps_plus", "eps_minus"):
                values.pop(name, None)
            notices.append(f"The link could not be used as it was: {error} Defaults are shown.")
            return cls(**values), tuple(notices)


def _curve(field: CurveField, asked: Any) -> tuple[Values, list[str]]:
    """The curve of a link, or the power law and a sentence if it cannot be used."""
    try:
        values = field.from_text(asked)
        return values, list(field.scaled(values))
    except InputError as error:
        return (), [f"The link's curve cannot be used: {error} The power law is shown."]


def _last(value: Any) -> Any:
    """The last of several values, or the value itself."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        return value
    try:
        *_, last = "", *value
    except TypeError:
        # An array without axes calls itself iterable, but is one number.
        return value
    return last


def _corrected(parameter: Parameter, asked: Any, on_stops: bool) -> tuple[Number, list[str]]:
    """The value that is used for the one asked for, and a sentence if they differ."""
    try:
        value = parameter.quantise(asked)
    except (ValueError, RecursionError):
        # Not only InputError: some numbers and nested lists cannot even be written into one.
        stops = parameter.stops if on_stops else ()
        wanted = f"one of {_listed(stops)}" if stops else parameter.range_text
        return parameter.default, [
            f"The link asks for {parameter.label} = {_asked(asked)}; it must be {wanted}. "
            f"{_spoken(parameter.default)} is shown."
        ]
    used = parameter.nearest_stop(value) if on_stops else value
    if float(used) != float(asked):
        return used, [
            f"The link asks for {parameter.label} = {_asked(asked)}; "
            f"the nearest possible value, {_spoken(used)}, is shown."
        ]
    return used, []


def _listed(numbers: tuple[int, ...]) -> str:
    *others, last = map(_spoken, numbers)
    return f"{', '.join(others)} or {last}"


# Above it a number is shown as it stands in the link.
_LARGEST_SPOKEN = 1e15


def _spoken(value: Number) -> str:
    """A number for a reader, with thousands separators and without a decimal .0."""
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def _asked(value: Any) -> str:
    """A value of a link for a reader: a number if it is one that can be written out."""
    try:
        read = number_in_text if isinstance(value, str) else float
        number = math.nan if isinstance(value, bool) else read(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if abs(number) < _LARGEST_SPOKEN:
        return _spoken(number)
    try:
        return quoted(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to be written"


def _plain(value: Number) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


@dataclass(frozen=True)
class Preset:
    """A named starting point: what it is called, what to watch for, and its settings."""

    name: str
    watch: str
    settings: Settings


PRESETS: tuple[Preset, ...] = (
    Preset(
        "Paper: default world",
        "η = 1 and ε₋ = 0.1, where the paper's weighted ranker closes most of the gap (7.2).",
        Settings(),
    ),
    Preset(
        "Paper: few clicks",
        "The left end of the paper's figure 1, where the naive ranker beats the weighted one.",
        Settings(clicks=1_000),
    ),
    Preset(
        "Paper: bias without noise",
        "ε₋ = 0 and 225K clicks, where in the paper's figure 2 bias hurts only the naive ranker.",
        Settings(eps_minus=0.0, clicks=225_000),
    ),
    Preset(
        "Paper: most noise",
        "The right end of the paper's figure 3: ε₋ = 0.3, six of its clicks in ten are noise.",
        Settings(eps_minus=0.3),
    ),
    Preset(
        "Paper: propensities too small",
        "Figure 4: users have η = 1 but the learner believes 1.5.",
        Settings(assumed_eta=1.5),
    ),
    Preset(
        "Paper: propensities too large",
        "Figure 4: users have η = 1 but the learner believes 0.5.",
        Settings(assumed_eta=0.5),
    ),
    Preset(
        "Live engine's curve",
        "The milder bias measured in section 7.6: p is about 0.12 at rank 21, as for η = 0.70.",
        Settings(eta=0.7, assumed_eta=0.7),
    ),
    Preset(
        "No position bias",
        "Everybody reads the whole list: naive and weighted are the same ranker, click by click.",
        Settings(eta=0.0, assumed_eta=0.0),
    ),
)
