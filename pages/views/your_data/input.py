"""How a file comes to the page Your data: upload, sample, or a path where the server allows it."""

from __future__ import annotations

import fnmatch
import glob
import io
import os
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from pages.app.context import PageContext
from pages.app.markdown import plain, shown
from pages.app.uploads import take
from pages.views.your_data.bench import Bench, Brought, bench
from ultr_core.content import read
from ultr_core.errors import InputError, named, quoted
from ultr_core.files.disk import PACKED, readable_file, unpacked
from ultr_core.files.kinds import KINDS as IN_WORDS
from ultr_core.files.kinds import expecting, of_another_kind
from ultr_core.files.letor import training_file_of
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_parts import parts_of
from ultr_core.inspection import kind_of
from ultr_core.limits import (
    LOG_PARTS,
    OWN_FILES,
    SMALL_UPLOAD,
    UPLOADED_SMALL_TEXT,
    UPLOADED_TEXT,
    UPLOADED_UNPACKED,
    Room,
)
from ultr_core.own_data.samples import sample_files

_WORDS = read(__file__, "your_data")

LOOKS_LIKE, HELP = (
    {kind: words.text(kind) for kind in words.entries}
    for words in (_WORDS.part("looks-like"), _WORDS.part("help"))
)
"""By kind of file: how it looks, and what it is for."""

KINDS = {
    **IN_WORDS,
    "clicks": "clicks for a click log",
    "qrels": IN_WORDS["judgements"],
    "logger-scores": IN_WORDS["scores"],
    "query-texts": IN_WORDS["names"],
    "document-names": IN_WORDS["names"],
}


BESIDE = {"log": ("clicks",), "corpus": ("groups", "qrels", "query-texts", "document-names")}
"""By kind of file: those that say more about it. They stay when it is removed."""

SAMPLE_NAMES = {
    "corpus": "sample_corpus.txt",
    "log": "sample_log.csv",
    "curve": "sample_curve.csv",
    "ranker": "sample_ranker.json",
    "scores": "sample_scores.csv",
}


def bring(
    page: PageContext,
    kind: str,
    label: str,
    text: str,
    help_: str,
    *,
    small: bool = False,
    several: bool = False,
) -> Brought | None:
    """The file of a kind, or the ways to bring one; ``text`` says what such a file looks like.

    A ``small`` one is uploaded and never read by its path. ``several`` may be one log. None as well
    for a file that is not as it was when it was taken by its path; then one sentence and the button
    to remove it are shown.
    """
    own = bench()
    with st.container(key=f"data-bring-{kind}", gap="small"):
        file = own.files.get(kind)
        if file is None:
            _ways(page, own, kind, label, text, help_, small, several)
            return None
        _shown(kind, file)
        if fault := file.fault():
            st.error(plain(fault), icon=":material/error:")
            return None
    return file


def _shown(kind: str, file: Brought) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        about = "sample" if file.sample else size_words(file.size)
        st.markdown(f":material/draft: **{plain(named(file.name))}** ({about})", width="content")
        st.button(
            "Remove", key=f"data-remove-{kind}", type="tertiary", icon=":material/close:",
            on_click=bench().drop, args=(kind,),
            help=f"Remove {plain(named(file.name))} and its results",
        )  # fmt: skip


def show_kept(kind: str, name: str) -> None:
    """The files beside one that is not there: they act on the next one, and can be removed."""
    files = bench().files
    found = [beside for beside in BESIDE[kind] if beside in files]
    if found:
        st.markdown(f"Kept for the next {name}:")
    for beside in found:
        _shown(beside, files[beside])


