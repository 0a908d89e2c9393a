"""Where a worker gets its world from, so that no corpus has to travel with a cell."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ultr_core.corpus import (
    DEFAULT_SHAPE,
    YAHOO_SHAPE,
    Corpus,
    CorpusShape,
    CorpusSplits,
    synthetic_splits,
)
from ultr_core.files import load_directory
from ultr_core.lab.methods import WORLD_FIELDS, stage
from ultr_core.lab.world import World, build_world
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.risk import empty_queries
from ultr_core.settings import Settings

SIZES: Mapping[str, CorpusShape] = MappingProxyType(
    {"default": DEFAULT_SHAPE, "yahoo": YAHOO_SHAPE}
)
"""Sizes of the synthetic corpus by name; "yahoo" has the counts of the paper's corpus."""

_BUILDING = threading.Lock()


@dataclass(frozen=True)
class WorldSource:
    """How to build a world: a LETOR directory, or a size of the synthetic corpus."""

    settings: Settings
    directory: str | None = None
    size: str = "default"

    @classmethod
    def of(
        cls, settings: Settings, directory: str | None = None, size: str = "default"
    ) -> WorldSource:
        """The source for ``settings``, of which only those of a world are kept."""
        path = None if directory is None else os.path.realpath(directory)
        return cls(stage(settings, WORLD_FIELDS), path, size)

    def splits(self) -> CorpusSplits:
        """Read or make the corpus.

        Raises:
            InputError: the directory cannot be read.
        """
        if self.directory is not None:
            return load_directory(self.directory)
        shape = SIZES[self.size]
        return synthetic_splits(
            self.settings.corpus_seed,
            train_queries=shape.train_queries,
            validation_queries=shape.validation_queries,
            test_queries=shape.test_queries,
            features=shape.features,
            mean_candidates=shape.mean_candidates,
        )


def world_of(source: WorldSource) -> World:
    """The world of a source, built once in each process whatever number of threads asks."""
    with _BUILDING:
        return _world(source)


@lru_cache(maxsize=1)
def _world(source: WorldSource) -> World:
    with one_blas_thread():
        return build_world(source.settings, source.splits())


@lru_cache(maxsize=1)
def description_of(source: WorldSource) -> WorldDescription:
    """The description of the world of a source, made once in each process."""
    return describe(world_of(source))


@dataclass(frozen=True)
class WorldDescription:
    """A world in plain values: enough to recognise it and to write about it.

    ``fingerprint`` identifies features, grades and queries of all three parts;
    ``empty_queries`` is the number of test queries without a relevant document.
    """

    fingerprint: str
    counts: Mapping[str, Any]
    empty_queries: int
    notices: tuple[str, ...]


def describe(world: World) -> WorldDescription:
    """Describe a world; reads every feature once."""
    digest = hashlib.blake2b(digest_size=16)
    for corpus in (world.splits.train, world.splits.validation, world.splits.test):
        for part in _arrays(corpus):
            digest.update(str((part.shape, part.dtype.str)).encode())
            digest.update(np.ascontiguousarray(part).data)
    return WorldDescription(
        digest.hexdigest(),
        world.counts(),
        empty_queries(world.test_relevance, world.splits.test.query_offsets),
        world.notices,
    )


def _arrays(corpus: Corpus) -> tuple[np.ndarray[Any, Any], ...]:
    shared = (corpus.grades, corpus.query_offsets, corpus.feature_ids)
    features = corpus.features
    if sp.issparse(features):
        return (features.data, features.indices, features.indptr, *shared)
    return (features, *shared)
