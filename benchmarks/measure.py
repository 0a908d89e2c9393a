"""Interleaved timing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

QUICK_REPEATS = 5


@dataclass
class Timing:
    """CPU and wall seconds of each round, and what the last round returned."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def seconds(self) -> float:
        """Median CPU seconds."""
        return statistics.median(self.cpu)

    @property
    def wall_seconds(self) -> float:
        """Median wall seconds."""
        return statistics.median(self.wall)


def interleaved(entrants: dict[str, Callable[[], Any]], rounds: int) -> dict[str, Timing]:
    """Run all entrants in turn, ``rounds`` times, after an untimed round of the quick entrants.

    If there are slow entrants, each quick entrant ("ours") runs several times per round, so that
    its median does not come from a single moment.
    """
    repeats = 1 if all(name.startswith("ours") for name in entrants) else QUICK_REPEATS
    timings = {name: Timing() for name in entrants}
    for name, run in entrants.items():
        if name.startswith("ours"):
            run()
    for _ in range(rounds):
        for name, run in entrants.items():
            for _ in range(repeats if name.startswith("ours") else 1):
                cpu, wall = time.process_time(), time.perf_counter()
                timings[name].result = run()
                timings[name].cpu.append(time.process_time() - cpu)
                timings[name].wall.append(time.perf_counter() - wall)
    return timings
