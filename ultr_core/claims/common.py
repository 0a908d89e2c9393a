"""What several claims look at, besides the stages of a lab.

Whatever could be otherwise is a stage here, remembered in the lab's store: how documents are looked
at and judged, what the learner divides by, the small query, shipped results, printed numbers. So a
mutation breaks a claim by altering a stage (see `ultr_core.claims.mutations`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ultr_core.claims.long_runs import LongRuns, shipped_runs
from ultr_core.corpus import DEFAULT_SHAPE
from ultr_core.corpus.ranking import query_sums, rank_documents
from ultr_core.findings import Finding
from ultr_core.lab import LOG_FIELDS, WEIGHTED_FIELDS, WORLD_FIELDS, Lab
from ultr_core.lab.lab import proof_evidence
from ultr_core.lab.live import PAPER_CLICKS, PAPER_RESULTS
from ultr_core.lab.logs import simulate_logs
from ultr_core.lab.propensity_study import SwapDesign, true_ratios
from ultr_core.proofs import DERIVATIONS, PROOFS, Evidence, SmallWorld, Ways, default_world
from ultr_core.propensity import SwapCounts, simulate_swaps
from ultr_core.risk import Estimate, expected_risk, interval_over_draws, true_risk
from ultr_core.studies import (
    DEFAULT_LOSS,
    LOSSES,
    RULES,
    STUDIES,
    Claim,
    Point,
    StudyResult,
    judge,
    load_shipped,
    settings_words,
    shipped_result,
)
from ultr_core.studies.claims import points_of
from ultr_core.users import ClickLog, PositionModel

FloatArray: TypeAlias = "NDArray[np.float64]"

Measure: TypeAlias = "Callable[[Lab], Finding]"
"""How a claim is measured."""

REACH = 4.0
"""Standard errors that a simulated number may be off; one normal number in 16,000 is further."""

LANDMARK, LAST_RANK = 1, 21

MORE_CLICKS = 170_000
"""Clicks of the contests that are held at more clicks than the paper had."""

COST = 10.0
"""C of the rankers that are trained for a claim."""

SWAP_SESSIONS = 200_000
"""Presentations of a swap experiment whose uncertainty is what counts."""

MANY_SWAPS = 20_000_000
"""Presentations of a swap experiment that shows an error of 1%."""

MANY_LOGS = 100
"""Click logs that are counted together, so that an error of 1% shows."""

SWEEPS = 10_000
"""Times that every query is shown once, independently, where an estimate is held against truth."""


# Users, and what the learner believes of them.


def looked_at(lab: Lab, users: PositionModel) -> FloatArray:
    """How often these users examine each training document as presented."""
    return lab.remember(
        lab.cell("looked_at", WORLD_FIELDS, users),
        lambda at: users.curve.at(at.world().train.presented_ranks),
    )


def click_chance(lab: Lab, users: PositionModel) -> FloatArray:
    """How often these users click each training document: they look, and then they judge."""
    judged: FloatArray = lab.remember(
        lab.cell("judged_relevant", WORLD_FIELDS, users),
        lambda at: users.click_given_examined(at.world().train.relevance),
    )
    return looked_at(lab, users) * judged


def examined(lab: Lab) -> FloatArray:
    """The divisor of a click on each training document: here, the true examination."""
    return lab.remember(
        lab.cell("examined", LOG_FIELDS),
        lambda at: at.users.curve.at(at.world().train.presented_ranks),
    )


def clean_users(lab: Lab) -> PositionModel:
    """Users who examine as those of the lab, and make no mistakes."""
    return PositionModel(lab.users.curve)


def small(lab: Lab, claim: str) -> SmallWorld:
    """The small query with its users, for one claim."""
    return lab.remember(lab.cell("small_world", (), claim), lambda _: default_world())


def clean_small(lab: Lab, claim: str) -> SmallWorld:
    """The small query with users who make no mistakes, for one claim."""
    return lab.remember(lab.cell("small_world", (), claim), lambda _: default_world().clean)


def breaking(world: SmallWorld, name: str) -> SmallWorld:
    """The small query with one more assumption broken."""
    return world.breaking(*world.broken, name)


# Rankers and their risks.


def skyline_ranks(lab: Lab) -> NDArray[np.int32]:
    """Ranks of the skyline on the training queries."""
    corpus = lab.world().train.corpus
    return rank_documents(lab.world().skyline.score(corpus), corpus.query_offsets)


def expected_risks(lab: Lab, click_probability: FloatArray) -> FloatArray:
    """Expected weighted risks of the sixty rankers, if documents are clicked so often."""
    offsets = lab.world().train.shown[2]
    return expected_risk(click_probability, examined(lab), lab.family().ranks, offsets)


def wrong_order(truth: FloatArray, found: FloatArray) -> tuple[int, int]:
    """Pairs of rankers that ``found`` puts in the other order than ``truth``, and all pairs."""
    first, second = np.triu_indices(len(truth), k=1)
    wrong = (truth[first] - truth[second]) * (found[first] - found[second]) < 0
    return int(np.count_nonzero(wrong)), len(first)


def weighted_mean(
    lab: Lab,
    revealed: NDArray[Any],
    propensity: FloatArray,
    values: FloatArray,
    squares: FloatArray | None = None,
) -> Finding:
    """The skyline's loss from values revealed in ``SWEEPS`` sweeps, against the true one.

    (1/Q) sum_d rank(d) s_d / (SWEEPS q_d), where the values that users revealed of document d add
    up to s_d. The tolerance is ``REACH`` standard errors, those of values that are revealed
    independently with these propensities.

    revealed: s, propensity: q, values: mean value, squares: mean squared value, where users differ
    in it; each [documents].
    """
    ranks, offsets = skyline_ranks(lab), lab.world().train.shown[2]
    share = ranks / propensity
    found = float(query_sums(share * revealed, offsets).mean()) / SWEEPS
    second = values**2 if squares is None else squares
    variance = share**2 * (propensity * second - (propensity * values) ** 2)
    error = float(np.sqrt(variance.sum() / SWEEPS)) / (offsets.size - 1)
    return Finding("", found, "=", true_risk(ranks, values, offsets), REACH * error)


def sweep_seed(lab: Lab, number: int) -> np.random.Generator:
    """A stream of random numbers for one claim."""
    return np.random.default_rng(np.random.SeedSequence(lab.settings.seed, spawn_key=(54, number)))


# Proofs.


def largest_error(world: SmallWorld, name: str) -> Fraction:
    """The largest amount by which a line of a derivation fails on a small world, enumerated."""
    return DERIVATIONS[name].derive(Ways(world)).largest_error


def evidence(lab: Lab) -> Evidence:
    """What the proof checks look at, from the lab's first click log."""
    return lab.remember(
        lab.cell("evidence", WEIGHTED_FIELDS),
        lambda at: proof_evidence(
            at.world(), at.family(), at.settings, at.logs(), at.trained(0, "propensity")
        ),
    )


