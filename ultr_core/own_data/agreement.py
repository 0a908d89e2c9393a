"""Whether an estimate by a fitted relevance agrees with one by the weighted clicks themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import query_of_document
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.propensity import ESTIMATORS, Belief, Estimator
from ultr_core.risk import Estimate, difference_by
from ultr_core.users import ClickLog, ExaminationCurve

Say = Callable[[NDArray[np.float64]], Estimate]
"""What an estimator says of ranks, or differences of ranks, [documents]."""

_WEIGHTED = ESTIMATORS["policy-aware"]
_KEY, _TITLE = "weighted_clicks", "Fitted relevance against weighted clicks"
_OF_SIGN = "unshown_decide", "Candidates never shown decide the sign"


def against_weighted_clicks(
    estimator: Estimator,
    say: Say,
    log: ClickLog,
    curve: ExaminationCurve,
    ranks: NDArray[np.float64],
) -> tuple[Finding, ...]:
    """Hold what a fitted relevance says of a ranker against weights that need no fit.

    Both see a click as evidence of relevance after division by examination, so that their
    intervals overlap where the fit is right: for the difference from what users saw, and for the
    risk. Weights are those of documents (`POLICY_AWARE`), which IPS has where a document keeps its
    rank, for lists may leave documents out; those that no list shows are left out here, since the
    fit alone counts them. Where they change the sign of the difference, a second finding says so.

    say: by ``estimator``. ranks [documents]: of the ranker. No finding for an estimator without a
    fitted relevance, nor where one of the two has no interval.
    """
    if not estimator.fits_relevance or log.total_clicks == 0:
        return ()
    seen = log.impressions_per_document > 0
    agreed: Finding | None = None
    fits: list[Estimate] = []
    for what, places in (
        ("the difference in risk from what users saw", ranks - shown_ranks(log)),
        ("the risk", ranks),
    ):
        try:
            fitted = say(np.where(seen, places, 0.0))
            weighted = difference_by(_WEIGHTED, log, np.where(seen, places, 0.0), Belief(curve))
        except InputError:  # of propensities that leave no finite weight
            return ()
        if fitted.no_interval or weighted.no_interval:
            return ()
        fits.append(fitted)
        apart = fitted.low > weighted.high or fitted.high < weighted.low
        told = (
            f"On candidates that were shown, for {what}, {estimator.label} gives {_told(fitted)} "
            f"and the clicks weighted by propensity give {_told(weighted)}"
        )
        if apart:
            words = (
                f"{told}. They contradict each other, so the features or the propensities do not "
                "explain these clicks; rely on a weighted estimate, such as IPS or clipped."
            )
            return (Finding.of_file(_KEY, _TITLE, fitted.value, "warning", words),)
        agreed = agreed or Finding.of_file(
            _KEY, _TITLE, fitted.value, "good", f"{told}; their intervals overlap."
        )
    if agreed is None:
        return ()
    return agreed, *_of_sign(estimator, say(ranks - ranks_over_draws(log)), fits[0].value)


def _of_sign(estimator: Estimator, whole: Estimate, on_shown: float) -> tuple[Finding, ...]:
    """A warning where the difference over all candidates has another sign than ``on_shown``."""
    if whole.value * on_shown >= 0:
        return ()
    words = (
        f"On candidates that were shown, {estimator.label} gives a difference of {on_shown:.2f} "
        f"in risk from what users saw; once those never shown, for which there are no clicks, are "
        f"added, it gives {whole.value:.2f}, which has the opposite sign. Test the ranker on "
        "users, or log longer lists."
    ).replace(" -", " \N{MINUS SIGN}")
    return (Finding.of_file(*_OF_SIGN, whole.value, "warning", words),)


def contradiction(findings: Iterable[Finding]) -> bool:
    """Whether the fit and the weighted clicks contradict each other where both can see."""
    return bool(warned(each for each in findings if each.key == _KEY))


def unshown_decide(findings: Iterable[Finding]) -> bool:
    """Whether candidates that were never shown, which no click can test, decide the sign."""
    return any(each.key == _OF_SIGN[0] for each in findings)


def shown_ranks(log: ClickLog) -> NDArray[np.float64]:
    """Mean rank at which each document was shown, float64 [documents]; 0 for one never shown."""
    shown = np.bincount(log.document, log.impressions, log.n_documents)
    summed = np.bincount(log.document, log.impressions * log.rank, log.n_documents)
    return np.divide(summed, shown, out=np.zeros(log.n_documents), where=shown > 0)


def ranks_over_draws(log: ClickLog) -> NDArray[np.float64]:
    """Mean rank of each document over all draws of its query, float64 [documents].

    A draw that leaves documents out has the places for them below its list. Which of them is where
    nobody knows, so that each counts as at the mean of all such places of its query; ranks of a
    draw then add up to those of a whole ranking. 0 for queries that were never drawn.
    """
    offsets, draws = log.query_offsets, log.draws
    sizes = np.diff(offsets)
    query = query_of_document(offsets)
    of_row = query[log.document]
    inside = log.rank <= sizes[of_row]
    taken = np.bincount(of_row[inside], (log.impressions * log.rank)[inside], sizes.size)
    free = draws * (sizes * (sizes + 1) / 2.0) - taken
    absent = np.maximum(draws[query] - log.impressions_per_document, 0)
    missing = np.bincount(query, absent, sizes.size)
    below = np.divide(free, missing, out=np.zeros(sizes.size), where=missing > 0)
    below = np.clip(below, 0.0, sizes)
    summed = np.bincount(log.document, log.impressions * log.rank, log.n_documents)
    every = log.impressions_per_document + absent
    found = np.divide(
        summed + absent * below[query], every, out=np.zeros(log.n_documents), where=every > 0
    )
    return np.where(absent > 0, found, shown_ranks(log))


def warned(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The sentences of those that are not good."""
    return tuple(finding.sentence for finding in findings if finding.severity != "good")


def _told(found: Estimate) -> str:
    return f"{found.value:.2f} ({found.interval_text(2)})"
