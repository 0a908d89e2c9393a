"""Step 4 of the page Your data: a ranker, trained on the clicks or uploaded."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from pages.app.context import PageContext
from pages.app.field_control import control, kept
from pages.app.frame import show_figure
from pages.app.markdown import mark, plain, show_error, told
from pages.app.turns import turn
from pages.views.your_data.bench import Bench, Brought, bench
from pages.views.your_data.corpus import corpus_token, names_of
from pages.views.your_data.curve import Propensities, id_of_log
from pages.views.your_data.findings import show_inspection
from pages.views.your_data.input import HELP, LOOKS_LIKE, bring, require_kind
from pages.views.your_data.log import asks_for_queries
from ultr_core.corpus import Corpus
from ultr_core.deadline import require_time, within
from ultr_core.errors import InputError, about
from ultr_core.fields import Field
from ultr_core.figures.by_rank import rank_test_figure
from ultr_core.files.score_files import ScoreFile, parse_score_file, read_score_file
from ultr_core.files.tree_files import (
    parse_model,
    parse_model_record,
    read_model,
    read_model_record,
    score_model,
)
from ultr_core.inspection import (
    Inspection,
    JoinedLog,
    inspect_ranker,
    inspect_scores,
    inspect_together,
    join_log,
)
from ultr_core.inspection.of_ranker import FEATURES, inspect_trees
from ultr_core.jobs.files import MISSING_ZERO
from ultr_core.jobs.your_data import (
    BY_VALIDATION,
    CHOSEN_CLIP,
    CHOSEN_COST,
    TRAINED,
    TRAINED_HERE,
    WEIGHTS,
    asked_method,
)
from ultr_core.learners import learner_named
from ultr_core.learners.problem import Progress
from ultr_core.learners.ranker import LinearModel
from ultr_core.learners.trees import TreeRanker
from ultr_core.limits import VISITORS_PAIRS, VISITORS_SCORING_SECONDS, VISITORS_TRAINING_SECONDS
from ultr_core.own_data.fitting import (
    FOLDS,
    OwnFit,
    fit_from_log,
    fits_of,
    fold_scores,
)
from ultr_core.propensity import ESTIMATORS, PresentationLog
from ultr_core.settings import Settings
from ultr_core.users import ClickLog, ExaminationCurve

LOGGER_SCORES = "logger-scores"
_TELL_EVERY = 0.2  # seconds between two messages to the page


@dataclass(frozen=True)
class Plan:
    """How to train: estimator and learner, and C and threshold, None to choose by validation.

    logger_scores: token of the file of scores of the ranker that showed the documents.
    """

    method: str = WEIGHTS.default
    cost: float | None = None
    clip: float | None = None
    seed: int = 0
    learner: str = TRAINED.default
    logger_scores: str = ""


def want(token: Hashable) -> None:
    """Callback: train what ``token`` stands for."""
    bench().wanted = token


def stop() -> None:
    """Callback of the stop button."""
    bench().wanted = None


def train(
    own: Bench, token: Hashable, corpus: Corpus, log: ClickLog, curve: ExaminationCurve, plan: Plan,
    logger_scores: NDArray[np.float64] | None = None,
) -> None:  # fmt: skip
    """Train with progress, keep the ranker or the sentence that says why there is none.

    Every message to the page is a point at which Stop ends the work, and another control begins
    it again.
    """
    st.button("Stop", key="data-stop", icon=":material/stop_circle:", on_click=stop)
    place = st.empty()
    watch = _Watch(place, fits_of(plan.method, plan.cost, plan.clip, plan.learner) + FOLDS)
    found: OwnFit | InputError
    with turn(place), within(VISITORS_TRAINING_SECONDS):
        try:
            found = fit_from_log(
                corpus, log, curve, method=asked_method(plan.method), cost=plan.cost,
                clip=plan.clip, seed=plan.seed, learner=plan.learner, callback=watch,
                pairs=VISITORS_PAIRS, logger_scores=logger_scores,
            )  # fmt: skip
        except InputError as error:
            found = error
        folds = None
        if isinstance(found, OwnFit):
            # With too few clicked queries, or no time left, it is judged as it is, which is said.
            with suppress(InputError):
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
            self._fit += 1
        self._iteration = progress.iteration
        now = time.monotonic()
        if now - self._told < _TELL_EVERY:
            return
        self._told = now
        self._place.progress(
            min((self._fit - 1) / self._fits, 0.95),  # close settings are fitted again
            f"Fit {self._fit}, {now - self._began:.0f} s; the gap to the optimum is "
            f"{progress.gap_to_optimum:.1%}",
        )


WALK = "whole walk"


@dataclass(frozen=True, eq=False)
class Ranker:
    """A ranker to be judged: its name, scores [documents], and how it came about.

    fit: of one trained here, fair where its scores come from rankers that have not seen the
    query's clicks. model: None where a file has only its scores. file: None for one trained here.
    trained: what a file says of its training.
    """

    name: str
    scores: NDArray[np.float64]
    token: Hashable
    fit: OwnFit | None = None
    model: LinearModel | TreeRanker | None = None
    file: Brought | None = None
    fair: bool = True
    trained: Mapping[str, Any] = field(default_factory=dict)


def joined_log() -> JoinedLog | None:
    """Log and corpus as this run has joined them."""
    own = bench()
    found = own.peek("joined", joined_token(own))
    return found if isinstance(found, JoinedLog) else None


def together(
    corpus: Corpus | None, log: PresentationLog | None, *, shown_whole: bool = False
) -> JoinedLog | None:
    """Log and corpus joined; None, with a sentence on the page, where that cannot be.

    shown_whole: as in `join_log`.
    """
    if corpus is None or log is None:
        return None
    own = bench()
    name = own.files["corpus"].name
    try:
        queries, documents = (names_of(own, kind) for kind in ("query-texts", "document-names"))
        found = own.make(
            "joined-whole" if shown_whole else "joined", joined_token(own),
            lambda: join_log(
                log, corpus, name=name, queries=queries, documents=documents,
                shown_whole=shown_whole,
            ),
        )  # fmt: skip
    except InputError as error:
        if error.about != "query" or not asks_for_queries(own):
            show_error(error)
        if error.about in _BY_NAMES and not own.names_wanted:
            own.names_wanted = True
            st.rerun()  # with the files that would repair it in sight
        return None
    own.names_wanted = False
    return found


_BY_NAMES = ("query_texts", "document_names")


def joined_token(own: Bench) -> Hashable:
    """What log and corpus as they are joined were made of."""
    names = own.token("query-texts"), own.token("document-names")
    return (*corpus_token(own), *names, id_of_log(own))


def ranker_step(
    page: PageContext,
    settings: Settings,
    corpus: Corpus | None,
    log: PresentationLog | None,
    propensities: Propensities | None,
) -> list[Ranker]:
    """Train a ranker, or bring one; those that can be judged."""
    st.subheader("4 · Ranker: learned from the clicks")
    here, elsewhere = st.tabs(["Train on the clicks", "Add a ranker or its scores"])
    with here:
        trained = _train(page, settings, corpus, together(corpus, log), propensities)
    with elsewhere:
        brought = _brought(page, corpus)
    return ([] if trained is None else [trained]) + brought


def plan_chosen(settings: Settings) -> Plan:
    """What the controls of training say."""
    method, by_validation = str(kept(WEIGHTS)), bool(kept(BY_VALIDATION))
    return Plan(
        method,
        None if by_validation else float(kept(CHOSEN_COST)),
        None if by_validation or not _clips(method) else float(kept(CHOSEN_CLIP)),
        settings.seed,
        str(kept(TRAINED)),
        bench().token(LOGGER_SCORES) if ESTIMATORS[method].fits_relevance else "",
    )


def _train(
    page: PageContext,
    settings: Settings,
    corpus: Corpus | None,
    joined: JoinedLog | None,
    propensities: Propensities | None,
) -> Ranker | None:
    if corpus is None or joined is None:
        st.markdown(
            ":material/info: Training needs a corpus (step 1) and a click log for it (step 2)."
        )
        return None
    plan = _controls(page, settings)
    if propensities is None:
        st.markdown(":material/info: Weights need propensities (step 3).")
        return None
    own = bench()
    token = (joined_token(own), propensities.token, plan)
    if WALK in own.wishes:
        own.wishes.discard(WALK)
        own.wanted = token
    found = own.peek("fit", token)
    fit = found if isinstance(found, OwnFit) else None
    clip = fit.clip if fit is not None and _clips(plan.method) else plan.clip or 0.0
    used = ESTIMATORS[plan.method if fit is None else fit.method]
    checks = inspect_together(
        joined, corpus, propensities.curve, estimator=used, clip=clip,
        from_pairs=learner_named(plan.learner).from_pairs,
    )  # fmt: skip
    st.markdown("**Do the log, corpus and propensities fit together?**")
    show_inspection(checks, key="together")
    for notice in joined.notices:
        st.markdown(f"- :material/info: {told(notice)}")
    if own.wanted == token:
        try:
            scores = _logger_scores(own, plan, corpus)
        except InputError as error:
            show_error(error)
            return None
        train(own, token, corpus, joined.clicks, propensities.curve, plan, scores)
    if found is None:
        st.button(
            "Train the ranker", key="data-train", type="primary", icon=":material/play_arrow:",
            on_click=want, args=(token,),
        )  # fmt: skip
        return None
    if isinstance(found, InputError):
        show_error(found)
        return None
    assert fit is not None
    st.markdown(f"{mark('good')} **Trained.** {told(fit.sentence)}")
    st.markdown(plain(fit.ranker.certificate.sentence))
    if fit.by_rank is not None:
        show_figure(partial(rank_test_figure, {fit.label: fit.by_rank}))
    for notice in fit.notices:
        st.markdown(f"- :material/info: {told(notice)}")
    folds = own.peek("fold-scores", token)
    if folds is not None:
        return Ranker(TRAINED_HERE, folds, token, fit=fit, model=fit.ranker)
    scores = own.make("fit-scores", token, lambda: fit.ranker.score(corpus))
    return Ranker(TRAINED_HERE, scores, token, fit=fit, model=fit.ranker, fair=False)


def _logger_scores(own: Bench, plan: Plan, corpus: Corpus) -> NDArray[np.float64] | None:
    """The scores that ranked the shown documents; None where no file has them, or none is used."""
    if not plan.logger_scores:
        return None
    return _read_scores(own.files[LOGGER_SCORES], corpus).scores


def _clips(method: str) -> bool:
    """Whether this way to weight clicks has a threshold."""
    return "clip" in ESTIMATORS[method].needs


def _controls(page: PageContext, settings: Settings) -> Plan:
    method = control(WEIGHTS, keep=True)
    if ESTIMATORS[method].fits_relevance:
        bring(
            page, LOGGER_SCORES, "Scores used to rank the shown documents (optional)",
            LOOKS_LIKE["scores"], HELP[LOGGER_SCORES],
        )  # fmt: skip
    if len(TRAINED.options) > 1:
        control(TRAINED, keep=True)
    if not control(BY_VALIDATION, keep=True):
        with st.container(horizontal=True):
            control(CHOSEN_COST, keep=True, width=180)
            if _clips(method):
                control(CHOSEN_CLIP, keep=True, width=180)
    return plan_chosen(settings)


def _brought(page: PageContext, corpus: Corpus | None) -> list[Ranker]:
    """Rankers from files: a model, and scores of any ranker."""
    found = []
    for kind, label, read in (
        ("ranker", "Ranker", _model), ("scores", "Scores for the corpus", _scores),
    ):  # fmt: skip
        file = bring(page, kind, label, LOOKS_LIKE[kind], HELP[kind])
        if file is None:
            continue
        try:
            ranker = read(file, corpus)
        except InputError as error:
            show_error(error)
            continue
        found += [] if ranker is None else [ranker]
    return found


def _model(file: Brought, corpus: Corpus | None) -> Ranker | None:
    own = bench()
    model = own.make("model", file.token, lambda: _read_model(file))
    missing_zero = reads_missing_as_zero(file)
    token = (file.token, *corpus_token(own), missing_zero)
    with within(VISITORS_SCORING_SECONDS, "Scoring"):
        checks = own.make(
            "model-checks", token, lambda: _inspected(model, corpus, file.name, missing_zero)
        )
    show_inspection(checks, key="ranker")
    if corpus is None:
        return None
    if missing_zero or about(checks.finding(FEATURES[0]).sentence) == MISSING_ZERO.name:
        control(_missing_zero(file), keep=True)
    with within(VISITORS_SCORING_SECONDS, "Scoring"):
        scores = own.make(
            "model-scores", token,
            lambda: score_model(model, corpus, missing_zero=missing_zero)[0],
        )  # fmt: skip
    trained = own.make("model-record", file.token, lambda: _record(file))
    return Ranker(file.name, scores, token, model=model, file=file, trained=trained)


def _inspected(
    model: LinearModel | TreeRanker, corpus: Corpus | None, name: str, missing_zero: bool
) -> Inspection:
    if isinstance(model, TreeRanker):
        return inspect_trees(model, corpus, name=name, missing_zero=missing_zero)
    return inspect_ranker(model, corpus, name=name, missing_zero=missing_zero)


def reads_missing_as_zero(file: Brought) -> bool:
    """Whether features that the ranker of a file or the corpus lacks are 0."""
    return bool(kept(_missing_zero(file)))


def _missing_zero(file: Brought) -> Field:
    return replace(MISSING_ZERO, key=f"data-missing-zero-{file.token}")


def _read_model(file: Brought) -> LinearModel | TreeRanker:
    if file.path is not None:
        return read_model(file.path)
    require_kind(file, "model", "ranker", "trees")
    return parse_model(file.data, file.name)


def _record(file: Brought) -> dict[str, Any]:
    if file.path is not None:
        return read_model_record(file.path)
    return parse_model_record(file.data, file.name)


def _scores(file: Brought, corpus: Corpus | None) -> Ranker | None:
    own = bench()
    if corpus is None:
        st.markdown(":material/info: Scores need a corpus; add one in step 1.")
        return None
    token = (file.token, *corpus_token(own))
    scores, notices = own.make("scores", token, lambda: _read_scores(file, corpus))
    checks = inspect_scores(scores, corpus, name=file.name, notices=notices)
    show_inspection(checks, key="scores")
    return Ranker(file.name, scores, token, file=file)


def _read_scores(file: Brought, corpus: Corpus) -> ScoreFile:
    if file.path is not None:
        return read_score_file(file.path, corpus)
    require_kind(file, "scores", "groups")
    return parse_score_file(file.data, corpus, file.name)
