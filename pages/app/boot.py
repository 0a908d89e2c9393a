"""Once per process: load what every page needs and settle memory and threads."""

from __future__ import annotations

import functools
import gc
import importlib
import threading

from pages.app.registry import HOME
from ultr_core.export.origin import versions as package_versions
from ultr_core.lazy import load

_DONE = threading.Event()
_ONE_AT_A_TIME = threading.Lock()


def boot() -> None:
    """Be ready once for all: who asks while that is under way waits for it."""
    with _ONE_AT_A_TIME:
        if not _DONE.is_set():
            _prepare()
            _DONE.set()


def boot_aside() -> None:
    """`boot` while the server begins to answer: a browser, too, takes a second until it asks."""
    threading.Thread(target=boot, name="boot", daemon=True).start()


def booted() -> bool:
    """Whether `boot` has been through, so that a page need not show that it is loading."""
    return _DONE.is_set()


def _prepare() -> None:
    """Start training processes, load the heavy libraries, draw a chart, limit BLAS, freeze memory.

    Streamlit collects garbage after every run of a page; objects frozen here are left out of
    that.
    """
    from pages.app.context import own_corpus
    from pages.app.training_pool import POOL

    if own_corpus() is None:  # else nothing is trained apart
        POOL.start()
    load("ultr_core.lab")
    importlib.import_module(f"pages.views.{HOME.path}.view")
    importlib.import_module("vl_convert")
    from ultr_core.figures import warm_up
    from ultr_core.learners.blas_threads import one_blas_thread_for_good

    warm_up()
    # BLAS threads compete with the threads of other visitors.
    one_blas_thread_for_good()
    gc.collect()
    gc.freeze()


@functools.cache
def versions() -> str:
    """Versions that results depend on, for a report."""
    found = package_versions("numpy", "scipy", "streamlit")
    text = ", ".join(f"{name} {number}" for name, number in found.items())
    return text.replace("python", "Python", 1)
