"""The proof checks as a list that opens: verdict and claim, then statement, formula, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

SYMBOLS = {
    "holds": ":green[:material/check_circle:]",
    "holds, though not guaranteed": ":blue[:material/check:]",
    "fails, as predicted": ":orange[:material/change_history:]",
    "FAILS": ":red[:material/cancel:]",
}


_READINGS = {
    "fails, as predicted": (
        "as the paper predicts for these settings, this does not hold",
        "as the paper predicts for these settings, these do not hold",
    ),
    "FAILS": ("this should hold and does not", "these should hold and do not"),
}
NAMED = 2  # claims that the summary names for each way of failing


def summary(checks: Sequence[Mapping[str, Any]]) -> str:
    """How the checks came out, in a line; those that do not hold are named."""
    good = [check for check in checks if check["holds"]]
    parts = [f"{SYMBOLS['holds']} {len(good)} of {len(checks)} proof checks hold"]
    for status, (one, several) in _READINGS.items():
        titles = [f"“{c['title']}”" for c in checks if c["status"] == status]
        reading = several if len(titles) > 1 else one
        if len(titles) > NAMED:
            titles[NAMED:] = [f"and {len(titles) - NAMED} more"]
        if titles:
            parts.append(f"{SYMBOLS[status]} {reading}: {', '.join(titles)}")
    return "; ".join(parts) + "."


def show_checks(checks: Sequence[Mapping[str, Any]]) -> None:
    """All checks, two beside each other; each opens to its numbers."""
    half = (len(checks) + 1) // 2
    with st.container(key="proof-checks"):
        for column, part in zip(st.columns(2), (checks[:half], checks[half:]), strict=True):
            with column, st.container(gap="xsmall"):
                for check in part:
                    label = f"{SYMBOLS[check['status']]} **{check['status']}**: {check['title']}"
                    with st.expander(label):
                        _details(check)


def _details(check: Mapping[str, Any]) -> None:
    rows = [
        ("Measured", _number(check["measured"])),
        (f"Expected ({check['relation']})", _number(check["expected"])),
        ("Tolerance", _number(check["tolerance"])),
        *check["details"].items(),
    ]
    lines = [f"- {name[:1].upper()}{name[1:]}: {value}" for name, value in rows]
    if check["assumes"]:
        lines.append(f"- Assumes: {'; '.join(check['assumes'])}")
    lines.append(f"- Fails when {check['fails_when']}")
    words = f"{check['statement']} (Section {check['section']} of the paper.)"
    # One element a check: a class that moves its sliders pays for each.
    formula, numbers = f"$$\n{check['formula']}\n$$", "\n".join(lines)
    st.markdown("\n\n".join((words, formula, check["sentence"], numbers)))


def _number(value: float) -> str:
    return f"{value:.6g}"
