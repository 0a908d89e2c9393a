"""The rankers that are compared, and which settings each depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ultr_core.curve_values import CURVES
from ultr_core.settings import PARAMETERS, Settings

WORLD_FIELDS = ("corpus_seed", "relevant_grade")
"""Settings that corpus, production ranker and skyline depend on."""

LOG_FIELDS = (*WORLD_FIELDS, "eta", "curve", "eps_minus", "eps_plus", "clicks", "seed")
"""Settings that a click log depends on; so does the naive ranker, and nothing more."""

WEIGHTED_FIELDS = (*LOG_FIELDS, "assumed_eta", "assumed_curve")
"""Settings that whatever divides by an assumed propensity depends on."""


@lru_cache(maxsize=4_096)
def stage(settings: Settings, names: tuple[str, ...]) -> Settings:
    """The settings with every field outside ``names`` back at its default.

    Two worlds that differ only in fields that a stage does not use have the same stage, which
    makes it a cache key: moving the assumed η never simulates clicks again.
    """
    others: dict[str, Any] = {
        **{name: p.default for name, p in PARAMETERS.items() if name not in names},
        **{name: () for name in CURVES if name not in names},
    }
    # Fields at their default cannot make an invalid pair: ε₊ and ε₋ are always kept together.
    return settings.with_values(**others)


@dataclass(frozen=True)
class Method:
    """A ranker in the comparison: its key, name, one line on it, and the settings it uses."""

    key: str
    label: str
    description: str
    fields: tuple[str, ...]

    @property
    def learns_from_clicks(self) -> bool:
        """Whether it changes from one click log to the next."""
        return self.fields != WORLD_FIELDS


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.key: method
        for method in (
            Method(
                "production",
                "Production",
                "The ranker that was running while the clicks were logged: a ranking SVM on the "
                "labels of about 1% of the training queries.",
                WORLD_FIELDS,
            ),
            Method(
                "naive",
                "Naive",
                "Ranking SVM in which every click counts 1.",
                LOG_FIELDS,
            ),
            Method(
                "propensity",
                "Propensity-weighted",
                "The same ranking SVM; a click counts 1/p, where p is the examination of its rank.",
                WEIGHTED_FIELDS,
            ),
            Method(
                "clipped",
                "Clipped",
                "Propensity-weighted with propensities raised to at least τ; τ and C are chosen "
                "on the validation clicks.",
                WEIGHTED_FIELDS,
            ),
            Method(
                "skyline",
                "Full information (skyline)",
                "Ranking SVM on all training labels: what perfect feedback would reach.",
                WORLD_FIELDS,
            ),
        )
    }
)

CLICK_METHODS = tuple(key for key, method in METHODS.items() if method.learns_from_clicks)
"""Keys of the methods that are trained on clicks."""
