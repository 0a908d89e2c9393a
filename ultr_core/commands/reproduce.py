"""``reproduce``: the paper's figures as curves with intervals and verdicts, in files."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ultr_core.commands.remedies import option_of
from ultr_core.commands.shared import (
    OK,
    add_corpus_option,
    add_curve_options,
    add_options_of,
    add_setting_options,
    option_value,
    print_notes,
    progress_line,
    settings_from,
)
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError, checked_path, named
from ultr_core.fields import Number
from ultr_core.files.disk import write_whole, written_together
from ultr_core.lab import curve_notices
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.studies import (
    DEFAULT_LOSS,
    FIGURES,
    GRID_VERSION,
    LOSSES,
    MAPS,
    SCALES,
    SIZES,
    STUDIES,
    Cell,
    Journal,
    Plan,
    Runner,
    StudyResult,
    WorldDescription,
    WorldSource,
    curve_name,
    find_loss,
    judge,
    open_journal,
    open_runner,
    peak_memory_mib,
    read_study,
)
from ultr_core.words import as_argument, part_of

JOBS = Number("jobs", "Number of processes", 1, 256, default=1, help="Processes to use.")

_GROUPS = {"all": FIGURES, "maps": MAPS}
JOURNAL = "cells.jsonl"
REPORT = "report.html"
_BASE_SETTINGS = ("draws", "seed", "eps_plus", "corpus_seed", "relevant_grade")
_KNOWN_AFTER = 0.03  # share of the work after which the time left can be told
_LINE_EVERY = 15.0  # seconds between lines of progress where no terminal is watching


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "study",
        choices=(*STUDIES, *_GROUPS),
        help="figure 1 to 4 of the paper, a sensitivity map, all four figures, or both maps",
    )
    add_corpus_option(parser)
    parser.add_argument(
        "--size",
        choices=tuple(SIZES),
        default=None,
        help="size of the synthetic corpus; yahoo has the counts of the paper's corpus",
    )
    parser.add_argument("--scale", choices=SCALES, default="quick", help="default quick")
    parser.add_argument(
        "--loss", choices=tuple(LOSSES), default=DEFAULT_LOSS, help=f"default {DEFAULT_LOSS}"
    )
    add_options_of(parser, (JOBS,))
    parser.add_argument("--dask", metavar="ADDRESS", help="use this Dask scheduler instead")
    parser.add_argument("--out", metavar="DIR", required=True, help="directory for all files")
    add_setting_options(parser, _BASE_SETTINGS)
    add_curve_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run what is missing, then write everything."""
    # Charts take a second to load, which no other command and no worker should wait for.
    from ultr_core.export.study_files import write_study
    from ultr_core.export.study_report import RunFacts, report_html

    started = time.monotonic()
    settings = settings_from(options)
    plans = [
        Plan(STUDIES[name], options.scale, settings)
        for name in _GROUPS.get(options.study, (options.study,))
    ]
    _say_unused_curves(plans)
    cells = list({cell.key: cell for plan in plans for cell in plan.cells}.values())
    source = _source(options, settings)
    jobs = option_value(options, JOBS)
    folder = _folder(options.out)
    with open_runner(source, jobs=jobs, dask=options.dask) as runner:
        world = runner.describe()
        print_notes((*world.notices, *curve_notices(settings)))
        header = _header(settings, world)
        with open_journal(folder / JOURNAL, header) as journal:
            missing = [cell for cell in cells if cell.key not in journal.done]
            _run_cells(runner, journal, missing, len(cells))
            done = {cell.key: journal.done[cell.key] for cell in cells}
    results = [StudyResult(plan, find_loss(options.loss), done, world) for plan in plans]
    facts = RunFacts(
        command="python -m ultr_core " + shlex.join(_arguments(options)),
        where=f"on the Dask cluster {options.dask}" if options.dask else f"{jobs} at a time",
        wall_seconds=time.monotonic() - started,
        cell_seconds=sum(result.seconds for result in done.values()),
        peak_mib=max([peak_memory_mib(), *(result.peak_mib for result in done.values())]),
        new_cells=len(missing),
        all_cells=len(cells),
    )
    with written_together():
        for result in results:
            write_study(result, folder)
        write_whole(folder / REPORT, report_html(results, facts).encode(), "The report")
    for result in results:
        _print_result(result)
    print(f"Report: {folder / REPORT}")
    return OK


