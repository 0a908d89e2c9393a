"""Findings: one type for checks of proofs, claims, figures and a reader's files.

Finding("The gap is 1e-4.", 1e-4, tolerance=1e-3).outcome        # holds
Finding.of_file("clicks", "Clicks", 0, "stop", "There are no clicks.").severity
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.findings.finding import (
        OUTCOMES,
        SEVERITIES,
        Finding,
        Outcome,
        Relation,
        Severity,
        all_of,
        compared,
        count_outcomes,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "OUTCOMES",
    "SEVERITIES",
    "Finding",
    "Outcome",
    "Relation",
    "Severity",
    "all_of",
    "compared",
    "count_outcomes",
]
