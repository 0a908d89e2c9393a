"""``fit``: train a ranker on a click log of one's own."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ultr_core.commands.own_files import (
    CLIP,
    OwnCorpus,
    add_log_options,
    add_own_corpus_option,
    add_propensity_options,
    check_own_options,
    finding_line,
    own_checks,
    own_corpus,
    own_log,
    own_part,
    own_propensities,
    protect_inputs,
    share_line,
)
from ultr_core.commands.shared import (
    OK,
    add_json_option,
    add_options_of,
    add_setting_options,
    option_value,
    print_json,
    print_notes,
    progress_line,
)
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.fields import Choice
from ultr_core.files import write_scores
from ultr_core.files.disk import written_together
from ultr_core.files.proprank_files import write_proprank
from ultr_core.files.ranker_files import write_ranker, write_svm_light_model
from ultr_core.files.weight_files import write_weights
from ultr_core.inspection import Inspection, join_log
from ultr_core.learners import LEARNERS, SVM
from ultr_core.learners.limits import COST
from ultr_core.own_data.fitting import (
    DEFAULT_METHOD,
    FIT_METHODS,
    OwnFit,
    fit_from_log,
    fold_scores,
)
from ultr_core.propensity import ESTIMATORS, PresentationLog
from ultr_core.settings import PARAMETERS
from ultr_core.users import ClickLog, PowerLaw

_NOTES = (
    "--json prints method, label, learner, cost, clip, chosen_by, clicks, query_draws, "
    "clicked_documents, features, certificate, sentence, notices, overlap (of log and corpus) and "
    "checks (as the command check prints them). Files are written whole and take their places "
    "together, never over an input."
)

VALIDATION = "validation"
_CLIPPED = [key for key in FIT_METHODS if "clip" in ESTIMATORS[key].needs]
_WITHOUT_CURVE = [key for key in FIT_METHODS if "curve" not in ESTIMATORS[key].needs]
METHOD = Choice(
    "method", "Method", {key: key for key in FIT_METHODS}, default=DEFAULT_METHOD,
    help="Weights of the clicks.",
)  # fmt: skip
LEARNER = Choice(
    "learner", "Learner", {key: key for key in LEARNERS}, default=SVM.key,
    help="What is trained on them.",
)  # fmt: skip
_CLIP = replace(
    CLIP, help=f"Threshold of --method {' or '.join(_CLIPPED)}; without it validation chooses."
)
_OUTPUTS = {
    "out": "write the ranker as JSON: feature ids, weights, C, certificate",
    "svm_light_out": "write it as model text of svm_light, which svm_rank_classify reads",
    "scores_out": "write the score of each document; a name in .csv gives a table",
    "fold_scores_out": "write scores of each query by a ranker trained without its fold, which "
    "evaluate can judge on the same clicks without flattery",
    "weights_out": "write the weight of each clicked document as CSV",
    "proprank_out": "write an svm_proprank training file, for the original program",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _NOTES
    add_own_corpus_option(parser)
    add_log_options(parser)
    add_propensity_options(parser)
    add_options_of(parser, (METHOD, LEARNER))
    parser.add_argument(
        "--cost",
        metavar="C",
        default=VALIDATION,
        help="the paper's C, or validation to choose it on the clicks of held-out queries "
        "(validation)",
    )
    add_options_of(parser, (_CLIP,))
    add_setting_options(
        parser,
        ("seed",),
        {"seed": "Draws the queries held out to choose C, and the folds of --fold-scores-out."},
    )
    for name, text in _OUTPUTS.items():
        parser.add_argument(_option(name), metavar="FILE", help=text)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Train, write what was asked for, and print."""
    protect_inputs(
        {_option(name): getattr(options, name) for name in _OUTPUTS},
        {
            "--corpus": options.corpus,
            "--log": options.log,
            "--propensities": options.propensities,
        },
    )
    cost = None if options.cost == VALIDATION else option_value(options, COST)
    clip, seed = option_value(options, _CLIP), option_value(options, PARAMETERS["seed"])
    method, learner = option_value(options, METHOD), option_value(options, LEARNER)
    needs_curve = method not in _WITHOUT_CURVE
    if needs_curve and options.propensities is None and options.eta is None:
        raise InputError(
            f"--method {method} needs propensities; give --propensities CURVE.csv or "
            f"--eta X, or choose --method {' or '.join(_WITHOUT_CURVE)}."
        )
    check_own_options(options)
    own, log = own_corpus(options), own_log(options)
    curve = own_propensities(options, log)
    joined = join_log(log, own.corpus, name=own.name)
    print_notes(joined.notices)
    line = progress_line()
    fit = fit_from_log(
        own.corpus,
        joined.clicks,
        curve if curve is not None else PowerLaw(0.0),
        method=method,
        learner=learner,
        cost=cost,
        clip=clip,
        validation=_validation(options, own, log),
        seed=seed,
        progress=line,
    )
    if line is not None:
        line("")
    print_notes(fit.notices)
    checks = own_checks(log, joined, own.corpus, curve, estimator=ESTIMATORS[method], clip=fit.clip)
    by_fold = None
    if options.fold_scores_out is not None:
        by_fold = fold_scores(own.corpus, joined.clicks, fit, seed=seed)
    with written_together():
        _write(options, own.corpus, fit)
        if by_fold is not None:
            write_scores(options.fold_scores_out, own.corpus, by_fold)
    if options.json:
        overlap = joined.overlap.as_dict()
        print_json({**fit.as_dict(), "overlap": overlap, "checks": checks.as_dict()})
    else:
        _print(fit, checks)
    return OK


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _validation(
    options: argparse.Namespace, own: OwnCorpus, log: PresentationLog
) -> tuple[Corpus, ClickLog] | None:
    """Clicks on the validation part of a directory, where its query ids are its own."""
    if own.splits is None or own_part(options) != "train":
        return None
    other = own.splits.validation
    if set(other.query_ids) & set(own.corpus.query_ids) or not (
        set(other.query_ids) & set(log.query_names)
    ):
        return None
    try:
        return other, join_log(log, other, name="the validation part").clicks
    except InputError:
        # No document of it was shown; queries are held out of the training part instead.
        return None


def _write(options: argparse.Namespace, corpus: Corpus, fit: OwnFit) -> None:
    trained = {k: v for k, v in fit.as_dict().items() if k != "certificate"}
    if options.out is not None:
        write_ranker(fit.ranker, options.out, trained=trained)
    if options.svm_light_out is not None:
        write_svm_light_model(fit.ranker, options.svm_light_out)
    if options.scores_out is not None:
        write_scores(options.scores_out, corpus, fit.ranker.score(corpus))
    if options.weights_out is not None:
        write_weights(options.weights_out, corpus, fit.weights)
    if options.proprank_out is not None:
        write_proprank(
            options.proprank_out, corpus, fit.weights, progress=share_line("writing weights")
        )


def _print(fit: OwnFit, checks: Inspection) -> None:
    print(fit.sentence)
    print()
    for finding in checks.findings:
        print(finding_line(finding))
