"""The lab: every stage of a world, each remembered under only the settings it depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from ultr_core.corpus import CorpusShape, CorpusSplits, synthetic_splits
from ultr_core.files import load_directory
from ultr_core.lab.comparison import Comparison, summarise, training_plan
from ultr_core.lab.live import LiveDesign, LiveResult, run_live
from ultr_core.lab.logs import (
    Logs,
    assumed_curve,
    simulate_logs,
    simulate_training_log,
    user_model,
)
from ultr_core.lab.measured import swaps_of
from ultr_core.lab.methods import (
    CLICK_METHODS,
    LINEAR_METHODS,
    LOG_FIELDS,
    SWAP_FIELDS,
    WEIGHTED_FIELDS,
    WORLD_FIELDS,
    stage,
)
from ultr_core.lab.picture import (
    RankerFamily,
    RiskPicture,
    first_picture,
    ranker_family,
    risk_picture,
)
from ultr_core.lab.propensity_study import (
    FloatArray,
    MethodResult,
    SecondRanker,
    SwapDesign,
    estimate_by,
    risks_with_curves,
    second_ranker,
    swap_bias,
)
from ultr_core.lab.rank_sums import RankSums, rank_sums
from ultr_core.lab.store import Cell, CorpusChoice, Store
from ultr_core.lab.training import SeenByFit, TrainedMethod, rank_test, train_method
from ultr_core.lab.trees import TREE_METHODS, train_trees
from ultr_core.lab.world import TestRisk, World, build_world
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.selection import FINAL_TOLERANCE
from ultr_core.proofs import Check, Evidence, run_checks
from ultr_core.propensity import SwapCounts
from ultr_core.risk.by_rank import RankTest
from ultr_core.settings import Settings
from ultr_core.users import ClickLog, ClickModel, ExaminationCurve, PositionModel

T = TypeVar("T")
Tell = Callable[[Cell], None]
Run = Callable[[Cell, Callable[[], Any]], Any]

LARGE = {"logs": 10, "training_log": 10}
"""What a store for one person keeps of the kinds that would fill its memory."""

_CHECKED = "propensity"  # the proof checks look at this method's ranker of the first click log


@dataclass(frozen=True, eq=False)
class Lab:
    """Settings, a corpus, and a store of computed results.

    settings: users, clicks, and what the learner assumes. corpus: the directory of a LETOR corpus,
    the size of a synthetic corpus, or a corpus; None for the built-in corpus. store: where results
    are kept; by default a new store. tell: called with a cell that is about to be computed, if it
    was requested directly. run: gets a cell and a function that computes it, and returns the value;
    it may have the cell computed elsewhere.

    Methods raise InputError if the experiment they run does.
    """

    settings: Settings = field(default_factory=Settings)
    corpus: CorpusChoice = None
    store: Store = field(default_factory=lambda: Store(LARGE))
    tell: Tell | None = None
    run: Run | None = None

    def at(self, settings: Settings) -> Lab:
        """A lab with other settings and the same corpus and store."""
        return replace(self, settings=settings)

    def telling(self, tell: Tell) -> Lab:
        """The same lab, but it reports what it is about to compute."""
        return replace(self, tell=tell)

    # Cells: what anything is remembered under.

    def cell(self, kind: str, fields: tuple[str, ...], *args: Any) -> Cell:
        """The name of a stage's result for hashable ``args`` and the settings in ``fields``."""
        return Cell(kind, stage(self.settings, fields), args, self.corpus)

    def remember(self, cell: Cell, make: Callable[[Lab], T]) -> T:
        """The value of the cell: already kept, or computed by ``make`` once for all callers.

        ``make`` gets the lab of the cell, so that nothing else can affect the result.
        """
        found: T | None = self.peek(cell)
        if found is not None:
            return found
        if self.tell is not None:
            self.tell(cell)
        lab = replace(self, settings=cell.settings, tell=None)

        def made() -> T:
            if self.run is None:
                return make(lab)
            elsewhere: T = self.run(cell, lambda: make(lab))
            return elsewhere

        return self.store.get(cell.kind, cell, made)

    def peek(self, cell: Cell) -> Any:
        """The value of the cell if it is kept, None otherwise."""
        return self.store.peek(cell.kind, cell)

    def make(self, cell: Cell) -> Any:
        """The value of any lab's cell, from the method that computes it."""
        lab = replace(self, settings=cell.settings, corpus=cell.corpus)
        return getattr(lab, cell.kind)(*cell.args)

    # The world and its users.

    @property
    def users(self) -> PositionModel:
        """The users that the settings describe: the position model with click noise."""
        return user_model(self.settings)

    def world(self) -> World:
        """Corpus, production ranker and skyline; worlds are built one at a time."""

        def build(lab: Lab) -> World:
            with lab.store.turn("world"):
                return build_world(lab.settings, lab.splits())

        return self.remember(self.cell("world", WORLD_FIELDS), build)

    def splits(self) -> CorpusSplits | None:
        """The corpus, read from its directory or generated; None for the built-in corpus."""
        given = self.corpus
        if given is None or isinstance(given, CorpusSplits):
            return given
        if isinstance(given, CorpusShape):
            return self.remember(
                self.cell("splits", ("corpus_seed",)),
                lambda lab: synthetic_splits(lab.settings.corpus_seed, **asdict(given)),
            )
        return self.remember(self.cell("splits", ()), lambda _: load_directory(given))

    def family(self) -> RankerFamily:
        """Sixty rankers that were not trained on clicks."""
        return self.remember(
            self.cell("family", WORLD_FIELDS), lambda lab: ranker_family(lab.world())
        )

    def second_ranker(self) -> SecondRanker:
        """A second production ranker, for logs in which documents change rank."""
        return self.remember(
            self.cell("second_ranker", WORLD_FIELDS),
            lambda lab: second_ranker(lab.world(), lab.settings),
        )

    def training_swaps(self, draw: int = 0) -> SwapCounts:
        """The swaps of one draw, from which some methods learn about users before they train."""
        return self.remember(
            self.cell("training_swaps", SWAP_FIELDS, draw),
            lambda lab: swaps_of(lab.world(), lab.settings, draw),
        )

    # Clicks, and what they say about rankers that saw none of them.

    def training_log(self, draw: int = 0) -> ClickLog:
        """The simulated clicks from one draw, on the training queries; pictures need no others."""
        return self.remember(
            self.cell("training_log", LOG_FIELDS, draw),
            lambda lab: simulate_training_log(lab.world(), lab.settings, draw),
        )

    def logs(self, draw: int = 0) -> Logs:
        """The simulated clicks from one draw, on training and validation queries."""
        return self.remember(
            self.cell("logs", LOG_FIELDS, draw),
            lambda lab: simulate_logs(
                lab.world(), lab.settings, draw, training=lab.training_log(draw)
            ),
        )

    def picture(self) -> RiskPicture:
        """The `RiskPicture` of the first click log; pictures are computed one at a time."""

        def draw(lab: Lab) -> RiskPicture:
            world, family = lab.world(), lab.family()
            with lab.store.turn("picture"):
                return risk_picture(world, family, lab.settings, lab.training_log())

        return self.remember(self.picture_cell(), draw)

    def picture_cell(self) -> Cell:
        """The picture's cell."""
        return self.cell("picture", WEIGHTED_FIELDS)

    def first_picture(self) -> RiskPicture:
        """`picture` or, until it has been computed, the part that is shown first."""
        found: RiskPicture | None = self.peek(self.picture_cell())
        if found is not None:
            return found
        return self.remember(
            self.cell("first_picture", WEIGHTED_FIELDS),
            lambda lab: first_picture(lab.world(), lab.family(), lab.settings, lab.training_log()),
        )

    def rank_sums(self) -> RankSums:
        """The sums by rank from which the expected estimates of all rankers follow."""
        return self.remember(
            self.cell("rank_sums", WORLD_FIELDS),
            lambda lab: rank_sums(lab.world(), lab.family()),
        )

    # Rankers that learn from clicks, and the proof checks.

    def trained(self, draw: int, method: str) -> TrainedMethod:
        """One method of ``LINEAR_METHODS`` or ``TREE_METHODS``, trained on one draw and tested."""
        train = train_trees if method in TREE_METHODS else train_method
        known = LINEAR_METHODS.get(TREE_METHODS.get(method, method))
        measures = known is not None and known.measured is not None
        return self.remember(
            self.trained_cell(draw, method),
            lambda lab: train(
                lab.world(),
                lab.settings,
                draw,
                method,
                lab.logs(draw),
                lab.training_swaps(draw) if measures else None,
            ),
        )

    def trained_cell(self, draw: int, method: str) -> Cell:
        """A trained method's cell."""
        key = TREE_METHODS.get(method, method)
        fields = LINEAR_METHODS[key].fields if key in LINEAR_METHODS else WEIGHTED_FIELDS
        return self.cell("trained", fields, draw, method)

    def rank_test(self, draw: int, method: str, seen: SeenByFit | None = None) -> RankTest:
        """The test by rank of the relevance that a method fits to one draw of clicks.

        seen: what the fit sees of documents; None for everything, as in `trained`.
        """
        sees = SeenByFit() if seen is None else seen
        return self.remember(
            self.cell("rank_test", WEIGHTED_FIELDS, draw, method, sees),
            lambda lab: rank_test(lab.world(), lab.settings, draw, method, sees, lab.logs(draw)),
        )

    def checks(self) -> tuple[Check, ...]:
        """All proof checks on the first click log and the weighted ranker trained on it."""

        return self.remember(
            self.checks_cell(),
            lambda lab: proof_checks(
                lab.world(),
                lab.family(),
                lab.settings,
                logs=lab.logs(),
                trained=lab.trained(0, _CHECKED),
            ),
        )

    def checks_cell(self) -> Cell:
        """The cell for the proof checks."""
        return self.cell("checks", WEIGHTED_FIELDS)

    def needs(self, cell: Cell) -> tuple[Cell, ...]:
        """Slow cells that this cell depends on, to be sent with it to another process."""
        if cell.kind != "checks":
            return ()
        lab = replace(self, settings=cell.settings, corpus=cell.corpus)
        return (lab.trained_cell(0, _CHECKED),)

    def comparison(
        self,
        done: Collection[tuple[int, str]] | None = None,
        *,
        methods: Sequence[str] | None = None,
    ) -> Comparison:
        """The comparison of rankers over all draws and methods, or those in ``done``.

        done: pairs (draw, method). methods: keys of ``LINEAR_METHODS`` or ``TREE_METHODS``, None
        for the methods in every comparison. Trains what has not been trained yet.
        """
        chosen = CLICK_METHODS if methods is None else methods
        trained: dict[str, list[TrainedMethod]] = {method: [] for method in chosen}
        for draw, method in training_plan(self.settings.draws, chosen) if done is None else done:
            found = self.trained(draw, method)
            trained[method].append(found)
        return summarise(self.world(), self.settings, trained, asked=methods is not None)

    # Propensities and the live experiment.

    def swaps(
        self, design: SwapDesign, method: str = "swap", users: ClickModel | None = None
    ) -> MethodResult:
        """The estimate of one of ``PROPENSITY_METHODS`` from the design's traffic.

        ``users``: by default those in the settings.
        """
        clicking = self.users if users is None else users
        return self.remember(
            self.cell("swaps", (*WORLD_FIELDS, "seed"), design, method, clicking),
            lambda lab: estimate_by(
                method, lab.world(), clicking, design, lab.second_ranker(), lab.settings.seed
            ),
        )

    def swap_limit(self, design: SwapDesign, users: ClickModel | None = None) -> FloatArray:
        """The limit of a design's swap estimate, float64 [K]; NaN at ranks beyond the longest list.

        Only the ranks of the design matter.
        """
        clicking = self.users if users is None else users
        ranks = SwapDesign(landmark=design.landmark, last_rank=design.last_rank)
        return self.remember(
            self.cell("swap_limit", WORLD_FIELDS, ranks, clicking),
            lambda lab: swap_bias(lab.world(), clicking, ranks),
        )

    def risk_with(self, curve: ExaminationCurve | None) -> TestRisk:
        """Test risk after training on the first click log with these propensities; None: all 1."""
        return self.remember(
            self.cell("risk_with", LOG_FIELDS, curve),
            lambda lab: risks_with_curves(lab.world(), lab.logs(), {"curve": curve})["curve"],
        )

    def live(
        self,
        design: LiveDesign | None = None,
        *,
        progress: Callable[[str], None] | None = None,
    ) -> LiveResult:
        """The live experiment of section 7.6; ``progress`` is called before each of its parts."""
        plan = LiveDesign() if design is None else design
        return self.remember(
            self.cell("live", LOG_FIELDS, plan),
            lambda lab: run_live(lab.world(), lab.settings, plan, progress=progress),
        )


