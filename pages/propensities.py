"""Where propensities come from: swap experiments, their rivals, their price, your own log."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from pages.shared import lecture, propensity_cached, propensity_log, shell
from pages.shared.context import PageContext
from pages.shared.curve_use import curve_buttons
from pages.shared.curve_words import learner_believes, users_have
from pages.shared.frame import show_figure
from pages.shared.page_link import control
from pages.shared.propensity_words import (
    COMPUTE,
    STEPS,
    apply_step,
    headline,
    method_rows,
    precision_sentence,
    price_sentence,
    trust_warning,
)
from pages.shared.remedies import told
from pages.shared.slots import Slot
from pages.shared.worlds import require_world
from ultr_core.errors import InputError
from ultr_core.experiments import LOG_FIELDS, assumed_curve, stage, true_curve
from ultr_core.experiments.propensity_study import MethodResult, SwapDesign, true_ratios
from ultr_core.export.page_links import NOTHING_ELSE, POSITION, TRUST
from ultr_core.export.propensity_notebook import swap_design
from ultr_core.feedback import ExaminationCurve, PowerLaw
from ultr_core.figures.propensity_charts import curve_figure, curve_risk_figure
from ultr_core.propensity import PROPENSITY_METHODS
from ultr_core.settings import Settings
from ultr_core.words import counted

DESIGN = (
    "swap_landmark", "swap_traffic", "swap_smoothing", "swap_fit", "swap_users", "swap_other",
    "swap_ranks", "swap_at",
)  # fmt: skip


def main() -> None:
    """Lay out the page: reading, design, curve, price, rivals, the trained ranker, your log."""
    page = shell.enter()
    settings = shell.require_settings(page)
    corpus = page.launch.corpus
    top = lecture.headline()
    values = _design()
    chart = st.container()
    values["swap_bootstrap"] = control("propensities", "swap_bootstrap")
    kind, other, design = values["swap_users"], values["swap_other"], swap_design(values)
    require_world(corpus, settings)
    found = propensity_cached.method_result(corpus, settings, kind, design, "swap")
    truth = true_ratios(propensity_cached.examination_of(kind, settings), design)
    top.place().markdown(f"**{headline(found, truth)}**")
    with chart:
        _chart_section(corpus, settings, kind, design, found, other)
    _notes(found)
    _price_section(page, settings, kind, design, found)
    _rivals_section(page, settings, kind, design)
    _ranker_section(page, settings, kind, design, found)
    propensity_log.section(page, settings)
    _steps_section()
    _assumptions_section()


def _chart_section(
    corpus: str | None,
    settings: Settings,
    kind: str,
    design: SwapDesign,
    found: MethodResult,
    other: str,
) -> None:
    """The picture, and under trust bias the warning that belongs to it."""
    truth = true_ratios(propensity_cached.examination_of(kind, settings), design)
    limit = rival = None
    if kind == TRUST:
        limit = propensity_cached.limit(corpus, settings, kind, design.landmark, design.last_rank)
        st.warning(trust_warning(limit, truth, design), icon=":material/warning:")
    if other != NOTHING_ELSE:
        rival = propensity_cached.method_result(corpus, settings, kind, design, other)
    if found.estimate is not None and found.curve is not None:
        show_figure(partial(curve_figure, found, truth.tolist(), limit=limit, other=rival))
        curve_buttons(found.curve.values, settings, key="swaps")


def _wanted(name: str, kind: str, design: SwapDesign, settings: Settings) -> bool:
    """Whether a longer computation is to be done: at the defaults, or when asked for."""
    token = (kind, design, stage(settings, LOG_FIELDS))
    defaults = kind == POSITION and design == SwapDesign() and settings == Settings()
    if defaults or st.session_state.get(f"swap_asked_{name}") == token:
        return True
    st.button(
        COMPUTE, key=f"swap_ask_{name}", icon=":material/play_arrow:",
        on_click=_ask, args=(name, token),
    )  # fmt: skip
    return False


def _ask(name: str, token: object) -> None:
    st.session_state[f"swap_asked_{name}"] = token


def _design() -> dict[str, Any]:
    """The controls of the experiment; their values by key."""
    values = {}
    with st.container(key="swap-design"):
        grid = st.grid(4, min_column_width=150)
        for key in DESIGN:
            with grid.cell():
                values[key] = control("propensities", key)
    return values


def _notes(found: MethodResult) -> None:
    notes = [found.reason] if found.estimate is None else list(found.estimate.notices)
    notes += [] if found.curve is None else list(found.curve.notices)
    if notes:
        with st.expander(f"What to know about this estimate ({len(notes)})", type="compact"):
            for note in notes:
                st.markdown(f"- {told(note)}")


def _price_section(
    page: PageContext, settings: Settings, kind: str, design: SwapDesign, found: MethodResult
) -> None:
    st.subheader("What the experiment costs, and how much traffic it needs")
    st.markdown(price_sentence(found, design))
    rank_column, precision_column = st.columns(2, gap="medium")
    with rank_column:
        rank = control("propensities", "swap_rank")
    with precision_column:
        precision = control("propensities", "swap_precision")
    try:
        needed = propensity_cached.traffic_needed(
            page.launch.corpus, settings, kind, design, rank, precision
        )
    except InputError as error:
        st.markdown(f":material/info: {told(error)}")
        return
    st.markdown(precision_sentence(rank, precision, needed, design))


def _rivals_section(page: PageContext, settings: Settings, kind: str, design: SwapDesign) -> None:
    st.subheader(f"{len(PROPENSITY_METHODS)} ways on the same traffic")
    if not _wanted("ways", kind, design, settings):
        return
    table = Slot()
    results = {}
    truth = true_ratios(propensity_cached.examination_of(kind, settings), design)
    for number, key in enumerate(PROPENSITY_METHODS, start=1):
        table.place().progress(
            number / len(PROPENSITY_METHODS), f"{PROPENSITY_METHODS[key].label} …"
        )
        results[key] = propensity_cached.method_result(
            page.launch.corpus, settings, kind, design, key
        )
    table.place().table(
        method_rows(results, truth), alt="Error, coverage and cost of every estimator"
    )
    st.markdown(
        "Error: root mean square of log(estimate / truth), so 0.10 is about 10%. Intervals right: "
        "how many of the 95% intervals hold the true ratio; ranks share the reference, so they "
        "miss together. Exact cost: added to the sum of ranks of relevant documents, a "
        "presentation; below 0 the other ranker is the better one. Cost seen: the same in this "
        "simulated traffic. EM gives no interval while documents are clicked rarely."
    )


def _ranker_section(
    page: PageContext, settings: Settings, kind: str, design: SwapDesign, found: MethodResult
) -> None:
    st.subheader("Does the estimate train as good a ranker as the truth?")
    if kind == TRUST or found.curve is None:
        st.markdown(
            ":material/info: Rankers are trained here on the clicks of position-model users; "
            "choose those above, with a design that gives a curve."
        )
        return
    if not _wanted("rankers", kind, design, settings):
        return
    wrong, wrong_curve = _wrong(settings)
    curves = {
        "true": ("True propensities", "skyline", true_curve(settings)),
        "estimated": ("Estimated by swaps", "propensity", found.curve.curve),
        "wrong": (f"Mis-set, {wrong}", "clipped", wrong_curve),
        "none": ("No weights (naive)", "naive", None),
    }
    place = Slot()
    risks = {}
    for number, (name, (label, style, curve)) in enumerate(curves.items(), start=1):
        place.place().progress(number / len(curves), f"Training with: {label} …")
        try:
            risk = propensity_cached.risk_with(page.launch.corpus, settings, curve).risk
        except InputError as error:
            st.markdown(f":material/info: {label}: {told(error)}")
            continue
        risks[name] = (label, style, risk)
    with place.place().container():
        show_figure(partial(curve_risk_figure, risks))
    st.markdown(
        f"One click log of {counted(settings.clicks, 'expected click')} by position-model users "
        f"with {users_have(settings)}; C chosen for each on validation clicks. One log has no "
        "interval: differences of a tenth come and go with the seed."
    )


def _wrong(settings: Settings) -> tuple[str, ExaminationCurve]:
    """What the learner wrongly believes in these settings, or a wrong belief if it is right."""
    if not settings.belief_is_right:
        return learner_believes(settings), assumed_curve(settings)
    if settings.curve:
        return "η′ = 1", PowerLaw(1.0)
    eta = 1.5 * settings.eta if 0 < settings.eta <= 1.3 else 0.5
    return f"η′ = {eta:g}", PowerLaw(eta)


def _steps_section() -> None:
    st.subheader("Try this")
    for number, (column, step) in enumerate(zip(st.columns(len(STEPS)), STEPS, strict=True)):
        with column:
            st.markdown(step.question)
            st.button(
                step.button, key=f"swap-step-{number}", on_click=apply_step, args=(step.values,)
            )


def _assumptions_section() -> None:
    with st.expander("What each method assumes, and where it comes from"):
        for method in PROPENSITY_METHODS.values():
            st.markdown(f"- **{method.label}**: {method.assumes}. *{method.source}.*")


main()
