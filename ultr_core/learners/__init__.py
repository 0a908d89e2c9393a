"""Rankers from weighted clicks: Propensity SVM-Rank with a certificate.

    ranker = fit_ranker(corpus, weights, cost=10)
    ranker.certificate.gap, ranker.score(test_corpus)

``objective`` and ``pair_sums`` use only scores; ``newton``, ``augmented_lagrangian`` and
``solver`` use neither corpora nor clicks; ``ranker`` combines them.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.learners.certificate import Certificate
    from ultr_core.learners.learner import COST_GRID, Learner
    from ultr_core.learners.objective import weighted_hinge
    from ultr_core.learners.problem import Callback, Constraint, Progress
    from ultr_core.learners.ranker import (
        LinearModel,
        LinearRanker,
        fit_path,
        fit_ranker,
        objective_value,
        score_many,
    )
    from ultr_core.learners.registry import LEARNERS, SVM, learner_named
    from ultr_core.learners.towers import JOINS, TowerRows, Towers, fit_towers, ranks_apart
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "COST_GRID",
    "JOINS",
    "LEARNERS",
    "SVM",
    "Callback",
    "Certificate",
    "Constraint",
    "Learner",
    "LinearModel",
    "LinearRanker",
    "Progress",
    "TowerRows",
    "Towers",
    "fit_path",
    "fit_ranker",
    "fit_towers",
    "learner_named",
    "objective_value",
    "ranks_apart",
    "score_many",
    "weighted_hinge",
]
