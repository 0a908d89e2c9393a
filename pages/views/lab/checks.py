"""The proof checks as a list that opens: verdict and claim, then statement, formula, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.app.markdown import in_colors, mark, prose
from pages.app.style import CHECKS
from ultr_core.words import section_words

NAMED = 2  # checks that the summary names where they should hold and do not


def summary(checks: Sequence[Mapping[str, Any]], broken: Mapping[str, str]) -> str:
    """How the checks came out, in a line; those that should hold and do not are named.

    ``broken`` says of the assumptions that these settings break how they do it.
    """
    good = sum(1 for check in checks if check["holds"])
    parts = [f"{mark('holds')} {good} of {len(checks)} proof checks hold"]
    expected = Counter(
        next((broken[name] for name in check["assumes"] if name in broken), "")
        for check in checks
        if check["status"] == PREDICTED
    )
    fail = "fails" if sum(expected.values()) == 1 else "fail"
    for place, (reason, count) in enumerate(expected.most_common()):
        words = f"{count} {fail} as predicted" if place == 0 else f"{count}"
        sign = f"{mark(PREDICTED)} " if place == 0 else ""
        parts.append(f"{sign}{words}{f' because {prose(reason)}' if reason else ''}")
    wrong = [f"“{prose(check['title'])}”" for check in checks if check["status"] == WRONG]
    if wrong:
        parts.append(f"{mark(WRONG)} {len(wrong)} should hold: {_named(wrong)}")
    return "; ".join(parts) + "."


PREDICTED, WRONG = "does not hold, as predicted", "does not hold"


def _named(titles: Sequence[str]) -> str:
    more = len(titles) - NAMED
    *first, last = [*titles[:NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{', '.join(first)} and {last}" if first else last


def show_checks(checks: Sequence[Mapping[str, Any]]) -> None:
    """All checks, two beside each other, once they are opened; each opens to its numbers.

    To be called in a fragment, which is run again on opening. One element a column instead of two
    a check: a class that moves its sliders pays for each.
    """
    opened = st.expander("All proof checks", key="checks", on_change="rerun", type="compact")
    if not opened.open:
        return
    half = (len(checks) + 1) // 2
    with opened, st.container(key=CHECKS):
        for part in (checks[:half], checks[half:]):
            st.markdown("\n\n".join(entry(check) for check in part), unsafe_allow_html=True)


def entry(check: Mapping[str, Any]) -> str:
    """A check as text that opens; its markup is the only one, whatever words and numbers say."""
    label = f"{mark(check['status'])} **{check['status']}**: {prose(check['title'])}"
    return (
        f"<details><summary>\n\n{label}\n\n</summary>\n\n"
        f"{prose(_words(check))}\n\n$$\n{in_colors(check['formula'])}\n$$\n\n"
        f"{prose(check['sentence'])}\n\n{_numbers(check)}\n\n</details>"
    )


def _words(check: Mapping[str, Any]) -> str:
    return f"{check['statement']} ({section_words(check['section'])}.)"


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
