"""A log that shows only the top of each list: counted, told, and no verdict on rankers from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import inspect_together, join_log, unshown_candidates
from ultr_core.inspection.of_together import MANY_IN_TOP, _on_top
from ultr_core.own_data.agreement import ranks_over_draws, shown_ranks
from ultr_core.own_data.evaluation import (
    Judge,
    compare_rankers,
    compare_with_shown,
    evaluate_ranker,
    judge_by,
)
from ultr_core.propensity import ESTIMATORS, Belief, PresentationLog
from ultr_core.users import ClickLog, Cutoff, GroupedLog, PowerLaw

CURVE = PowerLaw(1.0)
PLACES = 10


def world(queries: int = 40) -> tuple[Corpus, np.ndarray]:
    """Lists of ten with one relevant document each, which the log's ranker puts last but two."""
    rows = [
        f"{4 if place == 8 else 0} qid:{q} 1:{place} # docid = d{place}"
        for q in range(queries)
        for place in range(1, PLACES + 1)
    ]
    corpus = parse_corpus("\n".join(rows).encode(), "corpus.txt")
    best = np.where(corpus.grades == 4, 1.0, 0.0) - np.arange(corpus.n_documents) * 1e-6
    return corpus, best


def log_of(queries: int, cut: int, *, draws: int = 30, moved: bool = False) -> str:
    """Counts: the first places are shown in each draw, and what is examined is clicked at random.

    Clicks are their expectations for noise of 0.3, rounded, so that nothing here is left to chance.
    """
    lines = ["query,document,position,impressions,clicks"]
    for q in range(queries):
        for turn in range(2 if moved else 1):
            for place in range(1, cut + 1):
                document = (place - 1 + 5 * turn) % PLACES + 1
                rate = (0.9 if document == 8 else 0.3) / place
                lines.append(f"{q},d{document},{place},{draws},{round(rate * draws)}")
    return "\n".join(lines) + "\n"


def joined(cut: int, **how: int | bool) -> tuple[Corpus, np.ndarray, ClickLog]:
    corpus, best = world()
    log = join_log(parse_log(log_of(40, cut, **how)), corpus)  # type: ignore[arg-type]
    return corpus, best, log.clicks


def test_a_log_of_whole_lists_leaves_nothing_out() -> None:
    corpus, best, log = joined(PLACES)
    found = unshown_candidates(log)
    assert (found.never, found.candidates, found.left_out, found.severity) == (0, 400, 0.0, "good")
    against = compare_with_shown(log, best, CURVE, name="mine")
    assert against.estimate.high < 0
    assert against.as_dict()["withheld"] is False
    assert not mentions(against.sentence, "candidates")
    assert not mentions(evaluate_ranker(corpus, log, best, CURVE).sentence, "candidates")


def test_a_cut_log_reverses_the_difference_and_gives_no_verdict() -> None:
    """The best ranker loses on what was shown, for the relevant documents were not."""
    corpus, best, log = joined(5)
    found = unshown_candidates(log)
    assert (found.never, found.depth, found.left_out) == (200, 5, 0.5)
    against = compare_with_shown(log, best, CURVE, name="mine")
    assert against.estimate.low > 0  # what IPS says, and it is wrong
    told = against.sentence
    assert mentions(told, "mine", "200 of 400 candidates (50%)")
    assert f"{against.estimate.value:+.2f}" not in told
    assert against.as_dict()["withheld"] is True
    between = compare_rankers(log, best, -best, CURVE, names=("mine", "other"))
    assert between.as_dict()["withheld"] is True
    assert mentions(between.sentence, "mine", "other")
    sentence = evaluate_ranker(corpus, log, best, CURVE).sentence
    assert "200 of 400 candidates (50%)" in sentence


def test_every_check_of_log_and_corpus_has_it() -> None:
    corpus, _ = world()
    together = inspect_together(join_log(parse_log(log_of(40, 5)), corpus), corpus)
    finding = together.finding("never_shown")
    assert (finding.value, finding.severity, together.severity) == (200, "stop", "stop")
    assert mentions(finding.sentence, "200 of 400 candidates (50%)")


