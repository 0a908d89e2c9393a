"""A log with a column of contexts: from its file to an estimate, enumerated, and what is refused.

Counts of the log are the expected clicks, so that an estimate is the expectation of the estimator.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused, refused_command
from tests.unit.propensity.test_contexts_and_grades import CURVES, EXAMINED, RELEVANCE, SIZE
from ultr_core.cli import main
from ultr_core.files import (
    curve_files,
    load_corpus,
    parse_context_values,
    parse_log,
    read_context_values,
    read_curve_values,
    read_log,
    write_context_curves,
)
from ultr_core.findings import Finding
from ultr_core.inspection import inspect_curve, inspect_log, join_log
from ultr_core.own_data import evaluate_ranker, fit_from_log
from ultr_core.own_data.provenance import fingerprint
from ultr_core.propensity import ContextCurves, estimate_by_context, estimate_from_log
from ultr_core.users import ClickLog, PowerLaw

NAMES = ("desk", "phone")
BY_NAME = dict(zip(NAMES, reversed(EXAMINED), strict=True))
DRAWS = 72_000  # of each query; all expected clicks are whole
SHARES = {
    "anew": {"desk": Fraction(2, 3), "phone": Fraction(1, 3)},
    "desk only": {"desk": Fraction(1)},
    "phone only": {"phone": Fraction(1)},
}
"""Queries, and how often each context asks them."""

DEVICE = {"context": "device"}


def log_text(context: str = "device") -> str:
    lines = [f"query,document,position,impressions,clicks,{context}"]
    for query, shares in enumerate(SHARES.values()):
        for name, share in shares.items():
            for d in range(SIZE):
                shown = share * DRAWS
                clicks = shown * BY_NAME[name][d] * RELEVANCE[d]
                assert shown.denominator == clicks.denominator == 1
                lines.append(f"q{query},d{d},{d + 1},{shown},{clicks},{name}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "log.csv").write_text(log_text())
    rows = [
        f"{4 * RELEVANCE[d]} qid:q{query} 1:{d} # docid = d{d}"
        for query in range(len(SHARES))
        for d in range(SIZE)
    ]
    (tmp_path / "corpus.txt").write_text("\n".join(rows) + "\n")
    write_context_curves(
        tmp_path / "curves.csv", {name: list(map(float, p)) for name, p in BY_NAME.items()}
    )
    return tmp_path


def test_the_curve_of_each_context_makes_a_log_unbiased_for_every_ranking(own: Path) -> None:
    corpus = load_corpus(own / "corpus.txt")
    log = read_log(own / "log.csv", columns=DEVICE)
    assert log.context_names == NAMES
    clicks = join_log(log, corpus).clicks
    curves = ContextCurves(NAMES, tuple(reversed(CURVES)))
    for ranks in permutations(range(1, SIZE + 1)):
        scores = -np.tile(np.array(ranks, np.float64), len(SHARES))
        risk = sum(rank * r for rank, r in zip(ranks, RELEVANCE, strict=True))
        found = evaluate_ranker(corpus, clicks, scores, curves)
        estimate = found.reports["ips"].estimate
        assert estimate is not None
        assert estimate.value == pytest.approx(risk, abs=1e-12)
        assert not estimate.no_interval
    # Without contexts the same clicks and one pooled curve are not.
    pooled = join_log(read_log(own / "log.csv"), corpus).clicks
    assert not pooled.context_is_given
    off = evaluate_ranker(corpus, pooled, scores, CURVES[1]).reports["ips"].estimate
    assert off is not None
    assert abs(off.value - risk) > 1


def test_fit_divides_each_click_by_the_propensity_of_its_context(own: Path) -> None:
    corpus = load_corpus(own / "corpus.txt")
    clicks = join_log(read_log(own / "log.csv", columns=DEVICE), corpus).clicks
    fit = fit_from_log(corpus, clicks, ContextCurves(NAMES, tuple(reversed(CURVES))), cost=1.0)
    without = join_log(read_log(own / "log.csv"), corpus).clicks
    assert fit.fingerprint == fingerprint(corpus, without)
    assert fit.weights.values == pytest.approx([DRAWS * r for r in RELEVANCE * len(SHARES)])


def test_commands_take_a_column_of_contexts_and_their_curves(
    own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    whole = curve_files.read_text
    monkeypatch.setattr(curve_files, "read_text", lambda *g: read.append(g) or whole(*g))
    files = ["--corpus", str(own / "corpus.txt"), "--log", str(own / "log.csv")]
    files += ["--columns", "context=device", "--propensities", str(own / "curves.csv")]
    (own / "scores.txt").write_text("\n".join(["4", "3", "2", "1"] * len(SHARES)) + "\n")
    judged = ["evaluate", *files, "--scores", str(own / "scores.txt"), "--json"]
    assert main(judged) == 0
    assert len(read) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["estimates"]["ips"]["value"] == pytest.approx(6, abs=1e-12)
    (own / "curves.csv").write_text("context,rank,propensity\ndesk,1,1\ndesk,2,1\n")
    refused_command(judged, "context_without_curve", "phone", "30,000")


def logged(name: str, etas: dict[str, float], draws: dict[str, int]) -> str:
    """Two documents of 30 queries at each of two ranks as often, half of those seen clicked."""
    lines = ["query,document,position,impressions,clicks,examination_context"]
    for query in range(30):
        for context, eta in etas.items():
            for d in range(2):
                for rank in (1, 2):
                    shown = draws[context]
                    clicks = round(shown * rank**-eta / 2)
                    lines.append(f"q{query},d{d},{rank},{shown},{clicks},{context}")
    return "\n".join(lines) + "\n"


ETAS = {"desk": 1.0, "phone": 2.0, "tv": 1.0}


def test_each_context_has_its_own_estimate_and_little_traffic_is_asked_about() -> None:
    log = parse_log(logged("log", ETAS, {"desk": 400, "phone": 400, "tv": 400}))
    found = estimate_by_context(log)
    assert found.curves["desk"] == pytest.approx((1, 1 / 2), rel=1e-9)
    assert found.curves["phone"] == pytest.approx((1, 1 / 4), rel=1e-9)
    with refused("contexts", "desk", "phone", "tv"):
        estimate_from_log(log)
    few = parse_log(logged("log", ETAS, {"desk": 400, "phone": 400, "tv": 1}))
    with refused("pool_contexts", "tv") as caught:
        estimate_by_context(few)
    assert "desk" not in str(caught.value)
    shared = estimate_by_context(few, pool=("tv", "desk"))
    assert [*shared.found] == [("phone",), ("desk", "tv")]
    assert shared.curves["tv"] == shared.curves["desk"]
    with refused("pool_contexts", "watch"):
        estimate_by_context(few, pool=("watch",))
    for method in ("em", "ctr"):  # which do not say which ranks are known well
        assert estimate_by_context(log, method=method).curves.keys() == {"desk", "phone", "tv"}


def test_propensities_writes_the_curves_and_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "curves.csv"
    log.write_text(logged("log", ETAS, {"desk": 400, "phone": 400, "tv": 1}))
    refused_command(["propensities", str(log)], "pool_contexts", "tv")
    command = ["propensities", str(log), "--pool-contexts", "tv,desk", "--out", str(out)]
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [one["names"] for one in result["contexts"]] == [["phone"], ["desk", "tv"]]
    assert read_context_values(out)["tv"] == result["contexts"][1]["curve"]
    assert main(command) == 0
    assert "phone" in capsys.readouterr().out
    # Contexts are numbers: those of the option are read as those of the log.
    for few, named in (("-1.0", "-1, 2.0"), ("-1", "2,-1.0"), ("+1", "+1,2"), ("1.0", "1,2.0")):
        log.write_text(
            logged("log", ETAS, {"desk": 400, "phone": 400, "tv": 1})
            .replace(",tv", f",{few}")
            .replace(",desk", ",2")
        )
        assert main(["propensities", str(log), f"--pool-contexts={named}", "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["contexts"][1]["names"]) == 2
    log.write_text(logged("log", ETAS, {"desk": 400, "phone": 400, "tv": 1}))
    with refused("one_curve"):
        read_curve_values(out)


def test_contexts_and_curves_must_meet(own: Path) -> None:
    corpus = load_corpus(own / "corpus.txt")
    curves = ContextCurves(NAMES, tuple(CURVES))
    with_contexts = join_log(read_log(own / "log.csv", columns=DEVICE), corpus).clicks
    without = join_log(read_log(own / "log.csv"), corpus).clicks
    with refused("contexts"):
        fit_from_log(corpus, with_contexts, PowerLaw(1.0))
    with refused("contexts", "desk", "phone"):
        fit_from_log(corpus, without, curves)
    with refused("contexts", 2, 1):
        fit_from_log(corpus, with_contexts, ContextCurves(("desk",), (PowerLaw(1.0),)))
    with refused("method", "desk", "phone"):
        fit_from_log(corpus, with_contexts, curves, method="doubly-robust")
    with refused("equal_lengths", 1, 2):
        ContextCurves(("desk",), tuple(CURVES))
    with refused("contexts"):
        ContextCurves(("desk", "desk"), tuple(CURVES))


def test_rows_without_a_context_are_left_out_and_a_column_of_ids_is_no_context() -> None:
    text = log_text("examination_context") + "q0,d0,1,5,5,\n"
    log = parse_log(text)
    assert [(fault.rows, fault.clicks) for fault in log.faults] == [(1, 5)]
    many = ["document,position,click,examination_context"]
    many += [f"d,1,1,u{number}" for number in range(101)]
    with refused("columns", 101, 100):
        parse_log("\n".join(many) + "\n")


def rows_of(contexts: list[tuple[str, ...]]) -> str:
    """A presentation of two documents for each, in the context or contexts of its two rows."""
    rows = [
        f"p{page},q,d{place},{place + 1},{int(page % (place + 2) == 0)},{each[place % len(each)]}"
        for page, each in enumerate(contexts)
        for place in range(2)
    ]
    head = "presentation_id,query,document,position,click,context"
    return "\n".join([head, *rows]) + "\n"


BY_CONTEXT = {"context": "context"}


def test_a_presentation_without_a_context_is_none_of_the_log() -> None:
    named: list[tuple[str, ...]] = [("desk",), ("phone",)] * 20
    log, alone = (
        parse_log(rows_of(each), columns=BY_CONTEXT) for each in ([*named, *[("",)] * 50], named)
    )
    assert [fault.rows for fault in log.faults] == [100]
    for found in (log, alone):
        assert found.presentations is not None
        assert found.presentations.draws is not None
        assert found.presentations.draws.tolist() == [40]
    assert mentions(log.lost, 100, "context")


def test_a_context_that_changes_within_a_presentation_is_named() -> None:
    log = parse_log(rows_of([("desk",), ("desk", "phone"), ("phone",)]), columns=BY_CONTEXT)
    (found,) = (one for one in inspect_log(log).findings if one.key == "context_changes")
    assert (found.value, found.severity) == (1, "warning")
    assert mentions(found.sentence, "p1", "desk", "phone")
    for same in ([("desk",), ("phone",)], [("-1", "-1.0"), ("1", "1.0")]):
        log = parse_log(rows_of(same), columns=BY_CONTEXT)
        assert not any(one.key == "context_changes" for one in inspect_log(log).findings)


def test_one_number_is_one_context_however_it_is_written() -> None:
    log = parse_log(rows_of([("1",), ("1.0",), ("phone",)]), columns=BY_CONTEXT)
    assert log.context_names == ("1", "phone")
    curves = parse_context_values("context,rank,propensity\n1.0,1,1\nphone,1,1\n")
    assert [*curves] == ["1", "phone"]
    log = parse_log(rows_of([("-1",), ("-1.0",), ("1.0",)]), columns=BY_CONTEXT)
    assert log.context_names == ("-1", "1")
    assert [*parse_context_values("context,rank,propensity\n-1.0,1,1\n1,1,1\n")] == ["-1", "1"]


def test_clicks_above_are_no_given_context() -> None:
    rows = ([0], [1], [2], [1], 2, [0, 1])
    assert not ClickLog(*rows, context=[0]).context_is_given
    assert ClickLog(*rows, context=[0], context_is_given=True).context_is_given


def test_check_reads_the_curves_of_contexts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "curves.csv"
    write_context_curves(out, {"desk": (1.0, 0.5, 0.25), "phone": (1.0, 0.001, 0.25)})
    main(["check", str(out), "--json"])
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert found["counts"] == {"contexts": 2, "ranks": 3}
    alone = inspect_curve((1.0, 0.001, 0.25))
    assert [(one["key"], one["verdict"]) for one in found["findings"]] == [
        (one.key, one.severity) for one in alone.findings
    ]
    assert all("phone" in one["words"] for one in found["findings"] if one["verdict"] != "good")


def test_a_column_of_propensities_is_judged_within_each_context() -> None:
    def finding(desk: str, phone: str) -> Finding:
        rows = [
            f"q,{d},{rank},{int(rank == 1)},{context},{p}"
            for context, of_second in (("desk", desk), ("phone", phone))
            for rank, d, p in ((1, "a", "1"), (2, "b", of_second), (2, "c", "0.5"))
        ]
        head = "query,document,position,click,context,propensity\n"
        log = parse_log(head + "\n".join(rows) + "\n", columns={"context": "context"})
        return next(one for one in inspect_log(log).findings if one.key == "propensities")

    assert finding("0.5", "0.5").severity == "good"
    varies = finding("0.5", "0.25")
    assert varies.severity == "warning"
    assert mentions(varies.sentence, "phone")
