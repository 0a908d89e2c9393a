"""Conventions of this lab, how errata and open questions of the paper are read, and numbers
under both readings, computed on a small corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ultr_core.content import Content, read
from ultr_core.corpus import Corpus, synthetic_splits
from ultr_core.corpus.ranking import expected_ranks, query_sums, rank_documents
from ultr_core.errors import InputError, quoted
from ultr_core.lab import METHODS, Cell, Lab, Store
from ultr_core.learners import COST_GRID, fit_ranker
from ultr_core.propensity import (
    CLIP_GRID,
    CurveOptions,
    Weights,
    assemble_curve,
    clipped_propensities,
    estimate_swaps,
    ips_weights,
    simulate_swaps,
)
from ultr_core.risk import (
    empty_queries,
    estimate_risk,
    interval_over_draws,
    mean_rank_of_relevant,
    true_risk,
    variance_of_delta,
    variance_of_risk,
)
from ultr_core.settings import Settings
from ultr_core.users import PowerLaw, TableCurve
from ultr_core.words import counted

Kind = Literal["misprint", "omission", "ambiguity", "open question"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Convention:
    """The meaning of one of the lab's numbers; ``text`` is Markdown."""

    name: str
    text: str


@dataclass(frozen=True)
class Reading:
    """A passage of the paper that can be read in more than one way, and the lab's reading.

    Attributes:
        ids: numbers of the erratum (E) or question (Q).
        place: the paper's sections.
        kind: one of ``KINDS``: a kind of erratum, or "open question".
        unclear: what the paper prints or omits.
        taken: the lab's reading.
        why: the reason for it.
        other: the other reading, if numbers under both can be compared (see `compare`); else "".
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
        """The reading's first number, which is unique."""
        return self.ids[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for export."""
        return {
            "id": self.key, "ids": list(self.ids), "section": self.place, "kind": self.kind,
            "unclear": self.unclear, "taken": self.taken, "why": self.why,
            "other": self.other or None,
        }  # fmt: skip


def _reading(words: Content) -> Reading:
    """A passage in the text file, where the other reading is optional."""
    ids = words.texts("ids")
    return Reading(
        ids,
        words.text("place"),
        next(kind for kind in KINDS if kind == words.text("kind")),
        words.text("unclear"),
        words.text("taken"),
        words.text("why"),
        words.text("other") if "other" in words.entries else "",
    )


CONVENTIONS = tuple(
    Convention(words.text("name"), words.text("text"))
    for words in read(__file__, "conventions").parts("conventions")
)
"""The meanings of the numbers, wherever they are shown."""

READINGS = tuple(
    map(
        _reading,
        read(__file__, "readings")
        .filled(
            lowest_cost=COST_GRID[0],
            highest_cost=COST_GRID[-1],
            lowest_clip=CLIP_GRID[0],
            highest_clip=CLIP_GRID[-1],
        )
        .parts("readings"),
    )
)
"""Errata and open questions, those with two comparable readings first."""

QUERIES = 300
CLICKS = 3_000
RANKERS = ("production", "naive", "propensity", "skyline")
LOGS = 10
"""Click logs that the learned rankers' test losses are averaged over."""
CLIP = 0.1
RATE_AT_TOP = 0.6
"""Click rate of rank 1 in the comparison on clipping: rates, not yet divided by that of rank 1."""
SWAP_SESSIONS = 100_000
_ROW = tuple[str, float, float]
_WORDS = read(__file__, "comparisons")


@dataclass(frozen=True)
class Compared:
    """A quantity under this lab's reading and under the other.

    quantity: what the numbers measure. rows: (label, this lab's value, the other value). sentence:
    the conclusion. world: the corpus, users and logs behind the numbers; empty for plain
    arithmetic.
    """

    quantity: str
    rows: tuple[_ROW, ...]
    sentence: str
    world: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for export."""
        return {
            "quantity": self.quantity,
            "rows": [{"of": label, "taken": a, "other": b} for label, a, b in self.rows],
            "sentence": self.sentence,
            "world": self.world,
        }


def small_corpus(store: Store | None = None) -> Lab:
    """A lab with 300 queries per part, noise-free users and the paper's curve; quick to make.

    ``store``: where it is kept, by default a new `Store`.
    """
    kept = Store() if store is None else store
    splits = kept.get(
        "small_corpus",
        QUERIES,
        lambda: synthetic_splits(
            3, train_queries=QUERIES, validation_queries=QUERIES, test_queries=QUERIES,
            features=10, mean_candidates=12.0, relevant_share=0.12,
        ),
    )  # fmt: skip
    return Lab(Settings(eps_minus=0.0, clicks=CLICKS), splits, kept)


def compare(key: str, small: Lab) -> Compared:
    """The numbers under both readings of a passage, by its key in ``READINGS``.

    Raises InputError if the passage has no other reading to compare with.
    """
    if key not in COMPARISONS:
        raise InputError(
            f"{quoted(key)} does not have two readings to compare; choose from "
            f"{', '.join(COMPARISONS)}.",
            "two_readings",
        )

    def compared(at: Lab) -> Compared:
        with at.store.turn("claim"):
            return COMPARISONS[key](at)

    return small.remember(Cell("reading", small.settings, (key,), small.corpus), compared)


def _coefficients(small: Lab, name: str, logs: int) -> list[NDArray[np.float64]]:
    """Of one of the four rankers: for each of the first logs, if it learns from clicks."""
    if name == "production":
        return [small.world().production.ranker.coefficients]
    if name == "skyline":
        return [small.world().skyline.coefficients]
    return [small.trained(draw, name).coefficients for draw in range(logs)]


def _ranks(small: Lab, name: str, corpus: Corpus) -> NDArray[np.int32]:
    """Ranks of a ranker, learned from the clicks of draw 0, on some queries."""
    scores = corpus.features @ _coefficients(small, name, 1)[0]
    return rank_documents(scores, corpus.query_offsets)


def _test_losses(small: Lab, name: str, loss: Callable[..., float]) -> list[float]:
    """A loss of ranks, relevance and offsets on the test queries, for each click log."""
    corpus, relevance = small.world().splits.test, small.world().test_relevance
    offsets = corpus.query_offsets
    return [
        loss(rank_documents(corpus.features @ w, offsets), relevance, offsets)
        for w in _coefficients(small, name, LOGS)
    ]


def _words(small: Lab, logs: int = 1) -> str:
    """The corpus, its users, and how many click logs a number is made of."""
    counts, users = small.world().counts(), small.settings
    return _WORDS.text(
        "world",
        name=counts["name"],
        train=counts["train"]["queries"],
        test=counts["test"]["queries"],
        features=counts["features"],
        eta=users.eta,
        eps_minus=users.eps_minus,
        clicks=users.clicks,
        logs=counted(logs, "click log"),
    )


def _label(name: str) -> str:
    return METHODS[name].label


def _order_sentence(rows: tuple[_ROW, ...]) -> str:
    ours, other = (sorted(rows, key=lambda row: row[k]) for k in (1, 2))
    if [row[0] for row in ours] == [row[0] for row in other]:
        return "Levels differ; the order of the rankers does not."
    return (
        f"The order changes: {ours[0][0]} is best under our reading, {other[0][0]} under the other."
    )


def _on_test(small: Lab, quantity: str, other: Callable[..., float]) -> Compared:
    rows = tuple(
        (
            _label(name),
            float(np.mean(_test_losses(small, name, true_risk))),
            float(np.mean(_test_losses(small, name, other))),
        )
        for name in RANKERS
    )
    (skyline,) = _test_losses(small, "skyline", true_risk)
    left = interval_over_draws([x - skyline for x in _test_losses(small, "propensity", true_risk)])
    distance = _WORDS.text(
        "ahead",
        learned=_label("propensity"),
        skyline=_label("skyline"),
        value=left.value,
        low=left.low,
        high=left.high,
    )
    sentence = f"{_order_sentence(rows)} {distance}"
    return Compared(quantity, rows, sentence, _words(small, LOGS))


def _sum_or_mean(small: Lab) -> Compared:
    return _on_test(
        small, _WORDS.text("Q1.quantity"), lambda ranks, rel, _: mean_rank_of_relevant(ranks, rel)
    )


def _empty_queries(small: Lab) -> Compared:
    found = _on_test(
        small,
        _WORDS.text("Q2.quantity"),
        lambda *arrays: true_risk(*arrays, only_with_relevant=True),
    )
    corpus, relevance = small.world().splits.test, small.world().test_relevance
    empty = empty_queries(relevance, corpus.query_offsets)
    factor = corpus.n_queries / (corpus.n_queries - empty)
    return Compared(
        found.quantity,
        found.rows,
        _WORDS.text("Q2.sentence", empty=empty, queries=corpus.n_queries, factor=factor),
        found.world,
    )


def _on_train(
    small: Lab, of_ranks: Callable[[NDArray[np.int32]], tuple[float, float]]
) -> tuple[_ROW, ...]:
    """Both numbers of each ranker, from its ranks on the training queries."""
    corpus = small.world().train.corpus
    return tuple((_label(name), *of_ranks(_ranks(small, name, corpus))) for name in RANKERS)


def _and_production(small: Lab, sentence: str) -> str:
    """The sentence, and the true risk of production beside it."""
    train = small.world().train
    ranks = _ranks(small, "production", train.corpus)
    risk = true_risk(ranks, train.relevance, train.corpus.query_offsets)
    return f"{sentence} {_WORDS.text('production', risk=risk)}"


def _divide_by(small: Lab) -> Compared:
    log = small.logs().train
    q = small.users.curve.at(log.rank)

    def both(ranks: NDArray[np.int32]) -> tuple[float, float]:
        ours = estimate_risk(log, ranks, q).value
        return ours, ours * log.query_draws / log.total_clicks

    sentence = _WORDS.text("E5.sentence", draws=log.query_draws, clicks=log.total_clicks)
    return Compared(
        _WORDS.text("E5.quantity"),
        _on_train(small, both),
        _and_production(small, sentence),
        _words(small),
    )


def _clip_over(small: Lab) -> Compared:
    log, train = small.logs().train, small.world().train
    q = clipped_propensities(small.users.curve.at(log.rank), CLIP)
    shown = clipped_propensities(small.users.curve.at(train.presented_ranks), CLIP)

    def both(ranks: NDArray[np.int32]) -> tuple[float, float]:
        printed = query_sums(ranks * train.relevance / shown, train.corpus.query_offsets).mean()
        return estimate_risk(log, ranks, q).value, float(printed)

    return Compared(
        _WORDS.text("E2.quantity", clip=CLIP),
        _on_train(small, both),
        _and_production(small, _WORDS.text("E2.sentence")),
        _words(small),
    )


def _clip_order(_: Lab) -> Compared:
    ranks = np.array([1, 2, 5, 10, 20])
    rates = RATE_AT_TOP / ranks
    ours = 1.0 / clipped_propensities(rates / rates[0], CLIP)
    clipped = clipped_propensities(rates, CLIP)
    other = clipped[0] / clipped
    rows = tuple(
        (f"rank {rank}", float(a), float(b)) for rank, a, b in zip(ranks, ours, other, strict=True)
    )
    return Compared(
        _WORDS.text("Q8.quantity", clip=CLIP, rate=RATE_AT_TOP),
        rows,
        _WORDS.text("Q8.sentence", taken=1 / CLIP, other=RATE_AT_TOP / CLIP),
    )


def _cost(small: Lab) -> Compared:
    log, corpus = small.logs().train, small.world().train.corpus
    weights = ips_weights(log, small.users.curve)
    by_draws = Weights(weights.values, float(log.query_draws))
    test, relevance = small.world().splits.test, small.world().test_relevance
    rows = []
    for cost in (0.01, 1.0, 100.0):
        found = []
        for chosen in (weights, by_draws):
            ranker = fit_ranker(corpus, chosen, cost=cost)
            ranks = rank_documents(ranker.score(test), test.query_offsets)
            found.append(true_risk(ranks, relevance, test.query_offsets))
        rows.append((f"C = {cost:g}", found[0], found[1]))
    factor = log.query_draws / log.total_clicks
    return Compared(
        _WORDS.text("Q6.quantity"),
        tuple(rows),
        _WORDS.text("Q6.sentence", factor=factor),
        _words(small),
    )


def _sweeps(small: Lab) -> Compared:
    train, log = small.world().train, small.logs().train
    pi = small.users.click_probability(train.relevance, train.presented_ranks)
    q = small.users.curve.at(train.presented_ranks)
    offsets = train.corpus.query_offsets

    def both(ranks: NDArray[np.int32]) -> tuple[float, float]:
        drawn = float(variance_of_risk(pi, q, ranks, offsets, log.query_draws)) ** 0.5
        within = float(variance_of_delta(pi, q, ranks, offsets).mean()) / log.query_draws
        return drawn, within**0.5

    return Compared(
        _WORDS.text("Q3.quantity", draws=log.query_draws),
        _on_train(small, both),
        _WORDS.text("Q3.sentence"),
        _words(small),
    )


def _ties(small: Lab) -> Compared:
    corpus, relevance = small.world().splits.test, small.world().test_relevance
    offsets = corpus.query_offsets
    zero = expected_ranks(np.zeros(corpus.n_documents), offsets)
    everyone_first = np.ones(corpus.n_documents, dtype=np.int32)
    skyline = true_risk(_ranks(small, "skyline", corpus), relevance, offsets)
    rows = (
        ("w = 0, all scores equal", true_risk(zero, relevance, offsets),
         true_risk(everyone_first, relevance, offsets)),
        (_label("skyline"), skyline, skyline),
    )  # fmt: skip
    return Compared(
        _WORDS.text("E11.quantity"),
        rows,
        _WORDS.text("E11.sentence"),
        _words(small),
    )


def _beyond(_: Lab) -> Compared:
    last = 21
    measured = TableCurve(tuple(PowerLaw(0.7).at(np.arange(1, last + 1)).tolist()))
    ranks = np.array([21, 30, 50, 100])
    rows = tuple(
        (f"rank {rank}", float(a), float(b))
        for rank, a, b in zip(ranks, measured.at(ranks), PowerLaw(0.7).at(ranks), strict=True)
    )
    return Compared(
        _WORDS.text("Q12.quantity", last=last),
        rows,
        _WORDS.text("Q12.sentence"),
    )


def _smoothing(small: Lab) -> Compared:
    train = small.world().train
    counts = simulate_swaps(
        small.users, train.relevance, train.presented_ranks, train.corpus.query_offsets,
        last_rank=10, sessions=SWAP_SESSIONS, seed=small.settings.seed,
    )  # fmt: skip
    estimate = estimate_swaps(counts)
    smooth, plain = (
        assemble_curve(
            estimate, CurveOptions(smoothing=weight), click_rates=counts.own_place.rates
        ).values
        for weight in (0.5, 0.0)
    )
    rows = tuple((f"rank {rank}", smooth[rank - 1], plain[rank - 1]) for rank in (2, 3, 5, 10))
    return Compared(
        _WORDS.text("Q9.quantity", presentations=SWAP_SESSIONS),
        rows,
        _WORDS.text("Q9.sentence"),
        _words(small),
    )


COMPARISONS: Mapping[str, Callable[[Lab], Compared]] = MappingProxyType(
    {
        "Q1": _sum_or_mean,
        "Q2": _empty_queries,
        "E5": _divide_by,
        "E2": _clip_over,
        "Q8": _clip_order,
        "Q6": _cost,
        "Q3": _sweeps,
        "E11": _ties,
        "Q12": _beyond,
        "Q9": _smoothing,
    }
)
"""The readings with numbers to compare, in the order of ``READINGS``."""
