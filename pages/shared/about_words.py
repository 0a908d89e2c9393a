"""The words of the page About."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.experiments.training import CLIP_GRID
from ultr_core.learners.selection import COST_GRID

SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "What the numbers mean": """
- **Rank** starts at 1. **Risk** of a ranker is the mean over queries of the summed ranks of the
  relevant documents (equation 2 of the paper): lower is better. It is not divided by the number
  of relevant documents; the mean rank per relevant document is given beside it. Queries without
  a relevant document count, with 0.
- **Relevant** means grade 3 or more of 0 to 4. For a corpus whose grades stop earlier the lab
  proposes another threshold and says so.
- **Ties** of scores are broken by the documents' order in the corpus, never by their labels.
- **Examination**: p_r = (1/r)^η, with p_1 = 1. Clipping raises every p to at least τ, after this
  normalisation.
- **Clicks**: an examined relevant document is clicked with probability ε₊, an examined
  irrelevant one with ε₋. A query is drawn at random each time; N counts these draws, also those
  without a click, and n counts clicks.
- **Each click is one training example**: its document against all other candidates of the query,
  clicked ones included.
- **C** stands in ½ w·w + (C/n) Σ (1/p) Σ slack, with n clicks. It is the number given to
  svm_rank as -c, divided there by the number of examples. C and τ are chosen on separate
  validation clicks, 15 % of the training clicks, by the unclipped weighted estimate (the naive
  ranker by its own).
- **Intervals** are 95 %. In the risk panels they come from the one log shown; for trained
  rankers from the spread over independent click logs. "Cannot be told apart" means that the
  interval of the difference, log by log, contains 0.
""",
        "The built-in corpus": """
The paper uses the Yahoo Learning to Rank Challenge, set 1, which may not be passed on. The lab
comes with a synthetic corpus of the same kind instead: about 24 candidates a query, grades 0 to 4,
correlated features, relevance that no linear ranker catches completely, and a production ranker
trained on the labels of about 1 % of the queries. It is tuned so that the share of clicks on
irrelevant documents is the paper's: 33.1 % at ε₋ = 0.1 and 59.8 % at ε₋ = 0.3 (η = 1). Shapes and
comparisons can be expected to carry over; absolute risks differ from the paper's figures.
""",
        "Your own corpus": """
Put `train.txt`, `vali.txt` and `test.txt` in LETOR format (`grade qid:ID 1:0.3 2:0.7 # comment`,
each also as `.gz`) into a directory and start the lab with

    streamlit run app.py -- --corpus DIR

The production ranker is then trained on about 1 % of your training queries, and users click on
your lists. The same corpus works on the command line:

    python -m ultr_core compare --corpus DIR
""",
    }
)

READINGS = [
    {"Place": place, "What is unclear": unclear, "Read here as": reading}
    for place, unclear, reading in (
        ("7.2", "Clicks are biased according to (2)", "according to (7), p_r = (1/r)^η"),
        (
            "7.2",
            "The clipped estimate sums over all documents",
            "over clicked documents only, as in (5)",
        ),
        ("6", "The propensity has index i, the click index j", "one index over clicks"),
        (
            "6",
            "The slacks of a click include one of its own document",
            "the sum runs over the other documents",
        ),
        (
            "4, 5.1, 6",
            "N queries, n queries, n clicks",
            "N query draws for the risk, n clicks for the SVM",
        ),
        (
            "5.1, 5.2",
            "Conditions on examined (e) and on observed (o)",
            "the same event in the position model",
        ),
        (
            "5.2",
            "Positive propensity asked of relevant documents",
            "with click noise, of every document shown",
        ),
        ("6", "The bound counts documents strictly above", "ties are broken before counting"),
        ("7.1", "Cross-validation", "one hold-out split, as described there"),
        ("Figures", "ε₊ is not stated", "ε₊ = 1"),
        ("3, 7", "Sum of ranks or average rank", "sum per query; the mean rank is given beside it"),
        ("7.1", "Random queries or sweeps over all", "queries drawn at random"),
        ("7.2", "Clip before or after normalising", "normalise to p_1 = 1, then clip"),
        (
            "7.1, 7.2",
            "Which values of C and τ were tried",
            f"C from {COST_GRID[0]:g} to {COST_GRID[-1]:g}, τ from {CLIP_GRID[0]:g} (unclipped) "
            f"to {CLIP_GRID[-1]:g} (naive)",
        ),
        ("7.6", "Ranks beyond the measured curve", "the last value is carried on"),
    )
]

REFERENCES = (
    "T. Joachims, A. Swaminathan, T. Schnabel: Unbiased Learning-to-Rank with Biased Feedback, "
    "WSDM 2017 (arXiv 1608.04468). The paper of this lab.",
    "T. Joachims: Optimizing Search Engines Using Clickthrough Data, KDD 2002. The ranking SVM.",
    "T. Joachims: Training Linear SVMs in Linear Time, KDD 2006. The one-slack form.",
    "O. Chapelle, Y. Chang: Yahoo! Learning to Rank Challenge Overview, JMLR W&CP 14, 2011. "
    "The paper's corpus.",
    "A. Agarwal, X. Wang, C. Li, M. Bendersky, M. Najork: Addressing Trust Bias for Unbiased "
    "Learning-to-Rank, WWW 2019.",
    "A. Vardasbi, H. Oosterhuis, M. de Rijke: When Inverse Propensity Scoring does not Work, "
    "CIKM 2020 (arXiv 2008.10242). Noise that depends on the rank.",
    "H. Oosterhuis, M. de Rijke: Policy-Aware Unbiased Learning to Rank for Top-k Rankings, "
    "SIGIR 2020 (arXiv 2005.09035).",
)
