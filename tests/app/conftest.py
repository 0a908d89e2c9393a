from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import hyphens, texts

ROOT = Path(__file__).resolve().parents[2]
OpenApp = Callable[..., AppTest]


@pytest.fixture
def open_app(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenApp]:
    """Open the app on the small corpus (or on ``corpus``), with the values of a link.

    Whatever a test leaves on a page has real minus signs.
    """
    left: list[AppTest] = []

    def open_(corpus: Path | None = small_corpus, **link: str) -> AppTest:
        monkeypatch.setattr(sys, "argv", ["app.py", "--corpus", str(corpus)])
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for name, value in link.items():
            app.query_params[name] = value
        left.append(app)
        return app.run()

    yield open_
    for app in left:
        assert hyphens(texts(app)) == []


@pytest.fixture(autouse=True)
def main_module_kept() -> Iterator[None]:
    """Give ``__main__`` back: AppTest leaves the page there, and new processes would run it."""
    kept = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = kept
