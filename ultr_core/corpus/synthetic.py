"""The built-in corpus: made from a seed, shaped like the public ranking corpora.

A candidate document has latent factors z [factors], drawn around a centre that its query sets.
Its utility is

    u = w.z + a sum_k v_k z_i(k) z_j(k) + b s.min(z, 0.3) + c t_topic(query).z + noise,

linear in the factors only in part, so that no linear ranker is exact. Grades 0..4 cut u at
quantiles of the training documents. The features are noisy mixtures of the factors, squeezed into
[0, 1] by a logistic function, and some are missing (0); they are therefore bounded and correlated,
and the best ranking is not linear in them.

The share of relevant documents (grades 3 and 4) is calibrated for each corpus seed: see
``calibration.json`` and the script that makes it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.model import Corpus
from ultr_core.corpus.ranking import in_brief, whole_or_none
from ultr_core.corpus.splits import CorpusSplits
from ultr_core.errors import InputError

FEWEST_CANDIDATES = 3
CALIBRATION_FILE = Path(__file__).with_name("calibration.json")


@dataclass(frozen=True)
class CorpusShape:
    """The size of a synthetic corpus.

    Attributes:
        train_queries: number of training queries.
        validation_queries: number of validation queries (in the paper, 15% of training queries).
        test_queries: number of test queries.
        features: number of features per document.
        mean_candidates: mean number of candidate documents per query; the counts vary.

    Raises:
        InputError: a count below 1, or fewer than 3 candidates on average.

    """

    train_queries: int = 2000
    validation_queries: int = 300
    test_queries: int = 2000
    features: int = 50
    mean_candidates: float = 24.0

    def __post_init__(self) -> None:
        """Check every count."""
        for name in ("train_queries", "validation_queries", "test_queries", "features"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be 1 or more.")
        if not self.mean_candidates >= FEWEST_CANDIDATES:
            raise InputError(
                f"mean_candidates is {self.mean_candidates}; "
                f"it must be {FEWEST_CANDIDATES} or more."
            )


DEFAULT_SHAPE = CorpusShape()
# Training, validation and test queries and features of Yahoo LTRC set 1, the paper's corpus.
YAHOO_SHAPE = CorpusShape(19_944, 2_994, 6_983, 519, 23.7)


@dataclass(frozen=True)
class Calibration:
    """What was found for one corpus seed and shape so that the noise shares are the paper's.

    Attributes:
        relevant_share: share of training documents with grade 3 or 4.
        redraw: how often the queries had to be drawn again. The noise shares jump where the labels
            of the production ranker's few queries change, and may jump past their targets.

    """

    relevant_share: float
    redraw: int


def find_calibration(corpus_seed: int, shape: CorpusShape) -> Calibration | None:
    """Look up what was calibrated for a seed and a shape; None if nothing was."""
    for entry in load_calibration()["corpora"]:
        if entry["corpus_seed"] == corpus_seed and CorpusShape(**entry["shape"]) == shape:
            return Calibration(entry["relevant_share"], entry["redraw"])
    return None


def mean_calibrated_share() -> float:
    """Return the mean share of relevant documents over the calibrated seeds."""
    shares = [entry["relevant_share"] for entry in load_calibration()["corpora"]]
    return float(np.mean(shares))


@cache
def load_calibration() -> Any:
    """Return the content of ``calibration.json``, which says how it was made."""
    return json.loads(CALIBRATION_FILE.read_text(encoding="utf-8"))


FACTORS = 12
TOPICS = 4
LONGEST_LIST = 6  # times the mean number of candidates

QUERY_SPREAD = 0.7  # standard deviation of a query's centre, in that of its documents
INTERACTION = 0.25  # a: products of two factors
SATURATION = 0.5  # b: more of a factor helps only up to SATURATION_POINT
SATURATION_POINT = 0.3
TOPIC_SHIFT = 0.2  # c: what a query of this topic wants besides
UTILITY_NOISE = 0.3
FEATURE_NOISE = 0.5
DENSITY = 0.8  # mean share of features that are present

# Shares of grades 0, 1, 2 among the irrelevant and of 3, 4 among the relevant documents.
IRRELEVANT_GRADES = (0.29, 0.46, 0.25)
RELEVANT_GRADES = (0.69, 0.31)

# Queries made at a time: bounds the memory beside the result, and is part of the random stream.
_QUERIES_PER_BLOCK = 500


@dataclass(frozen=True, eq=False)
class Candidates:
    """Documents before they are graded.

    Attributes:
        features: float32 [documents, features].
        utility: float64 [documents], what the grades are cut from.
        query_offsets: int64 [queries + 1].

    """

    features: NDArray[np.float32]
    utility: NDArray[np.float64]
    query_offsets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Law:
    """What all documents of one corpus have in common, drawn once per corpus seed."""

    linear: NDArray[np.float64]  # w [factors]
    pairs: NDArray[np.int64]  # [products, 2] factors multiplied with each other
    interaction: NDArray[np.float64]  # v [products]
    saturation: NDArray[np.float64]  # s [factors], all >= 0
    topics: NDArray[np.float64]  # t [topics, factors]
    loadings: NDArray[np.float32]  # [factors, features]
    noise: NDArray[np.float32]  # [features] scale of a feature's own noise
    offsets: NDArray[np.float32]  # [features]
    present: NDArray[np.float32]  # [features] probability of not being missing


def synthetic_splits(
    corpus_seed: int = 0,
    *,
    train_queries: int = DEFAULT_SHAPE.train_queries,
    validation_queries: int = DEFAULT_SHAPE.validation_queries,
    test_queries: int = DEFAULT_SHAPE.test_queries,
    features: int = DEFAULT_SHAPE.features,
    mean_candidates: float = DEFAULT_SHAPE.mean_candidates,
    relevant_share: float | None = None,
) -> CorpusSplits:
    """Generate a corpus with disjoint training, validation and test queries from a seed.

    Args:
        corpus_seed: whole number >= 0; the same seed gives the same corpus.
        train_queries: number of training queries.
        validation_queries: number of validation queries.
        test_queries: number of test queries.
        features: number of features, each in [0, 1].
        mean_candidates: mean number of candidates per query.
        relevant_share: share of training documents with grade 3 or 4; None uses the calibrated
        share, with which 33.1% of the clicks in the paper's simulation (eta = 1, section 7.1) are
        on irrelevant documents at eps- = 0.1, and 59.8% at 0.3.

    Returns:
        The three parts. If no calibrated share is known, a notice says so.

    Raises:
        InputError: a negative seed, a count below 1, or a share outside (0, 1).

    """
    shape = CorpusShape(train_queries, validation_queries, test_queries, features, mean_candidates)
    setting = find_calibration(corpus_seed, shape)
    notices: tuple[str, ...] = ()
    if relevant_share is None:
        relevant_share = setting.relevant_share if setting else mean_calibrated_share()
        notices = () if setting else (_not_calibrated(relevant_share),)
    parts = draw_candidates(corpus_seed, shape, redraw=setting.redraw if setting else 0)
    cuts = grade_cuts(parts[0].utility, relevant_share)
    first = np.cumsum([1, shape.train_queries, shape.validation_queries])
    train, validation, test = (
        grade_candidates(part, cuts, int(number)) for part, number in zip(parts, first, strict=True)
    )
    return CorpusSplits(
        name=f"synthetic corpus {corpus_seed}",
        train=train,
        validation=validation,
        test=test,
        source="synthetic",
        notices=notices,
    )


def _not_calibrated(share: float) -> str:
    return (
        f"The share of relevant documents, {share:.1%}, is not calibrated for this corpus seed and "
        "size, so the share of clicks on irrelevant documents differs from the paper's."
    )


def draw_candidates(
    corpus_seed: int, shape: CorpusShape, redraw: int = 0
) -> tuple[Candidates, Candidates, Candidates]:
    """Draw the documents of training, validation and test queries, not graded yet.

    Each value of ``redraw`` gives other queries of the same kind.

    Raises:
        InputError: a seed that is not a whole number >= 0.

    """
    number = whole_or_none(corpus_seed)
    if number is None or number < 0:
        raise InputError(
            f"The corpus seed is {in_brief(corpus_seed)}; it must be a whole number of 0 or more."
        )
    law = _draw_law(_generator(corpus_seed, 0), shape.features)
    counts = (shape.train_queries, shape.validation_queries, shape.test_queries)
    train, validation, test = (
        _draw_part(law, queries, shape.mean_candidates, _generator(corpus_seed, 1, redraw, part))
        for part, queries in enumerate(counts)
    )
    return train, validation, test


def _generator(corpus_seed: int, *place: int) -> np.random.Generator:
    """Return the random stream of one stage of one corpus."""
    return np.random.default_rng(np.random.SeedSequence(corpus_seed, spawn_key=place))


def grade_cuts(utility: NDArray[np.float64], relevant_share: float) -> NDArray[np.float64]:
    """Return the utilities [4] from which on a document has grade 1, 2, 3, 4.

    The third cut lies between two documents, so that exactly round(share x documents) of the
    given documents are relevant.

    Raises:
        InputError: a share that makes no or every document relevant.

    """
    documents = len(utility)
    relevant = round(relevant_share * documents) if 0 < relevant_share < 1 else 0
    if not 0 < relevant < documents:
        raise InputError(
            f"relevant_share is {relevant_share}; it must lie between 0 and 1 and leave at least "
            f"one of the {documents} training documents relevant and at least one irrelevant."
        )
    irrelevant = documents - relevant
    below = np.cumsum(IRRELEVANT_GRADES)[:-1] * irrelevant
    above = irrelevant + RELEVANT_GRADES[0] * relevant
    places = np.array([*below, irrelevant, above]).astype(np.int64)
    places = np.clip(places, 1, documents - 1)
    ordered = np.partition(utility, np.unique([*(places - 1), *places]))
    cuts: NDArray[np.float64] = (ordered[places - 1] + ordered[places]) / 2
    return cuts


def grade_candidates(candidates: Candidates, cuts: NDArray[np.float64], first_query: int) -> Corpus:
    """Grade documents by utility; queries are named q1, q2, ... and documents q1-d1, q1-d2, ..."""
    offsets = candidates.query_offsets
    sizes = np.diff(offsets).tolist()
    names = tuple(f"q{number}" for number in range(first_query, first_query + len(sizes)))
    return Corpus(
        features=candidates.features,
        grades=np.searchsorted(cuts, candidates.utility).astype(np.int16),
        query_offsets=offsets,
        query_ids=names,
        document_ids=tuple(
            f"{name}-d{place}"
            for name, size in zip(names, sizes, strict=True)
            for place in range(1, size + 1)
        ),
    )


def _unit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale vectors along the last axis to length 1."""
    scaled: NDArray[np.float64] = values / np.linalg.norm(values, axis=-1, keepdims=True)
    return scaled


