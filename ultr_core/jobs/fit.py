"""``fit``: train a ranker on a click log of one's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.fields import Choice, Number
from ultr_core.files import write_scores
from ultr_core.files.disk import written_together
from ultr_core.files.proprank_files import write_proprank
from ultr_core.files.ranker_files import write_ranker, write_svm_light_model
from ultr_core.files.target_files import write_targets
from ultr_core.files.tree_files import write_trees
from ultr_core.files.weight_files import write_weights
from ultr_core.inspection import Inspection, Overlap
from ultr_core.jobs.files import File, require_ending
from ultr_core.jobs.job import Given, Job, setting_fields
from ultr_core.jobs.output import (
    finding_line,
    option_of,
    print_notes,
    progress_line,
    share_line,
)
from ultr_core.jobs.own_files import (
    CLIP,
    CONTINUATION,
    LEARNER,
    LOGGER_SCORES,
    METHOD,
    OWN_FIELDS,
    PART,
    OwnCorpus,
    check_propensities,
    own_checks,
    own_continuation,
    own_corpus,
    own_join,
    own_log,
    own_logger_scores,
    own_propensities,
    print_beside,
)
from ultr_core.learners import SVM, learner_named
from ultr_core.learners.limits import COST
from ultr_core.learners.trees import LABEL, TREES
from ultr_core.learners.trees_by_position import KEY as BY_POSITION
from ultr_core.learners.trees_by_position import LABEL as BY_POSITION_LABEL
from ultr_core.own_data.fitting import (
    FIT_METHODS,
    NOBODY_LEAVES,
    OwnFit,
    fit_from_log,
    fold_scores,
)
from ultr_core.own_data.provenance import record_of
from ultr_core.own_data.tree_fitting import (
    TreeFit,
    fit_trees_by_position_from_log,
    fit_trees_from_log,
    tree_fold_scores,
)
from ultr_core.propensity import ESTIMATORS, ContinuationEstimate, PresentationLog
from ultr_core.propensity.targets import no_impressions
from ultr_core.users import ClickLog, PowerLaw

_NOTES = (
    "--json prints method, label, learner, cost, clip, chosen_by, clicks, query_draws, "
    "clicked_documents, features, certificate, sentence, notices, continuation (λ, or null), "
    "overlap (of the log and the corpus) and checks (as the command check prints them), and, for "
    "direct and doubly-robust, asked and clicks_by_rank (first_ranks, observed, predicted, "
    "rejected, sentence): if the fit is rejected, the method clipped replaces it. With --learner "
    "trees or trees-by-position, trees (their number) replaces cost and certificate, and --out "
    "writes LightGBM's own format; method is null for trees-by-position. Files are written "
    "completely and replaced together, and never overwrite an input."
)

VALIDATION = "validation"
_CLIPPED = [key for key in FIT_METHODS if "clip" in ESTIMATORS[key].needs]
_WITHOUT_CURVE = [key for key in FIT_METHODS if not ESTIMATORS[key].needs_curve]
_OF_TREES = (".txt", ".model")
LINEAR_ONLY = ("cost", "svm_light_out", "weights_out", "proprank_out")
"""Options of linear rankers, which trees do not have."""

WEIGHTS_ONLY = ("method", "clip", "logger_scores", "targets_out")
"""Options of learners that train on weights, which trees by position do not."""

_SCORES = (".txt", ".scores", ".csv", ".run", ".trec")
_OUTPUTS = {
    "out": (
        "write the ranker as JSON: feature ids, weights, C, certificate; trees in LightGBM format",
        (),  # it depends on the learner
    ),
    "svm_light_out": (
        "write the ranker as an svm_light model file, which svm_rank_classify reads",
        (".dat", ".txt", ".model"),
    ),
    "scores_out": (
        "write the score of each document; a name ending in .csv gives a table, one ending in "
        ".run a TREC run",
        _SCORES,
    ),
    "fold_scores_out": (
        "score each query with a ranker trained without the query's fold, so that evaluate can "
        "judge the ranker on the same clicks without optimistic bias",
        _SCORES,
    ),
    "weights_out": ("write the weight of each clicked document as CSV", (".csv",)),
    "targets_out": (
        "write a target and a sample weight for each document, as CSV or Parquet, to train another "
        "pointwise learner on; what each column means: docs/own_data.md",
        (".csv", ".parquet"),
    ),
    "proprank_out": (
        "write an svm_proprank training file, for the original program", (".dat", ".txt"),
    ),
}  # fmt: skip
"""Files to write: what for, and how their names may end."""


@dataclass(frozen=True)
class Cost(Number):
    """The paper's C, or the word that lets validation choose it: None."""

    def checked(self, value: Any) -> float | None:
        """The number; raises InputError for a number that no fit can use."""
        return None if value == VALIDATION else float(super().checked(value))


