"""Once per process: load what every page needs and settle memory and threads."""

from __future__ import annotations

import functools
import gc
import importlib
import threading

import streamlit as st

from ultr_core.export.origin import versions as package_versions
from ultr_core.lazy import load

_DONE = threading.Event()


@st.cache_resource(show_spinner=False)
def boot() -> None:
    """Load the heavy libraries, start a training process, draw a chart, limit BLAS, freeze memory.

    Streamlit collects garbage after every run of a page; objects frozen here are left out of
    that.
    """
    load("ultr_core.lab")
    importlib.import_module("vl_convert")
    from pages.app.context import own_corpus
    from pages.app.server_lab import POOL
    from ultr_core.figures import warm_up
    from ultr_core.learners.blas_threads import one_blas_thread_for_good

    if own_corpus() is None:  # else nothing is trained apart
        POOL.start()
    warm_up()
    # BLAS threads compete with the threads of other visitors.
    one_blas_thread_for_good()
    gc.collect()
    gc.freeze()
    _DONE.set()


def booted() -> bool:
    """Whether `boot` has been through, so that a page need not show that it is loading."""
    return _DONE.is_set()


@functools.cache
def versions() -> str:
    """Versions that results depend on, for a report."""
    found = package_versions("numpy", "scipy", "streamlit")
    text = ", ".join(f"{name} {number}" for name, number in found.items())
    return text.replace("python", "Python", 1)
