"""The page on a reader's own data: alone and in order, good files and bad, session by session."""

from __future__ import annotations

import gc
import gzip
import json
import re
import shlex
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.app import turns
from pages.app.markdown import NAMES, plain
from pages.app.take_away import OWN_FILES
from pages.views.your_data import input as your_input
from pages.views.your_data import ranker
from pages.views.your_data.bench import Bench
from tests.meaning import mentions
from tests.unit.learners.test_forest import MODEL
from ultr_core.cli import main
from ultr_core.errors import InputError
from ultr_core.figures import rank_test_figure
from ultr_core.files import curve_text, parse_log
from ultr_core.files.log_columns import NO_COLUMN
from ultr_core.files.ranker_files import ranker_text
from ultr_core.files.tree_files import trees_text
from ultr_core.jobs.your_data import (
    BY_VALIDATION,
    CHOSEN_CLIP,
    CHOSEN_COST,
    COMPARED,
    ETA,
    JUDGE,
    JUDGED_AT,
    JUDGED_WHOLE,
    TRAINED_HERE,
    WEIGHTS,
    own_notebook,
)
from ultr_core.learners import LinearModel
from ultr_core.learners.trees import STEP, fit_trees
from ultr_core.limits import VISITORS_SCORING_SECONDS, VISITORS_TRAINING_SECONDS
from ultr_core.own_data import compare_with_shown, gate
from ultr_core.own_data.samples import sample_files
from ultr_core.propensity import PROPENSITY_METHODS, Targets, estimate_from_log
from ultr_core.users import PowerLaw

OpenApp = Callable[..., AppTest]
LOG = b"query,document,position,click\n" + b"".join(
    b"q%d,a,1,1\nq%d,a,2,%d\nq%d,b,2,0\n" % (q, q, q % 2, q) for q in range(120)
)


def bomb() -> bytes:
    """A corpus that unpacks to 144 MB; packing it takes a second."""
    return gzip.compress(b"0 qid:1 1:0\n" * 12_000_000, 6)


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def bench(app: AppTest) -> Bench:
    found: Bench = app.session_state["your_data"]
    return found


def upload(app: AppTest, kind: str, name: str, data: bytes) -> AppTest:
    turn = bench(app).turns[kind]
    app.file_uploader(key=f"data-upload-{kind}-{turn}").set_value((name, data, "text/plain")).run()
    assert not app.exception
    return app


def opened(open_app: OpenApp, **link: str) -> AppTest:
    app = open_app(None, **link)
    app.switch_page("pages/your_data.py").run()
    assert not app.exception
    return app


@pytest.fixture
def page(open_app: OpenApp) -> AppTest:
    return opened(open_app)


def sampled(app: AppTest, *kinds: str) -> AppTest:
    for kind in kinds:
        app.button(key=f"data-sample-{kind}").click().run()
    assert not app.exception
    return app


def commands(app: AppTest) -> list[list[str]]:
    block = next(code.value for code in app.code if code.value.startswith("python -m ultr_core"))
    return [shlex.split(line)[3:] for line in block.splitlines()]


def samples_in(folder: Path) -> None:
    for sample in sample_files().values():
        (folder / sample.name).write_bytes(sample.data)


