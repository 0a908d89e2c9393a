"""The main page: clicks in, estimates and rankers out, with the proof beside them."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from pages.app import lecture, link
from pages.app.context import PageContext, require_lab, require_world
from pages.app.field_control import choose
from pages.app.frame import Draw, save_figure, show_chart, show_figure, theme
from pages.app.markdown import told
from pages.app.slots import AnswerSlots, Slot, first_time
from pages.app.turns import FIRST_CELLS, Training
from pages.views.lab import pins, words
from pages.views.lab.checks import show_checks, summary
from ultr_core.figures import (
    Quantity,
    comparison_figure,
    examination_figure,
    risk_figure,
)
from ultr_core.jobs.compare import LAB
from ultr_core.lab import METHODS, Comparison, RiskPicture
from ultr_core.risk import NO_INTERVAL, Estimate
from ultr_core.settings import Settings

NOTICEABLE = 0.15  # seconds after which a partial picture is worth sending


def show(page: PageContext) -> None:
    """Lay out the page, show what is quick, then fill in draw by draw."""
    lab = require_lab(page)
    settings = lab.settings
    headline = lecture.headline()
    verdict = Slot(st.container(key="verdict"))
    first = first_time("lab_was_shown")
    # Numbers of the former settings must not stand beside new ones.
    headline.markdown(":shimmer[Users are clicking and rankers are learning …]")
    verdict.markdown(":shimmer[Checking the paper's claims …]")
    require_world(lab, headline, verdict)
    # From a page's first picture to its last: many at once slow each other down and are all late.
    with lab.store.turn("painting"):
        picture = lab.picture()
        _risk_section(picture)
    st.subheader("Trained rankers: which one would you rather use?")
    with st.container(key="figure-trained-rankers", gap="xsmall"):
        slots = AnswerSlots(headline, Slot(), Slot())
    compared = st.container(key="pins")
    if first:
        slots.chart.place().skeleton(height=340)
    order = Training(lab)
    # What is there already is shown once, at the end.
    trained = order.complete or _train(order, slots, first=0, last=FIRST_CELLS)
    with st.container():
        answered = trained and _check(order, verdict)
    _examination_section(settings)
    _formula_section(settings, picture)
    _steps_section()
    answer = _answer()
    slots = replace(slots, answer=answer)
    finished = answered and _train(order, slots, first=FIRST_CELLS, last=len(order.plan))
    if finished:
        found = lab.comparison(order.plan)
        if both := words.two_orders(picture, found):
            headline.markdown(f"**{found.sentence}**  \n{both}")
        with compared:
            pins.section(found)
    elif order.refused is not None:
        without_rankers = () if trained else (headline, slots.chart)
        for slot in without_rankers if answered else (*without_rankers, verdict, answer):
            slot.place().empty()  # it announces what will not come
        slots.below_chart.place().error(told(order.refused), icon=":material/error:")
    else:
        with slots.below_chart.place().container():
            order.come_back(answered=answered)


def _risk_section(picture: RiskPicture) -> None:
    st.subheader(
        "Empirical against true risk: does the estimate rank sixty rankers rightly?",
        help="Each mark is a ranker that has seen no click. Upright bars are 95% intervals, the "
        "thin line joins the exact expectations, the dashed line is E[R_IPS] = slope R + "
        "intercept. Kendall's τ compares the order: 1 is the true order, 0 chance. "
        "All of it is over the training queries, whose clicks were logged; the risks of the "
        "trained rankers below are over the test queries, so their numbers differ.",
    )
    panels = (
        ("naive", "**Naive**: every click counts 1", picture.naive),
        ("propensity", "**Weighted**: a click counts 1/p", picture.weighted),
    )
    with st.container(key="risks", gap="medium"):
        for method, counted, estimates in panels:
            finding = (
                f"{counted}. Kendall's τ = **{estimates.kendall:.2f}**.  \n"
                f"{words.preference(picture, estimates)}"
            )
            show_figure(partial(risk_figure, picture, method), above=finding)


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
        verdict.markdown(":shimmer[Checking the paper's claims …]")
    checks = [{**check.as_dict(), "formula": check.proof.formula} for check in order.lab.checks()]
    verdict.markdown(summary(checks, words.broken_assumptions(order.lab.settings)))
    st.subheader("Proof checks: the paper's claims, measured in this world")
    show_checks(checks)
    return True


def _show_rankers(comparison: Comparison, slots: AnswerSlots, *, complete: bool) -> None:
    draw = partial(comparison_figure, comparison)
    figure = draw(theme=theme())
    for slot in (slots.headline, slots.answer):
        if slot is not None:
            slot.markdown(f"**{comparison.sentence}**")
    show_chart(figure, slots.chart.place())
    if complete:
        with slots.below_chart.place().container(gap="xsmall"):
            st.fragment(_below_rankers)(figure.name, figure.title, draw, comparison)


def _below_rankers(name: str, title: str, draw: Draw, comparison: Comparison) -> None:
    """Files and numbers; both are made when they are opened, without another run of the page."""
    save_figure(name, title, draw)
    opened = st.expander(
        "Numbers: intervals, mean ranks, C and clipping", key="numbers", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        st.table(_numbers(comparison), alt="Test risk and mean rank of every ranker")
        spread = f"Intervals: 95%, from the spread over {comparison.draws} click logs."
        st.markdown(
            "Risk: mean over the test queries of the summed ranks of relevant documents. "
            f"Mean rank: per relevant document. {spread if comparison.draws > 1 else NO_INTERVAL} "
            "C, and the threshold τ of the clipped ranker: chosen "
            "on validation clicks, one a log, so that with few clicks the choice is noisy, too; "
            "τ = 1 makes every click count 1 (naive), τ = 0 clips nothing."
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
    return f"{estimate.low:.4f} to {estimate.high:.4f}" if estimate.low < estimate.high else ""


def _examination_section(settings: Settings) -> None:
    st.subheader("Who looks how far down, and what a click weighs")
    (value,) = LAB
    quantity = cast(Quantity, choose(value, label_visibility="collapsed"))
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
    st.markdown("\n\n".join([*(f"$$\n{formula}\n$$" for formula in formulas), below]))


def _steps_section() -> None:
    st.subheader("Try this, each from the lab's first world")
    with st.container(key="steps"):
        for number, step in enumerate(words.STEPS):
            st.markdown(step.question)
            st.button(step.button, key=f"step-{number}", on_click=link.write, args=(step.sets,))


def _answer() -> Slot:
    """Below the steps, so that who presses a button there sees what it did."""
    answer = Slot()
    answer.markdown(":shimmer[The rankers are learning …]")
    return answer
