"""Sentences with one thing in them."""

from __future__ import annotations

import pytest

from ultr_core.inspection.of_together import _share
from ultr_core.risk.sign_test import sign_test
from ultr_core.words import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 losses"), (1, "1 loss"), (2, "2 losses"), (1_000, "1,000 losses")]
)
def test_a_number_of_things_has_the_plural_that_it_needs(number: int, words: str) -> None:
    assert counted(number, "loss", "losses") == words


def test_the_sign_test_loses_once() -> None:
    assert sign_test(1, 1, 1).sentence.startswith("1 win, 1 loss and 1 tie: ")
    assert "p = 0.0215" in sign_test(9, 1, 5).sentence  # as in the lesson on it


def test_a_small_share_of_the_weight_is_never_told_as_nothing() -> None:
    assert _share(0.0004) == "less than 0.1%"
    assert _share(0.0) == "0.0%"
    assert _share(0.25) == "25.0%"
