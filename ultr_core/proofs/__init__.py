"""The paper's derivations as numbers: line by line for a small query, and as checks of a world.

    world = default_world().breaking("trust")
    walk = PROOFS["affine-law"].derive(Ways(world, draw_users(world, 10_000, seed=0)))
    [line.error for line in walk.lines]

:data:`PROOFS` is the one registry that pages, the command line and the tests read.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.proofs.breaks import BREAKS, Break
    from ultr_core.proofs.checks import DERIVATIONS, PROOFS, run_checks
    from ultr_core.proofs.monte_carlo import Sample, draw_users
    from ultr_core.proofs.proof import (
        NO_POSITION_BIAS,
        PROPENSITIES,
        Check,
        Derivation,
        Evidence,
        Proof,
    )
    from ultr_core.proofs.small_query import SmallQuery
    from ultr_core.proofs.small_world import SmallWorld, default_world
    from ultr_core.proofs.walk import Line, Walk, Ways
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "BREAKS",
    "DERIVATIONS",
    "NO_POSITION_BIAS",
    "PROOFS",
    "PROPENSITIES",
    "Break",
    "Check",
    "Derivation",
    "Evidence",
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
