"""``propensities``: examination probabilities from a click log."""

from __future__ import annotations

import argparse

from ultr_core.commands.own_files import add_columns_option, own_columns, protect_inputs
from ultr_core.commands.shared import (
    OK,
    add_json_option,
    plain_number,
    print_json,
    print_notes,
    whole_number,
)
from ultr_core.errors import InputError, quoted
from ultr_core.files import read_log, write_curve
from ultr_core.propensity import (
    FITS,
    LOG_METHODS,
    PROPENSITY_METHODS,
    CurveOptions,
    LogEstimate,
    estimate_from_log,
    ratio_text,
)
from ultr_core.propensity.points import MOST_RANKS
from ultr_core.words import counted

RANKS = (1, MOST_RANKS)  # the first and the last that can be asked for

METHODS = [PROPENSITY_METHODS[key].name for key in LOG_METHODS]
"""Names on the command line; keys of ``PROPENSITY_METHODS`` are understood as well."""


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
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"one of {', '.join(METHODS)} (default: swap if the log has the column swapped_rank, "
        "otherwise harvest)",
    )
    parser.add_argument(
        "--landmark", metavar="K", default="1", help="rank that others are compared with (1)"
    )
    parser.add_argument("--ranks", metavar="K", help="lowest rank of the curve (that of the log)")
    parser.add_argument(
        "--at", metavar="R,R,..", help="use only these ranks, interpolate between them"
    )
    parser.add_argument(
        "--smoothing", metavar="X", default="0", help="weight of overall click rates, 0 to 1 (0)"
    )
    parser.add_argument(
        "--fit", metavar="NAME", default="none", help=f"one of {', '.join(FITS)} (none)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the curve as CSV: rank, propensity")
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Estimate and print."""
    protect_inputs({"--out": options.out}, {"LOG": options.log})
    if options.method is not None and options.method not in {*METHODS, *LOG_METHODS}:
        raise InputError(
            f"--method is {quoted(options.method)}; it must be one of {', '.join(METHODS)}."
        )
    curve = CurveOptions(
        smoothing=plain_number(options.smoothing, "--smoothing"),
        ranks=() if options.at is None else _ranks(options.at),
        fit=options.fit,
    )
    landmark = whole_number(options.landmark, "--landmark", *RANKS)
    last_rank = None if options.ranks is None else whole_number(options.ranks, "--ranks", *RANKS)
    result = estimate_from_log(
        read_log(options.log, columns=own_columns(options)),
        method=options.method,
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
    return tuple(whole_number(part.strip(), "--at", *RANKS) for part in text.split(","))


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