@dataclass(frozen=True)
class Fitted:
    """The ranker, how log and corpus fit, and what they are worth."""

    fit: OwnFit | TreeFit
    overlap: Overlap
    checks: Inspection

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "continuation": None,
            **self.fit.as_dict(),
            "overlap": self.overlap.as_dict(),
            "checks": self.checks.as_dict(),
        }

    def show(self) -> None:
        """Print what was trained, and the checks."""
        print(self.fit.sentence)
        leaves = NOBODY_LEAVES
        if isinstance(self.fit, OwnFit) and (stay := self.fit.continuation) is not None:
            leaves = f"users continue after a click with probability λ = {stay:.3g}"
        stops = {found.key for found in self.checks.findings if found.severity == "stop"}
        denied = ", which the log contradicts" if CONTINUATION.name in stops else ""
        print(f"It assumes that {leaves}{denied}.")
        print()
        for finding in self.checks.findings:
            print(finding_line(finding))


def run(given: Given) -> Fitted:
    """Train, and write what was asked for."""
    learns_position = given.learner == BY_POSITION
    of_trees = given.learner == TREES or learns_position
    if given.out is not None:
        require_ending(given.out, "--out", _OF_TREES if of_trees else (".json",))
    if learns_position and (asked := [name for name in WEIGHTS_ONLY if name in given.asked]):
        raise InputError(
            f"{BY_POSITION_LABEL} learn from clicks without weights, so they have no "
            f"{', '.join(map(option_of, asked))}; leave {'it' if len(asked) == 1 else 'them'} out "
            f"or choose --learner {TREES}.",
            "learner",
        )
    needs_curve = not learns_position and given.method not in _WITHOUT_CURVE
    if needs_curve and given.propensities is None and given.eta is None:
        whoever = "Weighting clicks"
        if given.method or given.continuation is not None:
            whoever = f"--method {given.method}" if given.method else "--continuation"
        otherwise = f", or choose --method {' or '.join(_WITHOUT_CURVE)}"
        raise InputError(
            f"{whoever} needs propensities; give --propensities CURVE.csv or --eta X"
            f"{otherwise if given.continuation is None else ''}.",
            "no_propensities",
        )
    if of_trees and (asked := [name for name in LINEAR_ONLY if name in given.asked]):
        raise InputError(
            f"{', '.join(map(option_of, asked))} {'applies' if len(asked) == 1 else 'apply'} only "
            f"to linear rankers; leave {'it' if len(asked) == 1 else 'them'} out, or choose "
            f"--learner {SVM.key}.",
            "learner",
        )
    if of_trees and given.continuation is not None:
        raise InputError(
            f"--continuation applies only to linear rankers; leave it out, or choose --learner "
            f"{SVM.key}.",
            "learner",
        )
    check_propensities(given)
    own, log = own_corpus(given), own_log(given)
    if learns_position and log.context_names:
        raise InputError(
            f"{BY_POSITION_LABEL} learn one number for each rank, whatever the context; choose "
            f"--learner {TREES}, or say that no column has contexts.",
            "contexts",
        )
    curve, odd = own_propensities(given, log)
    joined = own_join(given, log, own.corpus, own.name)
    print_notes(joined.notices)
    if given.targets_out is not None and joined.clicks.clicks_only:
        raise no_impressions("targets are also made")
    found, tested = own_continuation(given, joined.clicks, own.corpus)
    continuation = found.probability if isinstance(found, ContinuationEstimate) else found
    line = progress_line()
    known, validation = PowerLaw(0.0) if curve is None else curve, _validation(given, own, log)
    logger_scores = own_logger_scores(given, own.corpus)
    fit: OwnFit | TreeFit
    if learns_position:
        fit = fit_trees_by_position_from_log(
            own.corpus, joined.clicks, validation=validation, seed=given.seed, progress=line
        )
    elif of_trees:
        fit = fit_trees_from_log(
            own.corpus, joined.clicks, known, method=given.method, clip=given.clip,
            validation=validation, seed=given.seed, progress=line, logger_scores=logger_scores,
        )  # fmt: skip
    else:
        fit = fit_from_log(
            own.corpus, joined.clicks, known, method=given.method, learner=given.learner,
            cost=given.cost, clip=given.clip, validation=validation, seed=given.seed, progress=line,
            logger_scores=logger_scores, continuation=continuation,
        )  # fmt: skip
    line("")
    checks = own_checks(
        log, joined, own.corpus, curve, estimator=fit.estimator, clip=fit.clip,
        from_pairs=not of_trees and learner_named(given.learner).from_pairs,
        continuation=continuation, more=(*odd, *tested, *fit.agreement),
    )  # fmt: skip
    print_beside(given, log, checks, fit.notices)
    by_fold = None
    if given.fold_scores_out is not None:
        by_fold = _fold_scores(own.corpus, joined.clicks, fit, given.seed)
    with written_together():
        _write(given, own.corpus, fit)
        if by_fold is not None:
            write_scores(given.fold_scores_out, own.corpus, by_fold)
    return Fitted(fit, joined.overlap, checks)


