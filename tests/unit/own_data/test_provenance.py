"""Whether a ranker was trained on the clicks that judge it, as far as its file tells."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.own_data import provenance
from ultr_core.own_data.fitting import part_of_log
from ultr_core.own_data.provenance import (
    FALSE_ALARMS,
    KEPT,
    MUCH,
    Provenance,
    _divergence,
    chance_of_counts,
    counts_of,
    fingerprint,
    trained_on,
)
from ultr_core.own_data.samples import SAMPLE_SETTINGS, sample_corpus, simulate_own_log
from ultr_core.users import ClickLog

Record = dict[str, object]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sample_corpus()


@pytest.fixture(scope="module")
def logs(corpus: Corpus) -> tuple[ClickLog, ClickLog]:
    """Two independent logs of one world."""
    first, second = (
        simulate_own_log(corpus, replace(SAMPLE_SETTINGS, clicks=3_000, seed=seed)).logs[0]
        for seed in (1, 2)
    )
    return first, second


@pytest.fixture(scope="module")
def record(corpus: Corpus, logs: tuple[ClickLog, ClickLog]) -> Record:
    return {"fingerprint": fingerprint(corpus, logs[0]), **counts_of(logs[0])}


def with_one_more(log: ClickLog) -> ClickLog:
    """One more presentation of the first document that was clicked, clicked again."""
    row = int(np.argmax(log.clicks))
    more = np.arange(log.clicks.size) == row
    return ClickLog(
        log.document, log.rank, log.impressions + more, log.clicks + more, log.query_draws + 1,
        log.query_offsets, context=log.context, whole_lists=False,
    )  # fmt: skip


def test_a_log_that_differs_by_one_row_is_recognised(
    corpus: Corpus, logs: tuple[ClickLog, ClickLog], record: Record
) -> None:
    same = trained_on(corpus, logs[0], record)
    assert (same.share, same.same_counts, same.trained) == (1.0, True, True)
    assert len(fingerprint(corpus, logs[0])) == KEPT
    changed = trained_on(corpus, with_one_more(logs[0]), record)
    assert changed.share is not None and 0.98 <= changed.share <= 1
    assert (changed.same_counts, changed.trained) == (False, True)
    assert f"{changed.share:.0%}" in changed.told("it")


def test_a_part_of_the_training_log_is_recognised_and_a_mixture_has_its_share(
    corpus: Corpus, logs: tuple[ClickLog, ClickLog], record: Record
) -> None:
    part = np.arange(0, corpus.n_queries, 2)
    found = trained_on(corpus.subset(part), part_of_log(corpus, logs[0], part), record)
    assert (found.share, found.trained) == (1.0, True)
    # The first half of the queries has the counts of training, the second those of another log.
    half = int(corpus.query_offsets[corpus.n_queries // 2])
    rows = [log.document < half for log in logs]
    taken = rows[0], ~rows[1]
    columns = [
        np.concatenate([getattr(log, name)[row] for log, row in zip(logs, taken, strict=True)])
        for name in ("document", "rank", "impressions", "clicks")
    ]
    mixed = ClickLog(*columns, logs[0].query_draws * 2, corpus.query_offsets, whole_lists=False)
    share = trained_on(corpus, mixed, record).share
    assert share == pytest.approx(0.5, abs=0.15)


def test_an_independent_log_is_not_accused(
    corpus: Corpus, logs: tuple[ClickLog, ClickLog], record: Record
) -> None:
    found = trained_on(corpus, logs[1], record)
    assert found.share is not None and found.share < MUCH / 5
    assert (found.trained, found.told("it")) == (None, "")


def test_candidates_in_another_order_or_set_are_the_same_documents(
    corpus: Corpus, logs: tuple[ClickLog, ClickLog]
) -> None:
    """Rows of a corpus with ids, turned round within each query; only their numbers change."""
    named = replace(corpus, document_ids=tuple(f"d{n}" for n in range(corpus.n_documents)))
    offsets = corpus.query_offsets
    turned = np.concatenate(
        [np.arange(last - 1, first - 1, -1) for first, last in pairwise(offsets.tolist())]
    )
    other = replace(
        named, features=corpus.features[turned], grades=corpus.grades[turned],
        document_ids=tuple(f"d{n}" for n in turned),
    )  # fmt: skip
    log, place = logs[0], np.argsort(turned)
    same = ClickLog(
        place[log.document], log.rank, log.impressions, log.clicks, log.query_draws, offsets,
        context=log.context, whole_lists=log.whole_lists,
    )  # fmt: skip
    kept = fingerprint(named, log)
    assert fingerprint(other, same) == kept
    assert fingerprint(corpus, same) != fingerprint(corpus, log)
    assert kept != fingerprint(corpus, log)


def test_what_cannot_be_known_is_none(
    corpus: Corpus, logs: tuple[ClickLog, ClickLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without a record, or a log in which no query has enough clicks."""
    assert trained_on(corpus, logs[0], {}).trained is None
    assert Provenance(held_out=True).trained is False
    monkeypatch.setattr(provenance, "FEWEST_CLICKS", int(logs[0].clicks_per_query.max()) + 1)
    record: Record = {"fingerprint": fingerprint(corpus, logs[0])}
    assert record["fingerprint"] == [] and trained_on(corpus, logs[0], record).trained is None
    assert trained_on(corpus, logs[0], counts_of(logs[0])).trained is True


