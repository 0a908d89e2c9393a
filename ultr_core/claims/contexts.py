"""Claim of later work on contexts with a curve each, enumerated on a small query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ultr_core.claims.common import Measure
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.proofs.contexts import SHARES, ContextCase
from ultr_core.proofs.repairs import RANKINGS
from ultr_core.proofs.users import ONE, ZERO

OF_QUERIES = (SHARES, (ONE, ZERO), (ZERO, ONE))
"""Shares of the contexts: of a query asked in both, and of queries asked in one only."""


def _unbiased(lab: Lab) -> Finding:
    """The largest error of weights by context, for queries of one context and of both."""
    case = lab.remember(lab.cell("small_case", (), "R25"), lambda _: ContextCase())
    worst = max(abs(replace(case, shares=shares).largest_error) for shares in OF_QUERIES)
    pooled = [
        abs(replace(case, shares=shares, pooled=SHARES).largest_error) for shares in OF_QUERIES
    ]
    return Finding(
        f"Over {len(RANKINGS)} rankings and three kinds of query, the largest error is {worst}. "
        f"A single pooled curve is off by {pooled[0]} if the context changes from presentation to "
        f"presentation, and by up to {float(max(pooled)):.2f} if it belongs to the query.",
        float(worst),
    )


MEASURES: Mapping[str, Measure] = MappingProxyType({"R25": _unbiased})
