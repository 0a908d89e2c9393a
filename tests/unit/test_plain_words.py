"""The one escaper of pages, without a browser; tests/browser/test_escaped_texts.py has one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pages.app.markdown import JOINER, plain, prose, shown
from tests.hostile_texts import HOSTILE, PIECES

TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
SIGNS = "\\`*_[]{}<>$~|^&"
FOUND_IN_TEXT = (
    r"(https?://|www(?=\.))[-.\w]+", r"(^|[\s\W_])[-.\w+]+@[-\w]+(\.[-\w]+)+", r":[\w+-]+:",
    r":material/", r"(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)", r":[^\W\d]",
)  # fmt: skip
"""What Streamlit looks for in text after the parser has taken the backslashes away."""


@given(TEXTS)
@example("a\\\nb")
@settings(max_examples=500, deadline=None)
def test_what_is_escaped_reads_as_it_was(text: str) -> None:
    said = plain(text)
    read = re.sub(r"\\(.)", r"\1", said)
    assert read.replace(JOINER, "") == shown(text)
    assert not re.search(rf"(?<!\\)(\\\\)*[{re.escape(SIGNS[1:])}]", said)
    assert not re.match(r"\s|[-+=#>~]|\d+([.)](\s|$)|$)", said)
    assert not said.endswith(" ")
    for pattern in FOUND_IN_TEXT:
        assert not re.search(pattern, read, re.IGNORECASE), pattern


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_means_something_is_one_line(text: str) -> None:
    assert plain(text).isprintable() or JOINER in plain(text)
    assert len(plain(text).splitlines()) == 1
    plain(text).encode()  # a lone surrogate could not be sent


def test_words_without_signs_stay_as_they_are() -> None:
    for text in ("25 queries, 1,250 clicks (5.0%).", "qid:7 and 12:30", "η′ = 0.5 − été", ""):
        assert plain(text) == prose(text) == text


def test_words_of_the_lab_keep_their_code() -> None:
    assert prose("`a_b` and a_b*") == r"`a_b` and a\_b\*"
