"""Sixty fixed rankers from very good to reversed, to try risk estimates on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.experiments.world import World
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.ranking import rank_many
from ultr_core.risk import true_risks

FAMILY_STREAM = 1_608_04468
"""Entropy of the random directions; fixed, so that the family never moves."""

_BETWEEN = 16
_RANDOM = 30
_REVERSED = 12


@dataclass(frozen=True, eq=False)
class RankerFamily:
    """Rankers that were not trained on any click log, with their ranks and true risks.

    Attributes:
        kinds: [rankers] "production", "skyline", "between", "random" or "reversed".
        labels: [rankers] what each is, in words.
        ranks: int32 [rankers, documents of the training queries].
        true_risk: float64 [rankers], R(S) on the training queries (equation 2), all labels seen.
    """

    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    ranks: NDArray[np.int32]
    true_risk: NDArray[np.float64]


@one_blas_thread()
def ranker_family(world: World) -> RankerFamily:
    """Build the family of a world: mixtures of production, skyline and random directions.

    The rankers are linear. "between" mixes the standardised scores of production and skyline,
    "random" turns the skyline towards a random direction, "reversed" turns random directions
    towards the negated skyline. None has seen a click, so that the exact expectations of
    section 4 apply to their risk estimates.
    """
    corpus = world.train.corpus
    production = _standardised(world.production.ranker.score(corpus))
    skyline = _standardised(world.skyline.score(corpus))
    rows: list[tuple[str, str, NDArray[np.float64]]] = [
        ("production", "Production ranker", production),
        ("skyline", "Full information (skyline)", skyline),
    ]
    for share in np.linspace(0.0, 1.0, _BETWEEN + 2)[1:-1]:
        mixture = (1 - share) * production + share * skyline
        rows.append(("between", f"{1 - share:.0%} production, {share:.0%} skyline", mixture))
    directions = _random_directions(world, _RANDOM + _REVERSED)
    for angle, noise in zip(np.linspace(0.1, 1.0, _RANDOM), directions, strict=False):
        mixture = (1 - angle) * skyline + angle * noise
        rows.append(("random", f"{1 - angle:.0%} skyline, {angle:.0%} random", mixture))
    for angle, noise in zip(np.linspace(0.2, 1.0, _REVERSED), directions[_RANDOM:], strict=True):
        mixture = (1 - angle) * noise - angle * skyline
        rows.append(("reversed", f"{angle:.0%} reversed skyline, {1 - angle:.0%} random", mixture))
    # The ranks of one document side by side: risks are products over all rankers at once.
    ranks = np.asfortranarray(
        rank_many(np.stack([scores for _, _, scores in rows]), corpus.query_offsets)
    )
    ranks.flags.writeable = False
    risks = true_risks(ranks, world.train.relevance, corpus.query_offsets)
    risks.flags.writeable = False
    return RankerFamily(tuple(r[0] for r in rows), tuple(r[1] for r in rows), ranks, risks)


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(scores.std())
    centred: NDArray[np.float64] = scores - scores.mean()
    return centred / spread if spread > 0 else centred


def _random_directions(world: World, count: int) -> list[NDArray[np.float64]]:
    features = world.train.corpus.features
    rng = np.random.default_rng(FAMILY_STREAM)
    directions = rng.standard_normal((features.shape[1], count)).astype(np.float32)
    scores = np.asarray(features @ directions, dtype=np.float64)
    return [_standardised(column) for column in scores.T]
