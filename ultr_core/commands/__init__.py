"""One module for each command of ``python -m ultr_core``.

A command is an entry of :data:`COMMANDS` and the module of its name, with ``add_options(parser)``
and ``run(options) -> exit code``. Only the module of the command that is asked for is imported,
and what ``run`` alone needs is imported there, so that help and simple commands start at once.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Command:
    """A command as help lists it.

    multiplies: whether it multiplies matrices, which is done with one BLAS thread.
    """

    name: str
    summary: str
    multiplies: bool = True

    def load(self) -> ModuleType:
        """The module that adds its options and runs it."""
        return importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")


COMMANDS: tuple[Command, ...] = (
    Command(
        "compare", "Simulate clicks, train every ranker and print its risk on the test queries."
    ),
    Command(
        "proofs", "Check the paper's claims on a world; exit code 0 if all that should hold do."
    ),
    Command(
        "claims",
        "Measure every claim of the paper and print what was found. The exit code is 0 also when "
        "a claim does not hold: that is a finding, not an error.",
    ),
    Command(
        "reproduce",
        "Run the paper's figures and write results, pictures and a report; resumes after a kill.",
    ),
    Command("propensities", "Estimate examination by rank from a click log, with intervals."),
    Command(
        "live",
        "Run the live experiment of section 7.6 on a simulated engine and interleave the rankers.",
    ),
    Command(
        "sign-test",
        "Exact two-tailed sign test of wins against losses, ties dropped (section 7.6).",
        multiplies=False,
    ),
    Command("notebook", "Write a notebook that gives the numbers of one of the lab's pages."),
    Command(
        "convert",
        "Convert a corpus, weights, scores, a ranker or a curve from one format into another.",
    ),
    Command(
        "check", "Check corpora, click logs, propensity curves and rankers before they are used."
    ),
    Command("fit", "Train a ranker on a click log of one's own."),
    Command("evaluate", "Estimate the risk of a ranker from a click log, with intervals."),
    Command("simulate", "Simulate users on a corpus and write the click log that they leave."),
)
"""The commands, in the order in which help shows them."""
