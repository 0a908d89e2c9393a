"""Clicks and files as a reader might have them: simulated on a corpus, written row by row.

corpus = sample_corpus()
files = sample_files()
files["log"].name, files["log"].data[:20]
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, propose_relevance_threshold, synthetic_splits
from ultr_core.corpus.ranking import (
    order_from_ranks,
    query_of_document,
    rank_documents,
    whole_in_range,
)
from ultr_core.errors import InputError
from ultr_core.files import curve_text, write_letor
from ultr_core.files.ranker_files import ranker_text
from ultr_core.files.score_files import scores_text
from ultr_core.lab.logs import click_model, draws_for, require_usual
from ultr_core.lab.production import train_production_ranker
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.limits import Limit
from ultr_core.settings import LOGGER_FIELD, SHOWN_FIELD, Settings
from ultr_core.users import (
    ClickLog,
    LeavingUsers,
    PowerLaw,
    TrustBiasModel,
    degree_of_relevance,
    simulate_counts,
    simulate_leaving,
)
from ultr_core.users.leaving import leave_after_clicks
from ultr_core.users.registry import AffineUsers
from ultr_core.users.simulation import Sessions, simulate_sessions
from ultr_core.words import counted, part_of

MOST_RANKERS = 5
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class OwnClicks:
    """Simulated clicks on the rankings of one or several production rankers.

    logs: one for each ranker, or for each rank that rank 1 trades places with. sessions: their
    events, None for counts only. ranks: int32 [documents] as presented in each log. notices:
    sentences for the reader. swaps: K, the lowest rank that rank 1 trades places with; 0 for none.
    """

    corpus: Corpus
    logs: tuple[ClickLog, ...]
    sessions: tuple[Sessions, ...] | None
    ranks: tuple[NDArray[np.int32], ...]
    notices: tuple[str, ...]
    swaps: int = 0

    @property
    def rankers(self) -> int:
        """Number of production rankers."""
        return 1 if self.swaps else len(self.logs)

    @property
    def swap_presentations(self) -> int:
        """Presentations of lists that are long enough for swaps, also of rank 1 with itself."""
        if not self.swaps:
            return 0
        return sum(int(log.draws[self.corpus.sizes >= self.swaps].sum()) for log in self.logs)

    @property
    def query_draws(self) -> int:
        """Presentations over all logs."""
        return sum(log.query_draws for log in self.logs)

    @property
    def clicks(self) -> int:
        """Clicks over all logs."""
        return sum(log.total_clicks for log in self.logs)

    def csv_pieces(self) -> Iterator[str]:
        """The log as CSV text, piece by piece, header first.

        Counts: query, document, position, impressions, clicks; sessions: page, query, document,
        position, click; with several rankers also ranker, and with swaps swapped_rank, which is
        empty for lists that are too short to take part. Documents without an id are called by
        their number among the query's candidates, from 1.
        """
        also = ["swapped_rank"] if self.swaps else ["ranker"] if self.rankers > 1 else []
        names = ["query", "document", "position"]
        if self.sessions is None:
            names += ["impressions", "clicks"]
        else:
            names = ["page", *names, "click"]
        yield _text([[*names, *also]])
        for number in range(len(self.logs)):
            rows = self._counts(number) if self.sessions is None else self._events(number)
            piece: list[list[object]] = []
            for query, row in rows:
                swapped = not self.swaps or self.corpus.sizes[query] >= self.swaps
                piece.append([*row, number + 1 if swapped else ""] if also else row)
                if len(piece) == _ROWS_AT_ONCE:
                    yield _text(piece)
                    piece = []
            yield _text(piece)

    def _names(self) -> tuple[list[str], list[str]]:
        query = query_of_document(self.corpus.query_offsets)
        queries = [str(self.corpus.query_ids[q]) for q in query.tolist()]
        if self.corpus.document_ids is not None:
            return queries, list(self.corpus.document_ids)
        candidate = np.arange(query.size) - self.corpus.query_offsets[query] + 1
        return queries, [str(number) for number in candidate.tolist()]

    def _counts(self, number: int) -> Iterator[tuple[int, list[object]]]:
        queries, documents = self._names()
        query_of = query_of_document(self.corpus.query_offsets).tolist()
        log = self.logs[number]
        order = np.lexsort((log.rank, query_of_document(log.query_offsets)[log.document]))
        columns = (log.document, log.rank, log.impressions, log.clicks)
        for document, rank, shown, clicked in zip(
            *(column[order].tolist() for column in columns), strict=True
        ):
            if shown:
                row = [queries[document], documents[document], rank, shown, clicked]
                yield query_of[document], row

    def _events(self, number: int) -> Iterator[tuple[int, list[object]]]:
        assert self.sessions is not None
        queries, documents = self._names()
        events, offsets = self.sessions[number], self.corpus.query_offsets
        shown = order_from_ranks(self.ranks[number], offsets).tolist()
        starts = offsets.tolist()
        before = sum(log.query_draws for log in self.logs[:number])
        bounds = np.searchsorted(events.click_draw, np.arange(events.query.size + 1)).tolist()
        for draw, query in enumerate(events.query.tolist()):
            clicked = set(events.click_document[bounds[draw] : bounds[draw + 1]].tolist())
            for rank, document in enumerate(shown[starts[query] : starts[query + 1]], start=1):
                yield query, [
                    before + draw + 1, queries[document], documents[document], rank,
                    int(document in clicked),
                ]  # fmt: skip


@one_blas_thread()
def simulate_own_log(
    corpus: Corpus,
    settings: Settings,
    *,
    rankers: int = 1,
    sessions: bool = False,
    pairs: Limit | None = None,
    by_grade: bool = False,
    swaps: int = 0,
) -> OwnClicks:
    """Let users of ``settings`` click on the rankings of production rankers.

    Each ranker is trained on 1% of the queries, each on others (section 7.1), and serves an
    equal share of the query draws, so that with two or more there are rank changes to harvest. The
    number of draws is such that ``settings.clicks`` clicks are expected in all. ``sessions`` keeps
    every event instead of counts. ``pairs`` is the most that each ranker may be trained on.
    ``by_grade``: users click a document the more often the higher its grade, by its
    `degree_of_relevance`, instead of by whether it is relevant. ``swaps``: if above 0, in equally
    many clicks for each rank from 1 to that rank, documents at rank 1 and at this rank trade places
    (section 5.3) in lists with so many documents or more; shorter lists stay as they are.

    Raises InputError for a number of rankers outside the range 1 to ``MOST_RANKERS``, lists that
    are cut or vary, a corpus without a query that has relevant and irrelevant documents, more pairs
    than that, and swaps with several rankers or without a presentation of a list that is long
    enough.
    """
    require_usual(settings, LOGGER_FIELD, SHOWN_FIELD)
    rankers = whole_in_range(rankers, "The number of rankers", 1, MOST_RANKERS)
    threshold, notice = propose_relevance_threshold((corpus,), settings.relevant_grade)
    relevance: NDArray[Any] = corpus.relevance(threshold)
    if by_grade:
        relevance = degree_of_relevance(corpus.grades)
    users = click_model(settings)
    shown = []
    for number in range(rankers):
        seed_of_ranker = settings.corpus_seed + number
        production = train_production_ranker(corpus, threshold, seed_of_ranker, pairs=pairs)
        shown.append(rank_documents(production.ranker.score(corpus), corpus.query_offsets))
    if swaps:
        shown = _swapped(shown, corpus, swaps)
    logs, events = [], []
    for number, ranks in enumerate(shown):
        seed = np.random.SeedSequence(settings.seed, spawn_key=(number, 2))
        log, happened = _clicks_on(
            ranks, corpus, relevance, users, settings.clicks / len(shown), seed, sessions
        )
        if happened is not None:
            events.append(happened)
        logs.append(log)
    notices = [] if notice is None else [notice]
    if by_grade and isinstance(users, TrustBiasModel):
        notices.append(_TRUST_BY_GRADE)
    if rankers > 1 and isinstance(users, LeavingUsers):
        notices.append(_LISTS_OF_LEAVING.format(rankers=rankers))
    made = OwnClicks(
        corpus, tuple(logs), tuple(events) if sessions else None, tuple(shown), (), swaps
    )
    if swaps and made.swap_presentations < made.query_draws:
        notices.append(_told_of_short_lists(made))
    return replace(made, notices=tuple(notices))


def _told_of_short_lists(made: OwnClicks) -> str:
    """How many presentations have swaps; raises InputError if none has."""
    draws = counted(made.query_draws, "presentation")
    if not made.swap_presentations:
        raise InputError(
            f"None of {draws} shows a list of {made.swaps} documents or more, so there are no "
            "swaps; give a smaller last rank, or more clicks.",
            "swaps",
        )
    have = part_of(made.swap_presentations, made.query_draws, "presentation")
    return f"{have} swaps; the other lists have fewer than {made.swaps} documents."


def _swapped(
    shown: list[NDArray[np.int32]], corpus: Corpus, last_rank: int
) -> list[NDArray[np.int32]]:
    """The ranks [documents] of a ranker after rank 1 traded places with each rank to the last.

    Only in lists with so many documents: if lists took part to different degrees, documents that
    moved and those that did not would come from different queries.
    """
    if len(shown) > 1:
        raise InputError(
            "Swaps are simulated with one ranker, whose documents change rank only by swaps; ask "
            "for swaps or for several rankers.",
            "swaps",
        )
    longest = int(corpus.sizes.max(initial=0))
    if not 2 <= last_rank <= longest:
        raise InputError(
            f"Rank 1 cannot trade places with ranks down to {last_rank}; the last rank must be at "
            f"least 2 and at most {longest}, the length of the longest list.",
            "swaps",
        )
    (ranks,) = shown
    long = corpus.sizes[query_of_document(corpus.query_offsets)] >= last_rank
    found = []
    for place in range(1, last_rank + 1):
        moved = ranks.copy()
        moved[long & (ranks == place)], moved[long & (ranks == 1)] = 1, place
        found.append(moved)
    return found


def _clicks_on(
    ranks: NDArray[np.int32],
    corpus: Corpus,
    relevance: NDArray[Any],
    users: AffineUsers,
    clicks: float,
    seed: np.random.SeedSequence,
    sessions: bool,
) -> tuple[ClickLog, Sessions | None]:
    """Clicks on one ranker's lists, and what happened in each presentation if that is asked for."""
    offsets = corpus.query_offsets
    if not isinstance(users, LeavingUsers):
        probability = users.click_probability(relevance, ranks)
        draws = draws_for(clicks, probability, offsets)
        if sessions:
            return simulate_sessions(probability, ranks, offsets, draws, seed)
        return simulate_counts(probability, ranks, offsets, draws, seed), None
    draws = draws_for(clicks, users.click_probability(relevance, ranks, offsets), offsets)
    if not sessions:
        log = simulate_leaving(users, relevance, ranks, offsets, draws, seed)
        return _by_document(log, ranks, log.clicks_per_document), None
    at_first = users.at_first.click_probability(relevance, ranks)
    log, stayed = simulate_sessions(at_first, ranks, offsets, draws, seed)
    happened = leave_after_clicks(stayed, ranks, users.continuation, seed)
    clicked = np.bincount(happened.click_document, minlength=corpus.n_documents)
    return _by_document(log, ranks, clicked), happened


