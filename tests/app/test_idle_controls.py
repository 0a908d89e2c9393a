"""Controls that do nothing on a page, as it is now, are not on it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.app.controls import _hidden
from pages.app.registry import PAGES as ALL
from pages.app.registry import RUN, SIMULATE, PageInfo
from ultr_core.curve_values import CURVES
from ultr_core.jobs.links import job_of
from ultr_core.jobs.repairs import ACTS
from ultr_core.settings import PARAMETERS
from ultr_core.studies import BASE_FIELDS

OpenApp = Callable[..., AppTest]
PAGES = {page.path: page for page in ALL}
RULE = re.compile(r"(?:\.stApp:not\(:has\(\.st-key-([\w-]+)\)\) )?:is\(([^)]*)\)\{display:none\}")


def shown(page: PageInfo, part: str = "") -> set[str]:
    """Settings with a control on a page that has a part of this key."""
    assert page.acts is not None
    style = _hidden(page.acts, (*page.acts, *page.acts_then), page.acts_while)
    gone = ",".join(
        chosen for unless, chosen in RULE.findall(style) if not unless or unless != part
    )
    hidden = set(re.findall(r"\.st-key-([\w-]+)", gone))
    if "curve-control" in hidden:
        hidden |= {field.key for field in CURVES.values()}
    keys = {name: name for name in PARAMETERS} | {name: CURVES[name].key for name in CURVES}
    return {name for name, key in keys.items() if key not in hidden}


@pytest.mark.parametrize("path", ["lessons", "live", "your_data", "claims", "about"])
def test_a_page_has_the_controls_of_the_settings_that_its_job_names(path: str) -> None:
    job = job_of(path)
    acting = () if job is None else job.pages[path].settings or job.settings
    assert shown(PAGES[path]) == {field.name for field in acting}


@pytest.mark.parametrize("path", ["learning_curves", "robustness"])
def test_a_study_has_controls_only_where_it_is_computed_here(path: str) -> None:
    assert shown(PAGES[path]) == set()
    assert shown(PAGES[path], RUN) == set(BASE_FIELDS)


def test_repairs_has_controls_only_where_it_is_computed_here() -> None:
    assert shown(PAGES["repairs"]) == set()
    assert shown(PAGES["repairs"], RUN) == set(ACTS)


def test_your_data_has_the_users_controls_while_it_offers_to_simulate_them(
    open_app: OpenApp,
) -> None:
    users = {"eta", "eps_minus", "clicks"}
    assert not users & shown(PAGES["your_data"])
    assert users < shown(PAGES["your_data"], SIMULATE)
    app = open_app().switch_page("pages/your_data.py").run()
    assert not [button for button in app.button if button.key == SIMULATE]
    app.button(key="data-sample-corpus").click().run()
    assert app.button(key=SIMULATE)
    app.button(key="data-sample-log").click().run()
    assert not [button for button in app.button if button.key == SIMULATE]
    assert not app.exception
