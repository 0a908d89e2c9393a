"""What the page says while a ranker is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pages.views.your_data import ranker
from tests.meaning import mentions
from ultr_core.learners.problem import Progress


class _Place:
    def __init__(self) -> None:
        self.told: list[str] = []

    def progress(self, share: float, words: str) -> None:
        assert 0 <= share <= 1
        self.told.append(words)


def test_the_gap_is_that_of_the_objective_whatever_the_certificate_measures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A gradient norm of 123 is no share; a bound of 6 below an objective of 8 leaves 25%."""
    monkeypatch.setattr(ranker, "_TELL_EVERY", 0.0)
    place: Any = _Place()
    watch = ranker._Watch(place, fits=3)
    watch(Progress(1, 4, 8.0, 6.0, 123.0, np.zeros(2)))
    assert mentions(place.told[-1], "25.0%", 1)
    assert not mentions(place.told[-1], "12,300.0%") and "12300" not in place.told[-1]
