from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import refused_command
from ultr_core import __version__, cli
from ultr_core.cli import main
from ultr_core.jobs import JOBS
from ultr_core.jobs.output import option_of
from ultr_core.lab import METHODS, Lab, build_world, summarise, train_method
from ultr_core.proofs import PROOFS
from ultr_core.risk import NO_INTERVAL
from ultr_core.settings import PARAMETERS, Settings

ROOT = Path(__file__).parents[3]
QUICK = ["--clicks", "2000", "--draws", "2"]


def letor_line(rng: np.random.Generator, query: int, top: int) -> str:
    features = rng.random(5)
    grade = int(np.clip(round(features[:2].sum() * top / 2 + rng.normal(0, 0.3)), 0, top))
    pairs = " ".join(f"{i + 1}:{value:.4f}" for i, value in enumerate(features))
    return f"{grade} qid:{query} {pairs} # docid = D{query}-{rng.integers(1000)}"


def write_corpus(
    folder: Path, *, queries: int = 60, top: int = 4, end: str = "\n", packed: bool = False
) -> Path:
    rng = np.random.default_rng(5)
    for name in ("train", "vali", "test"):
        lines = ["# made for a test"]
        for query in range(queries):
            lines += [letor_line(rng, query, top) for _ in range(8)]
        data = (end.join(lines) + end).encode()
        if packed:
            (folder / f"{name}.txt.gz").write_bytes(gzip.compress(data))
        else:
            (folder / f"{name}.txt").write_bytes(data)
    return folder


def test_compare_json_has_every_ranker_with_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--json", *QUICK]) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result["rankers"]) == ["production", "naive", "propensity", "clipped", "skyline"]
    for name, summary in result["rankers"].items():
        for measure in ("risk", "mean_rank"):
            interval = summary[measure]
            if METHODS[name].learns_from_clicks:
                assert interval["low"] <= interval["value"] <= interval["high"]
            else:
                assert interval["low"] is interval["high"] is None
    assert result["seed"] == 0
    assert result["settings"]["clicks"] == 2000
    assert result["corpus"]["train"]["queries"] == 2000
    assert (
        result["rankers"]["skyline"]["risk"]["value"]
        < (result["rankers"]["production"]["risk"]["value"])
    )


def test_command_line_and_python_say_the_same_to_the_last_digit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = Settings(clicks=2000, draws=2, eta=0.5)
    assert main(["compare", "--json", *QUICK, "--eta", "0.5"]) == 0
    printed = json.loads(capsys.readouterr().out)
    computed = json.loads(json.dumps(Lab(settings).comparison().as_dict()))
    assert printed == computed