def _validation(
    given: Given, own: OwnCorpus, log: PresentationLog
) -> tuple[Corpus, ClickLog] | None:
    """Clicks on the validation part of a directory, where its query ids are its own."""
    if own.splits is None or given.part != PART.default:
        return None
    other = own.splits.validation
    if set(other.query_ids) & set(own.corpus.query_ids) or not (
        set(other.query_ids) & set(log.query_names)
    ):
        return None
    try:
        return other, own_join(given, log, other, "the validation part").clicks
    except InputError:
        # No document of it was shown; queries are held out of the training part instead.
        return None


def _fold_scores(
    corpus: Corpus, log: ClickLog, fit: OwnFit | TreeFit, seed: int
) -> NDArray[np.float64]:
    if isinstance(fit, TreeFit):
        return tree_fold_scores(corpus, log, fit, seed=seed)
    return fold_scores(corpus, log, fit, seed=seed)


def _write(given: Given, corpus: Corpus, fit: OwnFit | TreeFit) -> None:
    trained = record_of(fit)
    if given.scores_out is not None:
        write_scores(given.scores_out, corpus, fit.ranker.score(corpus))
    if given.targets_out is not None and fit.targets is not None:
        write_targets(given.targets_out, corpus, fit.targets, made_with=trained)
    if isinstance(fit, TreeFit):
        if given.out is not None:
            write_trees(fit.ranker, given.out, trained=trained)
        return
    if given.out is not None:
        write_ranker(fit.ranker, given.out, trained=trained)
    if given.svm_light_out is not None:
        write_svm_light_model(fit.ranker, given.svm_light_out)
    if given.weights_out is not None:
        write_weights(given.weights_out, corpus, fit.weights)
    if given.proprank_out is not None:
        write_proprank(
            given.proprank_out, corpus, fit.weights, progress=share_line("writing weights")
        )


FIT_LEARNER: Choice = replace(
    LEARNER,
    options={**LEARNER.options, TREES: LABEL, BY_POSITION: BY_POSITION_LABEL},
    help="what is trained on the weights; trees need the package lightgbm and learn from each "
    "document's clicks per presentation, counted as --method counts them; trees-by-position need "
    "neither method nor propensities: they learn a number for each rank together with the trees",
)

JOB = Job(
    run,
    options=(
        *OWN_FIELDS,
        replace(
            METHOD, default="",
            help="weights for the clicks; default IPS, or Policy-aware if lists leave out "
            "candidates that other lists for the query show (unless too many candidates were never "
            "shown), or, with --clip, the clipped estimate",
        ),
        LOGGER_SCORES,
        CONTINUATION,
        FIT_LEARNER,
        Cost(
            **vars(COST)
            | {"help": f"the paper's C; default {VALIDATION}: chosen on held-out clicks"},
        ),
        replace(
            CLIP,
            help=f"threshold of --method {' or '.join(_CLIPPED)}; default: chosen by validation",
        ),
        *setting_fields(
            "seed",
            seed="Random seed for the queries held out to choose C, and for the folds of "
            "--fold-scores-out.",
        ),
        *(
            File(name, "", use="write", help=text, endings=endings)
            for name, (text, endings) in _OUTPUTS.items()
        ),
    ),
    show=Fitted.show,
    as_dict=Fitted.as_dict,
    notes=_NOTES,
)  # fmt: skip
