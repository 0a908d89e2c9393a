from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

OpenApp = Callable[..., AppTest]


def test_about_states_corpus_and_references_and_leads_to_the_conventions(
    open_app: OpenApp, small_corpus: Path
) -> None:
    app = open_app(draws="1", clicks="500")
    app.switch_page("pages/about.py").run()
    assert not app.exception
    text = "\n".join(element.value for element in app.markdown)
    for needed in ("Yahoo", "--corpus DIR", "WSDM 2017"):
        assert needed in text
    assert re.search(r"BLAS\b[^.\n]*\b1\.", text)
    numbers = re.findall(r"\[arXiv ([^\]]+)\]\(https://arxiv.org/abs/([^)]+)\)", text)
    assert len(numbers) == text.count("arXiv ") == 3
    assert all(shown == led for shown, led in numbers)
    assert str(small_corpus) in text
    links = {each.proto.query_string: each.proto.label for each in app.get("page_link")}
    (label,) = (links[query] for query in links if "part=readings" in query)
    assert "Conventions" in label
