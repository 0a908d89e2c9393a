"""Checks of a ranker: a fitted model, or the scores that any program gave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import constant_notice, tied_groups
from ultr_core.errors import InputError, Remark
from ultr_core.files.ranker_files import on_columns_of
from ultr_core.files.score_files import require_finite_scores
from ultr_core.findings import Finding
from ultr_core.inspection.inspection import Check, Inspection, Seen, graded, reader_notes
from ultr_core.learners.certificate import DUALITY_GAP
from ultr_core.learners.ranker import LinearModel, LinearRanker
from ultr_core.learners.trees import TreeRanker
from ultr_core.words import counted, part_of

LOOSE_GAP = 1e-2
"""Relative duality gap beyond which a ranker is not what its objective asks for."""

_MANY_TIES = 0.1

FEATURES = "features", "Features in common"
FINITE = "finite_scores", "Scores that are not finite"


def inspect_ranker(
    ranker: LinearModel,
    corpus: Corpus | None = None,
    *,
    name: str = "the ranker",
    form: str = "linear model",
    missing_zero: bool = False,
) -> Inspection:
    """Check a ranker's weights and certificate and, with a corpus, its features and ties.

    missing_zero: as in `on_columns_of`.
    """
    findings = WEIGHTS.of(ranker)
    if isinstance(ranker, LinearRanker):
        by_duality = ranker.certificate.measure == DUALITY_GAP
        findings += (GAP if by_duality else CERTIFICATE).of(ranker)
    if corpus is not None:
        findings += _on_corpus(ranker, corpus, missing_zero, name)
    return Inspection("ranker", name, form, findings, {"features": ranker.feature_ids.size})


def inspect_trees(
    trees: TreeRanker,
    corpus: Corpus | None = None,
    *,
    name: str = "the trees",
    missing_zero: bool = False,
) -> Inspection:
    """Check that trees tell documents apart and, with a corpus, its features and ties.

    missing_zero: as in `TreeRanker.score_with_notices`.
    """
    findings = SPLITS.of(trees)
    ids = trees.forest.feature_ids
    if corpus is not None:
        try:
            scores, notices = trees.score_with_notices(corpus, missing_zero=missing_zero)
        except InputError as error:
            remark = Remark(str(error), error.about)
            findings += (Finding.of_file(*FEATURES, 0, "stop", remark),)
        else:
            used = ids[trees.forest.split_on]
            common = int(np.intersect1d(used, corpus.feature_ids).size)
            words = " ".join(notices) or (
                f"The corpus has all {counted(common, 'feature')} that the trees split on."
            )
            features = Finding.of_file(*FEATURES, common, "warning" if notices else "good", words)
            findings += (features, *_of_scores(scores, corpus, name))
    counts = {"features": ids.size, "trees": trees.trees}
    return Inspection("trees", name, "LightGBM model text", findings, counts)


def inspect_scores(
    scores: NDArray[np.float64],
    corpus: Corpus,
    *,
    name: str = "the scores",
    form: str = "score file",
    notices: Sequence[str] = (),
) -> Inspection:
    """Check scores [documents] for a corpus; notices: sentences from reading them."""
    findings = (*_of_scores(scores, corpus, name), *reader_notes(notices))
    return Inspection("scores", name, form, findings, {"documents": corpus.n_documents})


def _on_corpus(
    ranker: LinearModel, corpus: Corpus, missing_zero: bool, name: str
) -> tuple[Finding, ...]:
    try:
        model, notices = on_columns_of(corpus, ranker, missing_zero=missing_zero)
    except InputError as error:
        return (Finding.of_file(*FEATURES, 0, "stop", Remark(str(error), error.about)),)
    common = int(np.intersect1d(ranker.feature_ids, corpus.feature_ids).size)
    words = " ".join(notices) or (
        f"The ranker and the corpus have the same {counted(common, 'feature')}."
    )
    features = Finding.of_file(*FEATURES, common, "warning" if notices else "good", words)
    return (features, *_of_scores(model.score(corpus), corpus, name))


def _of_scores(scores: NDArray[np.float64], corpus: Corpus, name: str) -> tuple[Finding, ...]:
    """Ties, or that there is nothing to rank by."""
    try:
        require_finite_scores(scores, name)
    except InputError as error:
        unusable = int(np.count_nonzero(~np.isfinite(scores)))
        return (Finding.of_file(*FINITE, unusable, "stop", str(error)),)
    return TIES.of((scores, corpus))


def _weights(ranker: LinearModel) -> Seen:
    used = int(np.count_nonzero(ranker.coefficients))
    words = f"{part_of(used, ranker.feature_ids.size, 'feature')} a weight other than 0"
    rest = "." if used else ": every document gets the same score."
    return graded(used, f"{words}{rest}", stop=not used)


def _splits(trees: TreeRanker) -> Seen:
    used = len({feature for tree in trees.forest.trees for feature in tree.feature.tolist()})
    split = part_of(used, trees.forest.feature_ids.size, "feature", does="splits", do="split")
    rest = "." if used else ": every document gets the same score."
    return graded(used, f"{split} documents in {counted(trees.trees, 'tree')}{rest}", stop=not used)


def _certificate(ranker: LinearRanker) -> Seen:
    found, gap = ranker.certificate, ranker.certificate.gap
    good = found.converged or (found.measure == DUALITY_GAP and gap <= LOOSE_GAP)
    rest = "." if good else "; train longer: it has not reached its optimum."
    return graded(
        gap,
        f"Trained with C = {ranker.cost:g} to a {found.measure} of {gap:.2g}{rest}",
        warning=not good,
    )


def _ties(given: tuple[NDArray[np.float64], Corpus]) -> Seen:
    scores, corpus = given
    tied = tied_groups(scores, corpus.query_offsets).tied
    share = tied / corpus.n_documents
    constant = bool(constant_notice("", scores, corpus.query_offsets))
    words = (
        f"{tied:,} of {counted(corpus.n_documents, 'document')} ({share:.0%}) share their score "
        "with another document for the same query. Risks and NDCG are means over all orders of "
        "tied documents; neither labels nor the order in the file break ties."
    )
    if constant:
        words = f"For each query, all candidates have the same score, so nothing is ranked. {words}"
    return graded(tied, words, stop=constant, warning=share > _MANY_TIES)


WEIGHTS = Check("weights", "Weights", _weights)
SPLITS = Check("splits", "Splits", _splits)
GAP = Check("duality_gap", "Duality gap", _certificate)
CERTIFICATE = Check("certificate", "Certificate", _certificate)
TIES = Check("ties", "Equal scores", _ties)
