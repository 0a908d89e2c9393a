"""Lessons 1 to 3: why clicks lie, what a propensity is, and why weighting gives the truth."""

from __future__ import annotations

from ultr_core.lessons import measures, pictures, traffic
from ultr_core.lessons.model import Lesson, words_of
from ultr_core.lessons.written import choice, door, exercise, guess

_CLICKS_LIE = words_of("clicks-lie")

WHY_CLICKS_LIE = Lesson(
    key="clicks-lie",
    terms=("query", "rank", "relevance", "click", "log", "examination", "eta"),
    changes={"eps_minus": 0.0},
    prediction=guess(_CLICKS_LIE.part("prediction"), 1, 100, 1, "times", near=0.25),
    given=measures.relevance_by_rank,
    measure=measures.clicks_by_rank,
    figure=pictures.clicks_by_rank,
    shows=door(_CLICKS_LIE.part("shows"), "lab"),
    steps=(
        door(_CLICKS_LIE.part("steps.nobody-stops"), "lab", {"eta": 0.0, "assumed_eta": 0.0}),
        door(_CLICKS_LIE.part("steps.click-rates"), "propensities", state={"swap_other": "ctr"}),
    ),
    exercise=exercise(_CLICKS_LIE.part("exercise"), "clicks", tolerance=0.03),
)

_PROPENSITY = words_of("propensity")

PROPENSITY = Lesson(
    key="propensity",
    terms=("examination", "propensity", "weight", "eta"),
    changes={"eps_minus": 0.0},
    prediction=guess(_PROPENSITY.part("prediction"), 0, 20, 1, "", near=0.05, decimals=1),
    given=measures.rank_of_unseen,
    measure=measures.unseen_relevant,
    figure=pictures.examination,
    shows=door(_PROPENSITY.part("shows"), "lab"),
    steps=(
        door(_PROPENSITY.part("steps.steeper"), "lab", {"eta": 2.0, "assumed_eta": 2.0}),
        door(_PROPENSITY.part("steps.milder"), "lab", {"eta": 0.7, "assumed_eta": 0.7}),
    ),
    exercise=exercise(_PROPENSITY.part("exercise"), "weight", tolerance=0.02),
)

_UNBIASED = words_of("unbiased")

WHY_UNBIASED = Lesson(
    key="unbiased",
    terms=("risk", "weight", "unbiased", "ips"),
    changes={"eps_minus": 0.0},
    prediction=choice(_UNBIASED.part("prediction")),
    measure=measures.one_query,
    traffic=traffic.visits,
    figure=pictures.settling_users,
    shows=door(_UNBIASED.part("shows"), "proofs", state={"proof": "ips-unbiased"}),
    steps=(
        door(_UNBIASED.part("steps.hidden"), "proofs", state={"break_zero_relevant": True}),
        door(_UNBIASED.part("steps.single-users"), "proofs", state={"view": "user"}),
    ),
    exercise=exercise(_UNBIASED.part("exercise"), "weighted sum of ranks", tolerance=0.001),
)

FIRST_LESSONS = (WHY_CLICKS_LIE, PROPENSITY, WHY_UNBIASED)
