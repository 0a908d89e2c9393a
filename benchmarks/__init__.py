"""Measurements against other software. These are no tests: tests count passes.

    pip install -r requirements/benchmarks.txt
    python -m benchmarks                 # everything; about an hour
    python -m benchmarks peers loop      # some parts

Every product runs on one BLAS thread. What is compared runs interleaved in one process, times are
CPU seconds, ratios are of medians over the rounds. ``results.md`` is written by ``--write``.
"""

from __future__ import annotations

import os

# Before the first import of NumPy.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