def _draw_law(rng: np.random.Generator, features: int) -> _Law:
    """Draw the utility's directions and what each feature measures."""
    products = FACTORS // 2
    # Each feature sees about a third of the factors, and always at least one.
    seen = rng.random((FACTORS, features)) < 0.35
    seen[rng.integers(FACTORS, size=features), np.arange(features)] = True
    loadings = _unit((rng.normal(size=(FACTORS, features)) * seen).T).T
    gain = 1.7 * np.exp(rng.normal(scale=0.5, size=features))
    return _Law(
        linear=_unit(rng.normal(size=FACTORS)),
        pairs=rng.permutation(FACTORS)[: 2 * products].reshape(products, 2),
        interaction=_unit(rng.normal(size=products)),
        saturation=_unit(np.abs(rng.normal(size=FACTORS))),
        topics=_unit(rng.normal(size=(TOPICS, FACTORS))),
        loadings=(loadings * gain).astype(np.float32),
        noise=(FEATURE_NOISE * gain).astype(np.float32),
        offsets=rng.normal(scale=0.7, size=features).astype(np.float32),
        present=rng.beta(2 * DENSITY, 2 * (1 - DENSITY), features).astype(np.float32),
    )


def _draw_part(
    law: _Law, queries: int, mean_candidates: float, rng: np.random.Generator
) -> Candidates:
    """Draw the documents of one part, block by block."""
    sizes = _draw_sizes(rng, queries, mean_candidates)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    features = np.empty((offsets[-1], law.loadings.shape[1]), np.float32)
    utility = np.empty(offsets[-1])
    for start in range(0, queries, _QUERIES_PER_BLOCK):
        stop = min(start + _QUERIES_PER_BLOCK, queries)
        rows = slice(offsets[start], offsets[stop])
        utility[rows] = _fill_block(law, sizes[start:stop], rng, features[rows])
    return Candidates(features=features, utility=utility, query_offsets=offsets)


