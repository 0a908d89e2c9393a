"""The binomial quantile against another library, exact arithmetic, and its order properties."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.users import binomial_quantile

CASES = 250_000


def draw(name, rng):
    """Uniform numbers, trials and probabilities of one region."""
    u = rng.random(CASES)
    if name == "clicks of a simulated world":
        n = rng.poisson(500, CASES)
        p = np.where(rng.random(CASES) < 0.1, 1.0, 0.1) / rng.integers(1, 40, CASES)
    elif name == "few trials":
        n, p = rng.integers(0, 40, CASES), rng.random(CASES)
    elif name == "some hundred trials":
        n, p = rng.integers(0, 400, CASES), rng.random(CASES)
    elif name == "variance around the change of method":
        p = rng.random(CASES) * 0.999 + 0.0005
        n = np.ceil(rng.uniform(4, 16, CASES) / (p * (1 - p))).astype(int)
    elif name == "many trials":
        n, p = rng.integers(0, 1_000_000, CASES), rng.random(CASES) ** 3
    elif name == "rare events":
        n, p = rng.integers(0, 10**9, CASES), 10 ** rng.uniform(-12, -5, CASES)
    elif name == "degenerate probabilities":
        n = rng.integers(0, 50, CASES)
        p = rng.choice([0, 1, 1e-300, 1e-17, 1 - 1e-16, 0.5], CASES)
    else:
        n, p = rng.integers(0, 3000, CASES), rng.random(CASES)
        # Closer to 1 the other library's sums lose the tail; exact arithmetic is used below.
        tail = 10 ** rng.uniform(-14, 0, CASES) * 0.999
        u = np.where(rng.random(CASES) < 0.5, tail, 1 - np.maximum(tail, 1e-8))
    return u, n, p


@pytest.mark.parametrize(
    "region",
    [
        "clicks of a simulated world",
        "few trials",
        "some hundred trials",
        "variance around the change of method",
        "many trials",
        "rare events",
        "degenerate probabilities",
        "both tails",
    ],
)
def test_equals_another_library_in_every_case(region):
    u, n, p = draw(region, np.random.default_rng(len(region)))
    ours = binomial_quantile(u, n, p)
    assert ours.dtype == np.int64
    assert np.count_nonzero(ours != stats.binom.ppf(u, n, p)) == 0


def exact_quantile(u, n, p):
    """Quantile in 60-digit arithmetic, summed in the tail where u lies."""
    with localcontext() as context:
        context.prec, context.Emin = 60, -(10**9)
        u, p = Decimal(u), Decimal(p)
        if 2 * u <= 1:
            mass, k = (1 - p) ** n, 0
            total = mass
            while total < u:
                k += 1
                mass = mass * p / (1 - p) * (n - k + 1) / k
                total += mass
            return k
        mass, k, above = p**n, n, Decimal(0)
        while k > 0 and above + mass <= 1 - u:
            above += mass
            mass = mass * (1 - p) / p * k / (n - k + 1)
            k -= 1
        return k


@pytest.mark.parametrize("tail", ["lower", "upper"])
def test_is_right_in_tails_where_double_precision_sums_are_not(tail):
    rng = np.random.default_rng(7)
    size = 600
    u = 10 ** rng.uniform(-300, -10, size) if tail == "lower" else None
    u = 1 - 10 ** rng.uniform(-15.9, -8, size) if u is None else u
    n, p = rng.integers(1, 600, size), rng.random(size)
    exact = [exact_quantile(*case) for case in zip(u.tolist(), n.tolist(), p.tolist(), strict=True)]
    assert binomial_quantile(u, n, p).tolist() == exact


uniform = st.floats(0, 1, exclude_max=True)
probability = st.floats(0, 1)
trials = st.integers(0, 5000)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(uniform, uniform, trials, trials, probability, probability)
def test_never_falls_when_an_argument_grows(u1, u2, n1, n2, p1, p2):
    low = binomial_quantile(min(u1, u2), min(n1, n2), min(p1, p2))
    corners = np.array(list(product((u1, u2), (n1, n2), (p1, p2)))).T
    counts = binomial_quantile(*corners)
    assert np.all((low <= counts) & (counts <= corners[1]))
    # One more trial brings at most one more success.
    steps = np.diff(binomial_quantile(u1, min(n1, n2) + np.arange(20), p1))
    assert np.all((steps == 0) | (steps == 1))


def test_an_even_grid_of_uniform_numbers_gives_the_probabilities():
    grid = (np.arange(200_000) + 0.5) / 200_000
    for n, p in [(5, 0.3), (40, 0.5), (300, 0.9), (2000, 0.02)]:
        counts = np.bincount(binomial_quantile(grid, n, p), minlength=n + 1)
        masses = stats.binom.pmf(np.arange(n + 1), n, p)
        assert np.abs(counts / 200_000 - masses).max() <= 1 / 200_000 + 1e-12


def test_certain_and_impossible_events_and_the_smallest_uniform_number():
    assert binomial_quantile([0.0, 0.5, 0.999], 7, 1.0).tolist() == [7, 7, 7]
    assert binomial_quantile([0.0, 0.5, 0.999], 7, 0.0).tolist() == [0, 0, 0]
    assert binomial_quantile([0.0, 0.5], 0, [0.3, 1.0]).tolist() == [0, 0]
    assert binomial_quantile(0.0, 7, 0.4) == 0
    assert binomial_quantile(np.full((2, 3), 0.5), 10, 0.5).shape == (2, 3)


@pytest.mark.parametrize(
    "arguments",
    [
        *[(1.0, 5, 0.5), (-0.1, 5, 0.5), (np.nan, 5, 0.5), (0.5, 2.5, 0.5)],
        *[(0.5, -1, 0.5), (0.5, np.inf, 0.5), (0.5, 5, 1.1), (0.5, 5, np.nan)],
    ],
)
def test_nonsense_is_refused(arguments):
    with pytest.raises(InputError):
        binomial_quantile(*arguments)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ((["a"], 1, 0.5), ("real_numbers", "text")),
        ((0.5, None, 0.5), ("real_numbers",)),
        (([0.5, 0.5], [1, 1, 1], 0.5), ("shapes",)),
    ],
)
def test_arrays_that_are_no_numbers_or_do_not_fit_are_refused(arguments, fault: tuple[object, ...]):
    with refused(*fault):
        binomial_quantile(*arguments)
