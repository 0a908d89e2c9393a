"""The paper's four figures, two maps and a later curve, as grids of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from ultr_core.curve_values import CURVES
from ultr_core.learners.trees import TREES
from ultr_core.settings import Settings
from ultr_core.studies.cells import SKIP_ABOVE, SKYLINE_OF_TREES, Cell, can_run, cell_of

GRID_VERSION = 2
"""Raised whenever the meaning of a grid, a stage, a random stream or a choice of C changes."""

Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "paper")
Values = tuple[float, ...]


@dataclass(frozen=True)
class Study:
    """One figure: which settings vary, over which values, and which methods are compared.

    Attributes:
        name: the name on the command line and in file names.
        figure: number of the paper's figure, or None for a map or curve in this lab.
        section: number of the paper's section, if any.
        title: what the figure shows.
        x_fields: settings that take the value on the x axis; the first names the axis.
        series_field: setting that distinguishes the curves of a method, if any.
        fixed: settings that the paper fixes.
        x_values, series_values: by scale.
        methods: keys of ``STUDY_METHODS``.
        cause: what grows along the x axis, such as "More bias", if its growth harms the naive and
            the weighted ranker.
        repaired_by: methods from later work that repair what the study breaks.
        read_at: where on the x axis such a study is read and judged.
        by_learner: whether its methods are pairs of a learner and the weights it is given.
        shipped_alone: whether its cells are shipped in a file of its own.
    """

    name: str
    figure: int | None
    section: str
    title: str
    x_fields: tuple[str, ...]
    series_field: str | None
    fixed: Mapping[str, Any]
    x_values: Mapping[Scale, Values]
    series_values: Mapping[Scale, Values] = field(default_factory=dict)
    methods: tuple[str, ...] = ("production", "naive", "propensity", "skyline")
    cause: str = ""
    repaired_by: tuple[str, ...] = ()
    read_at: float = 0.0
    by_learner: bool = False
    shipped_alone: bool = False

    @property
    def is_map(self) -> bool:
        """Whether the study is a grid of two variables, shown as a map."""
        return self.figure is None and self.series_field is not None

    @property
    def shipped_in(self) -> str:
        """The part of the shipped results that contains its cells."""
        if self.figure is not None:
            return "figures"
        if self.is_map:
            return "maps"
        return "repairs" if self.repaired_by and not self.shipped_alone else self.name

    @property
    def curves(self) -> tuple[str, ...]:
        """The curves that may replace an exponent, because the study does not vary it."""
        if self.repaired_by:
            return ()
        varied = {*self.x_fields, self.series_field}
        return tuple(name for name, field in CURVES.items() if field.power not in varied)


@dataclass(frozen=True)
class Point:
    """One point of a grid: its value on the x axis, its series, and its world."""

    x: float
    series: float | None
    settings: Settings


@dataclass(frozen=True)
class Plan:
    """A study to run: its scale, its users, and the number of click logs per point.

    ``base`` gives the seed, corpus, threshold, eps+ and draws; the study varies or fixes the other
    settings. A given curve is used unless the study varies the exponent that it replaces.
    """

    study: Study
    scale: Scale
    base: Settings

    @property
    def curves(self) -> tuple[str, ...]:
        """The given curves that the study uses."""
        return tuple(name for name in self.base.curves if name in self.study.curves)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All points of the grid, series by series, in increasing order of x."""
        study = self.study
        series: tuple[float | None, ...] = tuple(study.series_values.get(self.scale, ())) or (None,)
        return tuple(
            Point(x, s, self._settings(x, s)) for s in series for x in study.x_values[self.scale]
        )

    def _settings(self, x: float, series: float | None) -> Settings:
        changes: dict[str, Any] = dict.fromkeys(set(CURVES) - set(self.study.curves), ())
        changes |= self.study.fixed
        changes |= dict.fromkeys(self.study.x_fields, x)
        if self.study.series_field is not None and series is not None:
            changes[self.study.series_field] = series
        return self.base.with_values(**changes)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Methods that cannot be run here for lack of a package."""
        return tuple(method for method in self.study.methods if not can_run(method))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells in grid order: by draw, then point, then method; each once.

        Going through all points before the next draw shows the whole curve early.
        """
        left_out = self.left_out
        ordered = (
            cell_of(method, point.settings, draw)
            for draw in range(self.base.draws)
            for point in self.points
            for method in self.study.methods
            if method not in left_out
        )
        return tuple({cell.key: cell for cell in ordered}.values())


