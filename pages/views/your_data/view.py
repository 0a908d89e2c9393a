"""A reader's own corpus, click log, propensities and ranker, from checks to evidence."""

from __future__ import annotations

from pages.app import lecture, shell
from pages.app.context import PageContext
from pages.views.your_data import (
    corpus as data_corpus,
)
from pages.views.your_data import (
    curve as data_curve,
)
from pages.views.your_data import (
    evidence as data_evidence,
)
from pages.views.your_data import (
    log as data_log,
)
from pages.views.your_data import (
    ranker as data_ranker,
)
from pages.views.your_data import (
    take as data_take,
)
from pages.views.your_data import (
    top as data_top,
)


def show(page: PageContext) -> None:
    """Five steps, each alone or after the others, and what can be taken away."""
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
