"""Click logs from CSV: what is understood, what is told, what is used; and what comes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.files import parse_log, read_log
from ultr_core.files.log_reading import Reading
from ultr_core.propensity import LOG_METHODS, CurveOptions, estimate_from_log

PLAIN = "query,document,position,click\n"


def lines(*rows: str, header: str = PLAIN) -> str:
    return header + "\n".join(rows) + "\n"


def two_rankers(ranks: int = 3, queries: int = 40) -> str:
    """Documents that two rankers show at neighbouring ranks, clicked with p_r = 1/r exactly."""
    rows = []
    for query in range(queries):
        for low in range(1, ranks):
            for ranker, rank in (("A", low), ("B", low + 1)):
                rows.append(f"q{query},d{low},{rank},{600 // rank},1200,{ranker}")
    return lines(*rows, header="query,document,position,clicks,impressions,ranker\n")


def swap_log(offset: int = 0) -> str:
    """Landmark 1, ranks 1 to 3, p_r = 1/r; long lists only; positions raised by ``offset``."""
    rows = []
    for query in range(20):
        for drawn in (1, 2, 3):
            for document, own in (("a", 1), ("b", 2), ("c", 3)):
                place = {1: drawn, drawn: 1}.get(own, own)
                clicks = 3600 // place // own
                rows.append(f"q{query},{document},{place + offset},{clicks},3600,{drawn + offset}")
    return lines(*rows, header="query_id,doc_id,rank,clicks,views,swapped_rank\n")


def test_aliases_other_columns_and_repeated_rows() -> None:
    log = parse_log(lines("q,d,1,1,x", "q,d,1,0,y", header="QID,item_id,Pos,clicked,note\n"))
    assert log.counts() == {
        "rows": 2, "queries": 1, "documents": 1, "query_document_pairs": 1, "rankers": 1,
        "positions": 1, "last_position": 1, "impressions": 2, "clicks": 1,
    }  # fmt: skip
    assert log.displays().impressions.tolist() == [2]


def test_a_document_that_moved_is_one_document() -> None:
    log = parse_log("query_id,doc_id,position,click\nlamp,a,2,1\nlamp,a,5,0\nlamp,b,1,0\n")
    assert log.counts()["query_document_pairs"] == 2
    assert log.moved_pairs == 1
    assert mentions(log.notices, "1 of 2")
    views = log.displays().by_rank(5)
    assert views.impressions.tolist() == [1, 1, 0, 0, 1]


def test_a_click_without_a_position_is_reported_and_left_out() -> None:
    text = "session_id,query_id,doc_id,position,click\ns1,q,a,1,0\ns1,q,b,2,0\ns1,q,z,,1\n"
    log = parse_log(text)
    assert log.counts()["rows"] == 2
    assert [(f.rows, f.clicks, f.first) for f in log.faults] == [(1, 1, 4)]
    assert log.presentations is not None and log.presentations.sessions == 1
    assert parse_log(swap_log()).presentations is None


def test_positions_from_zero_are_recognised_and_told() -> None:
    base_one = parse_log(swap_log())
    base_zero = parse_log(swap_log(-1))
    assert base_one.first_position == 1
    assert base_zero.first_position == 0
    assert base_zero.notices[0] != base_one.notices[0]
    assert mentions(base_zero.notices[0], 0, 1)
    one, zero = (estimate_from_log(log).curve.values for log in (base_one, base_zero))
    assert one == zero


def test_swaps_are_read_as_the_experiment_they_are() -> None:
    result = estimate_from_log(parse_log(swap_log()))
    assert result.estimate.method == "swap"
    assert [p.value for p in result.estimate.points] == pytest.approx([1, 1 / 2, 1 / 3])
    counts = parse_log(swap_log()).swap_counts(1, 3)
    assert counts.control.impressions.tolist() == [72_000] * 3
    assert counts.moved.clicks.tolist() == [0, 20 * 1800, 20 * 1200]
    pooled = estimate_from_log(parse_log(swap_log()), method="swap-pooled")
    assert [p.value for p in pooled.estimate.points] == pytest.approx([1, 1 / 2, 1 / 3])
    smooth = estimate_from_log(parse_log(swap_log()), options=CurveOptions(smoothing=1.0))
    assert smooth.curve.values == pytest.approx([1, 1 / 4, 1 / 9])


def test_a_log_of_the_swapped_documents_alone_will_do() -> None:
    text = lines(
        "q1,a,1,1,1", "q2,b,1,1,1", "q3,c,1,0,1", "q4,d,2,1,2", "q5,e,2,0,2",
        header="query,document,position,click,swap\n",
    )  # fmt: skip
    point = estimate_from_log(parse_log(text)).estimate.points[1]
    assert point.value == pytest.approx((1 / 2) / (2 / 3))


def test_harvesting_and_its_chain_recover_the_curve() -> None:
    log = parse_log(two_rankers())
    for method in ("all-pairs", "chain"):
        result = estimate_from_log(log, method=method)
        assert [p.value for p in result.estimate.points] == pytest.approx([1, 1 / 2, 1 / 3])
        assert result.estimate.pairs == 2
    assert estimate_from_log(log, method="pivot").estimate.missing == (3,)
    em = estimate_from_log(log, method="em")
    assert [p.value for p in em.estimate.points] == pytest.approx([1, 1 / 2, 1 / 3], rel=1e-3)


def test_positions_beyond_the_curve_are_left_out_and_told() -> None:
    result = estimate_from_log(parse_log(two_rankers()), last_rank=2)
    assert len(result.estimate.points) == 2
    assert mentions(result.notices, "rank 2")
    assert result.curve.curve.at(np.array([9]))[0] == pytest.approx(0.5)


def test_the_same_document_twice_on_one_page_is_reported() -> None:
    text = lines(
        "s1,q,a,1,1", "s1,q,a,3,0", "s2,q,a,1,0", header="serp_id,query,doc,position,click\n"
    )
    found = parse_log(text).presentations
    assert found is not None
    assert (found.number, found.moved, found.repeated) == (2, 1, 0)


@pytest.mark.parametrize(
    ("text", "method", "about", "named"),
    [
        (lines("q,a,1,1", "q,b,2,0"), "all-pairs", "two_rankers", "ranks"),
        (lines("q,a,1,1", "q,b,2,0"), "em", "two_rankers", "ranks"),
        (lines("q,a,1,1", "q,a,1,0"), "all-pairs", "", "position 1"),
        (lines("q,a,1,0", "q,a,2,0"), "all-pairs", "", "2 impressions"),
        (lines("q,a,1,1", "q,a,2,0"), "swap", "harvest", "swapped_rank"),
        (lines("q,a,1,1", "q,a,2,0"), "dla", "", "dla"),
        (swap_log().replace(",1\n", ",2\n"), "swap", "", "landmark 1"),
    ],
)
def test_logs_that_a_method_cannot_use(text: str, method: str, about: str, named: str) -> None:
    with refused(about, named):
        estimate_from_log(parse_log(text), method=method)


def test_one_position_still_has_a_click_rate() -> None:
    log = parse_log(lines("q,a,1,1", "q,b,1,0"))
    assert log.positions.tolist() == [1]
    result = estimate_from_log(log, method="ctr")
    assert result.curve.values == (1.0,)
    assert result.as_dict()["ranks"][0]["click_rate"]["value"] == 0.5


@pytest.mark.parametrize(
    ("text", "about", "named"),
    [
        ("", "empty_file", "empty"),
        ("query,document,click\nq,a,1\n", "columns", "position"),
        (PLAIN, "", "row"),
        (lines("q,a,x,1"), "", "line 2"),
    ],
)
def test_files_without_anything_usable_are_refused(text: str, about: str, named: str) -> None:
    with refused(about, "log.csv", named):
        parse_log(text, "log.csv")


def test_counts_whose_sum_is_no_exact_number_are_refused() -> None:
    row = f"q,a,1,1,{2**52}"
    text = "query,document,position,click,impressions\n" + row + "\n"
    assert parse_log(text).impressions.tolist() == [2**52]
    with refused("", "log.csv", "2^53"):
        parse_log(text + row + "\n", "log.csv")


UNUSABLE = {
    "q,a,x,1": 1, "q,a,-1,1": 1, "q,a,inf,1": 1, "q,a,1.5,1": 1, f"q,a,{10**19},1": 1,
    "q,a,99999999999,1": 1, "q,a,1,1e999": 0, "q,,1,1": 1, "q,a": 0, "q,a,1,maybe": 0, "q,a,,0": 0,
    "q,a,0,1": 1, ",a,1,1": 1, "NULL,a,1,1": 1, "q,(not set),2,1": 1,
}  # fmt: skip


@pytest.mark.parametrize(("row", "clicks"), UNUSABLE.items())
def test_unusable_rows_are_told_and_the_others_used(row: str, clicks: int) -> None:
    row = row.replace("q,", "other,", 1)
    log = parse_log(lines("q,b,1,true", row, "q,c,2,False", *["q,d,1,0"] * 200))
    assert log.clicks.tolist() == [1, 0, 0]
    assert (log.query_names, log.document_names) == (("q",), ("b", "c", "d"))
    assert [(f.rows, f.clicks, f.first, f.file) for f in log.faults] == [(1, clicks, 3, "")]
    assert mentions(log.notices[0], 1, "line 3")


def test_each_kind_of_fault_is_one_of_its_own() -> None:
    kinds = {
        parse_log(lines("q,b,1,1", *["q,d,1,0"] * 200, row)).faults[0].kind
        for row in ("q,a,x,1", "q,a,-1,1", f"q,a,{10**19},1", "q,a,0,1", "q,,1,1", "q,a", "q,a,,0",
                    "q,a,,1", "q,a,1,x", "q,a,1,1e999", "nan,a,1,1")
    }  # fmt: skip
    assert len(kinds) == 11


def test_a_row_with_more_clicks_than_one_counts_once_if_such_rows_are_few() -> None:
    rows = [f"q,b,1,{int(n % 2 == 0)}" for n in range(20)]
    log = parse_log(lines(*rows, "q,a,2,3"))
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([1, 20], [1, 10])
    assert mentions(log.notices, "1 row")
    many = lines(*rows, *["q,a,2,3"] * 3)
    with refused("clicks_once", 3, 13):
        parse_log(many)
    log = parse_log(many, how=Reading(clicks_once=True))
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([3, 20], [3, 10])


def test_with_impressions_more_clicks_than_those_are_a_fault() -> None:
    log = parse_log(
        lines("q,b,1,3,2", "q,c,2,2,2", header="query,document,position,click,impressions\n")
    )
    assert log.clicks.tolist() == [2]
    assert [(f.rows, f.clicks, f.first) for f in log.faults] == [(1, 3, 2)]


def test_a_fault_names_the_readers_own_column() -> None:
    text = "query,document,Place,hit,old\nq,a,1,1,2\nq,b,99999999999,1,2\nq,c,2,x,77777777777\n"
    columns = {"position": "place", "click": "hit", "swap": "old"}
    log = parse_log(text, columns=columns)
    assert [fault.first for fault in log.faults] == [4, 3]
    assert mentions(log.notices[0], "'hit'", "line 4")
    assert mentions(log.notices[1], "'Place'", "line 3", "1,000,000,000")
    swaps = parse_log(text.replace(",x,", ",1,"), columns=columns)
    assert mentions(swaps.notices[1], "'old'", "line 4", "1,000,000,000")


def test_a_separator_at_the_end_of_a_row_is_no_column() -> None:
    log = parse_log(lines("q,b,1,1,", "q,c,2,0, ", "q,d,3,0"))
    assert log.clicks.tolist() == [1, 0, 0]
    assert log.notices == parse_log(lines("q,b,1,1", "q,c,2,0", "q,d,3,0")).notices


def test_a_row_with_more_cells_than_columns_is_told() -> None:
    log = parse_log(lines("q,b,1,1", "q,c,2,0,7", "q,d,3,0,,8"))
    assert log.clicks.tolist() == [1, 0, 0]
    assert log.faults == ()
    assert mentions(log.notices[0], "2 rows", "line 3")


def test_rates_and_intervals_of_a_carousel_that_prefers_the_middle() -> None:
    """Counts as in a public log of three slots: 10 of 3284, 22 of 3388, 14 of 3328 clicked."""
    text = "item_id,position,clicks,impressions\ni,1,10,3284\ni,2,22,3388\ni,3,14,3328\n"
    result = estimate_from_log(parse_log(text), method="ctr").as_dict()
    rates = [rank["click_rate"] for rank in result["ranks"]]
    low, high = zip(*((round(r["low"], 4), round(r["high"], 4)) for r in rates), strict=True)
    assert low == (0.0017, 0.0043, 0.0025)
    assert high == (0.0056, 0.0098, 0.0070)
    ratios = [rank["propensity"]["value"] for rank in result["ranks"]]
    assert [round(ratio, 2) for ratio in ratios] == [1, 2.13, 1.38]
    assert result["above_one"] == [2, 3]
    assert mentions(result["notices"], "query")


def test_unreadable_files(tmp_path: Path) -> None:
    with refused("not_a_file", "none.csv"):
        read_log(tmp_path / "none.csv")
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe")
    with refused("empty_file", "log.csv"):
        read_log(tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("\ufeff" + lines("q,a,1,1"), encoding="utf-8")
    assert read_log(tmp_path / "log.csv").counts()["clicks"] == 1
    with refused("whole_number", 1, 2):
        estimate_from_log(parse_log(lines("q,a,1,1", "q,a,2,0")), landmark=3)


def test_where_no_row_is_left_each_fault_is_told_with_its_line() -> None:
    with refused("", "1 row", "line 2"):
        parse_log(lines("q,a,1,1,x", header="query,document,position,click,impressions\n"))
    with refused("", "log.csv", "1 row", "line 2", "line 3"):
        parse_log(lines("q,a,x,1", "q,,1,1"), "log.csv")


@pytest.mark.parametrize("method", LOG_METHODS)
def test_a_log_of_clicks_only_gives_no_curve(method: str) -> None:
    """Every position would look alike, and the curve flat and certain."""
    head = "query,document,position,click,swapped_rank\n"
    rows = [f"q{q},d{d},{(d + q) % 3 + 1},1,{q % 3 + 1}" for q in range(9) for d in range(3)]
    log = parse_log(head + "\n".join(rows) + "\n")
    assert log.clicks_only
    with refused("", "27 impressions"):
        estimate_from_log(log, method=method)
    with refused("", "27 impressions"):
        log.swap_counts(1, 3)
    shown = parse_log(head + "\n".join([*rows, "q0,d9,3,0,0"]) + "\n")
    assert not shown.clicks_only
