"""What a proof is: a claim of the paper, how it is tested, and what was found for one world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.content import read
from ultr_core.findings import Finding
from ultr_core.proofs.concentration import Chance, chance_of
from ultr_core.proofs.small_world import SmallWorld, default_world
from ultr_core.proofs.walk import Derive, Walk, Ways
from ultr_core.risk import expected_risk
from ultr_core.users import ClickLog, ExaminationCurve, PositionModel
from ultr_core.words import with_minus

SAME = 1e-13
"""Relative difference of two propensities that is rounding, as of 0.3 / 0.9 and 0.1 / 0.3."""


EVERY = 360
"""One in so many of all rankings of six candidates is walked, besides the default query's."""

PROPENSITIES = "correct propensities"
NO_POSITION_BIAS = "no position bias (η = 0)"
"""Assumptions that a world's settings can break."""

POSITIVE_RELEVANT = "positive propensity for every relevant document"
POSITIVE = "positive propensity for every document that can be clicked"
CONSTANT_NOISE = "noise that depends on nothing but relevance"
INDEPENDENT = "independent examinations"
INDEPENDENT_USERS = "independent users"
POSITION = "examination that depends only on the rank"

UNSEEN = ("zero-relevant", "cut")
WRONG_USERS = ("attraction", "cascade")
BIASED = (*UNSEEN, "zero-irrelevant", "wrong-curve", "trust", *WRONG_USERS)
"""Keys of ``BREAKS`` that make all of some derivations fail."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The inputs of all proof checks.

    Attributes:
        users: how the simulated users examine ranks and click.
        assumed_curve: the examination curve that the learner assumes.
        query_offsets: int64 [queries + 1], the logged queries.
        relevance: bool [documents].
        presented_ranks: int [documents], ranks under the production ranker.
        family_ranks: int [rankers, documents], ranks under each ranker in the family.
        true_risk: float64 [rankers], R(S) of each (equation 2 averaged over the queries).
        log: the simulated training clicks.
        scores: float64 [documents] of the rankers whose hinge bound is checked, by label.
        gap: relative duality gap of the trained propensity-weighted ranker.
        gap_tolerance: the gap that was required of it.
        broken: assumptions broken on the small query, keys of ``BREAKS``.
    """

    users: PositionModel
    assumed_curve: ExaminationCurve
    query_offsets: NDArray[np.int64]
    relevance: NDArray[np.bool_]
    presented_ranks: NDArray[np.int32]
    family_ranks: NDArray[np.int32] | NDArray[np.float64]
    true_risk: NDArray[np.float64]
    log: ClickLog
    scores: Mapping[str, NDArray[np.float64]]
    gap: float
    gap_tolerance: float
    broken: tuple[str, ...] = ()

    @cached_property
    def click_probability(self) -> NDArray[np.float64]:
        """Exact click probability of each document, float64 [documents]."""
        return self.users.click_probability(self.relevance, self.presented_ranks)

    @cached_property
    def assumed_propensity(self) -> NDArray[np.float64]:
        """Propensity that the learner divides by, float64 [documents]."""
        return self.assumed_curve.at(self.presented_ranks)

    @cached_property
    def curve_is_right(self) -> bool:
        """Whether true and assumed propensities agree at every presented rank."""
        true = self.users.curve.at(self.presented_ranks)
        return bool(np.allclose(true, self.assumed_propensity, rtol=SAME, atol=0.0))

    @cached_property
    def is_unbiased_by_position(self) -> bool:
        """Whether users examine every presented rank equally often."""
        true = self.users.curve.at(self.presented_ranks)
        return bool((true == true[0]).all())

    def expected_with(self, propensity: NDArray[np.float64]) -> NDArray[np.float64]:
        """Exact expectation of each ranker's estimate with these propensities, float64 [rankers].

        propensity [documents].
        """
        return np.asarray(
            expected_risk(self.click_probability, propensity, self.family_ranks, self.query_offsets)
        )

    @cached_property
    def expected_risk(self) -> NDArray[np.float64]:
        """The same expectation with the assumed propensities."""
        return self.expected_with(self.assumed_propensity)

    @cached_property
    def best_ranker(self) -> Chance:
        """The estimate from the log for the best ranker in the family."""
        ranks = self.family_ranks[int(np.argmin(self.true_risk))]
        assumed = self.assumed_curve.at(self.log.rank)
        return chance_of(self.log, assumed, self.click_probability, self.assumed_propensity, ranks)

    @cached_property
    def small_ways(self) -> tuple[Ways, ...]:
        """The small world's query with its own rankings and with a few others, for all proofs."""
        world = self.small_world
        others = list(permutations(range(1, world.query.size + 1)))[::EVERY]
        queries = [world.query, *(replace(world.query, new=new) for new in others)]
        return tuple(Ways(replace(world, query=query)) for query in queries)

    @cached_property
    def small_world(self) -> SmallWorld:
        """The default query of the derivations with these users and this assumed curve."""
        world = default_world()
        ranks = np.arange(1, world.query.size + 1)
        examination, assumed = (
            tuple(Fraction(float(p)) for p in curve.at(ranks))
            for curve in (self.users.curve, self.assumed_curve)
        )
        return replace(
            world,
            examination=examination,
            assumed=assumed,
            # The decimals that were asked for, not the binary number next to them.
            eps_plus=Fraction(str(self.users.eps_plus)),
            eps_minus=Fraction(str(self.users.eps_minus)),
            broken=self.broken,
        )


