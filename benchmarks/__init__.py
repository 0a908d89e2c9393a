"""Measurements against other software. They are not tests; the tests count passes instead.

    pip install -r requirements/benchmarks.txt
    python -m benchmarks                 # everything; about an hour
    python -m benchmarks peers loop      # some parts

Every product runs on one BLAS thread. Products that are compared run interleaved in one process;
times are CPU seconds, and ratios are ratios of medians over the rounds. ``--write`` writes
``results.md``.
"""

from __future__ import annotations

import os

# Before the first import of NumPy.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
