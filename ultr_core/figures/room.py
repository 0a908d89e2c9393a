"""Where words fit in a plot without covering what is drawn there."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ends = tuple[tuple[float, float], tuple[float, float]]
"""Ends of a part of the plot: of x, and of y."""

CELL = 4
"""Pixels to a side of the cells, which are taken or free."""

STEP = 6
"""Pixels between the places that are tried."""

LARGER = 1.41
"""How much larger words may be than expected, as in a lecture."""

WORDS = 1_000
"""How many times as bad it is to cover words as to cover anything else."""

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
        self._words = np.zeros_like(self._taken)

    @property
    def width(self) -> float:
        """Of the plot, in pixels."""
        return float(self._pixels[0])

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Points [k x 2] on the axes in pixels from the lower left corner."""
        on_axes = np.asarray(points, dtype=float).reshape(-1, 2)
        return np.asarray((on_axes + self._edge) / (2 * self._edge) * self._pixels)

    def on_axes(self, pixels: ArrayLike) -> tuple[float, float]:
        """A point in pixels on the axes."""
        x, y = (2 * self._edge * np.asarray(pixels) / self._pixels - self._edge).tolist()
        return x, y

    def take(self, points: ArrayLike, size: tuple[float, float], *, words: bool = False) -> None:
        """Draw something of this width and height in pixels at the points [k x 2] on the axes.

        words: whether that is words, which no others may cover.
        """
        taken, weight = (self._words, WORDS) if words else (self._taken, 1)
        xs, ys = self.pixels(points).T
        (left, right), (down, up) = (self._cells(v, size, of) for of, v in enumerate((xs, ys)))
        for a, b, c, d in zip(*(v.tolist() for v in (left, right, down, up)), strict=True):
            taken[a:b, c:d] = weight

    def place(
        self,
        size: tuple[float, float],
        near: ArrayLike,
        *,
        within: Ends | None = None,
        larger: float = LARGER,
        covering: bool = True,
    ) -> tuple[float, float] | None:
        """Take the free place for words that is closest to one of the points ``near`` [k x 2].

        size: width and height of the words in pixels. within: the part of the plot that they may
        be in, also where they are ``larger`` times as large, if possible without covering more.
        Where no place is free, the words cover as little as possible, but never other words; or
        have no place, if they are not to be ``covering`` anything.
        Returns the middle of the words on the axes; None where they have no place.
        """
        low, high = self.pixels(np.transpose(within or ((-self._edge, self._edge),) * 2))
        half = np.array(size) * larger / 2
        xs, ys = (np.arange(*ends, STEP) for ends in zip(low + half, high - half + 1, strict=True))
        if not xs.size or not ys.size:
            return None
        wanted = self.pixels(near)
        middle = np.sort(wanted, axis=0)[len(wanted) // 2]
        away = _distance(xs, ys, size, wanted)
        cost = away + CENTRED * _distance(xs, ys, (0, 0), middle[None])
        cost += RIGHT * (xs < middle[0])[:, None]
        sums = np.zeros([side + 1 for side in self._taken.shape], np.int32)
        taken = self._taken + self._words
        np.cumsum(taken.cumsum(0, np.int32), 1, np.int32, out=sums[1:, 1:])
        covered = self._covered(sums, xs, ys, size)
        cost += COVERED * covered
        if larger > 1:
            cost += TIGHT * (self._covered(sums, xs, ys, (larger * size[0], larger * size[1])) > 0)
        across, up = np.unravel_index(np.argmin(cost), cost.shape)
        most = WORDS if covering else 1
        if covered[across, up] * (size[0] * size[1]) >= most * CELL**2:
            return None
        found = self.on_axes((xs[across], ys[up]))
        self.take([found], size, words=True)
        return found

    def _covered(
        self,
        sums: NDArray[np.int32],
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
        first = np.floor((middles - half) / CELL).astype(int)
        after = np.ceil((middles + half) / CELL).astype(int)
        return _between(first, most), _between(after, most)


def _between(cells: NDArray[np.int_], most: int) -> NDArray[np.int_]:
    """The cells from 0 to ``most``; clipping in one call takes three times as long."""
    return np.asarray(np.minimum(np.maximum(cells, 0), most))


def _distance(
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    size: tuple[float, float],
    points: NDArray[np.float64],
) -> NDArray[np.float64]:
    """From rectangles of this size to the closest of the points [k x 2], in pixels: [xs x ys]."""
    across = np.maximum(np.abs(xs - points[:, :1]) - size[0] / 2, 0) ** 2
    up = np.maximum(np.abs(ys - points[:, 1:]) - size[1] / 2, 0) ** 2
    return np.asarray(np.sqrt((across[:, :, None] + up[:, None, :]).min(axis=0)))
