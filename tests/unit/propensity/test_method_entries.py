"""An entry of ``PROPENSITY_METHODS`` is all that a new way to read displays needs."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from tests.meaning import refused
from ultr_core.files import parse_log
from ultr_core.lab import build_world, propensity_study, user_model
from ultr_core.lab.propensity_study import SwapDesign, estimate_by, second_ranker
from ultr_core.propensity import (
    LOG_METHODS,
    PROPENSITY_METHODS,
    estimate_from_log,
    log_method,
    methods,
)
from ultr_core.propensity.points import MOST_PAIRED
from ultr_core.settings import Settings

LOG = "query,document,position,click,impressions\n" + "".join(
    f"q{q},d{d},{(d + q) % 3 + 1},{30 // ((d + q) % 3 + 1)},60\n"
    for q in range(9)
    for d in range(3)
)


def test_every_method_says_how_it_is_run() -> None:
    # Links and commands have these keys, so they stay; more may come.
    stay = {"swap", "swap-pooled", "pivot", "chain", "all-pairs", "em", "ctr"}
    assert stay <= set(LOG_METHODS) and {"uniform", "adjacent"} <= {*PROPENSITY_METHODS} - stay
    assert not {"uniform", "adjacent"} & set(LOG_METHODS)
    for key, method in PROPENSITY_METHODS.items():
        given = (method.from_displays, method.from_swaps, method.randomised)
        assert sum(function is not None for function in given) == 1, key
    streams = [m.randomised.stream for m in PROPENSITY_METHODS.values() if m.randomised]
    assert len({*streams, propensity_study._SWAPS, propensity_study._LOGS}) == len(streams) + 2
    names = [method.name for method in PROPENSITY_METHODS.values()]
    assert len({*names, *PROPENSITY_METHODS}) == len(names) + sum(
        bool(method.command) for method in PROPENSITY_METHODS.values()
    )


@pytest.mark.parametrize("key", LOG_METHODS)
def test_a_method_is_known_by_its_key_and_by_its_name(key: str) -> None:
    assert log_method(key) is log_method(PROPENSITY_METHODS[key].name) is PROPENSITY_METHODS[key]


@pytest.mark.parametrize("name", ["uniform", "", "dla", "Swap"])
def test_other_names_are_refused(name: str) -> None:
    with refused("", "method", "log", "swap"):
        log_method(name)


def test_an_entry_alone_adds_a_method_for_logs_and_for_the_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = replace(PROPENSITY_METHODS["ctr"], key="mine", label="Mine", command="my-way")
    more = MappingProxyType({**PROPENSITY_METHODS, "mine": own})
    for module in (methods, propensity_study):
        monkeypatch.setattr(module, "PROPENSITY_METHODS", more)
    monkeypatch.setattr(methods, "LOG_METHODS", (*LOG_METHODS, "mine"))
    log = parse_log(LOG)
    by_entry = estimate_from_log(log, method="my-way").curve.values
    assert by_entry == estimate_from_log(log, method="ctr").curve.values
    settings, design = Settings(), SwapDesign(last_rank=4, sessions=2_000)
    world = build_world(settings)
    second = second_ranker(world, settings)
    one, other = (
        estimate_by(key, world, user_model(settings), design, second, 0) for key in ("mine", "ctr")
    )
    assert one.curve is not None
    assert other.curve is not None
    assert one.curve.values == other.curve.values


def test_an_entry_alone_adds_a_method_with_traffic_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shuffling = PROPENSITY_METHODS["uniform"]
    assert shuffling.randomised is not None
    drawn_anew = replace(shuffling.randomised, stream=4)
    own = replace(shuffling, key="mine", randomised=drawn_anew)
    more = MappingProxyType({**PROPENSITY_METHODS, "mine": own})
    monkeypatch.setattr(propensity_study, "PROPENSITY_METHODS", more)
    settings, design = Settings(), SwapDesign(last_rank=4, sessions=2_000)
    world = build_world(settings)
    second = second_ranker(world, settings)
    mine, theirs = (
        estimate_by(key, world, user_model(settings), design, second, 0)
        for key in ("mine", "uniform")
    )
    assert mine.curve is not None
    assert mine.cost_exact == theirs.cost_exact
    assert mine.cost_simulated != theirs.cost_simulated


def test_a_design_names_the_ranks_that_it_may_have() -> None:
    assert SwapDesign(last_rank=MOST_PAIRED).last_rank == MOST_PAIRED
    with refused("last_rank", 2, MOST_PAIRED):
        SwapDesign(last_rank=MOST_PAIRED + 1)
