"""Pinned runs: up to three stay on the page, and the current one is compared with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.app import link
from ultr_core.lab import Comparison
from ultr_core.lab.comparison import risk_changes, settings_changes
from ultr_core.risk import plus_minus
from ultr_core.settings import Settings

MOST = 3
_PINS = "pins"


@dataclass(frozen=True)
class Pin:
    """A run that is kept: its number and what came out."""

    number: int
    comparison: Comparison

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.comparison.settings


def section(comparison: Comparison) -> None:
    """Pin the current run, and compare it with those that are pinned."""
    pins = _pins()
    st.subheader(
        "Pin and compare",
        help="Pin this run, then move the sliders: both stand side by side. Pins are kept while "
        "this page is open.",
    )
    here = any(pin.settings == comparison.settings for pin in pins)
    st.button(
        "Pin this run", key="pin", icon=":material/keep:", on_click=_add, args=(comparison,),
        disabled=here or len(pins) == MOST,
        help=f"Up to {MOST} runs can be pinned." if len(pins) == MOST else None,
    )  # fmt: skip
    if not pins:
        return
    st.table(_rows(pins, comparison), alt="Test risk of every ranker in pinned and current run")
    for pin in pins:
        with st.container(border=True, key=f"pinned-{pin.number}"):
            _compared(pin, comparison)


def _compared(pin: Pin, comparison: Comparison) -> None:
    changed = settings_changes(pin.settings, comparison.settings)
    if not changed:
        st.markdown(f"**Pin {pin.number}** is this run. Move a slider to compare.")
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
            "Back to it", key=f"unpin-back-{pin.number}", icon=":material/undo:", type="tertiary",
            on_click=link.write, args=(pin.settings,),
        )  # fmt: skip
        st.button(
            "Remove", key=f"unpin-{pin.number}", icon=":material/keep_off:", type="tertiary",
            on_click=_remove, args=(pin.number,),
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


def _pins() -> tuple[Pin, ...]:
    pins: tuple[Pin, ...] = st.session_state.get(_PINS, ())
    return pins


def _add(comparison: Comparison) -> None:
    """Callback: keep a run under the lowest free number."""
    pins = _pins()
    taken = {pin.number for pin in pins}
    number = next(n for n in range(1, MOST + 2) if n not in taken)
    if len(pins) < MOST:
        st.session_state[_PINS] = (*pins, Pin(number, comparison))


def _remove(number: int) -> None:
    """Callback: forget a run."""
    st.session_state[_PINS] = tuple(pin for pin in _pins() if pin.number != number)
