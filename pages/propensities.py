"""Where propensities come from: swap experiments, their rivals, their price, your own log."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from pages.shared import propensity_cached, propensity_log, shell
from pages.shared.controls import in_page_words
from pages.shared.frame import show_figure
from pages.shared.propensity_cached import POSITION, TRUST
from pages.shared.propensity_words import (
    STEPS,
    TRAFFIC,
    apply_step,
    headline,
    method_rows,
    option_help,
    precision_sentence,
    price_sentence,
    trust_warning,
)
from pages.shared.shell import PageContext
from pages.shared.slots import Slot
from pages.shared.worlds import require_world
from ultr_core.errors import InputError
from ultr_core.experiments import LOG_FIELDS, stage
from ultr_core.experiments.propensity_study import MethodResult, SwapDesign, true_ratios
from ultr_core.feedback import PowerLaw
from ultr_core.figures.propensity_charts import curve_figure, curve_risk_figure
from ultr_core.propensity import FITS, PROPENSITY_METHODS, CurveOptions
from ultr_core.settings import Settings

NONE = "nothing else"
PRECISIONS = (0.05, 0.1, 0.2, 0.5)


def main() -> None:
    """Lay out the page: reading, design, curve, price, rivals, the trained ranker, your log."""
    page = shell.enter()
    settings = shell.require_settings(page)
    corpus = page.launch.corpus
    top = Slot()
    kind, plan, other = _design()
    chart = st.container()
    design = replace(plan, bootstrap=_bootstrap())
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
    if other != NONE:
        rival = propensity_cached.method_result(corpus, settings, kind, design, _key(other))
    if found.estimate is not None and found.curve is not None:
        show_figure(partial(curve_figure, found, truth.tolist(), limit=limit, other=rival))


def _bootstrap() -> bool:
    return st.toggle(
        "Bootstrap intervals", key="swap_bootstrap", bind="query-params",
        help="Intervals from 2,000 resampled experiments instead of the delta method.",
    )  # fmt: skip


def _wanted(name: str, kind: str, design: SwapDesign, settings: Settings) -> bool:
    """Whether a longer computation is to be done: at the defaults, or when asked for."""
    token = (kind, design, stage(settings, LOG_FIELDS))
    defaults = kind == POSITION and design == SwapDesign() and settings == Settings()
    if defaults or st.session_state.get(f"swap_asked_{name}") == token:
        return True
    st.button(
        "Compute for this design", key=f"swap_ask_{name}", icon=":material/play_arrow:",
        on_click=_ask, args=(name, token),
    )  # fmt: skip
    return False


def _ask(name: str, token: object) -> None:
    st.session_state[f"swap_asked_{name}"] = token


def _design() -> tuple[str, SwapDesign, str]:
    """The controls of the experiment."""
    with st.container(key="swap-design"):
        grid = st.grid(4, min_column_width=150)
        with grid.cell():
            landmark = st.slider(
                "Landmark k", 1, 10, 1, key="swap_landmark", bind="query-params",
                help=option_help("landmark"),
            )  # fmt: skip
        with grid.cell():
            sessions = st.select_slider(
                "Traffic", TRAFFIC, value=50_000, key="swap_traffic", bind="query-params",
                format_func=lambda n: f"{n:,}", help=option_help("traffic"),
            )  # fmt: skip
        with grid.cell():
            smoothing = st.slider(
                "Smoothing", 0.0, 1.0, 0.0, 0.05, key="swap_smoothing", bind="query-params",
                help=option_help("smoothing"),
            )  # fmt: skip
        with grid.cell():
            fit = st.selectbox(
                "Fit", list(FITS), key="swap_fit", bind="query-params", help=option_help("fit")
            )
        with grid.cell():
            kind = st.selectbox(
                "Users", [POSITION, TRUST], key="swap_users", bind="query-params",
                help=option_help("users"),
            )  # fmt: skip
        with grid.cell():
            labels = [NONE, *(m.label for m in PROPENSITY_METHODS.values() if m.key != "swap")]
            other = st.selectbox(
                "Beside it", labels, key="swap_other", bind="query-params",
                help=option_help("other"),
            )  # fmt: skip
        with grid.cell():
            last_rank = st.slider(
                "Last rank K", 10, 40, 21, key="swap_ranks", bind="query-params",
                help=option_help("last_rank"),
            )  # fmt: skip
        with grid.cell():
            every = st.selectbox(
                "Measure", ["every rank", "1, 2, 4, 8, 16 …"], key="swap_at", bind="query-params",
                help=option_help("at"),
            )  # fmt: skip
    ranks = () if every == "every rank" else tuple(2**i for i in range(6) if 2**i <= last_rank)
    options = CurveOptions(smoothing, ranks, fit)
    return kind, SwapDesign(landmark, last_rank, sessions, options=options), other


def _key(label: str) -> str:
    return next(m.key for m in PROPENSITY_METHODS.values() if m.label == label)


def _notes(found: MethodResult) -> None:
    notes = [found.reason] if found.estimate is None else list(found.estimate.notices)
    notes += [] if found.curve is None else list(found.curve.notices)
    if notes:
        with st.expander(f"What to know about this estimate ({len(notes)})", type="compact"):
            for note in notes:
                st.markdown(f"- {note}")


def _price_section(
    page: PageContext, settings: Settings, kind: str, design: SwapDesign, found: MethodResult
) -> None:
    st.subheader("What the experiment costs, and how much traffic it needs")
    st.markdown(price_sentence(found, design))
    rank_column, precision_column = st.columns(2, gap="medium")
    with rank_column:
        rank = st.slider(
            "Rank to be known", 2, 40, 10, key="swap_rank", bind="query-params",
            help="The rank whose p_r / p_k is wanted.",
        )  # fmt: skip
    with precision_column:
        precision = st.select_slider(
            "Wanted precision ±", PRECISIONS, value=0.1, key="swap_precision",
            bind="query-params", format_func=lambda p: f"{p:.0%}",
            help="Half the width of the 95 % interval, relative to the ratio.",
        )  # fmt: skip
    try:
        needed = propensity_cached.traffic_needed(
            page.launch.corpus, settings, kind, design, rank, precision
        )
    except InputError as error:
        st.markdown(f":material/info: {error}")
        return
    st.markdown(precision_sentence(rank, precision, needed, design))


def _rivals_section(page: PageContext, settings: Settings, kind: str, design: SwapDesign) -> None:
    st.subheader("Nine ways on the same traffic")
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
        method_rows(results, truth), alt="Error, coverage and cost of nine estimators"
    )
    st.markdown(
        "Error: root mean square of log(estimate / truth), so 0.10 is about 10 %. Intervals right: "
        "how many of the 95 % intervals hold the true ratio; ranks share the reference, so they "
        "miss together. Cost: added to the sum of ranks of relevant documents, a presentation; "
        "below 0 the other ranker is the better one. EM gives no interval while documents are "
        "clicked rarely."
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
    wrong = settings.assumed_eta if settings.assumed_eta != settings.eta else 1.5 * settings.eta
    curves = {
        "true": ("True propensities", "skyline", PowerLaw(settings.eta)),
        "estimated": ("Estimated by swaps", "propensity", found.curve.curve),
        "wrong": (f"Mis-set, η′ = {wrong:g}", "clipped", PowerLaw(min(wrong, 2.0))),
        "none": ("No weights (naive)", "naive", None),
    }
    place = Slot()
    risks = {}
    for number, (name, (label, style, curve)) in enumerate(curves.items(), start=1):
        place.place().progress(number / len(curves), f"Training with: {label} …")
        try:
            risk = propensity_cached.risk_with(page.launch.corpus, settings, curve).risk
        except InputError as error:
            st.markdown(f":material/info: {label}: {in_page_words(str(error))}")
            continue
        risks[name] = (label, style, risk)
    with place.place().container():
        show_figure(partial(curve_risk_figure, risks))
    st.markdown(
        f"One click log of {settings.clicks:,} expected clicks by position-model users with "
        f"η = {settings.eta:g}; C chosen for each on validation clicks. One log has no interval: "
        "differences of a tenth come and go with the seed."
    )


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
