"""Step 5 of the page Your data: what the log says about a ranker that was never shown."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from pages.app.field_control import control, kept
from pages.app.frame import show_figure
from pages.app.markdown import plain, set_formulas, show_error, show_note, shown, told
from pages.app.style import BY_GRADES
from pages.views.your_data.bench import bench
from pages.views.your_data.curve import Propensities
from pages.views.your_data.findings import show_points, show_rows
from pages.views.your_data.ranker import Ranker, joined_token, together
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.fields import Choice
from ultr_core.figures import evidence_figure
from ultr_core.inspection import Inspection, JoinedLog, Sees, inspect_together, unshown_candidates
from ultr_core.jobs.your_data import JUDGE, JUDGED_AT, JUDGED_WHOLE, asked_method
from ultr_core.own_data.evaluation import (
    INTERVALS_ARE_FOR,
    MEAN_RANK_BY_GRADES,
    NDCG_CUTOFF,
    WITH_GRADES,
    Evaluation,
    Judge,
    RankerDifference,
    RiskReport,
    compare_rankers,
    compare_with_shown,
    evaluate_ranker,
    judge_by,
    truth_sentence,
)
from ultr_core.own_data.fitting import FOLDS
from ultr_core.own_data.provenance import Provenance, trained_on
from ultr_core.propensity import PresentationLog
from ultr_core.settings import Settings
from ultr_core.words import counted, with_minus

_SHOWN = ("never_shown", "effective_sample_size", "largest_weight", "heaviest_clicks")


@dataclass(frozen=True, eq=False)
class Judged:
    """A ranker, what the log says of it, and how it compares: first with what users saw.

    whole: whether only queries judge whose candidates were all shown; joined: those that do.
    judge: who judged it. checks: of what is used together. trained: whether these clicks trained
    it, None if unknown.
    """

    ranker: Ranker
    found: Evaluation
    against: list[RankerDifference]
    joined: JoinedLog
    judge: Judge
    checks: Inspection
    trained: bool | None
    whole: bool = False


def evidence_step(
    settings: Settings,
    corpus: Corpus | None,
    log: PresentationLog | None,
    joined: JoinedLog | None,
    propensities: Propensities | None,
    rankers: list[Ranker],
) -> Judged | None:
    """Judge one of the rankers; None where there is nothing to judge."""
    st.subheader("5 · Evidence: how good the ranker is")
    if corpus is None or joined is None or propensities is None or not rankers:
        st.markdown(
            ":material/info: Evidence needs a corpus, a log and propensities (steps 1 to 3) and "
            "a ranker (step 4)."
        )
        return None
    ranker = _chosen(rankers)
    unshown = unshown_candidates(joined.clicks)
    whole = bool(unshown.never or unshown.left_out) and bool(control(JUDGED_WHOLE, keep=True))
    origins = {one.token: _origin(one, corpus, joined) for one in rankers}
    if whole:
        part = together(corpus, log, shown_whole=True)
        if part is None:
            return None
        joined = part
        show_note(joined.notices[-1])
    clip = judging_clip()
    own = bench()
    token = (
        ranker.token,
        joined_token(own),
        propensities.token,
        kept(JUDGE),
        clip,
        whole,
        own.token("qrels"),
        settings.relevant_grade,
    )
    try:
        judge = own.make(
            "judge", token,
            lambda: judge_by(
                asked_method(str(kept(JUDGE)), judges=True), corpus, joined.clicks,
                propensities.curve, clip=clip, biased=propensities.biased,
            ),
        )  # fmt: skip
        found = own.make(
            "evidence", token,
            lambda: evaluate_ranker(
                corpus, joined.clicks, ranker.scores, propensities.curve, clip=clip,
                relevant_grade=settings.relevant_grade, name=ranker.name, judge=judge,
            ),
        )  # fmt: skip
    except InputError as error:
        show_error(error)
        return None
    against = _against(joined, ranker, rankers, propensities, judge, origins)
    st.markdown(f"**{told(against[0].sentence)}**")
    sentences = [
        *(other.sentence for other in against[1:]),
        truth_sentence(found),
        found.sentence,
        _fairness(ranker, origins[ranker.token]),
    ]
    st.markdown("\n".join(f"- {told(text)}" for text in sentences if text))
    if any(report.estimate is not None for report in found.risks):
        show_figure(partial(evidence_figure, found), key="-own")
    _tables(found)
    checks = _weights(joined, corpus, propensities, clip, found.unshown.sees)
    for notice in found.notices:
        st.markdown(f"- :material/info: {told(notice)}")
    trained = origins[ranker.token].trained
    return Judged(ranker, found, against, joined, judge, checks, trained, whole)


def _against(
    joined: JoinedLog,
    ranker: Ranker,
    rankers: list[Ranker],
    propensities: Propensities,
    judge: Judge,
    origins: Mapping[Hashable, Provenance],
) -> list[RankerDifference]:
    """The ranker against what users saw, and against the other rankers on the page."""
    log, curve = joined.clicks, propensities.curve
    trained = [one.name for one in rankers if origins[one.token].trained]
    return [
        compare_with_shown(
            log, ranker.scores, curve, name=ranker.name, judge=judge, trained=ranker.name in trained
        ),
        *(
            compare_rankers(
                log, ranker.scores, other.scores, curve, names=(ranker.name, other.name),
                judge=judge,
                trained=next((name for name in (ranker.name, other.name) if name in trained), ""),
            )
            for other in rankers
            if other is not ranker
        ),
    ]  # fmt: skip


def _origin(ranker: Ranker, corpus: Corpus, joined: JoinedLog) -> Provenance:
    """What is known of the clicks that trained a ranker."""
    if ranker.fit is not None:
        return Provenance(held_out=True) if ranker.fair else Provenance(share=1.0)
    return trained_on(corpus, joined.clicks, ranker.trained)


def _fairness(ranker: Ranker, origin: Provenance) -> str:
    """On which clicks a ranker is judged: its own ones flatter it."""
    if ranker.fit is None:
        return origin.told(ranker.name)
    if not ranker.fair:
        return (
            "Too few queries have clicks to hold any out, so the ranker is judged on the clicks it "
            "was trained on, which makes it look too good."
        )
    return (
        f"The ranker is judged fairly: {FOLDS} rankers were trained, each without some of the "
        "queries, and each query is ranked by the ranker trained without its clicks. The file "
        "contains the ranker trained on all queries."
    )


def judging_clip() -> float | None:
    """The threshold of the clipped estimate where that judges, None for IPS."""
    return float(kept(JUDGED_AT)) if kept(JUDGE) == "clipped" else None


def _chosen(rankers: list[Ranker]) -> Ranker:
    names = {str(place): shown(ranker.name) for place, ranker in enumerate(rankers)}
    with st.container(horizontal=True):
        place = control(Choice("data-judged", "Ranker to judge", names), keep=True, width=420)
        if control(JUDGE, keep=True, width=220) == "clipped":
            control(JUDGED_AT, keep=True, width=220)
    return rankers[min(int(place), len(rankers) - 1)]


def _tables(found: Evaluation) -> None:
    show_rows(
        [_row(report) for report in found.reports.values()],
        key="estimates", alt="Estimates of the risk with their intervals",
        saved=[{"key": key, **report.as_dict()} for key, report in found.reports.items()],
    )  # fmt: skip
    assumed = "".join(f"\n    - {plain(text)}" for text in found.assumptions)
    st.markdown(f"- :material/info: {INTERVALS_ARE_FOR}{assumed}")
    true = found.true
    if true is None:
        return
    what = "From the grades"
    rows: list[dict[str, Any]] = [
        {what: "Risk, queries counted as in the log", "Value": true.risk_of_log},
        {what: "Risk, each query counted once", "Value": true.risk},
        {what: f"Risk {WITH_GRADES}", "Value": true.graded_risk_of_log},
        {what: MEAN_RANK_BY_GRADES.capitalize(), "Value": true.mean_rank},
        {what: f"NDCG@{NDCG_CUTOFF}", "Value": true.ndcg.value},
    ]
    rows = [row for row in rows if row["Value"] is not None]
    show_rows(
        [
            {**row, what: set_formulas(row[what]), "Value": f"{row['Value']:.3f}"}
            for row in rows
        ],
        key=BY_GRADES, alt="Quality from the grades", saved=rows,
    )  # fmt: skip
    tied = counted(found.tied, "document has", "documents have")
    st.markdown(
        f"{plain(true.rule)} {plain(true.ndcg.rule)} {tied} the same score as another document "
        "for the same query."
    )


def _row(report: RiskReport) -> dict[str, str]:
    found = report.estimate
    return {
        "Estimate": report.label,
        "Value": "none" if found is None else with_minus(f"{found.value:.3f}"),
        "95% interval": "" if found is None else with_minus(found.interval_text()),
        "What it is": told(report.words),
    }


def _weights(
    joined: JoinedLog, corpus: Corpus, propensities: Propensities, clip: float | None, sees: Sees
) -> Inspection:
    """What the log leaves out, and how much of the estimate hangs on few clicks."""
    checks = inspect_together(joined, corpus, propensities.curve, clip=clip or 0.0, sees=sees)
    show_points([finding for finding in checks.findings if finding.key in _SHOWN])
    return checks
