"""Read dirty click logs as their owners would, and count wrong curves without a warning.

Run from the project's directory:

    python -m scripts.dirty_logs --seeds 20

Each kind of dirt in `scripts.dirt` is applied to a clean log of each seed at three strengths. The
reader gets only the files, and its questions are answered truthfully. An answer is correct if the
intervals of all answered ranks contain the true examination, jointly at ``LEVEL`` by Bonferroni.
Otherwise the log must have been refused, or the warning of a check must name the cause. Anything
else is a miss; the worst misses are those for which `inspect_log` gives no warning at all. A miss
is due to chance, and says nothing about the dirt, if at each rank that misses, the 95% interval for
that rank alone from the clean log of the same seed also misses the truth and contains the value
from the dirty log. ``--first 10 --seeds 10`` continues where ten seeds ended. The table comes last;
standard error has the outcomes of each seed as it ends.

    python -m scripts.dirty_logs --clean 200

reads clean logs of several shapes and prints the warnings that they get.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from scripts.dirt import (
    ANSWERS,
    DIRTS,
    RANKS,
    SHAPES,
    STRENGTHS,
    USERS,
    Dirt,
    Dirty,
    clean_rows,
    written,
)
from ultr_core.errors import InputError
from ultr_core.files import parse_log
from ultr_core.files.log_columns import COLUMNS
from ultr_core.files.log_reading import Reading
from ultr_core.inspection import inspect_log
from ultr_core.propensity import PresentationLog, PropensityEstimate, estimate_from_log
from ultr_core.propensity.points import JACKKNIFE_GROUPS

LEVEL = 0.99
"""Of the joint interval; a clean log misses by chance with probability at most 1 - LEVEL."""

OUTCOMES = ("holds", "warned", "refused", "chance", "missed", "silent")

TRUTH = USERS.curve.at(np.arange(1, RANKS + 1))


class Point(NamedTuple):
    """Examination of a rank relative to the reference rank, with its own 95% interval."""

    value: float
    low: float
    high: float

    def contains(self, value: float) -> bool:
        """Whether a value lies in the interval."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Answer:
    """The result of one log.

    refused: the sentence, "" where it was read. warned: keys of the checks that are not good.
    reference: the rank that is 1 by definition. points: answered ranks with their 95% intervals.
    misses: the ranks whose joint intervals miss the truth, or that no user was shown. error:
    the largest of |log(value / truth)|.
    """

    refused: str = ""
    warned: frozenset[str] = frozenset()
    reference: int = 1
    points: Mapping[int, Point] = field(default_factory=dict)
    misses: tuple[int, ...] = ()
    error: float = np.nan

    @property
    def holds(self) -> bool:
        """Whether it was answered, and the joint intervals contain the truth."""
        return not self.refused and not self.misses


@dataclass(frozen=True)
class Case:
    """One kind of dirt at one strength and seed: its outcome, and the result of the log.

    told: whether a warning names the cause, even if the answer is correct.
    """

    dirt: str
    strength: int
    seed: int
    outcome: str
    told: bool
    answer: Answer


def read_as_owner(log: Dirty) -> PresentationLog:
    """The log, read by a user who answers each question once; raises InputError if refused."""
    columns, answers = dict(log.columns), {**ANSWERS, **log.answers}
    values: dict[str, Any] = {}
    while True:
        try:
            return parse_log(
                list(log.files), "log", clicks=log.clicks, columns=columns or None,
                how=Reading.of(values),
            )  # fmt: skip
        except InputError as error:
            answer = answers.pop(error.about, None)
            if answer is None:
                raise
            for key, value in answer.items():
                (columns if key in COLUMNS else values)[key] = value


def answer_of(log: Dirty) -> Answer:
    """What the checks and the estimated curve say about a log."""
    try:
        read = read_as_owner(log)
    except InputError as error:
        return Answer(str(error))
    warned = frozenset(finding.key for finding in inspect_log(read).warnings)
    try:
        estimate = estimate_from_log(read).estimate
    except InputError as error:
        return Answer(str(error), warned)
    return _held(estimate, warned)


