"""Pinned runs: up to three stay on the page, and the current one is compared with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.app import link
from pages.app.markdown import told
from pages.app.registry import LAB
from pages.app.slots import Slot
from pages.app.turns import Training
from ultr_core.jobs.compare import MOST_PINS, PINS
from ultr_core.lab import Comparison, Lab
from ultr_core.lab.comparison import risk_changes, settings_changes
from ultr_core.risk import plus_minus
from ultr_core.settings import Settings

_RUNS = "pinned_runs"
"""Where the session keeps what came out of pinned runs, by settings."""


@dataclass(frozen=True)
class Pin:
    """A run that is kept: its number and what came out."""

    number: int
    comparison: Comparison

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.comparison.settings


def _asked() -> tuple[Settings, ...]:
    """The settings of all pinned runs; the session has them, and the address follows."""
    if PINS.key not in st.session_state:
        st.session_state[PINS.key] = link.state(LAB.path)[PINS.key]
    asked = PINS.checked(st.session_state[PINS.key])
    text = PINS.write(asked)
    if st.query_params.get(PINS.key, "") != text:
        if text:
            st.query_params[PINS.key] = text
        else:
            del st.query_params[PINS.key]
    return asked


def _runs() -> dict[Settings, Comparison]:
    runs: dict[Settings, Comparison] = st.session_state.setdefault(_RUNS, {})
    return runs


def _pins() -> list[Pin]:
    """Pinned runs whose numbers are there, in the order in which they were pinned."""
    runs = _runs()
    return [
        Pin(number, runs[settings])
        for number, settings in enumerate(_asked(), start=1)
        if settings in runs
    ]


def fetch(lab: Lab) -> None:
    """Train what a link has pinned, after the page's own rankers, and show the page again."""
    missing = [settings for settings in _asked() if settings not in _runs()]
    if not missing:
        return
    order, place = Training(lab.at(missing[0])), Slot()
    for done in range(len(order.plan)):
        while not order.ready(done, _LOOK):
            if order.refused is not None:
                place.place().error(told(order.refused), icon=":material/error:")
                _forget(missing[0])
                return
            if order.leave():
                with place.place().container():
                    order.come_back(answered=True)
                return
            place.place().progress(
                done / len(order.plan), "Training the rankers for a pinned run …"
            )
    _runs()[missing[0]] = order.lab.comparison(order.plan)
    st.rerun()


_LOOK = 0.3  # seconds between two looks


def beside(comparison: Comparison) -> dict[str, Comparison]:
    """Pinned runs other than this one, by number: they are drawn beside it."""
    return {
        str(pin.number): pin.comparison for pin in _pins() if pin.settings != comparison.settings
    }


def button(comparison: Comparison) -> None:
    """Pin the run that the chart above shows."""
    asked = _asked()
    full = len(asked) == MOST_PINS
    st.button(
        "Pin", key="pin", icon=":material/keep:", type="tertiary", on_click=_add,
        args=(comparison,), disabled=full or comparison.settings in asked,
        help=f"Up to {MOST_PINS} runs can be pinned." if full else
        "Pin this run, then move the sliders: the pinned run stays in the chart as hollow marks. "
        "Pins are part of the link.",
    )  # fmt: skip


def told_beside(comparison: Comparison) -> str:
    """Which pins there are, for the chart that has their marks; "" if none."""
    pins = _pins()
    if not pins:
        return ""
    drawn = [str(pin.number) for pin in pins if pin.settings != comparison.settings]
    here = [pin.number for pin in pins if pin.settings == comparison.settings]
    marks = (
        [f"Hollow: {'pin' if len(drawn) == 1 else 'pins'} {' and '.join(drawn)}."] if drawn else []
    )
    this = [f"Pin {here[0]} is the current run; move a slider to compare."] if here else []
    return " ".join((*marks, *this, f"[Compare below](#{_ANCHOR})"))


_ANCHOR = "pinned-runs"


def section(comparison: Comparison) -> None:
    """Compare the current run with those that are pinned."""
    pins = _pins()
    if not pins:
        return
    st.subheader("Pinned runs", anchor=_ANCHOR)
    st.table(
        _rows(pins, comparison), alt="Test risk of every ranker in the pinned and current runs"
    )
    for pin in pins:
        with st.container(border=True, key=f"pinned-{pin.number}"):
            _compared(pin, comparison)


def _compared(pin: Pin, comparison: Comparison) -> None:
    changed = settings_changes(pin.settings, comparison.settings)
    if not changed:
        st.markdown(f"**Pin {pin.number}** is the current run. Move a slider to compare.")
    else:
        words = "\n".join(
            f"- {change.sentence}"
            for change in risk_changes(pin.comparison, comparison)
            if change.difference != 0
        )
        st.markdown(
            f"**Since pin {pin.number}:** {', '.join(changed)}.\n\n"
            + (words or "- No ranker has changed.")
        )
    with st.container(horizontal=True):
        st.button(
            "Go back to this run", key=f"unpin-back-{pin.number}", icon=":material/undo:",
            type="tertiary", on_click=link.write, args=(pin.settings,),
        )  # fmt: skip
        st.button(
            "Remove", key=f"unpin-{pin.number}", icon=":material/keep_off:", type="tertiary",
            on_click=_forget, args=(pin.settings,),
        )  # fmt: skip


def _rows(pins: Sequence[Pin], comparison: Comparison) -> list[dict[str, str]]:
    """One row a ranker, one column a run; intervals over click logs."""
    runs = {f"Pin {pin.number}": pin.comparison for pin in pins} | {"Now": comparison}
    return [
        {"Test risk": summary.label}
        | {name: _value(run, key) if key in run.rankers else "–" for name, run in runs.items()}
        for key, summary in comparison.rankers.items()
    ]


def _value(run: Comparison, key: str) -> str:
    risk = run.rankers[key].risk
    return plus_minus(risk.value, (risk.high - risk.low) / 2)


def _add(comparison: Comparison) -> None:
    """Callback: keep a run."""
    asked = _asked()
    if len(asked) < MOST_PINS:
        _runs()[comparison.settings] = comparison
        st.session_state[PINS.key] = (*asked, comparison.settings)


def _forget(settings: Settings) -> None:
    """Callback: forget a run."""
    st.session_state[PINS.key] = tuple(each for each in _asked() if each != settings)
