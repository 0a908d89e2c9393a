"""Memory of a fit, measured in a separate process that loads the features before the fit."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ultr_core.corpus import Corpus
from ultr_core.learners import fit_ranker
from ultr_core.propensity.weights import Weights


def beyond_features(corpus: Corpus, weights: Weights, cost: float, tolerance: float) -> float:
    """Peak resident memory that a fit adds, as a multiple of the size of its dense features."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in (
            ("features", corpus.features),
            ("offsets", corpus.query_offsets),
            ("values", weights.values),
        ):
            np.save(Path(folder) / f"{name}.npy", np.asarray(array))
        numbers = [repr(x) for x in (weights.clicks, cost, tolerance)]
        command = [sys.executable, "-m", "benchmarks.memory", folder, *numbers]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _measure(folder: Path, clicks: float, cost: float, tolerance: float) -> float:
    features, offsets, values = (
        np.load(folder / f"{name}.npy") for name in ("features", "offsets", "values")
    )
    corpus = Corpus(features, np.zeros(len(features), np.int16), offsets)
    few = corpus.subset(np.arange(2))
    # A small fit first: the libraries it loads are no memory of the large one.
    fit_ranker(few, Weights(np.ones(few.n_documents), few.n_documents), cost=1.0)
    before = _kilobytes("VmRSS")
    fit_ranker(corpus, Weights(values, clicks), cost=cost, tolerance=tolerance)
    return float(1024 * (_kilobytes("VmHWM") - before) / features.nbytes)


def _kilobytes(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    if found is None:
        raise SystemExit("Memory is measured from /proc/self/status, which only Linux has.")
    return int(found[1])


if __name__ == "__main__":
    print(_measure(Path(sys.argv[1]), *(float(given) for given in sys.argv[2:])))