def from_proof(name: str) -> Measure:
    """What a proof of ``PROOFS`` finds on the lab's world."""

    def measure(lab: Lab) -> Finding:
        cell = lab.cell("proved_on", WEIGHTED_FIELDS, name)
        return PROOFS[name].evaluate(lab.remember(cell, evidence))

    return measure


# Click logs, and swaps.


@dataclass(frozen=True, eq=False)
class SummedLogs:
    """``MANY_LOGS`` simulated logs counted as one, and the clicks on validation queries."""

    train: ClickLog
    validation_clicks: int


def many_logs(lab: Lab) -> SummedLogs:
    """The clicks of many draws, each simulated as that of the lab."""
    return lab.remember(lab.cell("many_logs", LOG_FIELDS), _summed_logs)


def _summed_logs(lab: Lab) -> SummedLogs:
    found = [simulate_logs(lab.world(), lab.settings, draw) for draw in range(MANY_LOGS)]
    trains = [logs.train for logs in found]
    impressions, clicks, draws = (
        np.sum([getattr(log, name) for log in trains], axis=0)
        for name in ("impressions", "clicks", "draws")
    )
    total = sum(log.query_draws for log in trains)
    summed = replace(
        trains[0], impressions=impressions, clicks=clicks, query_draws=total, draws=draws
    )
    return SummedLogs(summed, sum(logs.validation.total_clicks for logs in found))


def true_swap_ratios(lab: Lab) -> FloatArray:
    """p_r / p_1 at the ranks that swaps measure."""
    return true_ratios(lab.users.curve, SwapDesign())


def swap_counts(lab: Lab) -> SwapCounts:
    """A swap experiment of section 7.6's design with these users, and far more traffic."""
    users = lab.users
    return lab.remember(
        lab.cell("swap_counts", (*WORLD_FIELDS, "seed"), users),
        lambda at: simulate_swaps(
            users, *at.world().train.shown, sessions=MANY_SWAPS, seed=at.settings.seed
        ),
    )


