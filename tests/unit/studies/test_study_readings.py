"""Sentences that read a study: they claim what the intervals show, and no more."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.made_up_studies import made_up, noise, opposite, papers_loss
from tests.meaning import mentions, without_numbers
from ultr_core.risk import NO_INTERVAL, interval_over_draws
from ultr_core.studies import (
    FIGURES,
    LOSSES,
    STUDIES,
    Point,
    StudyResult,
    read_study,
    shipped_result,
    study_headline,
)

VERDICTS = {
    "learning-curve": ("the weighted ranker beats the naive ranker", "loses to the naive ranker"),
    "bias": (
        "More bias hurts the naive ranker more than the weighted ranker.",
        "More bias hurts the weighted ranker more than the naive ranker.",
    ),
    "noise": (
        "More click noise hurts the naive ranker more than the weighted ranker.",
        "More click noise hurts the weighted ranker more than the naive ranker.",
    ),
    "misspecification": (
        "assuming too much (1.5), it beats the naive ranker.",
        "assuming too much (1.5), it loses to the naive ranker.",
    ),
    "map-noise": ("at 6 of 9 points on the map and loses at none; at the other 3", "loses at 6."),
    "map-assumed": ("at 3 of 9 points on the map and loses at 3; at the", "and loses at 6."),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_reading_begins_with_a_verdict_that_follows_the_numbers(name: str) -> None:
    for loss, verdict in zip((papers_loss, opposite), VERDICTS[name], strict=True):
        assert verdict in read_study(made_up(name, loss))
    words = read_study(made_up(name, noise))
    assert not any(verdict in words for verdict in VERDICTS[name])


def test_a_curve_of_another_setting_is_read_by_its_own_cause_symbol_and_clicks() -> None:
    study = replace(
        STUDIES["noise"], name="attention", figure=None, x_fields=("eps_plus",), series_field=None,
        fixed={"clicks": 2_000}, x_values={"quick": (0.5, 1.0)}, series_values={},
        cause="More clicks on relevant documents",
    )  # fmt: skip
    result = made_up(study, lambda method, point, draw: point.x * (method == "naive") + 0.01 * draw)
    verdict = f"{study.cause} hurts the naive ranker more than the weighted ranker."
    assert study_headline(result) == verdict
    assert read_study(result).startswith(f"{verdict} From ε₊ = 0.5 to 1 the naive ranker goes")
    assert "; 2,000 clicks;" in read_study(result)
    assert not study.is_map and study.shipped_in == "attention"


def test_every_study_has_one_way_to_be_read() -> None:
    in_code = ("learning-curve", "misspecification")
    for name, study in STUDIES.items():
        ways = (study.cause, study.is_map, study.repaired_by, name in in_code)
        assert sum(map(bool, ways)) == 1, f"give {name} a cause, or read it in studies/reading.py"


def crossing(method: str, point: Point, draw: int) -> float:
    """Naive surely ahead up to 2,000 clicks, weighting from 170,000 on, both level between."""
    if method != "propensity":
        return {"production": 13.0, "skyline": 10.0}.get(method, 11.0)
    clicks = point.settings.clicks
    mean = {500: 0.5, 2_000: 0.4, 9_000: 0.1, 45_000: -0.1, 170_000: -0.5}[clicks]
    return 11.0 + mean + 0.1 * (draw - 2)


def test_a_ranker_is_ahead_only_where_the_interval_of_the_difference_excludes_zero() -> None:
    words = read_study(made_up("learning-curve", crossing))
    spans = [words.index(span) for span in ("500 to 2,000", "9,000 to 45,000", "170,000 weighting")]
    assert spans == sorted(spans)
    naive = read_study(made_up("learning-curve", opposite))
    level = read_study(made_up("learning-curve", noise))
    for everywhere in (naive, level):
        assert not mentions(everywhere, "2,000")
    assert mentions(naive, "naive", "ahead")
    assert not mentions(level, "ahead")


def test_nothing_is_told_of_places_that_have_one_finished_log() -> None:
    for name in VERDICTS:
        whole = made_up(name, papers_loss)
        first = {key: cell for key, cell in whole.done.items() if key.endswith("draw=0")}
        words = read_study(StudyResult(whole.plan, whole.loss, first, whole.world))
        assert not re.search(r"ahead|beats|loses|hurts (?!one)|gains on|contains 0", words), words


def test_harm_is_compared_only_where_its_difference_can_be_told() -> None:
    level, harmed = (read_study(made_up("bias", risks)) for risks in (noise, papers_loss))
    assert without_numbers(level).split(".")[0] != without_numbers(harmed).split(".")[0]
    assert not mentions(level.split(".")[0], "naive")


@pytest.mark.parametrize("loss", LOSSES)
def test_the_shipped_headline_agrees_with_the_interval_at_every_number_of_clicks(loss: str) -> None:
    result = shipped_result("learning-curve", LOSSES[loss])
    words = read_study(result)
    spans = re.findall(
        r"[Ww]ith ([\d,]+)(?: to ([\d,]+))?(?: clicks)? (the naive ranker|weighting) is", words
    )
    claimed = {"the naive ranker": set[float](), "weighting": set[float]()}
    for first, last, who in spans:
        low, high = (float(end.replace(",", "")) for end in (first, last or first))
        claimed[who] |= {point.x for point in result.plan.points if low <= point.x <= high}
    gains = {
        point.x: interval_over_draws(
            list(result.excess(("naive", point), ("propensity", point)).values())
        )
        for point in result.plan.points
    }
    assert claimed["weighting"] == {x for x, gain in gains.items() if gain.low > 0}
    assert claimed["the naive ranker"] == {x for x, gain in gains.items() if gain.high < 0}


@pytest.mark.parametrize("name", VERDICTS)
def test_one_click_log_is_said_to_have_no_interval_and_gives_no_half_of_one(name: str) -> None:
    words = read_study(made_up(name, papers_loss, draws=1))
    assert words.endswith(NO_INTERVAL)
    assert "±" not in words
    assert not re.search(r"beats|ahead|loses|hurts (?!one)|contains 0", words)
    assert NO_INTERVAL not in read_study(made_up(name, papers_loss))


def test_readings_say_which_way_is_better_and_never_that_an_interval_is_nothing() -> None:
    for name in FIGURES:
        for loss in LOSSES.values():
            steady = made_up(name, lambda *place: round(papers_loss(*place[:2], 2), 2))
            words = read_study(StudyResult(steady.plan, loss, steady.done, steady.world))
            assert loss.direction in words
            assert "±" not in words  # every draw gives the same
            close = made_up(name, lambda *place: papers_loss(*place) + 1e-4 * place[2])
            assert "± 0.00 " not in read_study(close).replace(",", " ").replace(")", " ")


def brief(headline: str) -> bool:
    """Whether a headline has at most 15 words and two numbers."""
    return len(headline.split()) <= 15 and len(re.findall(r"\d[\d,.]*", headline)) <= 2


@pytest.mark.parametrize("name", VERDICTS)
def test_a_headline_is_brief_and_follows_the_numbers(name: str) -> None:
    verdicts = [
        study_headline(made_up(name, loss)) for loss in (papers_loss, opposite, noise, crossed)
    ]
    assert all(map(brief, verdicts)), verdicts
    assert len(set(verdicts[:3])) == 3
    if "map" not in name:  # a map of mere noise has a place or two that look like more
        assert not re.search(r"beats|hurts (?!one)|gains", verdicts[2])
    for loss in LOSSES.values():
        assert brief(study_headline(shipped_result(name, loss)))


def crossed(method: str, point: Point, draw: int) -> float:
    """The paper's where little bias is assumed or there is little of it, else the opposite."""
    place = (method, point, draw)
    return papers_loss(*place) if (point.x or 0.0) < 1 else opposite(*place)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_headline_of_one_click_log_claims_nothing(name: str) -> None:
    words = study_headline(made_up(name, papers_loss, draws=1))
    assert brief(words)
    assert not re.search(r"beats|ahead|loses|hurts (?!one)", words)