def printed(capsys: pytest.CaptureFixture[str], command: list[str]) -> dict[str, Any]:
    assert main([*command, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_page_begins_with_what_to_bring(page: AppTest) -> None:
    assert page.title[0].value.endswith("?")
    assert re.search(r"\d+ MB", words(page))
    assert mentions(words(page), "session")
    assert len(page.file_uploader) >= 3
    assert not page.error


def test_the_sample_walk_gives_the_numbers_of_the_shown_command_lines(
    page: AppTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page.button(key="data-samples").click().run()
    assert not page.exception
    assert not page.error
    samples_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    check, fit, evaluate = commands(page)
    assert [i["verdict"] for i in printed(capsys, check)["files"]] == ["warning", "good", "good"]
    fitted, judged = printed(capsys, fit), printed(capsys, evaluate)
    made = bench(page).made
    assert made["fit"].as_dict() == {k: fitted[k] for k in made["fit"].as_dict()}
    shown = json.loads(json.dumps(made["evidence"].as_dict()))
    for key in ("estimates", "true", "clicks", "query_draws"):
        assert shown[key] == judged[key]
    difference = judged["against_shown"]["difference"]
    assert difference < 0
    assert judged["gate"]["deploy"] is True and "--gate" in evaluate
    assert mentions(words(page), f"{-judged['gate']['bound']:.2f}")
    assert mentions(words(page), f"{judged['gate']['passes_at']:.2f}")
    assert mentions(words(page), f"{abs(difference):.2f}")


def test_the_notebook_of_the_walk_gives_the_same_numbers(
    page: AppTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from ultr_core.jobs.your_data import OwnWork

    page.button(key="data-samples").click().run()
    samples_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    work = OwnWork(
        corpus="sample_corpus.txt", log=("sample_log.csv",), propensities="file",
        curve="sample_curve.csv", steps=("propensities", "fit", "evaluate"),
    )  # fmt: skip
    exec(compile(own_notebook(work).source, "notebook", "exec"), {})
    made = bench(page).made
    out = capsys.readouterr().out
    assert made["fit"].sentence in out
    assert str(made["evidence"].reports["ips"].estimate) in out
    assert made["evidence"].true is not None
    alone, of_two = (
        gate(
            made["joined"].clicks, made["fold-scores"], PowerLaw(1.0), name=TRAINED_HERE,
            trained=False, candidates=rankers,
        )
        for rankers in (1, 2)
    )  # fmt: skip
    assert alone.deploy and alone.sentence in out.splitlines()
    # The page, which has a second ranker, knows as well that these clicks did not train.
    assert f"**{of_two.sentence}**" in words(page)


def test_a_curve_from_a_log_with_trust_bias_gives_no_evidence_and_no_notebook_deploys(
    page: AppTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from ultr_core.jobs.your_data import OwnWork

    sampled(page, "corpus", "log")
    page.button_group(key="data-curve-from").set_value("file").run()
    curve = curve_text([1.0 / rank for rank in range(1, 101)], "found")
    upload(page, "curve", "trust.csv", curve.encode())
    page.button(key="data-train").click().run()
    assert not page.exception
    reports = bench(page).made["evidence"].reports
    assert {key for key, one in reports.items() if one.estimate is not None} == {"naive"}
    samples_in(tmp_path)
    (tmp_path / "trust.csv").write_text(curve, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    work = OwnWork(
        corpus="sample_corpus.txt", log=("sample_log.csv",), propensities="file",
        curve="trust.csv", steps=("propensities", "fit", "evaluate"),
    )  # fmt: skip
    made: dict[str, Any] = {}
    exec(compile(own_notebook(work).source, "notebook", "exec"), made)
    assert made["passing"].bound is None and made["passing"].sentence in capsys.readouterr().out
    assert f"**{made['passing'].sentence}**" in words(page)


def test_a_log_alone_is_checked_and_gives_propensities(page: AppTest) -> None:
    upload(page, "log", "mine.csv", LOG)
    assert mentions(words(page), "180 clicks", "360 impressions")
    page.button_group(key="data-curve-from").set_value("estimated").run()
    assert not page.exception
    assert PROPENSITY_METHODS["all-pairs"].assumes in words(page)
    ratios = next(t.value for t in page.table if "Ratio" in t.value)
    assert ratios["Ratio"].tolist() == ["1.000", "0.500"]
    assert ["propensities", "mine.csv", "--method", "harvest", "--out", "curve.csv"] in commands(
        page
    )


def test_ranks_that_nothing_links_are_a_warning_beside_the_curve(page: AppTest) -> None:
    """Two documents at ranks 1 and 2, two others at 3 and 4, all clicked."""
    rows = "".join(
        f"q{q},{d},{r},40,{40 // (2 * r)}\n"
        for q in range(30)
        for d, ranks in (("a", (1, 2)), ("b", (1, 2)), ("c", (3, 4)), ("d", (3, 4)))
        for r in ranks
    )
    log = f"query,document,position,impressions,clicks\n{rows}".encode()
    upload(page, "log", "mine.csv", log)
    page.button_group(key="data-curve-from").set_value("estimated").run()
    assert not page.exception
    (gap,) = estimate_from_log(parse_log(log)).estimate.gaps
    assert gap.ranks == (3, 4)
    assert [told.value for told in page.warning].count(gap.sentence) == 1
    assert f"- {gap.sentence}" not in words(page)


def test_a_corpus_alone_takes_simulated_clicks(page: AppTest) -> None:
    sampled(page, "corpus")
    assert not [button for button in page.button if button.key == "data-train"]
    page.button(key="data-simulate").click().run()
    assert not page.exception
    assert bench(page).files["log"].name == "simulated_log.csv"
    assert page.button(key="data-train")


def test_a_ranker_is_scored_without_a_log(page: AppTest) -> None:
    sampled(page, "corpus", "ranker")
    assert "Ranker**: sample\\_ranker.json" in words(page)
    assert not page.error


def test_scores_are_judged_like_the_ranker_that_gave_them(page: AppTest) -> None:
    sampled(page, "corpus", "log", "scores")
    by_scores = bench(page).made["evidence"].as_dict()["estimates"]
    page.button(key="data-remove-scores").click().run()
    sampled(page, "ranker")
    by_model = bench(page).made["evidence"].as_dict()["estimates"]
    assert by_scores == by_model
    evaluate = next(command for command in commands(page) if command[0] == "evaluate")
    assert evaluate[evaluate.index("--model") + 1] == "sample_ranker.json"


def test_trees_are_judged_as_the_command_and_the_notebook_judge_them(
    page: AppTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sampled(page, "corpus", "log")
    made = bench(page).made
    log = made["joined"].clicks
    trees = fit_trees(
        made["corpus"], Targets.of_log(log, PowerLaw(1.0).at(log.rank)), trees=STEP, seed=1
    )
    upload(page, "ranker", "trees.txt", trees_text(trees, {"clicks": 7}).encode())
    assert not page.error
    assert bench(page).made["model-checks"].kind == "trees"
    assert bench(page).made["model-record"] == {"clicks": 7}
    samples_in(tmp_path)
    (tmp_path / "trees.txt").write_text(trees_text(trees, {"clicks": 7}))
    monkeypatch.chdir(tmp_path)
    assert main([*commands(page)[-1], "--json"]) in (0, 1)  # whether the trees pass the gate or not
    judged = json.loads(capsys.readouterr().out)
    shown = json.loads(json.dumps(bench(page).made["evidence"].as_dict()))
    assert (shown["estimates"], shown["true"]) == (judged["estimates"], judged["true"])
    exec(compile(own_notebook(page.session_state[OWN_FILES]).source, "notebook", "exec"), {})
    assert str(bench(page).made["evidence"].reports["ips"].estimate) in capsys.readouterr().out


def test_trees_that_take_too_long_are_refused_and_the_command_is_named(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled(page, "corpus", "log")
    monkeypatch.setattr(
        ranker, "VISITORS_SCORING_SECONDS", replace(VISITORS_SCORING_SECONDS, most=0)
    )
    upload(page, "ranker", "trees.txt", MODEL.replace("=1 2 7", "=1 2 3").encode())
    (told,) = (each.value for each in page.error)
    assert mentions(told, "0 seconds", "evaluate")
    assert "evidence" not in bench(page).made


def test_scores_of_the_logger_are_a_feature_of_the_fit(page: AppTest) -> None:
    """The file is asked for where a relevance is fitted; commands and notebook name it."""
    sampled(page, "corpus", "log")
    page.selectbox(key=WEIGHTS.key).set_value("doubly-robust").run()
    upload(page, "logger-scores", "logger.csv", sample_files()["scores"].data)
    page.toggle(key=BY_VALIDATION.key).set_value(False).run()
    page.button(key="data-train").click().run()
    assert not page.exception and not page.error
    made = bench(page).made["fit"]
    assert made.logger_scores is not None
    strip = rank_test_figure({made.label: made.by_rank}).alt
    assert [chart.proto.alt for chart in page.get("vega_lite_chart")].count(strip) == 1
    fit = next(command for command in commands(page) if command[0] == "fit")
    assert fit[fit.index("--logger-scores") + 1] == "logger.csv"
    notebook = own_notebook(page.session_state[OWN_FILES]).source
    assert "read_scores('logger.csv', corpus)" in notebook and "rank_test_figure" in notebook
    page.selectbox(key=WEIGHTS.key).set_value("ips").run()
    assert "--logger-scores" not in " ".join(map(" ".join, commands(page)))


def test_the_clipped_estimate_judges_where_that_is_chosen(page: AppTest) -> None:
    sampled(page, "corpus", "log", "ranker")
    assert bench(page).made["evidence"].judge == "ips"
    assert "--clip" not in commands(page)[-1]
    page.selectbox(key=JUDGE.key).set_value("policy-aware").run()
    assert bench(page).made["evidence"].judge == "policy-aware"
    evaluate = commands(page)[-1]
    assert evaluate[evaluate.index("--method") + 1] == "policy-aware" and "--clip" not in evaluate
    page.selectbox(key=JUDGE.key).set_value("clipped").run()
    page.number_input(key=JUDGED_AT.key).set_value(0.25).run()
    found = bench(page).made["evidence"]
    assert (found.judge, found.clip) == ("clipped", 0.25)
    evaluate = commands(page)[-1]
    assert evaluate[evaluate.index("--clip") + 1] == "0.25"


def test_a_log_without_clicks_gives_no_estimate(page: AppTest) -> None:
    header, *rows = sample_files()["log"].data.decode().splitlines()
    clicks = header.split(",").index("clicks")
    silent = [
        ",".join([*row.split(",")[:clicks], "0", *row.split(",")[clicks + 1 :]]) for row in rows
    ]
    sampled(page, "corpus", "ranker")
    upload(page, "log", "silent.csv", "\n".join([header, *silent]).encode())
    told = words(page)
    assert mentions(told, r"sample\_ranker.json")
    assert "0.00 to 0.00" not in told
    assert "+0.00" not in told


def test_the_gate_counts_the_rankers_that_were_compared(page: AppTest, open_app: OpenApp) -> None:
    """Two on the page at least; the link, the command and the notebook have what is asked for."""
    sampled(page, "corpus", "log", "ranker", "scores")
    evaluate = commands(page)[-1]
    assert evaluate[evaluate.index("--candidates") + 1] == "2"
    first = words(page)
    page = sampled(opened(open_app, candidates="500"), "corpus", "log", "ranker")
    assert page.number_input(key=COMPARED.key).value == 500
    evaluate = commands(page)[-1]
    assert evaluate[evaluate.index("--candidates") + 1] == "500" and "--gate" in evaluate
    assert mentions(words(page), "500") and not mentions(first, "500")
    assert "candidates=500" in own_notebook(page.session_state[OWN_FILES]).source


def test_a_ranker_of_this_very_log_is_told_to_be_flattered(page: AppTest) -> None:
    sampled(page, "corpus", "log", "ranker")
    assert not mentions(words(page), "optimistic")
    log = bench(page).made["joined"].clicks
    counts = {
        "clicks": float(log.total_clicks),
        "query_draws": log.query_draws,
        "clicked_documents": int((log.clicks_per_document > 0).sum()),
    }
    model = bench(page).made["model"]
    page.button(key="data-remove-ranker").click().run()
    upload(page, "ranker", "mine.json", ranker_text(model, counts).encode())
    assert not page.exception
    assert mentions(words(page), "optimistic")
    # One answer: no verdict, and no deployment.
    withheld = bench(page).made["evidence"].judged.estimate
    assert withheld is not None and page.session_state[OWN_FILES].candidates == 1
    found = compare_with_shown(
        log, model.score(bench(page).made["corpus"]), PowerLaw(1.0), name="mine.json", trained=True
    )
    assert plain(found.sentence) in words(page) and plain(found.because) in words(page)


def test_columns_of_other_names_are_mapped_by_hand(page: AppTest) -> None:
    strange = LOG.replace(b"query,document,position,click", b"search,page_url,place,hit")
    upload(page, "log", "mine.csv", strange)
    assert mentions(page.error[0].value, "column")
    token = bench(page).files["log"].token
    for meaning, column in (
        ("query", "search"), ("document", "page_url"), ("position", "place"), ("click", "hit"),
    ):  # fmt: skip
        page.selectbox(key=f"data-column-{meaning}-{token}").set_value(column).run()
    assert not page.exception
    assert not page.error
    assert mentions(words(page), "180 clicks", "360 impressions")
    check = commands(page)[0]
    assert "query=search,document=page_url,position=place,click=hit" in check


def test_a_query_column_of_an_unknown_name_is_asked_for_at_the_log(page: AppTest) -> None:
    sampled(page, "corpus")
    named_so = sample_files()["log"].data.replace(b"query,", b"topic,", 1)
    upload(page, "log", "mine.csv", named_so)
    assert not page.exception
    (asked,) = (each.value for each in page.error)
    assert mentions(asked, "topic", "qid")
    panel = next(each for each in page.expander if "columns" in each.label)
    assert panel.proto.expanded
    token = bench(page).files["log"].token
    page.selectbox(key=f"data-column-query-{token}").set_value("topic").run()
    assert not page.error
    page.selectbox(key=f"data-column-query-{token}").set_value("").run()
    assert page.error
    # Who says that a log has none is told so where it would be joined.
    page.button(key="data-remove-log").click().run()
    sampled(page, "log")
    token = bench(page).files["log"].token
    page.selectbox(key=f"data-column-query-{token}").set_value(NO_COLUMN).run()
    assert len(page.error) == 1


def test_a_column_can_be_said_to_be_none(page: AppTest) -> None:
    paged = LOG.replace(b"click\n", b"click,page\n").replace(b",0\n", b",0,2\n")
    upload(page, "log", "mine.csv", paged.replace(b",1\n", b",1,2\n"))
    assert bench(page).made["log"].presentations is not None
    key = f"data-column-page-{bench(page).token('log')}"
    page.selectbox(key=key).set_value(NO_COLUMN).run()
    assert bench(page).made["log"].presentations is None
    assert "page=-" in commands(page)[0]


def test_the_logs_own_propensities_are_used_where_they_can_be_examination(page: AppTest) -> None:
    rows = "".join(f"q{q},a,1,1,0.9\nq{q},b,2,0,0.45\n" for q in range(120))
    upload(page, "log", "own.csv", f"query,document,position,click,propensity\n{rows}".encode())
    page.button_group(key="data-curve-from").set_value("log").run()
    assert not page.error
    assert mentions(words(page), "1, 0.5, 0.5")


def test_a_short_curve_stops_training_until_it_is_carried_on(page: AppTest) -> None:
    sampled(page, "corpus", "log")
    page.button_group(key="data-curve-from").set_value("file").run()
    upload(page, "curve", "short.csv", b"rank,propensity\n1,1\n2,0.5\n")
    assert "Position 3 has" in words(page)
    page.button(key="data-train").click().run()
    assert "Position 3 has" in page.error[0].value
    assert "--" not in page.error[0].value
    page.toggle(key="data-carry-on").set_value(True).run()
    assert "Position 3 has" not in words(page)
    page.button(key="data-train").click().run()
    assert not page.exception
    assert "Trained." in words(page)
    assert "--carry-on" in commands(page)[-1]


def test_training_that_takes_too_long_is_ended_and_others_get_their_turn(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled(page, "corpus", "log")
    with monkeypatch.context() as patch:
        limit = replace(VISITORS_TRAINING_SECONDS, most=0)
        patch.setattr(ranker, "VISITORS_TRAINING_SECONDS", limit)
        page.button(key="data-train").click().run()
    assert not page.exception
    assert mentions(page.error[0].value, "0 seconds")
    assert len(turns.LONG_WORK) == 0
    page.selectbox(key="data-method").set_value("naive").run()
    page.button(key="data-train").click().run()
    assert "Trained." in words(page)


def test_a_packed_upload_has_the_room_of_its_kind(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text is in memory as a whole, several times; a log is read piece by piece."""
    for name in ("UPLOADED_TEXT", "UPLOADED_SMALL_TEXT"):
        limit = replace(getattr(your_input, name), most=10_000)
        monkeypatch.setattr(your_input, name, limit)
    upload(page, "log", "log.csv.gz", gzip.compress(LOG + LOG.partition(b"\n")[2] * 10))
    assert not page.error
    upload(page, "corpus", "corpus.txt", b"1 qid:1 1:1\n0 qid:1 1:0\n")
    for kind in ("ranker", "query-texts"):
        upload(page, kind, f"{kind}.gz", gzip.compress(b"tree\n" * 2_001))
        assert any(mentions(each.value, f"{kind}.gz", "10,000") for each in page.error)
        upload(page, kind, f"{kind}.gz", gzip.compress(b"tree\n" * 2_000))
        assert not any("10,000" in each.value for each in page.error)


def test_controls_are_made_of_the_fields_and_kept_on_another_page(page: AppTest) -> None:
    sampled(page, "corpus", "log")
    assert page.slider(key=ETA.key).value == ETA.default
    assert page.selectbox(key=WEIGHTS.key).options == list(WEIGHTS.options.values())
    page.toggle(key=BY_VALIDATION.key).set_value(False).run()
    page.selectbox(key=WEIGHTS.key).set_value("clipped").run()
    for field in (CHOSEN_COST, CHOSEN_CLIP):
        box = page.number_input(key=field.key)
        assert (box.min, box.max, box.value) == (field.low, field.high, field.default)
    page.number_input(key=CHOSEN_COST.key).set_value(0.25).run()
    page.slider(key=ETA.key).set_value(0.5).run()
    assert not set(page.query_params) & {field.key for field in (ETA, WEIGHTS, CHOSEN_COST)}
    page.switch_page("pages/about.py").run()
    page.switch_page("pages/your_data.py").run()
    assert page.number_input(key=CHOSEN_COST.key).value == 0.25
    assert page.slider(key=ETA.key).value == 0.5
    assert page.selectbox(key=WEIGHTS.key).value == "clipped"


@pytest.mark.parametrize(
    ("method", "cost"),
    [("naive", None), ("clipped", 0.1), ("ips", 0.1), ("doubly-robust", 0.1)],
    ids=str,
)
def test_every_way_to_train(page: AppTest, method: str, cost: float | None) -> None:
    sampled(page, "corpus", "log")
    page.selectbox(key="data-method").set_value(method).run()
    if cost is not None:
        page.toggle(key="data-validation").set_value(False).run()
        page.number_input(key="data-cost").set_value(cost).run()
    page.button(key="data-train").click().run()
    assert not page.exception
    assert "Trained." in words(page)
    fit = next(command for command in commands(page) if command[0] == "fit")
    # IPS is the default of fit, which hands over to policy-aware weights as the page does.
    asked = fit[fit.index("--method") + 1] if "--method" in fit else "ips"
    assert asked == method
    assert ("--cost" in fit) == (cost is not None)


@pytest.mark.parametrize(
    ("kind", "name", "data", "told"),
    [
        ("corpus", "c.txt", b"\x89PNG\r\n\x1a\n\x00\xff", "c.txt"),
        ("corpus", "c.txt", b"2 qid:1 1:0.5\nx qid:1 1:1\n", "line 2"),
        ("corpus", "c.txt", LOG, "click log"),
        ("corpus", "c.gz", b"\x1f\x8b\x08\x00broken", "c.gz"),
        ("corpus", "c.gz", bomb, "c.gz"),
        ("log", "l.csv", b"\x89PNG\r\n\x1a\n\x00\xff", "l.csv"),
        ("log", "l.csv", b"rank,propensity\n1,1\n", "propensity curve"),
        ("log", "l.csv", b"document,position,click\n", "l.csv"),
        ("ranker", "r.json", b'{"format": "other"}', "r.json"),
        ("ranker", "r.json", LOG, "click log"),
        ("ranker", "w.csv", b"query,candidate,weight\n7,1,2\n", "table of weights"),
    ],
    ids=[
        "binary corpus", "letters", "log as corpus", "broken gzip", "gzip bomb", "binary log",
        "curve as log", "header alone", "other JSON", "log as ranker",
        "weights as ranker",
    ],
)  # fmt: skip
def test_a_bad_file_is_a_sentence_and_the_other_steps_stay(
    page: AppTest, kind: str, name: str, data: bytes | Callable[[], bytes], told: str
) -> None:
    upload(page, kind, name, data() if callable(data) else data)
    assert len(page.error) == 1
    assert told in page.error[0].value
    assert "Traceback" not in page.error[0].value
    assert len([h for h in page.subheader if h.value[0].isdigit()]) == 6
    if kind in bench(page).files:
        page.button(key=f"data-remove-{kind}").click().run()
    sampled(page, kind)
    assert not page.error


def test_an_empty_file_is_not_taken(page: AppTest) -> None:
    upload(page, "log", "empty.csv", b"")
    assert mentions(page.error[0].value, "empty.csv")
    assert "log" not in bench(page).files


def test_group_sizes_are_asked_for_where_rows_have_no_query(page: AppTest) -> None:
    upload(page, "corpus", "rank.train", b"1 1:0.5\n0 1:0.1\n2 1:0.3\n")
    assert mentions(page.error[0].value, "rank.train", "query")
    upload(page, "groups", "rank.train.query", b"1\n1\n")
    assert mentions(page.error[0].value, 2, 3)
    page.button(key="data-remove-groups").click().run()
    upload(page, "groups", "rank.train.query", b"1\n2\n")
    assert not page.error
    assert "**Corpus**: 2 queries, 3 documents" in words(page)


def test_files_are_kept_while_other_pages_are_read(page: AppTest) -> None:
    upload(page, "log", "mine.csv", LOG)
    page.switch_page("pages/about.py").run()
    page.switch_page("pages/your_data.py").run()
    assert mentions(words(page), "180 clicks", "360 impressions")


def test_two_sessions_never_see_each_others_files(open_app: OpenApp) -> None:
    first, second = opened(open_app), opened(open_app)
    upload(first, "log", "first.csv", LOG)
    upload(second, "log", "second.csv", LOG.replace(b"q", b"x"))
    first.run()
    second.run()
    assert bench(first) is not bench(second)
    assert "first.csv" in words(first)
    assert "second.csv" not in words(first)
    assert "second.csv" in words(second)
    assert "first.csv" not in words(second)
    second.button(key="data-clear").click().run()
    assert "second.csv" not in words(second)
    first.run()
    assert mentions(words(first), "180 clicks", "360 impressions")


def test_nothing_of_a_dropped_session_stays_in_memory(open_app: OpenApp) -> None:
    app = opened(open_app)
    app.button(key="data-samples").click().run()
    made = bench(app).made
    kept = [weakref.ref(made[stage]) for stage in ("corpus", "log", "fit")]
    kept.append(weakref.ref(bench(app).files["log"]))
    assert all(reference() is not None for reference in kept)
    bench(app).clear()  # as the keeper does once the reader is gone
    del made
    gc.collect()
    assert [reference() for reference in kept] == [None] * len(kept)


def test_ids_names_and_judgements_from_elsewhere_join_a_log_of_texts(page: AppTest) -> None:
    rows = ("4 qid:1 1:1 2:0 # 2 lamp", "0 qid:1 1:0 2:1 # 3 lamp", "0 qid:1 1:0 2:2 # 1 lamp")
    upload(page, "corpus", "corpus.txt", "\n".join(rows).encode() + b"\n")
    log = b"query,document,position,click\nlamp,two,1,1\nlamp,3,2,0\nlamp,1,3,0\n"
    upload(page, "log", "log.csv", log)
    assert any(mentions(error.value, "2 lamp") for error in page.error)
    page.text_input(key=f"data-document-ids-{bench(page).token('corpus')}").set_value("{id}").run()
    upload(page, "query-texts", "texts.csv", b"query_id,text\n1,lamp\n")
    upload(page, "document-names", "names.csv", b"document_id,name\n2,two\n")
    upload(page, "qrels", "qrels", b"1 0 3 2\n")
    assert not page.error
    made = bench(page).made
    assert made["joined"].clicks.clicks_per_document.tolist() == [1, 0, 0]
    assert made["joined"].clicks.total_clicks == 1
    assert made["graded"].grades.tolist() == [0, 2, 0]
    check = commands(page)[0]
    assert check[check.index("--document-ids") + 1] == "{id}"


def test_tables_of_names_are_in_sight_where_they_are_the_remedy(page: AppTest) -> None:
    rows = ("4 qid:1 1:1 2:0 # docid = 2", "0 qid:1 1:0 2:1 # docid = 3")
    upload(page, "corpus", "corpus.txt", "\n".join(rows).encode() + b"\n")
    panel = next(each for each in page.expander if each.label == NAMES)
    assert not panel.proto.expanded
    upload(page, "log", "log.csv", b"query,document,position,click\nlamp,2,1,1\nlamp,3,2,0\n")
    panel = next(each for each in page.expander if each.label == NAMES)
    assert panel.proto.expanded
    assert mentions(page.error[0].value, NAMES)
    upload(page, "query-texts", "texts.csv", b"one,two\n1,lamp\n")
    assert mentions(page.error[0].value, "texts.csv", "'one'")
    page.button(key="data-remove-query-texts").click().run()
    upload(page, "query-texts", "texts.csv", b"text,other\nlamp,1\n")
    assert not page.error
    assert bench(page).made["joined"].clicks.total_clicks == 1
    page.button(key="data-remove-corpus").click().run()
    assert set(bench(page).files) == {"log", "query-texts"}
    page.button(key="data-remove-query-texts").click().run()  # it is seen without a corpus
    assert set(bench(page).files) == {"log"}


def test_a_table_of_names_is_checked_before_there_is_a_log(page: AppTest) -> None:
    upload(page, "corpus", "corpus.txt", b"4 qid:1 1:1 2:0 # docid = 2\n0 qid:1 1:0 2:1\n")
    upload(page, "document-names", "names.csv", b"one,two\n1,lamp\n")
    assert mentions(page.error[0].value, "names.csv", "'two'")


def test_queries_that_were_shown_whole_judge_where_others_were_not(page: AppTest) -> None:
    sampled(page, "corpus", "scores")
    head, *rows = sample_files()["log"].data.decode().splitlines()
    top = [row for row in rows if int(row.split(",")[2]) <= 10]
    upload(page, "log", "log.csv", "\n".join([head, *top, ""]).encode())
    every = bench(page).made["evidence"]
    assert every.unshown.withheld
    page.toggle(key=JUDGED_WHOLE.key).set_value(True).run()
    assert not page.exception and not page.error
    part = bench(page).made["evidence"]
    assert 0 < part.query_draws < every.query_draws and part.unshown.severity == "good"
    assert "--shown-whole" in commands(page)[-1]


def test_a_ranker_of_other_features_is_used_once_the_reader_says_so(page: AppTest) -> None:
    upload(page, "corpus", "corpus.txt", b"1 qid:1 1:1 2:0.5\n0 qid:1 1:2 2:0.25\n")
    model = LinearModel(np.array([1.0, 2.0, 4.0]), np.array([1, 2, 3]))
    upload(page, "ranker", "mine.json", ranker_text(model).encode())
    assert isinstance(bench(page).made["model-scores"], InputError)
    page.toggle(key=f"data-missing-zero-{bench(page).token('ranker')}").set_value(True).run()
    assert bench(page).made["model-scores"].tolist() == [2.0, 2.5]