def _both(quick: Values, paper: Values) -> Mapping[Scale, Values]:
    return MappingProxyType({"quick": quick, "paper": paper})


_DEFAULT_USERS = MappingProxyType({"eta": 1.0, "assumed_eta": 1.0, "eps_minus": 0.1})
_OF_REPAIRS = _both((1_000, 9_000, 45_000), (1_000, 9_000, 45_000, 170_000))
_LEARNERS = ("", "-softmax", "-squared", "-logistic", f"-{TREES}")
"""What the keys of methods with these learners end with; the first has the ranking SVM."""

_STEPS = tuple(0.25 * k for k in range(9))  # 0, 0.25, ..., 2

STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        study.name: study
        for study in (
            Study(
                "learning-curve", 1, "7.2", "Learning curves over the number of clicks",
                ("clicks",), None,
                {"eta": 1.0, "assumed_eta": 1.0, "eps_minus": 0.1},
                _both(
                    (500, 2_000, 9_000, 45_000, 170_000),
                    (
                        250, 500, 1_000, 2_000, 5_000, 9_000, 20_000, 45_000, 100_000, 170_000,
                        450_000, 850_000,
                    ),
                ),
                methods=("production", "naive", "propensity", "clipped", SKIP_ABOVE, "skyline"),
            ),
            Study(
                "bias", 2, "7.3", "Severity of the position bias",
                ("eta", "assumed_eta"), "clicks", {"eps_minus": 0.0},
                _both((0.0, 0.5, 1.0, 1.5, 2.0), _STEPS),
                _both((45_000, 225_000), (45_000, 225_000)), cause="More bias",
            ),
            Study(
                "noise", 3, "7.4", "Click noise",
                ("eps_minus",), "clicks", {"eta": 1.0, "assumed_eta": 1.0},
                _both((0.0, 0.1, 0.2, 0.3), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)),
                _both((170_000, 850_000), (170_000, 850_000)), cause="More click noise",
            ),
            Study(
                "misspecification", 4, "7.5", "Wrong propensities",
                ("assumed_eta",), None, {"eta": 1.0, "eps_minus": 0.1, "clicks": 170_000},
                _both(
                    (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0),
                    (0.0, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0),
                ),
                methods=("production", "naive", "propensity", "clipped", "skyline"),
            ),
            Study(
                "map-noise", None, "7.3 and 7.4", "Naive against weighted, by bias and noise",
                ("eta", "assumed_eta"), "eps_minus", {"clicks": 45_000},
                _both((0.0, 1.0, 2.0), _STEPS),
                _both((0.0, 0.1, 0.3), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)),
            ),
            Study(
                "map-assumed", None, "7.5", "Naive against weighted, by true and assumed bias",
                ("eta",), "assumed_eta", {"eps_minus": 0.1, "clicks": 45_000},
                _both((0.0, 1.0, 2.0), _STEPS), _both((0.0, 1.0, 2.0), _STEPS),
            ),
            Study(
                "few-clicks", None, "7.2, later work", "Learning from few clicks",
                ("clicks",), None, _DEFAULT_USERS,
                _both(
                    (250, 1_000, 9_000, 45_000),
                    (
                        250, 500, 1_000, 2_000, 5_000, 9_000, 20_000, 45_000, 100_000, 170_000,
                    ),
                ),
                methods=(
                    "production", "naive", "propensity", "clipped", "direct", "doubly-robust",
                    "skyline",
                ),
                repaired_by=("direct", "doubly-robust"), read_at=1_000, shipped_alone=True,
            ),
            *(
                Study(
                    name, None, "5.4, later work", title, ("clicks",), None, {"users": name},
                    _OF_REPAIRS,
                    methods=(
                        "production", "naive", "propensity", "swap-ratio", "affine",
                        "affine-swaps", "affine-doubly-robust",
                        "skyline",
                    ),
                    repaired_by=("affine", "affine-swaps", "affine-doubly-robust"),
                    read_at=45_000,
                )
                for name, title in (
                    ("trust-mild", "Learning from users who trust the top ranks slightly"),
                    ("trust-steep", "Learning from users who trust the top ranks"),
                )
            ),
            Study(
                "leaving", None, "5.4, later work", "Learning from users who leave after a click",
                ("clicks",), None,
                {
                    "users": "leaving", "continuation": 0.2, "eta": 0.3, "assumed_eta": 0.3,
                    "eps_minus": 0.1,
                },
                _OF_REPAIRS,
                methods=(
                    "production", "naive", "propensity", "hindsight", "hindsight-doubly-robust",
                    "skyline",
                ),
                repaired_by=("hindsight", "hindsight-doubly-robust"), read_at=45_000,
            ),
            Study(
                "cut", None, "4, later work", "Learning from lists of ten",
                ("clicks",), None, {**_DEFAULT_USERS, "shown": 10}, _OF_REPAIRS,
                methods=(
                    "production", "naive", "propensity", "replace-last", "plackett-luce",
                    "mixture", "doubly-robust", "skyline",
                ),
                repaired_by=("replace-last", "plackett-luce", "mixture", "doubly-robust"),
                read_at=45_000,
            ),
            Study(
                "wrong-curve", None, "7.5", "Learning with wrong propensities",
                ("clicks",), None, _DEFAULT_USERS, _OF_REPAIRS,
                methods=(
                    "production", "naive", "too-steep", "too-flat", "propensity", "skyline",
                ),
                repaired_by=("propensity",), read_at=45_000,
            ),
            Study(
                "towers", None, "5.3, later work", "Learning without known propensities",
                ("clicks",), None, _DEFAULT_USERS, _OF_REPAIRS,
                methods=(
                    "production", "naive", "one-tower", "two-towers-additive",
                    "two-towers-product", "propensity", "skyline",
                ),
                repaired_by=("two-towers-additive", "two-towers-product", "propensity"),
                read_at=45_000,
            ),
            Study(
                "learners", None, "6, later work", "Learning with other losses, and with trees",
                ("clicks",), None, _DEFAULT_USERS, _OF_REPAIRS,
                methods=(
                    "production",
                    *(f"naive{learner}" for learner in _LEARNERS),
                    *(f"propensity{learner}" for learner in _LEARNERS),
                    "skyline", SKYLINE_OF_TREES.key,
                ),
                repaired_by=tuple(f"propensity{learner}" for learner in _LEARNERS),
                read_at=45_000, by_learner=True, shipped_alone=True,
            ),
        )
    }
)  # fmt: skip

BASE_FIELDS = (
    "draws", "seed", "eps_plus", "corpus_seed", "relevant_grade", "curve", "assumed_curve",
)  # fmt: skip
"""Settings that a quick plan takes from its base; a study varies or fixes the others."""

FIGURES = tuple(name for name, study in STUDIES.items() if study.figure is not None)
"""Names of the studies that are figures in the paper."""

REPAIRS = tuple(name for name, study in STUDIES.items() if study.repaired_by)
"""Names of the studies that show what breaks weighting and what repairs it."""

MAPS = tuple(name for name, study in STUDIES.items() if study.is_map)
"""Names of the sensitivity maps."""
