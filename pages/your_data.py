"""A reader's own corpus, click log, propensities and ranker, from checks to evidence."""

from __future__ import annotations

from pages.shared import (
    data_corpus,
    data_curve,
    data_evidence,
    data_log,
    data_ranker,
    data_take,
    data_top,
    lecture,
    shell,
)


def main() -> None:
    """Five steps, each alone or after the others, and what can be taken away."""
    page = shell.enter()
    settings = shell.require_settings(page)
    data_top.introduction()
    top = lecture.headline()
    corpus = data_corpus.step(page, settings)
    log = data_log.step(page, settings, corpus)
    propensities = data_curve.step(page, log)
    rankers = data_ranker.step(page, settings, corpus, log, propensities)
    joined = data_ranker.joined()
    judged = data_evidence.step(settings, corpus, joined, propensities, rankers)
    data_take.section(settings, corpus, rankers, judged)
    top.place().markdown(data_top.overview(corpus, log, propensities, rankers, judged))


main()