def _held(estimate: PropensityEstimate, warned: frozenset[str]) -> Answer:
    """The answered ranks, and those whose joint intervals miss the truth."""
    points = {
        point.rank: Point(point.value, point.low, point.high) for point in estimate.points
        if point.rank != estimate.reference and point.value is not None
        and point.low is not None and point.high is not None
    }  # fmt: skip
    if not points:
        return Answer("no rank has an interval", warned)
    tail = (1 - LEVEL) / (2 * len(points))
    wider = float(ndtri(tail) / ndtri(0.025))
    if not estimate.method.startswith("swap"):
        degrees = JACKKNIFE_GROUPS - 1
        wider = float(stdtrit(degrees, 1 - tail) / stdtrit(degrees, 0.975))
    joint = {rank: _widened(point, wider) for rank, point in points.items()}
    misses = tuple(
        rank for rank, point in joint.items()
        if rank > RANKS or not point.contains(_truth(rank, estimate.reference))
    )  # fmt: skip
    errors = (
        abs(float(np.log(point.value / _truth(rank, estimate.reference))))
        for rank, point in points.items()
        if rank <= RANKS and point.value > 0
    )
    return Answer("", warned, estimate.reference, points, misses, max(errors, default=0.0))


def _truth(rank: int, reference: int) -> float:
    return float(TRUTH[rank - 1] / TRUTH[reference - 1])


def _widened(point: Point, times: float) -> Point:
    """The interval with the upper half-width of the logarithm, on both sides, this much wider."""
    if point.value <= 0:
        return point
    reach = times * np.log(point.high / point.value)
    return Point(point.value, point.value * np.exp(-reach), point.value * np.exp(reach))


def case_of(dirt: Dirt, strength: int, seed: int) -> Case:
    """One dirty log, read and judged."""
    random = np.random.default_rng([seed, 2, strength, *dirt.name.encode()])
    answer = answer_of(dirt.make(clean_rows(seed), strength, random))
    told = bool(answer.warned & set(dirt.keys))
    return Case(dirt.name, strength, seed, _outcome(answer, told, seed), told, answer)


def _outcome(answer: Answer, told: bool, seed: int) -> str:
    if answer.refused:
        return "refused"
    if answer.holds:
        return "holds"
    if told:
        return "warned"
    if by_chance(answer, _clean_answer(seed)):
        return "chance"
    return "missed" if answer.warned else "silent"


def by_chance(answer: Answer, clean: Answer) -> bool:
    """Whether the clean log of the same seed explains every miss of an answer.

    At each rank that misses, the clean log's own 95% interval misses the truth as well and contains
    the answer's value: the clicks were unusual there, and the dirt moved the value by less than
    their noise. Without dirt, one rank in twenty is expected to miss.
    """
    return answer.reference == clean.reference and all(
        rank in clean.points
        and rank <= RANKS
        and not clean.points[rank].contains(_truth(rank, clean.reference))
        and clean.points[rank].contains(answer.points[rank].value)
        for rank in answer.misses
    )


@lru_cache(4)
def _clean_answer(seed: int) -> Answer:
    return answer_of(Dirty((written(clean_rows(seed)),)))


