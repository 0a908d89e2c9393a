"""Wording is held here on purpose: what readers of the pages meet most, to the letter.

All other tests know a page by keys, marks, outcomes and numbers; whoever edits a sentence changes
it here or in the text that it comes from, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.views.lab import checks as check_list
from pages.views.lab.words import preference
from pages.views.proofs.words import headline
from tests.app.pages import picture
from ultr_core.proofs import DERIVATIONS, Ways, default_world
from ultr_core.settings import Settings

OpenApp = Callable[..., AppTest]
SEES = "It correctly prefers the skyline to production"
PAIRS = "other pairs in the wrong order"
TAKES = "It wrongly prefers production to the skyline"


@pytest.mark.parametrize(
    ("true", "said", "tau", "words"),
    [
        ([13.0, 10.0], [3.0, 2.0], 0.98, f"{SEES}."),
        ([13.0, 10.0], [3.0, 2.0], 0.3, f"{SEES}, but puts many {PAIRS}."),
        (
            [13.0, 10.0],
            [3.0, 2.0],
            -0.54,
            f"{SEES}, but puts most {PAIRS}.",
        ),
        ([13.0, 10.0], [2.0, 3.0], 0.72, f"{TAKES}."),
        (
            [13.0, 10.0],
            [2.0, 3.0],
            -0.54,
            f"{TAKES}, and puts most {PAIRS}.",
        ),
        ([10.0, 13.0], [2.0, 3.0], 0.9, "It correctly prefers production to the skyline."),
        (
            [10.0, 13.0],
            [3.0, 2.0],
            0.9,
            "It wrongly prefers the skyline to production.",
        ),
    ],
)
def test_the_order_is_read_with_all_of_it(
    true: list[float], said: list[float], tau: float, words: str
) -> None:
    found = picture(true, said, tau)
    assert preference(found, found.weighted) == words


def test_the_proof_checks_are_summed_up_in_a_line() -> None:
    checks = [
        {"holds": holds, "status": status, "title": title, "assumes": ()}
        for holds, status, title in (
            (True, "holds", "a"),
            (False, "does not hold", "b"),
            (False, "does not hold, as predicted", "c"),
        )
    ]
    told = check_list.summary(checks, {})
    assert "1 of 3" in told
    assert "“b”" in told
    assert "“c”" not in told


def test_a_proof_that_holds_is_told_in_one_sentence() -> None:
    proof, world = DERIVATIONS["ips-unbiased"], default_world()
    assert proof.derive is not None
    told = headline(proof, proof.derive(Ways(world)), world, Settings())
    assert "the weighted loss is 8, exactly the true loss.**" in told
    assert told.endswith("all 5 lines hold exactly.")


def test_a_link_that_cannot_be_used_is_answered_on_the_page(open_app: OpenApp) -> None:
    app = open_app(eta="1.237", draws="1", clicks="500", **{"eps-minus": "0.2"})
    told = "\n".join(element.value for element in app.markdown)
    assert "The link asks for Bias severity η = 1.237; the nearest possible value, 1.24," in told
    assert "'eps-minus' is not used; the right key is eps\\_minus" in told
    assert "proof checks hold" in told
