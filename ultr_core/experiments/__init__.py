"""Worlds put together: corpus, users, rankers, and what comes out of them."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.experiments.comparison import (
        Comparison,
        RankerSummary,
        compare,
        summarise,
        training_plan,
    )
    from ultr_core.experiments.evaluation import Evaluation, evaluate_ranker
    from ultr_core.experiments.evidence import proof_checks
    from ultr_core.experiments.family import RankerFamily, ranker_family
    from ultr_core.experiments.fitting import OwnFit, fit_from_log
    from ultr_core.experiments.logs import (
        Logs,
        simulate_logs,
        simulate_training_log,
        user_model,
        world_notices,
    )
    from ultr_core.experiments.methods import (
        CLICK_METHODS,
        LOG_FIELDS,
        METHODS,
        WEIGHTED_FIELDS,
        WORLD_FIELDS,
        Method,
        stage,
    )
    from ultr_core.experiments.own_comparison import (
        RankerDifference,
        compare_rankers,
        compare_with_shown,
    )
    from ultr_core.experiments.own_folds import fold_scores
    from ultr_core.experiments.picture import EstimatedRisks, RiskPicture, risk_picture
    from ultr_core.experiments.training import TrainedMethod, train_method
    from ultr_core.experiments.world import (
        LoggedQueries,
        TestRisk,
        World,
        build_world,
        test_risk,
        test_risks,
    )
    from ultr_core.propensity import assumed_curve, true_curve
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "CLICK_METHODS",
    "LOG_FIELDS",
    "METHODS",
    "WEIGHTED_FIELDS",
    "WORLD_FIELDS",
    "Comparison",
    "EstimatedRisks",
    "Evaluation",
    "LoggedQueries",
    "Logs",
    "Method",
    "OwnFit",
    "RankerDifference",
    "RankerFamily",
    "RankerSummary",
    "RiskPicture",
    "TestRisk",
    "TrainedMethod",
    "World",
    "assumed_curve",
    "build_world",
    "compare",
    "compare_rankers",
    "compare_with_shown",
    "evaluate_ranker",
    "fit_from_log",
    "fold_scores",
    "proof_checks",
    "ranker_family",
    "risk_picture",
    "simulate_logs",
    "simulate_training_log",
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