@one_blas_thread()
def proof_checks(
    world: World,
    family: RankerFamily,
    settings: Settings,
    *,
    logs: Logs | None = None,
    trained: TrainedMethod | None = None,
) -> tuple[Check, ...]:
    """Evaluate all proofs on the first draw of clicks.

    ``logs`` and ``trained`` (the propensity-weighted ranker of draw 0) are computed here unless
    given.

    Raises:
        InputError: the clicks give no pairs to learn from.
    """
    logs = logs if logs is not None else simulate_logs(world, settings, 0)
    if trained is None:
        trained = train_method(world, settings, 0, _CHECKED, logs)
    return run_checks(proof_evidence(world, family, settings, logs, trained))


def proof_evidence(
    world: World, family: RankerFamily, settings: Settings, logs: Logs, trained: TrainedMethod
) -> Evidence:
    """What the proof checks look at; ``trained`` is the weighted ranker of these ``logs``."""
    corpus = world.train.corpus
    return Evidence(
        users=user_model(settings),
        assumed_curve=assumed_curve(settings),
        query_offsets=corpus.query_offsets,
        relevance=world.train.relevance,
        presented_ranks=world.train.presented_ranks,
        family_ranks=family.ranks,
        true_risk=family.true_risk,
        log=logs.train,
        scores={
            "production": world.production.ranker.score(corpus),
            "propensity-weighted": corpus.features @ trained.coefficients,
            "skyline": world.skyline.score(corpus),
        },
        gap=trained.gap,
        gap_tolerance=FINAL_TOLERANCE,
    )
