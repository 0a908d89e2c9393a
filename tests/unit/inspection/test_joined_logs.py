"""A log and a corpus brought together: rows, draws, ids, what does not fit; verdicts of checks."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus, synthetic_splits
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.errors import InputError
from ultr_core.files import load_directory, parse_corpus, parse_log, write_letor
from ultr_core.files.log_reading import Reading
from ultr_core.files.ranker_files import ranker_text
from ultr_core.findings import SEVERITIES
from ultr_core.inspection import (
    heaviest_share,
    inspect_corpus,
    inspect_curve,
    inspect_file,
    inspect_log,
    inspect_splits,
    inspect_together,
    inspect_upload,
    join_log,
    own_curve,
)
from ultr_core.learners import LinearModel
from ultr_core.own_data.fitting import fit_from_log, part_of_log
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.propensity import table_curve
from ultr_core.settings import Settings
from ultr_core.users import ClickLog, PowerLaw

ROWS = b"1 qid:A 1:1 2:0 # docid = x\n0 qid:A 1:2 2:0 # docid = y\n0 qid:B 1:3 2:1 # docid = x\n"
HEADER = "query,document,position,click\n"
RANKER = ranker_text(LinearModel(np.array([1.0]), np.array([1])), {"clicks": 3})


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(ROWS, "corpus.txt")


def test_rows_become_counts_by_document_and_rank(corpus: Corpus) -> None:
    text = HEADER + "A,y,1,1\nA,x,2,0\nA,y,1,0\nA,x,2,1\nB,x,1,1\nA,y,2,0\nA,x,1,0\n"
    log = join_log(parse_log(text), corpus).clicks
    assert log.document.tolist() == [0, 0, 1, 1, 2]
    assert log.rank.tolist() == [1, 2, 1, 2, 1]
    assert log.impressions.tolist() == [1, 2, 2, 1, 1]
    assert log.clicks.tolist() == [0, 1, 1, 0, 1]
    assert log.draws.tolist() == [3, 1]
    assert log.query_draws == 4


def test_pages_count_query_draws_where_lists_are_logged_in_part(corpus: Corpus) -> None:
    text = "page,query,document,position,click\n1,A,x,1,1\n2,A,y,2,0\n3,A,x,1,0\n4,C,x,1,0\n"
    assert join_log(parse_log(text), corpus).clicks.draws.tolist() == [3, 0]
    without = text.replace("page", "note")
    assert join_log(parse_log(without), corpus).clicks.draws.tolist() == [2, 0]


def test_positions_below_the_candidates_are_used_and_told(corpus: Corpus) -> None:
    joined = join_log(parse_log(HEADER + "A,x,9,1\nA,y,1,0\n"), corpus)
    assert joined.clicks.rank.tolist() == [9, 1]
    assert joined.overlap.below_list == 1
    (notice,) = joined.notices
    assert mentions(notice, 1, "candidate")


def test_without_document_ids_candidates_are_numbered_from_one() -> None:
    corpus = parse_corpus(b"1 qid:A 1:1\n0 qid:A 1:2\n", "corpus.txt")
    joined = join_log(parse_log(HEADER + "A,2,1,1\nA,1,2,0\nA,0,3,1\nA,3,4,1\n"), corpus)
    assert joined.clicks.document.tolist() == [0, 1]
    assert joined.overlap.clicks_outside == 2
    assert any("numbers 1, 2, ..." in notice for notice in joined.notices)


def test_documents_that_a_corpus_does_not_name_are_refused_with_the_repair() -> None:
    """The repair that is told makes the log fit."""
    rows = b"1 qid:A 1:1\n0 qid:A 1:2\n"
    log = parse_log(HEADER + "A,b,1,1\nA,doc-225-3,2,0\n")
    with pytest.raises(InputError) as error:
        join_log(log, parse_corpus(rows, "corpus.txt"))
    told = "# docid = b"
    assert mentions(error.value, told)
    with_ids = rows.replace(b"1:1", f"1:1 {told}".encode()).replace(b"1:2", b"1:2 # docid = b2")
    repaired = parse_corpus(with_ids, "corpus.txt")
    assert join_log(log, repaired).overlap.clicks_joined == 1


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("C,x,1,1\n", ("query_texts", "1 query", "'C'")),
        ("A,z,1,1\n", ("document_names", "'A'", "'z'", "'x'")),
    ],
)
def test_logs_of_something_else_are_refused(
    rows: str, fault: tuple[str, ...], corpus: Corpus
) -> None:
    with refused(*fault):
        join_log(parse_log(HEADER + rows), corpus)


def test_a_part_of_a_log_is_the_log_of_a_part() -> None:
    train = synthetic_splits(1, train_queries=30, validation_queries=1, test_queries=1).train
    text = "".join(simulate_own_log(train, Settings(clicks=500), rankers=2).csv_pieces())
    whole = join_log(parse_log(text), train).clicks
    queries = np.array([3, 7, 20])
    part = part_of_log(train, whole, queries)
    again = join_log(parse_log(text), train.subset(queries)).clicks
    for name in ("document", "rank", "impressions", "clicks", "draws", "query_offsets"):
        assert getattr(part, name).tolist() == getattr(again, name).tolist()


def test_a_simulated_log_reads_back_as_it_was_made() -> None:
    train = synthetic_splits(1, train_queries=30, validation_queries=1, test_queries=1).train
    made = simulate_own_log(train, Settings(clicks=500))
    back = join_log(parse_log("".join(made.csv_pieces())), train).clicks
    seen = made.logs[0].impressions > 0
    assert back.clicks.tolist() == made.logs[0].clicks[seen].tolist()
    assert back.query_draws == made.logs[0].query_draws
    events = simulate_own_log(train, Settings(clicks=500), sessions=True, rankers=2)
    rows = parse_log("".join(events.csv_pieces()))
    assert rows.counts()["clicks"] == events.clicks
    assert join_log(rows, train).clicks.query_draws == sum(x.query_draws for x in events.logs)


def test_shares_of_the_heaviest_clicks() -> None:
    log = ClickLog(np.arange(3), [1, 2, 3], [9, 9, 9], [4, 3, 1], 9, np.array([0, 3]))
    q = np.array([1, 0.5, 0.1])
    total = 4 * 1 + 3 * 2 + 10
    assert heaviest_share(log, q) == pytest.approx((10 + 3 * 2 + 1) / total)
    assert heaviest_share(log, q, clicks=2) == pytest.approx((10 + 2) / total)
    assert heaviest_share(log, q, clicks=99) == pytest.approx(1)


def test_checks_of_all_together(corpus: Corpus) -> None:
    text = HEADER.replace("click", "clicks,impressions") + "A,x,1,50,99\nA,y,2,1,99\n"
    joined = join_log(parse_log(text), corpus)
    found = inspect_together(joined, corpus, table_curve([1, 0.001]))
    assert found.finding("largest_weight").severity == "warning"
    assert found.finding("heaviest_clicks").severity == "warning"
    assert found.finding("effective_sample_size").value == pytest.approx(1050**2 / (50 + 1000**2))
    assert found.severity == "warning"
    json.dumps(found.as_dict(), allow_nan=False)


def test_checks_of_features(tmp_path: Path) -> None:
    rows = "1 qid:1 1:1 2:5e9 3:0 4:0.1\n0 qid:1 1:1 2:1 3:0 4:0.2\n0 qid:1 1:1 2:1 3:0 4:0.2\n"
    corpus = parse_corpus(rows.encode(), "c.txt")
    found = inspect_corpus(corpus, relevant_grade=1)
    assert (found.finding("constant_features").value, found.finding("duplicates").value) == (2, 1)
    assert found.finding("largest_value").severity == "warning"
    (tmp_path / "c.txt").write_text("1 qid:1 1:1.8e308\n")
    with pytest.raises(InputError, match="line 1"):
        inspect_file(tmp_path / "c.txt")


def test_sparse_and_dense_corpora_get_the_same_findings() -> None:
    import scipy.sparse as sparse

    dense = synthetic_splits(2, train_queries=20, validation_queries=1, test_queries=1).train
    features = np.array(dense.features)
    features[3] = features[4]
    features[7] = 0
    other = [
        inspect_corpus(Corpus(f, dense.grades, dense.query_offsets)).as_dict()
        for f in (features, sparse.csr_array(features))
    ]
    assert other[0] == other[1]


def test_curves_of_the_wrong_kind() -> None:
    assert inspect_curve([1, 0.5, 0.3]).severity == "good"
    assert inspect_curve([1 / 34] * 3).finding("shape").severity == "warning"
    assert inspect_curve([0.5, 0.3, 0.2]).finding("shape").severity == "warning"
    assert inspect_curve([1, 2.13, 1.38]).finding("scale").value == 2.13
    assert inspect_curve([1, 1e-4]).finding("largest_weight").severity == "warning"
    with pytest.raises(InputError, match="rank 2"):
        inspect_curve([1, float("nan")])


def test_curves_at_the_ends_of_the_number_range_are_checked_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = inspect_curve([1e308, 1e308, 3e307])
        assert found.finding("largest_weight").value == pytest.approx(10 / 3)
        for values in ([1e308, 1e-308], [5e-324, 1.0], [1.0, 0.5, 1e-310]):
            found = inspect_curve(values)
            assert found.finding("largest_weight").severity == "warning"
            assert "inf" not in found.finding("largest_weight").sentence
            json.dumps(found.as_dict(), allow_nan=False)


def test_a_ranker_whose_scores_overflow_is_checked_without_a_warning(corpus: Corpus) -> None:
    ranker = LinearModel(np.array([1.7e308, 1.7e308]), np.array([1, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(ranker.score(corpus)).any()


def test_scores_far_apart_are_compared_without_a_warning() -> None:
    scores = np.array([1.7e308, -1.7e308, -1.7e308, 1.7e308])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            expected_ranks(scores, np.array([0, 4])), [1.5, 3.5, 3.5, 1.5]
        )


def test_the_logs_own_curve() -> None:
    header = "query,document,position,click,propensity\n"
    log = parse_log(header + "q,a,1,1,0.8\nq,b,3,0,0.2\nq,a,1,0,0.8\n")
    assert own_curve(log) == [0.8, 0.8, 0.2]
    with pytest.raises(InputError, match="column"):
        own_curve(parse_log(HEADER + "q,a,1,1\n"))
    with pytest.raises(InputError, match=r"0\.8"):
        own_curve(parse_log(header + "q,a,1,1,0.8\nq,b,2,0,0.8\n"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ROWS, "corpus"),
        (gzip.compress(ROWS, mtime=0), "corpus"),
        (b"# note\n\n" + ROWS, "corpus"),
        (HEADER.encode() + b"q,a,1,1\n", "log"),
        ((HEADER + "q,a,1,1\n").encode("utf-16"), "log"),
        (b'{"query": "q", "document": "d", "position": 1, "click": 1}\n' * 2, "log"),
        (b'{"doc": "d", "of": {"page": 1}, "rank": 1, "clicked": 1}\n', "log"),
        (RANKER.encode(), "ranker"),
        (" ".join(RANKER.split()).encode(), "ranker"),
        (b"rank,propensity\n1,1\n2,0.5\n", "curve"),
    ],
)
def test_kinds_are_told_by_content(data: bytes, kind: str) -> None:
    found = inspect_upload(data, "upload")
    assert found.kind == kind
    assert found.severity in SEVERITIES
    assert found.sentence


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello world\n", "'hello world'"),
        (b"", "content"),
        (b"0.5\n0.25\n", "scores"),
        (b"{}", "column"),
        (b'[{"document": "d"}]', "lines"),
        (b'{"a": 1}', "'a'"),
        (b"1.5 1:0.2\n", "line 1"),
    ],
)
def test_what_is_nothing_known_is_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        inspect_upload(data, "upload")
    assert "\n" not in str(caught.value)


def test_directories_give_one_inspection_a_part(small_corpus: Path) -> None:
    found = inspect_file(small_corpus)
    assert [part.name.split(", ")[1] for part in found] == [
        "training part", "validation part", "test part",
    ]  # fmt: skip
    splits = load_directory(small_corpus)
    assert [part.as_dict() for part in inspect_splits(splits)] == [p.as_dict() for p in found]


def test_fits_choose_on_held_out_queries_or_given_ones(corpus: Corpus) -> None:
    splits = synthetic_splits(1, train_queries=60, validation_queries=20, test_queries=1)
    log = join_log(
        parse_log("".join(simulate_own_log(splits.train, Settings(clicks=400)).csv_pieces())),
        splits.train,
    ).clicks
    first, again = (fit_from_log(splits.train, log, PowerLaw(1.0), seed=3) for _ in range(2))
    assert first.ranker.coefficients.tolist() == again.ranker.coefficients.tolist()
    assert mentions(first.chosen_by, "held-out")
    given = fit_from_log(splits.train, log, PowerLaw(1.0), method="clipped", cost=1, clip=0.5)
    assert (given.cost, given.clip, given.chosen_by) == (1.0, 0.5, "given")
    assert given.weights.values.max() < first.weights.values.max()
    for method, clip, message in (("em", None, "not a way to weight"), ("ips", 0.5, "threshold")):
        with pytest.raises(InputError, match=message):
            fit_from_log(splits.train, log, PowerLaw(1.0), method=method, clip=clip)


def test_logs_of_clicks_only_and_of_gaps_are_told(tmp_path: Path) -> None:
    only = inspect_log(parse_log(HEADER + "q,a,1,1\nq,b,11,1\n"))
    assert only.finding("only_clicks").severity == "warning"
    moved = inspect_log(parse_log(HEADER + "q,a,1,1\nq,a,2,1\n")).finding("rank_changes")
    assert (moved.value, moved.severity) == (1, "warning")
    assert "harvested" not in moved.sentence
    assert only.finding("position_gaps").value == 9
    none = inspect_log(parse_log(HEADER + "q,a,1,0\n"))
    assert none.finding("clicks").severity == "stop"
    lost = inspect_log(parse_log(HEADER + "q,a,1,0\nq,a,x,0\nq,a,y,0\n"))
    assert (lost.finding("rows_left_out").value, lost.severity) == (2, "stop")


def test_scores_and_models_are_checked_against_a_corpus(tmp_path: Path, corpus: Corpus) -> None:
    write_letor(corpus, tmp_path / "c.txt")
    found = inspect_upload(b"1\n1\n2\n", "scores.txt", corpus=corpus)
    assert (found.kind, found.finding("ties").value) == ("scores", 2)


def test_the_name_of_a_file_is_never_altered() -> None:
    rows = ROWS.replace(b" # docid = x", b"").replace(b" # docid = y", b"")
    corpus = parse_corpus(rows, "train.txt")
    (notice,) = join_log(parse_log(HEADER + "A,1,1,1\n"), corpus, name="train.txt").notices
    assert mentions(notice, "train.txt")


def test_a_column_that_may_be_the_query_is_named() -> None:
    corpus = parse_corpus(b"1 qid:1 1:0\n0 qid:1 1:1\n", "corpus")
    rows = "impression_id,search_id,document,position,click\n" + "".join(
        f"p{n},1,{place},{place},{int(place == 1)}\n" for n in range(5) for place in (1, 2)
    )
    with refused("query", "'search_id'"):
        join_log(parse_log(rows), corpus)
    joined = join_log(parse_log(rows, columns={"query": "search_id"}), corpus)
    assert joined.clicks.total_clicks == 5


def test_clicks_above_a_row_are_kept_as_its_context() -> None:
    corpus = parse_corpus(b"1 qid:1 1:0\n0 qid:1 1:1\n", "corpus")
    clicks = [(1, 1), (1, 0), (0, 1)]
    rows = "presentation,query,document,position,click\n" + "".join(
        f"p{n},1,{place},{place},{click}\n"
        for n, both in enumerate(clicks)
        for place, click in enumerate(both, 1)
    )
    log = parse_log(rows, how=Reading(clicks_above=True))
    found = join_log(log, corpus).clicks
    rows_of = zip(
        found.document.tolist(), found.context.tolist(), found.impressions.tolist(),
        found.clicks.tolist(), strict=True,
    )  # fmt: skip
    assert sorted(rows_of) == [(0, 0, 3, 2), (1, 0, 1, 1), (1, 1, 2, 1)]
    assert not join_log(parse_log(rows), corpus).clicks.context.any()
    # A query with a candidate that was never shown is left out with its clicks above.
    more = parse_corpus(b"1 qid:1 1:0\n0 qid:1 1:1\n1 qid:2 1:0\n0 qid:2 1:1\n", "corpus")
    log = parse_log(f"{rows}p9,2,1,1,1\n", how=Reading(clicks_above=True))
    whole = join_log(log, more, shown_whole=True).clicks
    assert (whole.total_clicks, whole.query_draws, whole.impressions.tolist()) == (4, 3, [3, 1, 2])
