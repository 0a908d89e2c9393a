"""Two-tower models: relevance and position fitted to the clicks together, without propensities.

    additive   log odds of P(click | x, k) = s(x) + b_k
    product    P(click | x, k) = exp(b_k) sigma(s(x)), with b_k <= 0

s(x) = x.w + c is the tower of relevance and the only part that ranks; b is the tower of position,
b_1 = 0. Both minimise, with n clicks,

    (1/n) (sum over rows of N log(1 + exp(z)) - C z + (ridge / 2) w.w),  z = log odds of a click,

N and C being impressions and clicks of a row. The additive form is convex; the product form is not,
so what is found there is a point at which nothing nearby is better. There is no duality gap: the
certificate is the norm of the gradient.

What clicks can say of b, whatever is shown, follows from which documents link the ranks
(`ranks_apart`); features that documents share link more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import in_brief, number_or_nan
from ultr_core.errors import InputError
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.certificate import Certificate
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.ranker import LinearRanker
from ultr_core.learners.selection import Selection, converged
from ultr_core.limits import REGRESSED_FEATURES
from ultr_core.propensity import displays_of_logs
from ultr_core.propensity.identification import document_links
from ultr_core.users.click_log import ClickLog

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GRADIENT = "gradient norm per click"

LAST_RANK = 40
"""Ranks with a b of their own; lower ranks share the last."""

RIDGES = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Penalties that held-out clicks choose from."""

RIDGE_WITHOUT_VALIDATION = 100.0

TOLERANCE = 1e-8
_MOST_STEPS = 200
_SHORTEST_STEP = 2.0**-30
_ROUNDING = 1e-13
_LEAST_CURVATURE = 1e-13
_FARTHEST = 30.0  # of b from 0


@dataclass(frozen=True)
class Join:
    """How two towers make the probability of a click.

    key, label: its stable name, and the name that readers see. words: what it says, in a sentence.
    source: where it comes from. log_odds: of a click, float64 [rows], from s and b [rows]. slopes:
    its derivatives by s and by b. highest: what b cannot exceed.
    """

    key: str
    label: str
    words: str
    source: str
    log_odds: Callable[[FloatArray, FloatArray], FloatArray]
    slopes: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    highest: float


