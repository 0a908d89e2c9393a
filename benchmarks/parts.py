"""The measurements, each a function that yields lines of a table."""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks import peers
from benchmarks.learners import learners
from benchmarks.logs import logs
from benchmarks.measure import Timing, interleaved
from benchmarks.memory import beyond_features
from benchmarks.reading import reading
from benchmarks.works import CURVE, Work, work
from ultr_core.lab import (
    build_world,
    simulate_logs,
    simulate_training_log,
    test_risks,
    train_method,
)
from ultr_core.lab.methods import LINEAR_METHODS, ClickData, Method
from ultr_core.lab.training import (
    click_data,
    final_fit,
    informed,
    usable_clips,
    weights_by,
)
from ultr_core.learners import COST_GRID, fit_path, fit_ranker, objective_value
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.selection import FINAL_TOLERANCE, PATH_TOLERANCE
from ultr_core.propensity.weights import Weights, ips_weights, naive_weights
from ultr_core.settings import Settings

KINDS = ("naive", "ips")
HEAD = "| work | what | CPU s | wall s | ratio | passes | gap or suboptimality |"


def passes(rounds: int) -> Iterator[str]:
    """Passes over the features to reach each of three gaps; the worst of all settings."""
    for name in ("small", "default", "medium"):
        for tolerance in (1e-3, 1e-4, 1e-6):
            counts = [
                fit_ranker(
                    work(name).corpus, work(name).weights(kind, n), cost=cost, tolerance=tolerance
                ).certificate.passes
                for kind in KINDS
                for n in (5_000, 45_000, 850_000)
                for cost in (1.0, 10.0, 100.0)
            ]
            yield _line(name, f"gap {tolerance:g}, 18 settings", passes=max(counts))


def against_peers(rounds: int) -> Iterator[str]:
    """scikit-learn on explicit pairs, including forming their differences, against ours."""
    for name, clicks in (
        ("small", 5_000),
        ("small", 45_000),
        ("small", 850_000),
        ("medium", 5_000),
        ("default", 45_000),
        ("default", 850_000),
    ):
        for kind in KINDS:
            yield from _against(work(name), kind, clicks, rounds)


def _against(data: Work, kind: str, clicks: int, rounds: int) -> Iterator[str]:
    corpus, weights, cost = data.corpus, data.weights(kind, clicks), 10.0
    best = fit_ranker(corpus, weights, cost=cost, tolerance=1e-7).certificate.dual
    entrants: dict[str, Callable[[], object]] = {
        f"ours, gap {tolerance:g}": _fit(data, weights, cost, tolerance)
        for tolerance in (1e-3, 1e-4, 1e-5)
    }
    entrants["LinearSVC"] = lambda: peers.linear_svc(corpus, weights, cost)
    entrants["SGDClassifier"] = lambda: peers.sgd(corpus, weights, cost)
    timings = interleaved(entrants, rounds)
    for entrant, timing in timings.items():
        title = f"{data.name}, {clicks:,} clicks, {kind}"
        if entrant.startswith("ours"):
            found = timing.result.certificate
            yield _line(title, entrant, timing, passes=found.passes, gap=found.gap)
        else:
            value = objective_value(corpus, weights, cost, timing.result)
            reference = "1e-05" if entrant == "LinearSVC" else "0.0001"
            ratio = timing.seconds / timings[f"ours, gap {reference}"].seconds
            what = f"{entrant}, against ours at {float(reference):g}"
            yield _line(title, what, timing, ratio=ratio, gap=value / best - 1)


def exact(rounds: int) -> Iterator[str]:
    """An interior-point solver on every pair of a small log."""
    data = work("small")
    weights = data.weights("ips", 5_000)
    run = _fit(data, weights, 10.0, 1e-5)
    slow = {"Clarabel": lambda: peers.exact_program(data.corpus, weights, 10.0)}
    ours, other = interleaved({"ours": run, **slow}, 1).values()
    pairs = int(((weights.values > 0) * np.repeat(data.corpus.sizes - 1, data.corpus.sizes)).sum())
    title = f"small, {pairs:,} pairs, ips"
    found = ours.result.certificate
    yield _line(title, "ours, gap 1e-05", ours, passes=found.passes, gap=found.gap)
    yield _line(title, "Clarabel", other, ratio=other.seconds / ours.seconds)


