"""Terms and symbols, once: what lessons show on hover and what the glossary lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Term:
    """A term: its name, its symbol if it has one, what it means, and where the paper has it."""

    key: str
    name: str
    symbol: str
    meaning: str
    section: str = ""


_ALL = (
    Term("query", "Query", "x", "What a user asks. Each query comes with a list of candidate "
         "documents, 24 on average here.", "3"),
    Term("rank", "Rank", "r", "Place in a list, counted from 1 at the top.", "3"),
    Term("relevance", "Relevance", "r(d)", "Whether a document is what the user wants: 1 or 0. "
         "Here: grade 3 or 4 of 0 to 4.", "3"),
    Term("click", "Click", "c", "A user clicks a document that was looked at and seems relevant. "
         "No click can mean two things: irrelevant, or not looked at.", "5.1"),
    Term("log", "Click log", "n", "What was shown, at which rank, and what was clicked. n counts "
         "the clicks, N the queries shown, those without a click included.", "5.1"),
    Term("examination", "Examination", "e", "The user looked at the document. It is not recorded "
         "in a log; only clicks are.", "5.1"),
    Term("propensity", "Propensity", "p", "Probability that a document is looked at. In the "
         "position model it depends on the rank alone: p₁ = 1, and less further down.", "4, 5.1"),
    Term("eta", "Bias severity", "η", "How fast users stop looking: p = (1/r)^η. At 0 everybody "
         "reads the whole list; the paper uses 1.", "7.1"),
    Term("position-bias", "Position bias", "", "Clicks depend on where a document was shown, not "
         "only on how relevant it is.", "1"),
    Term("weight", "Weight", "1/p", "How often a click counts. Seen by one user in eight: counts "
         "8 times.", "4"),
    Term("ips", "Inverse propensity scoring (IPS)", "R̂", "Adding up clicks, each "
         "weighted by 1/p. “Weighted” in this lab.", "4"),
    Term("naive", "Naive", "", "Every click counts 1: position bias is ignored.", "7"),
    Term("risk", "Risk", "R(S)", "How bad a ranker S is: the ranks of the relevant documents, "
         "added up for each query, on average. Smaller is better.", "3, equation 2"),
    Term("unbiased", "Unbiased", "E[R̂] = R", "Right on average over all the clicks that might "
         "have happened. A single log may be off.", "4"),
    Term("bias", "Bias", "", "Error that stays however much data comes.", "4"),
    Term("variance", "Variance", "", "How much an estimate changes from one log to the next. It "
         "shrinks with more data.", "4"),
    Term("ess", "Effective sample size", "", "(sum of weights)² / sum of squared weights: how many "
         "clicks of equal weight would tell as much."),
    Term("clipping", "Clipping", "τ", "Raising every propensity below τ to τ, so that no weight is "
         "above 1/τ: some bias for less variance.", "7.2"),
    Term("noise", "Click noise", "ε₊, ε₋", "Probability of a click on a relevant (ε₊) and on an "
         "irrelevant document (ε₋) that is looked at.", "5.2"),
    Term("kendall", "Kendall's τ", "", "Agreement of two orders: 1 the same, 0 unrelated, −1 "
         "upside down. Another τ than the threshold of clipping."),
    Term("production", "Production ranker", "S₀", "The ranker that was running while clicks were "
         "logged. Here it is trained on about 1% of the labels.", "7.1"),
    Term("skyline", "Full information (skyline)", "", "A ranker trained on all true labels: what "
         "perfect feedback would reach.", "7.1"),
    Term("svm", "Ranking SVM", "w, C", "The learner: it looks for a score that puts each clicked "
         "document above the others of its list. C says how hard it tries.", "6"),
    Term("assumed", "Assumed bias", "η′", "The severity that the learner believes in. Equal to η "
         "its weights are right; 0 is naive.", "7.5"),
    Term("misspecified", "Misspecified propensity", "p′", "A wrong propensity. Each click then "
         "counts p/p′ times what it should.", "7.5"),
    Term("swap", "Swap experiment", "", "For some lists, two documents trade places before they "
         "are shown, so that the same documents are seen at two ranks.", "5.3"),
    Term("landmark", "Landmark rank", "k", "The rank that every other one is swapped with; ratios "
         "are relative to it. The paper uses 1.", "5.3"),
    Term("click-rate", "Click rate", "CTR", "Clicks divided by presentations.", "5.3"),
    Term("interleaving", "Interleaving", "", "Mixing the lists of two rankers into one and "
         "letting clicks decide, query by query, which ranker the user prefers.", "7.6"),
    Term("sign-test", "Sign test", "", "Were wins and losses equally likely, how often would "
         "chance make a split this uneven? Ties are set aside.", "7.6"),
    Term("p-value", "p-value", "p", "Probability that chance alone makes a result at least as far "
         "from “no difference” as the one that was seen. Small: chance explains it badly. It does "
         "not say how large the difference is. Another p than the propensity.", "7.6"),
    Term("position-model", "Position model", "", "How users click here: each rank is looked at "
         "with a probability of its own, and what is looked at is clicked by how relevant it "
         "is.", "5.1"),
    Term("trust", "Trust bias", "", "Users click wrong documents more often near the top, because "
         "they trust the ranking. Then no choice of p is right for all documents."),
    Term("loss", "Loss of one query", "Δ(y|x, r)", "The ranks that a ranking y gives to the "
         "relevant documents of query x, added up. Its average over queries is the risk. With a "
         "hat, Δ̂: estimated from clicks.", "3, 4"),
    Term("expectation", "Expectation over examinations", "E_o", "The average over everything that "
         "users may or may not look at (o), each with its probability.", "4"),
    Term("document-propensity", "Propensity of a document", "Q(d)", "The probability that "
         "document d is looked at in the list that was shown: p of the rank where it stood.", "4"),
    Term("smoothing", "Smoothing", "", "Mixing a measured curve with a steadier one, so that "
         "chance at single ranks matters less: some bias for less variance.", "7.6"),
    Term("power", "Power of a test", "", "Probability that the test finds a difference that is "
         "there. It grows with the number of decided queries."),
    Term("skip-above", "Skip-above (hand-made pairs)", "", "An older way to learn from clicks: a "
         "clicked document is preferred to those above it that were not clicked. Nothing is "
         "weighted.", "1"),
    Term("interval", "95% interval", "±", "Made so that it holds the true value in 95 of 100 "
         "repetitions of the whole experiment."),
)  # fmt: skip

GLOSSARY: Mapping[str, Term] = MappingProxyType({term.key: term for term in _ALL})
