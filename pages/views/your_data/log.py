"""Step 2 of the page Your data: the click log, its columns, and clicks simulated on the corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.app.context import PageContext
from pages.app.field_control import control, kept
from pages.app.markdown import plain, show_error, shown
from pages.app.registry import SIMULATE
from pages.app.style import SCROLLED
from pages.views.your_data.bench import Bench, Brought, bench, reading
from pages.views.your_data.findings import show_inspection
from pages.views.your_data.input import (
    BESIDE,
    HELP,
    LOOKS_LIKE,
    bring,
    download,
    require_kind,
    show_kept,
    source_of,
)
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, named
from ultr_core.fields import Choice, Field, read_fields, write_fields
from ultr_core.files import COLUMNS, LogPreview, preview_log, read_log
from ultr_core.files.log_columns import MEANINGS, NO_COLUMN
from ultr_core.files.log_reading import Reading
from ultr_core.files.log_rows import IN_COUNTS
from ultr_core.inspection import inspect_log, kind_of, require_queries
from ultr_core.jobs.your_data import LOG_COLUMNS, LOG_READING, chosen_reading
from ultr_core.limits import UPLOADS, VISITORS_PAIRS
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.propensity import PresentationLog
from ultr_core.settings import Settings
from ultr_core.words import counted

SIMULATED = "simulated_log.csv"
SIMULATED_RANKERS = 2
_WISH = "simulate"
_BY_NAME = ""

_READING = {field.name: field for field in LOG_READING}
_FIRST = (
    "query", "document", "position", "click", "presentation", "session", "first_position",
    "encoding",
)  # fmt: skip
# Counts that the lab's own statement made have columns with its own names; contexts need a curve
# each, which only the commands have.
_NOT_HERE = (*IN_COUNTS, "context")
_CONTROLS = tuple(
    each for each in dict.fromkeys((*_FIRST, *MEANINGS, *_READING)) if each not in _NOT_HERE
)
"""Meanings of columns and values of reading, in the order of their controls."""

_AT_FIRST = 8  # controls that are shown before the rest is unfolded
_ASKED = {
    "columns": ("impressions", "presentation"),
    "views": ("action",),
    "larger_ids": ("presentation",),
    "clicks_apart": ("click",),
    "clicks_twice": ("click",),
    "action_or_click": ("action", "click"),
}
"""By key of what an error is about: the controls that answer it, where they have other names."""


_BY_VALUES = ("presentation", "page")  # which the reader may take another column for


@dataclass(frozen=True)
class Chosen:
    """How a log is read: columns by meaning, values of reading by name, each where it was chosen.

    token: what tells this log, read in this way, from another.
    """

    columns: Mapping[str, str]
    values: Mapping[str, Any]
    token: Hashable


def chosen(own: Bench) -> Chosen:
    """What this session's controls say of its log."""
    token = own.token("log")
    found = {meaning: st.session_state.get(_key(meaning, token)) for meaning in COLUMNS}
    columns = {meaning: column for meaning, column in found.items() if column}
    values = chosen_reading({field.key: kept(field) for field in LOG_READING}) if token else {}
    told = (tuple(columns.items()), tuple(values.items()))
    return Chosen(columns, values, (token, own.token("clicks"), *told))


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
    file = bring(page, "log", "Click log", LOOKS_LIKE["log"], HELP["log"], several=True)
    _settle(own)
    if file is None:
        show_kept("log", "click log")
        _offer_simulation(corpus, settings)
        return None
    log = _read_as_chosen(page, own, file, corpus)
    if log is None:
        return None
    found = own.make("log-checks", chosen(own).token, lambda: inspect_log(log, name=file.name))
    show_inspection(
        found, key="log",
        following="Next: say how likely users are to examine each position.",
    )  # fmt: skip
    if file.name == SIMULATED:
        download("Save this log", lambda: file.data, SIMULATED, key="data-save-log")
    return log


def asks_for_queries(own: Bench) -> bool:
    """Whether step 2 asks for the queries of a log that has none but is to be joined."""
    return chosen(own).columns.get("query") != NO_COLUMN


def _settle(own: Bench) -> None:
    """Forget what was chosen for another log; the first one begins with what the link says."""
    token = own.token("log")
    if token == own.read_for:
        return
    asked = {} if own.read_for else read_fields((LOG_COLUMNS, *LOG_READING), st.query_params)[0]
    for field in LOG_READING:
        st.session_state[field.key] = asked.get(field.key, field.default)
    for meaning, column in asked.get(LOG_COLUMNS.key, {}).items():
        st.session_state[_key(meaning, token)] = column
    own.read_for = token or "none"


