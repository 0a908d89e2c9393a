"""What a ranking costs on the test queries: four measures, any of which a figure can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import dcg, expected_ranks, ndcg, rank_documents
from ultr_core.errors import InputError
from ultr_core.risk import mean_rank_of_relevant, true_risk


@dataclass(frozen=True)
class Loss:
    """One measure: its key, axis title, name in a sentence, definition and better direction."""

    key: str
    label: str
    name: str
    definition: str
    lower_is_better: bool

    @property
    def direction(self) -> str:
        """Which direction is better, in words."""
        return f"{'lower' if self.lower_is_better else 'higher'} is better"

    @property
    def axis(self) -> str:
        """The label with the better direction."""
        return f"{self.label} ({self.direction})"

    def excess(self, one: float, other: float) -> float:
        """How much worse ``one`` is than ``other``: positive is worse, for every measure."""
        return one - other if self.lower_is_better else other - one


LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        loss.key: loss
        for loss in (
            Loss(
                "sum-of-ranks",
                "Test risk: summed ranks",
                "test risk",
                "Mean over all test queries of the summed ranks of relevant documents (equation "
                "2); a query without a relevant document counts as 0.",
                True,
            ),
            Loss(
                "mean-rank",
                "Mean rank of a relevant document",
                "mean rank",
                "Mean rank over all relevant documents of the test queries.",
                True,
            ),
            Loss(
                "dcg",
                "Test DCG",
                "test DCG",
                "Mean over all test queries of the sum of 1/log2(1 + rank) over relevant "
                "documents; a query without a relevant document counts as 0.",
                False,
            ),
            Loss(
                "ndcg",
                "Test NDCG",
                "test NDCG",
                "Mean of DCG divided by the best possible DCG; a test query without a relevant "
                "document has no NDCG and is left out.",
                False,
            ),
        )
    }
)

DEFAULT_LOSS = "sum-of-ranks"


def find_loss(key: str) -> Loss:
    """The loss with that name.

    Raises:
        InputError: there is no such loss.
    """
    if key not in LOSSES:
        raise InputError(f"{key!r} is not a loss; the losses are {', '.join(LOSSES)}.")
    return LOSSES[key]


def test_losses(
    scores: NDArray[np.float64], relevance: NDArray[np.bool_], query_offsets: NDArray[np.int64]
) -> dict[str, float]:
    """Every loss of a ranker.

    ``scores`` and ``relevance`` are [documents], ``query_offsets`` [queries + 1]; the result has
    the keys of :data:`LOSSES`. With labels 0 and 1 the gain 2^grade - 1 of DCG is the relevance.
    Risks are the mean over all orders of ties, gains those of one that is drawn.
    """
    labels = relevance.astype(np.int64)
    ranks = rank_documents(scores, query_offsets)
    means = expected_ranks(scores, query_offsets)
    return {
        "sum-of-ranks": true_risk(means, relevance, query_offsets),
        "mean-rank": mean_rank_of_relevant(means, relevance),
        "dcg": float(dcg(ranks, labels, query_offsets).mean()),
        "ndcg": ndcg(ranks, labels, query_offsets, empty="skip").value,
    }


test_losses.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name
