"""What was given on the command line after ``streamlit run app.py --``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Launch:
    """Options of this server.

    corpus: the directory of a LETOR corpus, None for the built-in one. paths: the directory whose
    files the page Your data may read by path, None for no file.
    """

    corpus: str | None = None
    paths: str | None = None


def read_launch(arguments: Sequence[str] | None = None) -> Launch:
    """Read the options; unknown ones are left to Streamlit."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--corpus", metavar="DIR", default=None)
    parser.add_argument("--allow-paths", metavar="DIR", default=None)
    given, _ = parser.parse_known_args(sys.argv[1:] if arguments is None else arguments)
    return Launch(given.corpus, given.allow_paths)
