"""The paper's derivations as checks with numbers: statement, measured value, verdict."""

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.proofs import corpus_checks, learner_checks, small_query
from ultr_core.proofs.check import Check, Finding, Proof
from ultr_core.proofs.evidence import Evidence

__all__ = ["PROOFS", "Check", "Evidence", "Finding", "Proof", "run_checks"]

PROOFS: Mapping[str, Proof] = MappingProxyType(
    {
        proof.name: proof
        for proof in (*small_query.PROOFS, *corpus_checks.PROOFS, *learner_checks.PROOFS)
    }
)
"""All proofs by name, in the order in which they are shown."""


def run_checks(evidence: Evidence) -> tuple[Check, ...]:
    """Evaluate every proof on ``evidence``."""
    return tuple(proof.check(evidence) for proof in PROOFS.values())
