"""Conventions of this lab, and how misprints and open questions of the paper are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ultr_core.learners import COST_GRID
from ultr_core.propensity import CLIP_GRID

Kind = Literal["misprint", "open question"]


@dataclass(frozen=True)
class Convention:
    """What a number of this lab means; ``text`` is Markdown."""

    name: str
    text: str


@dataclass(frozen=True)
class Reading:
    """A place of the paper that can be read in more than one way, and the reading taken.

    Attributes:
        ids: numbers of the misprint (E) or question (Q).
        place: section.
        kind: misprint, or open question.
        unclear: what is printed, or not printed.
        taken: how it is read here.
        why: the reason.
        other: the other reading, where it makes numbers that can be compared (see
            ``readings.compare``); else "".
    """

    ids: tuple[str, ...]
    place: str
    kind: Kind
    unclear: str
    taken: str
    why: str
    other: str = ""

    @property
    def key(self) -> str:
        """The first of its numbers, which no other reading has."""
        return self.ids[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for export."""
        return {
            "id": self.key, "ids": list(self.ids), "section": self.place, "kind": self.kind,
            "unclear": self.unclear, "taken": self.taken, "why": self.why,
            "other": self.other or None,
        }  # fmt: skip


CONVENTIONS = (
    Convention("Rank", "Counted from 1, the top of the list."),
    Convention(
        "Risk",
        "The mean over queries of the summed ranks of the relevant documents (equation 2): lower "
        "is better. The mean rank per relevant document is given beside it.",
    ),
    Convention(
        "Relevant",
        "Grade 3 or more of 0 to 4. For a corpus whose grades stop earlier the lab proposes "
        "another threshold and says so.",
    ),
    Convention(
        "Examination",
        "p_r = (1/r)^η, with p_1 = 1. Clipping raises every p to at least τ, after this "
        "normalisation.",
    ),
    Convention(
        "Clicks",
        "An examined relevant document is clicked with probability ε₊, an examined irrelevant one "
        "with ε₋. N counts query draws, also those without a click; n counts clicks.",
    ),
    Convention(
        "C",
        "Stands in ½ w·w + (C/n) Σ (1/p) Σ slack, with n clicks. It is the number given to "
        "svm_rank as -c, divided there by the number of examples. C and τ are chosen on separate "
        "validation clicks, 15% of the training clicks.",
    ),
    Convention(
        "Intervals",
        "95% throughout. In the risk panels they come from the one log shown; for trained "
        "rankers from the spread over independent click logs. “Cannot be told apart” means that "
        "the interval of the difference, log by log, contains 0.",
    ),
)
"""What the numbers mean, wherever they are shown."""

