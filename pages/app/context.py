"""What a page is given: the server's options, the settings asked for, and their world."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from pages.app.markdown import plain, show_error, show_note, told
from pages.app.registry import PageInfo
from pages.app.slots import Slot
from pages.app.training_pool import processes_wanted
from ultr_core.errors import InputError, named, quoted
from ultr_core.settings import Settings

if TYPE_CHECKING:
    from ultr_core.lab import Lab

_CORPUS, _PATHS = "--corpus", "--allow-paths"
_RIGHT = f"the server takes {_CORPUS} DIR and {_PATHS} DIR"


@dataclass(frozen=True)
class Launch:
    """Options of this server.

    corpus: the directory of a LETOR corpus, None for the built-in one. paths: the directory whose
    files the page Your data may read by path, None for no file.
    """

    corpus: str | None = None
    paths: str | None = None


def show_faults(faults: Sequence[str]) -> None:
    """Say on the page what is wrong with the options of this server."""
    for fault in (*faults, *filter(None, [processes_wanted()[1]])):
        st.warning(plain(fault), icon=":material/error:")


def own_corpus() -> str | None:
    """The directory of this server's corpus, None for the built-in one."""
    return launched_with(sys.argv[1:])[0].corpus


def launched_with(arguments: Sequence[str]) -> tuple[Launch, tuple[str, ...]]:
    """The options among ``arguments``, and a sentence for each thing that was not taken."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for option in (_CORPUS, _PATHS):
        parser.add_argument(option, dest=option, nargs="?", const="")
    given, unknown = parser.parse_known_args(arguments)
    corpus, paths = (vars(given)[option] for option in (_CORPUS, _PATHS))
    faults = []
    if unknown:
        faults.append(
            f"This server was started with {quoted(unknown[0])}, which is not a valid option, so "
            f"it is ignored; {_RIGHT}."
        )
    faults += [
        f"This server was started with {option} more than once; the last value is used. Give the "
        "option only once."
        for option in (_CORPUS, _PATHS)
        if sum(text.partition("=")[0] == option for text in arguments) > 1
    ]
    if corpus == "":
        faults.append(
            f"This server was started with {_CORPUS} but no directory, so the built-in corpus is "
            f"used; {_RIGHT}."
        )
    if paths == "":
        faults.append(
            f"This server was started with {_PATHS} but no directory, so files cannot be opened by "
            f"path; {_RIGHT}."
        )
    elif paths is not None and not os.path.isdir(paths):
        faults.append(
            f"{_PATHS} {named(paths)} is not a directory this server can find, so files cannot be "
            "opened by path; give an existing directory."
        )
        paths = None
    return Launch(corpus or None, paths or None), tuple(faults)


@dataclass(frozen=True)
class PageContext:
    """What the shell hands to a page.

    ``settings`` is the world asked for, or the sentence that says why there is none; ``launch`` are
    the server's options.
    """

    info: PageInfo
    settings: Settings | InputError
    launch: Launch


CONTEXT: ContextVar[PageContext | None] = ContextVar("page_context", default=None)


def require_settings(context: PageContext) -> Settings:
    """The settings, or one sentence on the page and no results."""
    if isinstance(context.settings, InputError):
        st.warning(told(context.settings), icon=":material/error:")
        st.stop()
    return context.settings


def require_lab(context: PageContext) -> Lab:
    """The server's lab with the page's corpus and settings, or one sentence and no results."""
    from pages.app.server_lab import LAB

    return replace(LAB, corpus=context.launch.corpus, settings=require_settings(context))


def require_world(lab: Lab, *waiting_words: Slot) -> None:
    """Build the world, or show the one sentence that says why it cannot be built.

    Then nothing is awaited any more, and the places of the waiting words are emptied.
    """
    from ultr_core.lab import world_notices

    spinner = st.spinner("Building the corpus and its rankers (only once) …")
    try:
        with ExitStack() as waiting:
            world = lab.telling(lambda _: waiting.enter_context(spinner)).world()
        notices = world_notices(world, lab.settings)
    except InputError as error:
        for words in waiting_words:
            words.place().empty()
        show_error(error)
        st.stop()
    for notice in notices:
        show_note(notice)