def _ways(
    page: PageContext, own: Bench, kind: str, label: str, text: str, help_: str, small: bool,
    several: bool,
) -> None:  # fmt: skip
    turn = own.turns.setdefault(kind, 0)
    key = f"data-upload-{kind}-{turn}"
    st.file_uploader(
        label, key=key, help=help_, on_change=partial(_take, kind, key, small),
        accept_multiple_files=several, max_upload_size=SMALL_UPLOAD.most if small else None,
    )  # fmt: skip
    if page.launch.paths is not None and not small:
        path_key = f"data-path-{kind}-{turn}"
        st.text_input(
            f"{label}: or a path on this server", key=path_key,
            placeholder=shown(page.launch.paths), on_change=_take_path,
            args=(kind, path_key, page.launch.paths, several),
            help=_PARTS if several else _SPLITS if kind == "corpus" else None,
        )  # fmt: skip
    if kind in SAMPLE_NAMES:
        _sample_buttons(kind)
    st.markdown(text)
    if fault := own.faults.get(kind):
        st.error(plain(fault), icon=":material/error:")


def _sample_buttons(kind: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use the sample", key=f"data-sample-{kind}", on_click=use_samples, args=((kind,),),
            icon=":material/science:",
        )  # fmt: skip
        download(
            "Download the sample", partial(_sample_bytes, kind), SAMPLE_NAMES[kind],
            key=f"data-get-{kind}", kind="tertiary",
        )  # fmt: skip


