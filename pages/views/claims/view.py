"""The paper's claims with what was found for each, and how its unclear places are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_world
from pages.app.field_control import choose, control
from pages.app.markdown import mark, plain, prose, set_formulas, whole_equations
from pages.app.registry import PAGES
from pages.app.server_lab import HERE
from pages.app.slots import Slot
from ultr_core.claims import (
    CLAIMS,
    CONVENTIONS,
    READINGS,
    SECTIONS,
    Compared,
    Entry,
    LedgerLine,
    compare,
    headline,
    measure,
    small_corpus,
)
from ultr_core.claims.ledger import counts_by_origin, to_csv, to_json
from ultr_core.claims.mutations import MUTATIONS
from ultr_core.findings import OUTCOMES
from ultr_core.jobs.claims import (
    ALL,
    CHECKS,
    NOT_REACHED,
    PART,
    PLACE,
    READING,
    SECTION,
    VERDICT,
    none_left,
)
from ultr_core.lab import Lab
from ultr_core.studies.claims import ORIGIN_WORDS
from ultr_core.words import counted, part_of

# The verdict is in one line. Without checks, every section has the same columns, text is as wide as
# its column, and on a phone cells are below each other, so that no column is one word wide.
_TABLES = """<style>
@media (min-width: 500px) {
  .stMain [class*="st-key-claims-table"] td:nth-child(2) * { white-space: nowrap }
}
@media (min-width: 900px) {
  .stMain [class*="st-key-claims-table-short"] table { table-layout: fixed }
  .stMain [class*="st-key-claims-table-short"] th:nth-child(1) { width: 34% }
  .stMain [class*="st-key-claims-table-short"] th:nth-child(2) { width: 9rem }
  .stMain [class*="st-key-claims-table-short"] th:nth-child(4) { width: 10rem }
}
@media (max-width: 499px) {
  .stMain [class*="st-key-claims-table"]:not([class*="-table-checks"]) {
    & thead { display: none }
    & :is(table, tbody, tr, td) { display: block }
    & td { border: 0; padding-block: 0.1rem }
    & tr { padding-block: 0.4rem }
    & tr + tr { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent) }
  }
}
</style>"""
NO_BREAK = "\N{NO-BREAK SPACE}"
MENU = {page.path: page.menu for page in PAGES}


def _show_ledger(corpus: str | None) -> None:
    """Headline, filters, one table a section, files."""
    top = lecture.headline()
    section, verdict, checks = _filters()
    # In this process, also what it trains: a claim must not fail because another process did.
    lab = replace(HERE, corpus=corpus)
    require_world(lab)
    lines = _measured_lines(lab, top)
    with top.place().container():
        _summary(lines)
    st.markdown(
        "Numbers are computed here, read from this lab's own studies, or printed in the paper; "
        f"with “{CHECKS.label}” on, each line says which. Each claim that holds or is open has a "
        "mutation: a change to the data, users or learner after which the claim does not hold."
    )
    shown = [
        line
        for line in lines
        if section in (ALL, line.entry.section) and verdict in (ALL, line.outcome.replace(" ", "-"))
    ]
    for key, title in SECTIONS.items():
        of_section = [line for line in shown if line.entry.section == key]
        if of_section:
            st.subheader(title)
            _table(of_section, title, checks=checks)
    st.html(_TABLES)
    if not shown:
        where = "" if section == ALL else section
        of_section = [line for line in lines if where in ("", line.entry.section)]
        st.markdown(prose(none_left(of_section, where, VERDICT.options[verdict])))
    _files(lines, lab)


def _filters() -> tuple[str, str, bool]:
    with st.container(key="claims-filters"):
        grid = st.grid(3, min_column_width=200)
        with grid.cell():
            section = control(SECTION)
        with grid.cell():
            verdict = control(VERDICT)
        with grid.cell():
            checks: bool = control(CHECKS)
    return section, verdict, checks


def _measured_lines(lab: Lab, top: Slot) -> tuple[LedgerLine, ...]:
    """Measure, and say which claim is being measured."""
    bar = None

    def progress(done: int, entry: Entry) -> None:
        if bar is not None:
            bar.progress(
                done / total, f"Measuring claim {done + 1} of {total}: {prose(entry.claim)}"
            )

    total = len(CLAIMS)
    if f"claims_measured_{lab.corpus}" not in st.session_state:
        bar = top.place().progress(0.0, "Measuring the claims …")
    lines = measure(lab, progress=progress)
    st.session_state[f"claims_measured_{lab.corpus}"] = True
    return lines


def _summary(lines: Sequence[LedgerLine]) -> None:
    """How many hold, by whose claims they are, and each that does not hold or is open."""
    st.markdown(f"**{headline(lines)}**")
    with st.container(key="claims-summary"):
        st.table(
            [
                {
                    "Claims": ORIGIN_WORDS[origin],
                    **{outcome: f"{counts[outcome]:,}" for outcome in OUTCOMES},
                }
                for origin, counts in counts_by_origin(lines).items()
                if any(counts.values())
            ],
            hide_index=True,
            width="content",
            alt=headline(lines),
        )
    for outcome, said in (("does not hold", "Does not hold"), ("open", "Open")):
        found = [line for line in lines if line.outcome == outcome]
        if found:
            st.markdown(f"{mark(outcome)} **{said}: {counted(len(found), 'claim')}**")
            st.markdown("\n".join(f"- {_exception(line)}" for line in found))


def _exception(line: LedgerLine) -> str:
    """A claim that does not hold or is open, whose it is, and where it is found."""
    entry = line.entry
    return f"{prose(entry.claim)} *(section {entry.section}, {_said_by(entry)})*"


def _said_by(entry: Entry) -> str:
    """Who says it; of the paper's, where it is printed."""
    printed = entry.origin == "paper" and entry.where != "text"
    return entry.where if printed else ORIGIN_WORDS[entry.origin]


