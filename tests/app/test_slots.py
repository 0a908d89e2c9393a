"""A place on a page takes words as often as somebody waits for results."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def waiting() -> None:
    """A page on which words are replaced more often than calls may be nested."""
    import sys

    from pages.app.slots import Slot

    slot = Slot()
    for number in range(2 * sys.getrecursionlimit()):
        slot.markdown(f"Waiting for {number} …")
    slot.place().markdown("**Done.**")


def test_words_are_replaced_any_number_of_times() -> None:
    app = AppTest.from_function(waiting, default_timeout=60).run()
    assert not app.exception
    assert [element.value for element in app.markdown] == ["**Done.**"]
