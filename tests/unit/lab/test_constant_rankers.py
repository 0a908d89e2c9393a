"""A corpus whose features say nothing: risks by no order of the file, and a word on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultr_core.errors import about
from ultr_core.files import load_directory
from ultr_core.lab import build_world
from ultr_core.settings import Settings

LABELS = (4, 4, 0, 0, 0)


@pytest.mark.parametrize("order", [1, -1])
def test_constant_features_give_the_mean_risk_and_a_notice(tmp_path: Path, order: int) -> None:
    # H19: rows sorted by label gave every ranker the best risk, reversed the worst.
    for part, name in enumerate(("train", "vali", "test")):
        rows = [
            f"{grade} qid:{query + 100 * part} 1:1 2:{query}\n"
            for query in range(20)
            for grade in LABELS[::order]
        ]
        (tmp_path / f"{name}.txt").write_text("".join(rows))
    world = build_world(Settings(), load_directory(tmp_path))
    assert {found.risk for found in world.baselines.values()} == {6.0}
    assert sum(about(notice) == "constant_scores" for notice in world.notices) == 2
