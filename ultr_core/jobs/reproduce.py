"""``reproduce``: the paper's figures in files; the pages of the studies and their notebooks."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError, checked_path, named
from ultr_core.export.notebook import Cell as NotebookCell
from ultr_core.export.notebook import code, words
from ultr_core.fields import Choice, Number, Text
from ultr_core.files.disk import write_whole, written_together
from ultr_core.jobs.files import CORPUS, File
from ultr_core.jobs.job import (
    Begins,
    Given,
    Job,
    Page,
    PageState,
    command_line,
    setting_fields,
)
from ultr_core.jobs.output import option_of, print_notes, progress_lines
from ultr_core.lab import curve_notices, stage
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.studies import (
    DEFAULT_LOSS,
    FIGURES,
    GRID_VERSION,
    LOSSES,
    MAPS,
    REPAIRS,
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
    left_out_words,
    open_journal,
    open_runner,
    peak_memory_mib,
    read_study,
)
from ultr_core.words import part_of

_OTHER_REPAIRS = tuple(name for name in REPAIRS if STUDIES[name].shipped_in == "repairs")
_GROUPS = {"all": FIGURES, "maps": MAPS, "repairs": _OTHER_REPAIRS}
JOURNAL = "cells.jsonl"
REPORT = "report.html"
_BASE_SETTINGS = ("draws", "seed", "eps_plus", "corpus_seed", "relevant_grade")
_ACTS = (*_BASE_SETTINGS, *CURVES)
_KNOWN_AFTER = 0.03  # share of the work after which the time left can be told


RESULT = Choice(
    "result", "Result",
    {"shipped": "Precomputed (paper scale)", "quick": "Run now (quick)"},
    help="The precomputed result was made at the paper's sizes on the built-in corpus. The quick "
    "result is computed on this server with the settings on the line below it.",
)  # fmt: skip
LOSS = Choice(
    "loss",
    "Loss",
    {key: LOSSES[key].label for key in sorted(LOSSES, key=lambda key: key != DEFAULT_LOSS)},
    help="How a ranking is judged on the test queries. "
    + " ".join(f"**{loss.label}**: {loss.definition}" for loss in LOSSES.values()),
)
STUDY = Choice(
    "study",
    "What goes wrong",
    {
        "bias": "Bias",
        "noise": "Noise",
        "misspecification": "Wrong propensities",
        "map-noise": "Map: bias and noise",
        "map-assumed": "Map: true and assumed bias",
    },
)


def run(given: Given) -> None:
    """Run what is missing, then write everything."""
    # Charts take a second to load, which no other command and no worker should wait for.
    from ultr_core.export.study_files import write_study
    from ultr_core.export.study_report import RunFacts, report_html

    started = time.monotonic()
    settings, jobs = given.settings, given.jobs
    plans = [
        Plan(STUDIES[name], given.scale, settings)
        for name in _GROUPS.get(given.study, (given.study,))
    ]
    _say_unused_curves(plans)
    print_notes(dict.fromkeys(filter(None, map(left_out_words, plans))))
    cells = list({cell.key: cell for plan in plans for cell in plan.cells}.values())
    source = _source(given, settings)
    folder = _folder(given.out)
    with open_runner(source, jobs=jobs, dask=given.dask) as runner:
        world = runner.describe()
        print_notes((*world.notices, *curve_notices(settings)))
        header = _header(settings, world)
        with open_journal(folder / JOURNAL, header) as journal:
            missing = [cell for cell in cells if cell.key not in journal.done]
            _run_cells(runner, journal, missing, len(cells))
            done = {cell.key: journal.done[cell.key] for cell in cells}
    results = [StudyResult(plan, find_loss(given.loss), done, world) for plan in plans]
    facts = RunFacts(
        command=command_line("reproduce", JOB, shown_values(given)),
        where=f"on the Dask cluster {given.dask}" if given.dask else f"{jobs} at a time",
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


def shown_values(given: Given) -> dict[str, Any]:
    """What was given, and what a reader of the report wants to know of the rest."""
    return {"study": given.study, "scale": given.scale, "jobs": given.jobs, **given.asked}


def _say_unused_curves(plans: list[Plan]) -> None:
    """Name the given curves that a study has no use for; raises InputError if none has any."""
    for plan in plans:
        for name in plan.base.curves:
            if name in plan.curves:
                continue
            symbol = PARAMETERS[CURVES[name].power].symbol
            told = f"{plan.study.name} varies {symbol} itself, so {option_of(name)}"
            if len(plans) == 1:
                raise InputError(f"{told} cannot be used with it.", "not_used")
            print_notes([f"{told} is not used for it."])


def _source(given: Given, settings: Settings) -> WorldSource:
    if given.corpus is not None and "size" in given.asked:
        raise InputError("--size is only for the synthetic corpus; do not use it with --corpus.")
    return WorldSource.of(settings, given.corpus, given.size)


def _folder(path: str) -> Path:
    folder = checked_path(path, "--out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The directory {named(path)} for --out cannot be created: {error.strerror}."
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
    say, started = progress_lines(at_once=True), time.monotonic()
    say(f"{part_of(number, total, 'ranker', does='is', do='are')} already trained.")
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


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _print_result(result: StudyResult) -> None:
    print(f"{result.plan.study.title}: {read_study(result)}")
    for claim in judge(result):
        print(f"  {claim.finding.outcome:14} {claim.rule.said} {claim.finding.sentence}")


def learning_curves(state: PageState) -> list[NotebookCell]:
    """Figure 1: its curve and the paper's claims on it."""
    return _cells(state, "learning-curve")


