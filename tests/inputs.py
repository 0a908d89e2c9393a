"""What tests of several subpackages give to readers: random corpora, rankers and damaged files."""

from __future__ import annotations

import gzip
import random
import re
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ultr_core.corpus import Corpus, CorpusSplits, synthetic_splits
from ultr_core.errors import InputError
from ultr_core.learners import Certificate, LinearModel, LinearRanker
from ultr_core.propensity import Weights

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
IDS = st.text(st.characters(exclude_characters="#", exclude_categories=("C", "Z")), min_size=1)


@st.composite
def corpora(draw: st.DrawFn, least_id: int = 0, largest_id: int = 10**12) -> Corpus:
    """Small corpora of any kind: dense or sparse, with or without document ids."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    documents, queries = sum(sizes), len(sizes)
    ids = draw(st.lists(st.integers(least_id, largest_id), min_size=1, max_size=6, unique=True))
    cells = FLOATS if draw(st.booleans()) else st.sampled_from([0.0, 0.0, 0.0, 1.5])
    features = draw(hnp.arrays(np.float32, (documents, len(ids)), elements=cells))
    document_ids = st.lists(IDS, min_size=documents, max_size=documents)
    return Corpus(
        features=sparse.csr_array(features) if draw(st.booleans()) else features,
        grades=draw(hnp.arrays(np.int16, documents, elements=st.integers(0, 32767))),
        query_offsets=np.concatenate([[0], np.cumsum(sizes)]),
        query_ids=tuple(draw(st.lists(IDS, min_size=queries, max_size=queries, unique=True))),
        document_ids=tuple(draw(document_ids)) if draw(st.booleans()) else None,
        feature_ids=np.sort(np.array(ids)),
    )


@st.composite
def weights_of(draw: st.DrawFn, corpus: Corpus) -> Weights:
    """Weights of a corpus' documents, at least one above 0."""
    some = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))
    values = draw(hnp.arrays(np.float64, corpus.n_documents, elements=some))
    values[draw(st.integers(0, corpus.n_documents - 1))] = draw(st.floats(1e-3, 1e6))
    return Weights(values, draw(st.one_of(st.integers(1, 10**9), st.floats(0.5, 1e9))))


@st.composite
def models(draw: st.DrawFn, least_id: int = 0, largest_id: int = 2**63 - 1) -> LinearModel:
    """Linear models, trained ones among them."""
    ids = sorted(draw(st.sets(st.integers(least_id, largest_id), min_size=1, max_size=6)))
    w = draw(hnp.arrays(np.float64, len(ids), elements=DOUBLES))
    if draw(st.booleans()):
        return LinearModel(w, np.array(ids))
    positive = st.floats(0, 1e300)
    certificate = Certificate(
        primal=draw(positive), dual=draw(positive), gap=draw(positive),
        iterations=draw(st.integers(0, 10**6)), passes=draw(st.integers(0, 10**6)),
        solver=draw(st.text()), converged=draw(st.booleans()), stopped_early=draw(st.booleans()),
    )  # fmt: skip
    return LinearRanker(w, np.array(ids), draw(st.floats(1e-300, 1e300)), certificate)


def dense(corpus: Corpus) -> np.ndarray:
    """Features of a corpus as one array."""
    return corpus.features.toarray() if corpus.is_sparse else corpus.features


def assert_equal_corpora(one: Corpus, other: Corpus, *, but: Sequence[str] = ()) -> None:
    """Everything equal, to the last digit, whether kept dense or sparse."""
    assert np.array_equal(dense(one), dense(other))
    for name in ("grades", "query_offsets", "feature_ids", "query_ids", "document_ids"):
        if name not in but:
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


