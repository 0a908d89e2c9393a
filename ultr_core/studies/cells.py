"""The smallest piece of a study: one method, trained on one click log and tested."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import rank_documents
from ultr_core.curve_values import Values, curve_text
from ultr_core.lab.logs import Logs, simulate_logs
from ultr_core.lab.methods import (
    LEARNER_METHODS,
    LOG_FIELDS,
    METHODS,
    WEIGHTED_FIELDS,
    WORLD_FIELDS,
    Method,
    stage,
)
from ultr_core.lab.training import train_method
from ultr_core.lab.trees import TREE_METHODS, Grown, grow, grow_on_labels
from ultr_core.lab.world import World
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.trees import LABEL, TREES, has_lightgbm
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.studies.losses import test_losses
from ultr_core.studies.skip_above import agreement_with, train_skip_above
from ultr_core.words import number_text


def peak_memory_mib() -> float:
    """Largest resident memory of this process so far, in MiB; 0 if the system reports none."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (1024 * 1024 if sys.platform == "darwin" else 1024)


SKIP_ABOVE = "skip-above"


@dataclass(frozen=True)
class Elsewhere(Method):
    """A method in a world that differs from that of its study: another logger, another belief.

    changes: names and values of the settings that differ.
    """

    changes: tuple[tuple[str, Any], ...] = ()


def _elsewhere(key: str, method: str, label: str, words: str, **changes: Any) -> Elsewhere:
    """The method of the comparison with that key, under another key and with these settings."""
    known = {each.name: getattr(METHODS[method], each.name) for each in fields(Method)}
    named = {"key": key, "label": label, "description": words}
    return Elsewhere(**{**known, **named}, changes=tuple(changes.items()))


_GROWN_LIKE = 10  # fits of the ranking SVM that trees take as long as


@dataclass(frozen=True)
class OfTrees(Method):
    """A method that grows trees, for which it needs LightGBM.

    grown: on the clicks of a draw, or without clicks.
    """

    grown: Callable[[World, Settings, int, Logs | None], Grown] = field(kw_only=True)

    @property
    def learns_from_clicks(self) -> bool:
        """Whether it changes from one click log to the next."""
        return self.fields != WORLD_FIELDS

    @property
    def candidates(self) -> int:
        """As many fits of the ranking SVM as take as long."""
        return _GROWN_LIKE * max(super().candidates, 1)


def _with_trees(key: str) -> OfTrees:
    """The method of the comparison whose estimator feeds the trees with that key."""
    fed = METHODS[TREE_METHODS[key]]
    known = {each.name: getattr(fed, each.name) for each in fields(Method)}
    named = {
        "key": key,
        "label": f"{fed.label}, {TREES}",
        "description": f"{fed.label}, with regression trees instead of a linear ranker.",
    }

    def grown(world: World, settings: Settings, draw: int, logs: Logs | None) -> Grown:
        assert logs is not None
        return grow(world, settings, draw, key, logs)

    return OfTrees(**{**known, **named}, grown=grown)


SKYLINE_OF_TREES = OfTrees(
    "skyline-trees",
    "Skyline of trees",
    "Regression trees grown on all training labels.",
    WORLD_FIELDS,
    grown=lambda world, *_: grow_on_labels(world),
)