@dataclass(frozen=True)
class Proof:
    """A claim with its statement, its section in the paper, its assumptions and its test.

    ``fails_when`` says in a sentence what makes it fail.
    """

    name: str
    title: str
    section: str
    statement: str
    formula: str
    assumes: tuple[str, ...]
    fails_when: str
    evaluate: Callable[[Evidence], Finding]

    def check(self, evidence: Evidence) -> Check:
        """Evaluate the claim on ``evidence``."""
        return Check(self, self.evaluate(evidence))

    def __reduce__(self) -> tuple[Callable[[str], Proof], tuple[str]]:
        """Pickle the name alone: the functions are those of ``PROOFS``."""
        return _registered, (self.name,)


@dataclass(frozen=True)
class Derivation(Proof):
    """A line-by-line proof, checked by walking through it on small queries from a world.

    ``derive`` gives its lines for a small query; ``breaks`` names the switches that make some of
    them fail (keys of ``BREAKS``).
    """

    derive: Derive
    breaks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """A proof and its finding for one world."""

    proof: Proof
    finding: Finding

    @property
    def name(self) -> str:
        """Short name that the command line prints."""
        return self.proof.name

    @property
    def comparison(self) -> str:
        """What was measured and what was expected, in words that are true whatever the outcome."""
        found = self.finding
        side = f", {'within' if found.holds else 'beyond'} the tolerance {found.tolerance:.3g}"
        return (
            f"Measured {with_minus(f'{found.value:.6g}')}, expected "
            f"{'' if found.relation == '=' else f'{found.relation} '}"
            f"{with_minus(f'{found.limit:.6g}')}{side if found.tolerance else ''}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The check as plain values, as the command line prints it with ``--json``."""
        found = self.finding
        return {
            "name": self.proof.name,
            "title": self.proof.title,
            "statement": self.proof.statement,
            "section": self.proof.section,
            "assumes": list(self.proof.assumes),
            "fails_when": self.proof.fails_when,
            "relation": found.relation,
            "measured": found.value,
            "expected": found.limit,
            "tolerance": found.tolerance,
            "holds": found.holds,
            "should_hold": found.should_hold,
            "status": found.status,
            "sentence": found.sentence,
            "details": dict(found.details),
        }


def proof(
    name: str, *, section: str, formula: str, assumes: tuple[str, ...] = ()
) -> Callable[[Callable[[Evidence], Finding]], Proof]:
    """Make a :class:`Proof` of the decorated evaluation; its words are in a text file."""

    def make(evaluate: Callable[[Evidence], Finding]) -> Proof:
        title, statement, fails_when = _words(name)
        return Proof(name, title, section, statement, formula, assumes, fails_when, evaluate)

    return make


def derivation(
    name: str,
    *,
    section: str,
    formula: str,
    assumes: tuple[str, ...] = (),
    breaks: tuple[str, ...] = (),
) -> Callable[[Derive], Derivation]:
    """Make a :class:`Derivation` of the decorated walk; its words are in a text file."""

    def make(derive: Derive) -> Derivation:
        title, statement, fails_when = _words(name)
        evaluate = partial(_walked, derive, needs_curve="wrong-curve" in breaks)
        return Derivation(
            name, title, section, statement, formula, assumes, fails_when, evaluate, derive, breaks
        )

    return make


def _words(name: str) -> tuple[str, str, str]:
    """Title, statement and when it fails, from ``content/proofs.toml``."""
    words = read(__file__, "proofs").part(name)
    return words.text("title"), words.text("statement"), words.text("fails_when")


def _walked(derive: Derive, evidence: Evidence, *, needs_curve: bool) -> Finding:
    """Walk a derivation on the small query with several rankings; report the largest error."""
    world = evidence.small_world
    walks = [derive(ways) for ways in evidence.small_ways]
    walk = max(walks, key=lambda walk: walk.largest_departure)
    return Finding(
        _sentence(walk, len(walks)),
        float(walk.largest_departure),
        should_hold=world.curve_is_right or not needs_curve,
        details=(
            ("lines × rankings", f"{max(len(walk.lines) for walk in walks)} × {len(walks)}"),
            ("candidates", str(world.query.size)),
        ),
    )


def _sentence(walk: Walk, walks: int) -> str:
    worst = float(walk.largest_departure)
    if worst == 0.0:
        return (
            f"Every step holds exactly for {walks} rankings, and every enumeration equals its "
            "closed form exactly."
        )
    if not walk.failing:
        return f"Every step holds, but an enumeration differs from its closed form by {worst:.4g}."
    *others, last = map(str, walk.failing)
    lines = f"Lines {', '.join(others)} and {last} fail" if others else f"Line {last} fails"
    return f"{lines}: the worst step is off by {worst:.4g}. More data does not remove this error."


def _registered(name: str) -> Proof:
    from ultr_core.proofs.checks import PROOFS

    return PROOFS[name]
