"""Padded blocks of pairs: every pair once, the same sums however they are cut, fair samples."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultr_core.learners import dense_pairs
from ultr_core.learners import dense_pairs as dense_layout
from ultr_core.learners.dense_pairs import DenseLayout, DensePairs, layout_of


def some_pairs(seed, sizes):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    weights = np.exp(rng.normal(size=offsets[-1])) * (rng.random(offsets[-1]) < rng.random())
    return weights, offsets


def by_definition(weights, offsets, scores, width):
    hinge = linear = 0.0
    pull = np.zeros(len(scores))
    for begin, end in pairwise(offsets):
        s, a = scores[begin:end], weights[begin:end]
        u = 1 - s[:, None] + s[None, :]
        np.fill_diagonal(u, -np.inf)
        beta = a[:, None] * np.clip(u / width, 0, 1)
        hinge += float(a @ np.maximum(u, 0).sum(axis=1))
        linear += beta.sum()
        pull[begin:end] += beta.sum(axis=1) - beta.sum(axis=0)
    return hinge, linear, pull


list_sizes = st.lists(st.integers(1, 40), min_size=1, max_size=25)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), list_sizes, st.sampled_from([0, 50, 10_000]))
def test_every_pair_has_one_cell(seed, sizes, wasted):
    weights, offsets = some_pairs(seed, sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_layout, "CELLS_PER_SIZE", wasted)
        patch.setattr(dense_layout, "CELLS_PER_CALL", wasted)
        patch.setattr(dense_layout, "CELLS_PER_BLOCK", 200 if wasted < 100 else 96_000)
        patch.setattr(dense_layout, "CELLS_PER_QUERY", 300 if wasted < 100 else 2_000_000)
        layout = DenseLayout(weights > 0, offsets)
    query = np.repeat(np.arange(len(sizes)), sizes)
    expected = {
        (i, j) for i in np.flatnonzero(weights) for j in np.flatnonzero(query == query[i]) if i != j
    }
    found = []
    for block in layout.blocks:
        rows = layout.clicked[block.rows].reshape(block.queries, block.rows_each)
        columns = layout.document[block.places].reshape(block.queries, block.size)
        own = np.zeros(block.queries * block.rows_each * block.size, bool)
        own[block.self_cells] = True
        i = np.repeat(rows[:, :, None], block.size, axis=2).ravel()
        j = np.repeat(columns[:, None, :], block.rows_each, axis=1).ravel()
        real = (i < len(weights)) & (j < len(weights))
        # A clicked document meets itself where the block says so, and nowhere else.
        np.testing.assert_array_equal((i == j)[real], own[real])
        found += zip(i[real & ~own].tolist(), j[real & ~own].tolist(), strict=True)
    assert len(found) == len(expected) == layout.n_pairs
    assert set(found) == expected


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    list_sizes,
    st.sampled_from(["random", "tied", "far apart", "one far out"]),
    st.sampled_from([2.0, 0.6, 1e-3]),
)
def test_sums_equal_the_definition_for_scores_of_all_kinds(seed, sizes, kind, width):
    weights, offsets = some_pairs(seed, sizes)
    scores = np.random.default_rng(seed).normal(size=offsets[-1])
    if kind == "tied":
        scores = np.round(scores)
    elif kind == "far apart":
        scores *= 1e6
    elif kind == "one far out":
        scores[0] = 1e9
    found = DensePairs(weights, offsets).evaluate(scores, width)
    hinge, linear, pull = by_definition(weights, offsets, scores, width)
    # A score of 1e9 has rounding errors of 1e-7, a window of 1e-3 makes 1e-4 of them.
    digits = max(1e-12, 1e-15 * np.abs(scores).max() / width)
    assert found.hinge == pytest.approx(hinge, rel=digits, abs=digits)
    assert found.linear == pytest.approx(linear, rel=digits, abs=digits)
    np.testing.assert_allclose(found.pull, pull, atol=100 * digits)
    alone = DensePairs(weights, offsets).hinge(scores)
    assert alone == pytest.approx(hinge, rel=digits, abs=digits)


@pytest.mark.parametrize("seed", range(20))
def test_a_query_that_is_cut_by_rows_has_the_same_sums(monkeypatch, seed):
    weights, offsets = some_pairs(seed, [3, 40, 1, 60, 8])
    weights[10] = 1.0
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=len(weights))
    # Layouts with the limits of the moment, not kept ones; each query is a block of its own.
    monkeypatch.setattr(dense_pairs, "layout_of", DenseLayout)
    monkeypatch.setattr(dense_layout, "CELLS_PER_SIZE", 0)
    whole = DensePairs(weights, offsets)
    monkeypatch.setattr(dense_layout, "CELLS_PER_QUERY", 30)
    monkeypatch.setattr(dense_layout, "CELLS_PER_BLOCK", 170)
    cut = DensePairs(weights, offsets)
    assert len(cut.layout.blocks) > len(whole.layout.blocks)
    assert max(b.rows_each * b.size for b in cut.layout.blocks) <= 170
    # What is kept of one can be used with the other: every cell has the same place.
    multipliers = 0.5 * rng.random(whole.n_cells)
    kept, kept_by_parts = np.empty((2, whole.n_cells))
    one = whole.evaluate(scores, 0.6, multipliers, kept)
    other = cut.evaluate(scores, 0.6, multipliers, kept_by_parts)
    np.testing.assert_allclose(kept_by_parts, kept, atol=1e-15)
    for found, expected in ((other.hinge, one.hinge), (other.linear, one.linear)):
        assert found == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(other.pull, one.pull, atol=1e-12 * np.abs(one.pull).max())
    assert cut.hinge(scores) == pytest.approx(whole.hinge(scores), rel=1e-12)
    samples = [
        pairs.sample_window(scores, 0.6, multipliers, rng, 1.0, 10**6) for pairs in (whole, cut)
    ]
    inside = [set(zip(s.preferred.tolist(), s.other.tolist(), strict=True)) for s in samples]
    assert inside[0] == inside[1]
    assert len(inside[0]) > 0


def test_memory_to_work_in_does_not_grow_with_a_query():
    """A query of 15,000 documents, half of them clicked, took 6 GB and now takes 1.5 GB."""
    documents, clicked = 20_000, 1_000
    weights = np.where(np.arange(documents) < clicked, 1.0, 0.0)
    pairs = DensePairs(weights, np.array([0, documents]))
    scores = np.random.default_rng(0).normal(size=documents)
    tracemalloc.start()
    pairs.evaluate(scores, 1.0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pairs.n_cells == 20_000_000  # 160 MB for one array of them
    assert most < 20e6


def test_padding_adds_nothing_even_to_the_largest_scores():
    # float32 scores of 1e30, with queries of different sizes in one block.
    weights, offsets = np.array([1.0, 0, 1, 0, 0]), np.array([0, 2, 5])
    scores = np.array([1, -1, 1, 0, -1], np.float32) * np.float32(1e30)
    found = DensePairs(weights, offsets).evaluate(scores, 1.0)
    assert found.hinge == found.linear == 0
    assert not found.pull.any()


def test_learners_of_the_same_clicks_share_their_layout():
    weights, offsets = some_pairs(1, [5, 9, 3])
    weights[0] = 1.0
    one, other = DensePairs(weights, offsets), DensePairs(7 * weights, offsets)
    assert one.layout is other.layout
    fewer = np.where(np.arange(len(weights)) == 0, 0.0, weights)
    assert DensePairs(fewer, offsets).layout is not one.layout


def test_layouts_of_large_corpora_are_not_kept(monkeypatch):
    weights, offsets = some_pairs(2, [4, 4])
    monkeypatch.setattr(dense_layout, "KEPT_DOCUMENTS", 7)
    assert layout_of(weights > 0, offsets) is not layout_of(weights > 0, offsets)


@pytest.mark.parametrize("with_multipliers", [False, True])
def test_drawn_pairs_are_inside_the_window_and_unbiased(monkeypatch, with_multipliers):
    rng = np.random.default_rng(3)
    weights, offsets = some_pairs(5, rng.integers(1, 30, 40))
    pairs = DensePairs(weights, offsets)
    scores = rng.normal(size=len(weights))
    multipliers = 0.5 * rng.random(pairs.n_cells) if with_multipliers else None
    whole = pairs.sample_window(scores, 0.7, multipliers, rng, 1.0, 10**6)
    assert whole.whole
    features = rng.normal(size=(len(weights), 2))

    def curvature(sample):
        steps = features[sample.preferred] - features[sample.other]
        return np.einsum("k,ka,kb->ab", sample.weights, steps, steps)[[0, 0, 1], [0, 1, 1]]

    monkeypatch.setattr(dense_pairs, "CELLS_PER_DRAW", 0)
    inside = set(zip(whole.preferred.tolist(), whole.other.tolist(), strict=True))
    drawn = []
    for _ in range(300):
        sample = pairs.sample_window(scores, 0.7, multipliers, rng, 0.2, 10**6)
        assert not sample.whole
        assert inside.issuperset(zip(sample.preferred.tolist(), sample.other.tolist(), strict=True))
        drawn.append(curvature(sample))
    # Means of 300 samples within 4.5 standard errors, three numbers in two cases: one false alarm
    # in 24,000 seeds.
    error = np.abs(np.mean(drawn, axis=0) - curvature(whole))
    assert (error <= 4.5 * np.std(drawn, axis=0) / np.sqrt(len(drawn))).all()
    few = pairs.sample_window(scores, 0.7, multipliers, rng, 0.9, 10)
    assert len(few.weights) == 10


def test_whoever_asks_for_all_pairs_gets_them_however_much_is_padding(monkeypatch):
    # The curvature asks for more until it has all: a draw instead would make it ask for ever.
    monkeypatch.setattr(dense_pairs, "CELLS_PER_DRAW", 0)
    weights, offsets = some_pairs(4, [2, 3, 2, 9])
    pairs, scores = DensePairs(weights, offsets), np.zeros(len(weights))
    sample = pairs.sample_window(scores, 2.0, None, np.random.default_rng(0), 1.0, 10_000)
    assert sample.whole
    assert len(sample.weights) == pairs.n_pairs
