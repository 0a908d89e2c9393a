"""A page of texts from outside, each where the lab's pages show such: ``-- FILE`` has them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import streamlit as st

from pages.app.markdown import plain

texts: list[str] = json.loads(Path(sys.argv[-1]).read_text(encoding="ascii"))
few = texts[::10]

st.title("Texts")
with st.container(key="paragraphs"):
    st.markdown("\n\n".join(plain(text) for text in texts))
with st.container(key="items"):
    st.markdown("\n".join(f"- {plain(text)}" for text in texts))
with st.container(key="bold"):
    st.markdown("\n\n".join(f":material/info: **File {plain(text)}** ." for text in texts))
with st.container(key="html"):
    st.markdown(
        "\n\n".join(f"<b>\n\n{plain(text)}\n\n</b>" for text in texts), unsafe_allow_html=True
    )
with st.container(key="cells"):
    st.table([{"Text": plain(text)} for text in texts], hide_index=True, alt="texts")
with st.container(key="headers"):
    st.table([{plain(text): "" for text in few}], hide_index=True, alt="few")
with st.container(key="labels"):
    for number, text in enumerate(few):
        st.toggle(plain(text), key=f"toggle-{number}")
with st.container(key="alerts"):
    for text in few:
        st.error(plain(text), icon=":material/error:")
with st.container(key="expanders"):
    for text in few:
        st.expander(plain(text))
