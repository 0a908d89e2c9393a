"""Everything that the lab can do, one file per job: its command line, its notebook, its link.

A job is an entry in :data:`JOBS` and the module of that name, whose ``JOB`` defines the rest. Only
the requested job's module is imported, and modules that only its call needs are imported in the
call, so that help and simple commands start at once.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultr_core.jobs.job import Job


@dataclass(frozen=True)
class Entry:
    """A job as lists show it.

    name: of its command and, with underscores, of its module. summary: what the command does; ""
    for a job that has none. pages: addresses of the pages whose links and notebooks it has.
    multiplies: whether it multiplies matrices, which is done with one BLAS thread.
    """

    name: str
    summary: str = ""
    pages: tuple[str, ...] = ()
    multiplies: bool = True

    def load(self) -> Job:
        """The job itself."""
        module = importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")
        job: Job = module.JOB
        return job


JOBS: tuple[Entry, ...] = (
    Entry(
        "compare",
        "Simulate clicks, train every ranker and print its risk on the test queries.",
        pages=("lab",),
    ),
    Entry(
        "proofs",
        "Check the paper's proofs in one world; exit code 0 if every check that should hold does.",
        pages=("proofs",),
    ),
    Entry(
        "claims",
        "Check every claim (the paper's, this lab's and those of later work) and print the "
        "results. The "
        "exit code is 0 even if a claim does not hold: that is a finding, not an error.",
        pages=("claims",),
    ),
    Entry(
        "reproduce",
        "Reproduce the paper's figures: write results, pictures and a report; an interrupted run "
        "resumes.",
        pages=("learning_curves", "robustness"),
    ),
    Entry(
        "propensities",
        "Estimate examination by rank from a click log, with intervals.",
        pages=("propensities",),
    ),
    Entry(
        "live",
        "Run the live experiment of section 7.6 on a simulated engine and interleave the rankers.",
        pages=("live",),
    ),
    Entry(
        "sign-test",
        "Run an exact two-tailed sign test of wins against losses, without ties (section 7.6).",
        multiplies=False,
    ),
    Entry("notebook", "Write a notebook that reproduces the numbers on one of the lab's pages."),
    Entry(
        "convert",
        "Convert a corpus, weights, scores, a ranker or a curve from one format to another.",
    ),
    Entry(
        "check", "Check corpora, click logs, propensity curves and rankers before they are used."
    ),
    Entry("fit", "Train a ranker on your own click log."),
    Entry("evaluate", "Estimate the risk of a ranker from a click log, with intervals."),
    Entry(
        "log-query",
        "Print the SQL statement that counts a log's clicks where the log is stored.",
        multiplies=False,
    ),
    Entry("simulate", "Simulate users on a corpus and write their click log."),
    Entry("lessons", pages=("lessons",)),
    Entry("repairs", pages=("repairs",)),
    Entry("your-data", pages=("your_data",)),
)
"""The jobs, in the order in which help shows their commands."""
