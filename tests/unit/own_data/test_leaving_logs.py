"""`fit` and `evaluate` on a log of users who leave: enumerated, with intervals by presentation."""

from __future__ import annotations

import json
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meaning import mentions, refused, refused_command
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.files import load_corpus, read_log
from ultr_core.files.log_reading import Reading
from ultr_core.inspection import join_log
from ultr_core.own_data import fit_from_log
from ultr_core.own_data.continued import Continued, against_log
from ultr_core.own_data.evaluation import evaluate_ranker, judge_by
from ultr_core.own_data.provenance import fingerprint
from ultr_core.proofs.leaving import LeavingCase
from ultr_core.proofs.repairs import RANKINGS
from ultr_core.propensity import PresentationLog, estimate_continuation
from ultr_core.propensity.continuation import continuation_without_groups
from ultr_core.risk import Estimate
from ultr_core.users import ClickLog, GroupCounts, GroupedLog, PowerLaw, TableCurve
from ultr_core.users.grouped_log import Units

CASE = LeavingCase("hindsight", Fraction(1, 2), eps_minus=Fraction(1, 4))
"""Users at p_k = 1 / k; every pattern of clicks with its probability."""

HALF, CURVE, ABOVE = 0.5, PowerLaw(1.0), Reading(clicks_above=True)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two queries, shown as often as makes the share of each pattern its probability."""
    folder = tmp_path_factory.mktemp("own")
    draws = lcm(*(p.denominator for p in CASE.law.values()))
    lines, page = ["presentation_id,query,document,position,click"], 0
    for query in range(2):
        for pattern, p in CASE.law.items():
            for _ in range(int(draws * p)):
                page += 1
                lines += [f"p{page},q{query},d{d},{d + 1},{c}" for d, c in enumerate(pattern)]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    rows = [
        f"{3 * (d % 2)} qid:q{query} 1:{d} # docid = d{d}" for query in range(2) for d in range(4)
    ]
    (folder / "corpus.txt").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="module")
def corpus(own: Path) -> Corpus:
    return load_corpus(own / "corpus.txt")


@pytest.fixture(scope="module")
def log(own: Path) -> PresentationLog:
    return read_log(own / "log.csv", how=ABOVE)


def test_the_risk_of_every_ranking_is_what_users_who_never_leave_would_give(
    corpus: Corpus, log: PresentationLog
) -> None:
    clicks = join_log(log, corpus).clicks
    assert isinstance(clicks, GroupedLog)
    assert clicks.by_group.of == "presentation"
    judge = judge_by("", corpus, clicks, CURVE, continuation=HALF)
    for ranks in RANKINGS:
        scores = -np.tile(np.array(ranks, np.float64), 2)
        due = float(sum(rank * a for rank, a in zip(ranks, CASE.clicked, strict=True)))
        found = evaluate_ranker(corpus, clicks, scores, CURVE, judge=judge)
        assert found.judged.key == "hindsight"
        assert found.judged.estimate is not None
        assert found.judged.estimate.value == pytest.approx(due, abs=1e-12)
    by_rank = found.reports["ips"].estimate
    assert by_rank is not None
    assert abs(by_rank.value - due) > 0.5


def test_fit_weights_clicks_in_hindsight_and_knows_its_log_in_any_reading(
    own: Path, corpus: Corpus, log: PresentationLog
) -> None:
    clicks = join_log(log, corpus).clicks
    fit = fit_from_log(corpus, clicks, CURVE, continuation=HALF, cost=1.0)
    assert fit.method == "hindsight"
    assert fit.belief is not None
    assert fit.belief.continuation == HALF
    each = clicks.draws[0] * np.array([float(a) for a in CASE.clicked])
    assert fit.weights.values == pytest.approx(np.tile(each, 2), abs=1e-9)
    plain = join_log(read_log(own / "log.csv"), corpus).clicks
    assert fit.fingerprint == fingerprint(corpus, plain)


def test_an_estimated_lambda_widens_the_interval_by_its_own_jackknife() -> None:
    """Against the definition: λ and the estimate made again from the log without each group."""
    rng = np.random.default_rng(0)
    queries, size, groups = 40, 3, 60
    draws, rows = 6_000, {}
    of_query, of_group = rng.integers(queries, size=draws), rng.integers(groups, size=draws)
    for q, g in zip(of_query, of_group, strict=True):
        there, above = True, 0
        for d in range(size):
            click = there and rng.random() < 0.5
            key = (q * size + d, above, g)
            shown, clicked = rows.get(key, (0, 0))
            rows[key] = (shown + 1, clicked + click)
            there, above = there and (not click or rng.random() < 0.6), above + click

    def made(without: int) -> ClickLog:
        kept: dict[tuple[int, int], list[int]] = {}
        for (document, above, g), counts in rows.items():
            if g != without:
                cell = kept.setdefault((document, above), [0, 0])
                cell[0], cell[1] = cell[0] + counts[0], cell[1] + counts[1]
        document, above = np.array(sorted(kept)).T
        shown, clicked = np.array([kept[key] for key in sorted(kept)]).T
        left = of_group != without
        return ClickLog(
            document, document % size + 1, shown, clicked, int(left.sum()),
            np.arange(0, queries * size + 1, size), np.bincount(of_query[left], minlength=queries),
            above,
        )  # fmt: skip

    whole = made(-1)
    place = {key: row for row, key in enumerate(zip(whole.document, whole.context, strict=True))}
    entries = [(place[d, h], g, *counts) for (d, h, g), counts in rows.items()]
    row, group, shown, clicked = np.array(entries).T
    counts = GroupCounts(
        row, group, shown, clicked, np.bincount(of_group, minlength=groups).astype(float)
    )
    log = GroupedLog(whole, counts)
    flat, places = PowerLaw(0.0), np.arange(1.0, queries * size + 1)
    lambdas, values = [], []
    for g in range(groups):
        part = made(g)
        lambdas.append(estimate_continuation(part).value)
        weight = part.clicks / lambdas[-1] ** part.context
        values.append(float((weight * places[part.document]).sum()) / part.query_draws)
    assert continuation_without_groups(log) == pytest.approx(lambdas, rel=1e-12)
    found = estimate_continuation(log)
    judge = judge_by("", None, log, flat, continuation=found)  # type: ignore[arg-type]
    assert isinstance(judge.refits, Continued)
    estimate = judge.risk(log, places)
    error = np.sqrt((groups - 1) / groups * np.square(np.array(values) - np.mean(values)).sum())
    assert estimate.standard_error == pytest.approx(error, rel=1e-9)
    known = judge_by("", None, log, flat, continuation=found.probability)  # type: ignore[arg-type]
    fixed = known.risk(log, places)
    assert estimate.value == fixed.value
    wider = estimate.standard_error / fixed.standard_error
    assert estimate.high - estimate.value == pytest.approx(wider * (fixed.high - fixed.value))


def test_what_a_log_by_clicks_above_needs_is_refused(own: Path, corpus: Corpus) -> None:
    clicks = join_log(read_log(own / "log.csv", how=ABOVE), corpus).clicks
    plain = join_log(read_log(own / "log.csv"), corpus).clicks
    with refused("continuation"):
        fit_from_log(corpus, plain, CURVE, continuation=HALF)
    for wrong in (0.0, 1.5):
        with refused("continuation"):
            judge_by("", corpus, clicks, CURVE, continuation=wrong)
    with refused("method", "ips"):
        judge_by("ips", corpus, clicks, CURVE, continuation=HALF)
    files = ["--corpus", str(own / "corpus.txt"), "--eta", "1", "--continuation", "log"]
    log = own / "log.csv"
    refused_command(["fit", *files, "--log", str(log)], "continuation", 2, 20)
    refused_command(
        ["fit", *files, "--log", str(log), "--columns", "presentation=-"], "presentation"
    )
    varied = own / "varied.csv"
    varied.write_text(log.read_text() + "new,q1,d1,1,0\nnew,q1,d0,2,0\n")
    refused_command(["fit", *files, "--log", str(varied)], "whole_lists", "d0", "q1", 1, 2)
    refused_command(["fit", *files, "--log", str(log), "--learner", "trees"], "learner")
    without_curve = ["fit", *files[:2], "--log", str(log), "--continuation", "0.5"]
    line = refused_command(without_curve, "no_propensities", "--continuation")
    assert "--method" not in line


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty queries, each shown 60 times to users with λ = 0.3 who look at all three documents."""
    folder, rng = tmp_path_factory.mktemp("busy"), np.random.default_rng(2)
    lines, page = ["presentation_id,query,document,position,click"], 0
    for query in range(30):
        for _ in range(60):
            page, there = page + 1, True
            for d in range(3):
                click = there and rng.random() < 0.5
                there = there and (not click or rng.random() < 0.3)
                lines.append(f"p{page},q{query},d{d},{d + 1},{int(click)}")
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    rows = [f"{d} qid:q{q} 1:{d} 2:{q} # docid = d{d}" for q in range(30) for d in range(3)]
    (folder / "corpus.txt").write_text("\n".join(rows) + "\n")
    (folder / "scores.txt").write_text("1\n2\n3\n" * 30)
    return folder


