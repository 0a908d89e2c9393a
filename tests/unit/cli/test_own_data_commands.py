"""``simulate``, ``check``, ``fit`` and ``evaluate``: a reader's own files from end to end."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meaning import mentions, refused_command
from ultr_core.cli import main
from ultr_core.corpus.measures import usual_measures
from ultr_core.files import (
    load_corpus,
    load_directory,
    parse_corpus,
    read_log,
    read_scores,
    write_scores,
)
from ultr_core.files.proprank_files import read_proprank
from ultr_core.files.ranker_files import read_ranker
from ultr_core.files.weight_files import read_weights
from ultr_core.findings import Finding
from ultr_core.inspection import join_log
from ultr_core.own_data import evaluation
from ultr_core.own_data.agreement import against_weighted_clicks
from ultr_core.own_data.samples import sample_files
from ultr_core.risk import affine_law
from ultr_core.users.grouped_log import BY_PRESENTATION

EPS_PLUS, EPS_MINUS = 0.9, 0.05


def told(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture(scope="module")
def own(small_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log on the small corpus and the true curve."""
    folder = tmp_path_factory.mktemp("own")
    command = ["simulate", "--corpus", str(small_corpus), "--out", str(folder / "log.csv.gz")]
    command += ["--clicks", "40000", "--eps-plus", str(EPS_PLUS), "--eps-minus", str(EPS_MINUS)]
    assert main([*command, "--rankers", "2", "--seed", "5"]) == 0
    longest = int(load_directory(small_corpus).train.sizes.max())
    rows = "".join(f"{rank},{1 / rank!r}\n" for rank in range(1, longest + 1))
    (folder / "curve.csv").write_text("rank,propensity\n" + rows)
    return folder


