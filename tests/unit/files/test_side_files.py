"""Group sizes beside a corpus file: found by its name, but never outside of what may be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.meaning import refused
from ultr_core.files import load_corpus
from ultr_core.files.letor_lines import Source

ROWS = "1 1:1\n0 1:2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory that may be read, beside a secret and sizes that would fit."""
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("password\n")
    (tmp_path / "sizes").write_text("1\n1\n")
    (tmp_path / "root" / "rows.txt").write_text(ROWS)
    return tmp_path / "root"


@pytest.mark.parametrize("ending", [".query", ".group"])
@pytest.mark.parametrize("target", ["../secret", "../sizes", "../absent", "rows.txt.query/loop"])
def test_a_side_file_that_leads_out_is_neither_read_nor_told_of(
    root: Path, ending: str, target: str
) -> None:
    (root / f"rows.txt{ending}").symlink_to(target)
    with refused("no_query_ids") as caught:
        load_corpus(root / "rows.txt", within=root)
    assert "password" not in str(caught.value)
    assert str(caught.value).count(str(root)) == 1 + target.startswith("..")


def test_the_next_place_is_taken_where_the_first_leads_out(root: Path) -> None:
    (root / "rows.txt.query").symlink_to("../secret")
    (root / "rows.txt.group").write_text("1\n1\n")
    assert load_corpus(root / "rows.txt", within=root).n_queries == 2


def test_links_within_the_directory_and_by_whoever_owns_the_machine_are_followed(
    root: Path,
) -> None:
    (root / "rows.txt.query").symlink_to("../sizes")
    assert load_corpus(root / "rows.txt").n_queries == 2
    assert load_corpus(root / "rows.txt", within=root.parent).n_queries == 2


@pytest.mark.parametrize("groups", ["../secret", "link", "../absent"])
def test_given_group_sizes_and_the_file_itself_stay_inside_too(root: Path, groups: str) -> None:
    (root / "link").symlink_to("../secret")
    with refused("leads_out", root) as caught:
        load_corpus(root / "rows.txt", groups=root / groups, within=root)
    with refused("leads_out", root):
        load_corpus(root / groups, within=root)
    assert "password" not in str(caught.value)


def test_sizes_may_be_an_upload_beside_a_file(root: Path) -> None:
    sizes = Source.upload(b"1\n1\n", "sizes")
    assert load_corpus(root / "rows.txt", groups=sizes, within=root).n_queries == 2
