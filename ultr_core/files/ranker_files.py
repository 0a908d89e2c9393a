"""Fitted rankers as files: JSON with all that is known of one, and the model text of svm_light.

write_ranker(ranker, "ranker.json", trained={"clicks": 45_000})
write_svm_light_model(ranker, "model.dat")        # for svm_rank_classify
model = read_ranker("ranker.json")                # either format, told apart by content
model, notices = on_columns_of(corpus, model)
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.feature_matrix import MISSING_ZERO, some_ids
from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError, named, number_in_text, quoted
from ultr_core.files.disk import lines_of, read_text, text_of, writing
from ultr_core.files.json_keys import loads_once
from ultr_core.files.kinds import expecting
from ultr_core.files.letor_writer import check_svm_light_ids
from ultr_core.learners.certificate import Certificate
from ultr_core.learners.ranker import LinearModel, LinearRanker
from ultr_core.limits import JSON_PARTS, RANKER_NUMBERS
from ultr_core.words import counted

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
    """Model text of a linear model; every feature is written, including those with coefficient 0.

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
    """Write `svm_light_text` to a file; raises InputError if the file cannot be written."""
    text = svm_light_text(model)
    with writing(path, "The model") as file:
        file.write(text)


def parse_svm_light_model(text: str, name: str) -> LinearModel:
    """A linear model out of svm_light model text: w = sum of alpha x support vector.

    The threshold does not change a ranking and is not kept. Raises InputError with the line.
    """
    RANKER_NUMBERS.require(text.count(":"), name)
    text = text.rstrip()
    lines = lines_of(text, name, comments=True)
    head = list(islice(lines, _VECTORS_FROM_LINE - 1))
    if text.count("\n") + 1 < _VECTORS_FROM_LINE:
        raise InputError(
            f"{name} ends after line {len(head)}; an svm_light model has "
            f"{_VECTORS_FROM_LINE - 1} lines of settings and then its vectors.",
            "model_too_short",
        )
    kernel = head[_KERNEL_LINE - 1].partition("#")[0].strip()
    if kernel != "0":
        raise InputError(
            f"{name}, line {_KERNEL_LINE}: the kernel type is {quoted(kernel)}; only linear models "
            "(type 0) can be read.",
            "model_kernel",
        )
    features, numbers = array("q"), array("d")
    for number, line in enumerate(lines, _VECTORS_FROM_LINE):
        _add_vector(features, numbers, line.partition("#")[0], f"{name}, line {number}")
    if not features:
        raise InputError(
            f"{name} has no features in any vector; write each as 'alpha id:value ...'.",
            "model_without_features",
        )
    ids, place = np.unique(np.asarray(features), return_inverse=True)
    values: NDArray[np.float64] = np.bincount(place, np.asarray(numbers)).astype(np.float64)
    unusable = np.flatnonzero(~np.isfinite(values))
    if unusable.size:
        raise InputError(
            f"{name}: at feature {ids[unusable[0]]}, the vectors sum to more than a float can "
            "represent; scale them down.",
            "model_too_large",
        )
    values.setflags(write=False)
    return LinearModel(values, ids)


def _add_vector(features: array[int], numbers: array[float], vector: str, place: str) -> None:
    """Append alpha times a vector, its features and their numbers."""
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
            raise InputError(
                f"{place}: {quoted(token)} is not an id:value pair such as 12:0.5.", "model_pair"
            )
        feature = int(text)
        if feature <= last:
            raise InputError(
                f"{place}: feature {feature} comes after {last}; ids must increase.", "model_ids"
            )
        last = feature
        number = _number(value, place, f"the value of feature {feature}")
        features.append(feature)
        numbers.append(alpha * number)


def _number(text: str, place: str, what: str) -> float:
    value = number_in_text(text)
    if not math.isfinite(value):
        raise InputError(
            f"{place}: {what} is {quoted(text)}; give a finite number.", "not_a_number"
        )
    return value


__all__ = [
    "on_columns_of",
    "parse_ranker",
    "ranker_text",
    "read_ranker",
    "read_training_record",
    "svm_light_text",
    "training_record_of",
    "write_ranker",
    "write_svm_light_model",
]

FORMAT, VERSION = "ultr-lab linear ranker", 1
_WHAT = "The ranker"
_LARGEST_ID = 2**63 - 1
_LONGEST_MEASURE = 60