def trees(rounds: int) -> Iterator[str]:
    """LightGBM lambdarank with positions on the same clicks; another model, but the same wait."""
    data = work("small")
    weights = data.weights("ips", 45_000)
    slow = {"LightGBM": lambda: peers.lightgbm_ranker(data, 45_000)}
    ours, other = interleaved({"ours": _fit(data, weights, 10.0, 1e-3), **slow}, 1).values()
    title = "small, 45,000 clicks, ips"
    yield _line(title, "ours, gap 0.001", ours, passes=ours.result.certificate.passes)
    yield _line(title, "LightGBM, 100 trees", other, ratio=other.seconds / ours.seconds)


def grid(rounds: int) -> Iterator[str]:
    """Nine values of C for both methods against single fits of the hardest value."""
    for data in (work("small"), work("default")):
        for clicks in (45_000, 850_000):
            both = [data.weights(kind, clicks) for kind in KINDS]
            single = {
                f"ours, {kind}, gap {gap:g}": _fit(data, weights, 100.0, gap)
                for kind, weights in zip(KINDS, both, strict=True)
                for gap in (PATH_TOLERANCE, FINAL_TOLERANCE)
            }
            timings = interleaved(
                {"ours, grid of both": partial(_grids, data, both), **single}, 2 * rounds + 1
            )
            whole = timings["ours, grid of both"]
            for gap in (PATH_TOLERANCE, FINAL_TOLERANCE):
                hardest = max(timings[f"ours, {kind}, gap {gap:g}"].seconds for kind in KINDS)
                what = f"nine C, both methods, in hardest fits to a gap of {gap:g}"
                ratio = whole.seconds / hardest
                yield _line(f"{data.name}, {clicks:,} clicks", what, whole, ratio=ratio)


def _grids(data: Work, both: Sequence[Weights]) -> None:
    for weights in both:
        fit_path(data.corpus, weights, COST_GRID, tolerance=PATH_TOLERANCE)


def loop(rounds: int) -> Iterator[str]:
    """The cost of moving a slider: clicks, two fits (naive and weighted), tests of three rankers.

    Every round has a different bias severity, so that nothing about the log is cached. Both fits
    start from the production ranker, which exists before any click. Validation clicks are simulated
    only if they choose C.
    """
    world = build_world(Settings())
    etas = itertools.cycle(0.9 + 0.01 * step for step in range(21))

    def once(clicks: int, chosen: bool) -> None:
        settings = Settings(clicks=clicks, eta=round(next(etas), 2))
        logging = world.production.ranker
        rankers = [logging]
        if chosen:
            logs = simulate_logs(world, settings)
            for method in ("naive", "propensity"):
                train_method(world, settings, 0, method, logs)
        else:
            log = simulate_training_log(world, settings)
            for weights in (naive_weights(log), ips_weights(log, CURVE)):
                ranker = fit_ranker(
                    world.splits.train, weights, cost=10.0, tolerance=2e-3, initial=logging
                )
                rankers.append(ranker)
        test_risks(world, rankers)

    entrants: dict[str, Callable[[], object]] = {
        f"ours, {clicks:,} clicks{', C from nine' if chosen else ''}": (
            partial(once, clicks, chosen)
        )
        for clicks in (45_000, 850_000)
        for chosen in (False, True)
    }
    for name, timing in interleaved(entrants, 4 * rounds + 3).items():
        yield _line("interactive loop, default", name.removeprefix("ours, "), timing)


