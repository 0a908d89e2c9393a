"""Training a ranker on a click log from outside, C and threshold chosen on held-out queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, quoted
from ultr_core.experiments.logs import VALIDATION_SHARE
from ultr_core.experiments.methods import METHODS
from ultr_core.experiments.training import CLIP_GRID
from ultr_core.feedback import ClickLog, ExaminationCurve
from ultr_core.feedback.click_log import require_log
from ultr_core.feedback.examination import require_curve
from ultr_core.feedback.query_draws import checked_seed
from ultr_core.inspection import require_covered
from ultr_core.learners import LinearRanker, fit_ranker
from ultr_core.learners.problem import Callback
from ultr_core.learners.selection import (
    COST_GRID,
    COST_WITHOUT_VALIDATION,
    FINAL_TOLERANCE,
    Candidate,
    converged,
    select_by_clicks,
)
from ultr_core.propensity import (
    Weights,
    clipped_propensities,
    inverse_propensities,
    ips_weights,
    naive_weights,
)
from ultr_core.propensity.weights import LEAST_PROPENSITY, require_clip
from ultr_core.ranking import query_of_document
from ultr_core.words import counted, part_of

FIT_METHODS = {"naive": "naive", "ips": "propensity", "clipped": "clipped"}
"""Ways to weight the clicks, as they are asked for, and their keys in ``METHODS``."""

Tell = Callable[[str], None]
_NOT_CLIPPED = "; validation chose not to clip (τ = 0)"


@dataclass(frozen=True, eq=False)
class OwnFit:
    """A ranker trained on a log, with all that it was trained with.

    weights: of all clicks. cost: C; clip: the threshold tau, 0 for none, 1 for naive.
    chosen_by: how C, and the threshold, came about, in words. notices: sentences for the reader.
    """

    ranker: LinearRanker
    weights: Weights
    method: str
    cost: float
    clip: float
    chosen_by: str
    query_draws: int
    notices: tuple[str, ...]

    @property
    def label(self) -> str:
        """The method's name."""
        return METHODS[FIT_METHODS[self.method]].label

    @property
    def sentence(self) -> str:
        """What was trained, in one sentence."""
        clipped = ""
        if self.method == "clipped":
            clipped = f", clipped at τ = {self.clip:g}" if self.clip else _NOT_CLIPPED
        return (
            f"{self.label} ranker from {counted(round(self.weights.clicks), 'click')}{clipped}, "
            f"C = {self.cost:g} ({self.chosen_by}), relative duality gap "
            f"{self.ranker.certificate.gap:.2g}."
        )

    def as_dict(self) -> dict[str, Any]:
        """The fit as plain values, as the command line prints it with ``--json``."""
        return {
            "method": self.method,
            "label": self.label,
            "cost": self.cost,
            "clip": self.clip,
            "chosen_by": self.chosen_by,
            "clicks": self.weights.clicks,
            "query_draws": self.query_draws,
            "clicked_documents": int(np.count_nonzero(self.weights.values)),
            "features": int(self.ranker.feature_ids.size),
            "certificate": asdict(self.ranker.certificate),
            "sentence": self.sentence,
            "notices": list(self.notices),
        }


def fit_from_log(
    corpus: Corpus,
    log: ClickLog,
    curve: ExaminationCurve,
    *,
    method: str = "ips",
    cost: float | None = None,
    clip: float | None = None,
    validation: tuple[Corpus, ClickLog] | None = None,
    seed: int = 0,
    progress: Tell | None = None,
    callback: Callback | None = None,
) -> OwnFit:
    """Train the ranking SVM of section 6 on a log of this corpus.

    method: "naive", "ips" or "clipped". cost: the paper's C; None chooses it, and the threshold of
    "clipped" where ``clip`` is None, on the clicks of held-out queries by the unclipped estimate,
    for the naive ranker by its own (sections 7.1 and 7.2). These are the ``validation`` queries;
    without them ``VALIDATION_SHARE`` of the clicked queries, drawn with ``seed``, are held out, and
    the ranker that is returned is trained on all queries with what was chosen. ``callback`` is told
    of every iteration of every fit, of which there are at most `fits_of`; it may raise to end them.

    Raises InputError for an unknown method, a clip outside (0, 1] or without "clipped", a clicked
    position without propensity, clicks that give no preference pair, a seed that is none, or what
    is no log or no curve.
    """
    tell = progress if progress is not None else lambda text: None
    _check(method, clip)
    require_log(log)
    require_curve(curve)
    checked_seed(seed)
    if method != "naive":
        require_covered(log, curve)
    notices = _require_pairs(log, corpus)
    clips = _clips(log, curve, method, clip)
    chosen_by = "given"
    initial = None
    chosen = clips[0]
    if cost is None or len(clips) > 1:
        costs = COST_GRID if cost is None else (cost,)
        held = _held_out(corpus, log, validation, seed)
        if held is None:
            cost = COST_WITHOUT_VALIDATION if cost is None else cost
            chosen_by = "fixed, there are too few clicked queries to hold any out"
        else:
            (train, train_log), (other, other_log) = held
            tell("choosing C on held-out clicks")
            candidates = [Candidate(_weights(train_log, curve, method, c), c) for c in clips]
            divisor = _validation_propensity(other_log, curve, method, clips)
            selection = select_by_clicks(
                train, candidates, other, other_log, divisor, costs=costs, callback=callback
            )
            initial, cost, chosen = selection.ranker, selection.ranker.cost, selection.clip
            held_out = int(np.count_nonzero(other_log.clicks_per_query))
            chosen_by = (
                f"chosen on {counted(other_log.total_clicks, 'click')} of "
                f"{counted(held_out, 'held-out query', 'held-out queries')}"
            )
    tell("training on all clicks")
    weights = _weights(log, curve, method, chosen)
    ranker = fit_ranker(
        corpus, weights, cost=cost, tolerance=FINAL_TOLERANCE, initial=initial, seed=seed,
        callback=callback,
    )  # fmt: skip
    return OwnFit(
        converged(ranker, FINAL_TOLERANCE), weights, method, float(cost), chosen, chosen_by,
        log.query_draws, notices,
    )  # fmt: skip