def navigational(corpus: Corpus, shown: int, rate: float, seed: int) -> ClickLog:
    """Queries for one site: each list is shown equally often, and its first document is clicked."""
    rank = np.arange(corpus.n_documents) - np.repeat(corpus.query_offsets[:-1], corpus.sizes) + 1
    clicks = np.random.default_rng(seed).binomial(shown, np.where(rank == 1, rate, 0.0))
    return ClickLog(
        np.arange(rank.size), rank, np.full(rank.size, shown), clicks, shown * corpus.n_queries,
        corpus.query_offsets,
    )  # fmt: skip


@pytest.mark.parametrize(("shown", "rate", "known"), [(10, 0.9, True), (10, 1.0, False)])
def test_logs_of_queries_for_one_site_agree_by_chance_and_are_not_accused(
    corpus: Corpus, shown: int, rate: float, known: bool
) -> None:
    """Clicks on 10 of 10 and 9 of 10 lists repeat; at 1.0 no count tells two logs apart.

    20 pairs of independent logs; the bound on a false alarm is 1% each, and far from sharp.
    """
    for seed in range(20):
        first, second = (navigational(corpus, shown, rate, 2 * seed + n) for n in (0, 1))
        record: Record = {"fingerprint": fingerprint(corpus, first), **counts_of(first)}
        assert trained_on(corpus, second, record).trained is None
        assert trained_on(corpus, first, record).trained is (True if known else None)


def test_the_chance_that_counts_repeat_is_bounded_for_every_probability() -> None:
    """Two rows, 3 of 4 and 0 of 2 clicked: at most 4 (3/4)^3 (1/4), at p = 3/4 and p = 0."""
    log = ClickLog([0, 1, 2], [1, 2, 1], [4, 2, 1], [3, 0, 1], 5, [0, 2, 3], draws=[4, 1])
    bound = chance_of_counts(log)
    assert bound == pytest.approx([27 / 64, 1.0])
    p = np.linspace(0, 1, 101)
    assert np.all(4 * p**3 * (1 - p) <= bound[0] + 1e-12)
    # 5 of 5 queries agree, each with 1/4 at most: exp(-5 KL) is 1/4^5, the exact probability.
    assert np.exp(-5 * _divergence(1.0, 0.25)) == pytest.approx(4.0**-5)
    assert _divergence(0.5, 0.5) == 0
    assert FALSE_ALARMS <= 0.01
