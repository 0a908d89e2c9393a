from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from ultr_core.proofs import SmallQuery, SmallWorld


def random_world(seed: int, *, largest: int = 5, right: bool = True) -> SmallWorld:
    """A world with positive curves, any noise and any threshold; the curve known or not."""
    rng = random.Random(seed)
    size = rng.randint(2, largest)

    def ranking() -> tuple[int, ...]:
        return tuple(rng.sample(range(1, size + 1), size))

    def curve() -> tuple[Fraction, ...]:
        unit = rng.choice((4, 7, 12, 30))
        # Any rank may be the most examined one.
        return tuple(Fraction(rng.randint(1, unit), unit) for _ in range(size))

    examination = curve()
    eps_minus, eps_plus = sorted(rng.sample(range(13), 2))
    return SmallWorld(
        SmallQuery(tuple(rng.randint(0, 1) for _ in range(size)), ranking(), ranking(), ranking()),
        examination,
        examination if right else curve(),
        Fraction(eps_plus, 12),
        Fraction(eps_minus, 12),
        Fraction(rng.randint(0, 8), 8),
        Fraction(rng.randint(1, 12), 5),
    )


def _small_worlds(**options: int) -> st.SearchStrategy[SmallWorld]:
    return st.integers(0, 2**32).map(lambda seed: random_world(seed, **options))


Worlds = Callable[..., st.SearchStrategy[SmallWorld]]


@pytest.fixture(scope="session")
def small_worlds() -> Worlds:
    return _small_worlds


@pytest.fixture
def twelve() -> SmallWorld:
    """Twelve candidates, η = 1, two of five relevant documents in the lower half."""
    return SmallWorld.from_query(
        {
            "list": "ABCDEFGHIJKL",
            "relevant": "BDEHL",
            "new": "LKJIHGFEDCBA",
            "other": "ABCDEFGHIJKL",
            "curve": " ".join(f"1/{rank}" for rank in range(1, 13)),
        }
    )