def _say_unused_curves(plans: list[Plan]) -> None:
    """Name the given curves that a study has no use for; raises InputError if none has any."""
    for plan in plans:
        for name in plan.base.curves:
            if name in plan.curves:
                continue
            symbol = PARAMETERS[CURVES[name].power].symbol
            told = f"{plan.study.name} varies {symbol} itself, so that {option_of(name)}"
            if len(plans) == 1:
                raise InputError(f"{told} cannot be used with it.")
            print_notes([f"{told} is not used for it."])


def _source(options: argparse.Namespace, settings: Settings) -> WorldSource:
    if options.corpus is not None and options.size is not None:
        raise InputError("--size is for the synthetic corpus; leave it out with --corpus.")
    return WorldSource.of(settings, options.corpus, options.size or "default")


def _folder(path: str) -> Path:
    folder = checked_path(path, "--out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The directory {named(path)} of --out cannot be made: {error.strerror}."
        ) from None
    return folder


def _header(settings: Settings, world: WorldDescription) -> dict[str, Any]:
    """What all results of a journal share.

    Scale and draws are not among it: more of either only adds cells.
    """
    return {
        "grid version": GRID_VERSION,
        "setting": {
            option_of(name): getattr(settings, name) for name in _BASE_SETTINGS if name != "draws"
        }
        | {option_of(name): curve_name(values) for name, values in settings.curves.items()},
        "corpus": {"name": world.counts["name"], "fingerprint": world.fingerprint},
    }


def _run_cells(runner: Runner, journal: Journal, missing: list[Cell], total: int) -> None:
    """Run the missing cells, write each as it comes, and say how long it will take."""
    weights = {cell.key: cell.weight for cell in missing}
    whole, finished = sum(weights.values()), 0.0
    number = total - len(missing)
    say, started = _speaker(), time.monotonic()
    say(f"{part_of(number, total, 'ranker', does='is', do='are')} trained already.")
    for result in runner.run(missing):
        journal.append(result)
        finished += weights[result.key]
        number += 1
        left = ""
        if finished >= _KNOWN_AFTER * whole:
            rest = (time.monotonic() - started) * (whole - finished) / finished
            left = f"; about {_clock(rest)} left"
        say(f"{part_of(number, total, 'ranker', does='is', do='are')} trained{left}.")
    say("")


def _speaker() -> Callable[[str], None]:
    """One line that rewrites itself on a terminal; elsewhere a line now and then."""
    rewrite = progress_line()
    if rewrite is not None:
        return rewrite
    last = -_LINE_EVERY

    def say(text: str) -> None:
        nonlocal last
        if text and time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    return say


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _arguments(options: argparse.Namespace) -> list[str]:
    """The command as it would be typed, from what differs from the defaults."""
    words = ["reproduce", options.study, "--scale", options.scale]
    for name in ("corpus", "size", "dask", *_BASE_SETTINGS, *CURVES):
        value = getattr(options, name, None)
        if value is not None:
            text = as_argument(value) if name in ("corpus", *CURVES) else str(value)
            words += ["--" + name.replace("_", "-"), text]
    if options.loss != DEFAULT_LOSS:
        words += ["--loss", options.loss]
    return [*words, "--jobs", str(option_value(options, JOBS)), "--out", as_argument(options.out)]


def _print_result(result: StudyResult) -> None:
    print(f"{result.plan.study.title}: {read_study(result)}")
    for claim in judge(result):
        print(f"  {claim.finding.outcome:14} {claim.rule.statement} {claim.finding.sentence}")
