"""Two runs compared: Welch's interval, and words that never take noise for a difference."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import ttest_ind

from tests.meaning import mentions
from ultr_core.lab import Comparison, RankerSummary
from ultr_core.lab.comparison import risk_changes, settings_changes
from ultr_core.risk import interval_over_draws
from ultr_core.settings import Settings

BEFORE, AFTER = [10.0, 10.4, 10.2, 10.1, 10.6], [10.9, 11.3, 10.8, 11.0]


def run(values: list[float], **changes: float) -> Comparison:
    risk = interval_over_draws(values)
    summary = RankerSummary("naive", "Naive", risk, risk)
    return Comparison(
        Settings(**changes),
        {},
        {"naive": summary},
        len(values),
        0,
        0,
        None,
        None,
        (),  # type: ignore[arg-type]
    )


def test_interval_is_that_of_welchs_test() -> None:
    (change,) = risk_changes(run(BEFORE), run(AFTER))
    expected = ttest_ind(AFTER, BEFORE, equal_var=False).confidence_interval(0.95)
    assert change.low == pytest.approx(expected.low, abs=1e-12)
    assert change.high == pytest.approx(expected.high, abs=1e-12)
    assert change.is_noise is False
    assert mentions(change.sentence, "0.74 ±")


def test_difference_inside_the_noise_is_called_that() -> None:
    (change,) = risk_changes(run(BEFORE), run([9.0, 11.6, 10.2]))
    assert change.is_noise


def test_one_click_log_claims_nothing() -> None:
    (change,) = risk_changes(run([10.0]), run([12.0]))
    assert change.is_noise is None


def test_same_numbers_are_the_same() -> None:
    (change,) = risk_changes(run(BEFORE), run(BEFORE))
    assert change.difference == 0
    assert "±" not in change.sentence


def test_rankers_of_only_one_run_are_left_out() -> None:
    assert risk_changes(run(BEFORE), replace(run(BEFORE), rankers={})) == ()


def test_changed_settings_are_named_with_both_values() -> None:
    found = settings_changes(Settings(), Settings(eta=0.5, clicks=9_000, curve=(1, 0.5)))
    eta, clicks, curve = found
    assert mentions(eta, "η", 1, "0.5")
    assert mentions(clicks, "n", "170,000", "9,000")
    assert mentions(curve, "curve")
