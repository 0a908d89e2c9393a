"""From finished cells to curves with intervals, complete or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ultr_core.errors import InputError
from ultr_core.lab.methods import WORLD_FIELDS
from ultr_core.risk import Estimate, interval_over_draws
from ultr_core.studies.cells import STUDY_METHODS, CellResult, key_of_log
from ultr_core.studies.grids import Plan, Point
from ultr_core.studies.losses import Loss
from ultr_core.studies.source import WorldDescription

if TYPE_CHECKING:
    import pandas as pd

FIXED_METHODS = tuple(key for key, method in STUDY_METHODS.items() if method.fields == WORLD_FIELDS)
"""Methods that do not learn from clicks: levels, not curves."""


@dataclass(frozen=True, eq=False)
class StudyResult:
    """A plan with its finished cells, measured by one loss.

    A point uses the finished draws of a method; ``complete`` says whether all are finished.
    """

    plan: Plan
    loss: Loss
    done: Mapping[str, CellResult]
    world: WorldDescription

    @property
    def complete(self) -> bool:
        """Whether every cell is finished."""
        return all(cell.key in self.done for cell in self.plan.cells)

    @cached_property
    def _found(self) -> Mapping[tuple[str, Point], Mapping[int, CellResult]]:
        """Finished cells by method, place and draw."""
        found: dict[tuple[str, Point], dict[int, CellResult]] = {}
        for method in self.plan.study.methods:
            fixed = method in FIXED_METHODS
            for point in self.plan.points:
                log = key_of_log(method, point.settings)
                draws = found.setdefault((method, point), {})
                for draw in range(self.plan.base.draws):
                    result = self.done.get(f"{log} draw={0 if fixed else draw}")
                    if result is not None:
                        draws[draw] = result
        return found

    def result(self, method: str, point: Point, draw: int) -> CellResult | None:
        """The result of one cell, if it is finished."""
        return self._found[method, point].get(draw)

    def losses(self, method: str, point: Point) -> dict[int, float]:
        """Loss of each finished draw; a fixed method has the same loss in every draw."""
        return {
            draw: result.losses[self.loss.key]
            for draw, result in self._found[method, point].items()
        }

    def estimate(self, method: str, point: Point) -> Estimate | None:
        """Mean loss at a point with its interval over draws; None before the first draw."""
        values = list(self.losses(method, point).values())
        if not values:
            return None
        return interval_over_draws(values[:1] if method in FIXED_METHODS else values)

    def level(self, method: str) -> float | None:
        """Loss of a method that does not learn from clicks."""
        values = self.losses(method, self.plan.points[0])
        return next(iter(values.values()), None)

    def gap(self) -> float | None:
        """How much worse production is than the skyline: the gap that learning can close."""
        production, skyline = self.level("production"), self.level("skyline")
        if production is None or skyline is None:
            return None
        return self.loss.excess(production, skyline)

    def excess(self, one: tuple[str, Point], other: tuple[str, Point]) -> dict[int, float]:
        """How much worse one (method, point) is than another on the same users, by draw."""
        first, second = self.losses(*one), self.losses(*other)
        return {d: self.loss.excess(first[d], second[d]) for d in first if d in second}

    def point(self, x: float, series: float | None = None) -> Point:
        """The point of the grid with these values.

        Raises:
            InputError: the grid has no such point.
        """
        for point in self.plan.points:
            if point.x == x and point.series == series:
                return point
        raise InputError(f"The study {self.plan.study.name!r} has no point {x:g}, {series}.")

    def noise_share(self, point: Point) -> float | None:
        """Mean share of training clicks that are on irrelevant documents, at a point."""
        shares = [result.noise_share for result in self._found["naive", point].values()]
        return float(np.mean(shares)) if shares else None

    def curve_table(self) -> pd.DataFrame:
        """One row per method and point: mean loss, its 95% interval, share of noisy clicks.

        ``low`` and ``high`` are NaN (empty in a file) if there is only one draw, and for methods
        that do not learn from clicks.
        """
        import pandas as pd  # for pictures and files; a study can be run and judged without it

        rows = []
        for method in self.plan.study.methods:
            for point in self.plan.points:
                estimate = self.estimate(method, point)
                if estimate is None:
                    continue
                low, high = estimate.ends
                rows.append(
                    {
                        "study": self.plan.study.name,
                        "method": method,
                        "label": STUDY_METHODS[method].label,
                        self.plan.study.x_fields[0]: point.x,
                        **self._series_column(point),
                        "loss": self.loss.key,
                        "value": estimate.value,
                        "low": low,
                        "high": high,
                        "draws": estimate.n,
                        "noise_share": self.noise_share(point),
                    }
                )
        return pd.DataFrame(rows)

    def cell_table(self) -> pd.DataFrame:
        """One row per cell in grid order, with every loss; nothing in it depends on the run."""
        import pandas as pd

        rows = []
        for point in self.plan.points:
            for method in self.plan.study.methods:
                for draw in range(self.plan.base.draws):
                    result = self.result(method, point, draw)
                    if result is not None:
                        rows.append(self._cell_row(method, point, draw, result))
        return pd.DataFrame(rows)

    def _cell_row(
        self, method: str, point: Point, draw: int, result: CellResult
    ) -> dict[str, object]:
        return {
            "study": self.plan.study.name,
            "method": method,
            self.plan.study.x_fields[0]: point.x,
            **self._series_column(point),
            "draw": draw,
            **{key.replace("-", "_"): value for key, value in result.losses.items()},
            "agreement_with_production": result.agreement,
            "cost": result.cost,
            "clip": result.clip,
            "gap": result.gap,
            "training_clicks": result.clicks,
            "query_draws": result.query_draws,
            "noise_share": result.noise_share,
        }

    def _series_column(self, point: Point) -> dict[str, float]:
        field = self.plan.study.series_field
        return {} if field is None or point.series is None else {field: point.series}
