"""The proof checks as a list that opens: verdict and claim, then statement, formula, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import streamlit as st

from pages.app.markdown import mark, prose
from pages.app.style import CHECKS

_READINGS = {
    "does not hold, as predicted": (
        "as the paper predicts for these settings, this does not hold",
        "as the paper predicts for these settings, these do not hold",
    ),
    "does not hold": ("this should hold and does not", "these should hold and do not"),
}
NAMED = 2  # claims that the summary names for each way of failing


def summary(checks: Sequence[Mapping[str, Any]], broken: Mapping[str, str]) -> str:
    """How the checks came out, in a line; those that do not hold are named, with the reason.

    ``broken`` says of the assumptions that these settings break how they do it.
    """
    good = [check for check in checks if check["holds"]]
    parts = [f"{mark('holds')} {len(good)} of {len(checks)} proof checks hold"]
    for status, (one, several) in _READINGS.items():
        for reason, titles in _by_reason(checks, status, broken).items():
            parts.append(
                f"{mark(status)} {several if len(titles) > 1 else one}{reason}: {_named(titles)}"
            )
    return "; ".join(parts) + "."


def _by_reason(
    checks: Sequence[Mapping[str, Any]], status: str, broken: Mapping[str, str]
) -> dict[str, list[str]]:
    """Titles of the checks that came out as ``status``, by why, the most first."""
    found: dict[str, list[str]] = {}
    for check in checks:
        if check["status"] == status:
            why = (broken[name] for name in check["assumes"] if name in broken)
            reason = "".join(f", because {prose(words)}" for words in islice(why, 1))
            found.setdefault(reason, []).append(f"“{prose(check['title'])}”")
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _named(titles: Sequence[str]) -> str:
    more = len(titles) - NAMED
    *first, last = [*titles[:NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{', '.join(first)} and {last}" if first else last


def show_checks(checks: Sequence[Mapping[str, Any]]) -> None:
    """All checks, two beside each other; each opens to its numbers.

    One element a column instead of two a check: a class that moves its sliders pays for each, and
    the list was half of the page.
    """
    half = (len(checks) + 1) // 2
    with st.container(key=CHECKS):
        for part in (checks[:half], checks[half:]):
            st.markdown("\n\n".join(entry(check) for check in part), unsafe_allow_html=True)


def entry(check: Mapping[str, Any]) -> str:
    """A check as text that opens; its markup is the only one, whatever words and numbers say."""
    label = f"{mark(check['status'])} **{check['status']}**: {prose(check['title'])}"
    return (
        f"<details><summary>\n\n{label}\n\n</summary>\n\n"
        f"{prose(_words(check))}\n\n$$\n{check['formula']}\n$$\n\n"
        f"{prose(check['sentence'])}\n\n{_numbers(check)}\n\n</details>"
    )


def _words(check: Mapping[str, Any]) -> str:
    return f"{check['statement']} (Section {check['section']} of the paper.)"


def _numbers(check: Mapping[str, Any]) -> str:
    rows = [
        ("Measured", _number(check["measured"])),
        (f"Expected ({check['relation']})", _number(check["expected"])),
        ("Tolerance", _number(check["tolerance"])),
        *check["details"].items(),
    ]
    lines = [f"- {prose(name[:1].upper() + name[1:])}: {prose(value)}" for name, value in rows]
    if check["assumes"]:
        lines.append(f"- Assumes: {prose('; '.join(check['assumes']))}")
    lines.append(f"- Fails when {prose(check['fails_when'])}")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.6g}"
