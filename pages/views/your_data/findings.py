"""Tables of the page Your data: what a check found, and any rows, each to be saved as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.app.markdown import mark, plain, shown, told
from pages.app.style import SCROLLED, SENTENCES
from pages.views.your_data.input import download
from ultr_core.files.tables import table_text
from ultr_core.findings import Finding
from ultr_core.inspection import Inspection

Row = Mapping[str, object]


def show_inspection(found: Inspection, *, key: str, following: str = "") -> None:
    """The answer in one sentence, the warnings, and all checks to unfold.

    ``following`` says what happens next where nothing has to be repaired first.
    """
    after = "" if found.severity == "stop" else f" {following}"
    st.markdown(f"{mark(found.severity)} **{plain(found.sentence)}**{after}")
    show_points(found.warnings)
    with st.expander(f"All {len(found.findings)} checks, with their numbers", type="compact"):
        with st.container(key=f"{SENTENCES}-{key}"):
            st.table(
                [_row(finding) for finding in found.findings], hide_index=True,
                alt=f"Checks: {shown(found.sentence)}",
            )  # fmt: skip
        rows = found.as_dict()["findings"]
        save_table(rows, f"{key}-checks", key=f"{key}-checks")


def show_rows(rows: Sequence[Row], *, key: str, alt: str, saved: Sequence[Row] = ()) -> None:
    """A table as it is read, and ``saved`` (or the same) with all digits as CSV."""
    with st.container(key=f"{SCROLLED}-{key}"):
        st.table(list(rows), hide_index=True, alt=alt)
    save_table(saved or rows, key, key=key)


def save_table(rows: Sequence[Row], name: str, *, key: str) -> None:
    """The button that saves rows as CSV."""
    download(
        "Save table", lambda: table_text(rows).encode(), f"{name}.csv", key=f"data-save-{key}",
        kind="tertiary",
    )  # fmt: skip


def _row(finding: Finding) -> dict[str, str]:
    return {
        "Verdict": f"{mark(finding.status)} {finding.status}",
        "Checked": plain(finding.title),
        "Number": plain(number_words(finding.value)),
        "What it means": told(finding.sentence),
    }


def show_points(findings: Sequence[Finding]) -> None:
    """A list of findings, each with its mark; nothing where there is none."""
    if findings:
        points = (f"- {mark(f.status)} {told(f.sentence)}" for f in findings)
        st.markdown("\n".join(points))


def number_words(value: float | None) -> str:
    """A number as the table shows it."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,.0f}"
