"""What was given on the command line after ``streamlit run app.py --``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.app.plain_words import plain
from pages.app.training_pool import processes_wanted
from ultr_core.errors import named, quoted

_CORPUS, _PATHS = "--corpus", "--allow-paths"
_RIGHT = f"it takes {_CORPUS} DIR and {_PATHS} DIR"


@dataclass(frozen=True)
class Launch:
    """Options of this server.

    corpus: the directory of a LETOR corpus, None for the built-in one. paths: the directory whose
    files the page Your data may read by path, None for no file.
    """

    corpus: str | None = None
    paths: str | None = None


def read_launch() -> Launch:
    """The options of this server; what is wrong with them is said on the page."""
    launch, faults = launched_with(sys.argv[1:])
    for fault in (*faults, *filter(None, [processes_wanted()[1]])):
        st.warning(plain(fault), icon=":material/error:")
    return launch


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
            f"This server was started with {quoted(unknown[0])}, which it does not know and does "
            f"not use; {_RIGHT}."
        )
    if corpus == "":
        faults.append(
            f"This server was started with {_CORPUS} without a directory, so that the built-in "
            f"corpus is used; {_RIGHT}."
        )
    if paths == "":
        faults.append(
            f"This server was started with {_PATHS} without a directory, so that no file is read "
            f"by its path; {_RIGHT}."
        )
    elif paths is not None and not os.path.isdir(paths):
        faults.append(
            f"{_PATHS} {named(paths)} is no directory that this server can find, so that no file "
            "is read by its path; give one that is there."
        )
        paths = None
    return Launch(corpus or None, paths or None), tuple(faults)
