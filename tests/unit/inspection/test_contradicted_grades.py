"""Clicks that fall with the grade: said only where positions and queries cannot explain them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.inputs import queries_of_ten
from tests.meaning import mentions
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.inspection.of_together import mean_grades
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.settings import Settings
from ultr_core.users import ClickLog

KEY, LEVEL = "clicks_against_grades", 1e-4


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return queries_of_ten()


@pytest.mark.parametrize("users", ["position", "trust-steep"])
def test_only_reversed_grades_are_contradicted(corpus: Corpus, users: str) -> None:
    """At the level of the warning; shuffled grades are contradicted in 1 of 10,000 seeds."""
    log = simulate_own_log(corpus, Settings(users=users, clicks=3_000, seed=2)).logs[0]
    shuffled = np.random.default_rng(4).permutation(corpus.grades)
    said = []
    for grades in (corpus.grades, 4 - corpus.grades, shuffled):
        found = mean_grades(log, grades)
        assert found is not None
        said.append(found.p_value < LEVEL)
    assert said == [False, True, False]


def test_means_are_of_clicks_and_of_a_fit_to_positions_and_queries() -> None:
    """Ten queries with the same two lists: both documents at both ranks, 1/2 examined at rank 2.

    Expected clicks are then 2/3 and 1/3 of each query's, of which each document has half.
    """
    queries, impressions = 10, [30, 30, 30, 30]
    clicks = [4, 2, 8, 4]
    grades = np.tile([3, 1], queries)
    documents = np.concatenate([[2 * q, 2 * q, 2 * q + 1, 2 * q + 1] for q in range(queries)])
    log = ClickLog(
        documents, [1, 2] * 2 * queries, impressions * queries,
        [n + (n > 4 and q % 2) for q in range(queries) for n in clicks],
        60 * queries, np.arange(0, 2 * queries + 1, 2),
    )  # fmt: skip
    found = mean_grades(log, grades)
    assert found is not None
    assert found.found == pytest.approx((6 * 3 + 12.5 * 1) / 18.5)
    assert found.expected == pytest.approx(2.0)
    assert found.p_value < 1e-6
    assert mean_grades(log, np.full(2 * queries, 2)) is None
    better = mean_grades(log, 4 - grades)
    assert better is not None and better.p_value == pytest.approx(1 - found.p_value)


def test_clicks_without_grades_are_not_said_to_contradict_them() -> None:
    """400 logs at the level 0.0001: fails for at most 4 of 100 seeds.

    Each query has its own traffic, each document its own attraction; the list follows grades.
    """
    random, least = np.random.default_rng(8), 1.0
    for _ in range(400):
        queries, documents = int(random.integers(10, 60)), 8
        grades = random.choice(5, (queries, documents), p=[0.4, 0.3, 0.15, 0.1, 0.05])
        places = np.argsort(np.argsort(-grades - random.normal(size=grades.shape), axis=1), axis=1)
        draws = 1 + (3 * random.pareto(1.2, queries)).astype(int)
        shown = np.repeat(draws, documents)
        chance = random.beta(1, 3, grades.size) / (places.ravel() + 1)
        log = ClickLog(
            np.arange(grades.size), places.ravel() + 1, shown, random.binomial(shown, chance),
            int(draws.sum()), np.arange(0, grades.size + 1, documents),
        )  # fmt: skip
        found = mean_grades(log, grades.ravel())
        least = min(least, 1.0 if found is None else found.p_value)
    assert least > LEVEL


@pytest.mark.parametrize("command", ["check", "evaluate"])
def test_both_commands_say_it(
    command: str, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, other = tmp_path / "log.csv", tmp_path / "corpus.txt"
    assert main([
        "simulate", "--corpus", str(small_corpus), "--out", str(log), "--clicks", "3000", "--json",
    ]) == 0  # fmt: skip
    capsys.readouterr()
    rows = (small_corpus / "train.txt").read_text().splitlines()
    other.write_text("".join(f"{4 - int(row[0])}{row[1:]}\n" for row in rows))
    asked = [str(log), "--corpus", str(other)]
    if command == "evaluate":
        scores = tmp_path / "scores.txt"
        scores.write_text("\n".join(str(number % 7) for number in range(len(rows))))
        asked = ["--log", *asked, "--scores", str(scores), "--eta", "1"]
    main([command, *asked, "--json"])
    found = json.loads(capsys.readouterr().out)
    inspected = [found["checks"]] if command == "evaluate" else found["files"]
    told = [one for each in inspected for one in each["findings"] if one["key"] == KEY]
    assert [one["verdict"] for one in told] == ["warning"]
    assert mentions(told[0]["words"], "grades")
