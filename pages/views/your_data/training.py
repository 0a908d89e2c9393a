"""Training on the page Your data: one at a time on this server, with progress, stoppable."""

from __future__ import annotations

import time
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.views.studies import run as study_run
from pages.views.your_data.bench import Bench, bench
from ultr_core.corpus import Corpus
from ultr_core.deadline import require_time, within
from ultr_core.errors import InputError
from ultr_core.learners import SVM
from ultr_core.learners.problem import Progress
from ultr_core.limits import VISITORS_PAIRS, VISITORS_TRAINING_SECONDS
from ultr_core.own_data.fitting import (
    DEFAULT_METHOD,
    FOLDS,
    OwnFit,
    fit_from_log,
    fits_of,
    fold_scores,
)
from ultr_core.users import ClickLog, ExaminationCurve

_TELL_EVERY = 0.2  # seconds between two messages to the page


@dataclass(frozen=True)
class Plan:
    """How to train: estimator and learner, and C and threshold, None to choose by validation."""

    method: str = DEFAULT_METHOD
    cost: float | None = None
    clip: float | None = None
    seed: int = 0
    learner: str = SVM.key


def want(token: Hashable) -> None:
    """Callback: train what ``token`` stands for."""
    bench().wanted = token


def stop() -> None:
    """Callback of the stop button."""
    bench().wanted = None


def train(
    own: Bench, token: Hashable, corpus: Corpus, log: ClickLog, curve: ExaminationCurve, plan: Plan
) -> None:
    """Train with progress, keep the ranker or the sentence that says why there is none.

    Every message to the page is a point at which Stop ends the work, and another control begins
    it anew.
    """
    st.button("Stop", key="data-stop", icon=":material/stop_circle:", on_click=stop)
    place = st.empty()
    watch = _Watch(place, fits_of(plan.method, plan.cost, plan.clip, plan.learner) + FOLDS)
    found: OwnFit | InputError
    with study_run.turn(place), within(VISITORS_TRAINING_SECONDS):
        try:
            found = fit_from_log(
                corpus, log, curve, method=plan.method, cost=plan.cost, clip=plan.clip,
                seed=plan.seed, learner=plan.learner, callback=watch, pairs=VISITORS_PAIRS,
            )  # fmt: skip
        except InputError as error:
            found = error
        folds = None
        if isinstance(found, OwnFit):
            with suppress(
                InputError
            ):  # too few clicked queries, or no time left: judged as it is, and told
                folds = fold_scores(corpus, log, found, seed=plan.seed, callback=watch)
    own.keep("fit", token, found)
    own.keep("fold-scores", token, folds)
    own.wanted = None
    st.rerun()


class _Watch:
    """Tells the page how far the fits are."""

    def __init__(self, place: DeltaGenerator, fits: int) -> None:
        self._place, self._fits = place, fits
        self._fit, self._iteration = 0, 0
        self._began = self._told = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        require_time()  # of learners that have a solver of their own as well
        if progress.iteration <= self._iteration or not self._fit:
            self._fit = min(self._fit + 1, self._fits)
        self._iteration = progress.iteration
        now = time.monotonic()
        if now - self._told < _TELL_EVERY:
            return
        self._told = now
        self._place.progress(
            (self._fit - 1) / self._fits,
            f"Fit {self._fit} of {self._fits}, {now - self._began:.0f} s; the gap to the optimum "
            f"is {progress.gap:.1%}",
        )
