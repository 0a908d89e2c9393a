"""``live``: the paper's live experiment on a simulated search engine."""

from __future__ import annotations

import argparse

from ultr_core.commands.shared import (
    OK,
    add_corpus_option,
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
from ultr_core.lab import Lab
from ultr_core.lab.live import LIVE_FIELDS, PAPER_CLICKS, LiveDesign, LiveResult
from ultr_core.settings import PARAMETERS
from ultr_core.words import counted

_SETTINGS = tuple(name for name in PARAMETERS if name not in ("assumed_eta", "draws"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_corpus_option(parser)
    add_json_option(parser)
    add_options_of(parser, LIVE_FIELDS)
    add_setting_options(parser, _SETTINGS)
    add_curve_options(parser, "curve")


def run(options: argparse.Namespace) -> int:
    """Run the experiment and print it."""
    settings = settings_from(options)
    design = LiveDesign(**{field.name: option_value(options, field) for field in LIVE_FIELDS})
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