def _sums(of: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Sums of row values by number, [rows] to [size]."""
    return np.bincount(of, values, size).astype(np.float64)


def _not_clicked(s: FloatArray, b: FloatArray) -> FloatArray:
    """1 - exp(b) sigma(s), without cancellation."""
    found: FloatArray = expit(-s) - expit(s) * np.expm1(b)
    return found


def _product_odds(s: FloatArray, b: FloatArray) -> FloatArray:
    found: FloatArray = b + log_expit(s) - np.log(_not_clicked(s, b))
    return found


def _product_slopes(s: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    inverse = 1.0 / _not_clicked(s, b)
    return expit(-s) * inverse, inverse


JOINS: Mapping[str, Join] = MappingProxyType(
    {
        join.key: join
        for join in (
            Join(
                "additive",
                "Additive",
                "Position adds to the log odds of a click.",
                "Zhao et al. (RecSys 2019); LightGBM's lambdarank with `position`",
                lambda s, b: s + b,
                lambda s, b: (np.ones_like(s), np.ones_like(s)),
                _FARTHEST,
            ),
            Join(
                "product",
                "Product",
                "A click needs examination and relevance, which are independent.",
                "Wang et al. (WSDM 2018), Guo et al. (RecSys 2019)",
                _product_odds,
                _product_slopes,
                0.0,
            ),
        )
    }
)
"""Both forms by key."""


@dataclass(frozen=True, eq=False)
class TowerRows:
    """Impressions and clicks of each document at each rank.

    features: [documents, features], dense or sparse. document: int64 [rows], from 0. rank: int64
    [rows], from 1. impressions, clicks: float64 [rows]; expected clicks need not be whole.
    """

    features: Any
    document: IntArray
    rank: IntArray
    impressions: FloatArray
    clicks: FloatArray

    @classmethod
    def of_log(cls, corpus: Corpus, log: ClickLog) -> TowerRows:
        """The rows of a log that have impressions.

        Raises InputError for a log without clicks, a log of clicks only, or too many features.
        """
        if log.total_clicks == 0 or log.clicks_only:
            raise InputError(
                "Towers need impressions with and without a click; this log has only one kind.",
                "towers_clicks",
            )
        REGRESSED_FEATURES.require(corpus.n_features, "The corpus")
        return cls._of_features(corpus.features, log)

    @classmethod
    def of_scores(cls, scores: FloatArray, log: ClickLog) -> TowerRows:
        """The rows of a log that have impressions; their only feature is a score [documents]."""
        return cls._of_features(scores[:, None], log)

    @classmethod
    def _of_features(cls, features: Any, log: ClickLog) -> TowerRows:
        kept = log.impressions > 0
        return cls(
            features,
            log.document[kept],
            log.rank[kept].astype(np.int64),
            log.impressions[kept].astype(np.float64),
            log.clicks[kept].astype(np.float64),
        )

    def among(self, kept: NDArray[np.bool_]) -> TowerRows:
        """Some of the rows."""
        return TowerRows(
            self.features, self.document[kept], self.rank[kept], self.impressions[kept],
            self.clicks[kept],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Towers:
    """Two fitted towers.

    join: how the towers are combined. coefficients w [features], constant c. bias: float64 [K], b
    of ranks 1, 2, ...; -inf where nothing was clicked. ridge: the penalty. objective: the minimum,
    and gradient: the norm of its gradient, both per click and with features in units of their root
    mean square; steps: how many the fit took.
    """

    join: Join
    coefficients: FloatArray
    constant: float
    bias: FloatArray
    ridge: float
    objective: float
    gradient: float
    steps: int

    @property
    def examination(self) -> FloatArray:
        """exp(b) [K], relative to rank 1: examination in the product form, odds otherwise."""
        found: FloatArray = np.exp(self.bias)
        return found

    def log_odds(self, rows: TowerRows) -> FloatArray:
        """z of every row, float64 [rows], clicked or not."""
        s = _scores(rows.features, self.coefficients) + self.constant
        return self.join.log_odds(s[rows.document], self._bias_at(rows.rank))

    def loss(self, rows: TowerRows) -> float:
        """Minus the log likelihood of the rows, per click; ranks with b = -inf do not count."""
        rows = rows.among(np.isfinite(self._bias_at(rows.rank)))
        return _loss(rows, self.log_odds(rows)) / max(float(rows.clicks.sum()), 1.0)

    def _bias_at(self, rank: IntArray) -> FloatArray:
        at: FloatArray = self.bias[np.minimum(rank, self.bias.size) - 1]
        return at


def _scores(features: Any, coefficients: FloatArray) -> FloatArray:
    return np.asarray(FeatureProducts(features, np.float64).scores(coefficients), np.float64)


def _loss(rows: TowerRows, z: FloatArray) -> float:
    """sum N log(1 + exp(z)) - C z."""
    return float(rows.impressions @ np.logaddexp(0.0, z) - rows.clicks @ z)


@one_blas_thread()
def fit_towers(
    rows: TowerRows,
    join: Join,
    *,
    position: bool = True,
    ridge: float = 1.0,
    last_rank: int = LAST_RANK,
    initial: Towers | None = None,
) -> Towers:
    """Fit both towers or, without ``position``, only the relevance tower, with b = 0.

    Uses Fisher scoring, which for the additive form is Newton's method; steps are halved until the
    objective falls. A rank without a click has b = -inf; its rows say nothing about relevance.

    ridge: above 0. initial: a fit to these rows with another penalty, to start from. Raises
    InputError if ridge is not above 0, or if nothing was clicked at rank 1, which b is relative to.
    """
    if not 0 < number_or_nan(ridge) < np.inf:
        raise InputError(
            f"The penalty of a two-tower model must be above 0, not {in_brief(ridge)}.",
            "towers_ridge",
        )
    place, bias = np.zeros(rows.rank.size, np.int64), np.zeros(1)
    if position:
        rows, place, bias = _placed(rows, last_rank)
    problem = _Problem(rows, place, join, ridge)
    start = problem.start() if initial is None else problem.parameters(initial)
    found, value, gradient, steps = problem.minimised(start)
    split = rows.features.shape[1]
    if position:
        bias[np.isfinite(bias)] = np.append(0.0, found[split + 1 :])
    return Towers(join, found[:split], float(found[split]), bias, ridge, value, gradient, steps)


def _placed(rows: TowerRows, last_rank: int) -> tuple[TowerRows, IntArray, FloatArray]:
    """The rows at ranks with a click, the number of each rank among these, and b to be filled."""
    rank = np.minimum(rows.rank, last_rank)
    clicks = np.bincount(rank - 1, rows.clicks)
    if not clicks[0] > 0:
        raise InputError(
            "Nothing was clicked at rank 1, so the position tower has no reference; use a log with "
            "clicks at rank 1, or fit without the position tower.",
            "towers_reference",
        )
    clicked = clicks > 0
    kept = clicked[rank - 1]
    number = np.cumsum(clicked) - 1
    return rows.among(kept), number[rank[kept] - 1], np.where(clicked, 0.0, -np.inf)


class _Problem:
    """The objective of both towers at parameters (w [features], c, b of the places from 1)."""

    def __init__(self, rows: TowerRows, place: IntArray, join: Join, ridge: float) -> None:
        self.rows, self.place, self.join, self.ridge = rows, place, join, ridge
        self.products = FeatureProducts(rows.features, np.float64)
        self.size = self.products.n_features
        self.places = int(place.max()) + 1
        self.clicks = float(rows.clicks.sum())
        self.units = self._units()
        free = np.full(self.size + 1, np.inf)
        self.low = np.append(-free, np.full(self.places - 1, -_FARTHEST))
        self.high = np.append(free, np.full(self.places - 1, join.highest))

    def _units(self) -> FloatArray:
        """Root mean square of each feature, 1 for c and b: the scale that gradients are in."""
        squares = np.zeros(self.size)
        for _, block in self.products.blocks():
            x = block.toarray() if self.products.is_sparse else block
            squares += np.square(x).sum(axis=0)
        roots = np.sqrt(squares / self.products.n_documents)
        return np.append(np.where(roots > 0, roots, 1.0), np.ones(self.places))

    def start(self) -> FloatArray:
        """w = 0, b half as steep as 1/k, and the constant that fits all clicks."""
        t = np.zeros(self.size + self.places)
        t[self.size + 1 :] = -0.5 * np.log(np.arange(2, self.places + 1))
        b = self._bias(t)[self.place]
        rate = self.clicks / float(self.rows.impressions @ np.exp(b))
        t[self.size] = logit(min(max(rate, 1e-6), 1.0 - 1e-6))
        return t

    def parameters(self, towers: Towers) -> FloatArray:
        """Those of a fit of the same rows."""
        finite = towers.bias[np.isfinite(towers.bias)]
        return np.concatenate([towers.coefficients, [towers.constant], finite[1:]])

    def _bias(self, t: FloatArray) -> FloatArray:
        return np.append(0.0, t[self.size + 1 :])

    def _towers(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """s and b of every row."""
        s = np.asarray(self.products.scores(t[: self.size]), np.float64) + t[self.size]
        return s[self.rows.document], self._bias(t)[self.place]

    def value(self, t: FloatArray) -> float:
        """The objective."""
        z = self.join.log_odds(*self._towers(t))
        return (
            _loss(self.rows, z) + 0.5 * self.ridge * float(t[: self.size] @ t[: self.size])
        ) / self.clicks

    def derivatives(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient [parameters] and expected curvature [parameters, parameters]."""
        towers = self._towers(t)
        chance = expit(self.join.log_odds(*towers))
        by_s, by_b = self.join.slopes(*towers)
        over = self.rows.impressions * chance - self.rows.clicks
        spread = self.rows.impressions * chance * (1.0 - chance)
        size, n = self.size, self.products.n_documents
        pull = _sums(self.rows.document, over * by_s, n)
        slope = np.concatenate(
            [
                self.products.pulled(pull) + self.ridge * t[:size],
                [pull.sum()],
                _sums(self.place, over * by_b, self.places)[1:],
            ]
        )
        bend = self._curvature(
            _sums(self.rows.document, spread * by_s**2, n),
            sparse.csr_array(
                (spread * by_s * by_b, (self.rows.document, self.place)), (n, self.places)
            ),
            _sums(self.place, spread * by_b**2, self.places),
        )
        return slope / self.clicks, bend / self.clicks

    def _curvature(self, own: FloatArray, crossed: Any, of_places: FloatArray) -> FloatArray:
        """From sums by document [documents], by document and place, and by place [places]."""
        size, last = self.size, self.size + 1
        found = np.zeros((size + self.places, size + self.places))
        for rows, block in self.products.blocks():
            x = block.toarray() if self.products.is_sparse else block
            found[:size, :size] += (x * own[rows, None]).T @ x
            found[:size, size] += x.T @ own[rows]
            found[:size, last:] += (crossed[rows].T @ x).T[:, 1:]
        found[np.arange(size), np.arange(size)] += self.ridge
        found[size, size] = own.sum()
        found[size, last:] = np.asarray(crossed.sum(axis=0)).ravel()[1:]
        found[last:, last:] = np.diag(of_places[1:])
        upper = np.triu(found)
        symmetric: FloatArray = upper + np.triu(found, 1).T
        return symmetric

    def minimised(self, t: FloatArray) -> tuple[FloatArray, float, float, int]:
        """Where the objective is lowest, its value, norm of the gradient, and how many steps."""
        value, steps = self.value(t), 0
        while True:
            slope, bend = self.derivatives(t)
            # At a bound only what leads away from it counts.
            free = ~(((t <= self.low) & (slope > 0)) | ((t >= self.high) & (slope < 0)))
            norm = float(np.linalg.norm(slope[free] / self.units[free]))
            if norm <= TOLERANCE or steps == _MOST_STEPS:
                return t, value, norm, steps
            lower = self._lower(t, value, slope, self._move(slope, bend, free))
            if lower is None:
                return t, value, norm, steps
            t, value = lower
            steps += 1

    def _move(self, slope: FloatArray, bend: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
        """The step to the lowest point of the quadratic model, in units, of the free parameters."""
        units = self.units[free]
        scaled = bend[np.ix_(free, free)] / np.outer(units, units)
        # Where every impression is clicked, or none, the curvature underflows to 0.
        scaled[np.diag_indices_from(scaled)] += _LEAST_CURVATURE * scaled.diagonal().max()
        found = np.zeros_like(slope)
        found[free] = -np.linalg.solve(scaled, slope[free] / units) / units
        return found

    def _lower(
        self, t: FloatArray, value: float, slope: FloatArray, move: FloatArray
    ) -> tuple[FloatArray, float] | None:
        """The first point of halved steps that is low enough (Armijo), and its value, if any."""
        length = 1.0
        while length > _SHORTEST_STEP:
            new = np.clip(t + length * move, self.low, self.high)
            reached = self.value(new)
            if reached <= value + 1e-4 * float(slope @ (new - t)) + _ROUNDING * value:
                return new, reached
            length *= 0.5
        return None


@one_blas_thread()
def select_towers(
    train: Corpus,
    log: ClickLog,
    validation: Corpus,
    held_out: ClickLog,
    join: Join,
    *,
    position: bool = True,
    ridges: Sequence[float] = RIDGES,
) -> Selection:
    """The tower of relevance, with the penalty under which both predict held-out clicks best.

    log, held_out: the clicks on the queries of ``train`` and of ``validation``. Without held-out
    clicks the penalty is ``RIDGE_WITHOUT_VALIDATION``. Every click counts 1, so the threshold is 1;
    C is n / ridge. The estimates are losses per held-out click.

    Raises InputError as `TowerRows.of_log` and `fit_towers` do, and where a fit does not converge.
    """
    rows = TowerRows.of_log(train, log)
    if held_out.total_clicks == 0:
        ridges = (RIDGE_WITHOUT_VALIDATION,)
    fits: list[Towers] = []
    for ridge in ridges:
        before = fits[-1] if fits else None
        fits.append(fit_towers(rows, join, position=position, ridge=ridge, initial=before))
    losses = np.full((1, len(fits)), np.nan)
    if len(fits) > 1:
        judged = TowerRows.of_log(validation, held_out)
        losses[0] = [fit.loss(judged) for fit in fits]
    best = fits[0 if len(fits) == 1 else int(np.argmin(losses))]
    certificate = Certificate(
        best.objective, 0.0, best.gradient, best.steps, 2 * best.steps, "fisher scoring",
        best.gradient <= TOLERANCE, False, GRADIENT,
    )  # fmt: skip
    cost = log.total_clicks / best.ridge
    ranker = LinearRanker(best.coefficients, train.feature_ids, cost, certificate)
    return Selection(converged(ranker, TOLERANCE), 1.0, losses)


def ranks_apart(log: ClickLog, last_rank: int = LAST_RANK) -> IntArray:
    """Number of the part that each rank belongs to, int64 [K], from 0.

    Ranks share a part if documents shown at several ranks link them. With a free relevance for each
    document, clicks identify b up to one constant for each part (Chen et al., 2023; Hager et al.,
    2025): adding a constant to b in a part, and subtracting it from the relevance of the documents
    shown there, leaves every click probability unchanged.
    """
    parts = document_links(displays_of_logs([log]), last_rank).by_display
    _, number = np.unique(parts, return_inverse=True)
    found: IntArray = number.astype(np.int64)
    return found
