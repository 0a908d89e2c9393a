"""Two towers on expected clicks: right under any logger, or wrong by as much as predicted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from ultr_core.learners.towers import JOINS, TowerRows, Towers, fit_towers
from ultr_core.proofs.towers import (
    CURVED,
    LOG_EXAMINATION,
    LOGGERS,
    PLACES,
    LinkedRanks,
    TowerCase,
)


@pytest.mark.parametrize("logger", LOGGERS)
@pytest.mark.parametrize("form", JOINS)
def test_a_right_model_is_found_exactly_whatever_the_logger_shows(form: str, logger: str) -> None:
    case = TowerCase(form)
    rows, found = case.rows(logger), case.fit(logger)
    s = rows.features @ found.coefficients + found.constant
    assert s == pytest.approx(case.relevance, abs=1e-5)
    assert np.array_equal(np.argsort(s), np.argsort(case.relevance))
    assert found.bias == pytest.approx(LOG_EXAMINATION, abs=1e-6)


@pytest.mark.parametrize("form", JOINS)
def test_without_a_position_tower_relevance_is_exaggerated_the_more_the_better_the_logger(
    form: str,
) -> None:
    """The slope of the fit on the true log odds: below 1 with random lists, above 1 with good."""
    case, slopes = TowerCase(form), []
    for logger in LOGGERS:
        rows = case.rows(logger)
        alone = fit_towers(rows, JOINS["additive"], position=False, ridge=1e-9)
        slopes.append(np.polyfit(case.relevance, rows.features @ alone.coefficients, 1)[0])
    assert slopes == pytest.approx(
        {"additive": [0.920, 1.247, 1.467], "product": [0.597, 1.048, 1.392]}[form], abs=1e-3
    )


def table_of_expected_clicks() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features [3200, 6], w [6], and the product of two features, as in a reference computation."""
    rng = np.random.default_rng(0)
    rng.normal(size=20)
    x = rng.normal(size=(400, 8, 6))
    w = rng.normal(size=6)
    return x, 1.4 * w / np.linalg.norm(w), 0.9 * x[..., 0] * x[..., 1]


@pytest.mark.parametrize(
    ("truth", "curved", "strength", "last", "slope"),
    [
        ("additive", 0, 1, -2.079442, 1.0),
        ("additive", 1, 0, -1.84, 0.88),
        ("additive", 1, 1, -2.92, 0.76),
        ("additive", 1, 99, -4.59, 0.47),
        ("product", 0, 0, -2.70, 0.69),
        ("product", 1, 99, -4.96, 0.36),
    ],
)
def test_confounding_is_what_an_independent_fit_found(
    truth: str, curved: int, strength: float, last: float, slope: float
) -> None:
    """By L-BFGS on the mean loss, with the additive form; to the digits that it reports."""
    x, w, extra = table_of_expected_clicks()
    s = x @ w + curved * extra
    noise = np.random.default_rng(7).normal(size=s.shape) * (strength < 99)
    order = np.argsort(-(strength * s / np.std(s) + noise), 1)
    rank = 1 + np.argsort(order, 1).ravel()
    clicks = expit(JOINS[truth].log_odds(s.ravel() - 1.0, -np.log(rank)))
    rows = TowerRows(
        x.reshape(-1, 6), np.arange(3200), rank.astype(np.int64), np.ones(3200), clicks
    )
    found = fit_towers(rows, JOINS["additive"], ridge=1e-9)
    digits = 1e-6 if last == -2.079442 else 0.0051
    assert found.bias[-1] == pytest.approx(last, abs=digits)
    assert found.coefficients @ w / (w @ w) == pytest.approx(slope, abs=0.0051)


@pytest.mark.parametrize(
    ("swaps", "parts"),
    [((), 4), (((1, 3),), 3), (((1, 3), (2, 4)), 2), (((1, 2), (2, 3), (3, 4)), 1)],
)
def test_clicks_leave_one_direction_open_for_each_part(
    swaps: tuple[tuple[int, int], ...], parts: int
) -> None:
    linked = LinkedRanks(swaps)
    assert (linked.parts, linked.undetermined) == (parts, parts)
    assert LinkedRanks(swaps, shared=True).undetermined == 0


def test_two_towers_that_no_click_can_tell_apart_rank_documents_differently() -> None:
    """A fixed logger: four parts, so that each rank may take what it likes from its documents."""
    log = LinkedRanks().log
    nothing = np.zeros(log.rank.size)
    rank = log.rank.astype(np.int64)
    rows = TowerRows(np.eye(log.n_documents), log.document, rank, nothing, nothing)
    s, f = np.random.default_rng(0).normal(size=log.n_documents), np.array([0.0, 1.0, -0.5, 2.0])
    b = -np.log(np.arange(1.0, PLACES + 1))
    one, other = (
        Towers(JOINS["additive"], w, 0.0, bias, 1.0, 0.0, 0.0, 0)
        for w, bias in ((s, b), (s + np.tile(f, 5), b - f))
    )
    assert expit(one.log_odds(rows)) == pytest.approx(expit(other.log_odds(rows)), abs=1e-15)
    order = [np.argsort(each.coefficients.reshape(5, 4), axis=1) for each in (one, other)]
    assert (order[0] != order[1]).any()


def test_a_wrong_model_lets_the_logger_in() -> None:
    for form in JOINS:
        off = [TowerCase(form, curved=CURVED).off(logger)[-1] for logger in LOGGERS]
        assert np.diff(off).max() < -0.5
    assert abs(TowerCase("product", fitted="additive").off("random")).max() > 0.5