def _tell_link(made: Chosen) -> None:
    """Let the address say what was chosen, as it does for the page's other values."""
    st.session_state[LOG_COLUMNS.key] = dict(made.columns)
    values = {field.key: made.values.get(field.name, field.default) for field in LOG_READING}
    fields = (LOG_COLUMNS, *LOG_READING)
    texts = write_fields(fields, {**values, LOG_COLUMNS.key: made.columns})
    for field in fields:
        if field.key in texts and st.query_params.get(field.key) != texts[field.key]:
            st.query_params[field.key] = texts[field.key]
        elif field.key not in texts and field.key in st.query_params:
            del st.query_params[field.key]


def _read_as_chosen(
    page: PageContext, own: Bench, file: Brought, corpus: Corpus | None
) -> PresentationLog | None:
    """The log, or what keeps it from being read and the controls that may repair it."""
    clicks, preview, log, error = own.files.get("clicks"), None, None, None
    try:
        preview = _preview(own, file, chosen(own))
        made = chosen(own)
        if clicks is None or clicks.fault() is None:
            log = own.make("log", made.token, lambda: _read(file, clicks, made))
            if corpus is not None and asks_for_queries(own):
                require_queries(log, own.files["corpus"].name)
    except InputError as found:
        error = found
    made, asked = chosen(own), _asked(error)
    _tell_link(made)
    if isinstance(error, _MissingError):
        preview = error.preview
    if preview is not None or asked or made.values:
        _panel(page, own, file, preview, error, asked)
    if error is not None and not asked:
        show_error(error)
    return log


_LABEL = "Reading the click log …"
_SECONDS = 1.0  # between two shares that are shown
_APART = " If the clicks are in separate files, add them below."


class _MissingError(InputError):
    """Meanings that are needed and that no column of the preview has."""

    def __init__(self, preview: LogPreview) -> None:
        self.preview = preview
        names = " and ".join(MEANINGS[name].lower() for name in preview.missing)
        ask = "columns are" if len(preview.missing) > 1 else "column is"
        of = (
            "the only column does not have"
            if len(preview.header) == 1
            else (f"none of the {len(preview.header):,} columns has")
        )
        super().__init__(
            f"Say which {ask} the {names}; {of} a recognised name."
            + (_APART if preview.missing == ("click",) else ""),
            "missing",
        )


def _asked(error: InputError | None) -> tuple[str, ...]:
    """The controls that an error asks for an answer."""
    if isinstance(error, _MissingError):
        return error.preview.missing
    key = "" if error is None else error.about
    return _ASKED.get(key, (key,) if key in _CONTROLS else ())


def _preview(own: Bench, file: Brought, made: Chosen) -> LogPreview:
    """The first rows; raises InputError for another kind of file, and for columns that lack."""
    how = Reading.of(made.values)
    try:
        found = own.make(
            "log-preview", (file.token, how.encoding, how.table), lambda: _previewed(file, how)
        )
        _settle_columns(found, file.token, made.columns)
        found = found.mapped(chosen(own).columns, clicks="clicks" in own.files)
    except InputError:
        _refuse_others(file)
        raise
    if found.missing:
        _refuse_others(file)
        raise _MissingError(found)
    return found


def _settle_columns(preview: LogPreview, token: str, columns: Mapping[str, str]) -> None:
    """Forget columns that are not there; those of a link may be of another log."""
    names = {NO_COLUMN: NO_COLUMN, **{name.strip().lower(): name for name in preview.header}}
    for meaning, column in columns.items():
        right = names.get(column.strip().lower(), _BY_NAME)
        if right != column:
            st.session_state[_key(meaning, token)] = right


def _read(file: Brought, clicks: Brought | None, made: Chosen) -> PresentationLog:
    with reading(), st.spinner(_LABEL), _bar() as progress:
        sources = [
            [source_of(each, UPLOADS) for each in one.files] for one in (file, clicks) if one
        ]
        return read_log(
            sources[0],
            clicks=sources[1] if clicks else None,
            columns=made.columns or None,
            how=Reading.of(made.values),
            progress=progress,
        )


@contextmanager
def _bar() -> Iterator[Callable[[float], None]]:
    """What shows a share from the first second on.

    Streamlit ends a run that was stopped where it shows something, and so what told the share.
    """
    place, told = st.empty(), time.monotonic()

    def show(share: float) -> None:
        nonlocal told
        if time.monotonic() - told > _SECONDS:
            told = time.monotonic()
            place.progress(share, _LABEL)

    yield show
    place.empty()


