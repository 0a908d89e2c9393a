"""A click log as a reader might have one: simulated on a corpus, written row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, propose_relevance_threshold
from ultr_core.corpus.ranking import (
    order_from_ranks,
    query_of_document,
    rank_documents,
    whole_in_range,
)
from ultr_core.lab.logs import FEWEST_QUERY_DRAWS, user_model
from ultr_core.lab.production import train_production_ranker
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.limits import Limit
from ultr_core.settings import Settings
from ultr_core.users import ClickLog, clicks_per_query_draw, query_draws_for, simulate_counts
from ultr_core.users.simulation import Sessions, simulate_sessions

MOST_RANKERS = 5
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class OwnClicks:
    """Simulated clicks on the rankings of one or several production rankers.

    logs: one for each ranker. sessions: their events, None for counts only. ranks: int32
    [documents] as each ranker presents them. notices: sentences for the reader.
    """

    corpus: Corpus
    logs: tuple[ClickLog, ...]
    sessions: tuple[Sessions, ...] | None
    ranks: tuple[NDArray[np.int32], ...]
    notices: tuple[str, ...]

    @property
    def clicks(self) -> int:
        """Clicks over all rankers."""
        return sum(log.total_clicks for log in self.logs)

    def csv_pieces(self) -> Iterator[str]:
        """The log as CSV text, piece by piece, header first.

        Counts: query, document, position, impressions, clicks; sessions: page, query, document,
        position, click; with several rankers also ranker. Documents without an id are called by
        their number among the query's candidates, from 1.
        """
        several = len(self.logs) > 1
        names = ["query", "document", "position"]
        if self.sessions is None:
            names += ["impressions", "clicks"]
        else:
            names = ["page", *names, "click"]
        yield _text([[*names, "ranker"] if several else names])
        for number in range(len(self.logs)):
            rows = self._counts(number) if self.sessions is None else self._events(number)
            piece = []
            for row in rows:
                piece.append([*row, number + 1] if several else row)
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

    def _counts(self, number: int) -> Iterator[list[object]]:
        queries, documents = self._names()
        log = self.logs[number]
        order = np.lexsort((log.rank, query_of_document(log.query_offsets)[log.document]))
        columns = (log.document, log.rank, log.impressions, log.clicks)
        for document, rank, shown, clicked in zip(
            *(column[order].tolist() for column in columns), strict=True
        ):
            if shown:
                yield [queries[document], documents[document], rank, shown, clicked]

    def _events(self, number: int) -> Iterator[list[object]]:
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
                yield [
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
) -> OwnClicks:
    """Let users of ``settings`` click on the rankings of production rankers.

    Each ranker is trained on 1% of the queries, each on others (section 7.1), and serves an
    equal share of the query draws, so that with two or more there are rank changes to harvest. The
    number of draws is such that ``settings.clicks`` clicks are expected in all. ``sessions`` keeps
    every event instead of counts. ``pairs`` is the most that each ranker may be trained on.

    Raises InputError for a number of rankers outside 1 to ``MOST_RANKERS``, a corpus without a
    query that has relevant and irrelevant documents, or more pairs than that.
    """
    rankers = whole_in_range(rankers, "The number of rankers", 1, MOST_RANKERS)
    threshold, notice = propose_relevance_threshold((corpus,), settings.relevant_grade)
    relevance = corpus.relevance(threshold)
    model = user_model(settings)
    logs, events, shown = [], [], []
    for number in range(rankers):
        seed_of_ranker = settings.corpus_seed + number
        production = train_production_ranker(corpus, threshold, seed_of_ranker, pairs=pairs)
        ranks = rank_documents(production.ranker.score(corpus), corpus.query_offsets)
        probability = model.click_probability(relevance, ranks)
        rate = clicks_per_query_draw(probability, corpus.query_offsets)
        draws = max(FEWEST_QUERY_DRAWS, query_draws_for(settings.clicks / rankers, rate))
        seed = np.random.SeedSequence(settings.seed, spawn_key=(number, 2))
        if sessions:
            log, happened = simulate_sessions(probability, ranks, corpus.query_offsets, draws, seed)
            events.append(happened)
        else:
            log = simulate_counts(probability, ranks, corpus.query_offsets, draws, seed)
        logs.append(log)
        shown.append(ranks)
    return OwnClicks(
        corpus,
        tuple(logs),
        tuple(events) if sessions else None,
        tuple(shown),
        () if notice is None else (notice,),
    )


def _text(rows: list[list[object]] | list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
