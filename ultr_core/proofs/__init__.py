"""The paper's derivations as numbers: line by line for a small query, and as checks of a world.

    world = default_world().breaking("trust")
    walk = PROOFS["affine-law"].derive(Ways(world, draw_users(world, 10_000, seed=0)))
    [line.error for line in walk.lines]

:data:`PROOFS` is the one registry that pages, the command line and the tests read.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.proofs import corpus_checks, learner_checks, simulated_checks, small_checks
from ultr_core.proofs.breaks import BREAKS, Break
from ultr_core.proofs.check import NO_POSITION_BIAS, PROPENSITIES, Check, Finding, Proof
from ultr_core.proofs.evidence import Evidence
from ultr_core.proofs.monte_carlo import Sample, draw_users
from ultr_core.proofs.small_query import SmallQuery
from ultr_core.proofs.small_world import SmallWorld, default_world
from ultr_core.proofs.walk import Line, Walk, Ways

__all__ = [
    "BREAKS",
    "DERIVATIONS",
    "NO_POSITION_BIAS",
    "PROOFS",
    "PROPENSITIES",
    "Break",
    "Check",
    "Evidence",
    "Finding",
    "Line",
    "Proof",
    "Sample",
    "SmallQuery",
    "SmallWorld",
    "Walk",
    "Ways",
    "default_world",
    "draw_users",
    "run_checks",
]

PROOFS: Mapping[str, Proof] = MappingProxyType(
    {
        proof.name: proof
        for proof in (
            *small_checks.PROOFS,
            *simulated_checks.PROOFS,
            *corpus_checks.PROOFS,
            *learner_checks.PROOFS,
        )
    }
)
"""All proofs by name, in the order in which they are shown."""

DERIVATIONS: Mapping[str, Proof] = MappingProxyType(
    {name: proof for name, proof in PROOFS.items() if proof.derive is not None}
)
"""The proofs that can be walked line by line."""


def run_checks(evidence: Evidence) -> tuple[Check, ...]:
    """Evaluate every proof on ``evidence``."""
    return tuple(proof.check(evidence) for proof in PROOFS.values())
