"""``notebook``: write the notebook that gives a page's numbers with ``ultr_core`` alone."""

from __future__ import annotations

import argparse
import sys
from urllib.parse import urlsplit

from ultr_core.commands.own_files import protect_inputs
from ultr_core.commands.remedies import option_of
from ultr_core.commands.shared import (
    OK,
    add_corpus_option,
    add_curve_options,
    add_setting_options,
    print_notes,
    settings_from,
)
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError, named
from ultr_core.export import NOTEBOOK_PAGES, PageState, page_notebook
from ultr_core.files.disk import write_whole
from ultr_core.lessons import shown_state
from ultr_core.links import read_page_query
from ultr_core.settings import PARAMETERS, Settings


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("page", metavar="PAGE", help=f"one of {', '.join(NOTEBOOK_PAGES)}")
    parser.add_argument("--out", metavar="FILE.ipynb", help="where to write it; else it is printed")
    parser.add_argument(
        "--link",
        metavar="URL",
        help="address of the page, as Share gives it: its settings and the page's own values",
    )
    add_corpus_option(parser)
    add_setting_options(parser)
    add_curve_options(parser)


def run(options: argparse.Namespace) -> int:
    """Write the notebook."""
    protect_inputs(
        {"--out": options.out},
        {"--corpus": options.corpus} | {option_of(name): getattr(options, name) for name in CURVES},
    )
    content = page_notebook(shown_state(_state(options))).as_bytes()
    if options.out is None:
        sys.stdout.write(content.decode())
    else:
        write_whole(options.out, content, "The notebook")
        # Not on standard output, which carries the notebook itself when there is no --out.
        print(f"Written to {named(options.out)}.", file=sys.stderr)
    return OK


def _state(options: argparse.Namespace) -> PageState:
    given = [name for name in (*PARAMETERS, *CURVES) if getattr(options, name) is not None]
    if options.link is None:
        return PageState(options.page, settings_from(options), corpus=options.corpus)
    if given:
        raise InputError(
            "--link names all settings by itself; give either it or the options of settings."
        )
    settings, values = _linked(options.page, options.link)
    return PageState(options.page, settings, values, options.corpus, options.link)


def _linked(page: str, link: str) -> tuple[Settings, dict[str, object]]:
    try:
        query = urlsplit(link).query
    except ValueError:
        raise InputError("--link is no address; give the one that Share shows.") from None
    settings, values, notices = read_page_query(page, query)
    print_notes(notices)
    return settings, values