def _by_document(log: ClickLog, ranks: NDArray[np.int32], clicks: NDArray[np.int64]) -> ClickLog:
    """The presentations of a log of whole lists with these clicks [documents], a row for each."""
    shown = np.repeat(log.draws, np.diff(log.query_offsets))
    every = np.arange(ranks.size)
    return ClickLog(
        every, ranks, shown, clicks, log.query_draws, log.query_offsets, draws=log.draws
    )


def _text(rows: list[list[object]] | list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


# Sample files, for readers who want to see the whole way first.

SAMPLE_SETTINGS = Settings(eta=1.0, assumed_eta=1.0, eps_minus=0.0, eps_plus=1.0, clicks=20_000)
"""The users behind the sample log: examination 1/rank, no noise, so that IPS can be checked."""

_CORPUS_SEED, _OTHER_RANKER_SEED = 7, 11
_LISTS_OF_LEAVING = (
    "Each of the {rankers} rankers shows one fixed list for a query; lists that change from "
    "presentation to presentation are not simulated for users who leave. To estimate λ from this "
    "log, give each list its own query."
)
_TRUST_BY_GRADE = (
    "A document with grade g at rank k is clicked with probability α_k (2^g − 1)/(2^G − 1) + β_k, "
    "where G is the highest grade. The log contains neither examination nor α and β; only a log "
    "with swaps allows them to be estimated, up to a scale."
)
_LOGGING_RANKERS = 2  # so that documents change ranks and examination can be harvested


@dataclass(frozen=True)
class SampleFile:
    """One file: its name, its bytes, and in a few words what it holds."""

    name: str
    data: bytes
    about: str


def sample_corpus() -> Corpus:
    """A small corpus with grades 0 to 4 and document ids; the same one every time."""
    train = synthetic_splits(
        _CORPUS_SEED, train_queries=300, validation_queries=2, test_queries=2, features=8,
        mean_candidates=10.0, relevant_share=0.15,
    ).train  # fmt: skip
    query = query_of_document(train.query_offsets)
    ids = tuple(
        f"{train.query_ids[q]}-{row - int(train.query_offsets[q]) + 1}"
        for row, q in enumerate(query.tolist())
    )
    return replace(train, document_ids=ids)


@lru_cache(maxsize=1)
def sample_files() -> Mapping[str, SampleFile]:
    """A corpus, a click log of it, the curve of its users, a ranker and its scores, by kind.

    The log is of users with `SAMPLE_SETTINGS`, served by two rankers; the ranker was trained on
    the grades of a few queries and was never shown.
    """
    corpus = sample_corpus()
    clicks = simulate_own_log(corpus, SAMPLE_SETTINGS, rankers=_LOGGING_RANKERS)
    production = train_production_ranker(
        corpus, SAMPLE_SETTINGS.relevant_grade, _OTHER_RANKER_SEED
    ).ranker
    longest = int(corpus.sizes.max())
    curve = PowerLaw(SAMPLE_SETTINGS.eta).at(range(1, longest + 1))
    rows = f"{corpus.n_queries} queries, {corpus.n_documents:,} documents"
    return {
        "corpus": SampleFile(
            "sample_corpus.txt", file_bytes(lambda path: write_letor(corpus, path)),
            f"LETOR: {rows}, {corpus.n_features} features",
        ),
        "log": SampleFile(
            "sample_log.csv", "".join(clicks.csv_pieces()).encode(),
            f"CSV: {clicks.clicks:,} clicks on two rankers' lists",
        ),
        "curve": SampleFile(
            "sample_curve.csv", curve_text(curve.tolist()).encode(),
            f"CSV: rank and propensity, ranks 1 to {longest}",
        ),
        "ranker": SampleFile(
            "sample_ranker.json", ranker_text(production).encode(),
            "JSON: a linear ranker that users have not seen",
        ),
        "scores": SampleFile(
            "sample_scores.csv",
            scores_text(corpus, production.score(corpus), form="table").encode(),
            "CSV: query, candidate, document, score",
        ),
    }  # fmt: skip


def file_bytes(write: Callable[[Path], object]) -> bytes:
    """The bytes that ``write`` writes to the path it is given; the file is then deleted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write(path)
        return path.read_bytes()
