"""The fixed sequence of uniformly drawn queries that all simulated logs of a seed begin with."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from ultr_core.corpus.ranking import in_brief, whole_or_none
from ultr_core.errors import InputError

IntArray = NDArray[np.int64]

Seed = SeedSequence | int

MOST_SIMULATED = 500_000_000
"""Query draws of one simulated log: they are drawn one by one, some 5 ns each."""

MOST_SESSIONS = 100_000_000
"""Presentations that are simulated one by one, with every click."""

# Query draws made at once.
_DRAWS_AT_ONCE = 1 << 18
# Counts after each so many draws are remembered, up to so many times, for corpora up to this size:
# whoever moves a slider asks for another length of the same sequence.
_REMEMBERED_EVERY, _MOST_REMEMBERED, _REMEMBERED_QUERIES = 1 << 16, 128, 20_000


def draw_queries(queries: int, query_draws: int, seed: Seed) -> Iterator[NDArray[np.int32]]:
    """Yield the fixed sequence of ``query_draws`` uniformly drawn queries in pieces.

    Raises InputError for fewer than one query or draw, more than ``MOST_SIMULATED`` draws, or an
    invalid seed.
    """
    queries, draws = _checked_queries(queries), checked_draws(query_draws)
    yield from _drawn(np.random.default_rng(child(seed, 0)), queries, draws)


def count_queries(queries: int, query_draws: int, seed: Seed) -> IntArray:
    """How often each query occurs in the first ``query_draws`` terms of ``draw_queries`` [queries].

    Raises InputError as ``draw_queries`` does.

    >>> int(count_queries(queries=3, query_draws=10, seed=0).sum())
    10
    """
    queries, left = _checked_queries(queries), checked_draws(query_draws)
    stream = child(seed, 0)
    rng = np.random.default_rng(stream)
    counts = np.zeros(queries, dtype=np.int64)
    if queries <= _REMEMBERED_QUERIES:
        pieces = min(left // _REMEMBERED_EVERY, _MOST_REMEMBERED)
        before, rng.bit_generator.state = _remembered(queries, pieces, _entropy(stream))
        counts += before
        left -= pieces * _REMEMBERED_EVERY
    for drawn in _drawn(rng, queries, left):
        counts += np.bincount(drawn, minlength=queries)
    return counts


@functools.lru_cache(2 * _MOST_REMEMBERED)
def _remembered(
    queries: int, pieces: int, entropy: tuple[Any, tuple[int, ...]]
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Counts after so many pieces of the sequence, and the state of the generator there."""
    rng = np.random.default_rng(SeedSequence(entropy[0], spawn_key=entropy[1]))
    if pieces == 0:
        return np.zeros(queries, dtype=np.int32), dict(rng.bit_generator.state)
    before, rng.bit_generator.state = _remembered(queries, pieces - 1, entropy)
    drawn = rng.integers(queries, size=_REMEMBERED_EVERY, dtype=np.int32)
    counts = before + np.bincount(drawn, minlength=queries).astype(np.int32)
    return counts, dict(rng.bit_generator.state)


def _drawn(rng: np.random.Generator, queries: int, query_draws: int) -> Iterator[NDArray[np.int32]]:
    for start in range(0, query_draws, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, query_draws - start)
        yield rng.integers(queries, size=size, dtype=np.int32)


def _entropy(stream: SeedSequence) -> tuple[Any, tuple[int, ...]]:
    """What a sequence is made from, as something that can be looked up."""
    entropy = stream.entropy
    if not isinstance(entropy, int):
        entropy = tuple(int(word) for word in np.ravel(np.asarray(entropy, dtype=object)))
    return entropy, stream.spawn_key


def child(seed: Seed, key: int) -> SeedSequence:
    """Child number ``key`` of a seed; unlike spawn, it leaves no trace on the parent.

    Raises InputError for a seed that is none.
    """
    parent = checked_seed(seed)
    return SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, key))


def checked_seed(seed: object) -> SeedSequence:
    """The seed as NumPy takes it; raises InputError unless it is one or a whole number >= 0."""
    if isinstance(seed, SeedSequence):
        return seed
    number = whole_or_none(seed)
    if number is None or number < 0:
        raise InputError(
            f"A seed must be a whole number of 0 or more, not {in_brief(seed)}.", "random_seed"
        )
    return SeedSequence(number)


def _checked_queries(queries: object) -> int:
    number = whole_or_none(queries) or 0
    if not 1 <= number < 2**31:
        raise InputError(f"There must be at least 1 query to draw from, not {in_brief(queries)}.")
    return number


def checked_draws(query_draws: object, most: int = MOST_SIMULATED) -> int:
    """The number of draws, at least one and no more than are simulated; else InputError."""
    draws = whole_or_none(query_draws) or 0
    if draws < 1:
        raise InputError(
            f"A click log needs at least 1 presentation, not {in_brief(query_draws)}.", "no_draw"
        )
    if draws > most:
        raise InputError(
            f"A simulated click log can have at most {most:,} presentations, not "
            f"{in_brief(query_draws)}, because they are drawn one by one; ask for fewer.",
            "too_many_draws",
        )
    return draws
