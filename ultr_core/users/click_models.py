"""Click models: the probability of a click on each presented document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import (
    in_brief,
    number_or_nan,
    query_sums,
    real_numbers,
    require_finite,
    whole_in_range,
)
from ultr_core.errors import InputError
from ultr_core.users.examination import ExaminationCurve, TableCurve, looked_up, require_curve

FloatArray = NDArray[np.float64]


class ClickModel(Protocol):
    """Users whose clicks are independent across documents, given the presented ranking."""

    def click_probability(self, relevance: ArrayLike, ranks: ArrayLike) -> FloatArray:
        """Probability of a click on each document in one presentation, float64."""

    def affine(self, ranks: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Alpha and beta of P(c = 1 | r, rank) = alpha r + beta at each rank, float64."""


def clicks_per_query_draw(click_probability: ArrayLike, query_offsets: ArrayLike) -> float:
    """Mean number of clicks when a query is drawn uniformly and shown once.

    (1 / Q) sum_q sum_d P(c_d = 1). click_probability [documents], query_offsets [queries + 1].
    """
    return float(query_sums(click_probability, query_offsets).mean())


def check_noise(eps_plus: float, eps_minus: float) -> None:
    """Raise InputError unless 1 >= eps_plus > eps_minus >= 0, Section 5.2."""
    if not 1 >= number_or_nan(eps_plus) > number_or_nan(eps_minus) >= 0:
        raise InputError(
            f"Click noise needs 1 >= eps_plus > eps_minus >= 0, but eps_plus is "
            f"{in_brief(eps_plus)} and eps_minus is {in_brief(eps_minus)}."
        )


def checked_relevance(relevance: ArrayLike) -> FloatArray:
    """Return the relevance as float64; raises InputError for anything that is not a finite
    number."""
    array = real_numbers(relevance, "Relevance")
    require_finite(array, "relevance")
    return array.astype(np.float64)


def _require_fit(ranks: FloatArray, relevance: FloatArray) -> None:
    """Raise InputError unless ranks and relevance have one shape, or one of them is one number."""
    if ranks.shape != relevance.shape and ranks.ndim and relevance.ndim:
        raise InputError(
            f"Ranks have the shape {ranks.shape} but relevance has {relevance.shape}; every "
            "document needs both."
        )


