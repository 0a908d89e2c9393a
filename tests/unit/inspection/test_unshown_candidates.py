"""A log that shows only the top of each list: counted, told, and no verdict on rankers from it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import inspect_together, join_log, unshown_candidates
from ultr_core.own_data.evaluation import compare_rankers, compare_with_shown, evaluate_ranker
from ultr_core.propensity import PresentationLog
from ultr_core.users import ClickLog, GroupedLog, PowerLaw

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
    assert (found.never, found.candidates, found.below, found.severity) == (0, 400, 0.0, "good")
    against = compare_with_shown(log, best, CURVE, name="mine")
    assert against.estimate.high < 0
    assert against.as_dict()["withheld"] is False
    assert not mentions(against.sentence, "candidates")
    assert not mentions(evaluate_ranker(corpus, log, best, CURVE).sentence, "candidates")


def test_a_cut_log_reverses_the_difference_and_gives_no_verdict() -> None:
    """The best ranker loses on what was shown, for the relevant documents were not."""
    corpus, best, log = joined(5)
    found = unshown_candidates(log)
    assert (found.never, found.lasting, found.lowest) == (200, 200, 5)
    assert found.below == pytest.approx(0.5)
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


def test_candidates_of_rare_queries_may_be_missing_by_chance() -> None:
    """Other queries were shown down to the end, and these were drawn only once."""
    corpus, _ = world()
    rare = "".join(f"{q},d1,1,1,1\n" for q in range(30, 40))
    log = join_log(parse_log(log_of(30, PLACES) + rare), corpus).clicks
    found = unshown_candidates(log)
    assert (found.never, found.lasting, found.severity) == (90, 0, "warning")
    assert mentions(found.finding().sentence, "chance")
    often = rare.replace(",1,1,1\n", ",1,20,1\n")
    log = join_log(parse_log(log_of(30, PLACES) + often), corpus).clicks
    assert unshown_candidates(log).severity == "stop"


def test_rankers_that_take_turns_above_a_cut_show_all_but_too_seldom() -> None:
    _, best, log = joined(5, moved=True)
    found = unshown_candidates(log)
    assert (found.never, found.severity) == (0, "stop")
    assert mentions(found.what, "position 5", "50.0%")
    assert compare_with_shown(log, best, CURVE, name="mine").as_dict()["withheld"] is True


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
