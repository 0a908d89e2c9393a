"""``simulate``: write a click log as a reader might have one."""

from __future__ import annotations

import argparse

from ultr_core.commands.own_files import (
    OwnCorpus,
    add_own_corpus_option,
    own_corpus,
    protect_inputs,
)
from ultr_core.commands.shared import (
    OK,
    add_curve_options,
    add_json_option,
    add_options_of,
    add_setting_options,
    option_value,
    print_json,
    print_notes,
    progress_line,
    settings_from,
)
from ultr_core.corpus import synthetic_splits
from ultr_core.errors import InputError, named
from ultr_core.fields import Number
from ultr_core.files import write_letor
from ultr_core.files.disk import writing, written_together
from ultr_core.own_data.samples import MOST_RANKERS, OwnClicks, simulate_own_log
from ultr_core.settings import Settings
from ultr_core.words import counted

_NOTES = "--json prints out, clicks, query_draws, rankers, settings and notices."

_SETTINGS = (
    "eta", "eps_minus", "eps_plus", "clicks", "seed", "corpus_seed", "relevant_grade",
)  # fmt: skip
_HELPS = {
    "clicks": "Expected number of clicks in the log.",
    "seed": "Which simulated users come. The same seed draws the same queries with and without "
    "--sessions, but not the same clicks.",
}


RANKERS = Number(
    "rankers", "Number of production rankers", 1, MOST_RANKERS, default=1,
    help="Production rankers that serve the queries in turn, so that ranks change.",
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _NOTES
    add_own_corpus_option(parser, required=False)
    parser.add_argument(
        "--out",
        metavar="LOG.csv",
        required=True,
        help="where to write the log (gzip with .gz): query, document, position, impressions, "
        "clicks",
    )
    parser.add_argument(
        "--corpus-out",
        metavar="FILE",
        help="without --corpus: write the queries of the built-in corpus, which the log is of",
    )
    add_options_of(parser, (RANKERS,))
    parser.add_argument(
        "--sessions",
        action="store_true",
        help="one row for each document shown, with its page, instead of counts",
    )
    add_setting_options(parser, _SETTINGS, _HELPS)
    add_curve_options(parser, "curve")
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Simulate, write and say what was written."""
    protect_inputs(
        {"--out": options.out, "--corpus-out": options.corpus_out},
        {"--corpus": options.corpus, "--curve": options.curve},
    )
    rankers = option_value(options, RANKERS)
    if options.corpus is not None and options.corpus_out is not None:
        raise InputError("--corpus-out writes the built-in corpus; leave it or --corpus out.")
    settings = settings_from(options)
    own = _corpus(options, settings)
    line = progress_line()
    if line is not None:
        line("simulating")
    clicks = simulate_own_log(own.corpus, settings, rankers=rankers, sessions=options.sessions)
    with written_together():
        with writing(options.out, "The click log") as file:
            for number, piece in enumerate(clicks.csv_pieces()):
                file.write(piece)
                if line is not None:
                    line(f"writing the click log: {number * 10_000:,} rows")
        if options.corpus_out is not None:
            write_letor(own.corpus, options.corpus_out)
    if line is not None:
        line("")
    print_notes(clicks.notices)
    _told(options, own, settings, clicks)
    return OK


def _corpus(options: argparse.Namespace, settings: Settings) -> OwnCorpus:
    if options.corpus is not None:
        return own_corpus(options)
    splits = synthetic_splits(settings.corpus_seed)
    return OwnCorpus(splits.train, "the training part of the built-in corpus", splits)


def _told(
    options: argparse.Namespace, own: OwnCorpus, settings: Settings, clicks: OwnClicks
) -> None:
    draws = sum(log.query_draws for log in clicks.logs)
    if options.json:
        print_json(
            {
                "out": str(options.out),
                "clicks": clicks.clicks,
                "query_draws": draws,
                "rankers": len(clicks.logs),
                "settings": {name: getattr(settings, name) for name in _SETTINGS},
                "notices": list(clicks.notices),
            }
        )
        return
    print(
        f"{counted(clicks.clicks, 'click')} of {counted(draws, 'query draw')} on {own.name}, "
        f"served by {counted(len(clicks.logs), 'production ranker')}, written to "
        f"{named(options.out)}."
    )
