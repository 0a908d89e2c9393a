"""``propensities``, ``live`` and ``sign-test`` on the command line."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.meaning import mentions, refused_command
from ultr_core.cli import main
from ultr_core.files import read_curve
from ultr_core.propensity.methods import PROPENSITY_METHODS

LIVE = ["live", "--clicks", "9000", "--interleaved", "500", "--last-rank", "5"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = ["query,document,position,click,impressions,swapped_rank"]
    for query in range(20):
        for drawn in (1, 2, 3):
            for own in (1, 2, 3):
                place = {1: drawn, drawn: 1}.get(own, own)
                rows.append(f"q{query},d{own},{place},{60 // place},60,{drawn}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("counts", "p_value", "risk"),
    [(("87", "48", "83"), 0.0009995, 0.711), (("95", "60", "102"), 0.006133, 0.774)],
)
def test_sign_test_prints_the_papers_table(
    counts: tuple[str, ...], p_value: float, risk: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sign-test", *counts, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert float(f"{result['p_value']:.4g}") == p_value
    assert round(result["relative_risk"], 3) == risk
    assert set(result["win_share"]) == {"value", "low", "high"}
    assert main(["sign-test", *counts[:2]]) == 0
    assert "0 ties" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["swap", "harvest", "harvest-pivot", "em"])
def test_propensities_recover_the_curve_and_write_it(
    method: str, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "curve.csv"
    assert main(["propensities", str(log), "--method", method, "--out", str(out), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["curve"] == pytest.approx([1, 1 / 2, 1 / 3], rel=2e-2)
    assert result["missing"] == []
    assert read_curve(out).at([3])[0] == result["curve"][2]


@pytest.mark.parametrize("method", ["harvest", "harvest-pivot", "harvest-chain", "swap"])
def test_the_method_that_json_names_can_be_asked_for(
    method: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["propensities", str(log), "--method", method, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["propensities", str(log), "--method", first["method"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_propensities_options_and_table(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--landmark", "2", "--at", "1,2", "--ranks", "3", "--smoothing", "0.5"]
    assert main(["propensities", str(log), *options, "--fit", "monotone"]) == 0
    captured = capsys.readouterr()
    assert mentions(captured.out, PROPENSITY_METHODS["swap"].label)
    told, head = (captured.out.splitlines()[place] for place in (0, 2))
    # All the log has, and only what swaps compare.
    assert mentions(told, "10,800 impressions") and mentions(head, "compared")
    assert mentions(captured.err, "note", "positions", 1)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["none.csv"], ("not_a_file", "none.csv")),
        (["LOG", "--method", "dla"], ("method", "'dla'", "swap")),
        (
            ["LOG", "--landmark", "0"],
            ("landmark", "'0'", "(--landmark)"),
        ),
        (["LOG", "--landmark", "9"], ("whole_number", "landmark", 9, "1 to 3")),
        (
            ["LOG", "--smoothing", "x"],
            ("smoothing", "'x'", "0 to 1", "(--smoothing)"),
        ),
        (
            ["LOG", "--fit", "spline"],
            ("fit", "'spline'", "none"),
        ),
        (["LOG", "--at", "1,b"], ("at", "'b'", "(--at)")),
    ],
)
def test_bad_input_of_propensities_is_one_sentence_and_code_2(
    arguments: list[str], fault: tuple[object, ...], log: Path
) -> None:
    given = [str(log) if argument == "LOG" else argument for argument in arguments]
    refused_command(["propensities", *given], *fault)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["0", "0", "9"], ("only_ties",)),
        (["8", "x"], ("", "LOSSES", "'x'")),
        (["-3", "4"], ("", "WINS", "'-3'")),
        (["8.5", "1"], ("", "WINS", "'8.5'")),
        (["1_000", "1"], ("", "WINS", "'1_000'")),
        (["\u0663", "1"], ("", "WINS")),
        (["8", "1", "-1"], ("", "TIES", "'-1'")),
    ],
)
def test_bad_input_of_sign_test(arguments: list[str], fault: tuple[object, ...]) -> None:
    refused_command(["sign-test", *arguments], *fault)


def test_live_prints_a_table_and_the_same_numbers_as_json(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*LIVE, "--corpus", str(small_corpus)]
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["design"]["days"] == 21
    assert result["settings"]["clicks"] == 9000
    production = result["contests"]["production"]
    assert production["win_share"]["low"] <= production["win_share"]["value"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert f"{production['wins']:,} wins" in text
    assert len(re.findall(rf"\b{production['wins']} wins\b", text)) >= 2  # and what luck gives


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (
            ["--days", "x"],
            ("days", "'x'", "2 to 366", "(--days)"),
        ),
        (["--validation-days", "21"], ("validation_days", "(--validation-days)")),
        (
            ["--days", "1"],
            ("days", "'1'", "2 to 366", "(--days)"),
        ),
        (["--landmark", "0"], ("landmark", "'0'", "1 to 500")),
        (
            ["--last-rank", "5", "--landmark", "6"],
            ("landmark", "1 to 5"),
        ),
        (["--last-rank", "501"], ("last_rank", "2 to 500", "(--last-rank)")),
        (["--smoothing", "nan"], ("smoothing", "'nan'")),
        (["--scheme", "multi"], ("scheme", "'multi'", "balanced", "team-draft")),
        (["--eta", "9"], ("eta", "'9'")),
    ],
)
def test_bad_input_of_live_is_refused_before_any_work(
    arguments: list[str], fault: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultr_core.lab.build_world", lambda *_: pytest.fail("worked"))
    refused_command(["live", *arguments], *fault)


def test_live_with_nothing_but_ties_prints_the_rest_and_no_decision(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["live", "--clicks", "9000", "--interleaved", "1", "--last-rank", "5"]
    command += ["--corpus", str(small_corpus), "--eps-minus", "0", "--eps-plus", "0.01"]
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    for contest in result["contests"].values():
        assert (contest["wins"], contest["losses"], contest["p_value"]) == (0, 0, 1)
        assert contest["win_share"] == {"value": None, "low": 0, "high": 1}
        for unknown in ("relative_risk", "power", "decided_needed", "paper_power"):
            assert contest[unknown] is None
    assert main(command) == 0
    text = capsys.readouterr().out
    assert sum(mentions(line, "decision") for line in text.splitlines()) == 2


def test_ranks_below_the_log_cost_nothing_and_carry_the_curve_on(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for method in ("swap", "harvest", "harvest-chain", "em", "ctr"):
        curves = []
        for ranks in ("3", "10000"):
            command = ["propensities", str(log), "--method", method, "--ranks", ranks, "--json"]
            start = time.perf_counter()
            assert main(command) == 0
            # Pairs of 10,000 ranks would take minutes and gigabytes.
            assert time.perf_counter() - start < 5
            curves.append(json.loads(capsys.readouterr().out))
        short, long = curves
        assert long["curve"][:3] == short["curve"]
        assert long["guessed"] == list(range(4, 10_001))
        assert all(above >= below > 0 for above, below in pairwise(long["curve"][2:]))
        assert long["ranks"][:3] == short["ranks"]
        assert long["missing"] == list(range(4, 10_001))
        assert any(mentions(notice, "4 to 10,000") for notice in long["notices"])


def test_a_fitted_power_law_goes_on_below_the_log(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["propensities", str(log), "--fit", "power-law", "--ranks", "6", "--json"]
    assert main(command) == 0
    curve = json.loads(capsys.readouterr().out)["curve"]
    assert curve[5] == pytest.approx(curve[1] * curve[2])


def test_a_log_too_deep_for_pairs_of_ranks_names_the_way_out(tmp_path: Path) -> None:
    deep = tmp_path / "deep.csv"
    deep.write_text("query,document,position,click\nq,a,1,1\nq,b,2,1\nq,b,2,0\nq,a,400000000,1\n")
    for method in ("harvest", "harvest-chain", "em", "ctr"):
        given = ["propensities", str(deep), "--method", method]
        refused_command(given, "ranks", "rank 400,000,000")
    assert main(["propensities", str(deep), "--method", "ctr", "--ranks", "2"]) == 0
