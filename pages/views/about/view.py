"""The corpus, your own data, references, and where the conventions stand."""

from __future__ import annotations

import streamlit as st

from pages.app.boot import versions
from pages.app.context import PageContext
from pages.app.markdown import plain
from pages.app.registry import CLAIMS
from ultr_core.content import read
from ultr_core.errors import named
from ultr_core.jobs.claims import PART
from ultr_core.learners.blas_threads import blas_threads

WORDS = read(__file__, "about")


def show(page: PageContext) -> None:
    """Draw the page."""
    for section in WORDS.parts("sections"):
        st.subheader(section.text("heading"))
        st.markdown(section.text("text"))

    st.subheader("What the numbers mean")
    st.page_link(
        CLAIMS.file,
        label="Conventions, errata and open questions in the paper, with numbers",
        icon=CLAIMS.icon,
        query_params={PART.key: "readings"},
    )

    st.subheader("References")
    st.markdown("\n".join(f"- {reference}" for reference in WORDS.texts("references")))

    st.subheader("This server")
    corpus = page.launch.corpus or "the built-in synthetic corpus"
    st.markdown(f"Corpus: {plain(named(corpus))}. {versions()}. BLAS threads: {blas_threads()}.")
