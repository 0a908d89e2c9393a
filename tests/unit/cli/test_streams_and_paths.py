"""What surrounds a command: output that cannot be written, Ctrl-C, and odd text in arguments."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests.meaning import mentions, refused, refused_command
from ultr_core.cli import main
from ultr_core.errors import checked_path, named, quoted
from ultr_core.findings import Finding, Relation
from ultr_core.lab import Lab
from ultr_core.proofs.proof import Check, Proof

ROOT = Path(__file__).parents[3]
RESULT = "3 wins, 5 losses"

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def usual_signals() -> None:
    """Signals as a terminal gives them to a program; a job in the background ignores some."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def shell(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("LAB", f"{sys.executable} -m ultr_core")],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **variables},
        preexec_fn=usual_signals,
    )  # fmt: skip


@needs_full
@pytest.mark.parametrize(
    "command",
    ["LAB sign-test 3 5 >/dev/full", "LAB sign-test 3 5 --json >/dev/full", "LAB --help >/dev/full",
     "LAB sign-test 3 5 >&-"],
)  # fmt: skip
def test_output_that_cannot_be_written_is_one_sentence_and_code_2(command: str) -> None:
    done = shell(command)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert mentions(done.stderr, "error", "output")


@needs_full
@pytest.mark.parametrize("closed", ["2>/dev/full", "2>&-"])
def test_notes_that_cannot_be_written_cost_neither_result_nor_code(closed: str) -> None:
    program = (
        "from dataclasses import replace\nfrom ultr_core.jobs import sign_test\n"
        "from ultr_core.jobs.output import print_notes\njob = sign_test.JOB\n"
        "sign_test.JOB = replace(job, call=lambda g: print_notes(['x']) or job.call(g))\n"
        "from ultr_core.cli import main\nraise SystemExit(main(['sign-test', '3', '5']))"
    )
    done = shell(f'{sys.executable} -c "$PROGRAM" {closed}', PROGRAM=program)
    assert done.returncode == 0
    assert done.stdout.startswith(RESULT)
    assert "note" not in done.stdout


@needs_full
@pytest.mark.parametrize("closed", ["2>/dev/full", "2>&-"])
def test_an_error_never_lands_in_the_output(closed: str) -> None:
    done = shell(f"LAB sign-test x 5 {closed}")
    assert (done.returncode, done.stdout) == (2, "")
    assert shell(f"LAB sign-test 3 5 >/dev/full {closed}").returncode == 2


@pytest.mark.parametrize("asked", [False, True])
def test_a_warning_of_a_library_reaches_only_those_who_ask(asked: bool) -> None:
    program = (
        "import warnings, ultr_core.cli as cli\nfrom ultr_core.__main__ import run\n"
        "cli.main = lambda: warnings.warn('overflow', RuntimeWarning) or 0\n"
        "raise SystemExit(run())"
    )
    option = "-Wdefault" if asked else ""
    done = shell(f'{sys.executable} {option} -c "$PROGRAM"', PROGRAM=program)
    assert done.returncode == 0
    assert ("overflow" in done.stderr) == asked


