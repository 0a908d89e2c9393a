"""The live experiment: collect, swap, train, interleave, test; and how interleaving can err."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_lab
from pages.app.field_control import control
from pages.app.frame import show_figure
from pages.app.markdown import show_error, show_note, told, whole_equations
from pages.app.steps import Step, set_controls, show_steps
from ultr_core.errors import InputError
from ultr_core.figures import live_curve_figure, win_share_figure
from ultr_core.jobs.live import LIVE, SIGN_TEST
from ultr_core.lab.interleaved_lists import (
    SCHEME,
    SCHEMES,
    click_on,
    exact_verdicts,
    one_random_click,
)
from ultr_core.lab.live import PAPER_CLICKS, SMOOTHING_BIAS, LiveDesign, LiveResult
from ultr_core.risk.sign_test import sign_test, traffic_words
from ultr_core.words import counted

RANKERS = {
    "production": "Production, hand-set weights",
    "naive": "Naive",
    "propensity": "Propensity-weighted",
}
STEPS: tuple[Step[Mapping[str, Any]], ...] = (
    Step(
        "**Would as many queries as in the paper have shown a difference here?** The paper "
        "compared the weighted ranker with the production ranker (Prod) on 218 queries; it does "
        "not say whether its ties include queries without clicks. If all 218 had clicks, the "
        "equivalent here is 370 queries, since six in ten get clicks.",
        "Interleave 370 queries",
        {"live_queries": 370},
    ),
    Step(
        "**Does another interleaving method agree?** Team draft judges by teams instead of by "
        "depth.",
        "Use team draft",
        {"live_scheme": "team-draft"},
    ),
    Step(
        "**What do fewer clicks do to the weights?** The paper had 7,192 clicks in 21 days; the "
        "nearest setting here is 9,000.",
        "Collect 9,000 clicks",
        {"clicks": 9_000},
    ),
)


def show(page: PageContext) -> None:
    """Lay out the page: reading, design, win shares, stages, sign test, demonstration."""
    lab = require_lab(page)
    headline = lecture.headline()
    design = _design()
    try:
        with st.spinner("Simulating three weeks of traffic, a week of swaps and two contests …"):
            result = lab.live(design)
    except InputError as error:
        show_error(error)
        st.stop()
    headline.place().markdown(f"**{result.headline}**")
    st.subheader("Which ranker wins when two rankings are mixed and users click?")
    show_figure(partial(win_share_figure, result))
    _reading(result)
    _numbers(result)
    _curve_section(result)
    _sign_test_section()
    _demonstration_section()
    show_steps(STEPS, "live-step", set_controls)


def _design() -> LiveDesign:
    with st.container(key="live-design"):
        grid = st.grid(len(LIVE), min_column_width=150)
        values = {}
        for field in LIVE:
            with grid.cell():
                values[field.name] = control(field)
    return LiveDesign(**values)


def _reading(result: LiveResult) -> None:
    for contest in result.contests:
        if contest.test.decided == 0:
            st.markdown(f"**{contest.sentence}**")
            continue
        share = contest.test.win_share
        traffic = (
            "No amount of traffic makes 80% of such experiments significant"
            if share == 0.5
            else "Traffic needed for 80% of such experiments to be significant: "
            f"{traffic_words(share)}"
        )
        words = (
            f"**{contest.sentence}** {contest.null_sentence} The relative risk (share of losses "
            "among decided queries, divided by one half) is "
            f"{contest.test.relative_risk:.2f}. {traffic}; with as many decided queries as the "
            f"paper had, {contest.paper_power:.0%} would be significant."
        )
        st.markdown(words)


def _numbers(result: LiveResult) -> None:
    design, clicks = result.design, result.clicks
    with st.expander("The stages in numbers"):
        st.markdown(
            f"- {counted(design.days, 'day')} of clicks on the production ranking: "
            f"{clicks['training']:,} in the first {design.training_days} for training, "
            f"{clicks['validation']:,} in the last {design.validation_days} for choosing C; the "
            f"paper had {PAPER_CLICKS:,} in all.\n"
            f"- {counted(design.swap_days, 'day')} of swaps: {counted(clicks['swaps'], 'click')}.\n"
            "- Both rankers are retrained on the clicks of all days with the chosen C, then "
            "interleaved on new queries."
        )
        st.table(
            [
                {
                    "Ranker": RANKERS[name],
                    "Test risk (lower is better)": f"{risk:.2f}",
                    "C": f"{result.costs[name]:g}" if name in result.costs else "–",
                }
                for name, risk in result.test_risk.items()
            ],
            alt="Test risk and C for the three rankers",
        )
        for notice in result.notices:
            st.markdown(f"- {told(notice)}")


def _curve_section(result: LiveResult) -> None:
    st.subheader("The propensities that were used")
    st.markdown(
        "Swap ratios with their intervals, smoothed with the overall click rates; below rank "
        f"{result.design.last_rank} the last value is used. Click rates fall faster than "
        "examination, because relevant documents are at the top: the more smoothing, the steeper "
        "the curve. "
        f"{SMOOTHING_BIAS}"
    )
    show_figure(partial(live_curve_figure, result))


def _sign_test_section() -> None:
    st.subheader("The sign test, with any counts")
    columns = st.columns(3, gap="medium")
    counts = []
    for column, field in zip(columns, SIGN_TEST, strict=True):
        with column:
            counts.append(int(control(field, keep=True)))
    try:
        test = sign_test(*counts)
    except InputError as error:
        show_note(error)
        return
    traffic = traffic_words(test.win_share)
    words = (
        f"**{test.sentence}** The relative risk (share of losses among decided queries, divided by "
        f"one half) is {test.relative_risk:.3f}. Power at this share: {test.power:.0%}; traffic "
        f"needed for 80%: {traffic}. The paper's table, 87 / 48 / 83 and 95 / 60 / 102, gives "
        "p = 0.0009995 and 0.006133."
    )
    st.markdown(whole_equations(words))


def _demonstration_section() -> None:
    st.subheader("How interleaving itself can go wrong")
    a, b = ("\N{NO-BREAK SPACE}".join(documents) for documents in ("abc", "bca"))
    st.markdown(
        whole_equations(
            f"Two rankings of three documents, **A = {a}** and **B = {b}**. Every coin toss and "
            "every click is enumerated, so the results are exact."
        )
    )
    users = {
        "clicks one document at random": one_random_click,
        "wants only c and finds it": click_on("c"),
    }
    rows = []
    for who, clicks in users.items():
        for scheme in SCHEMES:
            verdict = exact_verdicts("abc", "bca", clicks, scheme)
            rows.append(
                {
                    "User": who,
                    "Interleaving": SCHEME.options[scheme],
                    "A wins": _exactly(verdict.a),
                    "B wins": _exactly(verdict.b),
                    "Tie": _exactly(verdict.tie),
                }
            )
    st.table(rows, alt="Exact verdicts of three interleaving methods on two rankings")
    st.markdown(
        "The user who clicks at random has no preference, yet balanced interleaving lets B win "
        "two times out of three. With probabilistic interleaving B also wins more often than A, "
        "but by a smaller margin each time: the mean score is 0. The user who wants c is better "
        "served by B; balanced interleaving always detects this, probabilistic interleaving does "
        "so in most decided queries, and team draft never does."
    )


def _exactly(probability: Fraction) -> str:
    """A short fraction as it is, a long one in three decimals."""
    return str(probability) if probability.denominator < 100 else f"{float(probability):.3f}"
