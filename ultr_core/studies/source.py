"""Where a worker gets its world from, so that no corpus has to travel with a cell."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ultr_core.corpus import DEFAULT_SHAPE, YAHOO_SHAPE, Corpus, CorpusShape
from ultr_core.lab.lab import Lab
from ultr_core.lab.methods import WORLD_FIELDS, stage
from ultr_core.lab.store import Cell, Store
from ultr_core.lab.world import World
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.risk import empty_queries
from ultr_core.settings import Settings

SIZES: Mapping[str, CorpusShape] = MappingProxyType(
    {"default": DEFAULT_SHAPE, "yahoo": YAHOO_SHAPE}
)
"""Sizes of the synthetic corpus by name; "yahoo" has the counts of the paper's corpus."""


def _alone(cell: Cell, make: Callable[[], Any]) -> Any:
    """Make a cell without threads of BLAS, since every core has a worker."""
    with one_blas_thread():
        return make()


_LAB = Lab(store=Store(otherwise=1), run=_alone)
"""Holds one world in each process, whatever number of threads asks for it."""


@dataclass(frozen=True)
class WorldSource:
    """What workers need to build a world: settings, and where the corpus comes from.

    corpus: the directory of a LETOR corpus, or the size of a synthetic one.
    """

    settings: Settings
    corpus: str | CorpusShape

    @classmethod
    def of(
        cls, settings: Settings, directory: str | None = None, size: str = "default"
    ) -> WorldSource:
        """The source for ``settings``; only the settings of a world are kept."""
        corpus = SIZES[size] if directory is None else os.path.realpath(directory)
        return cls(stage(settings, WORLD_FIELDS), corpus)

    @property
    def lab(self) -> Lab:
        """This process's lab with these settings and this corpus."""
        return replace(_LAB, settings=self.settings, corpus=self.corpus)


def world_of(source: WorldSource) -> World:
    """The world of a source, built once in each process.

    Raises:
        InputError: the directory cannot be read.
    """
    return source.lab.world()


def description_of(source: WorldSource) -> WorldDescription:
    """The description of the world of a source, made once in each process."""
    return describe_world(source.lab)


def description_cell(lab: Lab) -> Cell:
    """The cell that holds the description of a lab's world."""
    return lab.cell("description", WORLD_FIELDS)


def describe_world(lab: Lab) -> WorldDescription:
    """The description of a lab's world, kept in its store."""
    return lab.remember(description_cell(lab), lambda at: describe(at.world()))


@dataclass(frozen=True)
class WorldDescription:
    """A world as plain values: enough to identify and describe it.

    ``fingerprint`` identifies the features, grades and queries of all three parts;
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