def _draw_sizes(rng: np.random.Generator, queries: int, mean: float) -> NDArray[np.int64]:
    """Draw candidate counts: skewed as in the public corpora (standard deviation 0.62 means)."""
    counts = np.rint(rng.gamma(2.6, mean / 2.6, queries))
    return np.clip(counts, FEWEST_CANDIDATES, LONGEST_LIST * mean).astype(np.int64)


def _fill_block(
    law: _Law, sizes: NDArray[np.int64], rng: np.random.Generator, out: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Write the features of a block of queries to ``out``; return its utilities [documents]."""
    queries, documents = len(sizes), len(out)
    query = np.repeat(np.arange(queries), sizes)
    centres = QUERY_SPREAD * rng.normal(size=(queries, FACTORS))
    wanted = law.topics[rng.integers(TOPICS, size=queries)]
    factors = rng.normal(size=(documents, FACTORS)) + centres[query]
    utility: NDArray[np.float64] = (
        factors @ law.linear
        + INTERACTION * (factors[:, law.pairs].prod(axis=2) @ law.interaction)
        + SATURATION * (np.minimum(factors, SATURATION_POINT) @ law.saturation)
        + TOPIC_SHIFT * np.einsum("ij,ij->i", factors, wanted[query])
        + UTILITY_NOISE * rng.normal(size=documents)
    )
    rng.standard_normal(dtype=np.float32, out=out)
    out *= law.noise
    out += factors.astype(np.float32) @ law.loadings
    out += law.offsets
    _squeeze(out)
    out *= rng.random(out.shape, dtype=np.float32) < law.present
    return utility


def _squeeze(values: NDArray[np.float32]) -> None:
    """Apply the logistic function 1 / (1 + exp(-x)) in place."""
    np.negative(values, out=values)
    np.exp(values, out=values)
    values += 1
    np.reciprocal(values, out=values)
