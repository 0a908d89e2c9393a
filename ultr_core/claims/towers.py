"""Claims of later work on two-tower models, on expected clicks: no sampling noise, no interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from ultr_core.claims.common import Measure, Sizes, sizes_of
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.learners.towers import JOINS
from ultr_core.proofs.towers import (
    CURVED,
    LISTS,
    LOGGERS,
    QUERIES,
    SWAPS,
    LinkedRanks,
    TowerCase,
)

Case = TypeVar("Case", LinkedRanks, TowerCase)

RIGHT = 1e-6
"""How far b may be off where the model is right: rounding, and the penalty."""

CLEARLY = 0.1
"""By how much b must differ to be wrong: a tenth of the odds."""


def _case(lab: Lab, claim: str, case: Case) -> Case:
    """The case of one claim, which may be altered."""
    return lab.remember(lab.cell("small_case", (), claim), lambda _: case)


def _parts_decide(lab: Lab) -> Finding:
    """Directions that clicks leave open against the parts of the graph of ranks."""
    case = _case(lab, "R21", LinkedRanks())
    cases = [replace(case, swaps=swaps) for swaps in SWAPS]
    found = [(one.parts, one.undetermined) for one in cases]
    parts, left = (
        f"{', '.join(map(str, column[:-1]))} and {column[-1]}"
        for column in zip(*found, strict=True)
    )
    return Finding(
        f"With no swap, one swap and a chain of swaps, four ranks fall into {parts} parts; clicks "
        f"leave {left} directions undetermined.",
        float(max(abs(one - other) for one, other in found)),
    )


def _logger_alone(lab: Lab) -> Finding:
    """The largest error of b over three loggers and both forms, where the model is right."""
    case = _case(lab, "R22", TowerCase())
    worst = max(
        float(np.abs(replace(case, clicks=form).off(logger)).max())
        for form in JOINS
        for logger in LOGGERS
    )
    return Finding(
        f"For {len(JOINS)} forms and {len(LOGGERS)} loggers, from random to perfect, b is off by "
        f"at most {worst:.2g}.",
        worst,
        tolerance=RIGHT,
    )


def _wrong_model(lab: Lab) -> Finding:
    """By how much b of the last rank falls from each logger to the next stronger one, at least."""
    case = _case(lab, "R23", TowerCase(curved=CURVED))
    off = {
        form: [float(replace(case, clicks=form).off(logger)[-1]) for logger in LOGGERS]
        for form in JOINS
    }
    steps = [before - after for each in off.values() for before, after in pairwise(each)]
    words = "; ".join(
        f"{JOINS[form].label.lower()} {', '.join(f'{value:+.2f}' for value in each)}"
        for form, each in off.items()
    ).replace("-", "−")
    return Finding(
        f"Error in b at the last rank, for a random, a fair and a perfect logger: {words}.",
        min(steps),
        ">",
        CLEARLY,
    )


def _not_examination(lab: Lab) -> Finding:
    """How far exp(b) of the form that is fitted is from examination, in logarithms."""
    case = _case(lab, "R24", TowerCase("product", fitted="additive"))
    off = case.off("random")
    return Finding(
        f"With a random logger and linear relevance, b at the last rank is off by {off[-1]:+.2f}, "
        f"as if that rank were examined {np.exp(off[-1]):.2f} times as often.".replace("-", "−"),
        float(np.abs(off).max()),
        ">",
        CLEARLY,
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "R21": _parts_decide,
        "R22": _logger_alone,
        "R23": _wrong_model,
        "R24": _not_examination,
    }
)

SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "linked ranks": lambda _: sizes_of(queries=LISTS),
        "expected clicks": lambda _: sizes_of(queries=QUERIES),
    }
)
"""Queries that clicks are expected of; none is simulated."""
