"""The page Your data: what it reads beside a path, and what it makes for a visitor."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.meaning import mentions

OpenApp = Callable[..., AppTest]


def opened(open_app: OpenApp) -> AppTest:
    app = open_app(None)
    app.switch_page("pages/your_data.py").run()
    assert not app.exception
    return app


def upload(app: AppTest, kind: str, data: bytes) -> None:
    turn = app.session_state["your_data"].turns[kind]
    name = f"{kind}.txt"
    app.file_uploader(key=f"data-upload-{kind}-{turn}").set_value((name, data, "text/plain")).run()
    assert not app.exception


def test_group_sizes_beside_a_path_are_not_read_from_outside(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("password\n")
    (root / "noq.txt").write_text("1 1:1\n0 1:2\n")
    (root / "noq.txt.query").symlink_to(tmp_path / "secret")
    app = opened(open_app)
    monkeypatch.setattr(sys, "argv", ["app.py", "--allow-paths", str(root)])
    app.run()
    app.text_input(key="data-path-corpus-0").set_value("noq.txt").run()
    assert mentions(app.error[0].value, "noq.txt.query")
    assert "password" not in app.error[0].value
    upload(app, "groups", b"1\n1\n")
    assert not app.error
    assert app.session_state["your_data"].made["corpus"].n_queries == 2


@pytest.mark.parametrize("documents", [100, 1_500])
def test_a_training_file_too_large_for_the_server_is_a_sentence_and_no_button(
    open_app: OpenApp, documents: int
) -> None:
    """All clicked in one query: the file grows with their square."""
    app = opened(open_app)
    rows = [(query, place) for query in range(4) for place in range(documents if query == 0 else 2)]
    corpus = "".join(f"{place % 2} qid:q{query} 1:{place} # docid = d{place}\n"
                     for query, place in rows)  # fmt: skip
    log = "".join(f"q{query},d{place},{place + 1},1\n" for query, place in rows)
    upload(app, "corpus", corpus.encode())
    upload(app, "log", b"query,document,position,click\n" + log.encode())
    app.toggle(key="data-validation").set_value(False).run()
    app.button(key="data-train").click().run()
    assert not app.exception
    keys = {button.key for button in app.get("download_button")}
    assert "data-json" in keys
    assert ("data-proprank" in keys) == (documents == 100)
    told = [text.value for text in app.markdown if "command fit" in text.value]
    assert len(told) == (documents > 100)
