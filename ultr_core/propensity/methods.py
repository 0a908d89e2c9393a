"""The ways to estimate examination, what each needs and what each assumes, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError, quoted
from ultr_core.propensity.displays import DisplayCounts, click_rate_ratios, estimate_click_rates
from ultr_core.propensity.harvesting import Harvest, harvest, harvest_ratios, interventional_sets
from ultr_core.propensity.points import JACKKNIFE_GROUPS, PropensityEstimate
from ultr_core.propensity.position_em import estimate_by_em
from ultr_core.propensity.randomising import (
    RandomisedCounts,
    estimate_neighbour_swaps,
    estimate_shuffling,
    neighbour_swap_cost,
    shuffling_cost,
    simulate_neighbour_swaps,
    simulate_shuffling,
)
from ultr_core.propensity.swaps import estimate_swaps, swap_ratios
from ultr_core.users.grouped_log import BY_PRESENTATION

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Randomised:
    """Traffic that is randomised for one method alone.

    simulate: called with users, relevance, ranks, offsets, last_rank, sessions and seed.
    estimate: the ratios from what it counted. cost: exact mean increase in the sum of ranks of a
    presentation, called with relevance, ranks, offsets and last_rank. stream: number of its random
    stream, which no other traffic has.
    """

    simulate: Callable[..., RandomisedCounts]
    estimate: Callable[[RandomisedCounts], PropensityEstimate]
    cost: Callable[..., float]
    stream: int


@dataclass(frozen=True)
class PropensityMethod:
    """A method for estimating propensities: its name, assumptions, source and function.

    It has exactly one of three functions. from_displays: from what was shown and clicked at each
    rank, called with displays, last_rank and reference; such a method works on every log.
    from_swaps: from a landmark swap experiment, called with its counts and bootstrap_seed; it works
    on logs that record swaps. randomised: from its own traffic.

    ratios: only the ratios, [K], NaN where one is missing, for intervals from leaving out groups of
    sessions: called with displays, last_rank and reference, or with the counts of swaps [4, 2, K]
    and reference. None if that would take too long. intervals: what its own intervals treat as
    independent, in words.

    relevance_free: whether it is correct for any relevance at each rank, in a position model.
    rankers: how many rankers must share a log's traffic for enough documents to move.
    pairwise: whether its work grows with the square of the number of ranks. command: its name on
    the command line, if it differs from the key.
    """

    key: str
    label: str
    assumes: str
    source: str
    from_displays: Callable[..., PropensityEstimate] | None = None
    from_swaps: Callable[..., PropensityEstimate] | None = None
    randomised: Randomised | None = None
    ratios: Callable[..., FloatArray] | None = None
    intervals: str = BY_PRESENTATION
    relevance_free: bool = True
    rankers: int = 1
    pairwise: bool = False
    command: str = ""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.command or self.key

    @property
    def for_logs(self) -> bool:
        """Whether it works on a log, which may record swaps; if not, it needs its own traffic."""
        return self.randomised is None


def _harvested(
    displays: DisplayCounts, *, method: Harvest, last_rank: int, reference: int
) -> PropensityEstimate:
    return harvest(interventional_sets(displays, last_rank), method=method, reference=reference)


def _shuffling_cost(
    relevance: ArrayLike, ranks: ArrayLike, query_offsets: ArrayLike, *, last_rank: int
) -> float:
    return shuffling_cost(relevance, ranks, query_offsets)


_POSITION_MODEL = (
    "users follow the position model: a click needs examination, which depends only on the rank"
)
_SERVED = (
    "the ranker that serves a query may depend on the query, but on nothing else that affects "
    "clicks"
)

_BY_QUERY = f"intervals from {JACKKNIFE_GROUPS} groups of queries"

PROPENSITY_METHODS: Mapping[str, PropensityMethod] = MappingProxyType(
    {
        method.key: method
        for method in (
            PropensityMethod(
                "swap",
                "Landmark swaps",
                f"{_POSITION_MODEL}; the rank to swap with is drawn independently of the query",
                "Joachims, Swaminathan and Schnabel (2017), section 5.3",
                from_swaps=estimate_swaps,
                ratios=swap_ratios,
            ),
            PropensityMethod(
                "swap-pooled",
                "Landmark swaps, both documents",
                f"as for landmark swaps: {_POSITION_MODEL}; the document that moved up also counts",
                "the data of landmark swaps, with a ratio that is not in the paper",
                from_swaps=partial(estimate_swaps, ratio="pooled"),
                ratios=partial(swap_ratios, ratio="pooled"),
            ),
            PropensityMethod(
                "uniform",
                "Shuffled lists",
                f"{_POSITION_MODEL}; every order of a list is equally likely",
                "Wang, Bendersky, Metzler and Najork (SIGIR 2016)",
                randomised=Randomised(
                    simulate_shuffling, estimate_shuffling, _shuffling_cost, stream=1
                ),
            ),
            PropensityMethod(
                "adjacent",
                "Neighbour swaps",
                f"{_POSITION_MODEL}; errors multiply along the chain of ranks",
                "after Radlinski and Joachims (AAAI 2006)",
                randomised=Randomised(
                    simulate_neighbour_swaps,
                    estimate_neighbour_swaps,
                    neighbour_swap_cost,
                    stream=2,
                ),
            ),
            PropensityMethod(
                "pivot",
                "Harvesting, pivot",
                f"{_POSITION_MODEL}; {_SERVED}; "
                "documents moved between each rank and the reference rank",
                "Agarwal et al. (WSDM 2019)",
                from_displays=partial(_harvested, method="pivot"),
                ratios=partial(harvest_ratios, method="pivot"),
                intervals=_BY_QUERY,
                pairwise=True,
                command="harvest-pivot",
                rankers=2,
            ),
            PropensityMethod(
                "chain",
                "Harvesting, adjacent chain",
                f"{_POSITION_MODEL}; {_SERVED}; documents moved between all neighbouring ranks",
                "Agarwal et al. (WSDM 2019)",
                from_displays=partial(_harvested, method="chain"),
                ratios=partial(harvest_ratios, method="chain"),
                intervals=_BY_QUERY,
                pairwise=True,
                command="harvest-chain",
                rankers=2,
            ),
            PropensityMethod(
                "all-pairs",
                "Harvesting, all pairs",
                f"{_POSITION_MODEL}; {_SERVED}; ranks are linked by documents that moved",
                "Agarwal et al. (WSDM 2019)",
                from_displays=partial(_harvested, method="all-pairs"),
                ratios=partial(harvest_ratios, method="all-pairs"),
                intervals=_BY_QUERY,
                pairwise=True,
                command="harvest",
                rankers=2,
            ),
            PropensityMethod(
                "em",
                "EM on the position model",
                f"{_POSITION_MODEL}; attractiveness depends only on the document; each document "
                "was shown often, and enough documents moved between ranks",
                "Chuklin, Markov and de Rijke (2015), chapter 4",
                from_displays=estimate_by_em,
                intervals=_BY_QUERY,
                rankers=2,
            ),
            PropensityMethod(
                "ctr",
                "Uncorrected click rates",
                "documents are equally relevant at every rank, although rankers are built "
                "to prevent that; greater relevance at the top makes the curve too steep",
                "a naive reading of the rates in section 5.3",
                relevance_free=False,
                from_displays=estimate_click_rates,
                ratios=click_rate_ratios,
            ),
        )
    }
)
"""All methods by key, for pages, the command line and studies."""

LOG_METHODS = tuple(key for key, method in PROPENSITY_METHODS.items() if method.for_logs)
"""Keys of the methods that work on a log."""


def log_method(name: str) -> PropensityMethod:
    """The log method with that key, or with that name on the command line.

    Raises InputError for any other name.
    """
    for key in LOG_METHODS:
        method = PROPENSITY_METHODS[key]
        if name in (key, method.name):
            return method
    raise InputError(
        f"{quoted(name)} is not a method for a log; choose from {', '.join(LOG_METHODS)}."
    )
