"""Training trees on a click log from outside, by any estimator, and folds to judge them.

fit = fit_trees_from_log(corpus, log, curve, method="ips")
fit.sentence, fit.ranker.score(corpus)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.findings import Finding
from ultr_core.lab.trees import choose_trees
from ultr_core.learners import trees_by_position as by_position
from ultr_core.learners.relevance import Shown
from ultr_core.learners.trees import LABEL as TREES_LABEL
from ultr_core.learners.trees import (
    TREES,
    TREES_WITHOUT_VALIDATION,
    TreeRanker,
    fit_trees,
    lightgbm,
)
from ultr_core.own_data.agreement import warned
from ultr_core.own_data.fitting import (
    Tell,
    agreement_on,
    chosen_on,
    clicked_documents,
    folds_of,
    known_of_rest,
    method_of_key,
    method_or_default,
    part_of_shown,
    prepared,
    scores_by_fold,
    with_never_shown,
)
from ultr_core.own_data.provenance import fingerprint
from ultr_core.propensity import ESTIMATORS, Belief, Estimator, Targets
from ultr_core.risk.by_rank import RankTest
from ultr_core.users import ClickLog, ExaminationCurve, PowerLaw
from ultr_core.words import counted


@dataclass(frozen=True, eq=False)
class TreeFit:
    """Trees grown on a log, with everything used to grow them; fields as in `OwnFit`.

    method: "" for trees by position, which have no estimator and no targets. learner: its key.
    """

    ranker: TreeRanker
    method: str
    clip: float
    chosen_by: str
    clicks: int
    query_draws: int
    clicked_documents: int
    notices: tuple[str, ...]
    asked: str
    belief: Belief
    by_rank: RankTest | None = None
    ridge: float = 0.0
    agreement: tuple[Finding, ...] = ()
    logger_scores: NDArray[np.float64] | None = None
    fingerprint: Sequence[str] = ()
    learner: str = TREES
    targets: Targets | None = None

    @property
    def estimator(self) -> Estimator:
        """The estimator that weights the clicks; for trees by position, each click counts once."""
        return ESTIMATORS[self.method or "naive"]

    @property
    def label(self) -> str:
        """The method's name."""
        if not self.method:
            return by_position.LABEL
        return f"{ESTIMATORS[self.method].label}, {TREES_LABEL}"

    @property
    def sentence(self) -> str:
        """A sentence that says what was trained."""
        instead = ""
        if self.asked != self.method:
            asked = ESTIMATORS[self.asked].label
            instead = f", instead of {asked}, whose fitted relevance a test rejects,"
        clip = f", τ = {self.clip:.3g}" if "clip" in self.estimator.needs else ""
        return (
            f"{self.label} ranker{instead} from {counted(self.clicks, 'click')}{clip}, "
            f"{counted(self.ranker.trees, 'tree')} ({self.chosen_by})."
        )

    def as_dict(self) -> dict[str, Any]:
        """The fit as plain values, as the command line prints it with ``--json``."""
        tested: Mapping[str, Any] = {}
        if self.by_rank is not None:
            tested = {"asked": self.asked, "clicks_by_rank": self.by_rank.as_dict()}
        return {
            "method": self.method or None,
            "label": self.label,
            "learner": self.learner,
            "trees": self.ranker.trees,
            "clip": self.clip,
            "chosen_by": self.chosen_by,
            "clicks": self.clicks,
            "query_draws": self.query_draws,
            "clicked_documents": self.clicked_documents,
            "features": int(self.ranker.forest.feature_ids.size),
            "sentence": self.sentence,
            "notices": list(self.notices),
            **tested,
        }


