"""Tables of the page Your data: what a check found, and any rows, each to be saved as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.app.plain_words import plain, shown
from pages.app.remedies import told
from pages.views.your_data.input import download
from ultr_core.export.tables import table_text
from ultr_core.inspection import Finding, Inspection

SYMBOLS = {
    "good": ":green[:material/check_circle:]",
    "look": ":orange[:material/visibility:]",
    "stop": ":red[:material/block:]",
}
Row = Mapping[str, object]


def show_inspection(found: Inspection, *, key: str, following: str = "") -> None:
    """The answer in one sentence, what needs a look, and all checks to unfold.

    ``following`` says what happens next where nothing has to be repaired first.
    """
    after = "" if found.verdict == "stop" else f" {following}"
    st.markdown(f"{SYMBOLS[found.verdict]} **{plain(found.sentence)}**{after}")
    looks = [finding for finding in found.findings if finding.verdict != "good"]
    if looks:
        st.markdown("\n".join(f"- {SYMBOLS[f.verdict]} {told(f.words)}" for f in looks))
    with st.expander(f"All {len(found.findings)} checks, with their numbers", type="compact"):
        st.table(
            [_row(finding) for finding in found.findings], hide_index=True,
            alt=f"Checks: {shown(found.sentence)}",
        )  # fmt: skip
        rows = [finding.as_dict() for finding in found.findings]
        save_table(rows, f"{key}-checks", key=f"{key}-checks")


def show_rows(rows: Sequence[Row], *, key: str, alt: str, saved: Sequence[Row] = ()) -> None:
    """A table as it is read, and ``saved`` (or the same) with all digits as CSV."""
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
        "Verdict": f"{SYMBOLS[finding.verdict]} {finding.verdict}",
        "Looked at": plain(finding.label),
        "Number": plain(number_words(finding.value)),
        "What it means": told(finding.words),
    }


def number_words(value: float | int | str | None) -> str:
    """A number as the table shows it."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return value if isinstance(value, str) else f"{value:,.0f}"
