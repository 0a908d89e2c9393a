"""The cache of parsed corpora: the same answer with it, without it, and when it is broken."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from tests.inputs import assert_equal_corpora, dense
from ultr_core.corpus import Corpus
from ultr_core.files import letor, letor_cache, load_corpus, parse_corpus, write_letor
from ultr_core.files.locks import UNFOLLOWED, hold

posix = pytest.mark.skipif(os.name != "posix", reason="owners, modes and locks of POSIX")
ROWS = "1 qid:7 1:9 # docid = a\n0 qid:3 1:2 # docid = b\n0 qid:7 2:1 # docid = käse\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own that also takes small files and trusts them at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(letor_cache.SWITCH, raising=False)
    monkeypatch.setattr(letor_cache, "SMALLEST_FILE_BYTES", 1)
    monkeypatch.setattr(letor_cache, "_SETTLED_SECONDS", -1e9)
    return tmp_path / "cache" / "ultr-lab" / "corpora"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were really read."""
    names: list[str] = []
    read = letor.read_table

    def counted(source, **options):  # type: ignore[no-untyped-def]
        names.append(source.name)
        return read(source, **options)

    monkeypatch.setattr(letor, "read_table", counted)
    return names


def entries(cache: Path) -> list[Path]:
    return [entry for entry in cache.iterdir() if entry.is_dir()] if cache.exists() else []


@pytest.mark.parametrize(
    "rows",
    [ROWS, "2 qid:1 5:1 9:2\n1 qid:1 5:3 9:-4\n", "1 qid:1 1:2 2:1.7976931348623157e308\n"],
)
def test_the_second_read_is_equal_and_reads_nothing(
    tmp_path: Path, cache: Path, parsed: list[str], rows: str
) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(rows)
    shares: list[float] = []
    first = load_corpus(path, progress=shares.append)
    again = load_corpus(path, progress=shares.append)
    assert_equal_corpora(again, first)
    assert again.is_sparse == first.is_sparse
    assert np.array_equal(again.source_rows, first.source_rows)
    assert again.notices == first.notices
    assert len(first.notices) == ("e308" in rows or rows == ROWS)
    assert len(parsed) == 1
    assert shares == [1.0, 1.0]
    os.rename(path, tmp_path / "moved.txt")
    assert_equal_corpora(load_corpus(tmp_path / "moved.txt"), first)
    assert len(parsed) == 1


def test_other_content_or_group_sizes_are_read_anew(
    tmp_path: Path, cache: Path, parsed: list[str]
) -> None:
    path, sizes = tmp_path / "rows.txt", tmp_path / "rows.txt.query"
    path.write_text("1 1:1\n0 1:2\n")
    sizes.write_text("2\n")
    assert load_corpus(path).n_queries == 1
    sizes.write_text("1\n1\n")
    assert load_corpus(path).n_queries == 2
    path.write_text("1 1:1\n0 1:3\n")
    assert dense(load_corpus(path))[1, 0] == 3
    assert len(parsed) == 3


def test_a_change_that_leaves_size_and_time_alike_is_seen_by_content(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.txt"
    stamps = [[12, 2, time.time_ns(), 4]]
    monkeypatch.setattr(letor_cache, "_stamps", lambda files: stamps)
    monkeypatch.setattr(letor_cache, "_SETTLED_SECONDS", 2.0)
    for value in ("1", "2"):
        path.write_text(f"1 qid:1 1:{value}\n")
        assert dense(load_corpus(path)).tolist() == [[float(value)]]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "meta", "missing", "note", "file"])
