"""``compare``: simulate clicks, train every ranker, print its risk on the test queries."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ultr_core.commands.shared import (
    OK,
    add_corpus_option,
    add_curve_options,
    add_json_option,
    add_setting_options,
    print_json,
    print_notes,
    progress_line,
    settings_from,
)
from ultr_core.words import counted

if TYPE_CHECKING:
    from ultr_core.lab import Comparison


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_corpus_option(parser)
    add_json_option(parser)
    add_setting_options(parser)
    add_curve_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the comparison and print it."""
    from ultr_core.lab import METHODS, Cell, Lab, world_notices

    settings, progress = settings_from(options), progress_line()
    lab = Lab(settings, options.corpus)
    print_notes(world_notices(lab.world(), settings))

    def tell(cell: Cell) -> None:
        if progress is not None and cell.kind == "trained":
            draw, method = cell.args
            progress(f"draw {draw + 1} of {settings.draws}: {METHODS[method].label}")

    comparison = lab.telling(tell).comparison()
    if progress is not None:
        progress("")
    if options.json:
        print_json(comparison.as_dict())
    else:
        _print_table(comparison)
    return OK


def _print_table(comparison: Comparison) -> None:
    from ultr_core.risk import NO_INTERVAL

    corpus = comparison.corpus
    print(
        f"{corpus['name']}: {corpus['train']['queries']:,} training, "
        f"{corpus['validation']['queries']:,} validation and {corpus['test']['queries']:,} test "
        f"queries; {counted(comparison.clicks, 'training click')} from "
        f"{counted(comparison.query_draws, 'query draw')}; click logs: {comparison.draws}."
    )
    print()
    print(f"{'ranker':28}{'test risk':>10}  {'95% interval':20}{'mean rank':>10}")
    for summary in comparison.rankers.values():
        risk = summary.risk
        interval = f"{risk.low:.3f} to {risk.high:.3f}" if risk.n > 1 else "-"
        print(f"{summary.label:28}{risk.value:10.3f}  {interval:20}{summary.mean_rank.value:10.3f}")
    print()
    print(
        "Test risk: mean over all test queries of the summed ranks of relevant documents. "
        + (
            "Intervals: spread over the click logs; rankers that see no click have none."
            if comparison.draws > 1
            else f"{NO_INTERVAL} Ask for more with --draws."
        )
    )
    print(comparison.sentence)
