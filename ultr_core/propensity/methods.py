"""The ways to estimate examination, what each needs and what each assumes, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Need = Literal["swaps", "shuffling", "neighbour swaps", "one ranker", "two rankers"]


@dataclass(frozen=True)
class PropensityMethod:
    """One estimator: its key and name, the traffic it needs, its assumptions and its source.

    relevance_free: whether it is right whatever the relevance at each rank, in a position model.
    """

    key: str
    label: str
    needs: Need
    assumes: str
    source: str
    relevance_free: bool = True


_POSITION_MODEL = (
    "users follow the position model: a click needs examination, which depends on the rank only"
)

PROPENSITY_METHODS: Mapping[str, PropensityMethod] = MappingProxyType(
    {
        method.key: method
        for method in (
            PropensityMethod(
                "swap",
                "Landmark swaps",
                "swaps",
                f"{_POSITION_MODEL}; the rank swapped with is drawn independently of the query",
                "Joachims, Swaminathan and Schnabel (2017), section 5.3",
            ),
            PropensityMethod(
                "swap-pooled",
                "Landmark swaps, both documents",
                "swaps",
                f"as for landmark swaps: {_POSITION_MODEL}; the document that moved up counts, too",
                "the same data; the second ratio is not in the paper",
            ),
            PropensityMethod(
                "uniform",
                "Shuffled lists",
                "shuffling",
                f"{_POSITION_MODEL}; every order of a list is equally likely",
                "Wang, Bendersky, Metzler and Najork (SIGIR 2016)",
            ),
            PropensityMethod(
                "adjacent",
                "Neighbour swaps",
                "neighbour swaps",
                f"{_POSITION_MODEL}; errors multiply along the chain of ranks",
                "after Radlinski and Joachims (AAAI 2006)",
            ),
            PropensityMethod(
                "pivot",
                "Harvesting, pivot",
                "two rankers",
                f"{_POSITION_MODEL}; which ranker served a query does not depend on the query; "
                "documents moved between each rank and the reference rank",
                "Agarwal et al. (WSDM 2019)",
            ),
            PropensityMethod(
                "chain",
                "Harvesting, adjacent chain",
                "two rankers",
                f"{_POSITION_MODEL}; which ranker served a query does not depend on the query; "
                "documents moved between all neighbouring ranks",
                "Agarwal et al. (WSDM 2019)",
            ),
            PropensityMethod(
                "all-pairs",
                "Harvesting, all pairs",
                "two rankers",
                f"{_POSITION_MODEL}; which ranker served a query does not depend on the query; "
                "ranks are linked by documents that moved",
                "Agarwal et al. (WSDM 2019)",
            ),
            PropensityMethod(
                "em",
                "EM on the position model",
                "two rankers",
                f"{_POSITION_MODEL}; each document has one attractiveness, was shown often, and "
                "enough of them moved between ranks",
                "Chuklin, Markov and de Rijke (2015), chapter 4",
            ),
            PropensityMethod(
                "ctr",
                "Click rates as they are",
                "one ranker",
                "what is shown is equally relevant at every rank, which a ranker tries to prevent; "
                "relevance at the top makes the curve too steep",
                "the naive reading of section 5.3's rates",
                relevance_free=False,
            ),
        )
    }
)
"""All estimators by key; pages, command line and studies read this."""
