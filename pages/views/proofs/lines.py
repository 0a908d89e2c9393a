"""The lines of a derivation on the page: verdict, formula, words and three values each."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from pages.app.markdown import in_colors, mark, show_note
from pages.views.proofs.words import amount, number, with_reach
from ultr_core.errors import InputError
from ultr_core.proofs import Line, Proof, SmallWorld, Walk
from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.users import times
from ultr_core.words import counted

MOST_SHOWN = 32

RELATIONS = {"": "", "=": r"=\;", "≤": r"\le\;"}


def show_lines(walk: Walk, users: int, predicted: dict[int, Fraction] | None) -> None:
    """All lines from the first to the last; one that fails stands in a frame."""
    for place, line in enumerate(walk.lines, start=1):
        with st.container(border=not line.holds, key=f"line-{place}"):
            formula, words = st.columns([0.42, 0.58], gap="small", vertical_alignment="center")
            shown = in_colors(line.formula)
            formula.markdown(rf"$\displaystyle {RELATIONS[line.relation]}{shown}$")
            with words, st.container(gap="xxsmall"):
                st.markdown(f"{_verdict(line, place, predicted)} · {_values(line, users)}")
                st.markdown(_words(line))
    for note in walk.notes:
        st.markdown(f":material/info: {note}")


def show_claim(proof: Proof) -> None:
    """What is claimed, and what makes it fail."""
    st.markdown(
        f"**Claim:** {proof.statement}  \n**It fails when** {proof.fails_when}  \n"
        "**How to read a line:** “every pattern” is the sum over all click patterns, weighted "
        "by their exact probabilities; “formula” is the line itself, worked out in fractions; "
        "“users” is the value for simulated users, with a 95% interval."
    )


def show_patterns(world: SmallWorld) -> None:
    """The click patterns behind the exact numbers, the likeliest first."""
    try:
        law = click_law(world.users)
    except InputError as error:
        show_note(error)
        return
    losses = times(world.query.new, world.inverse)
    likeliest = sorted(range(len(law.patterns)), key=lambda i: -law.weights[i])[:MOST_SHOWN]
    rows = []
    for index in likeliest:
        clicked = law.clicked(index)
        rows.append(
            {
                "Clicked": " ".join(sorted(LETTERS[d] for d in clicked)) or "nothing",
                "Probability": number(law.probability(index)),
                "Weighted loss of S₁": number(law.total(index, losses)),
            }
        )
    st.markdown(
        f"{len(law.patterns):,} patterns can happen"
        + (f"; the {MOST_SHOWN} likeliest:" if len(law.patterns) > MOST_SHOWN else ":")
    )
    st.table(rows, alt="Click patterns with their probabilities")


def _verdict(line: Line, place: int, predicted: dict[int, Fraction] | None) -> str:
    star = "\\*" if line.starred else ""
    head = f"**Line {place}{star}**"
    if not line.relation:
        return f"{head} starts" if place == 1 else f"{head}, a new quantity"
    if line.holds:
        more = f", larger by {number(line.error)}" if line.relation == "≤" else ""
        return f"{mark('holds')} {head} holds{more}"
    text = f"{mark('does not hold')} {head} :red-background[**fails by {amount(line.error)}**]"
    if predicted and place in predicted:
        exactly = "exactly" if predicted[place] == line.error else "but"
        text += f", {exactly} the predicted {amount(predicted[place])}"
    return text


def _values(line: Line, users: int) -> str:
    value = line.value
    closed = f"formula **{number(value.closed)}**"
    if value.enumerated is None:
        parts = [closed]
    elif line.agrees:
        parts = [f"every pattern = {closed}"]
    else:
        parts = [f"every pattern **{number(value.enumerated)}** ≠ {closed}"]
    if value.estimate is not None:
        parts.append(f"{counted(users, 'user')} **{with_reach(value.estimate)}**")
    return " · ".join(parts)


def _words(line: Line) -> str:
    text = line.words
    if line.assumes:
        text += f" *Uses:* {line.assumes}."
    if line.aside:
        text += f" ({line.aside})"
    return text
