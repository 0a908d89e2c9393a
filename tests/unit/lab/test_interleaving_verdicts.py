"""Interleaving: the known biases exactly, and the simulator against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.lab import interleaved_lists
from ultr_core.lab.interleaved_lists import (
    SCHEMES,
    Interleaved,
    Scheme,
    click_on,
    every_interleaving,
    exact_verdicts,
    interleaved,
    one_random_click,
)
from ultr_core.lab.interleaving import interleave
from ultr_core.users import PositionModel, PowerLaw


def test_balanced_interleaving_prefers_b_although_the_click_is_random() -> None:
    verdict = exact_verdicts("abc", "bca", one_random_click)
    assert (verdict.a, verdict.b, verdict.tie) == (Fraction(1, 3), Fraction(2, 3), 0)


def test_team_draft_is_fair_there_but_blind_to_a_better_ranking() -> None:
    """Only c is wanted; B shows it higher. Balanced sees that, team draft cannot."""
    fair = exact_verdicts("abc", "bca", one_random_click, "team-draft")
    assert fair.a == fair.b == Fraction(1, 2)
    assert exact_verdicts("abc", "bca", click_on("c")).b == 1
    blind = exact_verdicts("abc", "bca", click_on("c"), "team-draft")
    assert blind.a == blind.b == Fraction(1, 2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_equal_rankings_are_never_told_apart(scheme: Scheme) -> None:
    verdict = exact_verdicts("abc", "abc", one_random_click, scheme)
    assert verdict.a == verdict.b


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("seed", "shown"), [(0, None), (1, None), (2, 2), (3, 1)])
def test_the_simulator_has_the_enumerated_probabilities(
    scheme: Scheme, seed: int, shown: int | None
) -> None:
    """40,000 queries; 4 standard errors each for two probabilities of twelve cases: 1 in 650."""
    rng = np.random.default_rng(seed)
    size = 3 + seed % 3
    users = PositionModel(PowerLaw(1), 0.9, 0.2)
    relevance = rng.random(size)
    orders = rng.permutation(size), rng.permutation(size)
    ranks = [np.argsort(order) + 1 for order in orders]

    def clicks(shown: tuple) -> list[tuple[frozenset, Fraction]]:
        chance = users.click_probability(relevance[list(shown)], np.arange(1, len(shown) + 1))
        patterns = []
        for bits in product((0, 1), repeat=len(shown)):
            probability = math.prod(
                float(p) if bit else 1 - float(p) for p, bit in zip(chance, bits, strict=True)
            )
            clicked = frozenset(d for d, bit in zip(shown, bits, strict=True) if bit)
            patterns.append((clicked, Fraction(probability)))
        return patterns

    exact = exact_verdicts(orders[0].tolist(), orders[1].tolist(), clicks, scheme, shown=shown)
    queries = 40_000
    found = interleave(
        users, relevance, *ranks, np.array([0, size]), queries=queries, scheme=scheme, shown=shown,
        seed=seed,
    )  # fmt: skip
    for share, probability in ((found.wins, exact.a), (found.losses, exact.b)):
        p = float(probability)
        assert share / queries == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / queries))
    assert found.wins + found.losses + found.ties == np.count_nonzero(found.clicked)


def test_a_better_ranking_wins_and_the_same_seed_says_so_again() -> None:
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 1_001, 10)
    relevance = rng.random(1_000) < 0.2
    users = PositionModel(PowerLaw(1), 1.0, 0.05)
    good = np.concatenate(
        [
            np.argsort(np.argsort(-r, kind="stable")) + 1
            for r in relevance.reshape(100, 10).astype(int)
        ]
    )
    bad = 11 - good
    for scheme in SCHEMES:
        first, again = (
            interleave(users, relevance, good, bad, offsets, queries=2_000, scheme=scheme, seed=3)
            for _ in range(2)
        )
        assert first.wins > 3 * first.losses
        assert np.array_equal(first.verdict, again.verdict)


def test_faults_are_named() -> None:
    users = PositionModel(PowerLaw(1))
    one = (np.ones(1), np.ones(1), np.ones(1), np.array([0, 1]))
    with refused("scheme", "balanced", "team-draft"):
        interleave(users, *one, queries=1, scheme="multi", seed=0)  # type: ignore[arg-type]
    with refused("whole_number", 1, 0, "100,000,000"):
        interleave(users, *one, queries=0, seed=0)
    with refused("empty_list"):
        exact_verdicts("abc", "", one_random_click)
    with refused("whole_number", 0, 1, "10,000"):
        interleaved("abc", "abd", shown=0, seed=0)
    with refused("not_shown", "x"):
        interleaved("abc", "abd", seed=0).verdict(["a", "x"])
    with refused("scheme", "balanced", "team-draft"):
        exact_verdicts("abc", "abc", one_random_click, "multi")  # type: ignore[arg-type]


def lists(a: str, b: str, scheme: Scheme, shown: int | None = None) -> dict[str, Fraction]:
    """Every interleaved list with its probability."""
    found: dict[str, Fraction] = {}
    for each, chance in every_interleaving(a, b, scheme, shown=shown):
        key = "".join(map(str, each.documents))
        found[key] = found.get(key, Fraction(0)) + chance
    assert sum(found.values()) == 1
    return found


# Lists and verdicts that the library `interleaving` of M. P. Kato has in its tests. For these two
# schemes a coin gives each of its lists the same chance.
@pytest.mark.parametrize(
    ("scheme", "a", "b", "shown", "expected"),
    [
        ("balanced", "12", "23", 2, "12 21"),
        ("balanced", "12", "34", 2, "13 31"),
        ("balanced", "12", "23", 3, "12 213"),
        ("balanced", "12", "34", 3, "132 314"),
        ("team-draft", "12", "23", 2, "12 21"),
        ("team-draft", "12", "23", 3, "123 213"),
        ("team-draft", "12", "23", 4, "123 213"),
        ("team-draft", "12", "34", 2, "13 31"),
        ("team-draft", "12", "34", 3, "132 134 312 314"),
    ],
)
def test_lists_are_those_of_other_libraries(
    scheme: Scheme, a: str, b: str, shown: int, expected: str
) -> None:
    found = lists(a, b, scheme, shown)
    assert found == dict.fromkeys(expected.split(), Fraction(1, len(expected.split())))


@pytest.mark.parametrize(
    ("scheme", "a", "b", "shown", "verdicts"),
    [
        ("balanced", "12", "23", "12", {"12": 0, "1": 1, "2": -1, "": 0}),
        (
            "balanced", "12", "23", "213",
            {"213": 0, "21": 0, "23": -1, "13": 0, "2": -1, "1": 1, "3": -1, "": 0},
        ),
        ("team-draft", "12", "23", "12", {"12": 0, "1": 1, "2": -1, "": 0}),
        (
            "team-draft", "12", "34", "134",
            {"134": -1, "13": 0, "14": 0, "34": -1, "1": 1, "3": -1, "4": -1, "": 0},
        ),
        ("probabilistic", "1234", "2341", "1234", {"23": -1}),
    ],
)  # fmt: skip
def test_verdicts_are_those_of_other_libraries(
    scheme: Scheme, a: str, b: str, shown: str, verdicts: dict[str, int]
) -> None:
    found = [
        each
        for each, _ in every_interleaving(a, b, scheme, shown=len(shown))
        if "".join(map(str, each.documents)) == shown
    ]
    teams = {"134": (1, -1, -1)}.get(shown)
    kept = [each for each in found if teams is None or each.credit == teams]
    assert kept
    for each in kept:
        assert {clicked: each.verdict(list(clicked)) for clicked in verdicts} == verdicts


def test_probabilistic_interleaving_draws_by_the_softmax_of_both_rankers() -> None:
    first = {d: Fraction(0) for d in "123"}
    for shown, chance in lists("12", "23", "probabilistic").items():
        first[shown[0]] += chance
    assert first == {"1": Fraction(4, 9), "2": Fraction(1, 2), "3": Fraction(1, 18)}
    alone = {d: Fraction(0) for d in "123"}
    for shown, chance in lists("123", "123", "probabilistic").items():
        alone[shown[0]] += chance
    assert [round(float(p), 5) for p in alone.values()] == [0.86056, 0.10757, 0.03187]


def test_a_click_is_shared_as_all_coins_that_give_the_list_would_share_it() -> None:
    """Enumerated over who gave each place, as Hofmann, Whiteson and de Rijke (2011) define it."""
    chance = {"A": {"1": Fraction(8, 9), "2": Fraction(1, 9)}, "B": {"2": Fraction(8, 9)}}
    after = {"A": {"2": Fraction(1)}, "B": {"2": Fraction(8, 9), "3": Fraction(1, 9)}}
    ways = {
        (one, two): chance[one].get("1", Fraction(0)) * after[two].get("2", Fraction(0))
        for one, two in product("AB", repeat=2)
    }
    total = sum(ways.values())
    credit = [
        sum((1 if way[place] == "A" else -1) * p for way, p in ways.items()) / total
        for place in range(2)
    ]
    (found,) = (
        each
        for each, _ in every_interleaving("12", "23", "probabilistic", shown=2)
        if each.documents == ("1", "2")
    )
    assert found.credit == tuple(credit) == (1, Fraction(1, 17))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("a", "b"), [("abcd", "badc"), ("ab", "cdef"), ("abc", "bdea"), ("a", "a")]
)
def test_the_two_lists_change_places_without_a_difference(scheme: Scheme, a: str, b: str) -> None:
    there = exact_verdicts(a, b, one_random_click, scheme, shown=3)
    back = exact_verdicts(b, a, one_random_click, scheme, shown=3)
    assert (there.a, there.b, there.tie) == (back.b, back.a, back.tie)
    assert there.a + there.b + there.tie == 1


@pytest.mark.parametrize("scheme", ["team-draft", "probabilistic"])
@pytest.mark.parametrize(("a", "b"), [("abcd", "bcda"), ("abcd", "defg"), ("abc", "cab")])
def test_a_click_at_random_prefers_nobody(scheme: Scheme, a: str, b: str) -> None:
    """Lists of one length: the expected credit is 0 at each place, whatever the lists are."""
    expected = sum(
        chance * sum(each.credit or ())
        for each, chance in every_interleaving(a, b, scheme, shown=2)
    )
    assert expected == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_document_twice_counts_at_its_first_place(scheme: Scheme) -> None:
    assert lists("aab", "bca", scheme) == lists("ab", "bca", scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_drawn_lists_come_as_often_as_enumerated(scheme: Scheme) -> None:
    """2,000 lists, 4.5 standard errors for each of at most 20 lists: 1 in 7,000 a scheme."""
    exact = lists("abc", "bcd", scheme, shown=2)
    drawn: dict[str, int] = {}
    for seed in range(2_000):
        key = "".join(
            map(str, interleaved("abc", "bcd", shown=2, scheme=scheme, seed=seed).documents)
        )
        drawn[key] = drawn.get(key, 0) + 1
    assert drawn.keys() <= exact.keys()
    for key, p in exact.items():
        reach = 4.5 * math.sqrt(float(p) * (1 - float(p)) / 2_000)
        assert drawn.get(key, 0) / 2_000 == pytest.approx(float(p), abs=reach)


def test_an_interleaved_list_says_where_its_documents_came_from() -> None:
    assert Interleaved(("b", "x"), ((2, 1), (None, 2)), None).verdict(["x"]) == -1
    drawn = interleaved(["q7", "q9"], ["q9", "q4"], shown=3, scheme="team-draft", seed=1)
    assert set(drawn.documents) == {"q4", "q7", "q9"}
    assert dict(zip(drawn.documents, drawn.ranks, strict=True)) == {
        "q7": (1, None), "q9": (2, 1), "q4": (None, 2),
    }  # fmt: skip


@pytest.mark.parametrize("given", [5, None, [["d1"]], {"d1", "d2"}, {"d1": 1}])
def test_what_is_no_list_of_documents_is_named(given: Any) -> None:
    with refused("documents"):
        interleaved(given, ["d1"], seed=0)
    with refused("documents"):
        interleaved(["d1"], given, seed=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_document_is_refused(missing: Any, scheme: Scheme) -> None:
    with refused("documents"):
        interleaved(["a", "c"], [missing, "b"], scheme=scheme, seed=0)


@pytest.mark.parametrize("clicked", ["d1", b"d1", 5, None, [["d1"]]])
def test_clicks_are_documents_and_not_the_letters_of_one(clicked: Any) -> None:
    with refused("documents"):
        interleaved(["d1", "d"], ["d", "1"], seed=0).verdict(clicked)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_work_grows_with_the_documents_and_not_with_their_square(scheme: Scheme) -> None:
    """Twice the documents are at most 2.4 times the steps, counted by documents compared."""
    steps = 0

    class Page(str):
        def __hash__(self) -> int:
            nonlocal steps
            steps += 1
            return super().__hash__()

        def __eq__(self, other: object) -> bool:
            nonlocal steps
            steps += 1
            return super().__eq__(other)

    counted = []
    for size in (200, 400):
        steps, names = 0, [Page(f"d{n}") for n in range(size)]
        page = interleaved(names, names[::-1], scheme=scheme, seed=0)
        assert sorted(page.documents) == sorted(names)
        page.verdict([page.documents[3], page.documents[-1]])
        counted.append(steps)
    assert counted[1] < 2.4 * counted[0]


def test_what_is_drawn_is_where_the_exact_probabilities_say() -> None:
    """A share in the middle of each document's part of [0, 1) finds it, with some taken away."""
    mixture = interleaved_lists._Mixture(list("abcdefg"), list("gxbya"))
    for gone in ("", "a", "gx", "cde"):
        for document in gone:
            mixture.take(document)
        reached = Fraction(0)
        for place in range(len(mixture)):
            document, chance = mixture[place]
            assert mixture.at(float(reached + chance / 2)) == document
            reached += chance
        assert reached == 1


def test_lists_with_too_many_interleavings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interleaved_lists, "MOST_WAYS", 23)
    assert len(list(every_interleaving("abc", "abc", "probabilistic"))) == 6
    with refused("ways", 23):
        exact_verdicts("abcd", "abcd", one_random_click, "probabilistic")
