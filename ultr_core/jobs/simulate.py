"""``simulate``: write a click log as a reader might have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ultr_core.corpus import synthetic_splits
from ultr_core.errors import InputError, named
from ultr_core.fields import Number, Switch
from ultr_core.files import write_letor
from ultr_core.files.disk import writing, written_together
from ultr_core.jobs.files import DOCUMENT_IDS, MISSING_ZERO, File
from ultr_core.jobs.job import Given, Job, setting_fields
from ultr_core.jobs.output import print_notes, progress_line
from ultr_core.jobs.own_files import CORPUS, PART, OwnCorpus, own_corpus
from ultr_core.own_data.samples import MOST_RANKERS, OwnClicks, simulate_own_log
from ultr_core.propensity.points import MOST_PAIRED
from ultr_core.settings import Settings
from ultr_core.words import counted

_NOTES = (
    "--json prints out, clicks, query_draws, rankers, swaps, swap_presentations (those of lists "
    "that take part in swaps), by_grade, settings and notices."
)

_SETTINGS = (
    "eta", "eps_minus", "eps_plus", "clicks", "seed", "corpus_seed", "relevant_grade",
)  # fmt: skip
_USERS = ("users", "continuation")
_HELPS = {
    "clicks": "Expected number of clicks in the log.",
    "users": "How users click. Trusting users have their own curve and noise, so η, ε₊, ε₋ and a "
    "given curve have no effect. Users who may leave continue after a click only with probability "
    "λ; --sessions records which clicks were above each document.",
    "continuation": "Probability that a user who may leave continues down the list after a click.",
    "seed": "Random seed for the simulated users. The same seed draws the same queries with and "
    "without --sessions, but not the same clicks.",
}


@dataclass(frozen=True)
class Written:
    """Where the log is, of which corpus, and what is in it."""

    out: str
    corpus: str
    settings: Settings
    clicks: OwnClicks
    by_grade: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "out": self.out,
            "clicks": self.clicks.clicks,
            "query_draws": self.clicks.query_draws,
            "rankers": self.clicks.rankers,
            "swaps": self.clicks.swaps or None,
            "swap_presentations": self.clicks.swap_presentations,
            "by_grade": self.by_grade,
            "settings": {
                name: value
                for name, value in self.settings.as_dict().items()
                if name in (*_SETTINGS, *_USERS)
            },
            "notices": list(self.clicks.notices),
        }

    def show(self) -> None:
        """Print it."""
        print(
            f"{counted(self.clicks.clicks, 'click')} from "
            f"{counted(self.clicks.query_draws, 'presentation')} on {self.corpus}, served by "
            f"{counted(self.clicks.rankers, 'production ranker')}, written to "
            f"{named(self.out)}."
        )


def run(given: Given) -> Written:
    """Simulate and write."""
    if given.corpus is not None and given.corpus_out is not None:
        raise InputError(
            "--corpus-out writes the built-in corpus, so it cannot be combined with --corpus; "
            "leave one of them out."
        )
    settings, line = given.settings, progress_line()
    own = _corpus(given)
    line("simulating")
    clicks = simulate_own_log(
        own.corpus,
        settings,
        rankers=given.rankers,
        sessions=given.sessions,
        by_grade=given.by_grade,
        swaps=given.swaps or 0,
    )
    with written_together():
        with writing(given.out, "The click log") as file:
            for number, piece in enumerate(clicks.csv_pieces()):
                file.write(piece)
                line(f"writing the click log: {number * 10_000:,} rows")
        if given.corpus_out is not None:
            write_letor(own.corpus, given.corpus_out)
    line("")
    print_notes(clicks.notices)
    return Written(str(given.out), own.name, settings, clicks, given.by_grade)


def _corpus(given: Given) -> OwnCorpus:
    if given.corpus is not None:
        return own_corpus(given)
    splits = synthetic_splits(given.settings.corpus_seed)
    return OwnCorpus(splits.train, "the training part of the built-in corpus", splits)


JOB = Job(
    run,
    options=(
        CORPUS,
        PART,
        MISSING_ZERO,
        DOCUMENT_IDS,
        File(
            "out", "", metavar="LOG.csv", use="write", required=True, endings=(".csv",),
            help="where to write the log (gzip with .gz): query, document, position, impressions, "
            "clicks",
        ),
        File(
            "corpus_out", "", use="write", endings=(".txt", ".dat"),
            help="without --corpus: write the part of the built-in corpus that the log belongs to",
        ),
        Number(
            "rankers", "Number of production rankers", 1, MOST_RANKERS, default=1,
            help="production rankers that take turns serving queries, so that documents change "
            "rank",
        ),
        Number(
            "swaps", "Last rank of the swaps", 2, MOST_PAIRED, default=None,
            help="let the document at rank 1 trade places with the document at a random rank from "
            "1 to this rank, in lists that are long enough; the log then has the column "
            "swapped_rank, from which propensities estimates examination and tests for trust bias",
        ),
        Switch(
            "sessions", "",
            help="write a row for each document in each presentation instead of counts",
        ),
        Switch(
            "by_grade", "",
            help="users who look at a document with grade g click with probability ε₋ + (ε₊ − ε₋) "
            "(2^g − 1)/(2^G − 1), where G is the highest grade, instead of ε₊ if it is relevant; "
            "evaluate then shows the risk that such clicks estimate",
        ),
    ),
    settings=setting_fields(*_SETTINGS, "curve", *_USERS, **_HELPS),
    show=Written.show,
    as_dict=Written.as_dict,
    notes=_NOTES,
)  # fmt: skip
