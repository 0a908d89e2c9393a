"""``reproduce`` gives the same files however it was run: killed, resumed, in parallel, on Dask."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.meaning import mentions
from ultr_core.cli import main
from ultr_core.studies import REPAIRS

ROOT = Path(__file__).parents[3]
STUDY = ["reproduce", "bias", "--draws", "2"]
KILLS = 3
VARYING = {"cells.jsonl", "report.html"}  # the order of arrival; time and memory


def letor_line(rng: np.random.Generator, query: int) -> str:
    features = rng.random(4)
    grade = int(np.clip(round(features[:2].sum() * 2 + rng.normal(0, 0.4)), 0, 4))
    pairs = " ".join(f"{i + 1}:{value:.3f}" for i, value in enumerate(features))
    return f"{grade} qid:{query} {pairs}\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("corpus")
    rng = np.random.default_rng(3)
    for name, queries in (("train", 60), ("vali", 20), ("test", 40)):
        lines = [letor_line(rng, query) for query in range(queries) for _ in range(7)]
        (folder / f"{name}.txt").write_text("".join(lines))
    return str(folder)


@pytest.fixture(scope="module")
def finished(corpus: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed")
    assert main([*STUDY, "--corpus", corpus, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def undisturbed(finished: Path) -> dict[str, bytes]:
    return files(finished)


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A directory with the finished cells of the undisturbed run, and nothing else."""
    shutil.copy(finished / "cells.jsonl", tmp_path)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in folder.iterdir() if f.name not in VARYING}


def journal_lines(folder: Path) -> int:
    journal = folder / "cells.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def test_every_promised_file_is_there(undisturbed: dict[str, bytes]) -> None:
    endings = {".csv", "-curve.csv", ".parquet", ".svg", ".png", ".vl.json", ".json"}
    assert set(undisturbed) == {f"bias{ending}" for ending in endings}
    assert undisturbed["bias.png"].startswith(b"\x89PNG")
    assert b"<svg" in undisturbed["bias.svg"]
    settings = json.loads(undisturbed["bias.json"])
    assert settings["settings"]["draws"] == 2
    assert {"numpy", "python", "scipy"} <= set(settings["versions"])
    assert len(settings["claims"]) == 4


def test_killed_at_random_and_resumed_gives_the_same_files(
    corpus: str, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "ultr_core", *STUDY, "--corpus", corpus]
    command += ["--out", str(tmp_path)]
    chance = random.Random(7)
    whole = len(undisturbed["bias.csv"].splitlines())
    kills = 0
    for _ in range(KILLS):
        before = journal_lines(tmp_path)
        wanted = before + chance.randint(1, 9)
        if wanted >= whole:
            break
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while journal_lines(tmp_path) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        assert journal_lines(tmp_path) >= before
    assert kills == KILLS
    assert main([*STUDY, "--corpus", corpus, "--out", str(tmp_path)]) == 0
    assert files(tmp_path) == undisturbed


