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


class DualBundle:
    """Dual points (A, v) with the weights of their best combination so far.

    The pull vector of each point is kept as well, so that v of the combination can be computed
    anew in float64. At most ``most`` points are kept, the least used is dropped.
    """

    def __init__(self, n_features: int, most: int = 10) -> None:
        self.most = most
        self.linear = np.zeros(0)
        self.shares = np.zeros(0)
        self._vectors = np.zeros((0, n_features))
        self._gram = np.zeros((0, 0))
        self._pulls: list[FloatArray] = []

    def add(self, linear: float, vector: Float64Array, pull: FloatArray) -> float:
        """Take in a dual point; returns the best bound of all combinations."""
        if len(self.linear) == self.most:
            self._drop(int(np.argmin(self.shares)))
        cross = self._vectors @ vector
        self._gram = np.block(
            [[self._gram, cross[:, None]], [cross[None, :], np.array([[vector @ vector]])]]
        )
        self._vectors = np.vstack([self._vectors, vector])
        self._pulls.append(pull)
        self.linear = np.append(self.linear, linear)
        before = np.append(self.shares, 0.0)
        alone = np.zeros(len(before))
        square = float(vector @ vector)
        alone[-1] = min(1.0, linear / square) if square > 0 else 1.0
        start = max(before, alone, key=self._value)
        value, self.shares = best_combination(self._gram, self.linear, start)
        return value

    def combined(self) -> tuple[float, Float64Array]:
        """A and pull of the best combination, in float64."""
        pull = np.zeros(len(self._pulls[0]))
        for share, part in zip(self.shares, self._pulls, strict=True):
            if share > 0:
                pull += share * part.astype(np.float64)
        return float(self.shares @ self.linear), pull

    def vector(self) -> Float64Array:
        """v of the best combination."""
        return np.asarray(self.shares @ self._vectors)

    def slack(self) -> float:
        """``max(0, A_k - w.v_k)`` at w = ``vector()``: the slack of the one-slack program."""
        if not len(self.linear):
            return 0.0
        return max(0.0, float((self.linear - self._gram @ self.shares).max()))

    def rescaled(self, factor: float) -> DualBundle:
        """All points times a factor: the same beta at another cost."""
        other = DualBundle(self._vectors.shape[1], self.most)
        other.linear, other.shares = self.linear * factor, self.shares.copy()
        other._vectors, other._gram = self._vectors * factor, self._gram * factor**2
        other._pulls = [pull * pull.dtype.type(factor) for pull in self._pulls]
        return other

    def _value(self, shares: Float64Array) -> float:
        return float(shares @ self.linear - 0.5 * shares @ self._gram @ shares)

    def _drop(self, k: int) -> None:
        self.linear, self.shares = np.delete(self.linear, k), np.delete(self.shares, k)
        self._vectors = np.delete(self._vectors, k, axis=0)
        self._gram = np.delete(np.delete(self._gram, k, axis=0), k, axis=1)
        del self._pulls[k]


def best_combination(
    gram: Float64Array, linear: Float64Array, start: Float64Array
) -> tuple[float, Float64Array]:
    """Maximise ``l.linear - 1/2 l.gram.l`` over ``l >= 0, sum l <= 1``.

    Wolfe's method: the most promising vertex joins those in use, then the best point of their
    affine hull is approached, dropping the vertices that get in the way, until that point lies
    inside. The zero point is one more vertex. Every ``l`` on the way is feasible and better than
    the one before, so stopping early is safe.
    """
    n = len(linear) + 1
    unit = max(float(gram.diagonal().max()), float(linear.max()), 1e-300)
    gram, linear = np.pad(gram, ((0, 1), (0, 1))) / unit, np.append(linear, 0.0) / unit
    shares = np.append(start, max(0.0, 1.0 - start.sum()))
    for _ in range(2 * n + 20):
        slope = linear - gram @ shares
        up = int(np.argmax(slope))
        if slope[up] - shares @ slope <= 1e-14:
            break
        used = shares > 0
        used[up] = True
        improved = _towards_hull_optimum(gram, linear, shares, used)
        if improved is None:
            break
        shares = improved
    value = unit * float(shares @ linear - 0.5 * shares @ gram @ shares)
    return value, shares[:-1]


def _towards_hull_optimum(
    gram: Float64Array, linear: Float64Array, shares: Float64Array, used: NDArray[np.bool_]
) -> Float64Array | None:
    """Best point of the hull of the vertices in use, after dropping those that block the way."""
    while True:
        k = np.flatnonzero(used)
        system = np.ones((len(k) + 1, len(k) + 1))
        system[:-1, :-1], system[-1, -1] = gram[np.ix_(k, k)], 0.0
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
