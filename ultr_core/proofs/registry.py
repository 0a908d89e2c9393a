"""All proofs by name, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.proofs import corpus_checks, learner_checks, simulated_checks, small_checks
from ultr_core.proofs.check import Check, Evidence, Proof

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
