"""``proofs``, its page and its notebook: the paper's claims on a world, derivations by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qsl

from ultr_core import lab
from ultr_core.errors import InputError, quoted
from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Choice, Letters, Number, Switch, Text
from ultr_core.jobs.files import CORPUS
from ultr_core.jobs.job import Given, Job, Page, PageState
from ultr_core.jobs.output import print_notes
from ultr_core.lab import world_notices
from ultr_core.proofs import (
    BREAKS,
    DERIVATIONS,
    Check,
    Line,
    Proof,
    SmallWorld,
    Walk,
    Ways,
    draw_users,
)
from ultr_core.proofs.monte_carlo import MOST_USERS
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import DEFAULTS, NOBODY
from ultr_core.settings import SETTING_FIELDS, Settings
from ultr_core.words import section_words

SIMULATED = 10_000  # users for a derivation on the command line

PROOF = Choice(
    "proof",
    "Derivation (section of the paper: claim)",
    {name: f"{p.section}: {p.title}" for name, p in DERIVATIONS.items()},
)
VIEW = Choice(
    "view",
    "What to show",
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
         help="The ranking that users saw, listed from the top down."),
    Text("new", "New ranker S₁", default=DEFAULTS["new"], longest=40,
         help="The ranking to judge from clicks, listed from the top down."),
    Text("other", "Other ranker S₂", default=DEFAULTS["other"], longest=40,
         help="A second ranking to compare with S₁, listed from the top down."),
    Text("curve", "Custom examination curve", default="", longest=LONGEST_CURVE,
         help="Overrides η. One number per rank, as in “1, 1/2, 1/4, 0”; the last is used for all "
         "ranks below. All are divided by the largest."),
    Text("assumed", "Custom assumed curve", default="", longest=LONGEST_CURVE,
         help="Overrides η′. If this is empty and you give a custom examination curve, that "
         "curve is used."),
    Text("clip", "Clipping threshold τ", default=DEFAULTS["clip"], longest=LONGEST_CURVE,
         help="Propensities below τ count as τ."),
    Text("gap", "Score gap of S₁", default=DEFAULTS["gap"], longest=LONGEST_CURVE,
         help="Distance between the scores of neighbours in S₁, for section 6."),
)  # fmt: skip


def switch_key(name: str) -> str:
    """Key of the switch that breaks an assumption, on the page and in the address bar."""
    return "break_" + name.replace("-", "_")


SWITCHES = tuple(
    Switch(
        switch_key(name),
        entry.label,
        help=f"{entry.what} {entry.consequence} Repair: {entry.repair}",
    )
    for name, entry in BREAKS.items()
)


@dataclass(frozen=True)
class Checked:
    """All proof checks in one world."""

    settings: Settings
    corpus: dict[str, Any]
    checks: Sequence[Check]
    notices: Sequence[str]

    @property
    def passed(self) -> bool:
        """Whether every check holds that should."""
        return not any(check.finding.fails for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "settings": self.settings.as_dict(),
            "seed": self.settings.seed,
            "corpus": self.corpus,
            "checks": [check.as_dict() for check in self.checks],
            "passed": self.passed,
            "notices": list(self.notices),
        }

    def show(self) -> None:
        """Print a table."""
        for check in self.checks:
            where = section_words(check.proof.section)
            print(f"{check.finding.status:28} {check.name:26} {where}")
            print(f"    {check.proof.title}.")
            print(f"    {check.comparison}. {check.finding.sentence}")
            if not check.finding.holds:
                print(f"    Fails when {check.proof.fails_when}")
        failed = [check.name for check in self.checks if check.finding.fails]
        print()
        print(f"Failed: {', '.join(failed)}." if failed else "Every check that should hold does.")


@dataclass(frozen=True)
class Walked:
    """One derivation, line by line, on a small query."""

    proof: Proof
    world: SmallWorld
    walk: Walk

    @property
    def passed(self) -> bool:
        """Whether all lines hold."""
        return self.walk.holds

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.proof.name,
            "title": self.proof.title,
            "section": self.proof.section,
            "query": self.world.to_query(),
            "lines": [line.as_dict() for line in self.walk.lines],
            "notes": list(self.walk.notes),
            "holds": self.walk.holds,
        }

    def show(self) -> None:
        """Print the lines."""
        print(f"{self.proof.title}.")
        for number, line in enumerate(self.walk.lines, start=1):
            print(f"{number:3} {line.relation or ' '} {_verdict(line):24} {line.words}")
            print(f"      {line.formula}")
            print(f"      {_values(line)}")
        for note in self.walk.notes:
            print(note)


def run(given: Given) -> Checked | Walked:
    """Run all checks, or walk one derivation."""
    if given.derivation:
        return _walk(given)
    if given.query:
        raise InputError("--query describes a small query; name a derivation with --derivation.")
    own = given.lab
    world = own.world()
    notices = world_notices(world, given.settings)
    print_notes(notices)
    return Checked(given.settings, world.counts(), own.checks(), notices)


def _walk(given: Given) -> Walked:
    world = lab.small_world(given.settings, _query_texts(given.query))
    proof = DERIVATIONS[given.derivation]
    users = draw_users(world, SIMULATED, given.settings.seed)
    return Walked(proof, world, proof.derive(Ways(world, users)))


def _query_texts(query: str) -> dict[str, str]:
    """Keys and texts of ``--query``; raises InputError for anything else, or a key given twice."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise InputError(
            f"--query is {quoted(query)}; it must be key=text pairs joined by &, with the keys "
            f"{', '.join(DEFAULTS)}."
        ) from None
    texts: dict[str, str] = {}
    for key, text in pairs:
        if key not in DEFAULTS:
            raise InputError(
                f"--query has the key {quoted(key)}; the keys are {', '.join(DEFAULTS)}."
            )
        if key == "relevant":  # a page's link names the relevant documents one by one
            texts[key] = texts.get(key, "").replace(NOBODY, "") + text or NOBODY
        elif key in texts:
            raise InputError(f"--query gives {key} twice; give it only once.")
        else:
            texts[key] = text
    return texts


