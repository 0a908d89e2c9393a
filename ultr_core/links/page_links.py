"""What the link of each page holds beside the world's settings, once for pages, links, notebooks.

:data:`PAGE_VALUES` has a tuple of values for each page's address; a page without an entry has
none of its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlencode

from ultr_core.claims import COMPARISONS, READINGS, SECTIONS
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError, quoted
from ultr_core.findings import OUTCOMES
from ultr_core.lab.interleaving import SCHEMES
from ultr_core.links.page_values import (
    Choice,
    Letters,
    Line,
    PageValue,
    Real,
    Stops,
    Switch,
    Whole,
    read_values,
    write_values,
)
from ultr_core.proofs import BREAKS, DERIVATIONS
from ultr_core.proofs.monte_carlo import MOST_USERS
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import DEFAULTS
from ultr_core.propensity import FITS, PROPENSITY_METHODS
from ultr_core.settings import PARAMETERS, Settings
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
    "claim_checks", "How each is checked", "Adds how each claim is checked, and remarks."
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

CLAIMS_VALUES: tuple[PageValue, ...] = (PART, SECTION, VERDICT, CHECKS, PLACE, READING)
"""In the order of the page."""


LAB = (
    Choice("examination", "Examination", {"probability": "Probability p", "weight": "Weight 1/p"}),
)

RESULT = Choice(
    "result", "Result",
    {"shipped": "Paper scale, shipped", "quick": "Quick, computed here"},
    "The shipped result was made at the paper's sizes on the built-in corpus. The quick one is "
    "computed on this server; the line under it says what it takes from the sidebar.",
)  # fmt: skip
LOSS = Choice(
    "loss",
    "Loss",
    {key: LOSSES[key].label for key in sorted(LOSSES, key=lambda key: key != DEFAULT_LOSS)},
    "How a ranking is judged on the test queries. "
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
USERS = Whole("users", "Simulated users", 1, MOST_USERS, 1_000)
STEP = Whole("step", "Steps so far", 0, LAST_STEP, 0)
RELEVANT = Letters("relevant", "Relevant documents", LETTERS, tuple(DEFAULTS["relevant"]))
TEXTS = (
    Line("list", "Shown to users", DEFAULTS["list"], 40,
         "The ranking that users saw, from the top."),
    Line("new", "New ranker S₁", DEFAULTS["new"], 40,
         "The ranking to be judged from clicks, from the top."),
    Line("other", "Other ranker S₂", DEFAULTS["other"], 40,
         "A second ranking to compare with, from the top."),
    Line("curve", "Own examination curve", "", LONGEST_CURVE,
         "Overrides η. A number for each rank, as in “1, 1/2, 1/4, 0”; the last one is carried on. "
         "All are divided by the largest."),
    Line("assumed", "Own assumed curve", "", LONGEST_CURVE,
         "Overrides η′. Left empty beside an own examination curve, it is the same curve."),
    Line("clip", "Clipping threshold τ", DEFAULTS["clip"], LONGEST_CURVE,
         "Propensities below τ count as τ."),
    Line("gap", "Score gap of S₁", DEFAULTS["gap"], LONGEST_CURVE,
         "Distance between the scores of neighbours in S₁, for section 6."),
)  # fmt: skip


def switch_key(name: str) -> str:
    """Key of the switch that breaks an assumption, on the page and in the address bar."""
    return "break_" + name.replace("-", "_")


SWITCHES = tuple(
    Switch(switch_key(name), entry.label, f"{entry.what} {entry.consequence}")
    for name, entry in BREAKS.items()
)

POSITION, TRUST = "position", "trust"
NOTHING_ELSE = "none"
EVERY_RANK = "every"
TRAFFIC = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
PROPENSITIES: tuple[PageValue, ...] = (
    Whole("swap_landmark", "Landmark k", 1, 10, 1,
          "The document at this rank trades places with the one at a random rank before the list "
          "is shown. The paper's live experiment uses 1."),
    Stops("swap_traffic", "Traffic", TRAFFIC, 50_000,
          "Presentations that are given to the experiment; each rank gets one in K."),
    Real("swap_smoothing", "Smoothing", 0.0, 1.0, 0.05, 0.0,
         "Weight of the overall click rates: 0 takes the swaps alone, 1 the click rates alone. "
         "The paper smooths in this way but does not say how much."),
    Choice("swap_fit", "Fit", {fit: fit for fit in FITS},
           "Leave the ratios as they are, let the curve never rise, or fit (1/r)^η."),
    Choice("swap_users", "Users", {POSITION: "Position model", TRUST: "Trust bias"},
           "The position model, or users who trust high ranks and click irrelevant documents "
           "there more often (the published curves of 2021/22); η and ε do not matter for those."),
    Choice("swap_other", "Beside it",
           {NOTHING_ELSE: "nothing else",
            **{m.key: m.label for m in PROPENSITY_METHODS.values() if m.key != "swap"}},
           "A second method on the same number of presentations, drawn in green."),
    Whole("swap_ranks", "Last rank K", 10, 40, 21,
          "Lowest rank that takes part; below it the last value holds. The paper uses 21."),
    Choice("swap_at", "Measure", {EVERY_RANK: "every rank", "powers": "1, 2, 4, 8, 16 …"},
           "Use the ratios of a few ranks only and interpolate between them."),
    Switch("swap_bootstrap", "Bootstrap intervals",
           "Intervals from 2,000 resampled experiments instead of the delta method."),
    Whole("swap_rank", "Rank to be known", 2, 40, 10, "The rank whose p_r / p_k is wanted."),
    Stops("swap_precision", "Wanted precision ±", (0.05, 0.1, 0.2, 0.5), 0.1,
          "Half the width of the 95% interval, relative to the ratio.", percent=True),
)  # fmt: skip

SCHEME_TITLES = {"balanced": "Balanced (paper)", "team-draft": "Team draft"}
LIVE: tuple[PageValue, ...] = (
    Stops("live_queries", "Interleaved queries",
          (100, 218, 370, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000), 10_000,
          "Queries shown in each of the two contests. The paper's 218 and 257 all had "
          "a click; here six in ten queries have one."),
    Choice("live_scheme", "Interleaving", {key: SCHEME_TITLES[key] for key in SCHEMES},
           "Balanced: lists in turn, judged by clicks within the same depth of both. Team draft: "
           "each ranker picks, judged by whose picks are clicked."),
    Whole("live_swap_days", "Days of swaps", 1, 21, 7,
          "Days on which rank 1 is swapped with a random rank of 1 to 21."),
    Real("live_smoothing", "Smoothing", 0.0, 1.0, 0.05, 0.5,
         "Weight of overall click rates in the curve; the paper does not give it."),
)  # fmt: skip

LESSON_PART = Choice(
    "part", "Part", {"lessons": "Lessons", "lecturers": "For lecturers", "glossary": "Glossary"}
)
LESSON = Choice("lesson", "Lesson", {str(number): str(number) for number in range(1, 10)})
LESSON_PLAN = Choice("plan", "Time", {"45": "45 minutes", "90": "90 minutes"})

PAGE_VALUES: Mapping[str, tuple[PageValue, ...]] = MappingProxyType(
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


def values_of(page: str) -> tuple[PageValue, ...]:
    """The values of a page; none for a page without its own."""
    return PAGE_VALUES.get(page, ())


def page_query(page: str, settings: Settings, found: Mapping[str, Any]) -> str:
    """The URL query of a page in a state: settings and page values that are not the defaults."""
    own = urlencode(write_values(values_of(page), found))
    return "&".join(part for part in (settings.to_query(), own) if part)


def read_page_query(page: str, query: str) -> tuple[Settings, dict[str, Any], tuple[str, ...]]:
    """Settings and page values of a URL query, and a sentence for each value that was corrected.

    No text can raise.
    """
    try:
        asked = parse_qs(query, keep_blank_values=True)
    except ValueError:  # too many fields
        return (
            Settings(),
            read_values(values_of(page), {})[0],
            ("The link is too long to be read.",),
        )
    settings, notices = Settings.from_query(asked)
    found, more = read_values(values_of(page), asked)
    return settings, found, (*notices, *more, *near_misses(asked))


_ALIKE = 0.8  # share of two keys' letters that agree, from which one is taken for the other
_LONGEST_KEY = 40  # characters; none of ours is half as long
_MOST_KEYS = 100  # of a link that are looked at


def near_misses(keys: Iterable[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    """A sentence for each key of a link that is none, but nearly one: ``eps-minus``, ``Eta``.

    Keys that resemble none are somebody else's, as those that a mailing adds, and are left alone.
    others: keys that count besides those of settings, curves and pages.
    """
    pages = (value.key for values in PAGE_VALUES.values() for value in values)
    known = [*PARAMETERS, *(field.key for field in CURVES.values()), *pages, *others]
    found = []
    for key in islice(keys, _MOST_KEYS):
        if key in known or len(key) > _LONGEST_KEY:
            continue
        plain = key.strip().lower().replace("-", "_")
        alike = [plain] if plain in known else difflib.get_close_matches(plain, known, 1, _ALIKE)
        if alike:
            found.append(f"The link's key {quoted(key)} is not used; the right key is {alike[0]}.")
    return tuple(found)


def value_of(page: str, key: str) -> PageValue:
    """One value of a page by its key.

    Raises InputError: the page has none of that name.
    """
    for value in values_of(page):
        if value.key == key:
            return value
    raise InputError(f"{quoted(key)} is no value of the page {page}.")
