"""Claims of section 7.1: the simulated experiment's setting, and its printed numbers."""

from __future__ import annotations

import numpy as np

from ultr_core.claims import entry as links
from ultr_core.claims.entry import Entry, not_checkable
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.lab.logs import VALIDATION_SHARE
from ultr_core.risk import noise_share
from ultr_core.settings import Settings
from ultr_core.studies.claims import PAPER_NOISE_SHARE

YAHOO_QUERIES = (19_944, 2_994, 6_983)
YAHOO_DOCUMENTS = (473_134, 71_083, 165_660)
"""Training, validation and test part of the public description of Yahoo's set 1."""

PRINTED_SHARE, PRINTED_NOISE = 0.33, 0.1
PRINTED_WORST_NOISE = 0.3
PRODUCTION_SHARE = 0.01
HALF_A_PERCENT = 0.005


def _fifteen_percent(_: Lab) -> Finding:
    share = YAHOO_QUERIES[1] / YAHOO_QUERIES[0]
    return Finding(
        f"{YAHOO_QUERIES[1]:,} of {YAHOO_QUERIES[0]:,} queries: {share:.2%}.",
        share,
        limit=VALIDATION_SHARE,
        tolerance=HALF_A_PERCENT,
        reason="Arithmetic on the data set's published sizes; the data are not at hand.",
    )


def _candidates(lab: Lab) -> Finding:
    yahoo = YAHOO_DOCUMENTS[0] / YAHOO_QUERIES[0]
    corpus = lab.world().train.corpus
    ours = corpus.n_documents / corpus.n_queries
    return Finding(
        f"{yahoo:.1f} documents a query in Yahoo's training part, {ours:.1f} here.",
        ours / yahoo,
        limit=1.0,
        tolerance=0.05,
        reason="A property of the corpus in use; the built-in one is made so.",
    )


def _production(lab: Lab) -> Finding:
    queries = lab.world().train.corpus.n_queries
    used = len(lab.world().production.queries)
    return Finding(
        f"Production is trained on the labels of {used} of {queries:,} queries, "
        f"{used / queries:.1%}.",
        used / queries,
        limit=PRODUCTION_SHARE,
        tolerance=max(HALF_A_PERCENT, 1 / queries),
    )


def _whole_lists(lab: Lab) -> Finding:
    log = lab.logs().train
    drawn = np.repeat(log.draws, np.diff(log.query_offsets))
    wrong = int(np.count_nonzero(log.impressions != drawn))
    return Finding(
        f"{log.query_draws:,} random draws of {log.query_offsets.size - 1:,} queries; {wrong} "
        "documents were left out of a list that was shown.",
        float(wrong),
    )


def _power_law(lab: Lab) -> Finding:
    ranks = np.arange(1, 101)
    worst = float(np.max(np.abs(lab.users.curve.at(ranks) - 1.0 / ranks)))
    tenth = float(lab.users.curve.at(10))
    return Finding(
        f"Rank 10 is examined with probability {tenth:.0%}; p_r = 1/r to {worst:.1g}.",
        tenth,
        limit=0.1,
        tolerance=1e-12,
    )


def _share(lab: Lab) -> Finding:
    relevance, presented, _ = lab.world().train.shown
    share = lab.users.noise_share(relevance, presented)
    return Finding(
        f"{share:.1%} of the clicks are expected on irrelevant documents.",
        share,
        limit=PRINTED_SHARE,
        tolerance=HALF_A_PERCENT,
        reason="The built-in corpus is calibrated to this number, so that here it only says that "
        "the calibration works.",
    )


def _shares_agree(_: Lab) -> Finding:
    odds = PAPER_NOISE_SHARE / (1 - PAPER_NOISE_SHARE) / PRINTED_WORST_NOISE
    share = noise_share(1.0, PRINTED_NOISE, odds)
    return Finding(
        f"{PAPER_NOISE_SHARE:.1%} at ε₋ = {PRINTED_WORST_NOISE:g} means {odds:.2f} "
        "examined "
        f"irrelevant documents for each relevant one, hence {share:.1%} at ε₋ = "
        f"{PRINTED_NOISE:g}.",
        share,
        limit=PRINTED_SHARE,
        tolerance=HALF_A_PERCENT,
    )


def _validation_clicks(lab: Lab) -> Finding:
    train, held_out = lab.logs().train.total_clicks, lab.logs().validation.total_clicks
    return Finding(
        f"{held_out:,} validation clicks for {train:,} training clicks, {held_out / train:.1%}.",
        held_out / train,
        limit=VALIDATION_SHARE,
        tolerance=0.01,
        reason="C is chosen by the unclipped weighted estimate, for naive by its own.",
    )


def _draws(_: Lab) -> Finding:
    draws = Settings().draws
    return Finding(
        f"{draws} independent click logs by default.",
        float(draws),
        limit=5.0,
        reason="The paper averages five for its small data sets and does not say which those are; "
        "here every number is a mean over logs, with its interval.",
    )


def _skyline(lab: Lab) -> Finding:
    skyline = lab.world().baselines["skyline"].risk
    weighted = lab.trained(0, "propensity").test.risk
    return Finding(
        f"Test risk {skyline:.2f} with all labels, {weighted:.2f} from "
        f"{lab.logs().train.total_clicks:,} weighted clicks.",
        weighted - skyline,
        ">",
    )


ENTRIES = (
    Entry(("S1",), "7.1", "text", "The experiments use Yahoo's set 1, grades 3 and 4 relevant.",
          "It needs the data.", not_checkable(
              "Yahoo's data may not be passed on. Start the lab on your own copy; "
              "the built-in corpus shows the shapes only."), *links.ABOUT),
    Entry(("S2",), "7.1", "text", "The validation part is about 15% of the training part.",
          "Published sizes of the data set.", _fifteen_percent, *links.ABOUT),
    Entry(("S2b",), "7.1", "ours", "The corpus in use has lists as long as Yahoo's.",
          "Documents a query.", _candidates, *links.ABOUT, ours=True),
    Entry(("S3",), "7.1", "text", "Production is a ranking SVM on 1% of the labelled data.",
          "Queries that production was trained on.", _production, *links.ABOUT),
    Entry(("S4",), "7.1", "text", "Queries are drawn at random and the whole list is shown.",
          "Presentations in the simulated log.", _whole_lists, *links.lab()),
    Entry(("S5", "S6a"), "7.1", "equation 7", "p_r = (1/r)^η; at η = 1 rank 10 is examined with "
          "probability 10%.", "The users of the default world.", _power_law, *links.lab()),
    Entry(("S6b",), "7.1", "text", "About 33% of the clicks are on irrelevant documents.",
          "Expected share under production at η = 1, ε₋ = 0.1.", _share, *links.lab()),
    Entry(("S6c",), "7.1", "ours", "The two printed shares, 33% at ε₋ = 0.1 and 59.8% at "
          "0.3, agree with each other.", "One implies the other.", _shares_agree,
          *links.lab(eps_minus=0.3), ours=True),
    Entry(("S7",), "7.1", "text", "C is chosen on validation clicks, 15% of the training clicks.",
          "Sizes of the simulated logs.", _validation_clicks, *links.lab()),
    Entry(("S8",), "7.1", "text", "Small data sets are averaged over five draws.",
          "The setting of this lab.", _draws, *links.lab()),
    Entry(("S9",), "7.1", "text", "The ranking SVM with all labels is the best to be reached.",
          "Skyline against the weighted ranker on the test queries.", _skyline, *links.lab()),
)  # fmt: skip
"""Claims of section 7.1."""
