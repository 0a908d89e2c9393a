"""The claims ledger, measured once for each corpus and shared by all sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shared import cached
from ultr_core.claims import (
    CLAIMS,
    Bench,
    Compared,
    Entry,
    LedgerLine,
    Measured,
    SmallCorpus,
    compare,
    measure_entry,
    small_corpus,
)
from ultr_core.settings import Settings

# One claim is measured at a time: they share costly parts of one bench.
_MEASURING = threading.Lock()


def ledger(corpus: str | None, progress: Callable[[int, Entry], None]) -> tuple[LedgerLine, ...]:
    """All claims measured on the corpus directory, or on the built-in corpus for None."""
    lines = []
    for done, entry in enumerate(CLAIMS.values()):
        progress(done, entry)
        lines.append(LedgerLine(entry, _measured(corpus, entry.key)))
    return tuple(lines)


@st.cache_data(max_entries=400, show_spinner=False)
def _measured(corpus: str | None, key: str) -> Measured:
    with _MEASURING:
        return measure_entry(_bench(corpus), CLAIMS[key])


@st.cache_resource(max_entries=1, show_spinner=False)
def _bench(corpus: str | None) -> Bench:
    settings = Settings()
    return Bench(cached.world(corpus, settings), settings)


def counts(corpus: str | None) -> dict[str, Any]:
    """Sizes of the corpus that the claims are measured on."""
    return cached.world(corpus, Settings()).counts()


@st.cache_data(max_entries=40, show_spinner=False)
def compared(key: str) -> Compared:
    """A reading's numbers and the other's, on the small corpus."""
    with _MEASURING:
        return compare(key, _small_corpus())


@st.cache_resource(max_entries=1, show_spinner=False)
def _small_corpus() -> SmallCorpus:
    return small_corpus()
