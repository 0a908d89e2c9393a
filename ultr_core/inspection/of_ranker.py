"""Checks of a ranker: a fitted model, or the scores that any program gave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files.ranker_files import on_columns_of
from ultr_core.findings import Finding, Severity
from ultr_core.inspection.findings import Inspection
from ultr_core.inspection.ties import tied_groups
from ultr_core.learners.certificate import DUALITY_GAP
from ultr_core.learners.ranker import LinearModel, LinearRanker
from ultr_core.words import counted, part_of

LOOSE_GAP = 1e-2
"""Relative duality gap beyond which a ranker is not what its objective asks for."""

_MANY_TIES = 0.1


def inspect_ranker(
    ranker: LinearModel,
    corpus: Corpus | None = None,
    *,
    name: str = "the ranker",
    form: str = "linear model",
) -> Inspection:
    """Check weights and certificate of a ranker and, with a corpus, features and ties in it."""
    findings = [_weights(ranker)]
    if isinstance(ranker, LinearRanker):
        findings.append(_certificate(ranker))
    if corpus is not None:
        findings += _on_corpus(ranker, corpus)
    return Inspection("ranker", name, form, tuple(findings), {"features": ranker.feature_ids.size})


def inspect_scores(
    scores: NDArray[np.float64],
    corpus: Corpus,
    *,
    name: str = "the scores",
    form: str = "score file",
) -> Inspection:
    """Check scores [documents] of a corpus."""
    return Inspection(
        "scores", name, form, tuple(_ties(scores, corpus)), {"documents": corpus.n_documents}
    )


def _weights(ranker: LinearModel) -> Finding:
    used = int(np.count_nonzero(ranker.coefficients))
    words = f"{part_of(used, ranker.feature_ids.size, 'feature')} a weight other than 0"
    if used:
        return Finding.of_file("weights", "Weights", used, "good", f"{words}.")
    return Finding.of_file(
        "weights", "Weights", 0, "stop", f"{words}: every document gets the same score."
    )


def _certificate(ranker: LinearRanker) -> Finding:
    found, gap = ranker.certificate, ranker.certificate.gap
    by_duality = found.measure == DUALITY_GAP
    good = found.converged or (by_duality and gap <= LOOSE_GAP)
    return Finding.of_file(
        "duality_gap" if by_duality else "certificate",
        "Duality gap" if by_duality else "Certificate",
        gap,
        "good" if good else "warning",
        f"Trained with C = {ranker.cost:g} to a {found.measure} of {gap:.2g}"
        + ("." if good else "; train longer, it is not yet what its objective asks for."),
    )


def _on_corpus(ranker: LinearModel, corpus: Corpus) -> list[Finding]:
    try:
        model, notices = on_columns_of(corpus, ranker)
    except InputError as error:
        return [Finding.of_file("features", "Features in common", 0, "stop", str(error))]
    common = int(np.intersect1d(ranker.feature_ids, corpus.feature_ids).size)
    return [
        Finding.of_file(
            "features",
            "Features in common",
            common,
            "warning" if notices else "good",
            " ".join(notices) or f"Ranker and corpus have the same {counted(common, 'feature')}.",
        ),
        *_ties(model.score(corpus), corpus),
    ]


def _ties(scores: NDArray[np.float64], corpus: Corpus) -> list[Finding]:
    tied = tied_groups(scores, corpus.query_offsets).tied
    share = tied / corpus.n_documents
    several = int(corpus.sizes[corpus.sizes > 1].sum())
    starts = corpus.query_offsets[:-1]
    flat = np.minimum.reduceat(scores, starts) == np.maximum.reduceat(scores, starts)
    constant = several > 0 and bool(flat.all())
    severity: Severity = "stop" if constant else "warning" if share > _MANY_TIES else "good"
    words = (
        f"{tied:,} of {counted(corpus.n_documents, 'document')} ({share:.0%}) share their score "
        "with another of their query. Risks and NDCG are the mean over all orders of ties; "
        "labels and the order of the file play no part."
    )
    if constant:
        words = f"All candidates of every query have one score, so nothing is ranked. {words}"
    return [Finding.of_file("ties", "Equal scores", tied, severity, words)]
