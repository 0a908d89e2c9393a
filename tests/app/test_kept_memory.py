"""What was made of visitors' files counts towards the memory of the server, whoever keeps it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from pages.views.your_data import bench as data_bench
from pages.views.your_data.bench import Bench, Brought, bytes_of
from tests.meaning import refused
from ultr_core.files import NameTable, parse_corpus, parse_log

MB = 1 << 20


@dataclass
class Made:
    """Something with arrays."""

    numbers: Any
    other: Any = None


def test_arrays_and_names_are_counted_once() -> None:
    numbers = np.zeros(1_000)
    assert bytes_of(numbers) == 8_000
    assert bytes_of(Made(numbers, [{"a": numbers[:10]}, numbers.reshape(10, 100)])) == 8_000
    assert bytes_of(Made(np.broadcast_to(np.int32(0), 10**9))) < 100
    assert bytes_of(sparse.csr_array(np.eye(1_000))) >= 12_000
    assert bytes_of(("name",) * 1_000) == 72_000
    assert bytes_of([Made(numbers), None, "x" * 9_999, 7, int]) == 8_000
    assert 10**6 <= bytes_of(Made("x" * 10**6)) < 1_001_000
    assert 80_000 <= bytes_of(NameTable({f"name {n}": f"{n}" for n in range(500)})) < 100_000


def test_the_largest_things_that_are_read_are_counted() -> None:
    rows = b"".join(b"q,a,%d,1\n" % number for number in range(1, 10_001))
    log = parse_log(b"query,document,position,click\n" + rows, "log")
    assert 160_000 <= bytes_of(log) < 1_000_000
    corpus = parse_corpus(b"1 qid:1 1:1 2:3 3:5 4:5\n" * 10_000, "corpus")
    assert 180_000 <= bytes_of(corpus) < 1_000_000


def test_all_visitors_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    everybody: set[Bench] = set()
    monkeypatch.setattr(data_bench, "_BENCHES", everybody)
    limit = replace(data_bench.READ_KEPT_BY_SERVER, most=10)
    monkeypatch.setattr(data_bench, "READ_KEPT_BY_SERVER", limit)
    first, second = Bench(), Bench()
    first.make("log", 1, lambda: Made(np.zeros(6 * MB, np.int8)))
    first.make("log", 2, lambda: Made(np.zeros(6 * MB, np.int8)))  # in place of the other
    with refused("too_large", 12, "memory"):
        second.make("log", 1, lambda: Made(np.zeros(6 * MB, np.int8)))
    second.make("corpus", 1, lambda: Made(np.zeros(3 * MB, np.int8)))
    first.clear()
    second.make("log", 2, lambda: Made(np.zeros(6 * MB, np.int8)))


def test_a_stage_is_made_once_and_the_former_is_let_go_before_the_next_is_read() -> None:
    own, begun, let = Bench(), threading.Event(), threading.Event()
    found: list[object] = []

    def slow() -> Made:
        begun.set()
        assert let.wait(10.0)
        return Made(np.zeros(3))

    threads = [
        threading.Thread(target=lambda: found.append(own.make("log", 1, slow))) for _ in range(2)
    ]
    threads[0].start()
    assert begun.wait(10.0)
    threads[1].start()
    let.set()
    for thread in threads:
        thread.join(10.0)
    assert found[0] is found[1]

    held = []
    own.make("log", 2, lambda: held.append(own.made) or Made(None))
    assert held == [{}]


def test_removing_one_file_keeps_what_was_made_of_the_others() -> None:
    # H39: Remove of any file forgot the parsed corpus and the trained ranker as well.
    own = Bench()
    for kind in ("corpus", "log", "ranker"):
        own.bring(kind, Brought(kind, b"x"))
    corpus, log, ranker = (own.token(kind) for kind in ("corpus", "log", "ranker"))
    own.make("corpus", (corpus, ""), lambda: Made(1))
    own.make("log", (log, ()), lambda: Made(2))
    own.keep("fit", ((corpus, "", (log, ())), "plan"), Made(3))
    own.make("model-scores", (ranker, corpus, ""), lambda: Made(4))
    own.drop("ranker")
    assert set(own.made) == {"corpus", "log", "fit"}
    own.drop("log")
    assert set(own.made) == {"corpus"}
    own.clear()
    assert not own.made
    assert not own.files
