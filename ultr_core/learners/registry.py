"""The learners, in one place: each turns weighted documents into a linear ranker."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.errors import InputError, quoted
from ultr_core.learners.learner import Learner
from ultr_core.learners.logistic import LOGISTIC
from ultr_core.learners.ranker import fit_paths, fit_ranker, objective_value
from ultr_core.learners.softmax import SOFTMAX
from ultr_core.learners.squared import SQUARED

SVM = Learner(
    "svm",
    "Ranking SVM",
    "Minimises the weighted hinge loss over all pairs of a clicked document and another "
    "document for the same query.",
    "section 6 of Joachims, Swaminathan and Schnabel (2017)",
    fit_ranker,
    objective_value,
    ((-1.0, 2.0), (0.25, 0.75), (2.0, 0.0)),
    fit_paths,
)

LEARNERS: Mapping[str, Learner] = MappingProxyType(
    {
        learner.key: learner
        for learner in (
            SVM,
            SOFTMAX,
            SQUARED,
            LOGISTIC,
        )
    }
)  # fmt: skip
"""All learners by key, for training, the command line, pages and tests."""


def learner_named(key: str) -> Learner:
    """The learner with that key; raises InputError for an unknown key."""
    if key not in LEARNERS:
        raise InputError(f"{quoted(key)} is not a learner; choose from {', '.join(LEARNERS)}.")
    return LEARNERS[key]
