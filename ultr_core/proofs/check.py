"""What a proof check is: a claim of the paper, and what was found for one world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.findings import Finding
from ultr_core.proofs.walk import Derive
from ultr_core.users import ClickLog, ExaminationCurve, PositionModel

SAME = 1e-13
"""Relative difference of two propensities that is rounding, as of 0.3 / 0.9 and 0.1 / 0.3."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The inputs of all proof checks.

    Attributes:
        users: how the simulated users examine and click.
        assumed_curve: the examination curve that the learner believes in.
        query_offsets: int64 [queries + 1], the logged queries.
        relevance: bool [documents].
        presented_ranks: int [documents], ranks under the production ranker.
        family_ranks: int [rankers, documents], ranks under each ranker of the family.
        true_risk: float64 [rankers], R(S) of each (equation 2 averaged over the queries).
        log: the simulated training clicks.
        scores: float64 [documents] of the rankers whose hinge bound is checked, by label.
        gap: relative duality gap of the trained propensity-weighted ranker.
        gap_tolerance: the gap that its fit was asked for.
    """

    users: PositionModel
    assumed_curve: ExaminationCurve
    query_offsets: NDArray[np.int64]
    relevance: NDArray[np.bool_]
    presented_ranks: NDArray[np.int32]
    family_ranks: NDArray[np.int32]
    true_risk: NDArray[np.float64]
    log: ClickLog
    scores: Mapping[str, NDArray[np.float64]]
    gap: float
    gap_tolerance: float

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
        """Whether true and assumed propensity agree at every presented rank."""
        true = self.users.curve.at(self.presented_ranks)
        return bool(np.allclose(true, self.assumed_propensity, rtol=SAME, atol=0.0))

    @cached_property
    def is_unbiased_by_position(self) -> bool:
        """Whether users examine every presented rank equally often."""
        true = self.users.curve.at(self.presented_ranks)
        return bool((true == true[0]).all())


PROPENSITIES = "correct propensities"
NO_POSITION_BIAS = "no position bias (η = 0)"
"""Assumptions that a world's settings can break."""


@dataclass(frozen=True)
class Proof:
    """A claim with its statement, its place in the paper, what it assumes and how to test it.

    ``fails_when`` says in a sentence what makes it fail, ``breaks`` names the switches that do
    so (keys of ``BREAKS``), and ``derive`` gives its lines for a small query, where it has any.
    """

    name: str
    title: str
    section: str
    statement: str
    formula: str
    assumes: tuple[str, ...]
    fails_when: str
    evaluate: Callable[[Evidence], Finding]
    breaks: tuple[str, ...] = ()
    derive: Derive | None = None

    def check(self, evidence: Evidence) -> Check:
        """Evaluate the claim on ``evidence``."""
        return Check(self, self.evaluate(evidence))

    def __reduce__(self) -> tuple[Callable[[str], Proof], tuple[str]]:
        """Pickle the name alone: the functions are those of ``PROOFS``."""
        return _registered, (self.name,)


@dataclass(frozen=True)
class Check:
    """A proof together with what was found for one world."""

    proof: Proof
    finding: Finding

    @property
    def name(self) -> str:
        """Short name that the command line prints."""
        return self.proof.name

    @property
    def comparison(self) -> str:
        """What was measured and what was expected; true in words whether it holds or not."""
        found = self.finding
        side = f", {'within' if found.holds else 'beyond'} the tolerance {found.tolerance:.3g}"
        return (
            f"Measured {found.value:.6g}, expected "
            f"{'' if found.relation == '=' else f'{found.relation} '}{found.limit:.6g}"
            f"{side if found.tolerance else ''}"
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
    *,
    name: str,
    title: str,
    section: str,
    statement: str,
    formula: str,
    assumes: tuple[str, ...],
    fails_when: str,
) -> Callable[[Callable[[Evidence], Finding]], Proof]:
    """Make a :class:`Proof` of the decorated evaluation."""

    def make(evaluate: Callable[[Evidence], Finding]) -> Proof:
        return Proof(name, title, section, statement, formula, assumes, fails_when, evaluate)

    return make


def _registered(name: str) -> Proof:
    from ultr_core.proofs.registry import PROOFS

    return PROOFS[name]