def download(
    label: str,
    make: Callable[[], bytes],
    name: str,
    *,
    key: str,
    kind: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """A button that saves what ``make`` gives when it is clicked, without running the page."""
    own = bench()
    own.offers[key] = make
    st.download_button(
        label, partial(_offered, weakref.ref(own), key), name, on_click="ignore", key=key,
        icon=":material/download:", type=kind, mime="application/octet-stream",
    )  # fmt: skip


def _offered(own: weakref.ref[Bench], key: str) -> bytes:
    found = own()
    make = None if found is None else found.offers.get(key)
    if make is None:  # Streamlit answers that it failed, where empty bytes would be saved
        raise InputError("This file's session has ended; reload the page.", "lost_file")
    return make()


def use_samples(kinds: tuple[str, ...]) -> None:
    """Callback: take the sample files of these kinds."""
    for kind in kinds:
        sample = sample_files()[kind]
        bench().drop(*BESIDE.get(kind, ()))  # a sample is whole
        bench().bring(kind, Brought(sample.name, sample.data, sample=True))


def size_words(size: int) -> str:
    """A number of bytes in words."""
    if size < 1_000_000:
        return f"{max(size / 1e3, 0.1):.3g} kB"
    return f"{size / 1e6:.3g} MB"


def _sample_bytes(kind: str) -> bytes:
    return sample_files()[kind].data


def _take(kind: str, key: str, small: bool) -> None:
    """Callback: move an upload from Streamlit's store to the session's bench."""
    own = bench()
    try:
        taken = take(key, small=small)
        if not taken:
            return
        for name, data in taken:
            if not data:
                raise InputError(f"{named(name)} is empty; choose a file with content.")
        _require_small_when_unpacked(taken, kind, small)
        own.bring(kind, Brought.together([Brought(name, data) for name, data in taken]))
    except InputError as error:
        own.faults[kind] = str(error)
    own.turns[kind] += 1


_IN_PIECES = ("corpus", "log", "own-log", "clicks")
"""Kinds that are read piece by piece; the others are read as one text."""


def _require_small_when_unpacked(
    taken: Sequence[tuple[str, bytes]], kind: str, small: bool
) -> None:
    """Raise InputError for packed uploads that are damaged or would fill the memory together."""
    of_text = UPLOADED_SMALL_TEXT if small else UPLOADED_TEXT
    limit = UPLOADED_UNPACKED if kind in _IN_PIECES else of_text
    most = limit.most
    for name, data in taken:
        if data.startswith(PACKED):
            for piece in unpacked(io.BytesIO(data), len(data), named(name), 1 << 20):
                most -= len(piece)
                if most < 0:
                    raise limit.exceeded(f"{named(name)}, unpacked,")


_PARTS = (
    "A pattern such as logs/2024-*.parquet, or a directory that contains parts and a _SUCCESS "
    "file, is read as one log."
)


_SPLITS = (
    "If you give a directory with train.txt, vali.txt and test.txt, its training part is used."
)


def _take_path(kind: str, key: str, root: str, several: bool) -> None:
    """Callback: a file below the directory that the server was started for, or several."""
    own = bench()
    text = str(st.session_state.get(key) or "").strip()
    if not text:
        return
    try:
        paths = (
            allowed_paths(text, root) if several
            else [allowed_corpus(text, root)] if kind == "corpus"
            else [allowed_path(text, root)]
        )  # fmt: skip
    except InputError as error:
        own.faults[kind] = str(error)
        return
    own.turns[kind] += 1
    own.bring(kind, Brought.together([Brought.at(path) for path in paths]))


def allowed_path(text: str, root: str) -> Path:
    """A regular file below ``root``, links followed.

    Raises InputError for any other path. Outside of ``root`` nothing is looked up for the answer:
    it is the same whatever is there.
    """
    return readable_file(_allowed(text, root), "The file")


def allowed_corpus(text: str, root: str) -> Path:
    """A file below ``root``, or of a directory there the training part.

    Raises InputError as `allowed_path` does, and for a directory that is not a corpus.
    """
    place = Path(_allowed(text, root))
    return allowed_path(str(training_file_of(place)) if os.path.isdir(place) else text, root)


def allowed_paths(text: str, root: str) -> list[Path]:
    """The files below ``root`` of a path, a pattern, or a directory of parts.

    Raises InputError as `allowed_path` does. Directories that a link leads to outside of ``root``
    are not looked into, whatever a pattern says.
    """
    found, place = [text], _allowed(text, root)
    if os.path.isdir(place):
        found = [str(path) for path in parts_of(Path(place))]
    elif glob.has_magic(text) and not os.path.exists(place):
        found = _matching(place, os.path.realpath(root))
        if not found:
            raise InputError(f"No file name matches the pattern {quoted(text)}.", "no_match")
    LOG_PARTS.require(len(found), named(text))
    return [allowed_path(each, root) for each in found]


def _matching(pattern: str, base: str) -> list[str]:
    """The files below ``base`` of a pattern below it; links out of it are not followed."""
    found = [base]
    for part in os.path.relpath(pattern, base).split(os.sep):
        names = [
            os.path.join(folder, name)
            for folder in found
            for name in _names_in(folder)
            if fnmatch.fnmatchcase(name, part) and (part[0] == "." or name[0] != ".")
        ]
        real = dict.fromkeys(map(os.path.realpath, names))
        found = [each for each in real if _below(each, base)]
    return [each for each in found if os.path.isfile(each)]


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _allowed(text: str, root: str) -> str:
    """The real path of what may be read, whether anything is there or not."""
    outside = InputError(
        f"{named(text)} is outside {named(root)}, the directory that this server may read.",
        "outside_root",
    )
    base = os.path.realpath(root)
    wanted = os.path.normpath(os.path.join(base, text))
    if not (_below(wanted, base) or _below(wanted, os.path.abspath(root))):
        raise outside
    try:
        path = os.path.realpath(wanted)
    except ValueError:  # a zero byte, or text that no name of a file can have
        raise InputError(f"{named(text)} is not a valid file path.", "not_a_path") from None
    if not _below(path, base):
        raise outside
    return path


def _below(path: str, top: str) -> bool:
    return os.path.commonpath((path, top)) == top


def source_of(file: Brought, room: Room = OWN_FILES) -> Source:
    """Where the core reads a brought file; raises InputError if there is none any more.

    room: what may come of an upload.
    """
    if file.path is None:
        return Source.upload(file.data, file.name, room)
    try:
        return Source.file(file.path)
    except OSError as error:
        raise InputError(f"{file.name} cannot be read ({error.strerror or error}).") from None


def require_kind(file: Brought, *wanted: str) -> str:
    """What a file is by its content; raises InputError if it is another kind than ``wanted``."""
    source = source_of(file.files[0])
    with expecting(wanted[0], source):
        kind = kind_of(source)
    if kind not in wanted:
        raise of_another_kind(file.name, KINDS[kind], KINDS[wanted[0]])
    return kind