def test_simulated_checked_fitted_and_evaluated(
    own: Path, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The weighted ranker is truly better; the estimate agrees with the truth within 4 errors.

    By the normal approximation 4 standard errors are exceeded once in 16,000 seeds.
    """
    corpus = ["--corpus", str(small_corpus)]
    log = ["--log", str(own / "log.csv.gz")]
    curve = ["--propensities", str(own / "curve.csv")]
    found = told(capsys, "check", str(own / "log.csv.gz"), str(own / "curve.csv"), *corpus)
    assert [part["kind"] for part in found["files"]] == ["log", "together", "curve"]
    assert all(part["verdict"] == "good" for part in found["files"])

    fits = {
        "ips": told(capsys, "fit", *corpus, *log, *curve, "--out", str(tmp_path / "ips.json")),
        "naive": told(
            capsys, "fit", *corpus, *log, "--method", "naive", "--out", str(tmp_path / "naive.json")
        ),
    }
    assert fits["ips"]["certificate"]["gap"] <= 1e-3
    assert fits["ips"]["checks"]["verdict"] == "good"
    results = {
        name: told(
            capsys, "evaluate", *corpus, *log, *curve, "--model", str(tmp_path / f"{name}.json")
        )
        for name in fits
    }
    assert results["ips"]["true"]["risk"] < results["naive"]["true"]["risk"]
    sizes = load_directory(small_corpus).train.sizes
    law = affine_law(EPS_PLUS, EPS_MINUS, sizes)
    for result in results.values():
        estimate = result["estimates"]["ips"]
        off = estimate["value"] - float(law.expected(result["true"]["risk"]))
        assert abs(off) < 4 * estimate["standard_error"]
        naive = result["estimates"]["naive"]
        assert naive["high"] < estimate["low"]


def test_everything_that_is_written_reads_back(
    own: Path, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {
        "--out": "m.json", "--svm-light-out": "m.dat", "--scores-out": "s.txt",
        "--weights-out": "w.csv", "--proprank-out": "p.dat.gz",
    }  # fmt: skip
    outputs = [part for o, name in names.items() for part in (o, str(tmp_path / name))]
    command = ["--corpus", str(small_corpus), "--log", str(own / "log.csv.gz"), "--eta", "1"]
    fit = told(capsys, "fit", *command, "--cost", "0.5", *outputs)
    assert (fit["cost"], fit["chosen_by"]) == (0.5, "given")
    train = load_directory(small_corpus).train
    ranker = read_ranker(tmp_path / "m.json")
    scores = read_scores(tmp_path / "s.txt", train)
    assert scores.tolist() == ranker.score(train).tolist()
    assert read_weights(tmp_path / "w.csv", train).clicks == fit["clicks"]
    assert read_proprank(tmp_path / "p.dat.gz")[1].clicks == fit["clicks"]
    by_model = told(capsys, "evaluate", *command, "--model", str(tmp_path / "m.json"))
    by_scores = told(capsys, "evaluate", *command, "--scores", str(tmp_path / "s.txt"))
    assert by_model["estimates"] == by_scores["estimates"]
    kinds = told(capsys, "check", *(str(tmp_path / names[o]) for o in ("--out", "--proprank-out")))
    assert [part["kind"] for part in kinds["files"]] == ["ranker", "training"]


def test_tables_for_readers_say_the_same(
    own: Path, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--corpus", str(small_corpus), "--log", str(own / "log.csv.gz"), "--eta", "1"]
    assert main(["fit", *command, "--cost", "1", "--out", str(tmp_path / "m.json")]) == 0
    assert mentions(capsys.readouterr().out, "effective")
    assert main(["evaluate", *command, "--model", str(tmp_path / "m.json")]) == 0
    text = capsys.readouterr().out
    assert mentions(text, "SNIPS", "NDCG@10")
    assert main(["check", str(own / "log.csv.gz")]) == 0
    assert "gzip" in capsys.readouterr().out


def test_the_built_in_corpus_is_written_beside_its_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, corpus = tmp_path / "log.csv", tmp_path / "corpus.txt"
    result = told(
        capsys, "simulate", "--out", str(log), "--corpus-out", str(corpus), "--clicks", "300"
    )
    assert result["rankers"] == 1
    assert load_corpus(corpus).n_queries == 2000
    found = told(capsys, "check", str(log), "--corpus", str(corpus))["files"][1]
    assert found["counts"]["clicks"] == result["clicks"]


def test_a_ranker_judged_on_its_own_clicks_is_told(
    own: Path, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--corpus", str(small_corpus), "--log", str(own / "log.csv.gz"), "--eta", "1"]
    files = {name: str(tmp_path / name) for name in ("m.json", "m.dat", "fold.csv")}
    out = ["--out", files["m.json"], "--svm-light-out", files["m.dat"]]
    assert main(["fit", *command, "--cost", "1", *out, "--fold-scores-out", files["fold.csv"]]) == 0
    found = told(capsys, "evaluate", *command, "--model", files["m.json"])
    assert "optimistic" in found["notices"][-1]
    # A model text does not say how it was trained, and scores of folds are fair.
    for given in (["--model", files["m.dat"]], ["--scores", files["fold.csv"]]):
        assert not any(
            "optimistic" in n for n in told(capsys, "evaluate", *command, *given)["notices"]
        )
    with gzip.open(own / "log.csv.gz", "rt") as file:
        header, *rows = file.read().splitlines()
    half = [row for row in rows if row.split(",")[0][-1] in "13579"]
    (tmp_path / "other.csv").write_text("\n".join([header, *half]) + "\n")
    command[3] = str(tmp_path / "other.csv")
    found = told(capsys, "evaluate", *command, "--model", files["m.json"])
    assert any(mentions(n, "100%") and "optimistic" in n for n in found["notices"])
    assert found["against_shown"]["withheld"]


def test_the_gate_passes_the_best_ranker_and_none_that_was_trained_on_the_log(
    own: Path, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code and the JSON agree; without --gate nothing of it is printed."""
    corpus = load_directory(small_corpus).train
    files = ["--corpus", str(small_corpus), "--log", str(own / "log.csv.gz")]
    files += ["--propensities", str(own / "curve.csv")]
    best, worst = tmp_path / "best.csv", tmp_path / "worst.csv"
    write_scores(best, corpus, corpus.grades.astype(float))
    write_scores(worst, corpus, -corpus.grades.astype(float))
    model = tmp_path / "m.json"
    told(capsys, "fit", *files, "--cost", "1", "--out", str(model))
    plain = told(capsys, "evaluate", *files, "--scores", str(best))
    assert "gate" not in plain
    # The usual measures of a perfect ranking; other ones if they are named.
    grade = plain["true"]["relevant_grade"]
    values = {name: each["value"] for name, each in plain["true"]["measures"].items()}
    assert list(values) == [one.name for one in usual_measures(grade)]
    assert values["nDCG@10"] == values[f"AP(rel={grade})"] == plain["true"]["ndcg@10"] == 1
    found, shown = {}, {}
    for name, ranker in (
        ("best", ("--scores", best)), ("many", ("--scores", best, "--candidates", "500")),
        ("worst", ("--scores", worst)), ("trained", ("--model", model)),
    ):  # fmt: skip
        named = ["--measures", "RR P@3", "--empty-queries", "zero"]
        code = main(["evaluate", *files, *map(str, ranker), "--gate", "--json", *named])
        result = json.loads(capsys.readouterr().out)
        assert list(result["true"]["measures"]) == ["RR", "P@3"]
        assert {each["left_out"] for each in result["true"]["measures"].values()} == {0}
        found[name] = result["gate"]
        assert code == (0 if result["gate"]["deploy"] else 1)
        against, judged = result["against_shown"], result["estimates"][result["judge"]]
        assert result["gate"]["difference"] == against["difference"]
        if against["withheld"]:
            assert against["risk_of_shown"] is None
        else:
            shown[name] = against["risk_of_shown"]
            assert shown[name] == pytest.approx(judged["value"] - against["difference"])
    # Whatever is judged, the same clicks say the same of what users saw.
    assert list(shown) == ["best", "many", "worst"]
    assert list(shown.values()) == pytest.approx([shown["best"]] * 3)
    assert {name: each["deploy"] for name, each in found.items()} == {
        "best": True, "many": True, "worst": False, "trained": False,
    }  # fmt: skip
    assert found["best"]["bound"] < found["many"]["bound"] < 0 < found["worst"]["bound"]
    assert (found["trained"]["bound"], bool(found["trained"]["declined"])) == (None, True)
    assert result["against_shown"]["withheld"]
    assert result["gate"]["declined"] in result["against_shown"]["sentence"]
    # The gate's decision and the verdict come first, and checks that are good in one line.
    assert main(["evaluate", *files, "--scores", str(worst), "--gate"]) == 1
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line][1:3]
    assert said[0] == found["worst"]["sentence"]
    assert f"deploy {worst.name}" not in said[0]  # scores are not what can be deployed
    against = told(capsys, "evaluate", *files, "--scores", str(worst))
    assert said[1] == against["against_shown"]["sentence"]
    verdicts = [each["verdict"] for each in against["checks"]["findings"]]
    assert sum(line.startswith("  good ") for line in lines) == 1
    assert sum(line.startswith(("  warning ", "  stop ")) for line in lines) == len(
        [verdict for verdict in verdicts if verdict != "good"]
    )
    assert mentions(lines[-1], verdicts.count("good"))
    # Measures have different names, whatever their case, and one rule for what is left out.
    names = [line.split("  ")[0].lower() for line in lines if re.match(r"(nDCG|RR|AP|P)[(@]", line)]
    assert len(set(names)) == len(names) == 5
    assert sum(mentions(line, "orders") for line in lines) == 1
    assert against["intervals"] == BY_PRESENTATION
    assert sum(mentions(line, "independent") for line in lines) == 1


