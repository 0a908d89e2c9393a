"""``propensities``, ``live`` and ``sign-test`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ultr_core.cli import main
from ultr_core.propensity import read_curve

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


def test_propensities_options_and_table(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--landmark", "2", "--at", "1,2", "--ranks", "3", "--smoothing", "0.5"]
    assert main(["propensities", str(log), *options, "--fit", "monotone"]) == 0
    captured = capsys.readouterr()
    assert "Landmark swaps; assumes that" in captured.out
    assert "note: Positions are counted from 1" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "cannot be read"),
        (["LOG", "--method", "dla"], "must be one of swap"),
        (["LOG", "--landmark", "0"], "--landmark is '0'"),
        (["LOG", "--landmark", "9"], "between 1 and 3"),
        (["LOG", "--smoothing", "x"], "--smoothing is 'x'"),
        (["LOG", "--fit", "spline"], "no fit"),
        (["LOG", "--at", "1,b"], "--at is 'b'"),
    ],
)
def test_bad_input_of_propensities_is_one_sentence_and_code_2(
    arguments: list[str], message: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(log) if argument == "LOG" else argument for argument in arguments]
    assert main(["propensities", *given]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1
    assert message in error[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0", "0", "9"], "only ties"),
        (["8", "x"], "LOSSES is 'x'"),
        (["-3", "4"], "WINS is '-3'"),
        (["8.5", "1"], "WINS is '8.5'"),
    ],
)
def test_bad_input_of_sign_test(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sign-test", *arguments]) == 2
    assert message in capsys.readouterr().err


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
    assert "Had both been equally good" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--days", "x"], "--days is 'x'"),
        (["--validation-days", "21"], "validation_days is 21"),
        (["--scheme", "multi"], "no way to interleave"),
        (["--eta", "9"], "--eta is '9'"),
    ],
)
def test_bad_input_of_live(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", *arguments]) == 2
    assert message in capsys.readouterr().err
