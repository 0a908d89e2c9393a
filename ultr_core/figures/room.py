"""Where words fit in a plot without covering what is drawn there."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ends = tuple[tuple[float, float], tuple[float, float]]
"""Ends of a part of the plot: of x, and of y."""

CELL = 3
"""Pixels to a side of the cells, which are taken or free."""

STEP = 3
"""Pixels between the places that are tried."""

LARGER = 1.41
"""How much larger words may be than expected: in a lecture, or on the narrow plot of a phone."""

COVERED, TIGHT = 5_000.0, 60.0
"""What makes a place as bad as so many pixels of distance: that the words cover something all
over; that they would if they were larger."""

RIGHT, CENTRED = 0.5, 0.05
"""Pixels that words may be farther away to be on the right, and for each pixel towards the middle
of what they are about."""


class Room:
    """What is taken of a plot whose axes both run from -edge to edge.

    pixels: width and height of the smallest plot that the words have to fit.
    """

    def __init__(self, edge: float, pixels: tuple[int, int]) -> None:
        self._edge = edge
        self._pixels = np.array(pixels, dtype=float)
        self._taken = np.zeros([side // CELL for side in pixels], dtype=np.int32)

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Points [k x 2] on the axes in pixels from the lower left corner."""
        on_axes = np.asarray(points, dtype=float).reshape(-1, 2)
        return np.asarray((on_axes + self._edge) / (2 * self._edge) * self._pixels)

    def on_axes(self, pixels: ArrayLike) -> tuple[float, float]:
        """A point in pixels on the axes."""
        x, y = (2 * self._edge * np.asarray(pixels) / self._pixels - self._edge).tolist()
        return x, y

    def take(self, points: ArrayLike, size: tuple[float, float]) -> None:
        """Draw something of this width and height in pixels at the points [k x 2] on the axes."""
        xs, ys = self.pixels(points).T
        (left, right), (down, up) = (self._cells(v, size, of) for of, v in enumerate((xs, ys)))
        for a, b, c, d in zip(*(v.tolist() for v in (left, right, down, up)), strict=True):
            self._taken[a:b, c:d] = 1

    def place(
        self,
        size: tuple[float, float],
        near: ArrayLike,
        *,
        within: Ends | None = None,
        larger: float = LARGER,
    ) -> tuple[float, float]:
        """Take the free place for words that is closest to one of the points ``near`` [k x 2].

        size: width and height of the words in pixels. within: the part of the plot that they may
        be in, also where they are ``larger`` times as large. Where no place is free, the words
        cover as little as possible. Returns the middle of the words on the axes.
        """
        low, high = self.pixels(np.transpose(within or ((-self._edge, self._edge),) * 2))
        half = np.array(size) * larger / 2
        xs, ys = (np.arange(*ends, STEP) for ends in zip(low + half, high - half + 1, strict=True))
        wanted = self.pixels(near)
        middle = np.median(wanted, axis=0)
        away = _distance(xs, ys, size, wanted)
        cost = away + CENTRED * _distance(xs, ys, (0, 0), middle[None])
        cost += RIGHT * (xs < middle[0])[:, None]
        sums = np.pad(self._taken.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        cost += COVERED * self._covered(sums, xs, ys, size)
        cost += TIGHT * (self._covered(sums, xs, ys, (LARGER * size[0], LARGER * size[1])) > 0)
        across, up = np.unravel_index(np.argmin(cost), cost.shape)
        found = self.on_axes((xs[across], ys[up]))
        self.take([found], size)
        return found

    def _covered(
        self,
        sums: NDArray[np.int_],
        xs: NDArray[np.float64],
        ys: NDArray[np.float64],
        size: tuple[float, float],
    ) -> NDArray[np.float64]:
        """Share that is taken of rectangles of this size: [xs x ys], from sums of cells."""
        (left, right), (down, up) = (self._cells(v, size, of) for of, v in enumerate((xs, ys)))
        strip = sums[right] - sums[left]
        return np.asarray((strip[:, up] - strip[:, down]) * CELL**2 / (size[0] * size[1]))

    def _cells(
        self, middles: NDArray[np.float64], size: tuple[float, float], axis: int
    ) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """First cells along an axis of what is around the middles, and those after the last."""
        half, most = size[axis] / 2, self._taken.shape[axis]
        first = np.floor((middles - half) / CELL).clip(0, most).astype(int)
        return first, np.ceil((middles + half) / CELL).clip(0, most).astype(int)


def _distance(
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    size: tuple[float, float],
    points: NDArray[np.float64],
) -> NDArray[np.float64]:
    """From rectangles of this size to the closest of the points [k x 2], in pixels: [xs x ys]."""
    across = (np.abs(xs - points[:, :1]) - size[0] / 2).clip(0) ** 2
    up = (np.abs(ys - points[:, 1:]) - size[1] / 2).clip(0) ** 2
    return np.asarray(np.sqrt((across[:, :, None] + up[:, None, :]).min(axis=0)))