_TOKENS = (
    b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b" ", b"\t", b":", b"#", b",",
    b";", b'"', b"'", b"-", b"+", b"_", b"=", b"{", b"[", b"]", b"}", b"nan", b"inf", b"-inf",
    b"1e309", b"1e-400", b"1.8e308", b"-1", b"0", b"00", b"0x1", b"1_0", b"1.", b".", b"9" * 19,
    b"9" * 400, b"2147483648", b"qid:", b" qid:7", b"cost:", b" cost:-1", b" cost:1e999", b"null",
    b"true", b"[" * 2000, b"query", b"n = 0", b"\xd9\xa3", "é".encode(), b"\xe2\x80\xa8", b"\x0c",
    b"a" * 200_000, b"1:1 " * 20_000,
)  # fmt: skip


def mutated(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """One of the seeds with one to four faults put in, now and then packed and damaged again."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        start = rng.randrange(len(data) + 1)
        stop = min(len(data), start + rng.choice((0, 0, 1, 1, 2, 8, 64)))
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[start % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[start:stop]
        elif kind == 2:
            data[start:stop] = rng.choice(_TOKENS)
        elif kind == 3:
            data[start:start] = rng.choice(_TOKENS)
        elif kind == 4:
            lines = bytes(data).split(b"\n")
            lines.insert(rng.randrange(len(lines) + 1), lines.pop(rng.randrange(len(lines))))
            data = bytearray(b"\n".join(lines))
        elif kind == 5:
            other = rng.choice(seeds)
            data[start:stop] = other[rng.randrange(len(other) + 1) :]
        else:
            del data[start:]
    if rng.randrange(12):
        return bytes(data)
    packed = bytearray(gzip.compress(bytes(data), 1))
    if rng.randrange(2):
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    return bytes(packed[: rng.randrange(len(packed)) if rng.randrange(3) == 0 else None])


def fuzz(
    read: Callable[[Path], object],
    path: Path,
    seeds: Sequence[bytes],
    count: int,
    whole_file: re.Pattern[str],
    seed: int = 0,
) -> int:
    """Give ``count`` damaged files to a reader; return how many of them it could read all the same.

    Whatever cannot be read must be refused by an InputError of one line that names the file, and
    a line of it unless ``whole_file`` matches; in under two seconds and without taking much memory.
    """
    rng = random.Random(seed)
    taken = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(count):
        data = mutated(seeds, rng)
        path.write_bytes(data)
        begun = time.process_time()
        try:
            read(path)
            taken += 1
        except InputError as error:
            _check_refusal(str(error), path, data, whole_file)
        except BaseException:
            print(f"input {number} of seed {seed}: {data[:500]!r}")
            raise
        assert time.process_time() - begun < 2.0, data[:500]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400_000, f"{grown} kB more memory"
    return taken


def _check_refusal(message: str, path: Path, data: bytes, whole_file: re.Pattern[str]) -> None:
    assert path.name in message, message
    assert "\n" not in message and message.endswith("."), message
    assert len(message) < 700 + 3 * len(str(path)), message
    if whole_file.search(message) or f"{path.name} looks like " in message:
        return
    lines = [int(number) for number in re.findall(r"\b[Ll]ines? (\d+)", message)]
    assert lines, f"no line in {message!r} for {data[:300]!r}"
    if not data.startswith(b"\x1f\x8b"):
        text = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert min(lines) >= 1 and max(lines) <= text.count(b"\n") + 2, message


@contextmanager
def soon(seconds: float = 5.0) -> Iterator[None]:
    """Computing time that what is done within must not exceed."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds


def one_sentence(call: Callable[[], object], words: str) -> None:
    """A call is soon refused by an InputError of one line with these words."""
    with soon(), pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def lesson_splits() -> CorpusSplits:
    """A corpus on which every lesson is computed in a moment."""
    return synthetic_splits(
        3, train_queries=150, validation_queries=40, test_queries=80, features=8,
        mean_candidates=14.0, relevant_share=0.15,
    )  # fmt: skip


def queries_of_ten() -> Corpus:
    """150 queries of about ten candidates, two of them relevant, with 8 features."""
    return synthetic_splits(
        3, train_queries=150, validation_queries=2, test_queries=2, features=8,
        mean_candidates=10.0, relevant_share=0.2,
    ).train  # fmt: skip