def test_help_says_what_a_setting_does_in_this_command(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {}
    for command in ("fit", "simulate", "compare"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        texts[command] = " ".join(capsys.readouterr().out.split())
    seeds = {
        name: re.findall(r"--seed (.*?)(?= --\w+ [A-Z]+|$)", texts[name])[-1] for name in texts
    }
    assert mentions(seeds["fit"], "C") and not mentions(seeds["fit"], "users")
    assert mentions(seeds["simulate"], "users", "--sessions")
    assert mentions(seeds["compare"], "users") and not mentions(seeds["compare"], "--sessions")
    assert "15%" in texts["compare"]
    assert "15%" not in texts["simulate"]


def test_a_seed_draws_the_same_queries_with_sessions(
    small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["simulate", "--corpus", str(small_corpus), "--clicks", "400", "--seed", "2"]
    for name, more in (("counts.csv", []), ("rows.csv", ["--sessions"])):
        assert main([*command, *more, "--out", str(tmp_path / name)]) == 0
    corpus = load_directory(small_corpus).train
    counts, rows = (
        join_log(read_log(tmp_path / name), corpus).clicks for name in ("counts.csv", "rows.csv")
    )
    assert counts.draws.tolist() == rows.draws.tolist()
    assert counts.clicks_per_document.tolist() != rows.clicks_per_document.tolist()


def test_fit_and_evaluate_tell_what_check_finds_in_the_log(
    own: Path, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(own / "log.csv.gz", "rt") as file:
        head, *rows = file.read().splitlines()
    # query, document, position, impressions, clicks, ranker: what was not clicked is left out.
    cells = [row.split(",") for row in rows]
    clicked = [",".join([*c[:3], c[4], *c[4:]]) for c in cells if c[4] != "0"]
    (tmp_path / "clicks.csv").write_text("\n".join([head, *clicked]) + "\n")
    command = ["--corpus", str(small_corpus), "--log", str(tmp_path / "clicks.csv"), "--eta", "1"]
    fit = ["fit", *command, "--cost", "1", "--out", str(tmp_path / "m.json")]
    for run in (fit, ["evaluate", *command, "--model", str(tmp_path / "m.json")]):
        capsys.readouterr()
        assert main([*run, "--json"]) == 0
        out, err = capsys.readouterr()
        keys = {finding["key"]: finding for finding in json.loads(out)["checks"]["findings"]}
        assert keys["only_clicks"]["verdict"] == "warning"
        assert "positions" not in keys  # good, so check says it and these do not
        assert f"note: {keys['only_clicks']['words']}" in err


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("check none.txt", ("not_a_file", "none.txt")),
        ("check LOG --columns query", ("", "meaning=column")),
        ("fit OWN", ("no_propensities", "--propensities", "--eta")),
        ("fit OWN --eta 9", ("eta", "'9'")),
        ("fit OWN --eta 1 --cost -1", ("cost", "'-1'")),
        ("fit OWN --method em", ("method", "'em'")),
        ("fit OWN --part all --eta 1", ("part", "--part", "'all'")),
        ("check LOG --corpus TRAIN --part test", ("part_of_directory", "train.txt", "--part")),
        ("check LOG --part test", ("part_of_directory", "--part", "--corpus")),
        ("convert TRAIN -", ("path_dash", "'-'")),
        ("check -", ("path_dash", "'-'")),
        ("fit OWN --eta 1 --propensities CURVE", ("one_of_two", "--propensities", "--eta")),
        ("fit OWN --eta 1 --carry-on", ("nothing_to_carry_on", "--carry-on", "--propensities")),
        ("fit OWN --method naive --carry-on", ("nothing_to_carry_on", "--carry-on")),
        ("evaluate OWN --eta 1", ("model_or_scores", "--model", "--scores")),
        ("evaluate OWN --scores CURVE", ("no_propensities", "--propensities", "--eta")),
        ("evaluate OWN --eta 1 --scores CURVE", ("other_kind",)),
        ("simulate --out LOG --rankers 6", ("rankers", "'6'")),
        ("simulate --corpus DIR --out TRAIN", ("overwrites", "--out", "--corpus")),
        ("propensities LOG --out LOG", ("overwrites", "--out")),
        ("notebook lab --corpus DIR --out TRAIN", ("overwrites", "--out", "--corpus")),
        ("notebook lab --curve TRAIN --out TRAIN", ("overwrites", "--out", "--curve")),
        ("fit OWN --eta 1 --out LOG", ("overwrites", "--out", "--log")),
        ("fit OWN --eta=1 --out=X --scores-out=X", ("overwrites", "--scores-out", "--out")),
        # Where a result has no place is said before the work.
        ("fit --corpus no/such --log LOG --eta 1 --out no/x", ("no_place", "--out", "no/x")),
        ("simulate --out DIR", ("no_place", "--out", "directory")),
        ("propensities no.csv --out LOG/x", ("no_place", "--out")),
        ("notebook lab --out no/x", ("no_place", "--out", "no/x")),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    command: str, fault: tuple[object, ...], own: Path, small_corpus: Path, tmp_path: Path
) -> None:
    places = {
        "DIR": small_corpus, "LOG": own / "log.csv.gz", "CURVE": own / "curve.csv",
        "TRAIN": small_corpus / "train.txt", "X": tmp_path / "x",
    }  # fmt: skip
    before = {path: path.read_bytes() for path in (places["LOG"], places["TRAIN"])}
    words = command.replace("OWN", "--corpus DIR --log LOG").split()
    given = [re.sub("[A-Z]+", lambda name: str(places[name[0]]), word) for word in words]
    refused_command(given, *fault)
    assert {path: path.read_bytes() for path in before} == before
    assert not places["X"].exists()


def test_a_stopped_command_leaves_the_old_output(
    own: Path,
    small_corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "log.csv").write_text("old")

    def stop(self: object) -> Any:
        yield "query,document,position,impressions,clicks\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("ultr_core.own_data.samples.OwnClicks.csv_pieces", stop)
    command = ["simulate", "--corpus", str(small_corpus), "--clicks", "100"]
    assert main([*command, "--out", str(tmp_path / "log.csv")]) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
    assert (tmp_path / "log.csv").read_text() == "old"
    assert gzip.decompress((own / "log.csv.gz").read_bytes()).startswith(b"query,document,position")


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("fit --cost 0", ("cost", "'0'", "1e-12 to 1e+12", "(--cost)")),
        ("fit --cost 1e-300", ("cost", "'1e-300'", "1e-12 to 1e+12", "(--cost)")),
        ("fit --cost nan", ("cost", "'nan'", "1e-12 to 1e+12", "(--cost)")),
        ("fit --eta nan", ("eta", "'nan'")),
        ("fit --eta 5", ("eta", "'5'")),
        ("fit --eta 1 --propensities c.csv", ("one_of_two", "--propensities", "--eta")),
        ("fit --eta 1 --carry-on", ("nothing_to_carry_on", "--carry-on", "--propensities")),
        ("evaluate --model m --eta 1 --carry-on", ("nothing_to_carry_on", "--carry-on")),
        ("fit --eta 1 --part dev", ("part", "--part", "'dev'")),
        ("fit --eta 1 --columns query", ("", "'query'")),
        ("evaluate --model m --eta 5", ("eta", "'5'")),
        ("evaluate --model m --eta nan", ("eta", "'nan'")),
        ("evaluate --model m --measures ERR@5", ("measures", "'ERR@5'", "--measures")),
        ("evaluate --model m --candidates 3", ("gate", "--candidates", "--gate")),
        ("evaluate --model m --gate --candidates 0", ("candidates", "'0'")),
    ],
)
def test_what_no_file_can_make_right_is_said_before_files_are_read(
    command: str, fault: tuple[object, ...]
) -> None:
    more = [] if "--eta" in command else ["--eta", "1"]
    files = ["--corpus", "no/such", "--log", "no/such.csv"]
    line = refused_command([*command.split(), *files, *more], *fault)
    assert "no/such" not in line


def test_fitted_relevance_and_weighted_clicks_are_compared_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the estimate and for the verdict, which say the same of it."""
    files = {name: tmp_path / sample.name for name, sample in sample_files().items()}
    for name, sample in sample_files().items():
        files[name].write_bytes(sample.data)
    compared: list[tuple[Finding, ...]] = []

    def noted(*given: Any) -> tuple[Finding, ...]:
        compared.append(against_weighted_clicks(*given))
        return compared[-1]

    monkeypatch.setattr(evaluation, "against_weighted_clicks", noted)
    corpus = parse_corpus(files["corpus"].read_bytes(), "sample")
    write_scores(tmp_path / "s.txt", corpus, np.arange(corpus.n_documents, dtype=float))
    given = ["--corpus", str(files["corpus"]), "--log", str(files["log"]), "--eta", "1"]
    scores = ["--scores", str(tmp_path / "s.txt"), "--method", "direct"]
    found = told(capsys, "evaluate", *given, *scores)
    (agreement,) = compared
    assert agreement[0].sentence in [each["words"] for each in found["checks"]["findings"]]


def test_fit_and_evaluate_say_each_thing_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning of the log stands with the checks, and its risks with the other estimates."""
    log = "".join(f"{query},a,1,10,6\n{query},b,2,10,2\n" for query in range(30))
    (tmp_path / "log.csv").write_text(f"query,document,position,impressions,clicks\n{log}")
    corpus = "".join(
        f"{4 * (document == 'a')} qid:{query} 1:{query % 7}.5 2:{place} # docid = {document}\n"
        for query in range(30)
        for place, document in enumerate("abc")
    )
    (tmp_path / "corpus.txt").write_text(corpus)
    (tmp_path / "s.txt").write_text("1\n2\n3\n" * 30)
    given = ["--corpus", str(tmp_path / "corpus.txt"), "--log", str(tmp_path / "log.csv")]
    given += ["--eta", "1"]
    for command in (
        ["fit", *given, "--cost", "1"], ["evaluate", *given, "--scores", str(tmp_path / "s.txt")],
    ):  # fmt: skip
        capsys.readouterr()
        assert main([*command, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        findings = found["checks"]["findings"]
        # A remedy may stand before the full stop.
        warned = [f["words"].rstrip(".") for f in findings if f["verdict"] != "good"]
        assert len(warned) >= 2
        assert main(command) == 0
        out, err = capsys.readouterr()
        assert [(out.count(words), err.count(words)) for words in warned] == [(1, 0)] * len(warned)
        if "estimates" in found:
            assert found["sentence"] not in out
            values = [f"{each['value']:.3f}" for each in found["estimates"].values()]
            assert out.count(values[1]) == values.count(values[1])
