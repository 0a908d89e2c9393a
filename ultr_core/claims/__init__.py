"""The claims ledger: what the paper says, what is measured here, and whether it holds.

    lines = measure(Lab())
    [line.as_dict() for line in lines]

:data:`CLAIMS` is the one registry that the page, the command line and the tests read;
:data:`CONVENTIONS` and :data:`READINGS` say how unclear passages of the paper are read.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.claims.ledger import (
        CLAIMS,
        SECTIONS,
        Entry,
        LedgerLine,
        headline,
        measure,
        measure_entry,
    )
    from ultr_core.claims.readings import (
        COMPARISONS,
        CONVENTIONS,
        READINGS,
        Compared,
        Convention,
        Reading,
        compare,
        small_corpus,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "CLAIMS",
    "COMPARISONS",
    "CONVENTIONS",
    "READINGS",
    "SECTIONS",
    "Compared",
    "Convention",
    "Entry",
    "LedgerLine",
    "Reading",
    "compare",
    "headline",
    "measure",
    "measure_entry",
    "small_corpus",
]