def doubly_robust(rounds: int) -> Iterator[str]:
    """One fit at C = 10 by doubly robust, with its relevance, against one by IPS, five logs."""
    world = build_world(Settings())
    for clicks in (3_000, 9_000, 45_000, 170_000):
        entrants: dict[str, Callable[[], object]] = {}
        for seed in range(5):
            settings = Settings(clicks=clicks, seed=seed)
            logs = simulate_logs(world, settings)
            for key in ("propensity", "doubly-robust"):
                method = LINEAR_METHODS[key]
                data = click_data(world, settings, 0, method, logs)
                entrants[f"ours, {key}, {seed}"] = partial(_fit_once, method, data)
        timings = interleaved(entrants, 2 * rounds + 1)
        ips, robust = (
            [timing for name, timing in timings.items() if name.startswith(f"ours, {key}")]
            for key in ("propensity", "doubly-robust")
        )
        ratio = statistics.median(b.seconds / a.seconds for a, b in zip(ips, robust, strict=True))
        slowest = max(robust, key=lambda timing: timing.seconds)
        title = f"default, {clicks:,} clicks"
        yield _line(title, "doubly robust fit, the slowest of five logs", slowest)
        yield _line(title, "doubly robust fit, relative to IPS, median of five logs", ratio=ratio)


@one_blas_thread()
def _fit_once(method: Method, data: ClickData) -> None:
    way = informed(method, data)
    estimator = way.method.estimator
    assert estimator is not None
    clip = usable_clips(estimator, data.log, way.data.belief)[0]
    weights = weights_by(estimator, data.log, replace(way.data.belief, clip=clip))
    final_fit(method.learner, data.corpus, weights, cost=10.0)


def yahoo(rounds: int) -> Iterator[str]:
    """The paper's size, in a separate process."""
    command = [sys.executable, "-m", "benchmarks", "yahoo-here", "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    yield from (line for line in done.stdout.splitlines() if line.startswith("| yahoo"))


def yahoo_here(rounds: int) -> Iterator[str]:
    """170K and 850K clicks at C = 10, in units of one product X w."""
    data = work("yahoo")
    features = np.asarray(data.corpus.features)
    w = np.random.default_rng(0).normal(size=features.shape[1]).astype(np.float32)
    many = {n: data.weights("ips", n) for n in (170_000, 850_000)}
    timings = interleaved(
        {
            "ours, product": lambda: features @ w,
            **{f"ours, {n:,} clicks": _fit(data, v, 10.0, 1e-3) for n, v in many.items()},
        },
        2 * rounds + 1,
    )
    product = timings.pop("ours, product")
    yield _line("yahoo", "one product X w", product)
    for name, timing in timings.items():
        found = timing.result.certificate
        ratio = timing.seconds / product.seconds
        what = f"{name.removeprefix('ours, ')}, C = 10, gap 0.001, in products"
        yield _line("yahoo", what, timing, ratio=ratio, passes=found.passes, gap=found.gap)
    few, full = timings.values()
    yield _line("yahoo", "850,000 relative to 170,000 clicks", ratio=full.seconds / few.seconds)
    share = beyond_features(data.corpus, many[850_000], 10.0, 1e-3)
    size = f"{features.nbytes / 1e6:.0f} MB"
    what = f"peak memory of a fit beyond the features, relative to their {size}"
    yield _line("yahoo", what, ratio=share)


def _fit(data: Work, weights: Weights, cost: float, tolerance: float) -> Callable[[], object]:
    return lambda: fit_ranker(data.corpus, weights, cost=cost, tolerance=tolerance)


def _line(
    title: str,
    what: str,
    timing: Timing | None = None,
    *,
    ratio: float | None = None,
    passes: int | None = None,
    gap: float | None = None,
) -> str:
    cells = [
        title,
        what,
        f"{timing.seconds:.3f}" if timing else "",
        f"{timing.wall_seconds:.3f}" if timing else "",
        f"{ratio:.2f}" if ratio is not None else "",
        str(passes) if passes is not None else "",
        f"{gap:.1e}" if gap is not None else "",
    ]
    return "| " + " | ".join(cells) + " |"


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "passes": passes,
    "peers": against_peers,
    "exact": exact,
    "trees": trees,
    "learners": learners,
    "grid": grid,
    "loop": loop,
    "doubly-robust": doubly_robust,
    "yahoo": yahoo,
    "reading": reading,
    "logs": logs,
}
