"""How a file comes to the page Your data: upload, sample, or a path where the server allows it."""

from __future__ import annotations

import io
import os
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from pages.app.context import PageContext
from pages.app.markdown import plain, shown
from pages.app.uploads import take
from pages.views.your_data.bench import GROWTH, Bench, Brought, bench, largest_upload_mb
from ultr_core.content import read
from ultr_core.errors import InputError, named
from ultr_core.files.disk import GZIP, readable_file, unpacked
from ultr_core.files.letor_lines import Source
from ultr_core.inspection import kind_of
from ultr_core.limits import SMALL_UPLOAD
from ultr_core.own_data.samples import sample_files

_WORDS = read(__file__, "your_data")

LOOKS_LIKE, HELP = (
    {kind: words.text(kind) for kind in words.entries}
    for words in (_WORDS.part("looks-like"), _WORDS.part("help"))
)
"""By kind of file: how it looks, and what it is for."""

KINDS = {
    "corpus": "a corpus",
    "log": "a click log",
    "curve": "a propensity curve",
    "ranker": "a ranker",
    "scores": "scores of a ranker",
    "groups": "a list of numbers, such as group sizes or scores",
    "qrels": "judgements",
    "query-texts": "a table of names",
    "document-names": "a table of names",
    "training": "a training file of svm_proprank",
}


SAMPLE_NAMES = {
    "corpus": "sample_corpus.txt",
    "log": "sample_log.csv",
    "curve": "sample_curve.csv",
    "ranker": "sample_ranker.json",
    "scores": "sample_scores.csv",
}


def bring(
    page: PageContext, kind: str, label: str, text: str, help_: str, *, small: bool = False
) -> Brought | None:
    """The file of a kind, or the ways to bring one; ``text`` says what such a file looks like.

    A ``small`` one is uploaded and never read by its path. None as well for a file that is not as
    it was when it was taken by its path; then one sentence and the button to remove it are shown.
    """
    own = bench()
    with st.container(key=f"data-bring-{kind}", gap="small"):
        file = own.files.get(kind)
        if file is None:
            _ways(page, own, kind, label, text, help_, small)
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
            help=f"Forget {plain(named(file.name))} and its results",
        )  # fmt: skip


def _ways(
    page: PageContext, own: Bench, kind: str, label: str, text: str, help_: str, small: bool
) -> None:
    turn = own.turns.setdefault(kind, 0)
    key = f"data-upload-{kind}-{turn}"
    st.file_uploader(
        label, key=key, help=help_, on_change=partial(_take, kind, key, small),
        max_upload_size=SMALL_UPLOAD.most if small else None,
    )  # fmt: skip
    if page.launch.paths is not None and not small:
        path_key = f"data-path-{kind}-{turn}"
        st.text_input(
            f"{label}: or its path on this server", key=path_key,
            placeholder=shown(page.launch.paths), on_change=_take_path,
            args=(kind, path_key, page.launch.paths),
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
        raise InputError("This file is gone with its session; load the page again.", "lost_file")
    return make()


def use_samples(kinds: tuple[str, ...]) -> None:
    """Callback: take the sample files of these kinds."""
    for kind in kinds:
        sample = sample_files()[kind]
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
        if taken is None:
            return
        name, data = taken
        if not data:
            raise InputError(f"{named(name)} is empty; choose a file with content.")
        _require_small_when_unpacked(data, name, small)
        own.bring(kind, Brought(name, data))
    except InputError as error:
        own.faults[kind] = str(error)
    own.turns[kind] += 1


def _require_small_when_unpacked(data: bytes, name: str, small: bool) -> None:
    """Raise InputError for a packed upload that is damaged or would fill the memory."""
    if data.startswith(GZIP):
        most = GROWTH * (SMALL_UPLOAD.most if small else largest_upload_mb()) << 20
        for _ in unpacked(io.BytesIO(data), len(data), named(name), 1 << 20, most):
            pass


def _take_path(kind: str, key: str, root: str) -> None:
    """Callback: a file below the directory that the server was started for."""
    own = bench()
    text = str(st.session_state.get(key) or "").strip()
    if not text:
        return
    try:
        path = allowed_path(text, root)
    except InputError as error:
        own.faults[kind] = str(error)
        return
    own.turns[kind] += 1
    own.bring(kind, Brought.at(path))


def allowed_path(text: str, root: str) -> Path:
    """A regular file below ``root``, links followed.

    Raises InputError for any other path. Outside of ``root`` nothing is looked up for the answer:
    it is the same whatever is there.
    """
    outside = InputError(
        f"{named(text)} is outside of {named(root)}, the directory that this server may read.",
        "outside_root",
    )
    base = os.path.realpath(root)
    wanted = os.path.normpath(os.path.join(base, text))
    if not (_below(wanted, base) or _below(wanted, os.path.abspath(root))):
        raise outside
    try:
        path = os.path.realpath(wanted)
    except ValueError:  # a zero byte, or text that no name of a file can have
        raise InputError(f"{named(text)} cannot be the path of a file.", "not_a_path") from None
    if not _below(path, base):
        raise outside
    return readable_file(path, "The file")


def _below(path: str, top: str) -> bool:
    return os.path.commonpath((path, top)) == top


def source_of(file: Brought) -> Source:
    """Where the core reads a brought file; raises InputError if there is none any more."""
    if file.path is None:
        return Source.upload(file.data, file.name)
    try:
        return Source.file(file.path)
    except OSError as error:
        raise InputError(f"{file.name} cannot be read ({error.strerror or error}).") from None


def require_kind(file: Brought, *wanted: str) -> str:
    """What a file is by its content; raises InputError if it is another kind than ``wanted``."""
    kind = kind_of(source_of(file))
    if kind not in wanted:
        raise InputError(
            f"{file.name} looks like {KINDS[kind]}; here {KINDS[wanted[0]]} is needed."
        )
    return kind
