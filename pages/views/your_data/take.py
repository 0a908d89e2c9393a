"""What can be taken away from the page Your data: files, command lines, a notebook."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import partial

import streamlit as st

from pages.app import take_away
from pages.app.field_control import kept
from pages.app.markdown import plain, show_note
from pages.app.style import COMMANDS
from pages.views.your_data.bench import bench
from pages.views.your_data.corpus import ids_of_corpus
from pages.views.your_data.curve import carries_on
from pages.views.your_data.evidence import Judged, judging_clip
from pages.views.your_data.input import download
from pages.views.your_data.log import chosen
from pages.views.your_data.ranker import (
    LOGGER_SCORES,
    Ranker,
    plan_chosen,
    reads_missing_as_zero,
)
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, named
from ultr_core.files.ranker_files import ranker_text, svm_light_text
from ultr_core.files.score_files import scores_text
from ultr_core.files.weight_files import weights_text
from ultr_core.jobs.your_data import (
    ESTIMATED_CURVE,
    ESTIMATOR,
    ETA,
    JUDGE,
    SOURCE,
    OwnWork,
    command_lines,
    own_notebook,
)
from ultr_core.own_data.curves import training_file, training_file_bytes
from ultr_core.own_data.deployment import Gate
from ultr_core.own_data.fitting import OwnFit
from ultr_core.own_data.provenance import record_of
from ultr_core.settings import Settings


def take_away_section(
    settings: Settings,
    corpus: Corpus | None,
    rankers: list[Ranker],
    judged: Judged | None,
    passing: Gate | None,
) -> None:
    """Files of the trained ranker and of the judged one, and how to do the same elsewhere."""
    work = _work(settings, rankers, judged, passing)
    st.session_state[take_away.OWN_FILES] = work
    if not command_lines(work):
        return
    st.subheader("Download")
    if corpus is not None:
        with st.container(horizontal=True):
            for ranker in rankers:
                _files(corpus, ranker)
    with st.container(horizontal=True):
        download(
            "Notebook", lambda: own_notebook(work).as_bytes(), "your-data.ipynb",
            key="data-notebook",
        )  # fmt: skip
        if judged is not None:
            evidence = {
                **judged.found.as_dict(), "against": [other.as_dict() for other in judged.against],
                "gate": None if passing is None else passing.as_dict(),
            }  # fmt: skip
            download(
                "Evidence (JSON)",
                lambda: json.dumps(evidence, indent=1, ensure_ascii=False).encode(),
                "evidence.json", key="data-evidence",
            )  # fmt: skip
    st.markdown("To do the same on the command line, run this in the folder with your files:")
    st.code("\n".join(command_lines(work)), language=COMMANDS, wrap_lines=True)


def _files(corpus: Corpus, ranker: Ranker) -> None:
    key = "fit" if ranker.fit is not None else "file"
    if ranker.fit is not None:
        fit = ranker.fit
        download(
            "Ranker (JSON)", lambda: ranker_text(fit.ranker, record_of(fit)).encode(),
            "ranker.json", key="data-json",
        )  # fmt: skip
        download(
            "Weights (CSV)", lambda: weights_text(corpus, fit.weights).encode(), "weights.csv",
            key="data-weights",
        )  # fmt: skip
        _for_svm_light(corpus, fit, ranker.token)
    if ranker.fit is not None or ranker.model is not None:
        download(
            "Scores (CSV)" if key == "fit" else f"Scores of {plain(named(ranker.name))} (CSV)",
            partial(_scores, corpus, ranker), "scores.csv",
            key=f"data-scores-{key}",
        )  # fmt: skip


def _scores(corpus: Corpus, ranker: Ranker) -> bytes:
    """Scores by the ranker itself, also where it is judged by those of its folds."""
    scores = ranker.scores if ranker.fit is None else ranker.fit.ranker.score(corpus)
    return scores_text(corpus, scores, form="table").encode()


def _for_svm_light(corpus: Corpus, fit: OwnFit, token: Hashable) -> None:
    """Files for the original programs, or the sentence that says why there are none."""
    try:
        text = svm_light_text(fit.ranker)
        download("Ranker (svm_light)", text.encode, "model.dat", key="data-svm-light")
        bench().make("training-file", token, lambda: training_file_bytes(corpus, fit.weights))
    except InputError as error:
        show_note(error)
        return
    download(
        "Training file (svm_proprank)", partial(training_file, corpus, fit.weights),
        "training.txt.gz", key="data-proprank",
    )  # fmt: skip


def _work(
    settings: Settings, rankers: list[Ranker], judged: Judged | None, passing: Gate | None
) -> OwnWork:
    own = bench()
    names = {kind: file.name for kind, file in own.files.items()}
    parts = {kind: tuple(each.name for each in file.files) for kind, file in own.files.items()}
    reading = chosen(own)
    plan = plan_chosen(settings)
    steps = ["propensities"] if "log" in names else []
    steps += ["fit"] if any(ranker.fit is not None for ranker in rankers) else []
    steps += ["evaluate"] if judged is not None else []
    file = judged.ranker.file if judged is not None else None
    return OwnWork(
        corpus=names.get("corpus"),
        log=parts.get("log", ()),
        clicks=parts.get("clicks", ()),
        columns=reading.columns,
        reading=reading.values,
        propensities=kept(SOURCE),
        eta=kept(ETA),
        curve=names.get("curve", ESTIMATED_CURVE),
        estimator=kept(ESTIMATOR),
        carry_on=carries_on(),
        method=plan.method,
        learner=plan.learner,
        cost=plan.cost,
        clip=plan.clip,
        seed=plan.seed,
        relevant_grade=settings.relevant_grade,
        judged=None if file is None else file.name,
        scores=judged is not None and judged.ranker.model is None,
        folds=all(ranker.fair for ranker in rankers),
        logger_scores=names.get(LOGGER_SCORES) if plan.logger_scores else None,
        judge=kept(JUDGE),
        judging_clip=judging_clip(),
        candidates=1 if passing is None else passing.candidates,
        shown_whole=judged is not None and judged.whole,
        ids=ids_of_corpus(own),
        qrels=names.get("qrels"),
        query_texts=names.get("query-texts"),
        document_names=names.get("document-names"),
        missing_zero=file is not None and reads_missing_as_zero(file),
        steps=tuple(steps),
    )