READINGS = (
    Reading(("Q1",), "4, 7", "open question", "Sum of ranks, or average rank?",
            "The sum over a query's relevant documents, averaged over queries",
            "Equation 2 has no denominator; the text's “average” can be the one over queries.",
            "The mean rank over all relevant documents"),
    Reading(("Q2",), "7.1", "open question", "Do queries without a relevant document count?",
            "They count, with 0", "Equation 1 averages over all queries.",
            "Left out of the average"),
    Reading(("E5",), "4, 5.1, 6", "misprint", "N queries in (4), n queries in (5), n clicks in the "
            "SVM", "N query draws for the risk, n clicks for the SVM",
            "Only the number of draws, those without a click included, makes (5) unbiased.",
            "(5) divided by the number of clicks"),
    Reading(("E2",), "7.2", "misprint", "The clipped estimate sums over all relevant documents",
            "Over clicked documents, as in (5)",
            "As printed it needs every label, and would not be an estimate from clicks.",
            "As printed"),
    Reading(("Q8",), "7.2", "open question", "Clip before or after normalising the curve?",
            "Normalise to p_1 = 1, then clip", "Only ratios can be measured, so that τ needs a "
            "scale; with it τ = 1 is the naive learner.",
            "Clip the click rates themselves, then normalise"),
    Reading(("Q6",), "6", "open question", "What C means: n clicks in C/n, as svm_rank counts?",
            "n is the number of clicks", "Section 6 has one training example a click.",
            "n is the number of query draws"),
    Reading(("Q3",), "7.1", "open question", "Random queries, or sweeps over all of them?",
            "Queries are drawn at random", "The text says so; public scripts sweep.",
            "Every query equally often"),
    Reading(("E11", "Q10"), "6", "misprint", "The bound counts documents strictly above, so that "
            "equal scores put everyone at rank 1", "Ties are broken before counting, by the "
            "documents' order, never by labels", "A ranking has no ties; w = 0 would be perfect.",
            "Equal scores share the better rank"),
    Reading(("Q12", "L7"), "7.6", "open question", "Ranks beyond the measured curve",
            "The last value is carried on", "The paper does so for ranks above 21.",
            "The power law goes on"),
    Reading(("Q9",), "7.6", "open question", "How much swap ratios are smoothed with click rates",
            "Half and half, a slider on the page", "The weight is not printed.", "Not smoothed"),
    Reading(("E1",), "7.2", "misprint", "Clicks are biased according to (2)",
            "According to (7), p_r = (1/r)^η", "(2) is a loss."),
    Reading(("E3",), "6", "misprint", "The propensity has index i, the click index j",
            "One index over clicks", "Each click has one propensity."),
    Reading(("E4",), "6", "misprint", "The slacks of a click include one of its own document",
            "The sum runs over the other documents", "Its own slack is 0 at the optimum."),
    Reading(("E6",), "5.4", "misprint", "The trust-bias formula conditions on the rank of another "
            "document", "On the rank of the document itself", "It would not be a probability of "
            "its click otherwise."),
    Reading(("E7", "E9"), "4, 5.1", "misprint", "A formula without left-hand side; a stray bracket",
            "The probability of a click, given relevance and rank", "Nothing else fits the text."),
    Reading(("E8",), "5.1, 5.2", "misprint", "Conditions on examined (e), then on observed (o)",
            "The same event in the position model", "Section 5.1 says that they coincide."),
    Reading(("E10",), "5.2", "misprint", "Positive propensity is asked of relevant documents (4) "
            "or of all ranks (5.1)", "With click noise, of every document shown",
            "The proof sums over all candidates; see the claims on section 5.2."),
    Reading(("E12",), "7.1, 7.6", "misprint", "Cross-validation", "One hold-out split",
            "That is what is described."),
    Reading(("E13",), "Figures", "misprint", "ε₊ and the range of η in figure 2 are not stated",
            "ε₊ = 1; η from 0 to 2", "The text's defaults, and the range that shows the effect."),
    Reading(("E14",), "7.6", "misprint", "The engine's name is withheld",
            "The arXiv full-text search", "A later paper of the same authors names it."),
    Reading(("Q4",), "6", "open question", "Are other clicked documents of the query negatives?",
            "Yes: each click is a block of its own, against all other candidates",
            "Its set Y_j is the candidate set."),
    Reading(("Q5", "Q7"), "7.1, 7.2", "open question", "Which values of C and τ were tried",
            f"C from {COST_GRID[0]:g} to {COST_GRID[-1]:g}, τ from {CLIP_GRID[0]:g} (unclipped) to "
            f"{CLIP_GRID[-1]:g} (naive)", "Not printed; a grid wide enough to have its best value "
            "inside."),
    Reading(("Q11",), "7.1", "open question", "Are features scaled?", "No",
            "Yahoo's lie in [0, 1] already, as do the built-in corpus's."),
    Reading(("Q13",), "7.6", "open question", "Propensity of a click if several rankers are logged",
            "That of the rank at which it happened", "The paper logs one ranker."),
    Reading(("Q14",), "7.2", "open question", "Does validation of clipped rankers clip?",
            "No: always the unclipped estimate (the naive ranker by its own)", "The text says so."),
    Reading(("Q15",), "7.1", "open question", "How far down lists are shown", "To their end",
            "Nothing is cut; the largest weight is shown where it matters."),
)  # fmt: skip
"""Misprints and open questions, those with two comparable readings first."""