def flattery(name: str, log: ClickLog, trained: Mapping[str, Any]) -> str:
    """A sentence where a ranker's record of its training counts what this log counts, else "".

    trained: as in `OwnFit.as_dict`. Clicks, query draws and clicked documents are compared; that
    all three agree by chance is unlikely, but they are no proof.
    """
    counts = {
        "clicks": log.total_clicks,
        "query_draws": log.query_draws,
        "clicked_documents": int(np.count_nonzero(log.clicks_per_document)),
    }
    if any(trained.get(key) != count for key, count in counts.items()):
        return ""
    return (
        f"{name} was trained on as many clicks, query draws and clicked documents as this log has, "
        "so probably on this log, and a ranker's own clicks flatter it."
    )


def fits_of(method: str, cost: float | None, clip: float | None) -> int:
    """How many fits `fit_from_log` makes at most."""
    clips = len(CLIP_GRID) if method == "clipped" and clip is None else 1
    costs = len(COST_GRID) if cost is None else 1
    return 1 if clips * costs == 1 else clips * costs + 2


def part_of_log(corpus: Corpus, log: ClickLog, queries: NDArray[np.int64]) -> ClickLog:
    """The rows of the given queries [chosen], as a log of ``corpus.subset(queries)``."""
    place = np.full(corpus.n_queries, -1, dtype=np.int64)
    place[queries] = np.arange(queries.size)
    sizes = corpus.sizes[queries]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    query = query_of_document(corpus.query_offsets)[log.document]
    kept = place[query] >= 0
    new = place[query[kept]]
    draws = log.draws[queries]
    return ClickLog(
        document=log.document[kept] - corpus.query_offsets[query[kept]] + offsets[new],
        rank=log.rank[kept],
        impressions=log.impressions[kept],
        clicks=log.clicks[kept],
        query_draws=max(1, int(draws.sum())),
        query_offsets=offsets,
        draws=draws,
        context=log.context[kept],
        whole_lists=log.whole_lists,
    )


def _check(method: str, clip: float | None) -> None:
    if method not in FIT_METHODS:
        raise InputError(
            f"{quoted(method)} is no way to weight clicks; choose from {', '.join(FIT_METHODS)}."
        )
    if clip is not None and method != "clipped":
        raise InputError(
            f"A clipping threshold belongs to the method clipped, not to {method}; leave one out."
        )
    if clip is not None:
        require_clip(clip)


def _require_pairs(log: ClickLog, corpus: Corpus) -> tuple[str, ...]:
    clicked = log.clicks_per_query > 0
    if not clicked.any():
        raise InputError("No document of the corpus was clicked; there is nothing to learn from.")
    alone = clicked & (corpus.sizes == 1)
    if alone.sum() == clicked.sum():
        raise InputError(
            "No clicked query has a second candidate, so there is no preference pair to learn "
            "from; the corpus needs the documents that were shown beside the clicked ones."
        )
    if alone.any():
        return (
            f"{part_of(int(alone.sum()), int(clicked.sum()), 'clicked query', 'clicked queries')} "
            "one candidate only and gave no preference pair.",
        )
    return ()


def _clips(
    log: ClickLog, curve: ExaminationCurve, method: str, clip: float | None
) -> tuple[float, ...]:
    if method == "naive":
        return (1.0,)
    if method == "ips":
        return (0.0,)
    if clip is not None:
        return (clip,)
    unseen = (log.clicks > 0) & (curve.at(log.rank) <= LEAST_PROPENSITY)
    return tuple(c for c in CLIP_GRID if c > 0 or not unseen.any())


def _weights(log: ClickLog, curve: ExaminationCurve, method: str, clip: float) -> Weights:
    return naive_weights(log) if method == "naive" else ips_weights(log, curve, clip=clip)


def _validation_propensity(
    log: ClickLog, curve: ExaminationCurve, method: str, clips: tuple[float, ...]
) -> NDArray[np.float64]:
    """What the validation estimate divides by: as little clipped as the clicks allow."""
    if method == "naive":
        return np.ones(log.rank.size)
    propensity = clipped_propensities(curve.at(log.rank), 0.0 if 0.0 in clips else min(clips))
    inverse_propensities(log, propensity)
    return propensity


def _held_out(
    corpus: Corpus, log: ClickLog, validation: tuple[Corpus, ClickLog] | None, seed: int
) -> tuple[tuple[Corpus, ClickLog], tuple[Corpus, ClickLog]] | None:
    """Training and validation queries with their clicks; None if there are not enough."""
    if validation is not None and validation[1].total_clicks and validation[1].query_draws > 1:
        return (corpus, log), validation
    useful = np.flatnonzero((log.clicks_per_query > 0) & (corpus.sizes > 1))
    if useful.size < 2:
        return None
    held = max(1, round(VALIDATION_SHARE * useful.size))
    chosen = np.sort(np.random.default_rng(checked_seed(seed)).permutation(useful)[:held])
    rest = np.setdiff1d(np.arange(corpus.n_queries), chosen)
    other_log = part_of_log(corpus, log, chosen)
    if other_log.query_draws < 2:
        return None
    return (
        (corpus.subset(rest), part_of_log(corpus, log, rest)),
        (corpus.subset(chosen), other_log),
    )
