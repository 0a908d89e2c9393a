"""``live``: the paper's live experiment on a simulated search engine."""

from __future__ import annotations

import argparse
import math

from ultr_core.commands.shared import (
    OK,
    add_corpus_option,
    add_curve_options,
    add_json_option,
    add_setting_options,
    plain_number,
    print_json,
    print_notes,
    progress_line,
    settings_from,
)
from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.lab import Lab
from ultr_core.lab.interleaving import SCHEMES
from ultr_core.lab.live import PAPER_CLICKS, LiveDesign, LiveResult
from ultr_core.settings import PARAMETERS
from ultr_core.words import counted

_SETTINGS = tuple(name for name in PARAMETERS if name not in ("assumed_eta", "draws"))
_WHOLE = {
    "days": "days of clicks",
    "validation_days": "the last days, kept for choosing C",
    "swap_days": "days of swap interventions",
    "landmark": "rank that is swapped",
    "last_rank": "lowest rank that it is swapped with",
    "interleaved": "queries shown in each interleaved comparison",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    default = LiveDesign()
    add_corpus_option(parser)
    add_json_option(parser)
    for name, text in _WHOLE.items():
        parser.add_argument(
            _option(name), metavar="X", help=f"{text} (default {getattr(default, name):,})"
        )
    parser.add_argument(
        "--smoothing",
        metavar="X",
        help="weight of overall click rates in the curve, 0 to 1 "
        f"(default {default.smoothing}; the paper does not give it)",
    )
    parser.add_argument(
        "--scheme",
        metavar="NAME",
        default=default.scheme,
        help=f"how to interleave: {' or '.join(SCHEMES)} (default {default.scheme})",
    )
    add_setting_options(parser, _SETTINGS)
    add_curve_options(parser, "curve")


def run(options: argparse.Namespace) -> int:
    """Run the experiment and print it."""
    settings = settings_from(options)
    design = _design(options)
    progress = progress_line()
    result = Lab(settings, options.corpus).live(design, progress=progress)
    if progress is not None:
        progress("")
    print_notes(result.notices)
    if options.json:
        print_json(result.as_dict())
    else:
        _print(result)
    return OK


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _design(options: argparse.Namespace) -> LiveDesign:
    given: dict[str, int | float | str] = {"scheme": options.scheme}
    for name in _WHOLE:
        if getattr(options, name) is not None:
            given[name] = _whole(getattr(options, name), _option(name))
    if options.smoothing is not None:
        given["smoothing"] = plain_number(options.smoothing, "--smoothing")
    return LiveDesign(**given)  # type: ignore[arg-type]


def _whole(text: str, option: str) -> int:
    """A whole number of any sign; the design knows its bounds."""
    try:
        if not math.isnan(number_in_text(text)):
            return int(text)
    except ValueError:
        pass
    raise InputError(f"{option} is {quoted(text)}; it must be a whole number.")


def _print(result: LiveResult) -> None:
    design, clicks = result.design, result.clicks
    print(
        f"{counted(design.training_days, 'day')} of training clicks ({clicks['training']:,}), "
        f"{design.validation_days} of validation ({clicks['validation']:,}), {design.swap_days} of "
        f"swaps with landmark {design.landmark} ({counted(clicks['swaps'], 'click')}). The paper "
        f"had {PAPER_CLICKS:,} clicks in 21 days."
    )
    print()
    print(f"{'rank':>4} {'swaps':>7} {'95% interval':>16} {'curve used':>11} {'true':>7}")
    rows = zip(result.estimate.points, result.curve.values, result.true_curve, strict=True)
    for point, used, true in rows:
        value = "-" if point.value is None else f"{point.value:.3f}"
        interval = "-" if point.low is None else f"{point.low:.3f} to {point.high:.3f}"
        print(f"{point.rank:4} {value:>7} {interval:>16} {used:11.3f} {true:7.3f}")
    print()
    for name, risk in result.test_risk.items():
        cost = f", C = {result.costs[name]:g}" if name in result.costs else ", weights by hand"
        print(f"Test risk of {name}: {risk:.3f}{cost}.")
    print()
    for contest in result.contests:
        if contest.test.decided == 0:
            print(contest.sentence)
            continue
        needed = "more than can be run" if contest.needed is None else f"{contest.needed:,}"
        print(contest.sentence)
        print(
            f"  Relative risk {contest.test.relative_risk:.3f}; 80% power at this share takes "
            f"{needed} decided queries; the paper's number would have had "
            f"{contest.paper_power:.0%}."
        )
        print(f"  {contest.null_sentence}")