def test_a_partial_summary_holds_the_draws_so_far() -> None:
    settings = Settings(clicks=2000, draws=2)
    world = build_world(settings)
    first = train_method(world, settings, 0, "naive")
    partial = summarise(world, settings, {"naive": [first]})
    assert set(partial.rankers) == {"production", "naive", "skyline"}
    assert partial.rankers["naive"].risk.value == first.test.risk
    assert partial.naive_excess is None
    of_the_lab = {key for key, method in METHODS.items() if not method.asked}
    assert of_the_lab == {"production", "naive", "propensity", "clipped", "skyline"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--assumed-eta", "1.5"], 0),
        (["--eta", "0", "--assumed-eta", "0"], 0),
        (["--eta", "2", "--assumed-eta", "2", "--eps-minus", "0.3", "--eps-plus", "0.31"], 0),
        (["--clicks", "10"], 0),
    ],
)
def test_proofs_hold_in_every_world(
    options: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = QUICK[2:] if "--clicks" in options else QUICK
    assert main(["proofs", "--json", *quick, *options]) == code
    result = json.loads(capsys.readouterr().out)
    assert [check["name"] for check in result["checks"]] == list(PROOFS)
    keys = {
        "name", "statement", "section", "measured", "expected", "tolerance", "holds", "should_hold",
    }  # fmt: skip
    for check in result["checks"]:
        assert keys <= set(check)
        assert check["holds"] or not check["should_hold"]
    wrong_curve = "--assumed-eta" in options and result["settings"]["eta"] == 1.0
    failing = {check["name"] for check in result["checks"] if not check["holds"]}
    expected = {"ips-unbiased", "affine-law", "corpus-affine-law", "order-preserved"}
    assert (expected <= failing) == wrong_curve


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_compare_on_files_with_comments_line_ends_and_gzip(
    tmp_path: Path, end: str, packed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_corpus(tmp_path, end=end, packed=packed)
    assert main(["compare", "--json", "--corpus", str(corpus), *QUICK]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["corpus"]["train"] == {
        "queries": 60,
        "documents": 480,
        "relevant": result["corpus"]["train"]["relevant"],
    }
    # 1% of 60 queries is less than one: the reader is told what was taken instead.
    assert any("1%" in notice for notice in result["notices"])
    assert "1%" in captured.err


def test_grades_that_stop_at_two_are_said_and_a_threshold_is_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_corpus(tmp_path, top=2)
    assert main(["compare", "--json", "--corpus", str(corpus), *QUICK]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["corpus"]["relevant_grade"] == 1
    assert "--relevant-grade" in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--eta", "3"], "--eta"),
        (["compare", "--eta", "nan"], "--eta"),
        (["compare", "--clicks", "many"], "--clicks"),
        (["compare", "--eps-plus", "0.2", "--eps-minus", "0.3"], "--eps-plus"),
        (["compare", "--corpus", "nowhere"], "nowhere"),
        (["compare", "--colour", "red"], "--colour"),
        (["compare", "--eta"], "--eta"),
        (["proofs", "--seed", "-1"], "--seed"),
        (["dance"], "dance"),
        ([], "COMMAND"),
        ([], "sign-test"),
    ],
)
def test_wrong_input_gives_one_sentence_and_code_two(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("compare --methods naive --methods ips", "--methods"),
        ("compare --eta=1 --seed 1 --eta 1", "--eta"),
        ("fit --log a --corpus c --log b", "--log"),
        ("propensities log.csv --columns a=b --columns=c=d", "--columns"),
    ],
)
def test_an_option_given_twice_is_refused(command: str, option: str) -> None:
    refused_command(command.split(), "usage", option)


@pytest.mark.parametrize("name", [entry.name for entry in JOBS if entry.summary])
def test_no_option_with_values_lets_the_last_one_win(name: str) -> None:
    """Of any command; switches say the same twice."""
    commands = next(a for a in cli._parser(name)._actions if a.nargs == argparse.PARSER)
    part = commands.choices[name]  # type: ignore[index, call-overload]
    wanted = [a for a in part._actions if a.option_strings and a.nargs != 0]
    assert [type(action) for action in wanted] == [cli._Once] * len(wanted)


def test_a_broken_file_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_corpus(tmp_path)
    lines = (corpus / "vali.txt").read_text().splitlines()
    lines[6] = "2 qid:1 1:0.5 2:abc"
    (corpus / "vali.txt").write_text("\n".join(lines))
    assert main(["compare", "--corpus", str(corpus)]) == 2
    error = capsys.readouterr().err
    assert "vali.txt" in error
    assert "7" in error


def test_every_setting_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    text = capsys.readouterr().out
    for parameter in PARAMETERS.values():
        assert option_of(parameter.name) in text


def test_module_runs_and_survives_a_reader_that_leaves() -> None:
    command = f"{sys.executable} -m ultr_core proofs --clicks 1000 --draws 1 | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("holds")


def test_a_forgotten_assumed_curve_is_pointed_out(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = ["compare", "--json", "--clicks", "500", "--draws", "1", "--corpus", str(small_corpus)]
    assert main([*quick, "--eta", "0"]) == 0
    assert "--assumed-eta 0" in capsys.readouterr().err
    assert main([*quick, "--eta", "0", "--assumed-eta", "0"]) == 0
    captured = capsys.readouterr()
    assert "--assumed-eta" not in captured.err
    rankers = json.loads(captured.out)["rankers"]
    assert rankers["naive"]["risk"] == rankers["propensity"]["risk"]


def test_a_comparison_on_one_click_log_says_why_it_has_no_interval(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for draws, said in (("1", True), ("2", False)):
        on = ("--corpus", str(small_corpus), "--clicks", "500", "--draws", draws)
        assert main(["compare", *on]) == 0
        assert (NO_INTERVAL in capsys.readouterr().out) is said


def test_the_version_is_printed_and_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == __version__ + "\n"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "ultr_core.__version__"}
