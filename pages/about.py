"""Conventions, readings of the paper, the corpus, and references."""

from __future__ import annotations

import streamlit as st

from pages.shared import about_words, shell
from pages.shared.boot import blas_threads, versions

page = shell.enter()

for heading, text in about_words.SECTIONS.items():
    st.subheader(heading)
    st.markdown(text)

st.subheader("How unclear places of the paper are read here")
st.table(about_words.READINGS, alt="Places of the paper and how they are read here")

st.subheader("References")
st.markdown("\n".join(f"- {reference}" for reference in about_words.REFERENCES))

st.subheader("This server")
corpus = page.launch.corpus or "the built-in synthetic one"
st.markdown(f"Corpus: {corpus}. {versions()}. BLAS threads: {blas_threads()}.")
