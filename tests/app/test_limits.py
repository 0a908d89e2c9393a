"""Nothing that a link asks for makes a page fail, or the server work without bound."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.app.registry import PAGES
from ultr_core.settings import PARAMETERS, Settings

OpenApp = Callable[..., AppTest]


@pytest.mark.parametrize("text", ["1e308", "-" + "9" * 400])
def test_no_page_fails_on_a_link_that_asks_for_too_much(open_app: OpenApp, text: str) -> None:
    asked = dict.fromkeys(PARAMETERS, text) | {"draws": "1", "clicks": "500"}
    app = open_app(**asked)
    for page in PAGES:
        app.switch_page(page.file).run()
        assert not app.exception, page.path
        used = {name: app.session_state[name] for name in PARAMETERS}
        assert used == Settings(draws=1, clicks=500).as_dict()


def test_the_most_that_can_be_asked_for_is_bounded() -> None:
    assert PARAMETERS["clicks"].high <= 5_000_000
    assert PARAMETERS["draws"].high <= 20
    assert PARAMETERS["corpus_seed"].high <= 9
