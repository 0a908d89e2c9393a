"""``propensities``: examination probabilities from a click log."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ultr_core.commands.own_files import add_columns_option, own_columns, protect_inputs
from ultr_core.commands.shared import (
    OK,
    add_json_option,
    add_options_of,
    option_value,
    print_json,
    print_notes,
)
from ultr_core.fields import Choice
from ultr_core.files import read_log, write_curve
from ultr_core.propensity import (
    LOG_METHODS,
    PROPENSITY_METHODS,
    CurveOptions,
    LogEstimate,
    estimate_from_log,
    ratio_text,
)
from ultr_core.propensity.curves import FIT, SMOOTHING
from ultr_core.propensity.points import LANDMARK, LAST_RANK, MOST_RANKS
from ultr_core.words import counted

METHOD = Choice(
    "method", "Method", {PROPENSITY_METHODS[key].name: key for key in LOG_METHODS},
    default="",
    help="How they are estimated; without it swap if the log has the column swapped_rank, "
    "otherwise harvest.",
)  # fmt: skip
"""By the name on the command line; keys of ``PROPENSITY_METHODS`` are understood as well."""

LOG_LANDMARK = replace(
    LANDMARK, high=MOST_RANKS, limits="a rank of the log",
    help="Rank that others are compared with.",
)  # fmt: skip
RANKS = replace(
    LAST_RANK, name="ranks", low=1, high=MOST_RANKS, limits="a rank of the log", default=None,
    help="Lowest rank of the curve; without it that of the log.",
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "log",
        metavar="LOG",
        help="click log (CSV, plain or gzip, or Parquet) with the columns query, document, "
        "position, click and optionally impressions, swapped_rank (the rank that the landmark was "
        "swapped with; the landmark itself for a control) and ranker",
    )
    add_columns_option(parser)
    add_options_of(parser, (METHOD, LOG_LANDMARK, RANKS))
    parser.add_argument(
        "--at", metavar="R,R,..", help="use only these ranks, interpolate between them"
    )
    add_options_of(parser, (SMOOTHING, FIT))
    parser.add_argument("--out", metavar="FILE", help="write the curve as CSV: rank, propensity")
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Estimate and print."""
    protect_inputs({"--out": options.out}, {"LOG": options.log})
    method = option_value(options, METHOD) or None
    curve = CurveOptions(
        smoothing=option_value(options, SMOOTHING),
        ranks=() if options.at is None else _ranks(options.at),
        fit=option_value(options, FIT),
    )
    landmark, last_rank = option_value(options, LOG_LANDMARK), option_value(options, RANKS)
    result = estimate_from_log(
        read_log(options.log, columns=own_columns(options)),
        method=method,
        landmark=landmark,
        last_rank=last_rank,
        options=curve,
    )
    if options.out is not None:
        write_curve(options.out, result.curve.values)
    print_notes(result.notices)
    if options.json:
        print_json(result.as_dict())
    else:
        _print(result)
    return OK


def _ranks(text: str) -> tuple[int, ...]:
    rank = replace(RANKS, label="A rank", name="at")
    return tuple(rank.checked(part.strip()) for part in text.split(","))


def _print(result: LogEstimate) -> None:
    method, log = PROPENSITY_METHODS[result.estimate.method], result.log
    print(
        f"{counted(log['rows'], 'row')}, {counted(log['queries'], 'query', 'queries')}, "
        f"{counted(log['clicks'], 'click')} in {counted(log['impressions'], 'impression')}. "
        f"{method.label}; assumes that {method.assumes}."
    )
    print()
    print(
        f"{'rank':>4} {'impressions':>12} {'clicks':>8} {'ratio':>8} {'95% interval':>18} "
        f"{'curve':>7}  curve is"
    )
    for point, value in zip(result.estimate.points, result.curve.values, strict=True):
        ratio, interval = point.value_text, point.interval_text or "-"
        print(
            f"{point.rank:4} {point.impressions:12,} {point.clicks:8,} {ratio:>8} {interval:>18} "
            f"{ratio_text(value):>7}  {result.curve.made_by(point.rank)}"
        )
    print()
    print(f"{'' if result.curve.sure else 'Warning: '}{result.trust}")
