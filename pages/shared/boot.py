"""Once per process: load what every page needs and settle memory and threads."""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import platform

import streamlit as st


@st.cache_resource(show_spinner=False)
def boot() -> None:
    """Import the heavy libraries, draw one chart, limit BLAS to one thread, freeze memory.

    Streamlit collects garbage after every run of a page; objects frozen here are left out of
    that. BLAS threads compete with the threads of other visitors, and the matrices here are too
    small to gain from them; the limit only works once SciPy's linear algebra is loaded.
    """
    for name in ("scipy.linalg", "ultr_core.experiments", "vl_convert"):
        importlib.import_module(name)
    import threadpoolctl

    from ultr_core.figures import warm_up

    warm_up()
    threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    gc.collect()
    gc.freeze()


def blas_threads() -> int:
    """The largest number of threads that a loaded BLAS library may use."""
    import threadpoolctl

    pools = threadpoolctl.threadpool_info()
    return max((p["num_threads"] for p in pools if p["user_api"] == "blas"), default=1)


def versions() -> str:
    """Versions that results depend on, for a report."""
    names = ("numpy", "scipy", "streamlit")
    found = [f"{name} {importlib.metadata.version(name)}" for name in names]
    return ", ".join([f"Python {platform.python_version()}", *found])
