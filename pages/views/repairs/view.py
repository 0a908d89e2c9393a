"""What breaks weighting at the left, what repairs it at the right, the enumeration below."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_lab
from pages.app.field_control import choose
from pages.app.frame import Draw, offer_files, show_chart, show_figure, theme
from pages.app.markdown import in_code, show_error, show_note, whole_equations
from pages.app.registry import PROOFS, RUN
from pages.app.slots import Slot
from pages.views.repairs.words import (
    TOWERS,
    WORDS,
    enumerated,
    exact_rows,
    how_enumerated,
    how_linked,
    how_tested,
    linked_rows,
    listed,
    logger_rows,
    of_break,
    tower_rows,
)
from pages.views.studies import run
from pages.views.studies.page import claims_section, run_button, run_plan
from ultr_core.errors import InputError
from ultr_core.figures.by_rank import rank_test_figure
from ultr_core.figures.repairs import repair_figure, towers_figure, users_figure
from ultr_core.figures.studies import cut_words, study_figure
from ultr_core.jobs.proofs import switch_key
from ultr_core.jobs.repairs import ACTS, AT, BREAK, CLICKS, offered_clicks, usual_clicks
from ultr_core.jobs.reproduce import RESULT
from ultr_core.lab import Lab, stage
from ultr_core.lab.training import FITS
from ultr_core.proofs import BREAKS
from ultr_core.risk import FOR_ONE_WORLD, NO_INTERVAL
from ultr_core.settings import Settings
from ultr_core.studies import (
    LOSSES,
    STUDIES,
    STUDY_METHODS,
    Plan,
    Study,
    StudyResult,
    describe_world,
    guarded_method,
    judge,
    left_out_words,
    load_shipped,
    repair_headline,
    settings_words,
    shipped_result,
)

SHIPPED, COMPUTED = "shipped", "quick"
LOSS = LOSSES["sum-of-ranks"]
SWITCH = {
    "trust-steep": "trust", "trust-mild": "trust", "leaving": "cascade", "cut": "cut",
    "wrong-curve": "wrong-curve",
}  # fmt: skip
"""By break: the switch of the Proofs that breaks the same."""
JUDGED = "Judged by 95% intervals, paired by click log"
COMPARED = (
    f"{JUDGED}. “Needs”: the fewest clicks tried at which, and above which, the "
    "repair beats every unrepaired ranker"
)
"""What the verbs of the headline mean; the same words as `compare`."""
WIDTHS, WIDTHS_IN_LECTURE = (255, 145), (365, 172)
"""Pixels of the boxes of result and clicks: all choices are in one row, at 1280 pixels and in a
lecture at 1920."""
BELIEVING = {"wrong-curve": ("too-steep", "too-flat")}
"""By break: the methods whose assumed curves are in the picture of the users."""


def show(page: PageContext) -> None:
    """Lay out the page: verdict, choices, break and repair, enumeration, then details."""
    lab = require_lab(page)
    headline = lecture.headline()
    name, clicks, view = _choices(page.launch.corpus)
    breaks, repairs, limits = of_break(name)
    plan = Plan(STUDIES[name], "quick", stage(lab.settings, ACTS))
    status = st.container(key=RUN if view == COMPUTED else None)
    broken, repaired = st.columns([0.42, 0.58], gap="medium")
    with broken, st.container(key="broken", gap="xsmall"):
        st.markdown(whole_equations(breaks))
        draw_users: Draw = (
            towers_figure
            if name == TOWERS
            else partial(users_figure, plan.points[0].settings, BELIEVING.get(name, ()))
        )
        _picture(draw_users)
    with repaired, st.container(key="repaired", gap="xsmall"):
        st.markdown(whole_equations(repairs))
        chart = Slot()
    line = st.container(key="lines")
    if view == COMPUTED and run.is_running(plan):
        with status:
            run_plan(lab, plan, LOSS, chart, headline)
    result = shipped_result(name, LOSS) if view == SHIPPED else _computed(lab, plan)
    if view == COMPUTED:
        with status:
            if left_out := left_out_words(plan):
                show_note(left_out)
            run_button(lab, plan)
    headline.place().markdown(_headline(result, clicks))
    if result is not None:
        with chart.place().container():
            draw_risks = partial(repair_figure, result, result.point(clicks))
            _picture(draw_risks)
    line.markdown(enumerated(name))
    with st.container(horizontal=True):
        _savers(draw_users, *(() if result is None else (draw_risks,)))
    st.subheader("What the repair cannot do")
    st.markdown(whole_equations(limits))
    if result is not None:
        _guard(lab, result.plan.study, result.point(clicks).settings)
    _details(name, result)


def _choices(corpus: str | None) -> tuple[str, float, str]:
    """What breaks, with how many clicks, and which result is shown."""
    wide, narrow = WIDTHS if lecture.read() is None else WIDTHS_IN_LECTURE
    with st.container(horizontal=True, key="repair-choices", vertical_alignment="bottom"):
        before = st.session_state.get(BREAK.key)
        name = choose(BREAK)
        usual = usual_clicks(name)
        if before not in (None, name) and CLICKS.key not in st.query_params:  # the browser's Back
            st.session_state[CLICKS.key] = usual
        view = choose(
            RESULT, kind="box", width=wide,
            offered=(COMPUTED,) if corpus is not None else (SHIPPED, COMPUTED),
        )  # fmt: skip
        there = offered_clicks(name, shipped=view == SHIPPED)
        offered = tuple(key for key in AT if key in there)
        field = replace(CLICKS, default=usual)
        clicks = AT[choose(field, kind="box", width=narrow, offered=offered)]
    return name, clicks, view


def _picture(draw: Draw) -> None:
    """A picture alone: what it can be saved as is below the enumeration, to save room."""
    figure = draw(theme=theme())
    with st.container(key=f"figure-{figure.name}"):
        show_chart(figure, fills=lecture.read() is not None)


def _savers(*draws: Draw) -> None:
    for draw in draws:
        offer_files(draw(theme=theme()), draw)


def _computed(lab: Lab, plan: Plan) -> StudyResult | None:
    done = run.finished(lab, plan)
    return StudyResult(plan, LOSS, done, describe_world(lab.at(plan.base))) if done else None


def _headline(result: StudyResult | None, clicks: float) -> str:
    if result is None:
        return "**Nothing has been computed yet. Run the study to see the rankers.**"
    so_far = "" if result.complete else "So far: "
    compared = ""
    if result.plan.base.draws > 1:
        compared = f" ({JUDGED if result.plan.study.by_learner else COMPARED}.)"
    return f"**{so_far}{repair_headline(result, result.point(clicks))}**{compared}"


def _guard(lab: Lab, study: Study, settings: Settings) -> None:
    """Which ranks reject the fit of relevance that is used, and one that sees less."""
    method = guarded_method(study)
    if method is None:
        return
    st.subheader("When the fit is rejected")
    at = lab.at(settings)
    try:
        tests = {name: at.rank_test(0, method, seen) for name, seen in FITS.items()}
    except InputError as error:
        show_error(error)
        return
    show_figure(partial(rank_test_figure, tests))
    st.markdown(how_tested())


def _details(name: str, result: StudyResult | None) -> None:
    """The curve over all numbers of clicks, claims, every fraction, and the other breaks."""
    if result is not None:
        if not result.plan.study.by_learner:  # whose curves would lie upon each other
            st.subheader("With fewer and more clicks")
            draw = partial(study_figure, result)
            show_figure(draw)
            if cut := cut_words(draw(theme=theme()), result):
                st.markdown(cut)
        st.markdown(whole_equations(_made(result)))
        claims_section(judge(result), "Claims from later work")
    st.subheader("The enumeration in full")
    if name == TOWERS:
        st.table(linked_rows(), alt="Groups of linked ranks, and what clicks leave undetermined")
        st.table(tower_rows(), alt="Position tower at the last rank by form and logger")
        st.markdown(whole_equations(how_linked()))
    else:
        st.table(exact_rows(name), alt="Largest error, wrong pairs and spread for each ranker")
        st.markdown(whole_equations(how_enumerated()))
    methods = STUDIES[name].methods
    st.markdown(listed((STUDY_METHODS[m].label, STUDY_METHODS[m].description) for m in methods))
    if name == "cut":
        st.subheader("What each logger shows, and what it costs users")
        st.table(logger_rows(), alt="Exposure and mean ranks of twenty candidates by logger")
        st.markdown(WORDS.text("loggers"))
    st.subheader("What repairs other broken assumptions")
    st.markdown(WORDS.text("others"))
    st.markdown(listed((assumption.label, assumption.repair) for assumption in BREAKS.values()))
    if switch := SWITCH.get(name):
        st.page_link(
            PROOFS.file, label=f"Proofs with “{BREAKS[switch].label}”", icon=PROOFS.icon,
            query_params={switch_key(switch): "true"},
        )  # fmt: skip


def _made(result: StudyResult) -> str:
    """With which settings a result was made, its intervals, and by which command."""
    study, base = result.plan.study, result.plan.base
    bars = (
        f"Bars: 95% intervals over {base.draws} click logs {FOR_ONE_WORLD}."
        if base.draws > 1
        else NO_INTERVAL
    )
    command = ""
    if result.plan.scale == "paper":
        command = f" Made by {in_code(load_shipped(study.shipped_in).command)}."
    return f":material/tune: **Made with** {settings_words(result.plan)}. {bars}{command}"
