"""The panel of users: a list, readers and clicks, and the estimates while a slider is moved.

Played and drawn by the browser: no run of the page while it plays. See ``live.js``.
"""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from pages.views.lab.words import USERS_WITHOUT_SCRIPT
from ultr_core.lab import Lab, RankSums, assumed_curve, true_curve

_HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def _component() -> Any:
    read = {suffix: (_HERE / f"live.{suffix}").read_text("utf-8") for suffix in ("js", "css")}
    without = f'<p class="without">{escape(USERS_WITHOUT_SCRIPT)}</p>'
    return st.components.v2.component(
        "lab_users", html=f'<div class="lab-users">{without}</div>', isolate_styles=False, **read
    )


@lru_cache(maxsize=4)
def _plain(sums: RankSums) -> str:
    """The sums as text, once for everybody: the browser keeps a message that it has had."""
    return json.dumps(sums.as_dict(), separators=(",", ":"))


def users_panel(lab: Lab) -> None:
    """Show the panel; it reads the page's sliders by itself."""
    settings, sums = lab.settings, lab.rank_sums()
    given = settings.curves
    now = {
        "eps_plus": settings.eps_plus,
        "seed": settings.seed,
        "users": true_curve(settings).at(sums.ranks).tolist() if "curve" in given else None,
        "learner": (
            assumed_curve(settings).at(sums.ranks).tolist() if "assumed_curve" in given else None
        ),
    }
    _component()(key="users", data={"sums": _plain(sums), "now": now}, height="stretch")
