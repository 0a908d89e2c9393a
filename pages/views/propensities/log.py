"""The part of the page where readers bring their own click log or propensity curve."""

from __future__ import annotations

import streamlit as st

from pages.app.context import PageContext
from pages.app.curves import curve_buttons, text_of
from pages.app.field_control import control
from pages.app.markdown import plain, show_error, told
from pages.views.your_data.bench import Brought, bench, reading
from pages.views.your_data.curve import show_trust
from pages.views.your_data.input import bring
from ultr_core.errors import InputError
from ultr_core.files import curve_text, parse_curve, parse_log
from ultr_core.jobs.propensities import OWN_METHOD
from ultr_core.lab import Lab
from ultr_core.limits import UPLOADS
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    LogEstimate,
    RankEstimate,
    estimate_from_log,
    ratio_text,
)
from ultr_core.settings import Settings
from ultr_core.words import counted


def section(page: PageContext, lab: Lab) -> None:
    """Upload of a click log and of a curve."""
    st.subheader("Your own click log or curve")
    log, curve = st.columns(2, gap="medium")
    with log:
        _log(page, lab.settings)
    with curve:
        _curve(page, lab)


def _log(page: PageContext, settings: Settings) -> None:
    file = bring(
        page, "own-log", "Click log",
        "The estimate uses swaps if the log records them, and otherwise documents that moved "
        "between ranks. The same on the command line: `python -m ultr_core propensities LOG`.",
        "CSV or JSON lines (plain, or compressed with gzip or zstandard), or Parquet. Columns: "
        "query, document, position, click; optionally impressions, swapped_rank (the landmark "
        "itself for a control) and ranker. Only this session sees the file; it is deleted when "
        "the session ends. The Your data page takes larger logs, in several files and with other "
        "column names; the command line takes logs of any size.",
        small=True,
    )  # fmt: skip
    method = str(control(OWN_METHOD, keep=True))
    if file is None:
        return
    try:
        result = bench().make("own-log", (file.token, method), lambda: _estimated(file, method))
    except InputError as error:
        show_error(error)
        return
    st.markdown(
        f"{counted(result.log['rows'], 'row')}, {counted(result.log['clicks'], 'click')}. "
        f"**{PROPENSITY_METHODS[result.estimate.method].label}** assumes that "
        f"{PROPENSITY_METHODS[result.estimate.method].assumes}."
    )
    show_trust(result)
    st.table(
        [_row(point, value) for point, value in _points(result)],
        alt="Estimated examination by rank",
    )
    st.download_button(
        "Save curve", curve_text(result.curve.values, result.trust_bias), "curve.csv", "text/csv",
        on_click="ignore", key="save_own_curve", icon=":material/download:",
    )  # fmt: skip
    curve_buttons(result.curve.values, settings, key="log")
    for notice in result.notices:
        st.markdown(f"- {told(notice)}")


def _estimated(file: Brought, method: str) -> LogEstimate:
    with reading(), st.spinner("Reading the click log …"):
        log = parse_log(file.data, file.name, room=UPLOADS)
        return estimate_from_log(log, method=None if method == OWN_METHOD.default else method)


def _points(result: LogEstimate) -> list[tuple[RankEstimate, float]]:
    return list(zip(result.estimate.points, result.curve.values, strict=True))


def _row(point: RankEstimate, value: float) -> dict[str, str]:
    return {
        "Rank": str(point.rank),
        "Clicks": f"{point.clicks:,}",
        "Ratio": point.value_text,
        "95%": point.interval_text,
        "Curve": ratio_text(value),
    }


def _curve(page: PageContext, lab: Lab) -> None:
    file = bring(
        page, "own-curve", "Propensity curve (CSV)",
        "Upload a curve from elsewhere, or one saved here, to train another ranker on this "
        "world's clicks and compare it with those above.",
        "Columns: rank and propensity, on any scale; the last value is used for all lower ranks.",
        small=True,
    )  # fmt: skip
    if file is None:
        return
    try:
        curve = bench().make(
            "own-curve", file.token, lambda: parse_curve(text_of(file.data, file.name), file.name)
        )
        risk = lab.risk_with(curve)
    except InputError as error:
        show_error(error)
        return
    st.markdown(
        f"Read: {plain(curve.describe())}. Trained with this curve on this world's first "
        f"click log, the ranker has a test risk of **{risk.risk:.2f}** (lower is better)."
    )
    curve_buttons(curve.values, lab.settings, key="file")
