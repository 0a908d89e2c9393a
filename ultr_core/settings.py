"""Every parameter of a world, once: its field, with symbol, range, step, default and help.

Sliders, command-line options, URL queries, presets and exports all read :data:`PARAMETERS`,
:data:`~ultr_core.curve_values.CURVES` and :class:`Settings`; nothing else may repeat a range or a
default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from ultr_core.curve_values import CURVES, Values
from ultr_core.errors import InputError, Remark, quoted
from ultr_core.fields import Choice, Field, Number, read_fields, set_checked, write_fields

SHARED_FIELDS = ("seed", "corpus_seed", "relevant_grade")
"""Settings that a lesson takes over from its reader; it fixes all others."""

_CLICK_PROBABILITIES = ("eps_plus", "eps_minus")

CLICK_STOPS = (
    100, 250, 500, 1_000, 2_000, 5_000, 9_000, 20_000,
    45_000, 100_000, 170_000, 225_000, 450_000, 850_000,
)  # fmt: skip

_ALL = (
    Number(
        "eta", "Bias severity η", 0.0, 2.0, default=1.0, symbol="η", decimals=2, step=0.05,
        help="How fast attention falls with rank: the document at rank r is examined with "
        "probability p_r = (1/r)^η. At 0 everybody reads the whole list. The paper uses 1.",
    ),
    Number(
        "eps_minus", "Click noise ε₋", 0.0, 0.99, default=0.1, symbol="ε₋", decimals=2, step=0.01,
        help="Probability that an examined irrelevant document is clicked.",
    ),
    Number(
        "eps_plus", "Click probability ε₊", 0.01, 1.0, default=1.0, symbol="ε₊", decimals=2,
        step=0.01,
        help="Probability that an examined relevant document is clicked. It must be above ε₋, or "
        "clicks say nothing about relevance.",
    ),
    Number(
        "assumed_eta", "Assumed bias η′", 0.0, 2.0, default=1.0, symbol="η′", decimals=2, step=0.05,
        help="The severity the learner assumes: each click is weighted by 1/p with p = (1/r)^η′. "
        "If it equals η, the weights are correct; 0 gives the naive learner.",
    ),
    Number(
        "clicks", "Number of clicks n", 10, 5_000_000, default=170_000, symbol="n",
        stops=CLICK_STOPS,
        help="Expected number of training clicks. The number of presentations, each of a randomly "
        "drawn query, is set so that this many clicks are expected; for validation there are "
        "15% as many.",
    ),
    Number(
        "seed", "Random seed", 0, 9_999, default=0, symbol="seed",
        help="Random seed for the simulated users. The same seed gives the same numbers on the "
        "page, on the command line and in Python.",
    ),
    Number(
        "draws", "Click logs per interval", 1, 20, default=5, symbol="draws",
        help="How many independent click logs are drawn; a trained ranker's risk is the mean over "
        "them, and its 95% interval comes from their spread. The paper uses 5 for small "
        "data sets.",
    ),
    Number(
        "corpus_seed", "Corpus", 0, 9, default=0, symbol="corpus",
        help="Which of the built-in synthetic corpora is used. For a corpus read from files, it "
        "only chooses the 1% of queries that the production ranker is trained on.",
    ),
    Number(
        "relevant_grade", "Lowest relevant grade", 1, 4, default=3, symbol="grade",
        help="A document is relevant if it has at least this grade. In the paper, grades 3 and 4 "
        "(of 0 to 4) are relevant.",
    ),
)  # fmt: skip

PARAMETERS: Mapping[str, Number] = MappingProxyType({p.name: p for p in _ALL})

SETTING_FIELDS: tuple[Field, ...] = (*_ALL, *CURVES.values())
"""The fields of `Settings` on every page: numbers, in the order of the sliders, and curves."""

USERS_FIELD = Choice(
    "click_model", "Users",
    {
        "position": "Position bias",
        "trust-mild": "Trust bias, mild",
        "trust-steep": "Trust bias, steep",
        "leaving": "Leaving after a click",
    },
    name="users",
    help="How users click. Trusting users have their own curve and noise, so η, η′, ε₊, ε₋ and "
    "given curves have no effect, and clicks are divided by the users' own propensities. Users "
    "who may leave continue after a click only with probability λ; before that, all settings act "
    "as they do with position bias.",
)  # fmt: skip
"""Written out, for help must not wait for NumPy; the keys of `ultr_core.users.USERS`."""

LOGGER_FIELD = Choice(
    "logger", "Logger",
    {
        "production": "Production",
        "replace-last": "Replace last",
        "plackett-luce": "Plackett-Luce",
        "mixture": "Mixture of rankers",
    },
    help="Which lists users see: the production ranking every time, that ranking with a random "
    "lower-ranked document at its last rank, a new random list drawn from the production scores, "
    "or the production ranking in 80% of the presentations and a random order in the rest.",
)  # fmt: skip
"""Written out; the keys of `ultr_core.users.LOGGERS`."""

SHOWN_FIELD = Number(
    "shown", "List length k", 1, 1_000_000, default=1_000_000, symbol="k",
    help="The number of documents in a list. Nobody sees the documents below rank k.",
)  # fmt: skip

CONTINUATION_FIELD = Number(
    "continuation", "Continuation λ", 0.01, 1.0, default=0.5, symbol="λ", decimals=2, step=0.01,
    help="Probability that a user who may leave continues down the list after a click; at 1 nobody "
    "leaves. Hindsight estimators are given this value.",
)  # fmt: skip

FURTHER_FIELDS: tuple[Choice | Number, ...] = (
    USERS_FIELD, LOGGER_FIELD, SHOWN_FIELD, CONTINUATION_FIELD,
)  # fmt: skip
"""Fields that only a comparison of rankers has; elsewhere they are at their defaults."""

POSITION_FIELDS = ("eta", "eps_minus", "eps_plus", "assumed_eta", *CURVES)
"""Settings of curve and noise, which do not act on users who have their own."""

_IDLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "position": (CONTINUATION_FIELD.name,),
        "trust-mild": (*POSITION_FIELDS, CONTINUATION_FIELD.name),
        "trust-steep": (*POSITION_FIELDS, CONTINUATION_FIELD.name),
        "leaving": (),
    }
)

ALL_FIELDS: tuple[Field, ...] = (*SETTING_FIELDS, *FURTHER_FIELDS)
"""All fields of `Settings`."""


@dataclass(frozen=True)
class Settings:
    """All parameters of one world, quantised and validated on construction.

    ``curve`` is the users' examination and ``assumed_curve`` the learner's assumption: numbers for
    ranks 1, 2, ... that replace (1/r)^η and (1/r)^η′; empty for the power laws. ``users`` is a key
    of ``USERS``, ``logger`` one of ``LOGGERS``, ``shown`` the length k of its lists, and
    ``continuation`` the λ of users who may leave after a click.

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
    users: str = str(USERS_FIELD.default)
    logger: str = str(LOGGER_FIELD.default)
    shown: int = int(SHOWN_FIELD.default)
    continuation: float = float(CONTINUATION_FIELD.default)

    def __post_init__(self) -> None:
        set_checked(self, ALL_FIELDS)
        if self.eps_plus <= self.eps_minus:
            raise InputError(
                f"{PARAMETERS['eps_plus'].label} is {self.eps_plus:g} and "
                f"{PARAMETERS['eps_minus'].label} is {self.eps_minus:g}; relevant documents must "
                "be clicked more often than irrelevant ones, so ε₊ must be above ε₋.",
                "click_probabilities",
            )

    def with_values(self, **changes: Any) -> Settings:
        """A copy with some values changed, validated again."""
        return replace(self, **changes)

    @property
    def numbers(self) -> dict[str, int | float]:
        """Every parameter's value by name, in the order of the sliders."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def curves(self) -> dict[str, Values]:
        """The given curves, by name."""
        return {name: getattr(self, name) for name in CURVES if getattr(self, name)}

    @property
    def further(self) -> dict[str, Any]:
        """The values of ``FURTHER_FIELDS`` that are not at their defaults, by name."""
        found = {field.name: getattr(self, field.name) for field in FURTHER_FIELDS}
        return {f.name: found[f.name] for f in FURTHER_FIELDS if found[f.name] != f.default}

    @property
    def by_key(self) -> dict[str, Any]:
        """Every value, keyed by its key in a link."""
        return {field.key: getattr(self, field.name) for field in ALL_FIELDS}

    @property
    def belief_is_right(self) -> bool:
        """Whether the learner assumes the users' curve or exponent."""
        if self.curve or self.assumed_curve:
            return self.curve == self.assumed_curve
        return self.eta == self.assumed_eta

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of the fields that have no effect on these users."""
        return _IDLE[self.users]

    def as_dict(self) -> dict[str, Any]:
        """Plain values by name, in slider order; other fields are omitted if at their defaults."""
        curves = {name: list(values) for name, values in self.curves.items()}
        found = {**self.numbers, **curves, **self.further}
        if CONTINUATION_FIELD.name not in self.idle:
            found[CONTINUATION_FIELD.name] = self.continuation
        return found

    def to_query(self) -> str:
        """URL query string of values that differ from their defaults, in the sliders' format."""
        return urlencode(write_fields(ALL_FIELDS, self.by_key), safe=",")

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
        """Settings from named values, with a sentence for each value that was rounded.

        Raises :class:`InputError` for an unknown name or an unusable value.
        """
        known = [field.name for field in ALL_FIELDS]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise InputError(
                f"{quoted(unknown[0])} is not a setting; the settings are {', '.join(known)}.",
                "unknown_setting",
            )
        settings = cls(**options)
        rounded = tuple(
            Remark(f"{field.label}: {options[name]} was rounded to {field.write(used)}.", name)
            for name, field in PARAMETERS.items()
            if name in options and float(options[name]) != (used := getattr(settings, name))
        )
        scaled = (field.scaled(options.get(name, ())) for name, field in CURVES.items())
        return settings, (*rounded, *filter(None, scaled))

    @classmethod
    def from_query(
        cls, query: Mapping[str, Any], *, on_stops: bool = False
    ) -> tuple[Settings, tuple[str, ...]]:
        """Settings from the values of a URL, with a sentence for each value that was corrected.

        No value in ``query``, whatever its type, raises an error; if a key has several, the last is
        used. Unusable values fall back to their defaults, values between steps are rounded, and
        keys that are not parameters are ignored. ``on_stops`` moves values to the nearest position
        of a slider with unevenly spaced stops.
        """
        fields = [
            field.on_its_stops() if on_stops and isinstance(field, Number) else field
            for field in ALL_FIELDS
        ]
        found, notices = read_fields(fields, query)
        values = {field.name: found[field.key] for field in fields}
        try:
            return cls(**values), notices
        except InputError as error:
            usable = {name: values[name] for name in values if name not in _CLICK_PROBABILITIES}
            told = f"The link had to be changed: {error} The defaults are shown."
            return cls(**usable), (*notices, told)


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
        "The left end of the paper's figure 1, where the naive ranker beats the weighted ranker.",
        Settings(clicks=1_000),
    ),
    Preset(
        "Paper: bias without noise",
        "ε₋ = 0 and 225,000 clicks: in the paper's figure 2, bias then hurts only the naive "
        "ranker.",
        Settings(eps_minus=0.0, clicks=225_000),
    ),
    Preset(
        "Paper: most noise",
        "The right end of the paper's figure 3: ε₋ = 0.3, where six in ten clicks are noise.",
        Settings(eps_minus=0.3),
    ),
    Preset(
        "Paper: propensities too small",
        "Figure 4: users have η = 1, but the learner assumes 1.5.",
        Settings(assumed_eta=1.5),
    ),
    Preset(
        "Paper: propensities too large",
        "Figure 4: users have η = 1, but the learner assumes 0.5.",
        Settings(assumed_eta=0.5),
    ),
    Preset(
        "Live engine's curve",
        "The milder bias in section 7.6: after smoothing, the smallest p is about 0.12; if that "
        "is at rank 21, η = 0.70.",
        Settings(eta=0.7, assumed_eta=0.7),
    ),
    Preset(
        "No position bias",
        "Everybody reads the whole list: the naive and the weighted ranker are the same.",
        Settings(eta=0.0, assumed_eta=0.0),
    ),
)
