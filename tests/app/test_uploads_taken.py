"""What is uploaded is bounded, read once, and leaves Streamlit's store at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.app.curves import KEY
from pages.views.propensities import log as propensity_log
from pages.views.your_data import bench as data_bench
from pages.views.your_data.bench import Bench, Brought
from pages.views.your_data.input import _offered
from tests.app.pages import opened
from tests.meaning import mentions, refused
from ultr_core.limits import SMALL_UPLOAD, UPLOADS_KEPT_BY_SESSION, Limit
from ultr_core.propensity import PROPENSITY_METHODS

OpenApp = Callable[..., AppTest]
FAST = {"draws": "1", "clicks": "500", "swap_traffic": "2,000", "swap_ranks": "10"}
LOG = b"query,document,position,click\nq,a,1,1\nq,a,2,0\nr,b,1,1\nr,b,2,1\n"
CURVE = b"rank,propensity\n1,1\n2,0.5\n"
NONE = Limit(0, "MB of files", "this is a test", "stop")
LARGE = b"x" * ((SMALL_UPLOAD.most << 20) + 1)


def upload(app: AppTest, key: str, data: bytes) -> AppTest:
    app.file_uploader(key=key).set_value(("mine.csv", data, "text/csv")).run()
    assert not app.exception
    return app


def propensities(open_app: OpenApp) -> AppTest:
    return open_app(**FAST).switch_page("pages/propensities.py").run()


def stored(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """File ids that are taken out of the store; a page under test has none of a server."""
    gone: list[str] = []
    monkeypatch.setattr("pages.app.uploads._forget", gone.append)
    return gone


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    calls: list[Any] = []
    real = getattr(propensity_log, name)

    def count(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return real(*given, **named)

    monkeypatch.setattr(propensity_log, name, count)
    return calls


@pytest.mark.parametrize(
    ("key", "reader", "data"),
    [
        ("data-upload-own-log-0", "parse_log", LOG),
        ("data-upload-own-curve-0", "parse_curve", CURVE),
    ],
)
def test_an_upload_on_propensities_is_read_once(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, key: str, reader: str, data: bytes
) -> None:
    app = propensities(open_app)
    calls, gone = counted(monkeypatch, reader), stored(app, monkeypatch)
    upload(app, key, data)
    for _ in range(3):
        app.run()
    assert not app.error
    assert len(calls) == 1
    assert len(gone) == 1


def test_the_method_is_changed_without_another_upload(open_app: OpenApp) -> None:
    app = upload(propensities(open_app), "data-upload-own-log-0", LOG)
    app.selectbox(key="own_method").set_value("ctr").run()
    assert not app.exception
    assert not app.error
    label = PROPENSITY_METHODS["ctr"].label
    assert any(f"**{label}** assumes" in element.value for element in app.markdown)


@pytest.mark.parametrize("key", ["data-upload-own-log-0", "data-upload-own-curve-0"])
def test_whoever_sends_more_than_the_page_takes_gets_a_sentence(
    open_app: OpenApp, key: str
) -> None:
    app = upload(propensities(open_app), key, LARGE)
    assert mentions(app.error[0].value, "mine.csv", "6 MB", 5)
    assert not app.session_state["your_data"].files


def test_so_does_the_control_of_curves_and_it_keeps_no_file(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(open_app(**FAST), KEY)
    gone = stored(app, monkeypatch)
    upload(app, "upload-curve-0", LARGE)
    assert mentions(app.error[0].value, "mine.csv", "6 MB", 5)
    upload(app, "upload-curve-1", CURVE)
    assert app.session_state["p"] == "1,0.5"
    assert not app.error
    assert len(gone) == 2


def test_files_on_propensities_are_none_of_the_page_your_data(open_app: OpenApp) -> None:
    app = upload(propensities(open_app), "data-upload-own-log-0", LOG)
    app.switch_page("pages/your_data.py").run()
    assert "data-clear" not in {button.key for button in app.button}
    app.switch_page("pages/propensities.py").run()
    assert app.button(key="data-remove-own-log")


@pytest.mark.parametrize("bound", ["UPLOADS_KEPT_BY_SESSION", "UPLOADS_KEPT_BY_SERVER"])
def test_all_files_together_are_bounded(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    app = open_app(None).switch_page("pages/your_data.py").run()
    monkeypatch.setattr(data_bench, bound, NONE)
    upload(app, "data-upload-log-0", LOG)
    assert mentions(app.error[0].value, "mine.csv", "1 MB", 0)
    assert not app.session_state["your_data"].files


def test_a_file_in_place_of_another_counts_once() -> None:
    own = Bench()
    most = UPLOADS_KEPT_BY_SESSION.most << 20
    for _ in range(2):
        own.bring("log", Brought("log.csv", b"x" * most))
        assert not own.faults
    own.bring("curve", Brought("curve.csv", b"1"))
    assert mentions(own.faults["curve"], "session", "curve.csv")
    assert list(own.files) == ["log"]


def test_a_download_of_a_session_that_is_gone_fails_and_gives_no_empty_file() -> None:
    with refused("lost_file"):
        _offered(lambda: None, "data-notebook")  # type: ignore[arg-type]
    own = Bench()
    with refused("lost_file"):
        _offered(lambda: own, "data-notebook")  # type: ignore[arg-type]
    own.offers["data-notebook"] = lambda: b"words"
    assert _offered(lambda: own, "data-notebook") == b"words"  # type: ignore[arg-type]
