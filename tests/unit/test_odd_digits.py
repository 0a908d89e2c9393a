"""Digits of other scripts and underscores are no numbers, wherever a number is read from text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files import parse_curve_values, parse_log, parse_scores
from ultr_core.files.proprank_files import parse_proprank
from ultr_core.files.ranker_files import parse_svm_light_model, svm_light_text
from ultr_core.inspection import inspect_upload
from ultr_core.learners import LinearModel
from ultr_core.proofs.small_world import curve_from_text, number_from_text
from ultr_core.settings import Settings

ODD = ("١", "1_0", "０", "٠.٥")
CORPUS = Corpus(np.eye(2, dtype=np.float32), np.array([1, 0]), np.array([0, 2]))
HEADER = "query,document,position,click,impressions\n"

READERS: dict[str, Callable[[str], object]] = {
    "typed curve": lambda odd: Settings(curve=("1", odd)),  # type: ignore[arg-type]
    "bytes in a curve": lambda odd: Settings(curve=(1, odd.encode())),  # type: ignore[arg-type]
    "curve file": lambda odd: parse_curve_values(f"rank,propensity\n1,1\n2,{odd}\n"),
    "rank of a curve file": lambda odd: parse_curve_values(f"rank,propensity\n{odd},1\n"),
    "scores": lambda odd: parse_scores(f"1\n{odd}\n".encode(), CORPUS, "s.txt"),
    "proof's number": lambda odd: number_from_text(odd, "score gap"),
    "proof's curve": lambda odd: curve_from_text(f"1, {odd}", "examination", 2),
    "cost": lambda odd: parse_proprank(
        f"1 qid:1 cost:{odd} 1:1\n0 qid:1 1:0\n".encode(), "train.dat"
    ),
    "number of examples": lambda odd: parse_proprank(
        f"# n = {odd}\n1 qid:1 cost:1 1:1\n0 qid:1 1:0\n".encode(), "train.dat"
    ),
    "model": lambda odd: parse_svm_light_model(MODEL.replace("0.25", odd), "model.dat"),
    "sizes of groups": lambda odd: inspect_upload(f"{odd}\n".encode(), "train.query"),
    **{
        f"log's {name}": lambda odd, at=at: parse_log(HEADER + row(at, odd))
        for at, name in enumerate(HEADER.strip().split(",")[2:], start=2)
    },
}


MODEL = svm_light_text(LinearModel(np.array([0.25]), np.array([1])))


def row(at: int, odd: str) -> str:
    cells = ["q", "a", "1", "1", "20"]
    cells[at] = odd
    return ",".join(cells) + "\n"


NOT_PLAIN = ("sizes of groups", "bytes in a curve")


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("reader", READERS)
def test_odd_digits_are_refused_with_what_was_written(reader: str, odd: str) -> None:
    with pytest.raises(InputError, match=r"number|cost|begins"):
        READERS[reader](odd)


@pytest.mark.parametrize("reader", [name for name in READERS if name not in NOT_PLAIN])
def test_a_plain_number_is_read_there(reader: str) -> None:
    READERS[reader]("1")