def ranker_text(model: LinearModel, trained: Mapping[str, Any] | None = None) -> str:
    """JSON text of a ranker: feature ids, coefficients, C, certificate, how it was trained.

    All digits are kept, so that it reads back equal. ``trained`` is anything JSON can hold:
    settings, seeds, counts. Raises InputError for what it cannot hold, NaN included.
    """
    known = model if isinstance(model, LinearRanker) else None
    content = {
        "format": FORMAT,
        "version": VERSION,
        "score": "sum of coefficient x feature; features not listed count as 0",
        "feature_ids": model.feature_ids.tolist(),
        "coefficients": model.coefficients.tolist(),
        "C": known.cost if known else None,
        "certificate": asdict(known.certificate) if known else None,
        "trained": dict(trained or {}),
    }
    try:
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The ranker cannot be written as JSON ({error}).", "ranker_not_json"
        ) from None


def write_ranker(
    model: LinearModel, path: str | Path, *, trained: Mapping[str, Any] | None = None
) -> None:
    """Write a ranker as JSON (see `ranker_text`), gzipped if the name ends in ``.gz``.

    Raises InputError if the file cannot be written.
    """
    text = ranker_text(model, trained)
    with writing(path, _WHAT) as file:
        file.write(text)


def read_ranker(path: str | Path) -> LinearModel:
    """Read a ranker from JSON or svm_light model text, plain or gzipped.

    Returns a LinearRanker if the file gives C and a certificate, else a LinearModel. Raises
    InputError, which names the file and says what is wrong with it.
    """
    return ranker_of(read_text(path, _WHAT), named(path))


def parse_ranker(data: bytes, name: str) -> LinearModel:
    """A ranker from the bytes of an upload called ``name``; see `read_ranker`."""
    return ranker_of(text_of(data, name), name)


def read_training_record(path: str | Path) -> dict[str, Any]:
    """How a ranker in a JSON file was trained, as it was given to `write_ranker`.

    Empty for model text of svm_light, which does not say it.
    """
    return training_record_of(read_text(path, _WHAT), named(path))


def training_record_of(text: str, name: str) -> dict[str, Any]:
    """`read_training_record` for the text of a file called ``name``."""
    if text.lstrip().startswith(FIRST_LINE):
        return {}
    trained = _content(text, name).get("trained")
    return dict(trained) if isinstance(trained, dict) else {}


def on_columns_of(
    corpus: Corpus, model: LinearModel, *, missing_zero: bool = False
) -> tuple[LinearModel, tuple[str, ...]]:
    """The model on a corpus's feature columns, and a sentence about each mismatch.

    If the model weights a feature that the corpus lacks, or the corpus has a feature outside the
    model's range of ids, their features differ: the model is refused, unless ``missing_zero`` says
    that missing features are 0, or the corpus is sparse and therefore omits zeros. A feature within
    the range has coefficient 0 if the model does not list it, because svm_light models omit zeros.
    Raises InputError if the model and the corpus have no features in common.
    """
    if np.array_equal(corpus.feature_ids, model.feature_ids):
        return model, ()
    common, ours, theirs = np.intersect1d(
        corpus.feature_ids, model.feature_ids, assume_unique=True, return_indices=True
    )
    if not len(common):
        raise InputError(
            f"The ranker knows the features {some_ids(model.feature_ids)} and the corpus has "
            f"{some_ids(corpus.feature_ids)}: they have none in common, so it cannot rank these "
            "documents.",
            "no_common_features",
        )
    coefficients = np.zeros(corpus.n_features)
    coefficients[ours] = model.coefficients[theirs]
    unknown = np.setdiff1d(corpus.feature_ids, model.feature_ids)
    absent = np.setdiff1d(model.feature_ids[model.coefficients != 0], corpus.feature_ids)
    outside = unknown[(unknown < model.feature_ids[0]) | (unknown > model.feature_ids[-1])]
    if (len(outside) or len(absent)) and not (missing_zero or corpus.is_sparse):
        what = [f"the corpus does not have {some_ids(absent)}"] if len(absent) else []
        what += [f"the ranker does not know {some_ids(outside)}"] if len(outside) else []
        raise InputError(
            f"The ranker has {_counted(model.feature_ids)} and the corpus has "
            f"{_counted(corpus.feature_ids)}: {' and '.join(what)}, so the features may differ; "
            "use a corpus with the same features, or say that missing features are 0.",
            MISSING_ZERO,
        )
    notices = []
    if len(unknown):
        notices.append(
            f"The corpus has {_counted(unknown)} that the ranker does not know and therefore "
            f"ignores ({some_ids(unknown)})."
        )
    if len(absent):
        notices.append(
            f"The corpus lacks {_counted(absent)} that the ranker uses "
            f"({some_ids(absent)}); they count as 0 in every document."
        )
    return LinearModel(coefficients, corpus.feature_ids), tuple(notices)


