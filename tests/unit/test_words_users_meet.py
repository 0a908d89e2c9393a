"""Wording is held here on purpose: the sentences that users of the core meet most, to the letter.

All other tests know a sentence by what it is about, by the values it names and by the text it
comes from; whoever edits one of these changes it here, and nowhere else.
"""

from __future__ import annotations

import pytest

from tests.made_up_studies import made_up, opposite
from ultr_core.claims import CLAIMS, LedgerLine, headline
from ultr_core.findings import Finding
from ultr_core.lab import METHODS, Comparison, RankerSummary
from ultr_core.lab.comparison import risk_changes
from ultr_core.own_data.evaluation import RankerDifference
from ultr_core.risk import Estimate, interval_over_draws
from ultr_core.risk.sign_test import sign_test, traffic_words
from ultr_core.settings import Settings
from ultr_core.studies import read_study

PRODUCTION, SKYLINE = 13.0, 10.0


def found(naive: list[float], weighted: list[float], *, draws: int | None = None) -> Comparison:
    risks = {
        "production": [PRODUCTION], "naive": naive, "propensity": weighted, "skyline": [SKYLINE],
    }  # fmt: skip
    rankers = {}
    for key, values in risks.items():
        risk = interval_over_draws(values)
        rankers[key] = RankerSummary(key, METHODS[key].label, risk, risk)
    excess = interval_over_draws([a - b for a, b in zip(naive, weighted, strict=True)])
    gap = interval_over_draws([(PRODUCTION - risk) / (PRODUCTION - SKYLINE) for risk in weighted])
    settings = Settings(draws=draws or len(naive))
    return Comparison(settings, {}, rankers, len(naive), 9, 9, excess, gap, ())


@pytest.mark.parametrize(
    ("naive", "weighted", "words"),
    [
        ([11.6, 11.7], [10.2, 10.3], "beats the naive ranker by 1.40 (test risk 10.25 against"),
        ([11.6, 11.7], [10.2, 10.3006], "beats the naive ranker by 1.400 ± 0.004 (test risk"),
        ([10.2, 10.3], [11.6, 11.8], "The naive ranker beats the weighted ranker by"),
        ([11.0, 12.0], [12.0, 11.0], "cannot be told apart"),
        ([11.0, 12.0], [11.0, 12.0], "are identical"),
        ([12.0, 12.0], [13.5, 13.501], "The weighted ranker is worse than the production ranker"),
        ([12.0, 12.0], [13.0, 16.0], "worse than the production ranker (13.00), which may be"),
        ([12.0, 12.0], [10.0, 14.0], "goes 33% of the way from production (13.00) to full"),
        ([12.0, 12.0], [10.0, 14.0], "(10.00), which may be chance."),
        ([12.0], [10.0], "On the first click log the weighted ranker has a test risk of 10.00"),
    ],
)
def test_words_follow_the_numbers(naive: list[float], weighted: list[float], words: str) -> None:
    assert words in found(naive, weighted).sentence


@pytest.mark.parametrize("draws", [1, 2])
def test_the_first_risk_that_is_read_says_which_way_is_better(draws: int) -> None:
    sentence = found([11.6] * draws, [10.2] * draws).sentence
    assert sentence.count("lower is better") == 1
    assert sentence.index("lower is better") < sentence.index("of the way")


def test_until_all_click_logs_are_in_the_sentence_says_how_many() -> None:
    naive, weighted = [11.6, 11.7, 11.8], [10.2, 10.3, 10.3]
    start = "After 3 of 5 click logs: the weighted ranker beats the naive ranker by"
    assert found(naive, weighted, draws=5).sentence.startswith(start)
    assert found(naive, weighted, draws=3).sentence.startswith("The weighted ranker beats")
    first = found(naive[:1], weighted[:1], draws=5).sentence
    assert first.startswith("On the first click log")


def test_a_sign_test_says_who_wins() -> None:
    assert sign_test(87, 48).sentence.endswith(
        "The first ranker wins more often than chance would explain."
    )
    assert "loses more often than chance" in sign_test(48, 87).sentence
    assert "This shows no difference" in sign_test(10, 5).sentence
    assert traffic_words(0.5) == "no amount of traffic is enough"


def test_a_pinned_run_is_called_better_worse_or_noise() -> None:
    def told(before: list[float], after: list[float]) -> str:
        return risk_changes(found(before, before), found(after, after))[1].sentence

    assert "worse by" in told([10.0, 10.4, 10.2], [11.9, 12.3, 12.1])
    assert "within the noise" in told([10.0, 10.4, 10.2], [9.0, 11.6, 10.2])
    assert "may be chance" in told([10.0], [12.0])
    assert told([10.0, 10.4], [10.0, 10.4]).endswith("the same.")


def test_a_readers_ranker_is_better_or_cannot_be_told_apart() -> None:
    def told(reach: float) -> str:
        found = Estimate(-0.5, reach / 2, -0.5 - reach, -0.5 + reach, 9, 9.0)
        return RankerDifference("mine.json", "what users saw", found).sentence

    assert told(0.1).startswith("These clicks show that mine.json is better than what users saw")
    assert told(9.0).startswith("These clicks cannot tell mine.json from what users saw")


def test_a_value_of_a_link_is_corrected_in_one_sentence() -> None:
    _, notices = Settings.from_query({"clicks": "9999999"}, on_stops=True)
    assert notices == (
        "The link asks for Number of clicks n = 9,999,999; it must be one of 100, 250, 500, "
        "1,000, 2,000, 5,000, 9,000, 20,000, 45,000, 100,000, 170,000, 225,000, 450,000 or "
        "850,000. 170,000 is shown.",
    )
    _, notices = Settings.from_query({"clicks": "21000"}, on_stops=True)
    assert notices[0].endswith("n = 21,000; the nearest possible value, 20,000, is shown.")
    _, notices = Settings.from_options({"eta": "0.701"})
    assert notices == ("Bias severity η: 0.701 was rounded to 0.7.",)


def test_the_ledger_of_claims_is_counted_in_a_sentence() -> None:
    printed, own = CLAIMS["1a"], CLAIMS["4i"]
    held, failed = Finding("", 0.0), Finding("", 1.0)
    lines = [LedgerLine(printed, held), LedgerLine(printed, failed)]
    assert headline(lines) == "1 of the paper's 2 claims holds."
    assert headline([*lines, LedgerLine(own, held)]) == (
        "1 of the paper's 2 claims holds, and 1 of 1 others."
    )
    assert headline(lines[1:]) == "0 of the paper's 1 claims hold."


def test_a_figure_says_which_ranker_is_ahead() -> None:
    told = read_study(made_up("learning-curve", opposite))
    assert "At every number of clicks here the naive ranker is ahead." in told