def test_few_left_out_qualify_the_verdict() -> None:
    corpus, best = world()
    whole = log_of(40, PLACES)
    without = "\n".join(row for row in whole.splitlines() if not row.startswith("7,d10,")) + "\n"
    log = join_log(parse_log(without), corpus).clicks
    assert unshown_candidates(log).severity == "warning"
    against = compare_with_shown(log, best, CURVE, name="mine")
    assert against.estimate.high < 0
    assert against.as_dict()["withheld"] is False
    assert mentions(against.sentence, "1 of 400 candidates (0.2%)")
    assert f"{-against.estimate.value:.2f}" in against.sentence


def test_queries_that_were_never_drawn_do_not_count() -> None:
    corpus, _ = world()
    found = unshown_candidates(join_log(parse_log(log_of(10, PLACES)), corpus).clicks)
    assert (found.candidates, found.never, found.severity) == (100, 0, "good")


@pytest.mark.parametrize("draws", [1, 20])
def test_one_deep_list_does_not_hide_lists_that_are_cut(draws: int) -> None:
    """30 queries are shown whole; of ten others only the first of ten candidates, however often."""
    corpus, best = world()
    rare = "".join(f"{q},d1,1,{draws},{draws}\n" for q in range(30, 40))
    log = join_log(parse_log(log_of(30, PLACES) + rare), corpus).clicks
    found = unshown_candidates(log)
    assert (found.never, found.depth, found.severity) == (90, PLACES, "stop")
    assert found.left_out == pytest.approx(90 * draws / (300 * 30 + 100 * draws))
    assert compare_with_shown(log, best, CURVE, name="mine").withheld
    # One query of forty is shown whole: the others, cut at five, decide what lists look like.
    deep = log_of(1, PLACES) + log_of(40, 5).split("\n0,d5,", 1)[1].split("\n", 1)[1]
    cut = join_log(parse_log(deep), corpus).clicks
    found = unshown_candidates(cut)
    assert (found.never, found.depth, found.severity) == (195, 5, "stop")
    judge = judge_by("direct", corpus, cut, CURVE)
    shown_first = -np.tile(np.arange(float(PLACES)), 40)
    against = compare_with_shown(cut, shown_first, CURVE, name="mine", judge=judge)
    assert against.unshown.top == 0.0 and not against.withheld


def test_lists_of_one_query_that_end_at_different_places_are_judged_by_document() -> None:
    """Each second list of a query is cut at five: by rank a quarter of the pairs is missing."""
    corpus, best = world()
    rows = log_of(40, PLACES, draws=30).splitlines()
    lower = [row for row in rows[1:] if int(row.split(",")[2]) > 5]
    half = [row.replace(",30,", ",15,") for row in lower]
    kept = [row for row in rows if row not in lower]
    log = join_log(parse_log("\n".join([*kept, *half]) + "\n"), corpus).clicks
    found = unshown_candidates(log, CURVE)
    assert (found.never, found.left_out, found.severity) == (0, 0.25, "stop")
    assert mentions(found.what, "25%") and mentions(found.finding().sentence, "policy-aware")
    against = compare_with_shown(log, best, CURVE, name="mine")
    assert against.judge == ESTIMATORS["policy-aware"].label and not against.withheld


def test_rankers_that_take_turns_above_a_cut_show_all_so_weights_by_document_judge() -> None:
    """Each candidate is in half of the lists: by rank its clicks count half, by rho whole."""
    corpus, best, log = joined(5, moved=True)
    found = unshown_candidates(log)
    assert (found.never, found.severity) == (0, "stop")
    assert mentions(found.what, "50%")
    assert mentions(found.finding().sentence, "policy-aware")
    by_document = unshown_candidates(log, CURVE, sees="document")
    assert (by_document.severity, by_document.finding().value) == ("good", 0)
    against = compare_with_shown(log, best, CURVE, name="mine")
    assert against.judge == ESTIMATORS["policy-aware"].label
    assert against.as_dict()["withheld"] is False
    assert against.estimate.high < 0
    # Half of the draws show a document at rank r of five, the others leave it to ranks 6 to 10.
    seen = ranks_over_draws(log)
    assert seen[:PLACES].tolist() == [(r + 8) / 2 for r in (1, 2, 3, 4, 5)] * 2
    # Twice what IPS says of the same clicks: each document is in half of the draws.
    between = compare_rankers(log, best, -best, CURVE, names=("mine", "other")).estimate
    differences = expected_ranks(best, log.query_offsets) - expected_ranks(-best, log.query_offsets)
    by_rank = Judge(ESTIMATORS["ips"], Belief(CURVE)).difference(log, differences)
    assert between.high < 0
    assert between.value == pytest.approx(2 * by_rank.value, rel=1e-12)
    told = evaluate_ranker(corpus, log, best, CURVE)
    assert told.judge == "policy-aware" and mentions(told.notices, "Policy-aware", "IPS")
    assert told.as_dict()["never_shown"]["covered"] == 1.0
    # The clipped estimate, where it is asked for, divides by rank and stays without a verdict.
    clipped = compare_with_shown(log, best, CURVE, name="mine", clip=0.1)
    assert clipped.as_dict()["withheld"] is True and clipped.judge.startswith("Clipped")


