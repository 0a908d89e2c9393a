"""Every check of the ledger can fail: each claim has a mutation that breaks it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ultr_core.claims import CLAIMS, Entry, measure_entry
from ultr_core.claims.common import MANY_SWAPS
from ultr_core.claims.mutations import MUTATIONS, AlteredStore, Change
from ultr_core.corpus import synthetic_splits
from ultr_core.lab import Lab
from ultr_core.lab.store import Cell
from ultr_core.proofs import SmallWorld
from ultr_core.propensity import SwapCounts, simulate_swaps
from ultr_core.users import PowerLaw

MOST = 5
"""Claims that one mutation may break."""

WITHOUT = {"2b", "53l", "S1", "F0.levels", "L1", "L5", "8a", "F1.naive-flat", "8b"}
"""Claims that do not hold as it is, or are not checkable."""

REPAIRS = (6, 7, 8, 9, 10, 16, 17, 19, 20)
SHIPPED = ("L9", "L1", "F", "4j", "52n", "S9", *(f"R{number}" for number in REPAIRS))
"""Claims on shipped results or printed numbers, by how their keys begin: the same on any corpus."""


@pytest.fixture(scope="module")
def lab() -> Lab:
    """A corpus on which everything is measured in a moment, and holds as on the built-in one."""
    return Lab(
        corpus=synthetic_splits(
            3, train_queries=300, validation_queries=80, test_queries=200, features=10
        )
    )


@pytest.fixture(scope="module")
def broken(lab: Lab) -> dict[str, Lab]:
    """A lab for each mutation, made once: claims that share one share what it costs."""
    return {key: mutation.lab(lab) for key, mutation in MUTATIONS.items()}


def test_every_claim_that_can_be_measured_has_a_mutation_and_none_breaks_many() -> None:
    assert {entry.key for entry in CLAIMS.values() if not entry.mutation} == WITHOUT
    used = Counter(entry.mutation for entry in CLAIMS.values() if entry.mutation)
    assert set(used) == set(MUTATIONS)
    assert max(used.values()) <= MOST
    words = [mutation.words for mutation in MUTATIONS.values()]
    assert all(words)


@pytest.mark.parametrize(
    "entry", [entry for entry in CLAIMS.values() if entry.mutation], ids=lambda entry: entry.key
)
def test_a_claim_is_broken_by_its_mutation(entry: Entry, lab: Lab, broken: dict[str, Lab]) -> None:
    if not entry.key.startswith(SHIPPED):
        assert measure_entry(lab, entry).outcome == "holds"
    assert measure_entry(broken[entry.mutation], entry).outcome == "does not hold"


def _less_clicked(_: Lab, world: SmallWorld, cell: Cell) -> SmallWorld:
    return replace(world, eps_plus=Fraction(99, 100)) if cell.args[0] == "51a" else world


def _fewer_clicks(_: Lab, chance: np.ndarray, __: Cell) -> np.ndarray:
    return 0.99 * chance


def _steeper_swaps(lab: Lab, _: object, __: Cell) -> SwapCounts:
    users = replace(lab.users, curve=PowerLaw(1.01))
    return simulate_swaps(users, *lab.world().train.shown, sessions=MANY_SWAPS, seed=0)


@pytest.mark.parametrize(
    ("key", "stage", "change"),
    [
        ("51a", "small_world", _less_clicked),
        ("52a", "judged_relevant", _fewer_clicks),
        ("53f", "swap_counts", _steeper_swaps),
    ],
)
def test_what_is_counted_in_standard_errors_notices_one_percent(
    key: str, stage: str, change: Change, lab: Lab
) -> None:
    altered = replace(lab, store=AlteredStore(lab, {stage: change}))
    assert measure_entry(altered, CLAIMS[key]).outcome == "does not hold"


def test_a_mutation_leaves_the_lab_that_it_is_given_alone(lab: Lab) -> None:
    before = lab.world().train.presented_ranks.copy()
    altered = MUTATIONS["reversed-production"].lab(lab)
    assert (altered.world().train.presented_ranks != before).any()
    assert (lab.world().train.presented_ranks == before).all()


def test_stages_before_an_altered_one_are_shared_and_later_ones_are_made_anew(lab: Lab) -> None:
    def change(_: Lab, log: object, __: Cell) -> object:
        return log

    store = AlteredStore(lab, {"training_log": change})
    at = Lab(lab.settings, lab.corpus, store)
    assert at.world() is lab.world()
    assert at.training_log() is not lab.training_log()
    assert at.logs() is not lab.logs()