def asked(
    folder: Path, command: str, stay: str, *more: str, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """What a command prints as JSON for a λ."""
    files = ["--corpus", str(folder / "corpus.txt"), "--log", str(folder / "log.csv")]
    main([command, *files, "--eta", "0", "--continuation", stay, *more, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_lambda_is_named_wherever_it_was_used(
    busy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = ("--scores", str(busy / "scores.txt"), "--gate")
    found = asked(busy, "evaluate", "0.31", *judged, capsys=capsys)
    assert found["continuation"] == 0.31
    assert not found["gate"]["declined"]
    for text in (found["gate"]["sentence"], found["against_shown"]["sentence"], found["sentence"]):
        assert mentions(text, "λ", 0.31)
    fitted = asked(busy, "fit", "0.31", "--out", str(busy / "ranker.json"), capsys=capsys)
    assert fitted["continuation"] == 0.31
    assert json.loads((busy / "ranker.json").read_text())["trained"]["continuation"] == 0.31


def test_what_intervals_take_as_independent_is_said_once(
    busy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--corpus", str(busy / "corpus.txt"), "--log", str(busy / "log.csv"), "--eta", "0"]
    judged = ["evaluate", *files, "--continuation", "0.31", "--scores", str(busy / "scores.txt")]
    assert main(judged) == 0
    said = "".join(capsys.readouterr())
    clicks = join_log(
        read_log(busy / "log.csv", how=ABOVE), load_corpus(busy / "corpus.txt")
    ).clicks
    assert said.count(Units.of_log(clicks).sentence) == 1


def test_a_lambda_that_the_log_contradicts_deploys_nothing(
    busy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = ("--scores", str(busy / "scores.txt"), "--gate")
    for stay, verdict in (("0.31", "good"), ("0.9", "stop")):
        found = asked(busy, "evaluate", stay, *judged, capsys=capsys)
        (check,) = (one for one in found["checks"]["findings"] if one["key"] == "continuation")
        assert check["verdict"] == verdict
        contradicted = verdict == "stop"
        assert bool(found["gate"]["declined"]) is contradicted
        # No number is given by it, and whatever would have one says why.
        shown = found["against_shown"], found["estimates"]["hindsight"]
        assert (shown[0]["difference"] is None) is (shown[1]["value"] is None) is contradicted
        assert found["estimates"]["ips"]["value"] is not None
        for text in (shown[0]["sentence"], shown[1]["words"], found["sentence"]):
            assert mentions(text, "contradicts") is contradicted
        files = ["--corpus", str(busy / "corpus.txt"), "--log", str(busy / "log.csv")]
        assert main(["fit", *files, "--eta", "0", "--continuation", stay, "--cost", "1"]) == 0
        first, *_ = capsys.readouterr().out.split("\n\n")
        assert mentions(first, stay, "contradicts") is contradicted
    log = read_log(busy / "log.csv", how=ABOVE)
    clicks = join_log(log, load_corpus(busy / "corpus.txt")).clicks
    assert against_log(0.9, clicks)
    few = join_log(log, load_corpus(busy / "corpus.txt").subset(range(5))).clicks
    assert not against_log(0.9, few)


def test_a_propensity_of_0_where_nobody_clicked_leaves_the_interval_as_it_is() -> None:
    log = ClickLog([0, 1], [1, 2], [9, 9], [6, 0], 9, [0, 2])
    counts = GroupCounts(
        np.repeat([0, 1], 3), np.tile([0, 1, 2], 2), np.full(6, 3), np.array([1, 2, 3, 0, 0, 0]),
        np.full(3, 3.0),
    )  # fmt: skip
    found = Estimate(1.0, 0.1, 0.8, 1.3, 9, 6.0)
    ends = []
    for last in (0.5, 0.0):
        continued = Continued(GroupedLog(log, counts), TableCurve((1.0, last)), np.full(3, 0.5))
        ends.append(continued.interval(found, np.array([1.0, 2.0])))
    assert ends[0] == ends[1]
    assert 0 < ends[0].high - ends[0].low < np.inf