def test_the_repairs_killed_and_resumed_as_a_group_give_the_same_files(
    corpus: str, tmp_path: Path
) -> None:
    """Several studies with one journal, finished in one process and, after a kill, in two."""
    command = ["reproduce", "repairs", "--draws", "1", "--corpus", corpus, "--out"]
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    assert main([*command, str(whole)]) == 0
    studies = {file.stem for file in whole.glob("*.parquet")}
    assert studies == set(REPAIRS) - {"few-clicks", "learners"}
    assert len(files(whole)) == 7 * len(studies)
    total, half = journal_lines(whole), journal_lines(whole) // 2
    process = subprocess.Popen(
        [sys.executable, "-m", "ultr_core", *command, str(resumed)], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while journal_lines(resumed) < half and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    process.wait()
    before = (resumed / "cells.jsonl").read_bytes().rpartition(b"\n")[0]
    assert half <= before.count(b"\n") + 1 < total
    assert not files(resumed)
    assert main([*command, str(resumed), "--jobs", "2"]) == 0
    assert files(resumed) == files(whole)
    assert (resumed / "cells.jsonl").read_bytes().startswith(before)
    assert journal_lines(resumed) == total


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_signal_ends_all_processes_without_a_word_and_the_run_goes_on(
    corpus: str, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    """First one signal, then another to the run that has gone on."""
    command = [sys.executable, "-m", "ultr_core", *STUDY, "--corpus", corpus]
    command += ["--out", str(tmp_path), "--jobs", "2"]
    for number in (signal.SIGTERM, signal.SIGHUP):
        before = journal_lines(tmp_path)
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # nohup would have it ignored
            preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL),
        )  # fmt: skip
        while journal_lines(tmp_path) < before + 3 and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(number)
        out, said = process.communicate(timeout=30)  # their ends of the pipes are closed, too
        assert process.returncode == -number
        assert out == ""
        done = max(before - 1, 0)  # the journal begins with what the run is about
        told = ("note: ", f"{done} of 42 rankers are already trained.")
        assert all(line.startswith(told) for line in said.splitlines()), said
        assert before + 3 <= journal_lines(tmp_path) < len(undisturbed["bias.csv"].splitlines())
    assert main([*STUDY, "--corpus", corpus, "--out", str(tmp_path)]) == 0
    assert files(tmp_path) == undisturbed


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs to see when workers start")
def test_ctrl_c_twice_while_workers_load_says_stopped_and_nothing_else(
    corpus: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "ultr_core", *STUDY, "--corpus", corpus]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path), "--jobs", "2"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text().split()) < 2 and process.poll() is None:
        time.sleep(0.002)
    time.sleep(0.4)
    for _ in range(2):  # as a terminal does: to the workers, too
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
    out, said = process.communicate(timeout=30)
    assert (process.returncode, out, said) == (130, "", "Stopped.\n")