def table(cases: Iterable[Case]) -> list[str]:
    """A row for each kind of dirt: outcomes at the three strengths together and largest errors."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.dirt, []).append(case)
    lines = [
        "| dirt | holds | of these, warned | wrong, warned | refused | chance | missed | "
        "of these, no warning | "
        f"median error, {', '.join(STRENGTHS)} |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    sums: Counter[str] = Counter()
    for name, of_dirt in found.items():
        counts = Counter(case.outcome for case in of_dirt)
        counts["told"] = sum(case.told and case.outcome == "holds" for case in of_dirt)
        counts["missed"] += counts["silent"]
        sums += counts
        errors = (_median(of_dirt, strength) for strength in range(len(STRENGTHS)))
        lines.append(f"| {name} | {_cells(counts)} | {', '.join(errors)} |")
    return [*lines, f"| all | {_cells(sums)} | |"]


def of_seed(cases: Sequence[Case]) -> str:
    """The outcomes of all logs of a seed, in one line."""
    counts = Counter(case.outcome for case in cases)
    told = ", ".join(f"{outcome} {counts[outcome]}" for outcome in OUTCOMES if counts[outcome])
    return f"seed {cases[0].seed}: {len(cases)} logs, {told}"


def _cells(counts: Mapping[str, int]) -> str:
    names = ("holds", "told", "warned", "refused", "chance", "missed", "silent")
    return " | ".join(str(counts[name]) for name in names)


def _median(cases: list[Case], strength: int) -> str:
    errors = [
        case.answer.error
        for case in cases
        if case.strength == strength and not np.isnan(case.answer.error)
    ]
    return f"{np.expm1(np.median(errors)):.0%}" if errors else "—"


def clean_warnings(number: int) -> tuple[str, frozenset[str], bool]:
    """The clean log of that number: shape, checks that warn, and whether its answer is correct."""
    name, make = list(SHAPES.items())[number % len(SHAPES)]
    answer = answer_of(make(number, np.random.default_rng([number, 3])))
    return name, answer.warned | ({"refused"} if answer.refused else set()), answer.holds


def _clean_table(found: Iterable[tuple[str, frozenset[str], bool]]) -> list[str]:
    warned: dict[str, Counter[str]] = {}
    for name, keys, holds in found:
        warned.setdefault(name, Counter()).update(["logs", *keys, *(["holds"] if holds else [])])
    lines = ["| shape | logs | holds | warnings |", "|---|--:|--:|---|"]
    for name, counts in warned.items():
        told = ", ".join(f"{key} {n}" for key, n in counts.items() if key not in ("logs", "holds"))
        lines.append(f"| {name} | {counts['logs']} | {counts['holds']} | {told or 'none'} |")
    return lines


def main(given: Sequence[str] | None = None) -> int:
    """Print the table; the exit code is 1 if there are too many misses or one without warning."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="clean logs for each kind of dirt")
    parser.add_argument("--first", type=int, default=0, help="the first of these seeds")
    parser.add_argument("--only", default="", help="only kinds of dirt whose names contain this")
    parser.add_argument("--clean", type=int, default=0, help="read this many clean logs instead")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="list each case that does not hold")
    options = parser.parse_args(given)
    with ProcessPoolExecutor(options.processes) as pool:
        if options.clean:
            print("\n".join(_clean_table(pool.map(clean_warnings, range(options.clean)))))
            return 0
        asked = [
            (dirt, strength, seed)
            for seed in range(options.first, options.first + options.seeds)
            for dirt in DIRTS if options.only in dirt.name
            for strength in range(len(STRENGTHS))
        ]  # fmt: skip
        cases: list[Case] = []
        done = 0
        for case in pool.map(_numbered, *zip(*((DIRTS.index(d), s, n) for d, s, n in asked),
                                             strict=True)):  # fmt: skip
            cases.append(case)
            if options.verbose and case.outcome != "holds":
                print(
                    f"{case.dirt}, {STRENGTHS[case.strength]}, seed {case.seed}: {case.outcome} "
                    f"{case.answer.refused or sorted(case.answer.warned)} "
                    f"{case.answer.error:.2f}",
                    flush=True,
                )
            if len(cases) == len(asked) or asked[len(cases)][2] != case.seed:
                print(of_seed(cases[done:]), file=sys.stderr, flush=True)
                done = len(cases)
    print(f"{options.seeds} seeds from {options.first}, {datetime.date.today().isoformat()}")
    print("\n".join(table(cases)))
    missed = [case for case in cases if case.outcome in ("missed", "silent")]
    silent = [case for case in missed if case.outcome == "silent"]
    print(f"{len(missed)} of {len(cases)} missed, {len(silent)} of them without any warning.")
    return int(len(missed) > 0.05 * len(cases) or bool(silent))


def _numbered(dirt: int, strength: int, seed: int) -> Case:
    return case_of(DIRTS[dirt], strength, seed)


if __name__ == "__main__":
    raise SystemExit(main())
