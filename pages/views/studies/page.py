"""What the study pages share: which result is shown, its reading, picture, claims and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_lab
from pages.app.field_control import choose
from pages.app.link import lab_button
from pages.app.markdown import (
    in_code,
    in_colors,
    mark,
    show_error,
    show_note,
    told,
    whole_equations,
)
from pages.app.registry import RUN
from pages.app.slots import Slot
from pages.app.steps import Step
from pages.views.studies import run
from pages.views.studies.chart import show_study
from ultr_core.content import read
from ultr_core.errors import InputError
from ultr_core.jobs.reproduce import LOSS, RESULT
from ultr_core.lab import Lab, curve_notices, stage
from ultr_core.risk import FOR_ONE_WORLD, NO_INTERVAL
from ultr_core.settings import Settings
from ultr_core.studies import (
    BASE_FIELDS,
    LOSSES,
    STUDIES,
    STUDY_METHODS,
    Claim,
    Loss,
    Plan,
    StudyResult,
    describe_world,
    judge,
    load_shipped,
    read_study,
    settings_words,
    shipped_result,
    study_headline,
    taken_words,
)
from ultr_core.words import counted, part_of, section_words, with_minus

_WORDS = read(__file__, "studies")

_GAIN = (
    r"\mathrm{gain}=\frac{R(\mathrm{naive})-R(\mathrm{weighted})}"
    r"{R(\mathrm{production})-R(\mathrm{skyline})}"
)

FORMULAS: Mapping[str, str] = MappingProxyType(
    {
        "learning-curve": (
            r"\hat R_{CIPS}(S)=\frac1N\sum_{clicks}\frac{\mathrm{rank}(d\,|\,S)}{\max(\tau,\,p_r)}"
        ),
        "bias": (
            r"p_r=(1/r)^{\eta}\qquad \mathrm{Var}\propto\sum_d\mathrm{rank}(d)^2\,r_d\,"
            r"\frac{1-p_{r}}{p_{r}}"
        ),
        "noise": (
            r"\mathbb E[\hat R_{IPS}]=(\epsilon_+-\epsilon_-)\,R+\epsilon_-\,"
            r"\mathbb E\big[\tfrac{m(m+1)}2\big]"
        ),
        "misspecification": (
            r"\mathbb E[\hat R_{IPS}]=\mathbb E\Big[\sum_d\mathrm{rank}(d\,|\,S)\;"
            r"r^{\,\eta'-\eta}\,\big(\epsilon_+r_d+\epsilon_-(1-r_d)\big)\Big]"
        ),
        "map-noise": _GAIN,
        "map-assumed": _GAIN,
    }
)
"""By study: the formula behind it."""


def meaning(study: str) -> str:
    """What the formula of a study says."""
    return _WORDS.text(f"meanings.{study}")


def on_own_corpus(study: str) -> str:
    """How to compute a study on a corpus of one's own."""
    return _WORDS.text("own-corpus", name=study)


SHIPPED, COMPUTED = "shipped", "quick"


def show_study_page(page: PageContext, name: str, steps: Sequence[Step[Settings]]) -> None:
    """One study: reading, picture, claims, run.

    ``steps`` are things to try; their buttons open a world on the main page.
    """
    lab = require_lab(page)
    plan = _quick_plan(name, lab.settings)
    headline = lecture.headline()
    loss, view = _choices(name, page.launch.corpus)
    status = st.container(key=RUN if view == COMPUTED else None)
    chart = Slot()
    running = view == COMPUTED and run.is_running(plan)
    if running:
        with status:
            run_plan(lab, plan, loss, chart, headline)
    result = _result(name, lab, plan, loss, view)
    if view == COMPUTED:
        with status:
            run_button(lab, plan)
    headline.place().markdown(f"**{_headline(result)}**")
    fixed = _settings_line(plan if result is None else result.plan, view, done=result is not None)
    if result is not None:
        with chart.place().container():
            show_study(result, key=view)
            if result.plan.study.is_map:
                st.markdown(_map_key(result))
            st.markdown(read_study(result))
            st.markdown(fixed)
        if caption := _caption(result, shipped=view == SHIPPED):
            st.markdown(caption)
        claims_section(judge(result))
    elif fixed:
        st.markdown(fixed)
    st.subheader("Background")
    st.latex(in_colors(FORMULAS[name]))
    st.markdown(whole_equations(meaning(name)))
    _steps_section(name, steps)


def _headline(result: StudyResult | None) -> str:
    if result is None:
        return "Nothing has been computed yet. Run the study to see the curve."
    return f"{'' if result.complete else 'So far: '}{study_headline(result)}"


def _quick_plan(name: str, settings: Settings) -> Plan:
    """The quick grid with the users and the corpus of the controls."""
    return Plan(STUDIES[name], "quick", stage(settings, BASE_FIELDS))


def _choices(name: str, corpus: str | None) -> tuple[Loss, str]:
    """What to measure, and which result to show."""
    with st.container(horizontal=True, key=f"study-choices-{name}"):
        offered = (COMPUTED,) if corpus is not None else (SHIPPED, COMPUTED)
        view = choose(RESULT, offered=offered)
        loss = choose(LOSS, kind="box", width=330)
    return LOSSES[loss], view