STUDY_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        **METHODS,
        **LEARNER_METHODS,
        **{key: _with_trees(key) for key in ("naive-trees", "propensity-trees")},
        SKYLINE_OF_TREES.key: SKYLINE_OF_TREES,
        SKIP_ABOVE: Method(
            SKIP_ABOVE,
            "Skip-above preferences",
            "Ranking SVM on pairs of a clicked document and a document skipped above it.",
            LOG_FIELDS,
            trainer=train_skip_above,
        ),
        **{
            method.key: method
            for method in (
                _elsewhere(
                    "too-steep", "propensity", "Weighted, η′ = 1.5",
                    "Propensity-weighted, with propensities that fall too fast.", assumed_eta=1.5,
                ),
                _elsewhere(
                    "too-flat", "propensity", "Weighted, η′ = 0.5",
                    "Propensity-weighted, with propensities that fall too slowly.",
                    assumed_eta=0.5,
                ),
                _elsewhere(
                    "replace-last", "policy-aware", "Policy-aware (last replaced)",
                    "Policy-aware, trained on clicks from lists whose last document is random.",
                    logger="replace-last",
                ),
                _elsewhere(
                    "plackett-luce", "policy-aware", "Policy-aware (Plackett-Luce)",
                    "Policy-aware, trained on clicks from lists drawn from production's scores "
                    "with noise.",
                    logger="plackett-luce",
                ),
                _elsewhere(
                    "mixture", "policy-aware-known", "Policy-aware (mixture, known ρ)",
                    "Policy-aware, trained on clicks from production's list in 80% of the "
                    "presentations and from a random order in the rest, with the exact ρ of this "
                    "mixture.",
                    logger="mixture",
                ),
            )
        },
    }
)  # fmt: skip
"""The methods of the comparison, some with other learners, the baseline of the paper's
introduction, and variants."""


def learner_label(method: str) -> str:
    """What readers call the learner of a method of a study."""
    found = STUDY_METHODS[method]
    return LABEL if isinstance(found, OfTrees) else found.learner.label


def can_run(method: str) -> bool:
    """Whether the packages that a method needs are installed."""
    return not isinstance(STUDY_METHODS[method], OfTrees) or has_lightgbm()


def settings_of(method: str, settings: Settings) -> Settings:
    """The settings under which a method of a study is trained: those of the study, or its own."""
    found = STUDY_METHODS[method]
    return settings.with_values(**dict(found.changes)) if isinstance(found, Elsewhere) else settings


@dataclass(frozen=True)
class Cell:
    """One method on one click log; the settings are reduced to those that the method uses.

    The result is a function of the cell and the corpus alone: random streams are those of
    ``settings.seed`` and ``draw``, shared by all methods, so that all methods see the same clicks.
    """

    method: str
    settings: Settings
    draw: int

    @property
    def key(self) -> str:
        """A stable name: the method, every setting that matters, and the draw."""
        return f"{key_of_log(self.method, self.settings)} draw={self.draw}"

    @property
    def weight(self) -> float:
        """Rough cost of the cell in units of one fit, for estimating the time left."""
        return STUDY_METHODS[self.method].candidates or 0.1


_ALWAYS = (
    "corpus_seed", "relevant_grade", "eta", "eps_minus", "eps_plus", "clicks", "seed",
    "assumed_eta",
)  # fmt: skip
"""Settings that every key has; a later one is there off its default, so that old results stay."""


def key_of_log(method: str, settings: Settings) -> str:
    """The part of a cell's key that all draws share."""
    fields, settings = STUDY_METHODS[method].fields, settings_of(method, settings)
    numbers = [
        f"{name}={number_text(value)}"
        for name in fields
        if name in PARAMETERS
        and ((value := settings.numbers[name]) != PARAMETERS[name].default or name in _ALWAYS)
    ]
    curves = [
        f"{name}={curve_name(values)}" for name, values in settings.curves.items() if name in fields
    ]
    words = [method, *numbers, *curves]
    words += [f"{name}={value}" for name, value in settings.further.items() if name in fields]
    return " ".join(words)


def curve_name(values: Values) -> str:
    """A short unique name for a curve, for a cell's key."""
    return hashlib.blake2b(curve_text(values).encode(), digest_size=8).hexdigest()


def cell_of(method: str, settings: Settings, draw: int) -> Cell:
    """The cell of a method; a method that does not learn from clicks has only draw 0."""
    found = STUDY_METHODS[method]
    own = stage(settings_of(method, settings), found.fields)
    return Cell(method, own, draw if found.learns_from_clicks else 0)