def test_the_reason_for_no_verdict_is_what_is_told() -> None:
    """One candidate is never shown, which is few; that lists are cut is much."""
    corpus, best = world()
    rows = log_of(40, 5, moved=True).splitlines()
    kept = "\n".join(row for row in rows if not row.startswith("7,d10,")) + "\n"
    log = join_log(parse_log(kept), corpus).clicks
    found = unshown_candidates(log)
    assert (found.never, found.severity) == (1, "stop")
    assert mentions(found.what, "50%") and not mentions(found.what, 400)
    assert mentions(found.finding().sentence, "policy-aware")
    by_document = compare_with_shown(log, best, CURVE, name="mine")
    assert not by_document.withheld
    assert mentions(by_document.sentence, "1 of 400 candidates (0.2%)")


def test_ranks_over_draws_add_up_to_whole_rankings() -> None:
    """Three candidates in four draws: lists of 2, 2, 3 and 1; a query that is never drawn."""
    log = ClickLog(
        [0, 1, 1, 2, 2], [1, 2, 1, 2, 3], [3, 2, 1, 1, 1], [0] * 5, 4, [0, 3, 5], draws=[4, 0],
        whole_lists=False,
    )  # fmt: skip
    # Free places: 4 * 6 - (3 + 4 + 1 + 2 + 3) = 11, for 1 + 1 + 2 absences.
    found = ranks_over_draws(log)
    assert found.tolist() == [(3 + 2.75) / 4, (5 + 2.75) / 4, (5 + 5.5) / 4, 0.0, 0.0]
    assert found[:3].sum() == 6
    _, _, whole = joined(PLACES)
    assert np.array_equal(ranks_over_draws(whole), shown_ranks(whole))


def test_the_judge_stays_ips_where_every_draw_shows_every_candidate() -> None:
    for cut, moved in ((PLACES, False), (PLACES, True), (5, False)):
        _, best, log = joined(cut, moved=moved)
        found = compare_with_shown(log, best, CURVE, name="mine")
        assert found.judge == ESTIMATORS["ips"].label
        assert found.withheld is (cut == 5)


def rarely_shown(kept: int) -> tuple[Corpus, ClickLog]:
    """Whole lists, but of queries from ``kept`` the candidate at rank 10 is never shown."""
    corpus, _ = world()
    rows = log_of(40, PLACES).splitlines()
    shown = [row for row in rows if ",d10," not in row or int(row.split(",")[0]) < kept]
    return corpus, join_log(parse_log("\n".join(shown) + "\n"), corpus).clicks


@pytest.mark.parametrize("method", ["", "policy-aware"])
def test_a_ranker_whose_top_was_never_shown_gets_no_verdict(method: str) -> None:
    """15 of 400 candidates, 4%: few, unless they are first everywhere."""
    corpus, log = rarely_shown(25)
    unseen = np.zeros(corpus.n_documents, bool)
    unseen[PLACES - 1 :: PLACES] = True
    unseen[: 25 * PLACES] = False
    honest = -np.tile(np.arange(float(PLACES)), 40)
    for places, withheld in ((PLACES, False), (3, True)):
        # Lists end at rank 10, so that the top are 10 places: all candidates. In lists of 3, 3.
        told = unshown_candidates(log, CURVE)
        assert told.never == 15
        judged = replace(told, depth=places)
        assert judged.places == places
        first = honest + 100.0 * unseen
        ranks = expected_ranks(first, log.query_offsets)
        share = 15 / (40 * places)
        found = _on_top(unseen, ranks, np.repeat(log.draws, PLACES), places)
        assert found == pytest.approx(share)
        assert (found >= MANY_IN_TOP) is withheld
        assert replace(judged, top=found).withheld is withheld
    judge = judge_by(method, corpus, log, CURVE)
    against = compare_with_shown(log, honest + 100.0 * unseen, CURVE, name="mine", judge=judge)
    assert not against.withheld
    assert mentions(against.sentence, "15 of 400 candidates (3.8%)", "3.8%", 10, "mine")


