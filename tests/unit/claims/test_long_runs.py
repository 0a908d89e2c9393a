"""What the long runs ship comes out again, and is what the claims say they were measured on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultr_core.claims.common import MORE_CLICKS
from ultr_core.claims.gate_runs import CELLS
from ultr_core.claims.long_runs import (
    CLIPPING_CLICKS,
    CORPORA,
    GATE_LOGS,
    LIVE_CLICKS,
    MAKERS,
    NOISES,
    SEEDS,
    THRESHOLDS,
    TREE_CLICKS,
    growing_rows,
    live_rows,
    shipped_runs,
    smoothing_rows,
)
from ultr_core.lab.live import PAPER_CLICKS

SAME, FEW = 1e-3, 40
"""Relative difference of risks, and of counts of verdicts, that another processor may make."""


def test_the_first_rows_come_out_again() -> None:
    tables = shipped_runs().tables
    live, growing, smoothing = next(live_rows()), next(growing_rows()), next(smoothing_rows())
    assert live == pytest.approx(tables["live"][0], abs=FEW)
    assert growing == pytest.approx(tables["growing"][0], rel=SAME)
    assert smoothing == pytest.approx(tables["smoothing"][0], rel=SAME)


def test_every_table_is_whole() -> None:
    tables = shipped_runs().tables
    assert set(tables) == set(MAKERS)
    assert len(tables["live"]) == len(CORPORA) * len(SEEDS) * len(LIVE_CLICKS)
    assert len(tables["smoothing"]) == len(CORPORA) * len(SEEDS)
    assert len(tables["endless"]) == len(CORPORA) * len(NOISES)
    assert {row["clicks"] for row in tables["clipping"]} == set(CLIPPING_CLICKS)
    assert [(row["eps_minus"], row["clicks"]) for row in tables["gate"]] == list(CELLS)
    assert len(tables["trees"]) == len(CORPORA) * len(TREE_CLICKS)
    assert {row["logs"] for row in tables["gate"]} == {GATE_LOGS}
    assert {f"{clip:g}" for clip in THRESHOLDS} < set(tables["clipping"][0])
    assert {PAPER_CLICKS, MORE_CLICKS} <= {row["clicks"] for row in tables["live"]}
    assert len(CORPORA) * len(SEEDS) >= 20


def test_the_guide_names_the_corpora_on_which_trees_lose() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "using.md").read_text(encoding="utf-8")
    few, many = sorted(TREE_CLICKS)
    rows = shipped_runs().tables["trees"]
    lost = [
        f"{row['corpus']:.0f}"
        for row in rows
        if row["clicks"] == few and row["trees"] > row["clipped"]
    ]
    assert f"(corpora {', '.join(lost[:-1])} and {lost[-1]}; one" in " ".join(guide.split())
    assert all(row["trees"] < row["skyline"] for row in rows if row["clicks"] == many)
