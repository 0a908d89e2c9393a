"""Where a lesson gets its numbers: the stages of the core, remembered by whoever provides them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from ultr_core.corpus import CorpusSplits
from ultr_core.experiments import (
    LOG_FIELDS,
    METHODS,
    WEIGHTED_FIELDS,
    WORLD_FIELDS,
    Comparison,
    Logs,
    RankerFamily,
    RiskPicture,
    TrainedMethod,
    World,
    build_world,
    ranker_family,
    risk_picture,
    simulate_logs,
    stage,
    summarise,
    train_method,
    user_model,
)
from ultr_core.experiments.live import LiveDesign, LiveResult, run_live
from ultr_core.experiments.propensity_study import (
    MethodResult,
    SwapDesign,
    estimate_by,
    second_ranker,
)
from ultr_core.settings import Settings

T = TypeVar("T")


class Source(Protocol):
    """The stages that lessons read; each gives what the pages of the app give."""

    def world(self, settings: Settings) -> World:
        """Corpus, production ranker and skyline."""

    def logs(self, settings: Settings, draw: int) -> Logs:
        """Simulated clicks of one draw."""

    def picture(self, settings: Settings) -> RiskPicture:
        """Empirical against true risk, from the first log."""

    def trained(self, settings: Settings, draw: int, method: str) -> TrainedMethod:
        """One method trained on one draw and tested."""

    def swaps(self, settings: Settings, design: SwapDesign, method: str) -> MethodResult:
        """What a propensity estimator makes of its traffic."""

    def live(self, settings: Settings, design: LiveDesign) -> LiveResult:
        """The live experiment."""


class DirectSource:
    """A source that computes each stage once and remembers it for its own lifetime.

    ``splits`` is the corpus, None the built-in one. Raises InputError where a stage does.
    """

    def __init__(self, splits: CorpusSplits | None = None) -> None:
        self._splits = splits
        self._known: dict[Hashable, Any] = {}

    def world(self, settings: Settings) -> World:
        """Corpus, production ranker and skyline."""
        key = stage(settings, WORLD_FIELDS)
        return self._once(("world", key), lambda: build_world(key, self._splits))

    def logs(self, settings: Settings, draw: int) -> Logs:
        """Simulated clicks of one draw."""
        key = stage(settings, LOG_FIELDS)
        return self._once(
            ("logs", key, draw), lambda: simulate_logs(self.world(settings), key, draw)
        )

    def picture(self, settings: Settings) -> RiskPicture:
        """Empirical against true risk, from the first log."""
        key = stage(settings, WEIGHTED_FIELDS)

        def draw() -> RiskPicture:
            return risk_picture(
                self.world(key), self._family(key), key, self.logs(settings, 0).train
            )

        return self._once(("picture", key), draw)

    def trained(self, settings: Settings, draw: int, method: str) -> TrainedMethod:
        """One method trained on one draw and tested."""
        key = stage(settings, METHODS[method].fields)
        return self._once(
            ("trained", key, draw, method),
            lambda: train_method(self.world(key), key, draw, method, self.logs(settings, draw)),
        )

    def swaps(self, settings: Settings, design: SwapDesign, method: str) -> MethodResult:
        """What a propensity estimator makes of its traffic."""

        def estimate() -> MethodResult:
            world = self.world(settings)
            other = second_ranker(world, settings)
            return estimate_by(method, world, user_model(settings), design, other, settings.seed)

        return self._once(("swaps", settings, design, method), estimate)

    def live(self, settings: Settings, design: LiveDesign) -> LiveResult:
        """The live experiment."""
        key = stage(settings, LOG_FIELDS)
        return self._once(("live", key, design), lambda: run_live(self.world(key), key, design))

    def _family(self, settings: Settings) -> RankerFamily:
        key = stage(settings, WORLD_FIELDS)
        return self._once(("family", key), lambda: ranker_family(self.world(key)))

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found


def comparison_of(
    source: Source, settings: Settings, methods: tuple[str, ...] = ("naive", "propensity")
) -> Comparison:
    """The comparison of rankers on all draws of ``settings``, of these methods only."""
    return summarise(
        source.world(settings),
        settings,
        {m: [source.trained(settings, draw, m) for draw in range(settings.draws)] for m in methods},
    )
