"""Estimates from expected clicks: the truth inside the part of the reference, nothing outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.files import parse_log
from ultr_core.inspection import inspect_log
from ultr_core.own_data.curves import estimate_findings, shown_first
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    Counts,
    DisplayCounts,
    PropensityEstimate,
    RandomisedCounts,
    RankEstimate,
    SwapCounts,
    assemble_curve,
    display_counts,
    estimate_by_em,
    estimate_from_log,
    estimate_neighbour_swaps,
    estimate_shuffling,
    estimate_swaps,
)
from ultr_core.propensity.identification import document_links, linked_parts, pair_links
from ultr_core.propensity.points import JACKKNIFE_GROUPS

SHOWN = 840 * 40
RANKS = 6


def truth(ranks: int = RANKS) -> np.ndarray:
    """Examination 1/r, so that clicks expected of ``SHOWN`` impressions are whole numbers."""
    return 1 / np.arange(1, ranks + 1)


def displays(documents: list[tuple[tuple[int, ...], int]], queries: int = 1) -> DisplayCounts:
    """Expected counts of documents at some ranks each, relevance in quarters."""
    rows = []
    for query in range(queries):
        for number, (ranks, quarters) in enumerate(documents):
            for rank in ranks:
                clicks = SHOWN * quarters // (4 * rank)
                assert clicks * 4 * rank == SHOWN * quarters
                rows.append((query, query * len(documents) + number, rank, SHOWN, clicks))
    return display_counts(*np.array(rows).T)


def reached(pairs: list[tuple[int, int]], reference: int) -> set[int]:
    """Ranks that a walk along the pairs reaches, the plainest way."""
    found, more = {reference}, True
    while more:
        step = {b for a, b in pairs if a in found} | {a for a, b in pairs if b in found}
        more, found = not step <= found, found | step
    return found


def linking(documents: list[tuple[tuple[int, ...], int]], method: str, reference: int) -> set[int]:
    """The ranks that a method can know, by pairs of ranks that clicked documents were shown at."""
    pairs = [
        (a, b) for ranks, quarters in documents for a in ranks for b in ranks if quarters and a < b
    ]
    if method == "pivot":
        pairs = [pair for pair in pairs if reference in pair]
    if method == "chain":
        pairs = [(a, b) for a, b in pairs if b - a == 1]
    return reached(pairs, reference)


DOCUMENTS = st.lists(
    st.tuples(
        st.sets(st.integers(1, RANKS), min_size=1, max_size=3).map(lambda r: tuple(sorted(r))),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=7,
)


@pytest.mark.parametrize("method", ["pivot", "chain", "all-pairs", "em"])
@settings(derandomize=True, deadline=None, max_examples=60)
@given(documents=DOCUMENTS, reference=st.integers(1, RANKS))
def test_inside_is_the_truth_and_outside_is_nothing(
    method: str, documents: list[tuple[tuple[int, ...], int]], reference: int
) -> None:
    known = linking(documents, method, reference)
    entry = PROPENSITY_METHODS[method].from_displays
    assert entry is not None
    try:
        found = entry(displays(documents), last_rank=RANKS, reference=reference)
    except InputError as error:
        assert len(known) == 1, error
        return
    assert {point.rank for point in found.observed} == known
    assert len(known) > 1
    assert sorted(rank for gap in found.gaps for rank in gap.ranks) == list(found.missing)
    for point in found.observed:
        assert point.value == pytest.approx(
            reference / point.rank, rel=1e-4 if method == "em" else 1e-9
        )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    swapped=st.sets(st.integers(1, RANKS)),
    landmark=st.integers(1, RANKS),
    pooled=st.booleans(),
)
def test_swaps_answer_for_the_ranks_that_were_swapped(
    swapped: set[int], landmark: int, pooled: bool
) -> None:
    shown = np.array([SHOWN * (r in swapped | {landmark}) for r in range(1, RANKS + 1)])
    others = np.where(np.arange(1, RANKS + 1) == landmark, 0, shown)
    every, rank = np.full(RANKS, SHOWN), np.arange(1, RANKS + 1)
    counts = SwapCounts(
        landmark,
        Counts(shown, shown // (2 * rank)),
        Counts(every, every // (2 * landmark)),
        Counts(others, others // (4 * landmark)),
        Counts(others, others // (4 * rank)),
        10 * SHOWN,
    )
    found = estimate_swaps(counts, ratio="pooled" if pooled else "landmark")
    assert {point.rank for point in found.observed} == swapped | {landmark}
    for point in found.observed:
        assert point.value == pytest.approx(landmark / point.rank, rel=1e-9)
    assert tuple(rank for gap in found.gaps for rank in gap.ranks) == found.missing


def test_each_cause_is_told_apart_with_what_would_help() -> None:
    """1 and 2 are linked; 3 is alone; 4 and 5 are linked with each other; 6 has no click."""
    pairs = [((1, 2), 2), ((3,), 2), ((4, 5), 2), ((2, 6), 0), ((6,), 1)]
    found = PROPENSITY_METHODS["all-pairs"].from_displays
    assert found is not None
    estimate = found(displays(pairs), last_rank=7, reference=1)
    assert {gap.cause: gap.ranks for gap in estimate.gaps} == {
        "not_logged": (7,),
        "not_linked": (3,),
        "other_part": (4, 5),
        "no_click": (6,),
    }
    remedy = {gap.cause: gap.remedy for gap in estimate.gaps}
    assert mentions(remedy["not_linked"], "rank 2", "rank 3")
    assert mentions(remedy["other_part"], "rank 2", "rank 4")
    assert all(gap.sentence in estimate.notices for gap in estimate.gaps)
    assert [estimate.points[rank - 1].value for rank in (3, 4, 5, 6, 7)] == [None] * 5


def test_a_click_on_one_side_alone_is_no_link() -> None:
    """Clicks at 1 and none at 2 fit any small p_2; only clicks that lead back bound it."""
    one_way = display_counts([0, 0, 0], [0, 0, 1], [1, 2, 2], [9, 9, 9], [5, 0, 4])
    links = document_links(one_way, 2)
    assert links.identified(1).tolist() == [True, False]
    assert links.by_display[0] == links.by_display[1]
    assert [gap.cause for gap in links.gaps(1)] == ["no_click"]
    with refused("reference_no_click", "rank 1"):
        links.require(1)
    # 1 beats 2 by one document, 2 beats 3 by another, 3 beats 1 by a third: a circle identifies.
    circle = display_counts(
        [0] * 6, [0, 0, 1, 1, 2, 2], [1, 2, 2, 3, 3, 1], [9] * 6, [1, 0, 1, 0, 1, 0]
    )
    assert document_links(circle, 3).identified(1).all()
    clicks = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    pairs = np.array([[1, 2], [1, 3], [2, 3]])
    by_pairs = pair_links(pairs, clicks, np.ones(3, dtype=bool), "another rank")
    assert by_pairs.identified(1).all()


def test_parts_of_a_graph() -> None:
    source, target = np.array([0, 1, 2, 4]), np.array([1, 0, 1, 3])
    weak = linked_parts(source, target, 6, strong=False)
    assert np.unique(weak).size == 3
    assert weak[0] == weak[1] == weak[2] != weak[3] == weak[4]
    assert np.unique(linked_parts(source, target, 6, strong=True)).size == 5


HEAD = "query,document,position,impressions,click\n"
# A document at 1 alone; two that swap between 2 and 3.
ONE_APART = HEAD + "".join(
    f"q{q},{d},{r},840,{840 // (2 * r)}\n"
    for q in range(30)
    for d, ranks in (("a", (1,)), ("b", (2, 3)), ("c", (2, 3)))
    for r in ranks
)
HALVES = HEAD + "".join(
    f"q{q},{d},{r},840,{840 // (2 * r)}\n"
    for q in range(30)
    for d, ranks in (("a", (1, 2)), ("b", (1, 2)), ("c", (3, 4)), ("d", (3, 4)))
    for r in ranks
)
LINKING = ["em", "harvest", "harvest-pivot", "harvest-chain"]


@pytest.mark.parametrize("method", LINKING)
def test_ranks_that_nothing_links_have_no_number(method: str) -> None:
    with refused("reference_not_linked", "rank 1", "rank 2"):
        estimate_from_log(parse_log(ONE_APART), method=method)
    found = estimate_from_log(parse_log(HALVES), method=method)
    assert found.estimate.missing == (3, 4)
    assert found.curve.guessed == (3, 4)
    assert [p.value for p in found.estimate.observed] == pytest.approx([1, 1 / 2], rel=1e-4)
    assert set(found.curve.known) <= {1, 2}


def test_check_promises_harvesting_only_where_it_is_possible() -> None:
    apart = inspect_log(parse_log(ONE_APART)).finding("rank_changes")
    assert apart.severity == "warning"
    assert mentions(apart.sentence, "rank 1", "rank 2")
    halves = inspect_log(parse_log(HALVES)).finding("rank_changes")
    assert halves.severity == "warning"
    assert mentions(halves.sentence, "ranks 3", 4, "rank 2")
    linked = ONE_APART + "q0,b,1,840,420\n"
    assert inspect_log(parse_log(linked)).finding("rank_changes").severity == "good"
    assert estimate_from_log(parse_log(linked), method="harvest").estimate.missing == ()


@pytest.mark.parametrize("method", [*LINKING, "ctr"])
def test_a_reference_that_was_never_logged_is_named(method: str) -> None:
    rows = "".join(
        f"q{q},b,{r},840,{840 // r}\nq{q},c,{r},840,{840 // r}\n" for q in range(30) for r in (3, 4)
    )
    with refused("reference_not_logged", "rank 1", "rank 3", 2):
        estimate_from_log(parse_log(HEAD + rows), method=method)
    with refused("ranks", 1, 2):
        estimate_from_log(parse_log(HEAD + rows), method=method, last_rank=2)
    found = estimate_from_log(parse_log(HEAD + rows), method=method, landmark=3)
    assert found.estimate.missing == (1, 2)
    assert found.estimate.points[3].value == pytest.approx(3 / 4, rel=1e-4)


SWAP_HEAD = "query,document,position,swapped_rank,impressions,click\n"


def swap_rows(*rows: tuple[int, int, int]) -> str:
    """Position, rank swapped with and clicks of the landmark document, in 900 presentations."""
    return SWAP_HEAD + "".join(f"q,a,{r},{j},900,{clicks}\n" for r, j, clicks in rows)


def test_a_control_without_clicks_is_named() -> None:
    log = parse_log(swap_rows((1, 1, 0), (2, 2, 30), (3, 3, 20)))
    for method in ("swap", "swap-pooled"):
        with refused("control_clicks", "rank 1"):
            estimate_from_log(log, method=method)


def test_swaps_without_a_click_give_no_flat_curve() -> None:
    log = parse_log(swap_rows((1, 1, 90), (2, 2, 0), (3, 3, 0)))
    with refused("no_ratio", "rank 1", "ranks 2", 3):
        estimate_from_log(log, method="swap")


def test_positions_that_look_shifted_are_named() -> None:
    """Rank 1 in 60 presentations and rank 2 in thousands: the first place is at rank 2."""
    down = "".join(
        f"q{q},{d},{r + 1},840,{840 // (2 * r)}\n" for q in range(30) for d in "bc" for r in (1, 2)
    )
    apart = HEAD + "q0,x,1,60,3\n" + down
    with refused("reference_not_linked", "rank 1", 60, "rank 2", "50,400", "shifted"):
        estimate_from_log(parse_log(apart))
    linked = estimate_from_log(parse_log(HEAD + "q0,b,1,60,30\n" + down))
    assert any(mentions(notice, 60, "50,400", "shifted") for notice in linked.notices)
    assert not any(
        mentions(notice, "shifted") for notice in estimate_from_log(parse_log(HALVES)).notices
    )


def randomised(upper: np.ndarray, lower: np.ndarray) -> RandomisedCounts:
    """Clicks [ranks] at the lower and at the compared place, the same in each group of queries."""
    groups = np.ones((JACKKNIFE_GROUPS, 1))
    counts = Counts(np.full(upper.size, 10**6), (JACKKNIFE_GROUPS * upper).astype(np.int64))
    return RandomisedCounts(groups * upper, groups * lower, counts, 10**6, 0.0)


def test_randomised_traffic_answers_where_its_ratios_have_two_ends() -> None:
    """Expected clicks with p = 1/r; rank 4 is never clicked, neither end of its pairs."""
    clicks = 1_200 / np.arange(1, 7)
    clicks[3] = 0
    shuffled = estimate_shuffling(randomised(clicks, np.full(6, 1_200.0)))
    assert [p.rank for p in shuffled.observed] == [1, 2, 3, 5, 6]
    assert [p.value for p in shuffled.observed] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 5, 1 / 6])
    above = np.append(0.0, clicks[:-1])
    chained = estimate_neighbour_swaps(randomised(clicks, above))
    assert chained.missing == (4, 5, 6)
    assert [p.value for p in chained.observed] == pytest.approx([1, 1 / 2, 1 / 3])


def test_click_rates_are_never_known_well() -> None:
    """Their intervals say nothing about how much of a rate is relevance."""
    found = estimate_from_log(parse_log(HALVES), method="ctr")
    assert found.estimate.missing == ()
    assert all(p.high is not None and p.high < 1.1 for p in found.estimate.points)
    assert found.curve.known == (1,)
    assert estimate_findings(found)[0].severity == "warning"


def test_known_well_needs_a_narrow_interval() -> None:
    points = (
        RankEstimate(1, 1.0, 1.0, 1.0, 0.0, clicks=900),
        RankEstimate(2, 0.5, 0.41, 0.61, 0.1, clicks=400),
        RankEstimate(3, 0.7, 0.4, 1.25, 0.29, clicks=400),
        RankEstimate(4, 0.25, None, None, None, clicks=400),
    )
    curve = assemble_curve(PropensityEstimate("all-pairs", 1, points))
    assert curve.known == (1, 2)
    assert curve.used == (1, 2, 3, 4)
    assert not curve.sure
    assert mentions(curve.sentence, "2 of 4 ranks", 1.5)


def test_em_without_intervals_is_never_known_well() -> None:
    """Many documents with few clicks each."""
    sparse = display_counts(
        *np.array([(d, d, r, 60, 60 // (2 * r)) for d in range(200) for r in (1, 2, 3)]).T
    )
    estimate = estimate_by_em(sparse, last_rank=3)
    assert all(point.low is None for point in estimate.points)
    curve = assemble_curve(estimate)
    assert curve.known == (1,) and not curve.sure


def test_more_than_rank_1_is_said_only_where_rank_1_was_measured() -> None:
    values = (None, 1.0, 1.4, 0.7)
    points = tuple(
        RankEstimate(rank, value, standard_error=None if value is None else 0.05)
        for rank, value in enumerate(values, 1)
    )
    told = assemble_curve(PropensityEstimate("all-pairs", 2, points)).notices
    above = [notice for notice in told if mentions(notice, "rank 3")]
    assert len(above) == 1 and mentions(above[0], "rank 2") and not mentions(above[0], "rank 1")


def test_findings_say_what_notices_say() -> None:
    found = estimate_from_log(parse_log(HALVES), method="harvest")
    well, *gaps = estimate_findings(found)
    assert (well.key, well.value, well.severity) == ("known_well", 2, "warning")
    assert [(gap.key, gap.value, gap.severity) for gap in gaps] == [("other_part", 2, "warning")]
    assert {gap.sentence for gap in gaps} <= set(found.notices)
    assert shown_first(found) == (well, *gaps)
    unclicked = replace(found, rates=replace(found.rates, clicks=found.rates.clicks * [1, 1, 0, 0]))
    assert [one.key for one in shown_first(unclicked)] == [well.key]
    assert {point.reason for point in found.estimate.points[2:]} == {found.estimate.gaps[0].reason}


def test_many_parts_are_told_together() -> None:
    documents = [((1, 2), 2), *[((r, r + 1), 1) for r in range(3, 17, 2)]]
    rows = [
        (0, number, rank, 840, quarters)
        for number, (ranks, quarters) in enumerate(documents)
        for rank in ranks
    ]
    links = document_links(display_counts(*np.array(rows).T), 16)
    (gap,) = links.gaps(1)
    assert gap.ranks == tuple(range(3, 17))
