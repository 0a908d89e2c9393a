"""Intervals of propensities by session: ratios alone, the jackknife by hand, and their coverage."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from scripts.session_intervals import coverage, simulated
from ultr_core.errors import InputError
from ultr_core.propensity import PROPENSITY_METHODS, PresentationLog, estimate_from_log
from ultr_core.users.grouped_log import BY_PRESENTATION, Units

WITH_RATIOS = [key for key, method in PROPENSITY_METHODS.items() if method.ratios is not None]


@pytest.fixture(scope="module")
def log() -> PresentationLog:
    return simulated(5, 2_000, strong=True)


def rows(log: PresentationLog, kept: np.ndarray) -> PresentationLog:
    """The log with some of its entries only, and no groups."""
    names = ("query", "document", "position", "impressions", "clicks", "swap", "ranker")
    return replace(log, group=None, **{name: getattr(log, name)[kept] for name in names})


@pytest.mark.parametrize("method", WITH_RATIOS)
def test_an_interval_leaves_out_one_group_of_sessions_at_a_time(
    log: PresentationLog, method: str
) -> None:
    """The estimate is made anew from the entries of all other groups, ten groups in all."""
    few = replace(log, group=log.group % 10)
    plain = estimate_from_log(replace(log, group=None), method=method)
    found = estimate_from_log(few, method=method)
    assert found.intervals == Units(10, "session").words
    assert plain.intervals == PROPENSITY_METHODS[method].intervals
    without = [
        estimate_from_log(rows(few, few.group != group), method=method).estimate.points
        for group in range(10)
    ]
    for rank, (point, before) in enumerate(
        zip(found.estimate.points, plain.estimate.points, strict=True)
    ):
        assert (point.value, point.impressions, point.clicks) == (
            before.value, before.impressions, before.clicks,
        )  # fmt: skip
        if point.rank == 1:
            assert point == before
            continue
        logs = np.log([points[rank].value for points in without])
        error = math.sqrt(0.9 * float(np.square(logs - logs.mean()).sum()))
        assert point.standard_error == pytest.approx(error, rel=1e-8)
        reach = float(t.ppf(0.975, 9)) * error
        assert math.log(point.high / point.value) == pytest.approx(reach, rel=1e-8)
        assert math.log(point.value / point.low) == pytest.approx(reach, rel=1e-8)


def test_without_sessions_nothing_is_left_out_by_group(log: PresentationLog) -> None:
    """Groups of presentations alone, a single group, and no groups give what there was before."""
    before = estimate_from_log(replace(log, group=None), method="swap")
    assert before.intervals == BY_PRESENTATION
    for same in (
        replace(log, grouped_by="presentation"),
        replace(log, group=np.zeros_like(log.group)),
        replace(log, grouped_by=""),
    ):
        assert same.session_groups is None
        assert estimate_from_log(same, method="swap").as_dict() == before.as_dict()


def test_em_keeps_its_jackknife_over_queries_and_says_so(log: PresentationLog) -> None:
    found = estimate_from_log(log, method="em")
    before = estimate_from_log(replace(log, group=None), method="em")
    assert found.estimate == before.estimate
    assert found.intervals == before.intervals == PROPENSITY_METHODS["em"].intervals
    assert len(found.notices) == len(before.notices) + 1


def test_a_rank_that_a_group_alone_links_has_no_interval(log: PresentationLog) -> None:
    """The only click at rank 6 is in one group; a rank without a click has no upper end either."""
    lowest = log.position == 6
    one = np.flatnonzero(lowest & (log.swap == 6) & (log.clicks > 0))[0]
    clicks = np.where(lowest & (np.arange(log.clicks.size) != one), 0, log.clicks)
    clicks[one] = 1
    point = estimate_from_log(replace(log, clicks=clicks), method="swap").estimate.points[5]
    assert point.value is not None
    assert point.value > 0
    assert (point.low, point.high, point.standard_error) == (None, None, None)
    assert point.reason
    none = replace(log, clicks=np.where(lowest, 0, log.clicks))
    point = estimate_from_log(none, method="swap").estimate.points[5]
    assert (point.value, point.low, point.high) == (0.0, None, None)
    assert estimate_from_log(none, method="swap").as_dict()["ranks"][5]["reason"]


def test_groups_are_numbered_without_gaps(log: PresentationLog) -> None:
    assert log.group is not None
    spread = replace(log, group=log.group * 3 + 7)
    np.testing.assert_array_equal(
        spread.session_groups, np.unique(log.group, return_inverse=True)[1]
    )


def test_displays_are_counted_once(log: PresentationLog) -> None:
    assert log.displays() is log.displays()
    sums = log.displays_by_group(log.session_groups)
    np.testing.assert_array_equal(sums.sum(axis=0)[0], log.displays().impressions)
    np.testing.assert_array_equal(sums.sum(axis=0)[1], log.displays().clicks)
    with pytest.raises(InputError):
        rows(log, np.zeros(log.clicks.size, dtype=bool)).displays()


def test_intervals_by_session_cover_where_those_by_presentation_do_not() -> None:
    """100 logs of strong sessions, a part of the table in `scripts.session_intervals`.

    If a risk is covered in 94% of logs, and 96% were measured, its share falls below 0.85 with
    probability 0.0004. Differences are covered as often; ratios are pooled over five ranks and
    vary less.
    """
    found = coverage(2_000, range(100), strong=True, methods={"swap": "swap"})
    for (today, _), (by_groups, known) in found.values():
        assert known == 1
        assert by_groups >= 0.85
        assert today <= 0.75
