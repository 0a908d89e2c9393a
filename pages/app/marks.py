"""The mark of an outcome and of a severity, the same on every page."""

from __future__ import annotations

_MARKS = {
    "holds": ":green[:material/check_circle:]",
    "holds, though not guaranteed": ":blue[:material/check:]",
    "does not hold": ":red[:material/cancel:]",
    "does not hold, as predicted": ":orange[:material/change_history:]",
    "open": ":orange[:material/help:]",
    "not checkable": ":gray[:material/help:]",
    "good": ":green[:material/check_circle:]",
    "warning": ":orange[:material/visibility:]",
    "stop": ":red[:material/block:]",
}


def mark(status: str) -> str:
    """The mark of a finding's status: an outcome, or the severity of a file's check."""
    return _MARKS[status]
