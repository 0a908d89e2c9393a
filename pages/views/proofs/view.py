"""The proofs: every line in numbers, switches that break it, users that arrive one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_settings
from pages.app.field_control import choose, control
from pages.app.frame import show_figure
from pages.app.markdown import show_note, told
from pages.app.steps import show_steps
from pages.views.proofs import stages
from pages.views.proofs.lines import show_claim, show_lines, show_patterns
from pages.views.proofs.user import PLAYING, watch
from pages.views.proofs.words import STEPS, headline
from pages.views.proofs.world import break_switches, edit_query, mend, show_query
from ultr_core.errors import InputError
from ultr_core.figures.proofs import errors_fall, noisy_hinge_curve, race_figure, settling
from ultr_core.jobs.proofs import PROOF, USERS, VIEW, switch_key
from ultr_core.lab import small_world
from ultr_core.proofs import BREAKS, DERIVATIONS, SmallWorld
from ultr_core.proofs.monte_carlo import MOST_USERS
from ultr_core.proofs.predictions import failures_foretold
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.users import dot, times
from ultr_core.settings import Settings
from ultr_core.words import counted, with_minus

CLEAN = ("ips-unbiased", "risk-converges")  # derivations of section 4, without click noise
GAPS = tuple(Fraction(i, 40) for i in range(61))


def show(page: PageContext) -> None:
    """Lay out the page: verdict, switches and query, lines, then what users do."""
    settings = require_settings(page)
    verdict = st.container(key=lecture.HEADLINE)
    name, users = _choose()
    broken = _switches()
    lines = st.container(key="lines", gap="small")
    st.subheader("The query behind these numbers")
    picture, editor = st.columns(2, gap="medium")
    with editor:
        texts = edit_query()
    try:
        world = small_world(settings, {**texts, "broken": " ".join(broken)})
    except InputError as error:
        verdict.warning(told(error), icon=":material/error:")
        st.stop()
    walk = stages.walk(world, name, users, settings.seed)
    verdict.markdown(headline(DERIVATIONS[name], walk, world, settings))
    with lines:
        show_lines(walk, users, failures_foretold(world, name))
        show_claim(DERIVATIONS[name])
        with st.expander("Every click pattern with its probability", key="patterns"):
            show_patterns(world.clean if name in CLEAN else world)
    with picture:
        show_query(world)
    _more(world, settings, name, users)
    show_steps(STEPS, "step", _apply)


def _choose() -> tuple[str, int]:
    """Which derivation, and how many users have come."""
    claim, count, button = st.columns([0.56, 0.22, 0.22], vertical_alignment="bottom")
    with claim:
        name = choose(PROOF, kind="box")
    with count:
        users = int(control(USERS))
    with button:
        more = min(9 * users, stages.BLOCK, MOST_USERS - users)
        st.button(
            f"Draw {more:,} more", key="draw_more", icon=":material/group_add:", type="primary",
            disabled=more == 0, on_click=_draw_more, args=(more,), width="stretch",
        )  # fmt: skip
    return name, users


def _switches() -> tuple[str, ...]:
    """The assumptions to break; the names of those that are broken."""
    with st.container(key="switches", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Break an assumption:**", width="content")
            st.button(
                "Restore all assumptions", key="mend", icon=":material/healing:", type="tertiary",
                on_click=mend,
            )  # fmt: skip
        return break_switches()


def _draw_more(more: int) -> None:
    st.session_state["users"] = int(st.session_state["users"]) + more


def _more(world: SmallWorld, settings: Settings, name: str, users: int) -> None:
    st.subheader("See it happen")
    view = choose(VIEW, label_visibility="collapsed")
    if view != "user":
        st.session_state[PLAYING] = False
    if view == "arrive":
        _users_arrive(world, settings, name, users)
    elif view == "user":
        watch(world, settings.seed)
    elif view == "race":
        _naive_against_weighted(world, settings)
    else:
        _noise_and_svm(world)


def _users_arrive(world: SmallWorld, settings: Settings, name: str, users: int) -> None:
    clean = name in CLEAN
    weights = tuple(times(world.query.new, world.inverse))
    at, mean, error = stages.running(world, users, settings.seed, weights, clean=clean)
    intact = world.clean if clean else world
    claimed = dot(world.query.new, intact.constant_noise)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(
            f"**The weighted loss of S₁{', without click noise' if clean else ''}**, averaged over "
            f"{counted(users, 'user')}, with its 95% interval. Draw more users and watch it "
            "converge."
        )
        show_figure(
            partial(
                settling, at, mean, error, expected=float(intact.users.mean(weights)),
                claimed=float(claimed),
            )
        )  # fmt: skip
    with right:
        _convergence(world, settings, clean=clean)


def _convergence(world: SmallWorld, settings: Settings, *, clean: bool) -> None:
    """How far the estimate beside it is from the claim, on the same clicks."""
    try:
        found = stages.errors(world, settings.seed, clean=clean)
    except InputError as error:
        show_note(error)
        return
    slope = with_minus(f"{found.slope:.2f}")
    words = (
        "it falls as 1/√N"
        if found.is_unbiased
        else "a bias remains, however many users there are; without it the slope would be −0.50"
    )
    st.markdown(
        f"**Error against the number of users{', without click noise' if clean else ''}**, "
        f"measured as the distance from the claimed value: slope **{slope}**, {words}. Line and "
        "band: exact prediction; marks: 400 repetitions each."
    )
    show_figure(partial(errors_fall, found))


def _naive_against_weighted(world: SmallWorld, settings: Settings) -> None:
    try:
        found = stages.competition(world, settings.seed)
    except InputError as error:
        show_note(error)
        return
    if found.predicted is None or found.predicted_clicks is None:
        text = (
            "**In this world weighting never overtakes the naive estimate**, either because its "
            "bias or variance is too large, or because it is ahead from the first click."
        )
    else:
        seen = "beyond the range of the chart" if found.observed_clicks is None else (
            f"after {counted(found.observed_clicks, 'click')}"
        )  # fmt: skip
        clicks = counted(found.predicted_clicks, "click")
        text = (
            f"**Predicted: weighting is ahead of the naive estimate after {clicks}** (about "
            f"{counted(math.ceil(found.predicted), 'user')}). Seen in the simulation: "
            f"{seen}. This race uses one query with a handful of documents; on the Lab's corpus, "
            "where rankers are trained, weighting needs many more clicks."
        )
    st.markdown(
        f"{text} Lines: exact mean squared error of the estimated difference R(S₁) − R(S₂). "
        "Marks: 1,000 repetitions."
    )
    show_figure(partial(race_figure, found))


def _noise_and_svm(world: SmallWorld) -> None:
    st.latex(
        r"\text{noisy hinge}=(\epsilon_+-\epsilon_-)\,\text{clean hinge}"
        r"+\epsilon_-\sum_{i<j}\max(2,\,1+|s_i-s_j|)"
    )
    st.markdown(
        "For ranks, noise adds a constant, so the order is preserved. The SVM minimises the hinge "
        "loss instead: once the scores of neighbours in S₁ differ by more than "
        f"1/{world.query.size - 1}, some pairs of documents have score gaps above 1, and noise, "
        "like a regulariser, penalises such gaps. "
        f"**{noisy_hinge_curve(world, GAPS).alt}**"
    )
    best = LETTERS[world.query.new.index(1)]
    st.button(
        f"Make only {best} relevant (first in S₁)", key="only_best", on_click=_only_relevant,
        args=(best,), icon=":material/star:",
    )  # fmt: skip
    show_figure(partial(noisy_hinge_curve, world, GAPS))


def _only_relevant(letter: str) -> None:
    st.session_state["relevant"] = [letter]


def _apply(step: tuple[str, str]) -> None:
    """Callback: the step's derivation with exactly its assumption broken."""
    proof, broken = step
    for name in BREAKS:
        st.session_state[switch_key(name)] = name == broken
    st.session_state["proof"] = proof
    if proof not in CLEAN and st.session_state["eps_minus"] == 0:
        st.session_state["eps_minus"] = Settings().eps_minus
