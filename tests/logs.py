"""What tests say of a click log: its counts by name."""

from __future__ import annotations

from ultr_core.propensity import PresentationLog


def counts(log: PresentationLog) -> dict[tuple[str, str, int], tuple[int, int]]:
    """Impressions and clicks by query, document and position."""
    found: dict[tuple[str, str, int], tuple[int, int]] = {}
    names = len(log.document_names)
    for query, document, position, shown, clicks in zip(
        log.query.tolist(), log.document.tolist(), log.position.tolist(),
        log.impressions.tolist(), log.clicks.tolist(), strict=True,
    ):  # fmt: skip
        key = (log.query_names[query], log.document_names[document % names], position)
        before = found.get(key, (0, 0))
        found[key] = (before[0] + shown, before[1] + clicks)
    return found
