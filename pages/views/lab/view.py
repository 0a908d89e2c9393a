"""The main page: clicks in, estimates and rankers out, with the proof beside them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from pages.app import lecture, link
from pages.app.context import PageContext, require_lab, require_world
from pages.app.field_control import choose
from pages.app.frame import offer_files, save_figure, show_chart, show_figure, theme
from pages.app.markdown import in_colors, told, whole_equations
from pages.app.slots import AnswerSlots, Slot, first_time
from pages.app.turns import FIRST_CELLS, Training
from pages.views.lab import pins, words
from pages.views.lab.checks import show_checks, summary
from pages.views.lab.users import users_panel
from ultr_core.errors import InputError
from ultr_core.figures import (
    Figure,
    Quantity,
    Scale,
    Theme,
    comparison_figure,
    estimates_figure,
    examination_figure,
)
from ultr_core.jobs.compare import ESTIMATES, EXAMINATION
from ultr_core.lab import METHODS, Comparison, Lab, RiskPicture
from ultr_core.lab import headline as found_by
from ultr_core.risk import NO_INTERVAL, Estimate
from ultr_core.settings import Settings
from ultr_core.words import with_minus

WAITING = ":shimmer[Users are clicking …]"
CHECKING = ":shimmer[Checking the paper's claims …]"

NOTICEABLE = 0.15  # seconds after which a partial picture is worth sending


def show(page: PageContext) -> None:
    """Lay out the page, show what is quick, then fill in draw by draw."""
    lab = require_lab(page)
    settings = lab.settings
    headline = lecture.headline()
    with st.container(key="panels"):
        users, estimates, rankers = (
            st.container(key=key, gap="xsmall")
            for key in ("panel-users", "panel-estimates", "panel-rankers")
        )
    verdict = Slot(st.container(key="verdict"))
    first = first_time("lab_was_shown")
    # Numbers of the former settings must not stand beside new ones.
    headline.markdown(WAITING)
    verdict.markdown(CHECKING)
    require_world(lab, headline, verdict)
    with users:
        st.subheader("Users", help=words.USERS_HELP)
        users_panel(lab)
    picture = lab.first_picture()
    headline.markdown(f"**{found_by(picture)}**")
    with estimates:
        show_all_intervals = _estimates_panel(lab, picture)
    with rankers:
        slots = _rankers_panel(first)
    order = Training(lab)
    # What is there already is shown once, at the end.
    trained = order.complete or _train(order, slots, first=0, last=FIRST_CELLS)
    answered = trained and _check(order, verdict)
    below = Slot(st.container(key="outcome"))
    compared = st.container(key="pins")
    _estimates_section(picture)
    _examination_section(settings)
    _formula_section(settings, picture)
    _steps_section()
    slots = replace(slots, headline=below, answer=_answer())
    finished = answered and _train(order, slots, first=FIRST_CELLS, last=len(order.plan))
    if finished or order.refused is not None:
        show_all_intervals(order.refused is None)  # else it is said once, below the rankers
    if finished:
        found = lab.comparison(order.plan)
        if both := words.two_orders(picture, found):
            below.markdown(f"**{found.sentence}**  \n{both}")
        with compared:
            pins.section(found)
            pins.fetch(lab)
    elif order.refused is not None:
        without_rankers = () if trained else (slots.chart,)
        for slot in without_rankers if answered else (*without_rankers, verdict, slots.answer):
            if slot is not None:
                slot.place().empty()  # it announces what will not come
        if order.complete and not answered:
            _show_so_far(order, slots, len(order.plan))
        slots.below_chart.place().error(told(order.refused), icon=":material/error:")
    else:
        with slots.below_chart.place().container():
            order.come_back(answered=answered)


def _estimates_panel(lab: Lab, picture: RiskPicture) -> Callable[[bool], None]:
    """The picture, and the switch to the absolute scale.

    Returns what shows it again with the intervals of all rankers, for those who point at a mark;
    where these cannot be had, it may say why.
    """
    with st.container(horizontal=True, key="estimates-head"):
        st.subheader("Estimates", help=words.ESTIMATES_HELP)
        chosen = cast(Scale, choose(ESTIMATES, label_visibility="collapsed"))
    right = lab.settings.belief_is_right

    def whole() -> tuple[RiskPicture, InputError | None]:
        try:
            return lab.picture(), None
        except InputError as error:
            return picture, error

    def draw(shown: RiskPicture | None = None, *, theme: Theme) -> Figure:
        return estimates_figure(shown or whole()[0], chosen, belief_is_right=right, theme=theme)

    figure = draw(picture, theme=theme())
    frame = st.container(key=f"figure-{figure.name}")
    with frame:
        place = show_chart(figure, fills=True)
    offer_files(figure, draw)

    def show_all_intervals(say_why_not: bool) -> None:
        found, refused = whole()
        if refused is not None and say_why_not:
            frame.error(told(refused), icon=":material/error:")
        if found is not picture:
            show_chart(draw(found, theme=theme()), place, fills=True)

    return show_all_intervals


def _rankers_panel(first: bool) -> AnswerSlots:
    st.subheader("Rankers", help=words.RANKERS_HELP)
    with st.container(key="figure-trained-rankers"):
        chart = Slot()
    below = Slot()
    if first:
        chart.place().skeleton(height=340)
    return AnswerSlots(None, chart, below)


def _estimates_section(picture: RiskPicture) -> None:
    """How well each estimate orders the sixty rankers."""
    st.subheader("Do the estimates put sixty rankers in the right order?")
    found = (
        f"- {counted_as}: Kendall's τ = **{with_minus(f'{estimates.kendall:.2f}')}**. "
        f"{words.preference(picture, estimates)}"
        for counted_as, estimates in (
            ("**Naive**: every click counts once", picture.naive),
            ("**Weighted**: a click counts 1/p times", picture.weighted),
        )
    )
    st.markdown(whole_equations("\n".join(found)))


def _train(order: Training, slots: AnswerSlots, *, first: int, last: int) -> bool:
    """Show ``order.plan[first:last]`` cell by cell as it is trained; False to come back later.

    Every message to the page between two cells is a point at which a new slider value takes
    over.
    """
    painted = time.monotonic()
    cells = order.plan
    for done in range(first, last):
        draw, method = cells[done]
        while not order.ready(done, NOTICEABLE):
            if order.leave():
                if done >= FIRST_CELLS:
                    _show_so_far(order, slots, done)
                return False
            slots.below_chart.place().progress(
                done / len(cells),
                f"Click log {draw + 1} of {order.lab.settings.draws}: "
                f"training {METHODS[method].label} …",
            )
        # Two draws give an interval so wide that the axis would jump for a moment.
        worth_showing = method != "naive" and draw != 1
        if done + 1 == last or (worth_showing and time.monotonic() - painted > NOTICEABLE):
            _show_so_far(order, slots, done + 1)
            painted = time.monotonic()
    return True


def _show_so_far(order: Training, slots: AnswerSlots, done: int) -> None:
    """The rankers after the first ``done`` cells of the plan."""
    comparison = order.lab.comparison(order.plan[:done])
    _show_rankers(comparison, slots, complete=done == len(order.plan))


def _check(order: Training, verdict: Slot) -> bool:
    """The proof checks, and their verdict on top of the page; False to come back later."""
    while not order.checked(NOTICEABLE):
        if order.leave():
            return False
        verdict.markdown(CHECKING)
    checks = [{**check.as_dict(), "formula": check.proof.formula} for check in order.lab.checks()]
    verdict.markdown(summary(checks, words.broken_assumptions(order.lab.settings)))

    st.fragment(show_checks)(checks)
    return True


def _show_rankers(comparison: Comparison, slots: AnswerSlots, *, complete: bool) -> None:
    draw = partial(comparison_figure, comparison, pinned=pins.beside(comparison))
    figure = draw(theme=theme())
    for slot in (slots.headline, slots.answer):
        if slot is not None:
            slot.markdown(f"**{comparison.sentence}**")
    show_chart(figure, slots.chart.place(), fills=True)
    if complete:
        with slots.below_chart.place().container(gap="xsmall"):
            with st.container(horizontal=True):
                st.fragment(save_figure)(figure.name, figure.title, draw)
                st.fragment(_numbers_of)(comparison)
                pins.button(comparison)
            if told_pins := pins.told_beside(comparison):
                st.markdown(f":small[{told_pins}]")


def _numbers_of(comparison: Comparison) -> None:
    """The numbers; made when they are opened."""
    opened = st.popover(
        "Numbers", icon=":material/table:", type="tertiary", key="numbers", on_change="rerun",
        help="Intervals, mean ranks, C and clipping.",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        st.table(_numbers(comparison), alt="Test risk and mean rank of every ranker")
        spread = f"Intervals: 95%, from the spread over {comparison.draws} click logs."
        st.markdown(
            "Risk: mean over the test queries of the summed ranks of relevant documents. "
            "Mean rank: the mean of the ranks of the relevant documents. "
            f"{spread if comparison.draws > 1 else NO_INTERVAL} "
            "C and the threshold τ of the clipped ranker are chosen on the validation clicks of "
            "each log, so the choice is noisy with few clicks. With τ = 1 every click counts once "
            "(naive); τ = 0 clips nothing."
        )


def _numbers(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "Ranker": summary.label,
            "Risk": f"{summary.risk.value:.4f}",
            "Risk, 95%": _interval(summary.risk),
            "Mean rank": f"{summary.mean_rank.value:.4f}",
            "Mean rank, 95%": _interval(summary.mean_rank),
            "C": ", ".join(f"{cost:g}" for cost in summary.costs),
            "Clipping τ": ", ".join(f"{clip:g}" for clip in summary.clips),
        }
        for summary in comparison.rankers.values()
    ]


def _interval(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return ""
    return with_minus(f"{estimate.low:.4f} to {estimate.high:.4f}")


def _examination_section(settings: Settings) -> None:
    st.subheader("How far down users look, and what each click counts")
    quantity = cast(Quantity, choose(EXAMINATION, label_visibility="collapsed"))
    show_figure(
        partial(examination_figure, settings, quantity),
        above=words.at_rank_ten(settings, quantity),
    )


def _formula_section(settings: Settings, picture: RiskPicture) -> None:
    st.subheader("The formulas with these numbers")
    with st.container(key="formulas", gap="medium"):
        _formulas(*words.estimate_formulas(settings))
        _formulas(words.law_formula(settings, picture), below=words.law_condition(settings))
    st.markdown(words.sample_sentence(picture))


def _formulas(*formulas: str, below: str = "") -> None:
    """Formulas below each other, as one element: a class that moves its sliders pays for each."""
    st.markdown("\n\n".join([*(f"$$\n{in_colors(formula)}\n$$" for formula in formulas), below]))


def _steps_section() -> None:
    st.subheader("Try these (each starts from the default settings)")
    with st.container(key="steps"):
        for number, step in enumerate(words.STEPS):
            st.markdown(step.question)
            st.button(step.button, key=f"step-{number}", on_click=link.write, args=(step.sets,))


def _answer() -> Slot:
    """Below the steps, so that who presses a button there sees what it did."""
    answer = Slot()
    answer.markdown(":shimmer[The rankers are learning …]")
    return answer
