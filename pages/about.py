"""The corpus, your own data, references, and where the conventions stand."""

from __future__ import annotations

import streamlit as st

from pages.shared import about_words, shell
from pages.shared.boot import versions
from pages.shared.plain_words import plain
from pages.shared.registry import CLAIMS
from ultr_core.errors import named
from ultr_core.export.claims_values import PART
from ultr_core.learners.blas_threads import blas_threads

page = shell.enter()

for heading, text in about_words.SECTIONS.items():
    st.subheader(heading)
    st.markdown(text)

st.subheader("What the numbers mean")
st.page_link(
    CLAIMS.file,
    label="Conventions, misprints and open questions of the paper, with numbers",
    icon=CLAIMS.icon,
    query_params={PART.key: "readings"},
)

st.subheader("References")
st.markdown("\n".join(f"- {reference}" for reference in about_words.REFERENCES))

st.subheader("This server")
corpus = page.launch.corpus or "the built-in synthetic one"
st.markdown(f"Corpus: {plain(named(corpus))}. {versions()}. BLAS threads: {blas_threads()}.")