@dataclass(frozen=True)
class CellResult:
    """The result of a cell, as plain numbers.

    Attributes:
        key: the cell's key.
        losses: test loss by key of ``LOSSES``.
        agreement: mean Kendall's tau with the production ranking on the test queries.
        cost, clip, gap: C (for trees, their number) and tau chosen by validation, and the relative
            duality gap of the fit.
        clicks, query_draws: size of the training log.
        noise_share: share of the log's clicks that are on irrelevant documents.
        seconds, peak_mib: time and memory used; the only values that differ from run to run.
    """

    key: str
    losses: Mapping[str, float]
    agreement: float
    cost: float
    clip: float
    gap: float
    clicks: int
    query_draws: int
    noise_share: float
    seconds: float
    peak_mib: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a line of JSON."""
        return asdict(self)


def groups_of(cells: Iterable[Cell]) -> list[tuple[Cell, ...]]:
    """Cells that share a click log and assumed propensities, in order, without repetition.

    A group is what one worker runs at a time: the log is simulated once for all its methods.
    """
    groups: dict[tuple[Settings | None, int], dict[str, Cell]] = {}
    for cell in cells:
        fixed = not STUDY_METHODS[cell.method].learns_from_clicks
        shared = None if fixed else stage(cell.settings, WEIGHTED_FIELDS)
        groups.setdefault((shared, cell.draw), {})[cell.key] = cell
    return [tuple(group.values()) for group in groups.values()]


def run_group(world: World, cells: Sequence[Cell]) -> Iterator[CellResult]:
    """Run cells of one group, one after the other, with one BLAS thread.

    Raises:
        InputError: the clicks of a cell give no pair to learn from.
    """
    logs: Logs | None = None
    for cell in cells:
        started = time.perf_counter()
        with one_blas_thread():
            if logs is None and STUDY_METHODS[cell.method].learns_from_clicks:
                logs = simulate_logs(world, cell.settings, cell.draw)
            result = _run(world, cell, logs, started)
        yield result


@dataclass(frozen=True, eq=False)
class _Fit:
    scores: NDArray[np.float64]
    cost: float
    clip: float
    gap: float


def _run(world: World, cell: Cell, logs: Logs | None, started: float) -> CellResult:
    fit = _fit(world, cell, logs)
    test = world.splits.test
    ranks = rank_documents(fit.scores, test.query_offsets)
    presented = rank_documents(world.production.ranker.score(test), test.query_offsets)
    log = None if logs is None else logs.train
    on_irrelevant = (
        0 if log is None else int(log.clicks[~world.train.relevance[log.document]].sum())
    )
    return CellResult(
        cell.key,
        test_losses(fit.scores, world.test_relevance, test.query_offsets),
        agreement_with(ranks, presented, test.query_offsets),
        fit.cost,
        fit.clip,
        fit.gap,
        0 if log is None else log.total_clicks,
        0 if log is None else log.query_draws,
        0.0 if log is None else on_irrelevant / max(log.total_clicks, 1),
        time.perf_counter() - started,
        peak_memory_mib(),
    )


def _fit(world: World, cell: Cell, logs: Logs | None) -> _Fit:
    method, test = STUDY_METHODS[cell.method], world.splits.test
    if isinstance(method, OfTrees):
        grown = method.grown(world, cell.settings, cell.draw, logs)
        return _Fit(grown.ranker.score(test), grown.ranker.trees, grown.clip, 0.0)
    if method.ranker is not None:
        ranker = method.ranker(world)
        return _Fit(ranker.score(test), ranker.cost, 0.0, ranker.certificate.gap)
    trained = train_method(world, cell.settings, cell.draw, method, logs)
    scores = np.asarray(test.features @ trained.coefficients, dtype=np.float64)
    return _Fit(scores, trained.cost, trained.clip, trained.gap)
