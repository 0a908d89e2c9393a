"""Where marks and names of a study's picture stand: capped values, names that do not collide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ultr_core.figures.axes import stable_range

REACH = 2.4
"""How far beyond the skyline the picture shows, in gaps between production and skyline."""

MARGIN = 0.1
"""Room on the better side of the skyline, in the same gaps."""

NAME_DISTANCE = 25.0
"""Pixels between two names, where the axis needs some of the height."""


def loss_range(
    skyline: float | None, production: float | None, values: Sequence[float]
) -> tuple[float, float]:
    """Range of the loss axis: from the best value to ``REACH`` gaps beyond the skyline at most.

    A method far worse than production would otherwise press all others into one line. The worse
    end may be the lower one (for a gain); both are returned rising.
    """
    if skyline is None or production is None or skyline == production:
        return stable_range(list(values))
    gap = production - skyline
    low, high = sorted((skyline - MARGIN * gap, skyline + REACH * gap))
    beyond_skyline = [value for value in values if (value < skyline) == (gap > 0)]
    shown = [value for value in values if low <= value <= high]
    return stable_range([*shown, *beyond_skyline, production, skyline - MARGIN * gap])


def spread(places: Sequence[float], low: float, high: float, distance: float) -> list[float]:
    """Places moved apart to at least ``distance`` within [low, high], in the same order.

    Each run of crowded places is centred on their mean; a crowd too large for the range starts
    at its low end.
    """
    order = np.argsort(places, kind="stable")
    groups: list[list[float]] = []
    for place in np.asarray(places, dtype=float)[order]:
        groups.append([float(place)])
        while len(groups) > 1 and _first(groups[-1], low, high, distance) < (
            _first(groups[-2], low, high, distance) + len(groups[-2]) * distance
        ):
            last = groups.pop()
            groups[-1] += last
    moved = [
        _first(group, low, high, distance) + k * distance
        for group in groups
        for k in range(len(group))
    ]
    result = [0.0] * len(moved)
    for index, place in zip(order, moved, strict=True):
        result[int(index)] = place
    return result


def _first(group: Sequence[float], low: float, high: float, distance: float) -> float:
    extent = (len(group) - 1) * distance
    start = float(np.mean(group)) - extent / 2
    return max(low, min(start, high - extent))
