"""What the link of each page holds beside the world's settings, once for pages, links, notebooks.

:data:`PAGE_VALUES` has a tuple of values for each page's address; a page without an entry has
none of its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, islice
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlencode

from ultr_core.claims import COMPARISONS, READINGS, SECTIONS
from ultr_core.errors import InputError, quoted
from ultr_core.fields import (
    Choice,
    Field,
    Letters,
    Number,
    Switch,
    Text,
    read_fields,
    write_fields,
)
from ultr_core.findings import OUTCOMES
from ultr_core.lab.interleaving import SCHEME
from ultr_core.lab.live import INTERLEAVED, LIVE_SMOOTHING, SWAP_DAYS
from ultr_core.lab.propensity_study import SESSIONS
from ultr_core.proofs import BREAKS, DERIVATIONS
from ultr_core.proofs.monte_carlo import MOST_USERS
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import DEFAULTS
from ultr_core.propensity import PROPENSITY_METHODS
from ultr_core.propensity.curves import FIT, SMOOTHING
from ultr_core.propensity.points import LANDMARK, LAST_RANK
from ultr_core.settings import SETTING_FIELDS, Settings
from ultr_core.studies import DEFAULT_LOSS, LOSSES

ALL = "all"

PART = Choice("part", "What to see", {"ledger": "Claims", "readings": "Conventions and errata"})
SECTION = Choice("claim_section", "Section of the paper", {ALL: "All sections", **SECTIONS})
VERDICT = Choice(
    "claim_verdict",
    "Verdict",
    {ALL: "All", **{outcome.replace(" ", "-"): outcome for outcome in OUTCOMES}},
)
CHECKS = Switch(
    "claim_checks", "How each is checked", help="Adds how each claim is checked, and remarks."
)
PLACE = Choice(
    "reading_place",
    "Place of the paper",
    {
        reading.key: f"{reading.unclear} (section {reading.place})"
        for reading in READINGS
        if reading.key in COMPARISONS
    },
)
READING = Choice(
    "reading", "Reading", {"both": "Both", "taken": "This lab's", "other": "The other"}
)

CLAIMS_VALUES: tuple[Field, ...] = (PART, SECTION, VERDICT, CHECKS, PLACE, READING)
"""In the order of the page."""


LAB = (
    Choice("examination", "Examination", {"probability": "Probability p", "weight": "Weight 1/p"}),
)

RESULT = Choice(
    "result", "Result",
    {"shipped": "Paper scale, shipped", "quick": "Quick, computed here"},
    help="The shipped result was made at the paper's sizes on the built-in corpus. The quick one "
    "is computed on this server; the line under it says what it takes from the sidebar.",
)  # fmt: skip
LOSS = Choice(
    "loss",
    "Loss",
    {key: LOSSES[key].label for key in sorted(LOSSES, key=lambda key: key != DEFAULT_LOSS)},
    help="How a ranking is judged on the test queries. "
    + " ".join(f"**{loss.label}**: {loss.definition}" for loss in LOSSES.values()),
)
STUDY = Choice(
    "study",
    "What goes wrong",
    {
        "bias": "Bias",
        "noise": "Noise",
        "misspecification": "Wrong propensities",
        "map-noise": "Map: bias and noise",
        "map-assumed": "Map: true and assumed bias",
    },
)

PROOF = Choice(
    "proof",
    "Derivation (section of the paper: claim)",
    {name: f"{p.section}: {p.title}" for name, p in DERIVATIONS.items()},
)
VIEW = Choice(
    "view",
    "What to see",
    {
        "arrive": "Users arrive",
        "user": "One user at a time",
        "race": "Naive against weighted",
        "svm": "Noise and the SVM",
    },
)
LONGEST_CURVE = 200
LAST_STEP = 2_000
USERS = Number("users", "Simulated users", 1, MOST_USERS, default=1_000)
STEP = Number("step", "Steps so far", 0, LAST_STEP, default=0)
RELEVANT = Letters("relevant", "Relevant documents", LETTERS, default=tuple(DEFAULTS["relevant"]))
TEXTS = (
    Text("list", "Shown to users", default=DEFAULTS["list"], longest=40,
         help="The ranking that users saw, from the top."),
    Text("new", "New ranker S₁", default=DEFAULTS["new"], longest=40,
         help="The ranking to be judged from clicks, from the top."),
    Text("other", "Other ranker S₂", default=DEFAULTS["other"], longest=40,
         help="A second ranking to compare with, from the top."),
    Text("curve", "Own examination curve", default="", longest=LONGEST_CURVE,
         help="Overrides η. A number for each rank, as in “1, 1/2, 1/4, 0”; the last one is "
         "carried on. All are divided by the largest."),
    Text("assumed", "Own assumed curve", default="", longest=LONGEST_CURVE,
         help="Overrides η′. Left empty beside an own examination curve, it is the same curve."),
    Text("clip", "Clipping threshold τ", default=DEFAULTS["clip"], longest=LONGEST_CURVE,
         help="Propensities below τ count as τ."),
    Text("gap", "Score gap of S₁", default=DEFAULTS["gap"], longest=LONGEST_CURVE,
         help="Distance between the scores of neighbours in S₁, for section 6."),
)  # fmt: skip


def switch_key(name: str) -> str:
    """Key of the switch that breaks an assumption, on the page and in the address bar."""
    return "break_" + name.replace("-", "_")


SWITCHES = tuple(
    Switch(switch_key(name), entry.label, help=f"{entry.what} {entry.consequence}")
    for name, entry in BREAKS.items()
)

POSITION, TRUST = "position", "trust"
NOTHING_ELSE = "none"
EVERY_RANK = "every"
TRAFFIC = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
PROPENSITIES: tuple[Field, ...] = (
    replace(LANDMARK, key="swap_landmark", high=10,
            help="The document at this rank trades places with the one at a random rank before the "
            "list is shown. The paper's live experiment uses 1."),
    replace(SESSIONS, key="swap_traffic", stops=TRAFFIC, on_stops=True,
            help="Presentations that are given to the experiment; each rank gets one in K."),
    replace(SMOOTHING, key="swap_smoothing", decimals=2, snaps=True,
            help="Weight of the overall click rates: 0 takes the swaps alone, 1 the click rates "
            "alone. The paper smooths in this way but does not say how much."),
    replace(FIT, key="swap_fit",
            help="Leave the ratios as they are, let the curve never rise, or fit (1/r)^η."),
    Choice("swap_users", "Users", {POSITION: "Position model", TRUST: "Trust bias"},
           help="The position model, or users who trust high ranks and click irrelevant documents "
           "there more often (the published curves of 2021/22); η and ε do not matter for those."),
    Choice("swap_other", "Beside it",
           {NOTHING_ELSE: "nothing else",
            **{m.key: m.label for m in PROPENSITY_METHODS.values() if m.key != "swap"}},
           help="A second method on the same number of presentations, drawn in green."),
    replace(LAST_RANK, key="swap_ranks", low=10, high=40,
            help="Lowest rank that takes part; below it the last value holds. The paper uses 21."),
    Choice("swap_at", "Measure", {EVERY_RANK: "every rank", "powers": "1, 2, 4, 8, 16 …"},
           help="Use the ratios of a few ranks only and interpolate between them."),
    Switch("swap_bootstrap", "Bootstrap intervals",
           help="Intervals from 2,000 resampled experiments instead of the delta method."),
    Number("swap_rank", "Rank to be known", 2, 40, default=10,
           help="The rank whose p_r / p_k is wanted."),
    Number("swap_precision", "Wanted precision ±", 0.001, 10, default=0.1, decimals=3,
           stops=(0.05, 0.1, 0.2, 0.5), on_stops=True, percent=True,
           help="Half the width of the 95% interval, relative to the ratio."),
)  # fmt: skip

LIVE: tuple[Field, ...] = (
    replace(INTERLEAVED, key="live_queries", on_stops=True,
            stops=(100, 218, 370, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000),
            help="Queries shown in each of the two contests. The paper's 218 and 257 all had "
            "a click; here six in ten queries have one."),
    replace(SCHEME, key="live_scheme"),
    replace(SWAP_DAYS, key="live_swap_days", high=21,
            help="Days on which rank 1 is swapped with a random rank of 1 to 21."),
    replace(LIVE_SMOOTHING, key="live_smoothing", decimals=2, snaps=True),
)  # fmt: skip

LESSON_PART = Choice(
    "part", "Part", {"lessons": "Lessons", "lecturers": "For lecturers", "glossary": "Glossary"}
)
LESSON = Choice("lesson", "Lesson", {str(number): str(number) for number in range(1, 10)})
LESSON_PLAN = Choice("plan", "Time", {"45": "45 minutes", "90": "90 minutes"})

PAGE_VALUES: Mapping[str, tuple[Field, ...]] = MappingProxyType(
    {
        "lab": LAB,
        "lessons": (LESSON_PART, LESSON, LESSON_PLAN),
        "learning_curves": (RESULT, LOSS),
        "robustness": (STUDY, RESULT, LOSS),
        "proofs": (PROOF, VIEW, USERS, STEP, RELEVANT, *TEXTS, *SWITCHES),
        "propensities": PROPENSITIES,
        "live": LIVE,
        "claims": CLAIMS_VALUES,
    }
)


def values_of(page: str) -> tuple[Field, ...]:
    """The values of a page; none for a page without its own."""
    return PAGE_VALUES.get(page, ())


def fields_of(page: str) -> tuple[Field, ...]:
    """All that a link of a page can hold: the settings' fields and the page's own."""
    return (*SETTING_FIELDS, *values_of(page))


def page_query(page: str, settings: Settings, found: Mapping[str, Any]) -> str:
    """The URL query of a page in a state: settings and page values that are not the defaults."""
    return urlencode(write_fields(fields_of(page), {**found, **settings.by_key}), safe=",")


def read_page_query(page: str, query: str) -> tuple[Settings, dict[str, Any], tuple[str, ...]]:
    """Settings and page values of a URL query, and a sentence for each value that was corrected.

    No text can raise.
    """
    try:
        asked = parse_qs(query, keep_blank_values=True)
    except ValueError:  # too many fields
        defaults, _ = read_fields(values_of(page), {})
        return Settings(), defaults, ("The link is too long to be read.",)
    settings, notices = Settings.from_query(asked)
    found, more = read_fields(values_of(page), asked)
    return settings, found, (*notices, *more, *near_misses(asked))


_ALIKE = 0.8  # share of two keys' letters that agree, from which one is taken for the other
_LONGEST_KEY = 40  # characters; none of ours is half as long
_MOST_KEYS = 100  # of a link that are looked at


def near_misses(keys: Iterable[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    """A sentence for each key of a link that is none, but nearly one: ``eps-minus``, ``Eta``.

    Keys that resemble none are somebody else's, as those that a mailing adds, and are left alone.
    others: keys that count besides those of settings, curves and pages.
    """
    fields = chain(SETTING_FIELDS, *PAGE_VALUES.values())
    known = [*(field.key for field in fields), *others]
    found = []
    for key in islice(keys, _MOST_KEYS):
        if key in known or len(key) > _LONGEST_KEY:
            continue
        plain = key.strip().lower().replace("-", "_")
        alike = [plain] if plain in known else difflib.get_close_matches(plain, known, 1, _ALIKE)
        if alike:
            found.append(f"The link's key {quoted(key)} is not used; the right key is {alike[0]}.")
    return tuple(found)


def value_of(page: str, key: str) -> Field:
    """One value of a page by its key.

    Raises InputError: the page has none of that name.
    """
    for value in values_of(page):
        if value.key == key:
            return value
    raise InputError(f"{quoted(key)} is no value of the page {page}.")
