"""Step 2 of the page Your data: the click log, its columns, and clicks simulated on the corpus."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.app.context import PageContext
from pages.app.field_control import control
from pages.app.markdown import plain, show_error, shown
from pages.views.your_data.bench import Bench, Brought, bench, reading
from pages.views.your_data.findings import show_inspection
from pages.views.your_data.input import HELP, LOOKS_LIKE, bring, download, require_kind, source_of
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.fields import Choice
from ultr_core.files import COLUMNS, LogPreview, parse_log, preview_log, read_log
from ultr_core.files.log_columns import NO_COLUMN
from ultr_core.inspection import inspect_log, kind_of
from ultr_core.limits import UPLOADS, VISITORS_PAIRS
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.propensity import PresentationLog
from ultr_core.settings import Settings
from ultr_core.words import counted

SIMULATED = "simulated_log.csv"
SIMULATED_RANKERS = 2
_WISH = "simulate"
_BY_NAME = ""


def log_step(
    page: PageContext, settings: Settings, corpus: Corpus | None
) -> PresentationLog | None:
    """Bring and check a click log; None where there is none that can be used."""
    st.subheader("2 · Click log: what was shown and clicked")
    own = bench()
    if _WISH in own.wishes:
        own.wishes.discard(_WISH)
        if corpus is not None:
            _simulate(own, corpus, settings)
    file = bring(page, "log", "Click log", LOOKS_LIKE["log"], HELP["log"])
    if file is None:
        _offer_simulation(corpus, settings)
        return None
    try:
        columns = _columns(own, file)
        log = own.make("log", (file.token, tuple(columns.items())), lambda: _read(file, columns))
        found = own.make(
            "log-checks", (file.token, tuple(columns.items())),
            lambda: inspect_log(log, name=file.name),
        )  # fmt: skip
    except InputError as error:
        show_error(error)
        return None
    show_inspection(
        found, key="log",
        following="Next: say how likely each position is to be examined.",
    )  # fmt: skip
    if file.name == SIMULATED:
        download("Save this log", lambda: file.data, SIMULATED, key="data-save-log")
    return log


def mapped_columns() -> dict[str, str]:
    """The columns of this session's log that were mapped by hand: meaning to column."""
    own = bench()
    return _chosen(own.token("log"))


def _read(file: Brought, columns: Mapping[str, str]) -> PresentationLog:
    with reading(), st.spinner("Reading the click log …"):
        if file.path is not None:
            return read_log(file.path, columns=columns or None)
        return parse_log(file.data, file.name, columns=columns or None, room=UPLOADS)


def _columns(own: Bench, file: Brought) -> dict[str, str]:
    """Preview and mapping; the columns that were mapped by hand."""
    try:
        preview = own.make("log-preview", file.token, lambda: _previewed(file))
    except InputError as error:
        _refuse_others(file)
        raise error
    if preview.missing:
        _refuse_others(file)
    chosen = _chosen(file.token)
    missing = [name for name in preview.missing if chosen.get(name, NO_COLUMN) == NO_COLUMN]
    label = (
        f"Preview and columns: {plain(preview.format)}, {counted(len(preview.header), 'column')}"
    )
    with st.expander(label, type="compact", expanded=bool(missing)):
        rows = [
            {plain(name) or f"({place:d})": plain(cell or "") for place, (name, cell) in enumerate(
                zip(preview.header, row, strict=True), 1)}
            for row in preview.rows
        ]  # fmt: skip
        if rows:
            st.table(rows, hide_index=True, alt=f"First rows of {shown(file.name)}")
        st.markdown("What each column means. Names that are known are found by themselves.")
        _mapping(preview, file.token)
    if missing:
        names = " and ".join(missing)
        raise InputError(
            f"Say above which column is the {names}; none of "
            f"{counted(len(preview.header), 'column')} has a name that is known for it."
        )
    return chosen


def _mapping(preview: LogPreview, token: str) -> None:
    names = [name for name in dict.fromkeys(preview.header) if name.strip()]
    grid = st.grid(4, min_column_width=150)
    for meaning in COLUMNS:
        found = preview.columns.get(meaning)
        automatic = "not in the file" if found is None else f"{found} (found)"
        options = {
            _BY_NAME: shown(automatic),
            **{name: shown(name) for name in names},
            NO_COLUMN: "no column",
        }
        label = meaning.capitalize() if meaning != "swap" else "Swapped rank"
        with grid.cell():
            control(Choice(_key(meaning, token), label, options), keep=True)


def _chosen(token: str) -> dict[str, str]:
    chosen = {meaning: st.session_state.get(_key(meaning, token)) for meaning in COLUMNS}
    return {meaning: column for meaning, column in chosen.items() if column}


def _key(meaning: str, token: str) -> str:
    return f"data-column-{meaning}-{token}"


def _previewed(file: Brought) -> LogPreview:
    return preview_log(file.data if file.path is None else file.path, file.name, room=UPLOADS)


def _refuse_others(file: Brought) -> None:
    """Say what a file is that is known to be no click log."""
    try:
        kind = kind_of(source_of(file))
    except InputError:
        return
    if kind != "log":
        require_kind(file, "log")


def _offer_simulation(corpus: Corpus | None, settings: Settings) -> None:
    if corpus is None:
        return
    with st.container(border=True):
        st.markdown(
            f"**No log?** Let simulated users click on your corpus: the users of the sidebar, "
            f"about {counted(settings.clicks, 'click')} on the lists of {SIMULATED_RANKERS} "
            "rankers that learned from a few of your grades."
        )
        st.button(
            "Simulate clicks on this corpus", key="data-simulate", icon=":material/ads_click:",
            on_click=bench().wishes.add, args=(_WISH,),
        )  # fmt: skip


def _simulate(own: Bench, corpus: Corpus, settings: Settings) -> None:
    try:
        with reading(), st.spinner("Users are clicking …"):
            clicks = simulate_own_log(
                corpus, settings, rankers=SIMULATED_RANKERS, pairs=VISITORS_PAIRS
            )
            own.bring("log", Brought(SIMULATED, "".join(clicks.csv_pieces()).encode()))
    except InputError as error:
        own.faults["log"] = str(error)
