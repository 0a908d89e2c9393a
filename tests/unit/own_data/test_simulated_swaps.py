"""Simulated logs with swaps: what the log records, and that propensities reads it."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.inputs import queries_of_ten
from tests.meaning import mentions, refused
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.files import parse_log, read_log
from ultr_core.inspection import inspect_log
from ultr_core.own_data.samples import OwnClicks, simulate_own_log
from ultr_core.propensity import estimate_from_log
from ultr_core.settings import Settings

LAST = 6


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return queries_of_ten()


def rows_of(clicks: OwnClicks) -> list[dict[str, str]]:
    return list(csv.DictReader("".join(clicks.csv_pieces()).splitlines()))


@pytest.mark.parametrize("sessions", [False, True], ids=["counts", "sessions"])
def test_a_log_records_which_documents_traded_places(corpus: Corpus, sessions: bool) -> None:
    settings = Settings(clicks=20_000)
    clicks = simulate_own_log(corpus, settings, swaps=LAST, sessions=sessions)
    lists: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in rows_of(clicks):
        lists[row["query"], row["swapped_rank"]][row["document"]] = int(row["position"])
    sizes = dict(zip(map(str, corpus.query_ids), corpus.sizes.tolist(), strict=True))
    assert min(sizes.values()) < LAST <= max(sizes.values())
    for (query, swapped), places in lists.items():
        assert (swapped == "") == (sizes[query] < LAST)
        assert sorted(places.values()) == list(range(1, sizes[query] + 1))
        own = lists.get((query, "1"))
        if swapped and own is not None:
            there = {1: int(swapped), int(swapped): 1}
            assert places == {name: there.get(rank, rank) for name, rank in own.items()}
    assert {swapped for _, swapped in lists} == {"", *map(str, range(1, LAST + 1))}
    assert clicks.rankers == 1 and abs(clicks.clicks - 20_000) < 600


@pytest.mark.parametrize("sessions", [False, True], ids=["counts", "sessions"])
def test_propensities_reads_it_and_tells_trust_from_position_bias(
    corpus: Corpus, sessions: bool
) -> None:
    """The test of trust rejects position bias in 1 of 20 seeds, and one of five ratios is off by
    more than 4 standard errors in 1 of 3,000."""
    for users, outcome in (("position", "holds"), ("trust-steep", "does not hold")):
        settings = Settings(clicks=60_000, users=users)
        text = "".join(
            simulate_own_log(corpus, settings, swaps=LAST, sessions=sessions).csv_pieces()
        )
        log = parse_log(text)
        assert not [f for f in inspect_log(log).findings if f.severity == "stop"]
        found = estimate_from_log(log, last_rank=LAST)
        assert found.estimate.method == "swap"
        assert found.lines is not None and found.lines.finding.outcome == outcome
        if users == "position":
            for point in found.estimate.points[1:]:
                assert point.value is not None and point.standard_error is not None
                assert abs(np.log(point.value * point.rank)) < 4 * point.standard_error


@pytest.mark.parametrize(("swaps", "rankers"), [(3, 2), (1_000, 1), (1, 1)])
def test_swaps_that_cannot_be_shown_are_refused(corpus: Corpus, swaps: int, rankers: int) -> None:
    with refused("swaps"):
        simulate_own_log(corpus, Settings(clicks=500), swaps=swaps, rankers=rankers)


@pytest.mark.parametrize("sessions", [False, True], ids=["counts", "sessions"])
@pytest.mark.parametrize("last", [2, 12, 14])
def test_presentations_with_swaps_are_counted(corpus: Corpus, last: int, sessions: bool) -> None:
    clicks = simulate_own_log(corpus, Settings(clicks=2_000), swaps=last, sessions=sessions)
    taking_part = sum(
        int(row.get("impressions", 1))
        for row in rows_of(clicks)
        if row["swapped_rank"] and row["position"] == "1"
    )
    assert clicks.swap_presentations == taking_part > 0
    short = taking_part < clicks.query_draws
    assert short == (int(corpus.sizes.min()) < last)
    told = [mentions(each, f"{taking_part:,}", "swaps", last) for each in clicks.notices]
    assert any(told) == short
    assert simulate_own_log(corpus, Settings(clicks=100)).swap_presentations == 0


def test_swaps_that_no_presentation_has_are_refused(corpus: Corpus) -> None:
    """The longest list is 1 of 150, and a few presentations leave it out in most seeds."""
    longest = int(corpus.sizes.max())
    with refused("swaps", longest):
        simulate_own_log(corpus, Settings(clicks=10, seed=1), swaps=longest)


def test_the_command_writes_the_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "swaps.csv"
    assert main(["simulate", "--out", str(path), "--swaps", "4", "--clicks", "2000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["swaps"] == 4
    assert 0 < found["swap_presentations"] <= found["query_draws"]
    assert read_log(path).has_swaps
