"""The claims ledger: nothing of the list is missing, and every verdict can fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import pytest

from pages.app.registry import PAGES
from tests.meaning import mentions
from ultr_core.claims import (
    CLAIMS,
    SECTIONS,
    Entry,
    LedgerLine,
    headline,
    measure,
    measure_entry,
)
from ultr_core.claims.common import MORE_CLICKS, from_study_claim
from ultr_core.claims.ledger import (
    COLUMNS,
    MISSED,
    NOT_MEASURED,
    content,
    counts_by_origin,
    to_csv,
    to_json,
)
from ultr_core.errors import InputError
from ultr_core.findings import OUTCOMES, Finding, Outcome, compared
from ultr_core.jobs.links import page_query, read_page_query
from ultr_core.lab import Lab, Store
from ultr_core.lab.live import PAPER_CLICKS
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.studies import (
    FIGURES,
    LOSSES,
    RULES,
    STUDIES,
    Claim,
    Rule,
    settings_words,
    shipped_result,
)
from ultr_core.studies.claims import ORIGINS

LIST = (
    *(f"1{letter}" for letter in "abcdef"),
    *(f"2{letter}" for letter in "ab"),
    *(f"3{letter}" for letter in "abc"),
    *(f"4{letter}" for letter in "bcdefghijklm"),
    *(f"51{letter}" for letter in "abcdeg"),
    *(f"52{letter}" for letter in "abcdefghijlmn"),
    *(f"53{letter}" for letter in "abcdefghijkl"),
    *(f"54{letter}" for letter in "abcde"),
    *(f"6{letter}" for letter in "abcdefg"),
    "S1", "S2", "S2b", "S3", "S4", "S5", "S6a", "S6b", "S6c", "S7", "S9", "S10",
    "F0.scale", "F0.levels", "F1.tau", "F1.clipped", "F1.crossing", "F1.naive",
    "F3.naive", "F4.clipping", "F4.expectation", "F4.order",
    "L1", "L2", "L4", "L5", "L6", "L7", "L8b", "L9", "L9a", "L9b", "L9c", "L9d", "L10", "L11",
    "L12", "L13", "8a", "8b", "9a", "9b",
    *(f"I{number}" for number in (2, 3, 4, 7, 8, 11, 12)),
    *(f"R{number}" for number in range(1, 26)),
)  # fmt: skip
"""Numbers of the claims: by section; setting S, figure F, live L, invariant I, repair R."""

FAILING = {"F1.naive-flat", "8b"}
OPEN = {"F3.gap-grows", "F3.more-data-helps-propensity", "L9c", "R20"}
NOT_CHECKABLE = {"2b", "53l", "S1", "F0.levels", "L1", "L5", "8a"}


@pytest.fixture(scope="module")
def lab() -> Lab:
    """The built-in corpus, in a store that keeps everything."""
    return Lab(store=Store())


class Watched(Store):
    """A store that notes the kinds that a claim asks for, but not what these are made of."""

    def __init__(self, full: Store) -> None:
        super().__init__()
        self.full, self.asked, self.making = full, set[str](), 0

    def peek(self, kind: str, key: Hashable) -> Any:
        if kind != "claim" and not self.making:
            self.asked.add(kind)
        return self.full.peek(kind, key)

    def get(self, kind: str, key: Hashable, make: Callable[[], Any]) -> Any:
        if kind == "claim":
            return self.full.get(kind, key, make)
        self.making += 1
        try:
            return self.full.get(kind, key, make)
        finally:
            self.making -= 1


@pytest.fixture(scope="module")
def asked(lab: Lab) -> dict[str, set[str]]:
    """The kinds that each claim asks for; measures every claim, which takes a few seconds."""
    found = {}
    for entry in CLAIMS.values():
        watched = Watched(lab.store)
        measure_entry(replace(lab, store=watched), entry)
        found[entry.key] = watched.asked
    return found


@pytest.fixture(scope="module")
def lines(lab: Lab, asked: dict[str, set[str]]) -> tuple[LedgerLine, ...]:
    """The whole ledger on the built-in corpus."""
    return measure(lab)


def test_every_claim_of_the_list_has_an_entry_and_no_number_is_given_twice() -> None:
    ids = [name for entry in CLAIMS.values() for name in entry.ids]
    assert len(ids) == len(set(ids))
    judged = [
        f"F{STUDIES[study].figure}.{rule.key}"
        for study in FIGURES
        for rule in RULES[study]
        if rule.key != "skip-above-reverses"
    ]
    assert set(ids) == {*LIST, *judged}
    assert list(SECTIONS) == list(dict.fromkeys(e.section for e in CLAIMS.values()))


def test_a_claim_that_was_merged_is_found_by_its_old_number() -> None:
    where = {name: entry.key for entry in CLAIMS.values() for name in entry.ids}
    assert {old: where[old] for old in MERGED} == MERGED
    assert not set(MERGED) & set(CLAIMS)


def test_claims_on_simulated_users_of_chance_rest_on_several_runs(
    lines: tuple[LedgerLine, ...],
) -> None:
    by_key = {line.entry.key: line for line in lines}
    for key, seeds in (("8b", 50), ("9b", 10)):
        line = by_key[key]
        assert line.sizes["seeds"] == seeds
        assert line.finding.interval is not None


def test_verdicts_on_the_built_in_corpus(lines: tuple[LedgerLine, ...]) -> None:
    assert len(lines) == len(CLAIMS)
    by_verdict = {
        verdict: {line.entry.key for line in lines if line.outcome == verdict}
        for verdict in OUTCOMES
    }
    assert by_verdict["does not hold"] == FAILING
    assert by_verdict["open"] == OPEN
    assert by_verdict["not checkable"] == NOT_CHECKABLE


def test_every_entry_says_what_was_found(lines: tuple[LedgerLine, ...]) -> None:
    for line in lines:
        found = line.finding
        assert found.sentence
        if line.outcome == "not checkable":
            assert found.reason, line.entry.key
        elif found.decided is None:
            assert found.value is not None, line.entry.key
        if found.interval is not None and found.value is not None:
            assert found.interval[0] <= found.value <= found.interval[1]


def test_no_verdict_survives_an_altered_value(lines: tuple[LedgerLine, ...]) -> None:
    for line in lines:
        found = line.finding
        if found.decided is not None or line.outcome != "holds":
            continue
        assert found.value is not None and found.limit is not None
        reach = 1 + 2 * found.tolerance + abs(found.limit) + abs(found.value)
        away = reach if found.relation == "<" else -reach
        altered = replace(found, value=found.limit + away, interval=None)
        assert altered.outcome == "does not hold", line.entry.key


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_study_decides_as_it_judged(outcome: Outcome) -> None:
    rule = Rule("key", "statement", "7.2", "test", lambda _: Finding(""))
    claim = Claim(rule, Finding("+1.0 [+0.9, +1.1]", decided=outcome))
    found = from_study_claim(claim, "Somewhere.", "η = 1.")
    assert found.outcome == outcome
    assert found.sentence.endswith("η = 1.")
    assert "Somewhere." in found.reason


def test_study_claims_say_when_and_how_large(lines: tuple[LedgerLine, ...]) -> None:
    found = [line.finding for line in lines if line.outcome != "not checkable"]
    reasons = [finding.reason for finding in found]
    shipped = [reason for reason in reasons if re.search(r"\b20\d\d-\d\d-\d\d\b", reason)]
    of_studies = [reason for reason in shipped if re.search(r"\b\d+ click logs\b", reason)]
    once = ("same-without-bias", "zero-is-naive")
    rules = [rule.key for rules in RULES.values() for rule in rules if rule.key not in once]
    assert len(of_studies) == len(rules) + len(("S9", "F1.tau"))
    long_runs = ("4j", "52n", "F4.clipping", "L9b", "L9c", "L9d", "L13", "8b")
    later = ("R16", "R17", "R19", "R20")
    assert len(shipped) == len(of_studies) + len(long_runs) + len(later)


def test_a_corpus_that_allows_no_measurement_is_said(lab: Lab) -> None:
    def refuse(_: Lab) -> Finding:
        raise InputError("Clickless.")

    entry = replace(next(iter(CLAIMS.values())), measure=refuse)
    (line,) = measure(lab, [entry])
    assert line.outcome == "not checkable"
    assert "Clickless." in line.finding.reason


@pytest.mark.parametrize("entry", CLAIMS.values(), ids=lambda entry: entry.key)
def test_a_link_opens_a_page_with_nothing_to_correct(entry: Entry) -> None:
    assert entry.page in {page.path for page in PAGES}
    settings, values, notices = read_page_query(entry.page, entry.query)
    assert notices == ()
    assert page_query(entry.page, settings, values) == entry.query


def test_the_papers_claims_and_the_labs_own_are_counted_apart(
    lines: tuple[LedgerLine, ...],
) -> None:
    counts = counts_by_origin(lines)
    by_origin = {
        origin: [line for line in lines if line.entry.origin == origin] for origin in ORIGINS
    }
    assert all(by_origin.values())
    for origin, found in by_origin.items():
        assert sum(counts[origin].values()) == len(found)
    own = by_origin["set-up"] + by_origin["lab"] + by_origin["later"]
    assert re.findall(r"\d+", headline(lines)) == [
        str(number)
        for number in (
            counts["paper"]["holds"],
            len(by_origin["paper"]),
            sum(line.outcome == "holds" for line in own),
            len(own),
        )
    ]
    assert len(headline(lines).split()) <= 15
    assert len(re.findall(r"\d+", headline(by_origin["paper"]))) == 2
    assert content(lines, {})["counts_by_origin"] == counts


def test_every_entry_has_origin_limit_outcome_sizes_and_mutation(
    lines: tuple[LedgerLine, ...],
) -> None:
    for line in lines:
        found = line.as_dict()
        assert found["origin"] in ORIGINS
        assert found["printed"] is (found["origin"] in ("paper", "set-up"))
        assert found["outcome"] == found["verdict"]
        assert set(found["sizes"]) == {"clicks", "queries", "seeds"}
        measured = line.outcome != "not checkable"
        assert (found["limit"] is not None) is measured
        assert (found["value"] is not None) is measured
        assert (found["mutation"] is not None) is (line.outcome in ("holds", "open"))


CLICKED = {
    "training_log", "logs", "trained", "swap_counts", "few_swaps", "uneven_swaps", "live",
    "repeated_logs", "clean_log", "study", "long_runs", "seen_by_fit", "many_logs",
}  # fmt: skip
"""Stages that are made of clicks, or say what is fitted to them."""

PRINTED = {"S2", "S6c", "L2", "L6", "L9", "L10", "L11"}
"""Claims that are checked on printed numbers alone, as they say; nothing of them is simulated."""

MERGED = {
    "F2.same-without-bias": "6g",
    "F4.zero-is-naive": "6g",
    "52e": "52d",
    "53c": "53d",
    "R4": "54a",
}
"""Entries that said the same as another, which has kept their numbers."""


def test_sizes_are_those_of_what_a_claim_asks_for(
    lab: Lab, asked: dict[str, set[str]], lines: tuple[LedgerLine, ...]
) -> None:
    printed = set[str]()
    for line in lines:
        sizes, key = line.sizes, line.entry.key
        kinds = asked[key]
        if "proved_on" in kinds or line.outcome == "not checkable":
            continue
        if kinds == {"printed"}:
            printed.add(key)
            assert sizes["queries"] != lab.world().train.corpus.n_queries, key
        elif kinds <= {"small_world", "interleaved_clicks"}:
            queries = 1 if kinds else None
            assert sizes == {"clicks": None, "queries": queries, "seeds": None}, key
        else:
            endless = key == "52n"
            assert (sizes["clicks"] is not None) is (bool(kinds & CLICKED) and not endless), key
            assert sizes["queries"], key
    assert printed == PRINTED


def test_sizes_of_printed_numbers_are_those_that_are_printed(
    lines: tuple[LedgerLine, ...],
) -> None:
    sizes = {line.entry.key: tuple(line.sizes.values()) for line in lines}
    contests = 87 + 48 + 83 + 95 + 60 + 102
    assert sizes["S2"] == (None, 19_944 + 2_994, None)
    assert sizes["S6c"] == sizes["L6"] == (None, None, None)
    assert sizes["L2"] == (5_437 + 1_755, None, None)
    assert sizes["L9"] == (5_437 + 1_755, contests, None)
    assert sizes["L10"] == sizes["L11"] == (None, contests, None)


def test_sizes_of_a_figure_are_those_of_the_points_that_decide(
    lines: tuple[LedgerLine, ...],
) -> None:
    clicks = {line.entry.key: line.sizes["clicks"] for line in lines}
    assert clicks["F1.naive-better-early"] == clicks["F1.tau"] == 250
    assert clicks["F1.naive-worse"] == clicks["1b"] == 850_000
    assert clicks["F1.naive-flat-late"] == (20_000, 850_000)
    assert clicks["F1.clipping-helps"] == (250, 9_000)
    assert clicks["F4.above-is-worse"] == 170_000


def test_an_outcome_follows_from_value_relation_and_limit(lines: tuple[LedgerLine, ...]) -> None:
    """Four need a second condition besides, which they state, so that they might not hold."""
    for line in lines:
        found = line.finding
        if line.entry.key in ("4j", "51g", "53b", "S3"):
            assert found.decided is not None
        elif found.value is not None:
            assert line.outcome == compared(
                found.value, found.relation, found.limit, found.tolerance, found.interval
            ), line.entry.key


WIDE = {"S2", "S2b", "S6c", "L2", "4h", "53g"}
"""Printed numbers that are rounded or few, mean length in a random corpus, a slope, a coverage."""


def test_an_error_of_one_percent_does_not_pass(lines: tuple[LedgerLine, ...]) -> None:
    """Of a number that is held against another, and not against 0."""
    read = set[str]()
    for line in lines:
        found = line.finding
        if line.outcome == "holds" and found.relation == "=" and found.limit and found.tolerance:
            altered = replace(found, value=0.99 * found.limit, interval=None)
            if altered.outcome == "holds":
                read.add(line.entry.key)
    assert read == WIDE


def test_what_decides_a_claim_is_said_beside_it(lines: tuple[LedgerLine, ...]) -> None:
    for line in lines:
        if line.outcome == "not checkable":
            assert line.decides == ""
        else:
            assert f"{line.finding.value:.4g}" in line.decides and line.decides.endswith(
                str(line.limit)
            )


def test_a_number_that_decides_says_what_it_is(lines: tuple[LedgerLine, ...]) -> None:
    """Of a study, whose sentence has only differences, and wherever it decides against a claim."""
    studied = {
        f"F{study.figure}.{rule.key}"
        for name, study in STUDIES.items()
        for rule in RULES.get(name, ())
    }
    for line in lines:
        against = line.outcome in ("does not hold", "open") or line.entry.key in studied
        if line.finding.value is not None and against:
            assert line.finding.quantity, line.entry.key
            assert line.decides.startswith(f"{line.finding.quantity}: ")


def test_one_rule_says_what_more_data_changes(lines: tuple[LedgerLine, ...]) -> None:
    """A change is one above 5% of the gap, of the naive ranker as of the weighted one."""
    limits = {line.entry.key: line.finding.limit for line in lines}
    more_data = [key for key in limits if "more-data" in key or "naive-flat" in key]
    assert len(more_data) == 6
    assert len({limits[key] for key in more_data}) == 1
    for line in lines:
        if line.entry.key in more_data and line.entry.key != "F1.naive-flat":
            assert "5%" in line.entry.claim


def test_verdicts_of_the_live_experiment_are_at_stated_clicks(
    lines: tuple[LedgerLine, ...],
) -> None:
    sizes = {line.entry.key: line.sizes for line in lines}
    for key, clicks in (("L9b", PAPER_CLICKS), ("L9c", PAPER_CLICKS), ("L9d", MORE_CLICKS)):
        assert sizes[key]["clicks"] == clicks
        assert sizes[key]["seeds"] >= 20
        line = next(line for line in lines if line.entry.key == key)
        assert mentions(line.finding.sentence, f"{clicks:,} clicks")


def test_no_verdict_is_refuted_by_the_interval_beside_it(lines: tuple[LedgerLine, ...]) -> None:
    """A claim that holds has all of the interval that is shown on its side of the limit."""
    read = 0
    for line in lines:
        found = line.finding
        if line.outcome != "holds" or found.interval is None or found.limit is None:
            continue
        read += 1
        low, high = found.interval
        beyond = {
            "=": low <= found.limit <= high,
            ">": low > found.limit,
            "≥": low >= found.limit,
            "<": high < found.limit,
        }
        assert beyond[found.relation], line.shown
    assert read >= 5


def test_an_interval_that_misses_by_little_is_no_success_and_says_so() -> None:
    found = Finding("It gives 11.82; the true risk is 15.88.", 11.82, "=", 15.88, 7.0, (8.28, 15.4))
    assert found.outcome == "open"
    assert LedgerLine(CLAIMS["1e"], found).shown.endswith(MISSED)


def test_a_line_with_other_settings_names_them(lines: tuple[LedgerLine, ...]) -> None:
    """As its link opens them, or as the plan of the study that made it has them."""
    for line in lines:
        settings, _, _ = read_page_query(line.entry.page, line.entry.query)
        text = line.finding.sentence.replace("0.70", "0.7")
        if text == NOT_MEASURED:
            continue
        for name, value in settings.numbers.items():
            told = line.entry.key == "L6" and name == "assumed_eta"  # a curve, no learner
            if value != getattr(Settings(), name) and not told:
                assert f"{PARAMETERS[name].symbol} = {value:g}" in text, line.entry.key
        for study in FIGURES:
            made = "Precomputed" in line.finding.reason
            if made and line.entry.where == f"figure {STUDIES[study].figure}":
                plan = shipped_result(study, LOSSES["sum-of-ranks"]).plan
                assert text.endswith(f" {settings_words(plan)}."), line.entry.key


def test_files_hold_every_claim(lines: tuple[LedgerLine, ...]) -> None:
    plain = content(lines, {"name": "a corpus"})
    assert json.loads(to_json(lines, {"name": "a corpus"})) == json.loads(json.dumps(plain))
    rows = to_csv(lines).decode("utf-8-sig").splitlines()
    assert rows[0].split(",") == list(COLUMNS)
    assert len(rows) == len(lines) + 1
