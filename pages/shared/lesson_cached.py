"""The stages that lessons read, from the memories of the normal pages."""

from __future__ import annotations

from pages.shared import cached, propensity_cached
from pages.shared.slots import Slot
from ultr_core.experiments import METHODS, Logs, RiskPicture, TrainedMethod, World
from ultr_core.experiments.live import LiveDesign, LiveResult
from ultr_core.experiments.propensity_study import MethodResult, SwapDesign
from ultr_core.export.page_links import POSITION
from ultr_core.settings import Settings


class CachedSource:
    """A source of lessons: the same cached stages, and so the same numbers, as every page.

    ``waiting`` is the place that says what is about to be computed; each message to the page is
    also a point at which a newer request of the reader takes over.
    """

    def __init__(self, corpus: str | None, waiting: Slot) -> None:
        self._corpus = corpus
        self._waiting = waiting

    def world(self, settings: Settings) -> World:
        """Corpus, production ranker and skyline."""
        return cached.world(self._corpus, settings)

    def logs(self, settings: Settings, draw: int) -> Logs:
        """Simulated clicks of one draw."""
        return cached.logs(self._corpus, settings, draw)

    def picture(self, settings: Settings) -> RiskPicture:
        """Empirical against true risk, from the first log."""
        self._tell("Sixty rankers are judged by clicks …")
        return cached.picture(self._corpus, settings)

    def trained(self, settings: Settings, draw: int, method: str) -> TrainedMethod:
        """One method trained on one draw and tested."""
        self._tell(
            f"Users click, log {draw + 1} of {settings.draws}; the ranker "
            f"“{METHODS[method].label}” learns …"
        )
        return cached.trained(self._corpus, settings, draw, method)

    def swaps(self, settings: Settings, design: SwapDesign, method: str) -> MethodResult:
        """What a propensity estimator makes of its traffic."""
        self._tell(f"Users see {design.sessions:,} lists …")
        return propensity_cached.method_result(self._corpus, settings, POSITION, design, method)

    def live(self, settings: Settings, design: LiveDesign) -> LiveResult:
        """The live experiment."""
        self._tell("Three weeks of clicks, a week of swaps, two contests …")
        return propensity_cached.live(self._corpus, settings, design)

    def _tell(self, words: str) -> None:
        self._waiting.place().markdown(f":shimmer[{words}]")
