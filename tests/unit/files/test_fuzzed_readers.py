"""The fuzzer of all readers: a short run finds nothing, and what it looks for it would find."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from scripts import fuzz_readers


def test_a_short_run_breaks_no_reader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count, broken, _ = fuzz_readers.fuzz(seed=11, seconds=60, out=tmp_path / "broken", most=400)
    assert (count, broken) == (400, 0), capsys.readouterr().out


def test_what_breaks_a_reader_is_saved_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Children may use 64 MiB more than this process: to fill 1 GiB takes seconds, a few times.

    They fill 512 MiB, because of what this process has mapped they begin with a part.
    """

    def broken(data: bytes) -> object:
        return bytearray(1 << 29) if len(data) % 2 else 1 // 0

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    most = pages * resource.getpagesize() + (1 << 26)
    monkeypatch.setattr(fuzz_readers, "MEMORY_BYTES", most)
    reader = fuzz_readers.Reader(broken, (b"1", b"12"))
    monkeypatch.setattr(fuzz_readers, "readers", lambda: {"curve": reader})
    monkeypatch.setattr(fuzz_readers, "INPUTS_A_CHILD", 20)
    out = tmp_path / "broken"
    assert fuzz_readers.fuzz(0, 60, out, most=10) == (10, 10, 0)
    told = capsys.readouterr().out
    assert "MemoryError" in told and "ZeroDivisionError" in told
    name, data = fuzz_readers.input_of(0, 7)
    assert (out / f"{name}-0-7").read_bytes() == data
    assert fuzz_readers.main(["--minutes", "0.005", "--out", str(out)]) == 1


@pytest.mark.parametrize(("data", "wanted"), [(b"PAR1", (1, 0, 1)), (b"PAR2", (1, 1, 0))])
def test_parquet_that_ends_the_child_is_counted_apart(
    data: bytes, wanted: tuple[int, int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = fuzz_readers.Reader(lambda data: os.abort(), ())
    monkeypatch.setattr(fuzz_readers, "readers", lambda: {"log": reader})
    monkeypatch.setattr(fuzz_readers, "input_of", lambda seed, number: ("log", data))
    assert fuzz_readers.fuzz(0, 60, tmp_path, most=1) == wanted
