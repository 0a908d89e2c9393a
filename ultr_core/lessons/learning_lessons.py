"""Lessons 4 and 5: what a ranker learns from weighted clicks, and what weighting costs."""

from __future__ import annotations

from ultr_core.lessons import measures, pictures, traffic
from ultr_core.lessons.model import Lesson, words_of
from ultr_core.lessons.written import choice, door, exercise, guess

CLICKS, FEWER_CLICKS = 45_000, 2_000
"""Clicks of lesson 4, and as many as already teach the naive ranker all that it will learn."""

_LEARNING = words_of("learning")

LEARNING = Lesson(
    key="learning",
    terms=("naive", "ips", "production", "skyline", "risk", "svm", "interval"),
    changes={"eps_minus": 0.0, "clicks": CLICKS, "draws": 3},
    prediction=guess(_LEARNING.part("prediction").filled(clicks=CLICKS), 0, 100, 5, "%", near=0.1),
    given=measures.baselines,
    measure=measures.learned,
    traffic=traffic.logs,
    figure=pictures.trained,
    shows=door(_LEARNING.part("shows"), "lab"),
    steps=(
        door(
            _LEARNING.part("steps.fewer-clicks").filled(
                fewer=FEWER_CLICKS, more=CLICKS - FEWER_CLICKS
            ),
            "lab",
            {"clicks": FEWER_CLICKS},
        ),
        door(_LEARNING.part("steps.whole-curve"), "learning_curves"),
    ),
    exercise=exercise(_LEARNING.part("exercise"), "percent", tolerance=0.02, share="percent"),
)

_VARIANCE = words_of("variance")

VARIANCE = Lesson(
    key="variance",
    terms=("bias", "variance", "interval", "ess", "clipping"),
    changes={"eps_minus": 0.0, "clicks": 250},
    prediction=choice(_VARIANCE.part("prediction")),
    measure=measures.few_clicks,
    traffic=traffic.logs,
    figure=pictures.trained,
    shows=door(_VARIANCE.part("shows"), "lab"),
    steps=(
        door(_VARIANCE.part("steps.crossing"), "lab", {"clicks": 1_000}),
        door(_VARIANCE.part("steps.race"), "proofs", state={"proof": "overtaking", "view": "race"}),
    ),
    exercise=exercise(_VARIANCE.part("exercise"), "clicks of equal weight", tolerance=0.02),
)

LEARNING_LESSONS = (LEARNING, VARIANCE)
