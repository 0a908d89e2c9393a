"""``evaluate``: what a click log says about a ranker that was never shown."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ultr_core.commands.own_files import (
    CLIP,
    add_log_options,
    add_own_corpus_option,
    add_propensity_options,
    check_own_options,
    finding_line,
    own_checks,
    own_corpus,
    own_log,
    own_propensities,
)
from ultr_core.commands.shared import (
    OK,
    add_json_option,
    add_options_of,
    add_setting_options,
    option_value,
    print_json,
    print_notes,
)
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, named
from ultr_core.files import read_scores
from ultr_core.files.ranker_files import on_columns_of, read_ranker, read_training_record
from ultr_core.inspection import Inspection, join_log
from ultr_core.own_data.evaluation import (
    MEAN_RANK_BY_GRADES,
    NDCG_CUTOFF,
    Evaluation,
    RankerDifference,
    compare_with_shown,
    evaluate_ranker,
)
from ultr_core.own_data.fitting import flattery
from ultr_core.propensity import ESTIMATORS
from ultr_core.settings import PARAMETERS
from ultr_core.users import ClickLog
from ultr_core.words import counted

_NOTES = (
    f"{', '.join(estimator.label for estimator in ESTIMATORS.values())}: each with a 95% interval, "
    "and the true risk and NDCG where the corpus has grades. --json prints ranker, clicks, "
    f"query_draws, clip, tied_documents, estimates ({', '.join(ESTIMATORS)}: label, scale, "
    "assumes, value, low, high, standard_error, effective_sample_size, words), true (risk, "
    "risk_of_log, mean_rank, ndcg@10, their rules and counts, or null), sentence, notices, "
    "against_shown (first, second, difference, low, high, withheld, sentence), overlap and checks."
)


_CLIP = replace(CLIP, default=0.1, help="Threshold of the clipped estimate.")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _NOTES
    add_own_corpus_option(parser)
    add_log_options(parser)
    add_propensity_options(parser)
    parser.add_argument(
        "--model",
        metavar="FILE",
        help="ranker: JSON, or model text of svm_light; not one that was trained on this log, "
        "whose own clicks flatter it (see fit --fold-scores-out)",
    )
    parser.add_argument(
        "--scores", metavar="FILE", help="instead: scores, one a row of the corpus, or a table"
    )
    add_options_of(parser, (_CLIP,))
    add_setting_options(parser, ("relevant_grade",))
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Evaluate and print."""
    if (options.model is None) == (options.scores is None):
        raise InputError("Give the ranker to evaluate: either --model FILE or --scores FILE.")
    if options.propensities is None and options.eta is None:
        raise InputError(
            "Estimates need propensities; give --propensities CURVE.csv or --eta X (0 for none)."
        )
    clip = option_value(options, _CLIP)
    grade = option_value(options, PARAMETERS["relevant_grade"])
    check_own_options(options)
    own, log = own_corpus(options), own_log(options)
    curve = own_propensities(options, log)
    assert curve is not None
    joined = join_log(log, own.corpus, name=own.name)
    print_notes(joined.notices)
    name, scores = _scores(options, own.corpus)
    result = evaluate_ranker(
        own.corpus, joined.clicks, scores, curve, clip=clip, relevant_grade=grade, name=name
    )
    result = replace(result, notices=(*result.notices, *_flattery(options, joined.clicks)))
    print_notes(result.notices)
    checks = own_checks(log, joined, own.corpus, curve)
    against = compare_with_shown(joined.clicks, scores, curve, name=name)
    if options.json:
        overlap = joined.overlap.as_dict()
        more = {"against_shown": against.as_dict(), "overlap": overlap, "checks": checks.as_dict()}
        print_json({**result.as_dict(), **more})
    else:
        _print(result, against, checks)
    return OK


def _flattery(options: argparse.Namespace, log: ClickLog) -> tuple[str, ...]:
    """A ranker may be judged on the clicks that it was trained on, which its file gives away."""
    if options.model is None:
        return ()
    told = flattery(named(options.model), log, read_training_record(options.model))
    way_out = "Judge the scores that fit --fold-scores-out writes, or use another log."
    return (f"{told} {way_out}",) if told else ()


def _scores(options: argparse.Namespace, corpus: Corpus) -> tuple[str, NDArray[np.float64]]:
    if options.scores is not None:
        return named(options.scores), read_scores(options.scores, corpus)
    model, notices = on_columns_of(corpus, read_ranker(options.model))
    print_notes(notices)
    return named(options.model), model.score(corpus)


def _print(result: Evaluation, against: RankerDifference, checks: Inspection) -> None:
    print(
        f"{result.name}: {counted(result.clicks, 'click')} in "
        f"{counted(result.query_draws, 'query draw')}; "
        f"{counted(result.tied, 'document')} with equal scores, counted with their mean rank."
    )
    print()
    print(f"{'estimate':22}{'value':>10}  95% interval")
    for report in result.reports.values():
        found = report.estimate
        if found is None:
            print(f"{report.label:22}{'-':>10}  {report.words}")
        else:
            about = f"  ({report.scale})" if report.normalised else ""
            print(
                f"{report.label:22}{found.value:10.3f}  {found.low:.3f} to {found.high:.3f}{about}"
            )
    true = result.true
    if true is not None:
        print()
        print(f"{'By the grades':22}{true.risk:10.3f}  risk, all queries alike. {true.rule}")
        print(f"{'':22}{true.risk_of_log:10.3f}  risk, queries as often as in the log")
        print(f"{'':22}{true.mean_rank:10.3f}  {MEAN_RANK_BY_GRADES}")
        ndcg = true.ndcg
        print(f"{'':22}{ndcg.value:10.3f}  NDCG@{NDCG_CUTOFF}. {ndcg.rule}")
    print()
    print(result.sentence)
    print(against.sentence)
    print()
    for finding in checks.findings:
        print(finding_line(finding))