# Shipped results.


def study(lab: Lab, name: str) -> StudyResult:
    """A figure's study at paper scale, as shipped with the code."""
    return lab.remember(
        lab.cell("study", (), name), lambda _: shipped_result(name, LOSSES[DEFAULT_LOSS])
    )


def long_runs(lab: Lab) -> LongRuns:
    """The experiments that are too long for a page, as shipped with the code."""
    return lab.remember(lab.cell("long_runs", ()), lambda _: shipped_runs())


def by_corpus(rows: Sequence[tuple[int, float]]) -> Estimate:
    """Mean of a number over corpora, with the 95% interval of Student's t over corpora.

    rows: (corpus, number); several of one corpus are averaged first.
    """
    values: dict[int, list[float]] = {}
    for corpus, value in rows:
        values.setdefault(corpus, []).append(value)
    return interval_over_draws([float(np.mean(numbers)) for numbers in values.values()])


def study_settings(name: str) -> str:
    """The settings that a figure's study had, in a sentence."""
    return f"Made with {settings_words(shipped_result(name, LOSSES[DEFAULT_LOSS]).plan)}."


@lru_cache(maxsize=4)
def study_source(part: str = "figures") -> str:
    """Which run a part of the shipped results comes from, in a sentence or two."""
    shipped = load_shipped(part)
    counts: Mapping[str, Any] = shipped.world.counts
    return (
        f"Precomputed paper-scale result from {shipped.made}: {shipped.base.draws} click logs per "
        f"point on {counts['name']} with {counts['train']['queries']:,} training and "
        f"{counts['test']['queries']:,} test queries, made by `{shipped.command}`."
    )


def judged(name: str, key: str, lab: Lab) -> Finding:
    """What the study of a figure found on one claim, at paper scale."""
    rules = tuple(rule for rule in RULES[name] if rule.key == key)
    (claim,) = judge(study(lab, name), rules)
    source = study_source(STUDIES[name].shipped_in)
    return from_study_claim(claim, source, study_settings(name))


def sizes_judged(name: str, key: str, lab: Lab) -> Sizes:
    """Sizes of the points of a figure that decide about one claim."""
    (rule,) = (rule for rule in RULES[name] if rule.key == key)
    result = study(lab, name)
    return sizes_of_points(result, points_of(rule, result))


def from_study_claim(claim: Claim, source: str, settings: str) -> Finding:
    """What a study found on its figure: ``source`` of the study, and the ``settings`` it had."""
    reason = f"{source} {claim.rule.test}"
    if claim.finding.outcome == "open":
        reason = (
            "The interval contains the limit, so these click logs are too few to decide the claim. "
            f"{reason}"
        )
    numbers = claim.finding.sentence
    if "[" in numbers:
        numbers = f"With 95% intervals: {numbers}"
    return replace(claim.finding, sentence=f"{numbers} {settings}", reason=reason)


# What the paper prints, and sizes.


@dataclass(frozen=True)
class Printed:
    """Numbers of the paper that are checked against each other, and of the data that it used.

    queries, documents: training, validation and test part of the public description of Yahoo's set
    1. training_clicks, validation_clicks: of the live experiment, in 16 and 5 days. results: wins,
    losses and ties of the weighted ranker by opponent. p_values, relative_risks: in that order.
    noise: shares of clicks on irrelevant documents, by eps-. smallest: propensity.
    """

    queries: tuple[int, int, int] = (19_944, 2_994, 6_983)
    documents: tuple[int, int, int] = (473_134, 71_083, 165_660)
    training_clicks: int = 5_437
    validation_clicks: int = 1_755
    results: Mapping[str, tuple[int, int, int]] = field(default_factory=lambda: PAPER_RESULTS)
    p_values: tuple[float, float] = (0.001, 0.006)
    relative_risks: tuple[float, float] = (0.71, 0.77)
    noise: Mapping[float, float] = field(default_factory=lambda: {0.1: 0.33, 0.3: 0.598})
    smallest: float = 0.12


def printed(lab: Lab) -> Printed:
    """What the paper prints."""
    return lab.remember(lab.cell("printed", ()), lambda _: Printed())