def _result(name: str, lab: Lab, plan: Plan, loss: Loss, view: str) -> StudyResult | None:
    if view == SHIPPED:
        return shipped_result(name, loss)
    done = run.finished(lab, plan)
    if not done:
        return None
    return StudyResult(plan, loss, done, describe_world(lab.at(plan.base)))


def _caption(result: StudyResult, *, shipped: bool) -> str:
    """How to read the picture and where it comes from."""
    study, counts = result.plan.study, result.world.counts
    how = ""
    if not study.is_map:
        queries = counts["test"]["queries"]
        without = part_of(result.world.empty_queries, queries, "test query", "test queries")
        how = (
            f"{result.loss.definition} Here {without} no relevant document. "
            f"{_bars(result.plan.base.draws)}"
        )
    if not shipped:
        notices = curve_notices(result.plan.base) if result.plan.curves else ()
        return " ".join([how, *map(told, notices)]).strip()
    command = load_shipped(study.shipped_in).command
    return f"{how} Made by {in_code(command)}.".strip()


def _map_key(result: StudyResult) -> str:
    """What the numbers and colours of a map mean."""
    unweighted = "η′ = 0" if result.plan.study.series_field == "assumed_eta" else "η = 0"
    return (
        "**In each cell:** the gain of weighting over the naive ranker, as a percentage of the "
        "gap between production and skyline. Blue: weighting is ahead; orange: the naive "
        "ranker is ahead; (in brackets): the two cannot be told apart. The white 0 at "
        f"{unweighted} is exact: there every weight is 1, so the two rankers are the same."
    )


def _settings_line(plan: Plan, view: str, *, done: bool) -> str:
    """With which settings the result is made, and which of the reader's it has or could have."""
    try:
        made = settings_words(plan)
    except InputError:
        return ""  # the run's place says what is wrong
    if view == SHIPPED:
        title = RESULT.options[COMPUTED]
        return f":material/tune: **Made with** {made}. For your own settings, choose “{title}”."
    return (
        f":material/tune: **{'Made' if done else 'Will be made'} with** {made}. You can change "
        f"{taken_words(plan)}; the rest is as in the paper."
    )


def _bars(draws: int) -> str:
    bars = (
        f"Bars: 95% intervals over {draws} click logs {FOR_ONE_WORLD}."
        if draws > 1
        else NO_INTERVAL
    )
    return f"{bars} Marks of several rankers at the same point are drawn slightly apart."


def run_plan(lab: Lab, plan: Plan, loss: Loss, chart: Slot, headline: Slot) -> None:
    """Build the world and run the plan, or show the one sentence that says why that cannot be."""
    try:
        with st.spinner("Building the corpus and its rankers (only once) …"):
            notices = describe_world(lab.at(plan.base)).notices
        for notice in notices:
            show_note(notice)
        run.run(lab, plan, loss, chart, headline)
    except InputError as error:
        run.stop()
        show_error(error)


def run_button(lab: Lab, plan: Plan) -> None:
    """Begin, or go on with, the cells of a plan; say why where its settings make no world."""
    try:
        cells = plan.cells
    except InputError as error:
        show_error(error)
        return
    left = len(cells) - len(run.finished(lab, plan))
    if left:
        st.button(
            f"Run: train {counted(left, 'ranker')}"
            if left == len(cells)
            else f"Continue: {counted(left, 'ranker')} left",
            key=f"run-{plan.study.name}", type="primary", icon=":material/play_arrow:",
            on_click=run.start, args=(plan,),
            help="Trains one ranker for each combination of method, point on the axis and click "
            "log. The settings above apply unless the study varies or fixes them.",
        )  # fmt: skip


def claims_section(
    claims: Sequence[Claim], title: str = "The paper's claims about this figure"
) -> None:
    """Each claim with its verdict; it opens to test and numbers."""
    if not claims:
        return
    st.subheader(title)
    with st.container(key="study-claims"):
        for claim in claims:
            rule, found = claim.rule, claim.finding
            label = f"{mark(found.outcome)} **{found.outcome}**: {rule.said}"
            with st.expander(label, type="compact"):
                where = section_words(rule.section)
                st.markdown(f"{where}. Test: {rule.test} {with_minus(found.sentence)}")


def _steps_section(name: str, steps: Sequence[Step[Settings]]) -> None:
    st.subheader("Try this")
    for number, (column, step) in enumerate(zip(st.columns(len(steps)), steps, strict=True)):
        with column:
            st.markdown(step.question)
            lab_button(step.button, step.sets, key=f"try-{name}-{number}")
    st.subheader("On your own corpus")
    st.markdown(on_own_corpus(name))
    methods = " ".join(
        f"**{STUDY_METHODS[key].label}**: {STUDY_METHODS[key].description}"
        for key in STUDIES[name].methods
    )
    st.markdown(methods)
