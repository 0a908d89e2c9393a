"""Results from a user's own log: propensities, a ranker, and evidence about rankers."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.own_data.deployment import Gate, gate
    from ultr_core.own_data.evaluation import (
        Evaluation,
        RankerDifference,
        compare_rankers,
        compare_with_shown,
        evaluate_ranker,
    )
    from ultr_core.own_data.fitting import OwnFit, fit_from_log, fold_scores
    from ultr_core.own_data.tree_fitting import (
        TreeFit,
        fit_trees_by_position_from_log,
        fit_trees_from_log,
        tree_fold_scores,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Evaluation",
    "Gate",
    "OwnFit",
    "RankerDifference",
    "TreeFit",
    "compare_rankers",
    "compare_with_shown",
    "evaluate_ranker",
    "fit_from_log",
    "fit_trees_by_position_from_log",
    "fit_trees_from_log",
    "fold_scores",
    "gate",
    "tree_fold_scores",
]