def test_a_fitted_relevance_answers_for_candidates_never_shown_and_says_so() -> None:
    """Half of the candidates are never shown; features tell which of them are relevant."""
    corpus, best, log = joined(5)
    judge = judge_by("direct", corpus, log, CURVE)
    assert judge.sees == "fit"
    shown_first = -np.tile(np.arange(float(PLACES)), 40)
    few = compare_with_shown(log, shown_first, CURVE, name="mine", judge=judge)
    assert few.unshown.top == 0.0 and not few.withheld
    assert mentions(few.sentence, "200 of 400 candidates (50%)", "fitted")
    assert few.unshown.finding().severity == "warning"
    # A ranker that puts what nobody saw first is judged by no clicks at all.
    most = compare_with_shown(log, -shown_first, CURVE, name="mine", judge=judge)
    assert most.unshown.top == 1.0 and most.withheld
    assert mentions(most.sentence, "100%", 5, "mine")
    # The best one has the one relevant document first, of five places: a fifth.
    assert compare_with_shown(log, best, CURVE, name="mine", judge=judge).unshown.top == 0.2
    together = inspect_together(
        join_log(parse_log(log_of(40, 5)), corpus), corpus, CURVE, sees="fit"
    )
    assert together.finding("never_shown").severity == "warning"


def test_a_document_shown_only_where_nobody_looks_is_not_covered() -> None:
    _, _, log = joined(PLACES)
    found = unshown_candidates(log, Cutoff(CURVE, 8))
    assert (found.never, found.withheld) == (80, True)
    assert unshown_candidates(log, CURVE).never == 0


def test_a_log_of_clicks_only_does_not_say_what_was_shown() -> None:
    corpus, best = world()
    rows = "query,document,position,click\n" + "".join(f"{q},d1,1,1\n" for q in range(40))
    log = join_log(parse_log(rows), corpus).clicks
    finding = unshown_candidates(log).finding()
    assert (finding.value, finding.severity) == (None, "warning")
    assert "only" in finding.sentence
    assert "only" in compare_with_shown(log, best, CURVE, name="mine").sentence


def whole_and_cut(sessions: bool = False) -> tuple[Corpus, PresentationLog]:
    """Query 0 shows all ten of its candidates in 30 lists, query 1 the first eight in 90."""
    rows = ["session,presentation,query,document,position,click"]
    for turn in range(120):
        query, cut = (0, PLACES) if turn % 4 == 0 else (1, 8)
        session = f"s{turn % 6}" if sessions else ""
        rows += [
            f"{session},p{turn},{query},d{place},{place},{int((turn + place) % 5 == 0)}"
            for place in range(1, cut + 1)
        ]
    return world(2)[0], parse_log("\n".join(rows) + "\n")


@pytest.mark.parametrize("sessions", [False, True])
def test_only_queries_that_were_shown_whole_can_judge(sessions: bool) -> None:
    corpus, log = whole_and_cut(sessions)
    scores = np.arange(corpus.n_documents, dtype=np.float64)
    every = join_log(log, corpus)
    assert compare_with_shown(every.clicks, scores, CURVE, name="mine").as_dict()["withheld"]
    part = join_log(log, corpus, shown_whole=True)
    assert part.clicks.draws.tolist() == [30, 0]
    assert part.clicks.document.tolist() == list(range(PLACES))
    assert isinstance(part.clicks, GroupedLog) == sessions
    assert mentions(part.notices, "1 of 2", "25.0%")
    assert part.overlap == every.overlap
    assert unshown_candidates(part.clicks).severity == "good"
    assert not compare_with_shown(part.clicks, scores, CURVE, name="mine").as_dict()["withheld"]


def test_a_log_in_which_no_query_was_shown_whole_says_so() -> None:
    corpus, _ = world()
    with refused("none_shown_whole", 40):
        join_log(parse_log(log_of(40, 6)), corpus, shown_whole=True)


def test_candidates_that_take_turns_below_the_cut_are_not_shown_whole() -> None:
    """Each was shown, but never more than eight of ten at once."""
    corpus, _ = world()
    with refused("none_shown_whole"):
        join_log(parse_log(log_of(40, 8, moved=True)), corpus, shown_whole=True)
