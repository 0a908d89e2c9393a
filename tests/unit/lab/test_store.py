"""A store makes each value once, whoever asks and however many."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest

from ultr_core.lab import Store

PATIENCE = 10.0


def ask_together(store: Store, callers: int, make) -> list[object]:
    """What each of several threads gets for one key; None where it raised."""
    found: list[object] = [None] * callers
    gate = threading.Barrier(callers)

    def ask(number: int) -> None:
        gate.wait(PATIENCE)
        with contextlib.suppress(ValueError):
            found[number] = store.get("kind", "key", make)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    return found


def test_the_same_key_is_made_once_for_all_who_ask_at_once() -> None:
    store, made = Store(), []

    def make() -> object:
        made.append(object())
        time.sleep(0.05)
        return made[0]

    assert ask_together(store, 8, make) == made * 8
    assert store.get("kind", "key", make) is store.peek("kind", "key")
    assert len(made) == 1


def test_two_keys_are_made_side_by_side() -> None:
    store, both = Store(), threading.Barrier(2)

    def make() -> int:
        return both.wait(PATIENCE) + 1  # comes back only if the other is being made as well

    other = threading.Thread(target=store.get, args=("kind", "other", make))
    other.start()
    assert store.get("kind", "key", make)
    other.join(PATIENCE)


def test_what_fails_is_not_kept_and_never_made_twice_at_once() -> None:
    store, at_work, tries = Store(), [], []

    def make() -> str:
        at_work.append(1)
        assert len(at_work) == 1
        time.sleep(0.01)
        at_work.pop()
        tries.append(1)
        if len(tries) < 4:
            raise ValueError
        return "made"

    found = ask_together(store, 8, make)
    assert found.count("made") == 5
    assert len(tries) == 4


def test_a_kind_has_a_bound_and_what_was_not_used_for_longest_goes_first() -> None:
    store = Store({"few": 2}, otherwise=1)
    for key in "ab":
        store.get("few", key, lambda key=key: key)
    assert store.peek("few", "a") == "a"  # which uses it
    store.get("few", "c", lambda: "c")
    assert [store.peek("few", key) for key in "abc"] == ["a", None, "c"]
    for key in "ab":
        store.get("other", key, lambda key=key: key)
    assert [store.peek("other", key) for key in "ab"] == [None, "b"]
    unbounded = Store()
    for number in range(1_000):
        unbounded.get("any", number, lambda: "kept")
    assert unbounded.peek("any", 0) == "kept"


def test_kinds_do_not_share_keys_and_each_has_one_turn() -> None:
    store = Store()
    assert store.get("one", "key", lambda: 1) != store.get("two", "key", lambda: 2)
    assert store.turn("one") is store.turn("one")
    with store.turn("one"), store.turn("two"):
        assert store.turn("one").locked()


def test_a_caller_that_is_ended_leaves_the_key_to_the_next() -> None:
    """Streamlit ends a run with a BaseException where the reader has moved on."""
    store = Store()

    def end() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.get("kind", "key", end)
    assert store.get("kind", "key", lambda: 1) == 1


def test_what_is_forgotten_is_made_again_and_the_rest_stays() -> None:
    store = Store(otherwise=1)
    for kind in ("log", "corpus"):
        store.get(kind, 1, object)
    second = store.get("log", 2, object)
    corpus = store.peek("corpus", 1)
    assert store.newest() == {"log": second, "corpus": corpus}
    store.forget("log")
    assert store.newest() == {"corpus": corpus}
    assert store.get("log", 2, object) is not second
    store.forget()
    assert store.newest() == {}