def test_a_broken_cache_is_harmless(
    tmp_path: Path, cache: Path, parsed: list[str], damage: str
) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(ROWS)
    first = load_corpus(path)
    (entry,) = entries(cache)
    array = next(entry.glob("[di]*.npy"), None) or entry / "features.npy"
    content = bytearray(array.read_bytes())
    if damage == "flip":
        content[-1] ^= 64
        array.write_bytes(content)
    elif damage == "cut":
        array.write_bytes(content[:-1])
    elif damage == "empty":
        array.write_bytes(b"")
    elif damage == "meta":
        (entry / "meta.json").write_text('{"arrays": {"x": [[[')
    elif damage == "missing":
        array.unlink()
    elif damage == "note":
        for note in cache.glob("*.json"):
            note.write_text("[1")
    else:
        for file in sorted(cache.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        cache.rmdir()
        cache.write_text("in the way")
    assert_equal_corpora(load_corpus(path), first)
    assert len(parsed) == (1 if damage == "note" else 2)
    assert_equal_corpora(load_corpus(path), first)


def test_the_least_recently_used_go_first(
    tmp_path: Path, cache: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(4)]
    for number, path in enumerate(paths):
        features = np.full((40, 50), number + 1.0)
        write_letor(Corpus(features, np.ones(40), [0, 40]), path)
    monkeypatch.setattr(letor_cache, "LARGEST_CACHE_BYTES", 24_000)
    for path in paths[:2]:
        load_corpus(path)
    old = time.time() - 1000
    used = {path: letor_cache.CacheLookup.of(path) for path in paths[:2]}
    for age, path in enumerate(paths[:2]):
        lookup = used[path]
        assert lookup is not None and lookup.corpus() is not None and lookup.key is not None
        os.utime(cache / lookup.key / "meta.json", (old - age, old - age))
    load_corpus(paths[2])
    assert len(entries(cache)) == 2
    load_corpus(paths[0])
    assert len(parsed) == 3
    load_corpus(paths[1])
    assert len(parsed) == 4


@pytest.mark.parametrize("value", ["off", "OFF", "0"])
def test_it_can_be_switched_off(
    tmp_path: Path, cache: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(ROWS)
    load_corpus(path, cache=False)
    parse_corpus(ROWS.encode(), "upload")
    monkeypatch.setenv(letor_cache.SWITCH, value)
    load_corpus(path)
    assert entries(cache) == [] and len(parsed) == 3


def test_a_read_only_or_relative_place_is_no_error(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letor_cache, "SMALLEST_FILE_BYTES", 1)
    path = tmp_path / "rows.txt"
    path.write_text(ROWS)
    for place in ("relative/place", "/proc/nowhere"):
        monkeypatch.setenv("XDG_CACHE_HOME", place)
        assert load_corpus(path).n_queries == 2
    assert len(parsed) == 2
    assert not (Path.cwd() / "relative").exists()


LARGE = "1 qid:1 1:0.5 2:1 3:2\n0 qid:1 1:2 2:0 3:1\n" * 60_000
"""Its features are mapped, not copied."""


@posix
@pytest.mark.parametrize("rows", [ROWS, LARGE])
@pytest.mark.parametrize("file", ["array", "meta", "note"])
@pytest.mark.parametrize("in_place", ["pipe", "link", "writable"])
def test_only_regular_files_that_nobody_else_can_write_are_used(
    tmp_path: Path, cache: Path, parsed: list[str], rows: str, file: str, in_place: str
) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(rows)
    first = load_corpus(path)
    (entry,) = entries(cache)
    chosen = {
        "array": max(entry.glob("*.npy"), key=lambda array: array.stat().st_size),
        "meta": entry / "meta.json",
        "note": next(cache.glob("*.json")),
    }[file]
    if in_place == "writable":
        chosen.chmod(0o666)
    else:
        chosen.rename(tmp_path / "elsewhere")
        if in_place == "pipe":
            os.mkfifo(chosen)
        else:
            chosen.symlink_to(tmp_path / "elsewhere")
    assert_equal_corpora(load_corpus(path), first)
    assert len(parsed) == (1 if file == "note" else 2)
    assert_equal_corpora(load_corpus(path), first)
    assert len(parsed) == (1 if file == "note" else 2)


@posix
@pytest.mark.parametrize("place", ["corpora", "ultr-lab", "entry"])
@pytest.mark.parametrize("fault", ["another's", "writable", "link"])
def test_a_directory_that_others_can_write_to_is_not_used(
    tmp_path: Path,
    cache: Path,
    parsed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    fault: str,
) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(ROWS)
    first = load_corpus(path)
    (entry,) = entries(cache)
    chosen = {"corpora": cache, "ultr-lab": cache.parent, "entry": entry}[place]
    if fault == "writable":
        chosen.chmod(0o777)
    elif fault == "link":
        chosen.rename(tmp_path / "elsewhere")
        chosen.symlink_to(tmp_path / "elsewhere")
    else:
        real, number = os.lstat, chosen.stat().st_ino

        def of_another(wanted: Path) -> os.stat_result:
            found = real(wanted)
            if found.st_ino != number:
                return found
            return os.stat_result([*found[:4], found.st_uid + 1, *found[5:]])

        monkeypatch.setattr(os, "lstat", of_another)
    assert_equal_corpora(load_corpus(path), first)
    assert len(parsed) == 2
    # An entry is written anew; a directory above is left alone.
    load_corpus(path)
    assert len(parsed) == 2 + (place != "entry" or fault == "another's")


@posix
def test_what_is_made_is_closed_to_others_whatever_the_mask(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(ROWS)
    before = os.umask(0)
    try:
        load_corpus(path)
    finally:
        os.umask(before)
    made = [cache.parent, cache, *cache.rglob("*")]
    assert len(made) > 6
    assert not any(file.stat().st_mode & 0o077 for file in made)


@posix
def test_drafts_of_killed_processes_go_and_those_of_the_living_stay(
    tmp_path: Path, cache: Path
) -> None:
    cache.mkdir(mode=0o700, parents=True)
    for name in ("1-dead", "2-alive", "3-dead"):
        (cache / f".part-{name}").mkdir()
    (cache / ".part-3-dead" / "features.npy").write_bytes(b"half")
    (cache / ".part-4-dead").write_bytes(b"half a note")
    alive = os.open(cache / ".part-2-alive", UNFOLLOWED)
    try:
        assert hold(alive, cache / ".part-2-alive")
        path = tmp_path / "rows.txt"
        path.write_text(ROWS)
        load_corpus(path)
        assert [file.name for file in cache.glob(".part-*")] == [".part-2-alive"]
    finally:
        os.close(alive)