def _counted(ids: Any) -> str:
    return counted(len(ids), "feature")


def ranker_of(text: str, name: str) -> LinearModel:
    """A ranker from the text of a file called ``name``; see `read_ranker`."""
    with expecting("ranker", text, name):
        if text.lstrip().startswith(FIRST_LINE):
            return parse_svm_light_model(text, name)
        return _from_json(text, name)


def _from_json(text: str, name: str) -> LinearModel:
    if not text.strip():
        raise InputError(
            f"{name} is blank; give a ranker as JSON or as an svm_light model.",
            "empty_file",
        )
    content = _content(text, name)
    ids = _numbers(content, "feature_ids", name, whole=True)
    coefficients = _numbers(content, "coefficients", name, whole=False)
    if len(ids) != len(coefficients) or not ids:
        raise InputError(
            f"{name} has {len(ids)} feature_ids and {len(coefficients)} coefficients; give the "
            "same number of each, at least one.",
            "ranker_lengths",
        )
    feature_ids = np.array(ids, np.int64)
    if feature_ids[0] < 0 or (np.diff(feature_ids) <= 0).any():
        raise InputError(
            f"{name}: feature_ids must be whole numbers of 0 or more, in increasing order.",
            "model_ids",
        )
    w = np.array(coefficients, np.float64)
    w.setflags(write=False)
    if content.get("C") is None or content.get("certificate") is None:
        return LinearModel(w, feature_ids)
    cost = content["C"]
    if not _is_number(cost) or cost <= 0:
        raise InputError(f"{name}: C is {quoted(cost)}; give a number above 0.", "ranker_c")
    return LinearRanker(w, feature_ids, float(cost), _certificate(content["certificate"], name))


def _content(text: str, name: str) -> dict[str, Any]:
    require_few_parts(text, name)
    try:
        content = loads_once(text, name, _refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}, line {error.lineno}, column {error.colno}: neither JSON ({error.msg}) nor "
            f"an svm_light model, which begins with '{FIRST_LINE}'.",
            "not_a_model",
        ) from None
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(
            f"{name} contains JSON that no ranker needs: NaN, infinity, numbers with thousands of "
            "digits or very deeply nested lists.",
            "ranker_json",
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(
            f"{name} is JSON but not a ranker: it must be an object whose 'format' is '{FORMAT}'.",
            "not_a_ranker",
        )
    if content.get("version") != VERSION:
        raise InputError(
            f"{name} has version {quoted(content.get('version'))} of the format; give version "
            f"{VERSION}.",
            "ranker_version",
        )
    return content


def require_few_parts(text: str, name: str) -> None:
    """Raise InputError for JSON that takes many times its text once it is read."""
    JSON_PARTS.require(text.count("{") + text.count("["), name)
    RANKER_NUMBERS.require(text.count(","), name)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _numbers(content: dict[str, Any], key: str, name: str, whole: bool) -> list[Any]:
    values = content.get(key)
    if not isinstance(values, list):
        raise InputError(
            f"{name}: {key} must be a list of numbers, not {quoted(values)}.", "ranker_list"
        )
    for place, value in enumerate(values, 1):
        right = _is_number(value) and (
            not whole or (isinstance(value, int) and 0 <= value <= _LARGEST_ID)
        )
        if not right:
            wanted = "a whole number of 0 or more" if whole else "a finite number"
            raise InputError(
                f"{name}: entry {place} in {key} is {quoted(value)}; give {wanted}.",
                "ranker_number",
            )
    return values


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _certificate(values: Any, name: str) -> Certificate:
    found = {}
    for field in fields(Certificate):
        default = None if field.default is MISSING else field.default  # older files lack it
        value = values.get(field.name, default) if isinstance(values, dict) else None
        kind = {"float": float, "int": int, "str": str, "bool": bool}[str(field.type)]
        right = _is_number(value) if kind is float else type(value) is kind
        if not right:
            raise InputError(
                f"{name}: the certificate's {field.name} is {quoted(value)}; give a value of type "
                f"{kind.__name__}.",
                "kind",
            )
        found[field.name] = kind(value)
    measure = str(found["measure"])
    if not (measure.isprintable() and 0 < len(measure) <= _LONGEST_MEASURE):
        raise InputError(
            f"{name}: the certificate's measure is {quoted(measure)}; give a name of at most "
            f"{_LONGEST_MEASURE} characters on one line.",
            "ranker_measure",
        )
    return Certificate(**found)
