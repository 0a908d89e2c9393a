"""Trust bias in a reader's log: the lines of recorded swaps, the test, and rankers by them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meaning import mentions, refused, refused_command
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.files import (
    context_curves_text,
    parse_context_values,
    parse_log,
    parse_trust_bias,
    read_curves,
    write_curve,
    write_letor,
)
from ultr_core.inspection.of_curve import inspect_curves
from ultr_core.propensity import (
    PresentationLog,
    SwapCounts,
    TrustLines,
    estimate_from_log,
    trust_lines,
    trust_lines_by_group,
)
from ultr_core.propensity.points import Counts
from ultr_core.users import ClickModel, PositionModel, PowerLaw, TrustBiasModel

STEEP = TrustBiasModel.steep()
NOISY = PositionModel(PowerLaw(1.0), 1.0, 0.1)
RELEVANCE = np.array([0.7, 0.4, 0.2])
HEAD = "query,document,position,click,impressions,swapped_rank"


def swap_rows(users: ClickModel, seed: int = 0, each: int = 20_000, sessions: int = 0) -> list[str]:
    """Forty queries of three documents, rank 1 swapped with 1, 2 and 3, counted or by session."""
    rng, rows = np.random.default_rng(seed), []
    for query in range(40):
        relevance = rng.random(3) < RELEVANCE
        for drawn in (1, 2, 3):
            ranks = np.array([1, 2, 3])
            ranks[[0, drawn - 1]] = ranks[[drawn - 1, 0]]
            chance = users.click_probability(relevance, ranks)
            if not sessions:
                clicks = rng.binomial(each, chance)
                cells = zip(ranks, clicks, strict=True)
                rows += [f"q{query},d{d},{k},{c},{each},{drawn}" for d, (k, c) in enumerate(cells)]
                continue
            for number in range(sessions):
                clicks = rng.random(3) < chance
                rows += [
                    f"q{query},d{d},{k},{int(c)},1,{drawn},s{query}-{drawn}-{number}"
                    for d, (k, c) in enumerate(zip(ranks, clicks, strict=True))
                ]
    return rows


def swap_log(users: ClickModel, **more: int) -> PresentationLog:
    head = HEAD + (",session" if more.get("sessions") else "")
    return parse_log("\n".join([head, *swap_rows(users, **more)]).encode())


def test_a_log_of_swaps_shows_trust_bias_and_its_lines() -> None:
    """Each number within four standard errors; two of them below the landmark."""
    found = estimate_from_log(swap_log(STEEP))
    assert found.lines is not None and found.lines.finding.outcome == "does not hold"
    alpha, beta = STEEP.affine([1, 2, 3])
    slope = alpha / alpha[0]
    for row in (1, 2):
        for name, true in (("slope", slope), ("intercept", beta - slope * beta[0])):
            value, error = (getattr(found.lines, one)[row] for one in (name, f"{name}_error"))
            assert abs(value - true[row]) < 4 * error
    position = estimate_from_log(swap_log(NOISY))
    assert position.lines is not None and position.lines.finding.outcome == "holds"
    assert estimate_from_log(swap_log(STEEP), method="all-pairs").lines is None


def test_the_command_reports_the_test_and_the_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for users, verdict in ((STEEP, "does not hold"), (NOISY, "holds")):
        path = tmp_path / "swaps.csv"
        path.write_text("\n".join([HEAD, *swap_rows(users)]), encoding="utf-8")
        assert main(["propensities", str(path), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["trust_bias"]["verdict"] == verdict
        first, *others = told["trust_bias"]["ranks"]
        assert first["slope"] is None and [one["rank"] for one in others] == [2, 3]
        for one in others:
            for line in (one["slope"], one["intercept"]):
                assert line["low"] < line["value"] < line["high"]
        (severity,) = (one["verdict"] for one in told["findings"] if one["key"] == "trust_bias")
        assert severity == ("good" if verdict == "holds" else "warning")
        assert main(["propensities", str(path)]) == 0
        out = capsys.readouterr().out
        assert mentions(out, told["trust_bias"]["words"])
        assert (f"Warning: {told['trust_bias']['words']}" in out) is (verdict != "holds")
    clicked = [row for row in swap_rows(STEEP, each=1) if row.split(",")[3] == "1"]
    path.write_text("\n".join([HEAD, *clicked]), encoding="utf-8")
    refused_command(["propensities", str(path)], "", "clicks", "shown")
    with refused("", "shown"):
        parse_log(path.read_bytes()).swap_counts(1, 3)


def test_the_file_of_a_curve_says_what_the_test_found_and_every_reader_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = Corpus(
        np.eye(120), np.tile([4, 0, 0], 40), 3 * np.arange(41),
        query_ids=[f"q{query}" for query in range(40)],
        document_ids=tuple(["d0", "d1", "d2"] * 40),
    )  # fmt: skip
    write_letor(corpus, tmp_path / "corpus.txt")
    scores = tmp_path / "scores.txt"
    scores.write_text("\n".join(map(str, range(120))))
    log, curve = tmp_path / "swaps.csv", tmp_path / "curve.csv"
    files = ["--corpus", str(tmp_path / "corpus.txt"), "--log", str(log)]
    own = [*files, "--propensities", str(curve), "--json"]
    for users, told, severity in (
        (STEEP, "found", "stop"),
        (NOISY, "not found", "good"),
        (None, "untested", "warning"),
        (None, "", None),
    ):
        if users is None:
            write_curve(curve, [1.0, 0.5, 0.3], told)
        else:
            log.write_text("\n".join([HEAD, *swap_rows(users)]), encoding="utf-8")
            assert main(["propensities", str(log), "--out", str(curve)]) == 0
        capsys.readouterr()
        assert read_curves(curve)[1] == ({"": told} if told else {})
        for command in (
            ["check", str(curve), "--json"],
            ["fit", *own, "--cost", "1", "--out", str(tmp_path / "ranker.json")],
            ["evaluate", *own, "--scores", str(scores)],
        ):
            assert main(command) == 0
            found = json.loads(capsys.readouterr().out)
            checks = found["files"][0] if command[0] == "check" else found["checks"]
            verdicts = [one["verdict"] for one in checks["findings"] if one["key"] == "trust_bias"]
            assert verdicts == ([severity] if severity else [])
        assert (found["against_shown"]["difference"] is None) is (told == "found")
        values = [found["estimates"][key]["value"] for key in ("ips", "clipped", "snips")]
        assert [one is None for one in values] == [told == "found"] * 3
        code = main(["evaluate", *own, "--scores", str(scores), "--gate"])
        found = json.loads(capsys.readouterr().out)["gate"]
        assert code == (0 if found["deploy"] else 1)
        assert (found["bound"] is None) is bool(found["declined"]) is (told == "found")


def _two_lists(times: int, clicked: int, sessions: bool = False) -> PresentationLog:
    """Rank 1 swapped with itself and rank 2; a is clicked always, b in ``clicked`` presentations.

    c, at rank 3, never is.
    """
    rows = []
    for drawn, shown in ((1, "abc"), (2, "bac")):
        for turn in range(times):
            clicks = {"a": 1, "b": int(turn < clicked), "c": 0}
            rows += [
                f"q1,{name},{rank},{clicks[name]},1,{drawn},{drawn}-{turn}"
                for rank, name in enumerate(shown, 1)
            ]
    if not sessions:
        rows = [row.rpartition(",")[0] for row in rows]
    return parse_log("\n".join([HEAD + (",session" if sessions else ""), *rows]).encode())


@pytest.mark.parametrize("sessions", [False, True])
@pytest.mark.parametrize("method", ["swap", "swap-pooled"])
@pytest.mark.parametrize(("times", "clicked"), [(1, 0), (9, 0), (200, 0), (200, 60), (200, 200)])
def test_a_rate_of_0_or_1_is_not_certain(
    times: int, clicked: int, method: str, sessions: bool
) -> None:
    """One click in one impression has no spread, nor have 200 clicks in 200."""
    found = estimate_from_log(_two_lists(times, clicked, sessions), method=method)
    point = found.estimate.points[1]
    assert point.value == pytest.approx(1.0)
    assert (point.low, point.high, point.standard_error, point.interval_text) == (
        None, None, None, "",
    )  # fmt: skip
    assert point.reason and found.curve.known == (1,)
    assert found.trust_bias == "untested"
    assert found.lines is not None
    assert all(rank["intercept"] is None for rank in found.lines.as_dict()["ranks"])


@pytest.mark.parametrize(("few", "known"), [(9, False), (10, True)])
def test_a_line_needs_ten_clicks_on_the_landmark_documents(few: int, known: bool) -> None:
    """At rank 3, with spread in each of the four rates; rank 2 keeps its line."""
    shown = np.full(3, 2000)
    lines = trust_lines(SwapCounts(
        1,
        Counts(shown, np.array([1000, 500, few])),
        Counts(shown, np.array([1000, 1000, 1000])),
        Counts(shown, np.array([0, 200, 200])),
        Counts(shown, np.array([0, 100, 2])),
        6000,
    ))  # fmt: skip
    assert lines.known.tolist() == [False, True, known]


def test_curves_of_contexts_say_what_was_found_in_each() -> None:
    curves = {"desk": (1.0, 0.5), "tv, big": (1.0, 0.4)}
    text = context_curves_text(curves, {"desk": "found", "tv, big": ""})
    assert parse_trust_bias(text) == {"desk": "found"}
    assert parse_context_values(text) == {name: list(values) for name, values in curves.items()}
    assert context_curves_text(curves, {"desk": ""}) == context_curves_text(curves)
    odd = "context,rank,propensity,trust_bias\n-1.0,1,1,Found \n-1,2,1,not found\nx,1,1,what\n"
    assert parse_trust_bias(odd) == {"-1": "found"}
    worst = ["found", "untested", "not found"]
    for number, one in enumerate(worst):
        for other in worst[number:]:
            for pair in ((one, other), (other, one)):
                rows = [f"{rank},1,{told}" for rank, told in enumerate(pair, 1)]
                text = "\n".join(["rank,propensity,trust_bias", *rows])
                assert parse_trust_bias(text) == {"": one}


def test_a_row_that_ends_before_its_context_has_none() -> None:
    for rest in (
        "rank,propensity,trust_bias,context\n1,1.0,found\n",
        "rank,p,trust_bias,context\n1,1",
    ):
        assert parse_context_values(rest) == {"": [1.0]}
        assert parse_trust_bias(rest) == ({"": "found"} if "found" in rest else {})


def test_a_curve_keeps_its_verdict_when_converted(tmp_path: Path) -> None:
    given, out = tmp_path / "curve.csv", tmp_path / "out.csv"
    given.write_text("rank,propensity,trust_bias\n2,1,not found\n1,2,untested\n")
    assert main(["convert", str(given), str(out)]) == 0
    assert read_curves(out) == ([1.0, 0.5], {"": "untested"})


def test_the_verdicts_reach_the_findings() -> None:
    curves = {"desk": (1.0, 0.5), "tv, big": (1.0, 0.4)}
    text = context_curves_text(curves, {"desk": "found", "tv, big": ""})
    found = inspect_curves(curves, name="it", trust_bias=parse_trust_bias(text))
    assert found.finding("trust_bias").severity == "stop"
    assert mentions(found.finding("trust_bias").sentence, "desk")


def test_errors_by_session_are_those_of_presentations_where_each_has_its_own() -> None:
    """A jackknife of 100 groups: its error has a standard deviation of some 7%."""
    log = swap_log(STEEP, sessions=150)
    group = log.session_groups
    assert group is not None
    counts = log.swap_counts(1, 3)
    plain, found = trust_lines(counts), trust_lines_by_group(log.swaps_by_group(1, 3, group), 1)
    assert found.groups == int(group.max()) + 1 > 50
    for name in ("slope", "intercept"):
        assert np.array_equal(getattr(found, name), getattr(plain, name), equal_nan=True)
        ratio = getattr(found, f"{name}_error")[1:] / getattr(plain, f"{name}_error")[1:]
        # Those by presentation take clicks of the two documents as fully correlated: too large.
        assert (ratio > 0.4).all() and (ratio < 1.25).all()
    again = estimate_from_log(log).lines
    assert isinstance(again, TrustLines) and again.groups == found.groups
    # Sessions that repeat a presentation ten times have errors as of a tenth of them.
    repeated = trust_lines_by_group(10 * log.swaps_by_group(1, 3, group), 1)
    assert repeated.slope_error[1:] == pytest.approx(found.slope_error[1:], rel=1e-9)


def test_the_guide_corrects_a_readers_log_for_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ranker puts what is relevant first: production's order, by which it trained, does not."""
    rng = np.random.default_rng(0)
    relevance = np.concatenate([rng.random(3) < RELEVANCE for _ in range(40)])
    features = (relevance + rng.normal(0, 0.3, 120))[:, None]
    corpus = Corpus(
        features, relevance.astype(int) * 4, np.arange(0, 121, 3),
        query_ids=tuple(f"q{query}" for query in range(40)),
        document_ids=("d0", "d1", "d2") * 40,
    )  # fmt: skip
    write_letor(corpus, tmp_path / "corpus.txt")
    (tmp_path / "swaps.csv").write_text("\n".join([HEAD, *swap_rows(STEEP)]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[3] / "docs" / "trust.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"```python\n(.*?)```", guide, re.S)
    there: dict[str, Any] = {}
    exec(recipe, there)
    assert mentions(capsys.readouterr().out, "intercept")
    assert there["ranker"].coefficients[0] > 0


def grouped_sums(users: ClickModel, rng: np.random.Generator) -> np.ndarray:
    """Swapped, control, moved and unmoved by group and rank [100, 4, 2, 3], 400 shown each."""
    shown, ranks = np.full((100, 4, 3), 400), np.array([1, 2, 3])
    chance = np.array(
        [
            users.click_probability(np.full(3, 0.7), ranks),
            users.click_probability(np.full(3, 0.7), np.ones(3, int)),
            users.click_probability(RELEVANCE, np.ones(3, int)),
            users.click_probability(RELEVANCE, ranks),
        ]
    )
    return np.stack([shown, rng.binomial(shown, chance)], axis=2)


def test_intervals_by_group_cover_and_the_test_keeps_its_level() -> None:
    """Of 150 logs 142 at 95%; 8 is three standard deviations: 0.3% are further off by chance."""
    rng, covered, rejected = np.random.default_rng(5), np.zeros((2, 2)), 0
    alpha, beta = STEEP.affine([1, 2, 3])
    slope = alpha / alpha[0]
    true = np.stack([slope, beta - slope * beta[0]])[:, 1:]
    for _ in range(150):
        lines = trust_lines_by_group(grouped_sums(STEEP, rng), 1)
        found = np.stack([lines.slope, lines.intercept])[:, 1:]
        reach = lines.reach(0.05) * np.stack([lines.slope_error, lines.intercept_error])[:, 1:]
        covered += np.abs(found - true) <= reach
        plain = trust_lines_by_group(grouped_sums(NOISY, rng), 1)
        rejected += plain.finding.outcome == "does not hold"
    assert (covered >= 134).all(), covered
    assert rejected <= 15, rejected
