"""The sentence of a comparison follows its numbers, whatever they are."""

from __future__ import annotations

import pytest

from ultr_core.lab import METHODS, Comparison, RankerSummary
from ultr_core.risk import interval_over_draws
from ultr_core.settings import Settings

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
        ([10.2, 10.3], [11.6, 11.8], "The naive ranker beats propensity weighting by"),
        ([11.0, 12.0], [12.0, 11.0], "cannot be told apart"),
        ([11.0, 12.0], [11.0, 12.0], "are the same ranker"),
        ([12.0, 12.0], [13.5, 13.501], "The weighted ranker is worse than the production ranker"),
        ([12.0, 12.0], [13.0, 16.0], "worse than the production ranker (13.00), which may be"),
        ([12.0, 12.0], [10.0, 14.0], "goes 33% of the way from production (13.00) to full"),
        ([12.0, 12.0], [10.0, 14.0], "(10.00), which may be chance."),
        ([12.0], [10.0], "On the first click log the weighted ranker has test risk 10.00"),
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
    start = "After 3 of 5 click logs: propensity weighting beats the naive ranker by"
    assert found(naive, weighted, draws=5).sentence.startswith(start)
    assert found(naive, weighted, draws=3).sentence.startswith("Propensity weighting beats")
    first = found(naive[:1], weighted[:1], draws=5).sentence
    assert first.startswith("On the first click log")
