"""Step 6 of the page Your data: whether a ranker may replace what users saw."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.app.field_control import control
from pages.app.frame import show_figure
from pages.app.markdown import mark, told
from pages.views.your_data.bench import bench
from pages.views.your_data.curve import Propensities
from pages.views.your_data.evidence import Judged
from pages.views.your_data.ranker import Ranker
from ultr_core.content import read
from ultr_core.figures import gate_figure
from ultr_core.jobs.your_data import COMPARED
from ultr_core.own_data.deployment import POWER, PROMISE, Gate, gate, reason_against
from ultr_core.propensity import PresentationLog

_WORDS = read(__file__, "your_data").part("gate")


def gate_step(
    log: PresentationLog | None,
    propensities: Propensities | None,
    rankers: list[Ranker],
    judged: Judged | None,
) -> Gate | None:
    """The gate's answer, its price, and what choosing among many does; None without evidence."""
    st.subheader("6 · Gate: may it replace what users saw?")
    if log is None or propensities is None or judged is None:
        st.markdown(":material/info: The gate needs evidence about a ranker (step 5).")
        return None
    st.markdown(gate_promise())
    compared = max(int(control(COMPARED, width=300)), len(rankers))
    checks = bench().made["log-checks"]
    found = gate(
        judged.joined.clicks, judged.ranker.scores, propensities.curve, name=judged.ranker.name,
        judge=judged.judge, candidates=compared, trained=judged.trained,
        declined=reason_against(
            [*judged.checks.findings, *checks.warnings], copies=log.copies
        ),
    )  # fmt: skip
    st.markdown(f"{mark('good' if found.deploy else 'stop')} **{told(found.sentence)}**")
    points = gate_points(found, len(rankers), by_fold=judged.trained is False)
    st.markdown("\n".join(f"- {told(text)}" for text in points))
    if found.bound is not None:
        show_figure(partial(gate_figure, found), key="-own")
    return found


def gate_points(found: Gate, rankers: int, *, by_fold: bool = False) -> list[str]:
    """What was judged, the price of the gate, and what choosing among many does, in sentences.

    by_fold: whether the scores are of rankers trained without the query's clicks.
    """
    points = [_WORDS.text("folds")] if by_fold else []
    if found.passes_at is not None:
        points.append(_WORDS.text("price", power=POWER, needed=found.passes_at))
    if found.candidates == rankers > COMPARED.default:
        points.append(_WORDS.text("counted", rankers=rankers))
    return [*points, _WORDS.text("selection")]


def gate_promise() -> str:
    """What the gate promises."""
    return _WORDS.text("promise", promise=PROMISE)
