"""What the page Your data and the commands do alike with a reader's corpus, log and curve."""

from __future__ import annotations

import gzip
from collections.abc import Sequence

from ultr_core.corpus import Corpus
from ultr_core.experiments.samples import file_bytes
from ultr_core.feedback import ExaminationCurve
from ultr_core.inspection import own_curve
from ultr_core.limits import CURVE_RANKS
from ultr_core.propensity import PresentationLog, Weights, table_curve, write_proprank


def curve_for_log(
    values: Sequence[float], log: PresentationLog | None, *, carry_on: bool = False
) -> ExaminationCurve:
    """The curve of numbers for ranks 1, 2, ..., K, normalised to p_1 = 1.

    carry_on: use the last number for all positions of the log below rank K; without it such
    positions have no propensity. Raises InputError for numbers that are no curve, or a log that
    goes too far down.
    """
    if log is None or not carry_on:
        return table_curve(values)
    last = int(log.position.max())
    if last <= len(values):
        return table_curve(values)
    CURVE_RANKS.require(last, "The curve, carried on to the last position of the log,")
    return table_curve([*values, *[values[-1]] * (last - len(values))])


def curve_in_log(log: PresentationLog, *, carry_on: bool = False) -> ExaminationCurve:
    """The curve of the log's own column of propensities; see `own_curve` and `curve_for_log`."""
    return curve_for_log(own_curve(log), log, carry_on=carry_on)


def training_file(corpus: Corpus, weights: Weights) -> bytes:
    """A training file of svm_proprank, gzip; raises InputError as `write_proprank` does."""
    return gzip.compress(file_bytes(lambda path: write_proprank(path, corpus, weights)), 6)