def test_a_reader_that_leaves_is_no_error() -> None:
    done = shell("LAB sign-test 3 5 | true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("as_error", ["ImportError('broken')", "SystemError('half')", "stop"])
def test_ctrl_c_while_libraries_load_says_stopped(as_error: str, tmp_path: Path) -> None:
    """A library that is interrupted while it loads may turn Ctrl-C into any error."""
    (tmp_path / "numpy.py").write_text(
        "import os, signal, time\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n"
        f"    time.sleep(20)\nexcept KeyboardInterrupt as stop:\n    raise {as_error}\n"
    )
    done = shell("LAB compare", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


def test_ctrl_c_during_a_command_says_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ultr_core.risk.sign_test.sign_test", interrupted)
    assert main(["sign-test", "3", "5"]) == 130
    assert capsys.readouterr().err == "Stopped.\n"


LONG = "x" * 5_000
TOO_LONG = os.strerror(errno.ENAMETOOLONG)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["compare", "--corpus", LONG], ("path_lookup", TOO_LONG)),
        (["compare", "--corpus", f"{LONG}/a\nb"], ("path_lookup", TOO_LONG)),
        (["propensities", LONG], ("path_lookup", TOO_LONG)),
        (["compare", "--corpus", "a\0b"], ("path_zero_byte",)),
        (["propensities", "a\0b"], ("path_zero_byte",)),
        (["propensities", "LOG", "--out", "a\0b"], ("path_zero_byte",)),
        (["fit", "--eta", "1", "--corpus", "a\0b", "--log", "LOG"], ("path_zero_byte",)),
        (["simulate", "--corpus", "a\0b", "--out", "LOG"], ("path_zero_byte",)),
        (["compare", "--corpus", "a\nb"], ("no_corpus_directory", r"a\nb")),
        (["propensities", "a\nb"], ("not_a_file", r"a\nb")),
        (["compare", "foo\nbar"], ("usage", r"foo\nbar")),
        (["foo\u2028bar\r"], ("usage", r"foo\u2028bar\r")),
        (["compare", LONG], ("usage", "compare")),
        (["compare", *[f"{i}\n" for i in range(2_000)]], ("usage", r"'0\n'")),
        ([LONG], ("usage",)),
        (["compare", f"--json={LONG}"], ("usage", "--json")),
        (["compare", "--eta", LONG], ("eta", "--eta")),
        (["compare", "--eta", "a\nb"], ("eta", r"'a\nb'")),
        (["live", "--days", LONG], ("days", "--days")),
        (["live", "--days", "9" * 4_000], ("days", "--days")),
        (["live", "--scheme", f"{LONG}\n"], ("scheme", "balanced", "team-draft")),
        (["sign-test", LONG, "1"], ("", "WINS")),
        (["propensities", "LOG", "--method", LONG], ("method", "swap")),
        (["propensities", "LOG", "--fit", f"\n{LONG}"], ("fit", "none")),
        (["compare", "--corpus", ""], ("path_empty", "corpus")),
        (["propensities", ""], ("path_empty", "log")),
        (["propensities", "LOG", "--out", ""], ("path_empty", "--out")),
        (["propensities", "LOG", "--out", "new.csv/"], ("names_a_directory", "new.csv/")),
        (["simulate", "--out", "new.csv/"], ("names_a_directory", "new.csv/")),
        (["notebook", "lab", "--out", "new.ipynb/"], ("names_a_directory", "new.ipynb/")),
    ],
)  # fmt: skip
def test_whatever_text_is_given_the_error_is_one_short_line(
    arguments: list[str],
    fault: tuple[object, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query,document,position,click\nq,a,1,1\nq,a,2,1\nq,b,2,1\nq,b,1,1\n")
    given = [str(log) if text == "LOG" else text for text in arguments]
    line = refused_command(given, *fault)
    assert capsys.readouterr().out == ""
    assert len(line) < 1_100
    assert "x" * 210 not in line


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_process_that_is_told_to_end_leaves_no_half_written_file(
    name: str, tmp_path: Path
) -> None:
    code = f"""
import os, signal, sys
import ultr_core.cli
from ultr_core.files.disk import writing
def main():
    with writing({str(tmp_path / "out.csv")!r}, "It") as file:
        file.write("half")
        print(os.listdir({str(tmp_path)!r}), flush=True)
        os.kill(os.getpid(), signal.{name})
ultr_core.cli.main = main
from ultr_core.__main__ import run
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT,
        preexec_fn=usual_signals,
    )  # fmt: skip
    assert ".part" in done.stdout
    assert done.returncode == -getattr(signal, name)
    assert list(tmp_path.iterdir()) == []


def test_given_text_is_shown_shortened_and_escaped() -> None:
    assert quoted("a\nb") == r"'a\nb'"
    assert quoted(1.5) == "1.5"
    assert len(quoted(LONG)) == len(quoted([LONG])) == 40
    assert mentions(quoted(10**5_000), "int") and len(quoted(10**5_000)) < 40
    assert named(Path("folder/train.txt")) == "folder/train.txt"
    assert named("a\tb\x85") == r"a\tb\x85"
    assert named("start" + LONG + "end").startswith("startxx")
    assert named("start" + LONG + "end").endswith("xxend")
    assert len(named(LONG)) <= 200
    assert checked_path("a b", "It") == Path("a b")
    with refused("path_empty", "It"):
        checked_path("", "It")


@pytest.mark.parametrize(
    ("relation", "measured", "shown"),
    [("=", 15.7, ("15.7", "0")), ("≥", -2.0, ("−2", "≥ 0")), (">", -2.0, ("−2", "> 0")),
     ("=", 0.09, ("0.09", "0")), ("≥", -0.09, ("−0.09", "≥ 0"))],
)  # fmt: skip
def test_numbers_of_a_check_are_never_joined_by_a_relation_that_is_not_theirs(
    relation: Relation,
    measured: float,
    shown: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    finding = Finding("Said.", measured, relation, 0.0, 0.1, should_hold=False)
    proof = Proof("x", "X", "1", "", "", (), "", lambda _: finding)
    monkeypatch.setattr(Lab, "checks", lambda _: (Check(proof, finding),))
    assert main(["proofs"]) == 0
    (line,) = (row for row in capsys.readouterr().out.splitlines() if mentions(row, "measured"))
    assert mentions(line, *shown, "0.1", "Said.")
    assert mentions(line, "within") == (abs(measured) < 0.1)


def test_a_derivation_calls_no_decimal_equal_to_a_fraction_that_it_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["proofs", "--derivation", "overtaking", "--query", "curve=1 1/3 1/4 1/7 1/9 1/11"])
    found = re.findall(r"closed form (\S+) ([=≈]) ([^\s;]+)", capsys.readouterr().out)
    assert {sign for _, sign, _ in found} == {"=", "≈"}
    for fraction, sign, decimal in found:
        assert (Fraction(fraction) == Fraction(decimal)) is (sign == "=")


def test_failing_lines_are_counted_in_the_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    main(["proofs", "--json", "--clicks", "1000", "--draws", "1", "--assumed-eta", "1.5"])
    text = capsys.readouterr().out
    assert re.search(r"Lines \d+(, \d+)* and \d+ fail:", text)
    assert re.search(r"Line \d+ fails:", text)
    assert not re.search(r"Line \d+,", text)


@pytest.mark.parametrize(
    "command",
    [
        "simulate --out {} --clicks 100",
        "check {}",
        "notebook lab --out {}",
        "propensities {}",
        "convert {} w.json",
        "compare --corpus {}",
        "fit --corpus {} --log x.csv --eta 1",
    ],
)
def test_a_name_that_is_too_long_for_a_file_is_one_sentence(command: str) -> None:
    refused_command(command.format("a" * 300 + ".csv").split(), "path_lookup", TOO_LONG)


@pytest.mark.parametrize(
    "option", ["--eta ０.5", "--seed ١٢", "--clicks 1_000", "--eps-minus ०.१", "--draws ２"]
)
def test_numbers_are_written_in_ascii_digits(option: str) -> None:
    name, text = option.split()
    refused_command(["compare", name, text], name[2:].replace("-", "_"), name, f"'{text}'")


FIT = "fit --corpus no.txt --log no.csv --eta 1"


@pytest.mark.parametrize(
    "command",
    [
        f"{FIT} --learner trees --out x.json",
        f"{FIT} --learner trees --out x.JSON.gz",
        f"{FIT} --out x.csv",
        f"{FIT} --svm-light-out x.json",
        f"{FIT} --scores-out x.json",
        f"{FIT} --fold-scores-out x.parquet",
        f"{FIT} --weights-out x.json",
        f"{FIT} --proprank-out x.csv",
        f"{FIT} --targets-out x.txt.json",
        f"{FIT} --targets-out x.parquet.gz",
        "simulate --out x.parquet",
        "simulate --out x.csv --corpus-out x.jsonl",
        "simulate --out x.csv.zst",
        "propensities no.csv --out x.json",
        "notebook lab --out x.json",
    ],
)
def test_a_name_that_promises_another_format_is_refused_before_the_work(command: str) -> None:
    *_, option, name = command.split()
    refused_command(command.split(), "ending", option, name)


@pytest.mark.parametrize(("learner", "ending"), [("svm", ".json"), ("trees", ".txt")])
def test_an_ending_is_proposed_that_the_learner_writes(learner: str, ending: str) -> None:
    refused_command(f"{FIT} --learner {learner} --out x.pdf".split(), "ending", ending)


@pytest.mark.parametrize(
    "command",
    [
        f"{FIT} --learner trees --out x.model",
        f"{FIT} --out x",
        f"{FIT} --out x.json.gz",
        f"{FIT} --scores-out x.run --weights-out x.csv --svm-light-out x.dat",
        f"{FIT} --targets-out x.parquet",
    ],
)
def test_a_name_that_promises_nothing_else_is_taken(command: str) -> None:
    refused_command(command.split(), "not_a_file", "no.txt")
