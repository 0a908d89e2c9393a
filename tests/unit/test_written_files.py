"""Files that are written: whole, together, and with nothing left behind by a process that died."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ultr_core.cli import main
from ultr_core.errors import InputError
from ultr_core.files.disk import write_whole, writing, written_together

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="signals and locks of POSIX")


def killed_while(code: str, folder: Path) -> None:
    """Run code in a process that is killed at its end, with what it was writing half done."""
    done = subprocess.run(
        [sys.executable, "-c", "import os, signal\nfrom ultr_core.files.disk import *\n" + code],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


KILL = "os.kill(os.getpid(), signal.SIGKILL)"


@posix
def test_the_next_file_sweeps_what_a_killed_process_left(tmp_path: Path) -> None:
    killed_while(f"with writing('a.csv', 'It') as file:\n  file.write('x')\n  {KILL}", tmp_path)
    assert len(names(tmp_path)) == 1
    left = tmp_path / names(tmp_path)[0]
    # A number that lives again: that of this process.
    left.rename(tmp_path / f".{os.getpid()}-0123abcd.part")
    write_whole(tmp_path / "b.csv", b"new", "It")
    assert names(tmp_path) == ["b.csv"]


@posix
def test_drafts_of_the_living_and_files_of_others_stay(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".1-0123abcd.part")
    (tmp_path / "kept").write_text("kept")
    (tmp_path / ".2-0123abcd.part").symlink_to(tmp_path / "kept")
    (tmp_path / ".3-0123abcd.part").mkdir()
    (tmp_path / ".4-0123abcd.partly").write_text("mine")
    others = names(tmp_path)
    with writing(tmp_path / "a.csv", "It") as file:
        file.write("first")
        during = names(tmp_path)
        done = subprocess.run(
            [sys.executable, "-c",
             "from ultr_core.files.disk import write_whole\nwrite_whole('b', b'', 'It')"],
            check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.returncode == 0
        assert names(tmp_path) == sorted([*during, "b"])
    assert names(tmp_path) == sorted([*others, "a.csv", "b"])
    assert (tmp_path / "a.csv").read_text() == "first"


@posix
def test_a_kill_while_several_files_are_written_leaves_all_the_old_ones(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")
    killed_while(
        "with written_together():\n  write_whole('a', b'new', 'It')\n"
        f"  with writing('b', 'It') as file:\n    file.write('new')\n  {KILL}",
        tmp_path,
    )
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["old", "old"]
    assert len(names(tmp_path)) == 4
    with written_together():
        write_whole(tmp_path / "a", b"new", "It")
        with writing(tmp_path / "b", "It") as file:
            file.write("new")
        assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "old"
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["new", "new"]
    assert names(tmp_path) == ["a", "b"]


@posix
def test_a_kill_between_two_moves_leaves_whole_files_and_running_again_repairs_it(
    tmp_path: Path,
) -> None:
    """What is promised: the first ones new, the rest old, none half, and no draft for long."""
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("old")
    write = "with written_together():\n  for name in 'abc':\n    write_whole(name, b'new', 'It')"
    killed_while(
        "from pathlib import Path\nmove = Path.replace\n"
        f"Path.replace = lambda path, to: {KILL} if to.name == 'b' else move(path, to)\n{write}",
        tmp_path,
    )
    assert [(tmp_path / name).read_text() for name in "abc"] == ["new", "old", "old"]
    write_whole(tmp_path / "a", b"new", "It")
    assert names(tmp_path) == ["a", "b", "c"]


def test_a_fault_leaves_all_old_files_whatever_was_written_before(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(InputError, match="luckless"), written_together():
        write_whole(tmp_path / "a", b"new", "It")
        with written_together():
            write_whole(tmp_path / "b", b"new", "It")
        raise InputError("luckless")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"
    write_whole(tmp_path / "a", b"alone", "It")
    assert (tmp_path / "a").read_text() == "alone"


@pytest.mark.parametrize("last", ["--svm-light-out", "--proprank-out"])
def test_fit_writes_all_of_its_files_or_none(
    last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Feature ids from 0, which only the formats of svm_light cannot hold."""
    corpus, log = tmp_path / "corpus.txt", tmp_path / "log.csv"
    corpus.write_text("".join(f"{q % 2} qid:{q} 0:{q}\n0 qid:{q} 0:1 1:2\n" for q in range(9)))
    rows = "".join(f"{q},1,1,1\n{q},2,2,{q % 2}\n" for q in range(9))
    log.write_text("query,document,position,click\n" + rows)
    before = names(tmp_path)
    out = [word for name in ("--out", "--weights-out", "--fold-scores-out", last)
           for word in (name, str(tmp_path / f"{name}.x"))]  # fmt: skip
    command = ["fit", "--corpus", str(corpus), "--log", str(log), "--eta", "1", "--cost", "1"]
    assert main([*command, *out]) == 2
    assert "id 0" in capsys.readouterr().err
    assert names(tmp_path) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_simulate_writes_log_and_corpus_or_neither(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["simulate", "--clicks", "1000", "--out", str(tmp_path / "log.csv")]
    assert main([*command, "--corpus-out", "/dev/full"]) == 2
    assert os.strerror(errno.ENOSPC) in capsys.readouterr().err
    assert names(tmp_path) == []
