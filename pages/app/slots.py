"""Places on a page that are filled later, and keep what they showed until then."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


class Slot:
    """A place for one element that may be replaced while results come in.

    Unlike ``st.empty`` it does not blank what the previous run left there: the old picture stays,
    marked as stale by Streamlit, until the first new content. It is the only thing in its
    ``container``, where it is given one.
    """

    def __init__(self, container: DeltaGenerator | None = None) -> None:
        self._container = st.container() if container is None else container
        self._place: DeltaGenerator | None = None

    def markdown(self, words: str) -> None:
        """Put words there, with one message to the browser less than through ``place``."""
        if self._place is None:
            self._place = self._container.markdown(words)
        else:  # what this gives would be a child of the place, and the next one a child of that
            self._place.markdown(words)

    def place(self) -> DeltaGenerator:
        """Where to put the content; each use replaces the one before."""
        if self._place is None:
            self._place = self._container.empty()
        return self._place


@dataclass(frozen=True)
class AnswerSlots:
    """Places that are filled while rankers are trained, draw by draw.

    Here and not on a page: a class on a page is made again in every run of it.
    """

    headline: Slot | None
    chart: Slot
    below_chart: Slot
    answer: Slot | None = None


def first_time(key: str) -> bool:
    """True once in a session for each ``key``: nothing is on the page that could stay."""
    first = key not in st.session_state
    st.session_state[key] = True
    return first
