"""The best lower bound that all gradients seen so far allow.

Convex combinations of dual points are dual points. With A_k and v_k of the last gradients the best
combination maximises ``l.A - 1/2 |sum_k l_k v_k|^2`` over ``l >= 0, sum l <= 1``: a quadratic
program in as many variables as gradients are kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray

Float64Array = NDArray[np.float64]

# Room for so many points is made at least at a time, and at most as much as there is.
FEWEST_PLACES = 16


class DualBundle:
    """Dual points (A, v) with the weights of their best combination so far.

    The pull vector of each point is kept as well, so that v of the combination can be computed
    again in float64. At most ``most`` points are kept; a new point replaces the least used.
    """

    def __init__(self, n_features: int, most: int = 10) -> None:
        self.most = most
        # Place 0 is the zero point, which takes the share that the others leave.
        self._linear, self._shares = np.zeros(1), np.ones(1)
        self._vectors, self._gram = np.zeros((1, n_features)), np.zeros((1, 1))
        self._pulls: list[FloatArray] = []
        self._factors: list[float] = []  # that the pulls are still to be multiplied by

    @property
    def n_points(self) -> int:
        """Dual points that are kept."""
        return len(self._pulls)

    @property
    def _used(self) -> slice:
        return slice(self.n_points + 1)

    @property
    def shares(self) -> Float64Array:
        """Share of each point in the best combination [points]."""
        return self._shares[1:][: self.n_points]

    def add(self, linear: float, vector: Float64Array, pull: FloatArray) -> float:
        """Add a dual point; returns the best bound of all combinations."""
        place = self._place()
        self._pulls[place - 1], self._factors[place - 1] = pull, 1.0
        self._linear[place], self._vectors[place] = linear, vector
        used = self._used
        self._gram[place, used] = self._gram[used, place] = self._vectors[used] @ vector
        gram, linears, before = self._gram[used, used], self._linear[used], self._shares[used]
        alone = np.zeros(len(before))
        square = float(gram[place, place])
        alone[place] = max(0.0, min(1.0, linear / square)) if square > 0 else 1.0
        alone[0] = 1.0 - alone[place]
        start = max(before, alone, key=lambda shares: _value(gram, linears, shares))
        value, self._shares[used] = best_combination(gram, linears, start)
        return value

    def _place(self) -> int:
        """A free place for a point."""
        if self.n_points < self.most:
            self._pulls.append(np.zeros(0))
            self._factors.append(1.0)
            if self.n_points == len(self._linear):
                more = min(max(self.n_points, FEWEST_PLACES), self.most + 1 - self.n_points)
                self._linear, self._shares = (
                    np.pad(a, (0, more)) for a in (self._linear, self._shares)
                )
                self._vectors = np.pad(self._vectors, ((0, more), (0, 0)))
                self._gram = np.pad(self._gram, (0, more))
            return self.n_points
        place = 1 + int(np.argmin(self.shares))
        self._shares[0] += self._shares[place]
        self._shares[place] = 0.0
        return place

    def combined(self) -> tuple[float, list[tuple[float, FloatArray]]]:
        """A of the best combination, and the pulls with the shares that make up its pull."""
        parts = [
            (float(share * factor), pull)
            for share, factor, pull in zip(self.shares, self._factors, self._pulls, strict=True)
            if share > 0
        ]
        return float(self._shares @ self._linear), parts

    def vector(self) -> Float64Array:
        """v of the best combination."""
        return np.asarray(self._shares[self._used] @ self._vectors[self._used])

    def slack(self) -> float:
        """``max(0, A_k - w.v_k)`` at w = ``vector()``: the slack of the one-slack program."""
        used = self._used
        slacks = self._linear[used] - self._gram[used, used] @ self._shares[used]
        return max(0.0, float(slacks.max()))

    def rescaled(self, factor: float) -> DualBundle:
        """All points times a factor: the same beta at another cost."""
        other = DualBundle(self._vectors.shape[1], self.most)
        other._linear, other._shares = self._linear * factor, self._shares.copy()
        other._vectors, other._gram = self._vectors * factor, self._gram * factor**2
        other._pulls = list(self._pulls)
        other._factors = [factor * before for before in self._factors]
        return other


def _value(gram: Float64Array, linear: Float64Array, shares: Float64Array) -> float:
    return float(shares @ linear - 0.5 * shares @ gram @ shares)


def best_combination(
    gram: Float64Array, linear: Float64Array, start: Float64Array
) -> tuple[float, Float64Array]:
    """Maximise ``l.linear - 1/2 l.gram.l`` over ``l >= 0, sum l = 1``, from a feasible ``start``.

    Wolfe's method: the most promising vertex joins those in use, then the best point of their
    affine hull is approached, dropping the vertices that get in the way, until that point lies
    inside. Every ``l`` on the way is feasible and better than the one before, so stopping early
    is safe. For ``sum l <= 1`` the zero point is given as one more vertex.
    """
    unit = max(float(gram.diagonal().max()), float(linear.max()), 1e-300)
    gram, linear, shares = gram / unit, linear / unit, start
    for _ in range(2 * len(linear) + 20):
        slope = linear - gram @ shares
        up = int(slope.argmax())
        if slope[up] - shares @ slope <= 1e-14:
            break
        used = shares > 0
        used[up] = True
        improved = _towards_hull_optimum(gram, linear, shares, used)
        if improved is None:
            break
        shares = improved
    return unit * _value(gram, linear, shares), shares


def _towards_hull_optimum(
    gram: Float64Array, linear: Float64Array, shares: Float64Array, used: NDArray[np.bool_]
) -> Float64Array | None:
    """Best point of the hull of the vertices in use, after dropping those that block the way."""
    while True:
        k = np.flatnonzero(used)
        system = np.ones((len(k) + 1, len(k) + 1))
        system[:-1, :-1], system[-1, -1] = gram[k[:, None], k], 0.0
        system.flat[: len(k) * (len(k) + 2) : len(k) + 2] += 1e-15
        try:
            goal = np.linalg.solve(system, np.append(linear[k], 1.0))[:-1]
        except np.linalg.LinAlgError:
            return None
        move = goal - shares[k]
        blocked = goal < 0
        step = float((shares[k][blocked] / -move[blocked]).min()) if blocked.any() else 1.0
        shares = shares.copy()
        shares[k] = np.maximum(shares[k] + min(step, 1.0) * move, 0.0)
        shares /= shares.sum()
        if not blocked.any():
            return shares
        blocking = k[blocked][np.argmin(shares[k][blocked])]
        shares[blocking], used[blocking] = 0.0, False
