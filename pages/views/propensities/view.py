"""Where propensities come from: swap experiments, their rivals, their price, your own log."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_lab, require_world
from pages.app.curves import curve_buttons, learner_believes, users_have
from pages.app.field_control import control
from pages.app.frame import show_figure
from pages.app.markdown import show_note, told
from pages.app.slots import Slot
from pages.app.steps import set_controls, show_steps
from pages.views.propensities import log
from pages.views.propensities.words import (
    COMPUTE,
    STEPS,
    agreement_sentence,
    headline,
    method_rows,
    precision_sentence,
    price_sentence,
    trust_warning,
)
from ultr_core.errors import InputError
from ultr_core.figures import curve_figure, curve_risk_figure
from ultr_core.jobs.links import value_of
from ultr_core.jobs.propensities import NOTHING_ELSE, TRUST, swap_design
from ultr_core.lab import LOG_FIELDS, Lab, mistaken_curve, stage, true_curve
from ultr_core.lab.propensity_study import (
    MethodResult,
    SwapDesign,
    sessions_for_precision,
    true_ratios,
)
from ultr_core.propensity import PROPENSITY_METHODS
from ultr_core.settings import Settings
from ultr_core.users import PositionModel, PowerLaw, TrustBiasModel
from ultr_core.words import counted

Users = PositionModel | TrustBiasModel
DESIGN = (
    "swap_landmark", "swap_traffic", "swap_smoothing", "swap_fit", "swap_users", "swap_other",
    "swap_ranks", "swap_at",
)  # fmt: skip


def show(page: PageContext) -> None:
    """Lay out the page: reading, design, curve, price, rivals, the trained ranker, your log."""
    lab = require_lab(page)
    top = lecture.headline()
    values = _design()
    chart = st.container()
    values["swap_bootstrap"] = control(value_of("propensities", "swap_bootstrap"))
    kind, other, design = values["swap_users"], values["swap_other"], swap_design(values)
    require_world(lab)
    users = TrustBiasModel.published() if kind == TRUST else lab.users
    found = lab.swaps(design, users=users)
    truth = true_ratios(users.curve, design)
    top.place().markdown(f"**{headline(found, truth)}**")
    with chart:
        _chart_section(lab, users, design, found, other)
    _notes(found)
    _price_section(lab, users, design, found)
    _rivals_section(lab, users, design)
    _ranker_section(lab, users, design, found)
    log.section(page, lab)
    show_steps(STEPS, "swap-step", set_controls)
    _assumptions_section()


def _chart_section(
    lab: Lab, users: Users, design: SwapDesign, found: MethodResult, other: str
) -> None:
    """The picture, and under trust bias the warning that belongs to it."""
    truth = true_ratios(users.curve, design)
    limit = rival = None
    if _trusting(users):
        limit = lab.swap_limit(design, users).tolist()
        st.warning(trust_warning(limit, truth, design), icon=":material/warning:")
    if other != NOTHING_ELSE:
        rival = lab.swaps(design, other, users)
    if found.estimate is not None and found.curve is not None:
        draw = partial(curve_figure, found, truth.tolist(), limit=limit, other=rival)
        show_figure(draw, fits=True)
        st.markdown(agreement_sentence(found, truth))
        curve_buttons(found.curve.values, lab.settings, key="swaps")


def _trusting(users: Users) -> bool:
    return isinstance(users, TrustBiasModel)


def _wanted(name: str, users: Users, design: SwapDesign, settings: Settings) -> bool:
    """Whether a longer computation is to be done: at the defaults, or when asked for."""
    token = (users, design, stage(settings, LOG_FIELDS))
    defaults = not _trusting(users) and design == SwapDesign() and settings == Settings()
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
                values[key] = control(value_of("propensities", key))
    return values


def _notes(found: MethodResult) -> None:
    notes = [found.reason] if found.estimate is None else list(found.estimate.notices)
    notes += [] if found.curve is None else list(found.curve.notices)
    if notes:
        with st.expander(f"What to know about this estimate ({len(notes)})", type="compact"):
            for note in notes:
                st.markdown(f"- {told(note)}")


def _price_section(lab: Lab, users: Users, design: SwapDesign, found: MethodResult) -> None:
    st.subheader("What the experiment costs, and how much traffic it needs")
    st.markdown(price_sentence(found, design))
    rank_column, precision_column = st.columns(2, gap="medium")
    with rank_column:
        rank = control(value_of("propensities", "swap_rank"))
    with precision_column:
        precision = control(value_of("propensities", "swap_precision"))
    try:
        needed = sessions_for_precision(lab.world(), users, design, rank, precision)
    except InputError as error:
        show_note(error)
        return
    st.markdown(precision_sentence(rank, precision, needed, design))


def _rivals_section(lab: Lab, users: Users, design: SwapDesign) -> None:
    st.subheader(f"{len(PROPENSITY_METHODS)} methods on the same traffic")
    if not _wanted("ways", users, design, lab.settings):
        return
    table = Slot()
    results = {}
    truth = true_ratios(users.curve, design)
    for number, key in enumerate(PROPENSITY_METHODS, start=1):
        table.place().progress(
            number / len(PROPENSITY_METHODS), f"{PROPENSITY_METHODS[key].label} …"
        )
        results[key] = lab.swaps(design, key, users)
    table.place().table(method_rows(results, truth), alt="Error, coverage and cost of every method")
    st.markdown(
        "Error: root mean square of log(estimate / truth), so 0.10 is about 10%. Coverage: how "
        "many of the 95% intervals contain the true ratio; all ratios share a reference rank, "
        "so intervals tend to miss together. Exact cost: what the experiment adds, per "
        "presentation, to the summed ranks of relevant documents; if it is below 0, the "
        "ranker that shares the traffic with production is better. Observed cost: the same "
        "quantity in this simulated traffic. EM has no interval when documents are rarely clicked."
    )


def _ranker_section(lab: Lab, users: Users, design: SwapDesign, found: MethodResult) -> None:
    st.subheader("Does the estimate give as good a ranker as the true curve?")
    if _trusting(users) or found.curve is None:
        st.markdown(
            ":material/info: Rankers are trained here on clicks from position-model users; "
            "choose these users above, with a design that yields a curve."
        )
        return
    settings = lab.settings
    if not _wanted("rankers", users, design, settings):
        return
    mistaken = mistaken_curve(settings)
    wrong = learner_believes(settings)
    if isinstance(mistaken, PowerLaw):
        wrong = f"η′ = {mistaken.eta:g}"
    curves = {
        "true": ("True propensities", "skyline", true_curve(settings)),
        "estimated": ("Estimated by swaps", "propensity", found.curve.curve),
        "wrong": (f"Wrong, {wrong}", "clipped", mistaken),
        "none": ("No weights (naive)", "naive", None),
    }
    place = Slot()
    risks = {}
    for number, (name, (label, style, curve)) in enumerate(curves.items(), start=1):
        place.place().progress(number / len(curves), f"Training with: {label} …")
        try:
            risk = lab.risk_with(curve).risk
        except InputError as error:
            st.markdown(f":material/info: {label}: {told(error)}")
            continue
        risks[name] = (label, style, risk)
    with place.place().container():
        show_figure(partial(curve_risk_figure, risks))
    st.markdown(
        f"One click log of {counted(settings.clicks, 'expected click')} from position-model users "
        f"with {users_have(settings)}; C is chosen for each ranker on validation clicks. One log "
        "gives no interval; differences of about 0.1 depend on the seed."
    )


def _assumptions_section() -> None:
    with st.expander("What each method assumes, and where it comes from"):
        for method in PROPENSITY_METHODS.values():
            st.markdown(f"- **{method.label}**: {method.assumes}. *{method.source}.*")