@dataclass(frozen=True)
class PositionModel:
    """Position-based model with click noise, Sections 5.1 and 5.2 of the paper.

    P(c = 1 | r, rank) = p_rank (eps_plus r + eps_minus (1 - r)): a user who examines a document
    clicks it with probability eps_plus if it is relevant and eps_minus if not. Given the
    presented ranking, clicks are independent across documents.

    Raises InputError unless 1 >= eps_plus > eps_minus >= 0.

    >>> users = PositionModel(TableCurve((1.0, 0.5)), eps_plus=0.9, eps_minus=0.1)
    >>> users.click_probability(relevance=[1, 0], ranks=[1, 2]).tolist()
    [0.9, 0.05]
    """

    curve: ExaminationCurve
    eps_plus: float = 1.0
    eps_minus: float = 0.0

    def __post_init__(self) -> None:
        """Check the curve and the noise levels."""
        require_curve(self.curve)
        check_noise(self.eps_plus, self.eps_minus)

    def click_given_examined(self, relevance: ArrayLike) -> FloatArray:
        """eps_plus r + eps_minus (1 - r) for each document.

        relevance [documents], bool or in [0, 1]; returns float64 [documents].
        """
        r = checked_relevance(relevance)
        return float(self.eps_plus) * r + float(self.eps_minus) * (1.0 - r)

    def click_probability(self, relevance: ArrayLike, ranks: ArrayLike) -> FloatArray:
        """Probability of a click on each document in one presentation.

        relevance [documents], ranks [documents] as presented; returns float64 [documents].
        """
        examined, clicked = self.curve.at(ranks), self.click_given_examined(relevance)
        _require_fit(examined, clicked)
        probability: FloatArray = examined * clicked
        return probability

    def affine(self, ranks: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Alpha = p (eps_plus - eps_minus) and beta = p eps_minus at each rank, float64.

        >>> users = PositionModel(TableCurve((1.0, 0.5)), eps_plus=1.0, eps_minus=0.25)
        >>> [values.tolist() for values in users.affine([1, 2])]
        [[0.75, 0.375], [0.25, 0.125]]
        """
        p = self.curve.at(ranks)
        return p * (float(self.eps_plus) - float(self.eps_minus)), p * float(self.eps_minus)

    def noise_share(self, relevance: ArrayLike, ranks: ArrayLike) -> float:
        """Expected share of clicks that fall on irrelevant documents, with queries drawn uniformly.

        eps_minus A / (eps_plus B + eps_minus A), where A and B are the expected numbers of
        examined irrelevant and relevant documents (Section 7.1: about 33% in the default setting).
        relevance and ranks [documents]. Raises InputError if no clicks can happen.
        """
        probability = self.click_probability(relevance, ranks)
        total = float(probability.sum())
        if total <= 0:
            raise InputError(
                "No document can be clicked, so there is no share of noise clicks.", "unclickable"
            )
        irrelevant = 1.0 - np.asarray(relevance, dtype=np.float64)
        noise = float(np.sum(self.curve.at(ranks) * irrelevant)) * float(self.eps_minus)
        return noise / total


@dataclass(frozen=True)
class TrustBiasModel:
    """Position-based model in which click noise also depends on the rank.

    P(c = 1 | r, rank k) = theta_k (eps_plus_k r + eps_minus_k (1 - r)): users trust high ranks and
    click on irrelevant documents there more often. Section 5.4 of the paper; Agarwal et al.
    (WWW 2019). This probability is affine in r: alpha_k r + beta_k, with alpha_k = theta_k
    (eps_plus_k - eps_minus_k) and beta_k = theta_k eps_minus_k (Vardasbi et al., CIKM 2020).

    curve: theta. eps_plus, eps_minus: one number for each rank from 1; the last is used beyond the
    end.
    Raises InputError unless 1 >= eps_plus_k > eps_minus_k >= 0 at every rank.
    """

    curve: ExaminationCurve
    eps_plus: tuple[float, ...]
    eps_minus: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the curve and the noise levels of every rank."""
        require_curve(self.curve)
        for noise in (self.eps_plus, self.eps_minus):
            if not real_numbers(noise, "The noise levels of trust bias").size:
                raise InputError("Trust bias needs eps_plus and eps_minus at least for rank 1.")
        every = np.arange(1, max(len(self.eps_plus), len(self.eps_minus)) + 1)
        plus, minus = self._noise(every)
        wrong = ~((plus <= 1) & (plus > minus) & (minus >= 0))
        if wrong.any():
            first = int(np.argmax(wrong))
            raise InputError(
                f"Trust bias needs 1 >= eps_plus > eps_minus >= 0, but at rank {first + 1} "
                f"eps_plus is {plus[first]:g} and eps_minus is {minus[first]:g}."
            )

    @classmethod
    def published(cls, ranks: int = 100) -> TrustBiasModel:
        """The trust bias of Oosterhuis' simulations (2021 and 2022), for ranks 1 to ``ranks``.

        theta_k = 0.35/k + 0.65/(1 + 0.05 (k - 1)), eps_plus_k = 1/(1 + 0.005 (k - 1)),
        eps_minus_k = 0.65/k. Raises InputError for ranks outside the range 1 to 1,000,000.
        """
        ranks = whole_in_range(ranks, "The number of ranks with trust bias", 1, 1_000_000)
        k = np.arange(1.0, ranks + 1.0)
        theta = 0.35 / k + 0.65 / (1.0 + 0.05 * (k - 1.0))
        plus = 1.0 / (1.0 + 0.005 * (k - 1.0))
        minus = 0.65 / k
        return cls(TableCurve(tuple(theta)), tuple(plus.tolist()), tuple(minus.tolist()))

    @classmethod
    def steep(cls, ranks: int = 200) -> TrustBiasModel:
        """The trust bias ``trust_1`` of Vardasbi et al. (CIKM 2020), for ranks 1 to ``ranks``.

        theta_k = 1/k, eps_plus_k = 0.98 - (k - 1)/100, eps_minus_k = 0.65/k; eps_plus falls to 1/2
        and stays there. Raises InputError for ranks outside the range 1 to 1,000,000.
        """
        ranks = whole_in_range(ranks, "The number of ranks with trust bias", 1, 1_000_000)
        k = np.arange(1.0, ranks + 1.0)
        plus = np.maximum(0.98 - (k - 1.0) / 100.0, 0.5)
        return cls(TableCurve(tuple(1.0 / k)), tuple(plus.tolist()), tuple((0.65 / k).tolist()))

    def affine(self, ranks: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Alpha_k = theta_k (eps_plus_k - eps_minus_k), beta_k = theta_k eps_minus_k, float64."""
        theta, (plus, minus) = self.curve.at(ranks), self._noise(np.asarray(ranks, dtype=np.int64))
        return theta * (plus - minus), theta * minus

    def click_probability(self, relevance: ArrayLike, ranks: ArrayLike) -> FloatArray:
        """Probability of a click on each document in one presentation.

        relevance [documents], bool or in [0, 1]; ranks [documents]; returns float64 [documents].
        """
        theta, r = self.curve.at(ranks), checked_relevance(relevance)
        _require_fit(theta, r)
        plus, minus = self._noise(np.asarray(ranks, dtype=np.int64))
        probability: FloatArray = theta * (plus * r + minus * (1.0 - r))
        return probability

    def _noise(self, ranks: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """eps_plus and eps_minus at each rank, the last ones carried on."""
        plus, minus = (
            looked_up(np.asarray(noise, np.float64), ranks)
            for noise in (self.eps_plus, self.eps_minus)
        )
        return plus, minus