Sizes: TypeAlias = "Mapping[str, int | tuple[int, int] | None]"
"""Clicks, queries and seeds of what a claim was measured on; a pair is a range, None is none.

An exact expectation has no clicks. Where every query is shown equally often, or queries are sampled
again and again, ``seeds`` says how often, and clicks are not counted. Of printed numbers, these are
the clicks and queries that are printed.
"""


def sizes_of(
    clicks: int | tuple[int, int] | None = None,
    queries: int | None = None,
    seeds: int | None = None,
) -> Sizes:
    """Sizes by name; None for what a measurement has none of."""
    return {"clicks": clicks, "queries": queries, "seeds": seeds}


def queries_of(lab: Lab, *parts: str) -> int:
    """Queries of some parts of the corpus, the training part by default."""
    counts = lab.world().counts()
    return sum(int(counts[part]["queries"]) for part in parts or ("train",))


def sizes_of_points(result: StudyResult, points: Iterable[Point]) -> Sizes:
    """Sizes of points of a study; clicks are those that are expected."""
    clicks = sorted({point.settings.clicks for point in points})
    of_all = (clicks[0], clicks[-1]) if len(clicks) > 1 else clicks[0]
    queries: int = result.world.counts["train"]["queries"]
    return sizes_of(of_all, queries, result.plan.base.draws)


def of_runs(name: str, clicks: int | None = None) -> Callable[[Lab], Sizes]:
    """Sizes of a long run, or of its rows with so many clicks."""

    def sizes(lab: Lab) -> Sizes:
        rows = [r for r in shipped_runs().tables[name] if clicks in (None, r.get("clicks"))]
        grid = [int(row["clicks"]) for row in rows if "clicks" in row]
        runs = {(row.get("corpus", 0), row.get("seed", row.get("draw", 0))) for row in rows}
        of_all = (min(grid), max(grid)) if grid and clicks is None else clicks
        return sizes_of(of_all, DEFAULT_SHAPE.train_queries, len(runs))

    return sizes


def _on_queries(*parts: str, seeds: int | None = None) -> Callable[[Lab], Sizes]:
    """Queries of parts of the corpus, whatever users click."""
    return lambda lab: sizes_of(queries=queries_of(lab, *parts), seeds=seeds)


def _printed_sizes(lab: Lab, *, clicks: bool, contests: bool) -> Sizes:
    found = printed(lab)
    return sizes_of(
        found.training_clicks + found.validation_clicks if clicks else None,
        sum(sum(row) for row in found.results.values()) if contests else None,
    )


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "nothing": lambda _: sizes_of(),
        "query": lambda _: sizes_of(queries=1),
        "corpus": _on_queries("train"),
        "test queries": _on_queries("test"),
        "all queries": _on_queries("train", "validation", "test"),
        "sweeps": _on_queries("train", seeds=SWEEPS),
        "log": lambda lab: sizes_of(lab.logs().train.total_clicks, queries_of(lab), 1),
        "many logs": lambda lab: sizes_of(
            many_logs(lab).train.total_clicks // MANY_LOGS, queries_of(lab), MANY_LOGS
        ),
        "many logs of both parts": lambda lab: sizes_of(
            (many_logs(lab).train.total_clicks + many_logs(lab).validation_clicks) // MANY_LOGS,
            queries_of(lab, "train", "validation"),
            MANY_LOGS,
        ),
        "swaps": lambda lab: sizes_of(swap_counts(lab).total_clicks, queries_of(lab), 1),
        "live": lambda lab: sizes_of(
            lab.live().clicks["training"] + lab.live().clicks["validation"], queries_of(lab), 1
        ),
        "printed experiment": partial(_printed_sizes, clicks=True, contests=True),
        "printed contests": partial(_printed_sizes, clicks=False, contests=True),
        "printed clicks": partial(_printed_sizes, clicks=True, contests=False),
        "printed parts": lambda lab: sizes_of(queries=sum(printed(lab).queries[:2])),
        "growing clicks": of_runs("growing"),
        "infinitely many clicks": of_runs("endless"),
        "smoothed and not": of_runs("smoothing", PAPER_CLICKS),
        "contests": of_runs("live"),
        "contests at the paper's clicks": of_runs("live", PAPER_CLICKS),
        "contests at more clicks": of_runs("live", MORE_CLICKS),
        "clipping": of_runs("clipping"),
        **{
            f"{name} {rule.key}": partial(sizes_judged, name, rule.key)
            for name, rules in RULES.items()
            for rule in rules
        },
    }
)
"""Sizes of what a claim was measured on, by the word that its entry has for it."""
