"""A reader's own corpus, click log, propensities and ranker, from checks to evidence."""

from __future__ import annotations

import streamlit as st

from pages.app import lecture
from pages.app.context import PageContext, require_settings
from pages.app.markdown import plain, told
from pages.views.your_data.bench import bench, largest_upload_mb
from pages.views.your_data.corpus import corpus_step
from pages.views.your_data.curve import Propensities, propensities_step
from pages.views.your_data.evidence import Judged, evidence_step
from pages.views.your_data.gate import gate_step
from pages.views.your_data.input import KINDS, use_samples
from pages.views.your_data.log import log_step
from pages.views.your_data.ranker import (
    WALK,
    Ranker,
    joined_log,
    ranker_step,
)
from pages.views.your_data.take import take_away_section
from ultr_core.corpus import Corpus
from ultr_core.errors import named
from ultr_core.jobs.your_data import BY_VALIDATION, JOB, SOURCE, WEIGHTS
from ultr_core.own_data.deployment import Gate
from ultr_core.own_data.evaluation import Evaluation
from ultr_core.propensity import PresentationLog
from ultr_core.words import counted, with_minus

_WALK_FILES = ("corpus", "log", "curve", "ranker")
_DONE, _OPEN = ":green[:material/check_circle:]", ":gray[:material/radio_button_unchecked:]"

_WANTED = {
    "corpus": "documents with features, one per line",
    "log": "what was shown where, and what was clicked",
    "ranker": "trained here or uploaded",
    "evidence": "its risk with an interval, and whether it beats what users saw",
    "gate": "whether it may replace what users saw",
}


def _introduction() -> None:
    """What the page is for, and the two buttons that concern all of it."""
    own = bench()
    brought = tuple(kind for kind in own.files if kind in KINDS)
    st.markdown(
        "Add a corpus and a click log. The lab checks them, weights the clicks, trains a "
        "ranker and estimates from the log how good it is, with intervals. You can also use each "
        "step on its own."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use the samples", key="data-samples", icon=":material/science:", on_click=_walk,
            type="secondary" if brought else "primary",
            help="A small corpus with clicks, propensities and a ranker, so that you can try "
            "every step.",
        )  # fmt: skip
        if brought:
            st.button(
                "Remove everything", key="data-clear", icon=":material/delete:", type="tertiary",
                on_click=own.drop, args=brought,
            )  # fmt: skip
        st.markdown(
            f":material/lock: Up to {largest_upload_mb()} MB per file. Only this session sees "
            "your files; they are deleted when the session ends. A larger text file may fit if "
            "compressed with gzip.",
            width="content",
        )
    grade, seed = (field.label for field in JOB.pages["your_data"].settings)
    st.markdown(
        f":small[:material/tune: Of the settings above, “{grade}” and “{seed}” apply to your "
        "files.]"
    )


def _walk() -> None:
    """Callback: all samples, and training at once."""
    use_samples(_WALK_FILES)
    st.session_state[SOURCE.key] = "file"
    for field in (WEIGHTS, BY_VALIDATION):
        st.session_state[field.key] = field.default
    bench().wishes.add(WALK)


def _overview(
    corpus: Corpus | None,
    log: PresentationLog | None,
    propensities: Propensities | None,
    rankers: list[Ranker],
    judged: Judged | None,
    passing: Gate | None,
) -> str:
    """How far each step is, a line each, in Markdown."""
    about = None if propensities is None else plain(propensities.about)
    lines = [
        _line("Corpus", None if corpus is None else _of_corpus(corpus), _WANTED["corpus"]),
        _line("Click log", None if log is None else _of_log(log), _WANTED["log"]),
        _line("Propensities", None if log is None else about, about or ""),
        _line("Ranker", _listed(rankers), _WANTED["ranker"]),
        _line(
            "Evidence", None if judged is None else _of_evidence(judged.found), _WANTED["evidence"]
        ),
        _line("Gate", None if passing is None else _of_gate(passing), _WANTED["gate"]),
    ]
    verdict = [] if judged is None else [f"**{told(judged.against[0].sentence)}**", ""]
    return "\n".join([*verdict, "  \n".join(lines)])


def _line(name: str, told: str | None, wanted: str = "") -> str:
    """A step that is done, or one that is open and what it needs."""
    if told is not None:
        return f"{_DONE} **{name}**: {told}"
    return f"{_OPEN} {name}" + (f": {wanted}" if wanted else "")


def _listed(rankers: list[Ranker]) -> str | None:
    return " and ".join(plain(named(ranker.name)) for ranker in rankers) or None


def _of_corpus(corpus: Corpus) -> str:
    return (
        f"{counted(corpus.n_queries, 'query', 'queries')}, "
        f"{counted(corpus.n_documents, 'document')}"
    )


def _of_log(log: PresentationLog) -> str:
    counts = log.counts()
    return f"{counted(counts['clicks'], 'click')} in {counted(counts['impressions'], 'impression')}"


def _of_evidence(found: Evaluation) -> str:
    estimate = found.judged.estimate
    if estimate is None:
        return "no estimate"
    truth = "" if found.true is None else f"; from the grades {found.true.estimated:.2f}"
    interval = f"{estimate.low:.2f} to {estimate.high:.2f}"
    return with_minus(f"estimated risk {estimate.value:.2f} ({interval}){truth}")


def _of_gate(found: Gate) -> str:
    return "the ranker passes" if found.deploy else "the ranker does not pass"


def show(page: PageContext) -> None:
    """Six steps, each alone or after the others, and what can be taken away."""
    settings = require_settings(page)
    _introduction()
    top = lecture.headline()
    corpus = corpus_step(page, settings)
    log = log_step(page, settings, corpus)
    propensities = propensities_step(page, log)
    rankers = ranker_step(page, settings, corpus, log, propensities)
    joined = joined_log()
    judged = evidence_step(settings, corpus, log, joined, propensities, rankers)
    passing = gate_step(log, propensities, rankers, judged)
    take_away_section(settings, corpus, rankers, judged, passing)
    top.place().markdown(_overview(corpus, log, propensities, rankers, judged, passing))
