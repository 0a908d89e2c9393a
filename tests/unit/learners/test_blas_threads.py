"""One BLAS thread during fits, whichever Python thread they run in."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
import threadpoolctl

from ultr_core.learners.blas_threads import blas_threads, one_blas_thread


@pytest.fixture
def two_threads(monkeypatch):
    """A process in which BLAS may use two threads and this thread has just said so."""
    # Pages that ran in this process before have limited BLAS for good.
    monkeypatch.setattr("ultr_core.learners.blas_threads._users", 0)
    np.linalg.solve(np.eye(2), np.ones(2))
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        if blas_threads() != 2:
            pytest.fail("BLAS cannot be given two threads here")
        yield


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_fit_in_any_thread_is_limited(two_threads):
    seen = []

    def fit():
        with one_blas_thread():
            seen.append(blas_threads())
        seen.append(blas_threads())

    fit()
    in_a_thread(fit)
    fit()
    assert seen == [1, 2, 1, 2, 1, 2]


def test_the_last_of_two_fits_restores_the_number(two_threads):
    begun, end = threading.Event(), threading.Event()
    seen = []

    def long_fit():
        with one_blas_thread():
            begun.set()
            end.wait(10)
            seen.append(blas_threads())

    thread = threading.Thread(target=long_fit)
    with one_blas_thread():
        thread.start()
        assert begun.wait(10)
    seen.append(blas_threads())
    end.set()
    thread.join()
    assert seen == [1, 1]
    assert blas_threads() == 2
