"""The world of a page, or the sentence that says why there is none."""

from __future__ import annotations

from contextlib import ExitStack

import streamlit as st

from pages.app.remedies import told
from pages.app.slots import Slot
from ultr_core.errors import InputError
from ultr_core.lab import Lab, world_notices


def require_world(lab: Lab, *waiting_words: Slot) -> None:
    """Build the world, or show the one sentence that says why it cannot be built.

    Then nothing is awaited any more, and the places of the waiting words are emptied.
    """
    spinner = st.spinner("Building the corpus and its rankers, once …")
    try:
        with ExitStack() as waiting:
            world = lab.telling(lambda _: waiting.enter_context(spinner)).world()
        notices = world_notices(world, lab.settings)
    except InputError as error:
        for words in waiting_words:
            words.place().empty()
        st.error(told(error), icon=":material/error:")
        st.stop()
    for notice in notices:
        st.markdown(f":material/info: {told(notice)}")