def robustness(state: PageState) -> list[NotebookCell]:
    """The figure or map that the page shows."""
    return _cells(state, state.values[STUDY.key])


def _cells(state: PageState, name: str) -> list[NotebookCell]:
    loss = state.values[LOSS.key]
    study = STUDIES[name]
    title = words(
        f"""
        ## {study.title}

        A study trains every ranker in a grid of worlds, on several click logs in each world.
        """
    )
    result = _SHIPPED if is_shipped(state) else _QUICK
    return [
        title,
        code(result.format(name=name, loss=loss)),
        words("## The curve, with 95% intervals over click logs"),
        code(
            """
            print(read_study(result))
            result.curve_table()
            """
        ),
        code("from ultr_core.figures import study_figure\n\nstudy_figure(result)"),
        words("## The paper's claims about this figure"),
        code(
            """
            for claim in judge(result):
                print(f"{claim.finding.outcome}: {claim.rule.said}")
            """
        ),
    ]


def is_shipped(state: PageState) -> bool:
    """Whether the page shows results that came with the code."""
    return state.corpus is None and state.values[RESULT.key] == "shipped"


def only_computed(state: PageState) -> dict[str, tuple[str, str]]:
    """On a corpus of one's own the result is computed: none came with the code."""
    own = state.corpus is not None and state.values[RESULT.key] == "shipped"
    return {RESULT.key: ("quick", "")} if own else {}


def as_studied(state: PageState, acts: tuple[str, ...]) -> PageState:
    """The state with only those settings that affect a result that is computed."""
    if is_shipped(state):
        return state
    return replace(state, settings=stage(state.settings, acts), acting=acts)


def begins_with(state: PageState) -> Begins:
    """What the notebook of such a page begins with: no setting affects shipped results."""
    return "title" if is_shipped(state) else "lab"


_SHIPPED = """
from ultr_core.studies import LOSSES, judge, read_study, shipped_result

# These cells were run at the paper's sizes on the built-in corpus and come with the code.
result = shipped_result("{name}", LOSSES["{loss}"])
"""

_QUICK = """
from ultr_core.lab import stage
from ultr_core.studies import (
    BASE_FIELDS,
    LOSSES,
    STUDIES,
    Plan,
    StudyResult,
    describe,
    judge,
    read_study,
    run_in_process,
)

# The study varies or fixes the other settings. This takes a minute or more.
plan = Plan(STUDIES["{name}"], "quick", stage(settings, BASE_FIELDS))
done = {{cell.key: cell for cell in run_in_process(lab.world(), plan.cells)}}
result = StudyResult(plan, LOSSES["{loss}"], done, describe(lab.world()))
"""


JOB = Job(
    run,
    arguments=(
        Choice(
            "study", "", {name: name for name in (*STUDIES, *_GROUPS)},
            help=f"{', '.join(FIGURES)}: figures 1 to 4 of the paper; all: these four. "
            f"{', '.join(MAPS)}: sensitivity maps; maps: both. {', '.join(REPAIRS)}: what breaks "
            "weighting and what repairs it, as on the Users and repairs page; repairs: all of "
            f"these except {' and '.join(name for name in REPAIRS if name not in _OTHER_REPAIRS)}",
        ),
    ),
    options=(
        CORPUS,
        Choice(
            "size", "", {size: size for size in SIZES},
            help="size of the synthetic corpus; yahoo is as large as the paper's corpus",
        ),
        Choice(
            "scale", "", {scale: scale for scale in SCALES}, default="quick",
            help="size of the study",
        ),
        replace(LOSS, label="", default=DEFAULT_LOSS, help="how rankings are judged"),
        Number("jobs", "Number of processes", 1, 256, default=1, help="processes to use"),
        Text(
            "dask", "", default=None, longest=10**6, metavar="ADDRESS",
            help="address of a Dask scheduler to use instead of processes",
        ),
        File(
            "out", "", metavar="DIR", use="folder", required=True, help="directory for all files"
        ),
    ),
    settings=setting_fields(*_ACTS),
    pages={
        "learning_curves": Page(
            "How many clicks before weighting pays off?", learning_curves,
            (RESULT, LOSS), begins=begins_with, shown=partial(as_studied, acts=_ACTS),
            possible=only_computed,
        ),
        "robustness": Page(
            "How robust is weighting to bias, noise and wrong propensities?", robustness,
            (STUDY, RESULT, LOSS), begins=begins_with, shown=partial(as_studied, acts=_ACTS),
            possible=only_computed,
        ),
    },
)  # fmt: skip
