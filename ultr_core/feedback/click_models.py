"""Click models: the probability of a click on each presented document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError
from ultr_core.feedback.examination import ExaminationCurve
from ultr_core.ranking import query_sums

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PositionModel:
    """Position-based model with click noise, Sections 5.1 and 5.2 of the paper.

    P(c = 1 | r, rank) = p_rank (eps_plus r + eps_minus (1 - r)): a user who examines a document
    clicks it with probability eps_plus if it is relevant and eps_minus if not. Given the
    presented ranking, clicks are independent across documents.

    Raises InputError unless 1 >= eps_plus > eps_minus >= 0.
    """

    curve: ExaminationCurve
    eps_plus: float = 1.0
    eps_minus: float = 0.0

    def __post_init__(self) -> None:
        """Check the noise levels."""
        if not 1 >= self.eps_plus > self.eps_minus >= 0:
            raise InputError(
                f"Click noise needs 1 >= eps_plus > eps_minus >= 0, "
                f"but eps_plus is {self.eps_plus} and eps_minus is {self.eps_minus}."
            )

    def click_given_examined(self, relevance: ArrayLike) -> FloatArray:
        """eps_plus r + eps_minus (1 - r) for each document.

        relevance [documents], bool or in [0, 1]; returns float64 [documents].
        """
        r = np.asarray(relevance, dtype=np.float64)
        return float(self.eps_plus) * r + float(self.eps_minus) * (1.0 - r)

    def click_probability(self, relevance: ArrayLike, ranks: ArrayLike) -> FloatArray:
        """Probability of a click on each document in one presentation.

        relevance [documents], ranks [documents] as presented; returns float64 [documents].
        """
        probability: FloatArray = self.curve.at(ranks) * self.click_given_examined(relevance)
        return probability

    def expected_clicks_per_query_draw(
        self, relevance: ArrayLike, ranks: ArrayLike, query_offsets: ArrayLike
    ) -> float:
        """Mean number of clicks when a query is drawn uniformly and shown once.

        (1 / Q) sum_q sum_d P(c_d = 1). relevance and ranks [documents], offsets [queries + 1].
        """
        clicks = query_sums(self.click_probability(relevance, ranks), query_offsets)
        return float(clicks.mean())

    def noise_share(self, relevance: ArrayLike, ranks: ArrayLike) -> float:
        """Expected share of clicks that fall on irrelevant documents, queries drawn uniformly.

        eps_minus A / (eps_plus B + eps_minus A), with A and B the expected numbers of examined
        irrelevant and relevant documents (Section 7.1: about 33 % in the default setting).
        relevance and ranks [documents]. Raises InputError if no click can happen.
        """
        probability = self.click_probability(relevance, ranks)
        total = float(probability.sum())
        if total <= 0:
            raise InputError("No document can be clicked, so there is no share of noise clicks.")
        irrelevant = 1.0 - np.asarray(relevance, dtype=np.float64)
        noise = float(np.sum(self.curve.at(ranks) * irrelevant)) * float(self.eps_minus)
        return noise / total
