"""Directories with training, validation and test files."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.files import load_directory

TRAIN = "2 qid:1 1:0.3 2:0.7 # docid = a\r\n0 qid:1 1:0.1 # docid = b\r\n"
VALIDATION = "1 qid:5 2:0.5\n0 qid:5 9:1\n"
TEST = "0 qid:7 1:3\n1 qid:7 0:2"


def fill(folder: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name.replace("_", ".")).write_bytes(data)
    return folder


def test_three_files_share_their_feature_columns(tmp_path: Path) -> None:
    splits = load_directory(
        fill(tmp_path, train_txt=TRAIN, vali_txt=VALIDATION, test_txt=TEST), missing_zero=True
    )
    assert splits.source == "files"
    assert splits.name == tmp_path.name
    assert splits.notices == ()
    for part in (splits.train, splits.validation, splits.test):
        assert part.feature_ids.tolist() == [0, 1, 2, 9]
        assert part.is_sparse == splits.train.is_sparse
    assert splits.train.document_ids == ("a", "b")
    features = splits.test.features
    dense = features.toarray() if splits.test.is_sparse else features
    assert dense.tolist() == [[0, 3, 0, 0], [2, 0, 0, 0]]


@pytest.mark.parametrize("name", ["vali_txt", "valid_txt", "validation_txt"])
@pytest.mark.parametrize("packed", [False, True])
def test_names_of_the_validation_file(tmp_path: Path, name: str, packed: bool) -> None:
    files: dict[str, str | bytes] = {"train_txt": TRAIN, name: VALIDATION, "test_txt": TEST}
    if packed:
        files = {f"{key}_gz": gzip.compress(str(text).encode()) for key, text in files.items()}
    splits = load_directory(str(fill(tmp_path, **files)), missing_zero=True)
    assert splits.validation.query_ids == ("5",)


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_missing_file_is_named_with_what_was_found(tmp_path: Path, part: str) -> None:
    files = {"train_txt": TRAIN, "validation_txt": VALIDATION, "test_txt": TEST}
    del files[f"{part}_txt"]
    fill(tmp_path, notes_md="x", **files)
    names = {
        "train": ("train.txt",),
        "validation": ("vali.txt", "valid.txt", "validation.txt"),
        "test": ("test.txt",),
    }[part]
    with refused("part_missing", *names, "notes.md") as caught:
        load_directory(tmp_path)
    found = str(caught.value).rpartition(":")[2]
    assert mentions(found, *(name.replace("_", ".") for name in files))


def test_many_other_files_are_counted(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"Fold{number:02}").mkdir()
    with refused("part_missing", "Fold00/", 22):
        load_directory(tmp_path)


def test_two_files_for_one_part_are_refused(tmp_path: Path) -> None:
    fill(tmp_path, train_txt=TRAIN, vali_txt=VALIDATION, valid_txt=VALIDATION, test_txt=TEST)
    with refused("part_twice", "vali.txt", "valid.txt"):
        load_directory(tmp_path)


def test_paths_that_are_no_directory(tmp_path: Path) -> None:
    with refused("no_corpus_directory", tmp_path / "absent", "exist", "train.txt"):
        load_directory(tmp_path / "absent")
    with refused("no_corpus_directory", tmp_path / "train.txt", "not"):
        load_directory(fill(tmp_path, train_txt=TRAIN) / "train.txt")
    empty = tmp_path / "empty"
    empty.mkdir()
    with refused("part_missing", "nothing"):
        load_directory(empty)


def test_a_fault_in_one_file_names_that_file(tmp_path: Path) -> None:
    fill(tmp_path, train_txt=TRAIN, vali_txt=VALIDATION, test_txt="1 qid:1 1:1\n1 qid:1 1:x\n")
    with refused("feature_value", tmp_path / "test.txt", "line 2", "column 9"):
        load_directory(tmp_path)


def test_group_size_files_work_here_too(tmp_path: Path) -> None:
    plain = {
        name: text.replace("qid:1 ", "")
        for name, text in (
            ("train_txt", TRAIN),
            ("vali_txt", "1 1:1\n0 2:1\n"),
            ("test_txt", "1 1:4\n"),
        )
    }
    fill(tmp_path, train_txt_query="2\n", vali_txt_query="1\n1\n", test_txt_query="1\n", **plain)
    splits = load_directory(tmp_path, missing_zero=True)
    assert splits.validation.sizes.tolist() == [1, 1]


def test_equal_parts_are_noticed(tmp_path: Path) -> None:
    splits = load_directory(
        fill(tmp_path, train_txt=TRAIN, vali_txt=TEST, test_txt=TEST), missing_zero=True
    )
    assert len(splits.notices) == 1
    assert mentions(splits.notices[0], "validation", "test", "same")
    assert not mentions(splits.notices[0], "training")


def test_sparse_and_dense_files_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.integers(3)} qid:{row // 5} {rng.integers(1, 40)}:{rng.random():.4f}\n"
        for row in range(200)
    ]
    fill(tmp_path, train_txt="".join(rows), vali_txt=VALIDATION, test_txt=TEST)
    splits = load_directory(tmp_path, missing_zero=True)
    assert splits.train.is_sparse
    assert splits.validation.is_sparse
    assert splits.validation.features.toarray().sum() == pytest.approx(1.5)


def test_what_is_no_regular_file_is_called_by_its_name(tmp_path: Path) -> None:
    train = tmp_path / "train.txt"
    train.symlink_to("absent")
    with refused("part_not_a_file", train, "broken", "link"):
        load_directory(tmp_path)
    train.unlink()
    train.symlink_to("/dev/null")
    with refused("part_not_a_file", train, "regular"):
        load_directory(tmp_path)
    train.unlink()
    train.symlink_to("train.txt")
    with refused("part_not_a_file", train, "itself"):
        load_directory(tmp_path)
    train.unlink()
    train.mkdir()
    with refused("part_not_a_file", train, "directory"):
        load_directory(tmp_path)


def test_a_directory_that_cannot_be_looked_up_says_why(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with refused("no_corpus_directory", loop, "itself"):
        load_directory(loop)
    broken = tmp_path / "broken"
    broken.symlink_to("absent")
    with refused("no_corpus_directory", broken, "broken", "link"):
        load_directory(broken)
    with refused("path_lookup", os.strerror(errno.ENAMETOOLONG)):
        load_directory(tmp_path / ("x" * 5_000))
