"""Lessons 6 to 9: noise, wrong propensities, where they come from, and the live test."""

from __future__ import annotations

from ultr_core.lessons import experiment_measures, measures, pictures, traffic
from ultr_core.lessons.model import Lesson, words_of
from ultr_core.lessons.written import choice, door, exercise

_NOISE = words_of("noise")

NOISE = Lesson(
    key="noise",
    terms=("noise", "risk", "kendall", "ips"),
    changes={"eps_minus": 0.3},
    prediction=choice(_NOISE.part("prediction")),
    given=measures.noise_share,
    measure=measures.noisy_order,
    figure=pictures.risks,
    shows=door(_NOISE.part("shows"), "lab"),
    steps=(
        door(_NOISE.part("steps.more-data"), "robustness", state={"study": "noise"}),
        door(
            _NOISE.part("steps.trust"), "proofs", state={"proof": "affine-law", "break_trust": True}
        ),
    ),
    exercise=exercise(_NOISE.part("exercise"), "difference of the estimates", tolerance=0.02),
)

_WRONG_PROPENSITY = words_of("wrong-propensity")

WRONG_PROPENSITY = Lesson(
    key="wrong-propensity",
    terms=("propensity", "assumed", "misspecified"),
    changes={"assumed_eta": 1.5, "draws": 1},
    prediction=choice(_WRONG_PROPENSITY.part("prediction")),
    measure=measures.wrong_belief,
    figure=pictures.beliefs,
    shows=door(_WRONG_PROPENSITY.part("shows"), "lab"),
    steps=(
        door(
            _WRONG_PROPENSITY.part("steps.all-beliefs"),
            "robustness",
            state={"study": "misspecification"},
        ),
        door(_WRONG_PROPENSITY.part("steps.too-low"), "lab", {"assumed_eta": 0.5}),
    ),
    exercise=exercise(_WRONG_PROPENSITY.part("exercise"), "times as large", tolerance=0.01),
)

_SWAPS = words_of("swaps")

SWAPS = Lesson(
    key="swaps",
    terms=("propensity", "landmark", "swap", "click-rate"),
    changes={},
    prediction=choice(_SWAPS.part("prediction")),
    given=experiment_measures.rank_of_swap,
    measure=experiment_measures.swapped,
    traffic=traffic.presentations,
    figure=pictures.swap_curves,
    shows=door(_SWAPS.part("shows"), "propensities", state={"swap_other": "ctr"}),
    steps=(
        door(_SWAPS.part("steps.less-traffic"), "propensities", state={"swap_traffic": 2_000}),
        door(_SWAPS.part("steps.middle-landmark"), "propensities", state={"swap_landmark": 5}),
    ),
    exercise=exercise(
        _SWAPS.part("exercise"), "ratio of propensities", tolerance=0.02, share="fraction"
    ),
)

_LIVE = words_of("live")

LIVE = Lesson(
    key="live",
    terms=("interleaving", "sign-test", "p-value"),
    changes={},
    prediction=choice(_LIVE.part("prediction")),
    measure=experiment_measures.live_test,
    traffic=traffic.live,
    figure=pictures.win_shares,
    shows=door(_LIVE.part("shows"), "live"),
    steps=(
        door(_LIVE.part("steps.few-queries"), "live", state={"live_queries": 370}),
        door(_LIVE.part("steps.few-clicks"), "live", {"clicks": 9_000}),
    ),
    exercise=exercise(_LIVE.part("exercise"), "p-value", tolerance=0.03, share="fraction"),
)

LATER_LESSONS = (NOISE, WRONG_PROPENSITY, SWAPS, LIVE)
