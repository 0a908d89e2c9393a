"""Files on the server that a session refers to: only below one directory, and gone at any time."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.views.your_data.input import SAMPLE_NAMES, allowed_corpus, allowed_path, allowed_paths
from tests.meaning import mentions, refused
from ultr_core.errors import InputError, named
from ultr_core.jobs.your_data import SOURCE
from ultr_core.own_data.samples import sample_files

OpenApp = Callable[..., AppTest]
KINDS = ("corpus", "log", "ranker", "scores", "curve")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for sample in sample_files().values():
        (tmp_path / sample.name).write_bytes(sample.data)
    return tmp_path


@pytest.fixture
def page(open_app: OpenApp, folder: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    app = open_app(None)
    monkeypatch.setattr(sys, "argv", ["app.py", "--allow-paths", str(folder)])
    return app.switch_page("pages/your_data.py").run()


def take(app: AppTest, *kinds: str) -> AppTest:
    for kind in kinds:
        if kind == "curve":
            app.session_state[SOURCE.key] = "file"
            app.run()
        app.text_input(key=f"data-path-{kind}-0").set_value(SAMPLE_NAMES[kind]).run()
        assert not app.exception
        assert not app.error
    return app


def about_file(app: AppTest, kind: str) -> list[str]:
    name = SAMPLE_NAMES[kind].split("_")[1]
    return [error.value for error in app.error if name in error.value]


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def test_paths_only_where_the_server_was_started_for_them(open_app: OpenApp, page: AppTest) -> None:
    take(page, "corpus", "log")
    assert "**Click log**" in words(page)
    assert page.session_state["your_data"].files["corpus"].data == b""
    sys.argv = ["app.py"]
    page.run()
    assert not [field for field in page.text_input if "path" in field.label]


def no_more(path: Path) -> None:
    path.unlink()


def other_content(path: Path) -> None:
    path.write_text("words")


def same_size(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def link_out(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def parent_gone(path: Path) -> None:
    path.parent.rename(path.parent.with_name(f"{path.parent.name}-moved"))


HAPPENS = (no_more, other_content, same_size, pipe, directory, loop, link_out, parent_gone)


@pytest.mark.parametrize(
    ("kind", "happens"),
    [*(("corpus", each) for each in HAPPENS), *((kind, pipe) for kind in KINDS[1:])],
)
def test_whatever_happens_to_a_file_is_one_sentence_and_it_can_be_removed(
    page: AppTest, folder: Path, kind: str, happens: Callable[[Path], None]
) -> None:
    take(page, *(() if kind in ("corpus", "log", "ranker") else ("corpus",)), kind)
    happens(folder / SAMPLE_NAMES[kind])
    for _ in range(2):
        page.run()
        assert not page.exception
        about = about_file(page, kind)
        assert len(about) == 1
        assert mentions(about[0], "path")
    page.button(key=f"data-remove-{kind}").click().run()
    assert not page.exception
    assert kind not in page.session_state["your_data"].files
    assert not about_file(page, kind)


def test_a_file_that_vanishes_while_it_is_read_is_a_sentence(
    page: AppTest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishes(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("pages.views.your_data.log.preview_log", vanishes)
    page.text_input(key="data-path-log-0").set_value(SAMPLE_NAMES["log"]).run()
    assert not page.exception
    assert os.strerror(errno.ENOENT) in page.error[0].value
    assert page.button(key="data-remove-log")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    below = tmp_path / "root"
    (below / "inside").mkdir(parents=True)
    (tmp_path / "secret").write_text("1")
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "file").write_text("1")
    (tmp_path / "locked").chmod(0)
    (tmp_path / "door").symlink_to(tmp_path / "locked")
    (below / "file").write_text("1")
    (below / "to_file").symlink_to(below / "file")
    (below / "link").symlink_to(tmp_path / "secret")
    (below / "dangling").symlink_to(tmp_path / "nothing")
    (below / "loop").symlink_to(below / "loop")
    (below / "ping").symlink_to(below / "pong")
    (below / "pong").symlink_to(below / "ping")
    return below


OUTSIDE = (
    "../secret", "../nothing", "/etc/passwd", "/etc/nothing", "/etc/passwd/under", "/etc",
    "inside/../../secret", "link", "dangling", "../locked/file", "../" + "x" * 300,
    "/" + "x/" * 3_000, "../roo", "../root2", "..", "/proc/self/mem",
)  # fmt: skip


@pytest.mark.parametrize("text", OUTSIDE)
def test_outside_of_the_directory_every_answer_is_the_same(root: Path, text: str) -> None:
    with pytest.raises(InputError) as told:
        allowed_path(text, str(root))
    with pytest.raises(InputError) as other:
        allowed_path("../nothing", str(root))
    assert told.value.about == "outside_root"
    start, same = named(text), str(other.value).removeprefix("../nothing")
    assert len(start) <= 200
    assert str(told.value) == start + same
    assert named(root) in same


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("loop", ("not_a_file", "link")),
        ("ping", ("not_a_file", "link")),
        ("loop/file", ("not_a_file", "link")),
        ("inside", ("not_a_file", "directory")),
        ("", ("not_a_file", "directory")),
        ("nothing", ("not_a_file", "exist")),
        ("x" * 300, ("path_lookup",)),
        ("a\0b", ("not_a_path",)),
        ("\udcff\ud800", ("not_a_path",)),
    ],
)
def test_inside_of_it_a_sentence_says_what_is_wrong(
    root: Path, text: str, fault: tuple[object, ...]
) -> None:
    with refused(*fault):
        allowed_path(text, str(root))


def test_a_file_inside_may_be_given_in_any_way(root: Path, tmp_path: Path) -> None:
    by_link = tmp_path / "also"
    by_link.symlink_to(root)
    for top in (root, by_link):
        for text in ("file", "to_file", "inside/../file", str(top / "file"), str(root / "file")):
            assert allowed_path(text, str(top)) == root.resolve() / "file"


def test_a_directory_of_a_corpus_gives_its_training_part(root: Path, tmp_path: Path) -> None:
    (root / "corpus").mkdir()
    for name in ("train.txt.gz", "vali.txt", "test.txt"):
        (root / "corpus" / name).write_bytes(b"")
    assert allowed_corpus("corpus", str(root)) == root.resolve() / "corpus" / "train.txt.gz"
    assert allowed_corpus("file", str(root)) == root.resolve() / "file"
    (root / "corpus" / "train.txt.gz").unlink()
    (root / "corpus" / "circle").symlink_to("circle")
    with refused("part_missing"):
        allowed_corpus("corpus", str(root))
    with refused("path_lookup"):
        allowed_corpus("x" * 5_000, str(root))
    (root / "corpus" / "train.txt").symlink_to(tmp_path / "secret")
    for outside in ("corpus", "..", "/etc"):
        with refused("outside_root"):
            allowed_corpus(outside, str(root))


@pytest.fixture
def logs(root: Path, tmp_path: Path) -> Path:
    for folder in (root / "logs", root / "whole", tmp_path / "out"):
        folder.mkdir()
        for name in ("a.csv", "b.csv", ".hidden.csv"):
            (folder / name).write_text("query,document,position,click\nq,d,1,1\nq,e,2,0\n")
    (root / "whole" / "_SUCCESS").touch()
    (root / "logs" / "c.csv").symlink_to(tmp_path / "out" / "a.csv")
    (root / "gone").symlink_to(tmp_path / "out")
    (root / "nowhere").symlink_to(tmp_path / "nothing")
    return root


def names(found: list[Path], top: Path) -> list[str]:
    return [str(path.relative_to(top.resolve())) for path in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("logs/*.csv", ["logs/a.csv", "logs/b.csv"]),
        ("*/a.csv", ["logs/a.csv", "whole/a.csv"]),
        ("l[o]gs/?.csv", ["logs/a.csv", "logs/b.csv"]),
        ("inside/../logs/[ab].csv", ["logs/a.csv", "logs/b.csv"]),
        ("whole", ["whole/a.csv", "whole/b.csv"]),
        ("logs/a.csv", ["logs/a.csv"]),
    ],
)
def test_a_pattern_or_a_directory_of_parts_is_several_files(
    logs: Path, text: str, expected: list[str]
) -> None:
    assert names(allowed_paths(text, str(logs)), logs) == expected
    assert names(allowed_paths(str(logs / text), str(logs)), logs) == expected


@pytest.mark.parametrize(
    "text",
    [*OUTSIDE, "../*", "/etc/*", "/etc/pass*", "../out/*.csv", "gone/*.csv", "gone", "nowhere/*",
     "inside/../../*", "logs/*/../../../*"],
)  # fmt: skip
def test_no_pattern_looks_outside_of_the_directory(logs: Path, text: str) -> None:
    with pytest.raises(InputError) as told:
        allowed_paths(text, str(logs))
    assert told.value.about == "outside_root"
    assert not mentions(told.value, "a.csv")


@pytest.mark.parametrize("text", ["g*/*.csv", "n*/*", "g*/a.csv", "lo*/c.csv", "*.csv", "**/x"])
def test_links_out_of_it_match_nothing(logs: Path, text: str) -> None:
    with refused("no_match"):
        allowed_paths(text, str(logs))


def test_a_directory_with_a_part_that_leads_out_is_refused(logs: Path, tmp_path: Path) -> None:
    (logs / "whole" / "c.csv").symlink_to(tmp_path / "out" / "a.csv")
    with refused("outside_root"):
        allowed_paths("whole", str(logs))
    with refused("log_incomplete"):
        allowed_paths("logs", str(logs))


def test_a_log_by_pattern_is_read_as_one_and_watched(page: AppTest, folder: Path) -> None:
    (folder / "more_log.csv").write_bytes(sample_files()["log"].data)
    page.text_input(key="data-path-log-0").set_value("*_log.csv").run()
    assert not page.exception and not page.error
    bench = page.session_state["your_data"]
    assert [each.name for each in bench.files["log"].files] == ["more_log.csv", SAMPLE_NAMES["log"]]
    assert bench.held() == 0
    once = sample_files()["log"].data.count(b"\n") - 1
    assert bench.made["log"].rows == 2 * once
    (folder / "more_log.csv").write_text("words")
    page.run()
    assert len(page.error) == 1
    assert mentions(page.error[0].value.replace("\\", ""), "more_log.csv", "path")