def test_a_torn_last_line_is_run_again_and_two_jobs_agree(
    corpus: str,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [*STUDY, "--corpus", corpus, "--out", str(tmp_path), "--jobs", "2"]
    assert main(arguments) == 0
    assert files(tmp_path) == undisturbed
    journal = tmp_path / "cells.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content[: len(content) // 2])
    for file in undisturbed:
        (tmp_path / file).unlink()
    capsys.readouterr()
    assert main(arguments[:-2]) == 0
    assert files(tmp_path) == undisturbed
    assert journal.read_bytes().splitlines()[0] == content.splitlines()[0]
    keys = [json.loads(line)["key"] for line in journal.read_text().splitlines()[1:]]
    assert len(keys) == len(set(keys))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as local:
        yield local.scheduler_address


def test_a_dask_cluster_of_two_workers_gives_the_same_files(
    corpus: str, undisturbed: dict[str, bytes], tmp_path: Path, cluster: str
) -> None:
    arguments = [*STUDY, "--corpus", corpus, "--out", str(tmp_path), "--dask", cluster]
    assert main(arguments) == 0
    assert files(tmp_path) == undisturbed


STRANGERS = """
import sys
{here}
from distributed import LocalCluster
with LocalCluster(
    n_workers=1, processes=False, dashboard_address=None, protocol="tcp://", silence_logs=60
) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("here", "words"),
    [
        ("sys.modules['ultr_core'] = None", "ultr_core"),
        ("sys.modules['scipy'] = None", "scipy"),
        ("import ultr_core; ultr_core.__version__ = '0.0.1'", "version 0.0.1"),
    ],
)
def test_a_cluster_without_the_lab_is_one_sentence_with_the_remedy(
    here: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    process = subprocess.Popen(
        [sys.executable, "-c", STRANGERS.format(here=here)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        cwd=ROOT,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert main([*STUDY, "--out", str(tmp_path), "--dask", address]) == 2
    finally:
        process.communicate("", timeout=60)
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    assert words in said
    assert "pip install ." in said


def test_a_rerun_runs_nothing_and_refuses_other_settings(
    corpus: str, undisturbed: dict[str, bytes], copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*STUDY, "--corpus", corpus, "--out", str(copied)]
    before = (copied / "cells.jsonl").read_bytes()
    assert main(arguments) == 0
    assert (copied / "cells.jsonl").read_bytes() == before
    assert mentions((copied / "report.html").read_text(), "0 of 42 rankers")
    capsys.readouterr()
    assert main([*arguments, "--seed", "4", "--eps-plus", "0.9"]) == 2
    said = capsys.readouterr().err
    assert "--seed 0 (now 4)" in said
    assert "--eps-plus 1.0 (now 0.9)" in said
    assert "--relevant-grade" not in said
    assert main([*STUDY, "--out", str(copied)]) == 2
    assert "fingerprint" in capsys.readouterr().err
    assert (copied / "cells.jsonl").read_bytes() == before
    assert files(copied) == undisturbed


def test_more_click_logs_only_add_cells(corpus: str, copied: Path) -> None:
    arguments = ["reproduce", "bias", "--draws", "3", "--corpus", corpus, "--out", str(copied)]
    before = (copied / "cells.jsonl").read_bytes()
    assert main(arguments) == 0
    assert (copied / "cells.jsonl").read_bytes().startswith(before)
    assert mentions((copied / "report.html").read_text(), "20 of 62 rankers")


def test_the_report_opens_offline_and_states_the_verdicts(corpus: str, copied: Path) -> None:
    arguments = [*STUDY, "--corpus", corpus, "--out", str(copied), "--loss", "ndcg"]
    assert main(arguments) == 0
    report = (copied / "report.html").read_text()
    assert "<svg" in report
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?:https?:)?//", report)
    assert "@import" not in report
    assert 'class="verdict holds"' in report
    assert "MiB" in report
    curve = pd.read_csv(copied / "bias-curve.csv")
    assert set(curve["loss"]) == {"ndcg"}
    trained = curve[curve["draws"] > 1]
    assert set(curve["method"]) - set(trained["method"]) == {"production", "skyline"}
    assert (trained["low"] <= trained["value"]).all()
    assert (trained["value"] <= trained["high"]).all()
    cells = pd.read_parquet(copied / "bias.parquet")
    pd.testing.assert_frame_equal(cells, pd.read_csv(copied / "bias.csv"), check_dtype=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "bias"], "--out"),
        (["reproduce", "figure-9", "--out", "x"], "figure-9"),
        (["reproduce", "bias", "--scale", "huge", "--out", "x"], "--scale"),
        (["reproduce", "bias", "--jobs", "0", "--out", "x"], "--jobs"),
        (["reproduce", "bias", "--jobs", "two", "--out", "x"], "--jobs"),
        (["reproduce", "bias", "--draws", "0", "--out", "x"], "--draws"),
        (["reproduce", "bias", "--loss", "mrr", "--out", "x"], "--loss"),
        (["reproduce", "noise", "--eps-plus", "0.2", "--out", "x"], "--eps-plus"),
        (["reproduce", "bias", "--corpus", "nowhere", "--out", "x"], "nowhere"),
        (["reproduce", "bias", "--corpus", "loop", "--out", "x"], "back to itself"),
        (["reproduce", "bias", "--corpus", "a", "--size", "yahoo", "--out", "x"], "--size"),
        (["reproduce", "bias", "--dask", "nonsense", "--out", "x"], "nonsense"),
        (["reproduce", "bias", "--out", "taken/below"], "taken"),
    ],
)
def test_wrong_input_gives_one_sentence_and_code_two(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "loop").symlink_to("loop")
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.skipif(os.name != "posix", reason="locks are those of POSIX systems")
def test_a_results_file_in_use_is_refused(
    corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import fcntl

    with (tmp_path / "cells.jsonl").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert main([*STUDY, "--corpus", corpus, "--out", str(tmp_path)]) == 2
    assert mentions(capsys.readouterr().err, str(tmp_path))


def test_a_damaged_results_file_is_named_with_its_line(
    corpus: str, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*STUDY, "--corpus", corpus, "--out", str(copied)]
    journal = copied / "cells.jsonl"
    lines = journal.read_text().splitlines()
    lines[4] = lines[4][:30]
    journal.write_text("\n".join(lines) + "\n")
    capsys.readouterr()
    assert main(arguments) == 2
    assert "Line 5" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["foo", "tcp://127.0.0.1:1", "tcp://", ""])
def test_no_scheduler_is_said_at_once(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    command = ["reproduce", "bias", "--draws", "1", "--out", str(tmp_path), "--dask", address]
    assert main(command) == 2
    assert mentions(capsys.readouterr().err, "--dask")
    assert time.monotonic() - started < 30