def _panel(
    page: PageContext,
    own: Bench,
    file: Brought,
    preview: LogPreview | None,
    error: InputError | None,
    asked: tuple[str, ...],
) -> None:
    """First rows and how they are read; open where the reader is asked, the question first."""
    label = "How the log is read"
    if preview is not None:
        columns = counted(len(preview.header), "column")
        label = f"Preview and columns: {plain(preview.format)}, {columns}"
    clicks = own.files.get("clicks")
    if clicks is not None:
        label += f", clicks from {plain(named(clicks.name))}"
    gone = "clicks" in own.faults or (clicks is not None and clicks.fault() is not None)
    offered = [
        name for name in _CONTROLS if name not in asked and (preview or name in _READING)
    ]  # fmt: skip
    first = max(_AT_FIRST - len(asked), 0)
    with st.expander(label, type="compact", expanded=bool(asked) or gone):
        if error is not None and asked:
            st.error(plain(error), icon=":material/help:")
            _controls(preview, file.token, asked)
        if preview is not None:
            _first_rows(preview, file)
            st.markdown("What each column means. Known names are recognised automatically.")
        _controls(preview, file.token, offered[:first])
        apart = gone or asked == ("click",)
        with st.expander("More columns and choices", type="compact", expanded=apart):
            _controls(preview, file.token, offered[first:])
            bring(
                page, "clicks", "Clicks in separate files (optional)", LOOKS_LIKE["clicks"],
                HELP["clicks"], several=True,
            )  # fmt: skip


def _first_rows(preview: LogPreview, file: Brought) -> None:
    rows = [
        {plain(name) or f"({place:d})": plain(cell or "") for place, (name, cell) in enumerate(
            zip(preview.header, row, strict=True), 1)}
        for row in preview.rows
    ]  # fmt: skip
    if rows:
        with st.container(key=f"{SCROLLED}-preview"):
            st.table(rows, hide_index=True, alt=f"First rows of {shown(file.name)}")


def _controls(preview: LogPreview | None, token: str, names: Sequence[str]) -> None:
    found = {} if preview is None else preview.mapped({}).columns
    grid = st.grid(4, min_column_width=150)
    for name in names:
        field: Field | None = _READING.get(name)
        if field is None and preview is not None:
            field = _column(preview, found.get(name), token, name)
        if field is not None:
            with grid.cell():
                control(field, keep=True)


def _column(preview: LogPreview, found: str | None, token: str, meaning: str) -> Choice:
    names = {name: shown(name) for name in dict.fromkeys(preview.header) if name.strip()}
    if found is None and meaning not in _BY_VALUES:
        options = {_BY_NAME: "no column", **names}
    else:
        automatic = "recognised by its values" if found is None else f"{found} (found)"
        options = {_BY_NAME: shown(automatic), NO_COLUMN: "no column", **names}
    return Choice(_key(meaning, token), MEANINGS[meaning], options)


def _key(meaning: str, token: str) -> str:
    return f"data-column-{meaning}-{token}"


def _previewed(file: Brought, how: Reading) -> LogPreview:
    return preview_log(
        source_of(file.files[0], UPLOADS), file.name, encoding=how.encoding, table=how.table
    )


def _refuse_others(file: Brought) -> None:
    """Say what a file is that is known to be no click log."""
    try:
        kind = kind_of(source_of(file.files[0]))
    except InputError:
        return
    if kind != "log":
        require_kind(file, "log")


def _offer_simulation(corpus: Corpus | None, settings: Settings) -> None:
    if corpus is None:
        return
    with st.container(border=True):
        st.markdown(
            "**No log?** Let simulated users click on your documents: the users defined above make "
            f"about {counted(settings.clicks, 'click')} on lists from {SIMULATED_RANKERS} "
            "rankers trained on a few of your grades."
        )
        st.button(
            "Simulate clicks on this corpus", key=SIMULATE, icon=":material/ads_click:",
            on_click=bench().wishes.add, args=(_WISH,),
        )  # fmt: skip


def _simulate(own: Bench, corpus: Corpus, settings: Settings) -> None:
    try:
        with reading(), st.spinner("Users are clicking …"):
            clicks = simulate_own_log(
                corpus, settings, rankers=SIMULATED_RANKERS, pairs=VISITORS_PAIRS
            )
            own.drop(*BESIDE["log"])
            own.bring("log", Brought(SIMULATED, "".join(clicks.csv_pieces()).encode()))
    except InputError as error:
        own.faults["log"] = str(error)
