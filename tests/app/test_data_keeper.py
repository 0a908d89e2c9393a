"""What a session brought is freed once its reader is gone, and not before."""

from __future__ import annotations

import os

import pytest

from pages.views.your_data.bench import Bench, Brought, Keeper, give_back
from scripts.serving import _resident


def owned(keeper: Keeper, session: str) -> Bench:
    bench = Bench()
    bench.files["log"] = Brought("log.csv", b"123")
    bench.keep("log", "token", object())
    keeper._owned[bench] = session
    return bench


def test_a_lost_connection_is_waited_for_and_then_everything_is_freed() -> None:
    keeper = Keeper()
    here, gone = owned(keeper, "here"), owned(keeper, "gone")
    assert keeper.free({"here"}, now=100.0, patience=60.0) == 2
    assert keeper.free({"here"}, now=159.0, patience=60.0) == 2
    assert gone.held() == 3
    assert keeper.free({"here"}, now=160.0, patience=60.0) == 1
    assert gone.held() == 0
    assert gone.peek("log", "token") is None
    assert here.held() == 3


def test_who_comes_back_in_time_keeps_everything() -> None:
    keeper = Keeper()
    bench = owned(keeper, "one")
    keeper.free(set(), now=0.0, patience=60.0)
    keeper.free({"one"}, now=50.0, patience=60.0)
    keeper.free(set(), now=70.0, patience=60.0)
    assert bench.held() == 3
    keeper.free(set(), now=131.0, patience=60.0)
    assert bench.held() == 0


def test_watching_does_not_keep_a_bench_alive() -> None:
    keeper = Keeper()
    bench = owned(keeper, "one")
    del bench
    assert keeper.free(set(), now=0.0, patience=60.0) == 0


@pytest.mark.skipif(not hasattr(os, "confstr") or "CS_GNU_LIBC_VERSION" not in os.confstr_names,
                    reason="glibc")  # fmt: skip
def test_free_memory_goes_back_to_the_system() -> None:
    """What lies below the last piece in use stays with the process otherwise."""
    pieces = [b"%d" % number * 1_000 for number in range(25_000)]
    pieces = pieces[-1:]
    before = _resident(os.getpid())
    give_back()
    assert before - _resident(os.getpid()) > 50  # MB, of 100
