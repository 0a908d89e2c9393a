"""Linear models as svm_light model text, which svm_rank_classify and svm_classify read.

After ten lines of settings each support vector is a line ``alpha id:value ...``; a linear model is
the sum of alpha x vector, so one vector with alpha 1 says it all.
"""

from __future__ import annotations

import math
import re
from itertools import islice
from pathlib import Path

import numpy as np

from ultr_core.corpus.letor_writer import check_svm_light_ids
from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.files import lines_of, writing
from ultr_core.learners.ranker import LinearModel
from ultr_core.limits import RANKER_NUMBERS

FIRST_LINE = "SVM-light Version"

_HEADER = (
    "{first} V6.20\n0 # kernel type\n3 # kernel parameter -d\n1 # kernel parameter -g\n"
    "1 # kernel parameter -s\n1 # kernel parameter -r\nempty# kernel parameter -u\n"
    "{highest} # highest feature index\n1 # number of training documents\n"
    "2 # number of support vectors plus 1\n"
    "0 # threshold b, each following line is a SV (starting with alpha*y)\n"
)
_TOKEN = re.compile(r"\S+")
_KERNEL_LINE, _VECTORS_FROM_LINE = 2, 12


def svm_light_text(model: LinearModel) -> str:
    """Model text of a linear model; every feature is written, those with coefficient 0 too.

    Raises InputError for a feature id that svm_light does not know: 0, or above 99,999,999.
    """
    ids = model.feature_ids.tolist()
    check_svm_light_ids(model.feature_ids)
    pairs = " ".join(
        f"{number}:{value!r}"
        for number, value in zip(ids, model.coefficients.tolist(), strict=True)
    )
    return _HEADER.format(first=FIRST_LINE, highest=ids[-1]) + f"1 {pairs} #\n"


def write_svm_light_model(model: LinearModel, path: str | Path) -> None:
    """Write `svm_light_text` to a file; raises InputError if that cannot be done."""
    text = svm_light_text(model)
    with writing(path, "The model") as file:
        file.write(text)


def parse_svm_light_model(text: str, name: str) -> LinearModel:
    """A linear model out of svm_light model text: w = sum of alpha x support vector.

    The threshold does not change a ranking and is not kept. Raises InputError that names the line.
    """
    RANKER_NUMBERS.require(text.count(":"), name)
    text = text.rstrip()
    lines = lines_of(text, name, comments=True)
    head = list(islice(lines, _VECTORS_FROM_LINE - 1))
    if text.count("\n") + 1 < _VECTORS_FROM_LINE:
        raise InputError(
            f"{name} ends after line {len(head)}; a model of svm_light has "
            f"{_VECTORS_FROM_LINE - 1} lines of settings and then its vectors."
        )
    kernel = head[_KERNEL_LINE - 1].partition("#")[0].strip()
    if kernel != "0":
        raise InputError(
            f"{name}, line {_KERNEL_LINE}: the kernel type is {quoted(kernel)}; only linear models "
            "(type 0) can be read."
        )
    weights: dict[int, float] = {}
    for number, line in enumerate(lines, _VECTORS_FROM_LINE):
        _add_vector(weights, line.partition("#")[0], f"{name}, line {number}")
    if not weights:
        raise InputError(f"{name} has no feature in any vector; 'alpha id:value ...' is needed.")
    ids = sorted(weights)
    values = np.array([weights[feature] for feature in ids])
    unusable = np.flatnonzero(~np.isfinite(values))
    if unusable.size:
        raise InputError(
            f"{name}: the vectors add up to more than a number can hold at feature "
            f"{ids[unusable[0]]}."
        )
    values.setflags(write=False)
    return LinearModel(values, np.array(ids, np.int64))


def _add_vector(weights: dict[int, float], vector: str, place: str) -> None:
    """Add alpha times a vector to the weights."""
    # One at a time: a long line of them would take many times its size.
    tokens = (match[0] for match in _TOKEN.finditer(vector))
    first = next(tokens, None)
    if first is None:
        return
    alpha = _number(first, place, "alpha")
    last = -1
    for token in tokens:
        text, _, value = token.partition(":")
        if not (text.isascii() and text.isdigit() and len(text) <= 18):
            raise InputError(f"{place}: {quoted(token)} is no id:value pair, as 12:0.5 is one.")
        feature = int(text)
        if feature <= last:
            raise InputError(f"{place}: feature {feature} comes after {last}; ids must rise.")
        last = feature
        number = _number(value, place, f"the value of feature {feature}")
        weights[feature] = weights.get(feature, 0.0) + alpha * number


def _number(text: str, place: str, what: str) -> float:
    value = number_in_text(text)
    if not math.isfinite(value):
        raise InputError(f"{place}: {what} is {quoted(text)}; a finite number is needed.")
    return value