def fit_trees_from_log(
    corpus: Corpus,
    log: ClickLog,
    curve: ExaminationCurve,
    *,
    method: str = "",
    clip: float | None = None,
    validation: tuple[Corpus, ClickLog] | None = None,
    seed: int = 0,
    progress: Tell | None = None,
    logger_scores: NDArray[np.float64] | None = None,
) -> TreeFit:
    """Grow trees on a log of this corpus; see `ultr_core.learners.trees`.

    method: one of ``FIT_METHODS``, whose u and v give the targets, or "" as in `fit_from_log`. The
    number of trees, and the threshold if ``clip`` is None, are chosen on the clicks of held-out
    queries, as in `fit_from_log`; the trees that are returned are grown on all queries.
    ``logger_scores``: as in `fit_from_log`. Raises InputError if that function does, if the log has
    clicks only, or if LightGBM is not installed.
    """
    tell = progress if progress is not None else lambda text: None
    lightgbm()
    method, instead = method_or_default(method, log, curve, clip)
    ready = prepared(
        method_of_key(method), corpus, log, curve, clip=clip, validation=validation, seed=seed,
        logger_scores=logger_scores, from_pairs=False,
    )  # fmt: skip
    known, whole, clips, data = ready.known, ready.whole, ready.clips, ready.data(seed)
    estimator, belief = ESTIMATORS[known.estimator], known.belief
    trees, why = TREES_WITHOUT_VALIDATION, "fixed, because too few queries can be held out"
    if data is not None:
        tell("choosing the number of trees on held-out clicks")
        found, at = choose_trees(estimator, data, clips, seed)
        trees, clips, why = found.ranker.trees, (at,), chosen_on(data.validation_log)
    tell("training on all clicks")
    belief = replace(belief, clip=clips[0])
    targets = Targets.of_log(whole.log, estimator.weigh(whole.log, belief))
    ranker = fit_trees(corpus, targets, trees=trees, seed=seed)
    agreement = agreement_on(estimator, whole, belief, known.ridge, ranker.score(corpus), log)
    return TreeFit(
        ranker, estimator.key, belief.clip, why, log.total_clicks, log.query_draws,
        clicked_documents(log), (*instead, *known.notices, *warned(agreement)), method, belief,
        known.test, known.ridge, agreement, whole.scores, fingerprint(corpus, log),
        targets=targets,
    )  # fmt: skip


def fit_trees_by_position_from_log(
    corpus: Corpus,
    log: ClickLog,
    *,
    validation: tuple[Corpus, ClickLog] | None = None,
    seed: int = 0,
    progress: Tell | None = None,
) -> TreeFit:
    """Grow trees and fit a number for each rank on a log, without propensities.

    See `ultr_core.learners.trees_by_position`. The number of trees is chosen on held-out queries as
    in `fit_trees_from_log`. Raises InputError if `fit_from_log` does, for a log of clicks only, and
    if LightGBM is not installed.
    """
    tell = progress if progress is not None else lambda text: None
    lightgbm()
    ready = prepared(
        method_of_key("naive"), corpus, log, PowerLaw(0.0), clip=None, validation=validation,
        seed=seed, logger_scores=None, from_pairs=False,
    )  # fmt: skip
    data = ready.data(seed)
    trees = by_position.TREES_WITHOUT_VALIDATION
    why = "fixed, because too few queries can be held out"
    if data is not None:
        tell("choosing the number of trees on held-out clicks")
        trees = by_position.select_by_position(
            data.corpus, data.log, data.validation, data.validation_log, seed=seed
        ).trees
        why = chosen_on(data.validation_log)
    tell("training on all clicks")
    ranker = by_position.fit_by_position(corpus, log, trees=trees, seed=seed)
    return TreeFit(
        ranker, "", 1.0, why, log.total_clicks, log.query_draws, clicked_documents(log),
        ready.notices, "", ready.known.belief, fingerprint=fingerprint(corpus, log),
        learner=by_position.KEY,
    )  # fmt: skip


def tree_fold_scores(
    corpus: Corpus, log: ClickLog, fit: TreeFit, *, seed: int = 0
) -> NDArray[np.float64]:
    """Scores [documents] for each query from trees that were grown without that query's fold.

    Like `fold_scores`, with the number of trees and the threshold of ``fit``.
    """
    estimator = fit.estimator
    counted_log = with_never_shown(log) if estimator.fits_relevance else log
    whole = Shown(corpus, counted_log, fit.logger_scores)

    def trained(rest: NDArray[np.int64]) -> TreeRanker:
        if estimator.fits_relevance:
            part, belief = known_of_rest(whole, fit.belief, fit.ridge, rest)
        else:
            part, belief = part_of_shown(whole, rest), fit.belief
        if fit.learner == by_position.KEY:
            return by_position.fit_by_position(
                part.corpus, part.log, trees=fit.ranker.trees, seed=seed
            )
        targets = Targets.of_log(part.log, estimator.weigh(part.log, belief))
        return fit_trees(part.corpus, targets, trees=fit.ranker.trees, seed=seed)

    return scores_by_fold(corpus, folds_of(corpus, log, seed, from_pairs=False), trained)
