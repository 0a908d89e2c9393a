"""The corpus, your own data, references, and where the conventions stand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from pages.app.boot import versions
from pages.app.context import PageContext
from pages.app.plain_words import plain
from pages.app.registry import CLAIMS
from ultr_core.errors import named
from ultr_core.jobs.claims import PART
from ultr_core.learners.blas_threads import blas_threads

SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "The built-in corpus": """
The paper uses the Yahoo Learning to Rank Challenge, set 1, which may not be passed on. The lab
comes with a synthetic corpus of the same kind instead: about 24 candidates a query, grades 0 to 4,
correlated features, relevance that no linear ranker catches completely, and a production ranker
trained on the labels of about 1% of the queries. It is tuned so that the share of clicks on
irrelevant documents is the paper's: 33.1% at ε₋ = 0.1 and 59.8% at ε₋ = 0.3 (η = 1). Shapes and
comparisons can be expected to carry over; absolute risks differ from the paper's figures.
""",
        "Your own corpus": """
Put `train.txt`, `vali.txt` and `test.txt` in LETOR format (`grade qid:ID 1:0.3 2:0.7 # comment`,
each also as `.gz`) into a directory and start the lab with

    streamlit run app.py -- --corpus DIR

The production ranker is then trained on about 1% of your training queries, and users click on
your lists. The same corpus works on the command line:

    python -m ultr_core compare --corpus DIR
""",
    }
)

REFERENCES = (
    "T. Joachims, A. Swaminathan, T. Schnabel: Unbiased Learning-to-Rank with Biased Feedback, "
    "WSDM 2017 ([arXiv 1608.04468](https://arxiv.org/abs/1608.04468)). The paper of this lab.",
    "T. Joachims: Optimizing Search Engines Using Clickthrough Data, KDD 2002. The ranking SVM.",
    "T. Joachims: Training Linear SVMs in Linear Time, KDD 2006. The one-slack form.",
    "O. Chapelle, Y. Chang: Yahoo! Learning to Rank Challenge Overview, JMLR W&CP 14, 2011. "
    "The paper's corpus.",
    "A. Agarwal, X. Wang, C. Li, M. Bendersky, M. Najork: Addressing Trust Bias for Unbiased "
    "Learning-to-Rank, WWW 2019.",
    "A. Vardasbi, H. Oosterhuis, M. de Rijke: When Inverse Propensity Scoring does not Work, "
    "CIKM 2020 ([arXiv 2008.10242](https://arxiv.org/abs/2008.10242)). Noise that depends on the "
    "rank.",
    "H. Oosterhuis, M. de Rijke: Policy-Aware Unbiased Learning to Rank for Top-k Rankings, "
    "SIGIR 2020 ([arXiv 2005.09035](https://arxiv.org/abs/2005.09035)).",
)


def show(page: PageContext) -> None:
    """Draw the page."""
    for heading, text in SECTIONS.items():
        st.subheader(heading)
        st.markdown(text)

    st.subheader("What the numbers mean")
    st.page_link(
        CLAIMS.file,
        label="Conventions, misprints and open questions of the paper, with numbers",
        icon=CLAIMS.icon,
        query_params={PART.key: "readings"},
    )

    st.subheader("References")
    st.markdown("\n".join(f"- {reference}" for reference in REFERENCES))

    st.subheader("This server")
    corpus = page.launch.corpus or "the built-in synthetic one"
    st.markdown(f"Corpus: {plain(named(corpus))}. {versions()}. BLAS threads: {blas_threads()}.")