def _verdict(line: Line) -> str:
    if not line.relation:
        return "starts"
    return "holds" if line.holds else f"fails by {line.error}"


def _values(line: Line) -> str:
    value = line.value
    texts = [] if value.enumerated is None else [f"enumerated {value.enumerated}"]
    texts.append(f"closed form {value.closed}{_decimal(value.closed)}")
    if value.estimate is not None:
        found = value.estimate
        texts.append(f"{SIMULATED:,} users {found.value:.4g}, {found.low:.4g} to {found.high:.4g}")
    return "; ".join(texts)


def _decimal(value: Fraction) -> str:
    """What a fraction is in decimals, and whether exactly; nothing for a whole number."""
    if value.denominator == 1:
        return ""
    text = f"{float(value):.6g}"
    return f" {'=' if Fraction(text) == value else '≈'} {text}"


def small_world(settings: Settings, values: Mapping[str, Any]) -> SmallWorld:
    """The small query of the page's values, its users following ``settings``.

    Raises InputError for values that describe none.
    """
    texts = {line.key: str(values[line.key]) for line in TEXTS}
    texts["relevant"] = RELEVANT.write(values[RELEVANT.key])
    broken = (name for name in BREAKS if values[switch_key(name)])
    return lab.small_world(settings, {**texts, "broken": " ".join(broken)})


def cells(state: PageState) -> list[Cell]:
    """The small query, its users, and the derivation that the page shows.

    Raises InputError for values that describe no small world.
    """
    world = small_world(state.settings, state.values)
    name, users = state.values[PROOF.key], state.values[USERS.key]
    described = "\n".join(
        f"                {key!r}: {text!r},"
        for key, text in parse_qsl(world.to_query(), keep_blank_values=True)
    )
    query = f"{{\n{described}\n            }}" if described else "{}"
    return [
        words(
            """
            ## A query small enough to be checked in full

            The query has about six candidates, some relevant, shown in one ranking; two other
            rankings, S₁ and S₂, are judged from clicks. All numbers are fractions, so nothing is
            rounded. Values that are not given here are those of the lab's default query.
            """
        ),
        code(
            f"""
            from ultr_core.proofs import SmallWorld

            world = SmallWorld.from_query({query})
            print(world.query)
            print("examination by rank:", *world.examination)
            """
        ),
        words(
            f"""
            ## {DERIVATIONS[name].title}

            Each line of the derivation has a formula and a value. “Holds” means that the step from
            the line above is exactly right. The value for simulated users follows, with a 95%
            interval.
            """
        ),
        code(
            f"""
            from ultr_core.proofs import DERIVATIONS, Ways, draw_users

            proof = DERIVATIONS["{name}"]
            walk = proof.derive(Ways(world, draw_users(world, users={users}, seed=settings.seed)))
            print(proof.statement)
            for number, line in enumerate(walk.lines, start=1):
                verdict = "holds" if line.holds else f"fails by {{line.error}}"
                print(f"{{number}}. {{line.words}}")
                print(f"   value {{line.value.closed}}, {{verdict}}")
                seen = line.value.estimate
                if seen is not None:
                    print(f"   users: {{seen.value:.4g}} ({{seen.low:.4g}} to {{seen.high:.4g}})")
            """
        ),
    ]


JOB = Job(
    run,
    options=(
        CORPUS,
        Choice(
            "derivation", "", {n: proof.title for n, proof in DERIVATIONS.items()}, default="",
            help="show one derivation line by line on a small query",
        ),
        Text(
            "query", "", longest=100_000,
            help="the small query and the broken assumptions, if not the defaults, for example "
            "'list=ABCD&relevant=BD&new=DBAC&other=ABCD&curve=1 1/2 1/3 1/4&broken=trust'",
        ),
    ),
    settings=SETTING_FIELDS,
    show=lambda found: found.show(),
    as_dict=lambda found: found.as_dict(),
    passed=lambda found: found.passed,
    pages={
        "proofs": Page(
            "Why does weighting work, and when does it not?", cells,
            (PROOF, VIEW, USERS, STEP, RELEVANT, *TEXTS, *SWITCHES),
            begins=lambda _: "settings",
        )
    },
)  # fmt: skip
