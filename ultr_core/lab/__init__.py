"""The lab: settings, a corpus, a store of stages, and the results."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.lab.comparison import (
        Comparison,
        RankerSummary,
        summarise,
        training_plan,
    )
    from ultr_core.lab.lab import Lab, proof_checks
    from ultr_core.lab.logs import (
        Logs,
        assumed_curve,
        curve_notices,
        mistaken_curve,
        simulate_logs,
        simulate_training_log,
        true_curve,
        user_model,
        world_notices,
    )
    from ultr_core.lab.methods import (
        CLICK_METHODS,
        LOG_FIELDS,
        METHODS,
        TRAINED_METHODS,
        WEIGHTED_FIELDS,
        WORLD_FIELDS,
        Method,
        stage,
    )
    from ultr_core.lab.picture import (
        EstimatedRisks,
        RankerFamily,
        RiskPicture,
        named_rankers,
        ranker_family,
        risk_picture,
    )
    from ultr_core.lab.rank_sums import RankSums
    from ultr_core.lab.small_query import small_world
    from ultr_core.lab.store import Cell, Store
    from ultr_core.lab.training import TrainedMethod, train_method
    from ultr_core.lab.world import (
        LoggedQueries,
        TestRisk,
        World,
        build_world,
        test_risk,
        test_risks,
    )
    from ultr_core.lab.wrong_sides import Sides, headline, sides
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "CLICK_METHODS",
    "LOG_FIELDS",
    "METHODS",
    "TRAINED_METHODS",
    "WEIGHTED_FIELDS",
    "WORLD_FIELDS",
    "Cell",
    "Comparison",
    "EstimatedRisks",
    "Lab",
    "LoggedQueries",
    "Logs",
    "Method",
    "RankSums",
    "RankerFamily",
    "RankerSummary",
    "RiskPicture",
    "Sides",
    "Store",
    "TestRisk",
    "TrainedMethod",
    "World",
    "assumed_curve",
    "build_world",
    "curve_notices",
    "headline",
    "mistaken_curve",
    "named_rankers",
    "proof_checks",
    "ranker_family",
    "risk_picture",
    "sides",
    "simulate_logs",
    "simulate_training_log",
    "small_world",
    "stage",
    "summarise",
    "test_risk",
    "test_risks",
    "train_method",
    "training_plan",
    "true_curve",
    "user_model",
    "world_notices",
]
