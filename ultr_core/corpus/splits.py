"""The parts of a corpus, and the grade from which on a document counts as relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ultr_core.corpus.model import Corpus, require_threshold
from ultr_core.errors import InputError, Remark

PAPER_THRESHOLD = 3


@dataclass(frozen=True, eq=False)
class CorpusSplits:
    """Disjoint training, validation and test queries of one corpus.

    Attributes:
        name: name of the corpus for readers.
        train: queries whose clicks rankers learn from.
        validation: queries whose clicks are used to choose C and the clipping threshold.
        test: queries with grades, on which rankers are compared.
        source: "synthetic" if the queries were made here, "files" if they were read from disk.
        notices: sentences that readers of the results should see.

    Raises:
        InputError: the three parts have different features.

    """

    name: str
    train: Corpus
    validation: Corpus
    test: Corpus
    source: Literal["synthetic", "files"]
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that one weight vector fits all three parts."""
        for part, corpus in (("validation", self.validation), ("test", self.test)):
            if not np.array_equal(corpus.feature_ids, self.train.feature_ids):
                raise InputError(
                    f"The features of the {part} part of {self.name} ({corpus.n_features}) and of "
                    f"the training part ({self.train.n_features}) differ in number or in their "
                    "ids; all parts need the same feature columns."
                )


def propose_relevance_threshold(
    corpora: Sequence[Corpus], wanted: int = PAPER_THRESHOLD
) -> tuple[int, str | None]:
    """Choose the lowest relevant grade so that every part has relevant documents.

    The requested threshold is kept if every corpus reaches it. Otherwise the paper's threshold 3 is
    proposed if all corpora reach it, and 1 if the highest grade is 1 or 2.

    Args:
        corpora: the parts that share the threshold (training, validation, test).
        wanted: the requested threshold.

    Returns:
        The threshold, and a sentence that says why it differs from the requested one (None if it
        does not).

    Raises:
        InputError: no corpus, a threshold that is not a whole number of 1 or more, or a part
        in which every grade is 0.

    """
    if not corpora:
        raise InputError("Choosing a relevance threshold needs at least one corpus.", "no_corpus")
    require_threshold(wanted)
    largest = [corpus.max_grade for corpus in corpora]
    reached = min(largest)
    if reached == 0:
        raise InputError(
            f"Nothing is relevant in the {_part_name(largest.index(0), len(corpora))}: "
            "every grade is 0, and at least one document needs a grade of 1 or more.",
            "nothing_relevant",
        )
    if reached >= wanted:
        return wanted, None
    threshold = PAPER_THRESHOLD if reached >= PAPER_THRESHOLD else 1
    where = ""
    if max(largest) > reached:
        where = f" in the {_part_name(largest.index(reached), len(corpora))}"
    return threshold, Remark(
        f"The highest grade is {reached}{where}, so no document there would be relevant at grade "
        f"{wanted} or more; grade {threshold} or more counts as relevant instead.",
        "relevant_grade",
    )


def _part_name(position: int, parts: int) -> str:
    """Name a corpus by its place in a sequence of corpora."""
    if parts == 1:
        return "corpus"
    if parts == 3:
        return ("training", "validation", "test")[position] + " part"
    return f"part {position + 1} of {parts}"