def _table(lines: Sequence[LedgerLine], title: str, *, checks: bool) -> None:
    rows = [_row(line, checks=checks) for line in lines]
    holding = sum(line.finding.holds for line in lines)
    hold = part_of(holding, len(lines), "claim", does="holds", do="hold")
    kind = "checks" if checks else "short"
    with st.container(key=f"claims-table-{kind}-{lines[0].entry.section.replace('.', '-')}"):
        st.table(
            rows,
            hide_index=True,
            alt=f"{title}: {hold}.",
        )


def _row(line: LedgerLine, *, checks: bool) -> dict[str, str]:
    entry, found = line.entry, line.finding
    row = {
        "Claim": f"{prose(entry.claim)} *({_said_by(entry)})*",
        "Verdict": f"{mark(line.outcome)}{NO_BREAK}{line.outcome}",
        "Found": whole_equations(prose(line.shown)),
    }
    if checks:
        row["Checked by"] = prose(entry.check)
        row["Decides"] = prose(line.decides)
        row["Would fail if"] = MUTATIONS[entry.mutation].words if entry.mutation else ""
        row["Remark"] = prose(found.reason) if line.decided else ""
    row["See"] = f"[{MENU[entry.page]}]({entry.link})"
    return row


def _files(lines: Sequence[LedgerLine], lab: Lab) -> None:
    counts, base = lab.world().counts(), lab.settings
    st.markdown(
        f"Measured on {plain(counts['name'])} ({counts['train']['queries']:,} training and "
        f"{counts['test']['queries']:,} test queries) with the default settings, η = {base.eta:g} "
        f"and ε₋ = {base.eps_minus:g}, whatever the controls are set to; lines that use other "
        f"settings name them. {NOT_REACHED} On the command line: `python -m ultr_core claims`."
    )
    with st.container(horizontal=True):
        st.download_button(
            "All claims as CSV", partial(to_csv, lines), "claims.csv", "text/csv",
            icon=":material/download:", on_click="ignore", key="claims-csv",
        )  # fmt: skip
        st.download_button(
            "Claims and readings as JSON", partial(to_json, lines, counts), "claims.json",
            "application/json", icon=":material/download:", on_click="ignore", key="claims-json",
        )  # fmt: skip


def _show_readings() -> None:
    """The other reading in numbers, conventions, and the list of all readings."""
    st.subheader("What if the paper is read the other way?")
    place = control(PLACE)
    chosen = choose(READING)
    reading = next(r for r in READINGS if r.key == place)
    with st.spinner("Computing both readings on a small corpus …"):
        found = compare(place, small_corpus(HERE.store))
    if chosen in ("both", "taken"):
        st.markdown(f"**This lab's reading:** {prose(reading.taken)}. {prose(reading.why)}")
    if chosen in ("both", "other"):
        st.markdown(f"**The other reading:** {prose(reading.other)}.")
    st.markdown(f"{prose(found.quantity)}. {prose(found.world)}".strip())
    _compared_table(found, chosen)
    if chosen == "both":
        st.markdown(f"**{prose(found.sentence)}**")
    st.subheader("What the numbers mean")
    st.markdown("\n".join(f"- **{c.name}**: {set_formulas(c.text)}" for c in CONVENTIONS))
    st.subheader("All errata and open questions")
    with st.container(key="claims-table-passages"):
        _passages()


def _passages() -> None:
    st.table(
        [
            {
                "Section": r.place,
                "Kind": r.kind,
                "What is unclear": f"**{prose(r.unclear)}**",
                "This lab's reading": prose(r.taken),
                "Because": whole_equations(prose(r.why)),
            }
            for r in READINGS
        ],
        hide_index=True,
        alt=f"{len(READINGS)} unclear passages in the paper and how the lab reads them",
    )
    st.html(_TABLES)


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _compared_table(found: Compared, chosen: str) -> None:
    columns = {"taken": "This lab's", "other": "The other"}
    wanted = columns if chosen == "both" else {chosen: columns[chosen]}
    rows = [
        {"": label}
        | {title: _number(ours if key == "taken" else other) for key, title in wanted.items()}
        for label, ours, other in found.rows
    ]
    st.table(rows, hide_index=True, width="content", alt=found.sentence)


def show(page: PageContext) -> None:
    """Draw the page."""
    if choose(PART, label_visibility="collapsed") == "readings":
        _show_readings()
    else:
        _show_ledger(page.launch.corpus)
