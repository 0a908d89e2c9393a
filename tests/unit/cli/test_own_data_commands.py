"""``simulate``, ``check``, ``fit`` and ``evaluate``: a reader's own files from end to end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ultr_core.cli import main
from ultr_core.files import load_corpus, load_directory, read_log, read_scores
from ultr_core.files.proprank_files import read_proprank
from ultr_core.files.ranker_files import read_ranker
from ultr_core.files.weight_files import read_weights
from ultr_core.inspection import join_log
from ultr_core.risk import affine_law

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
    assert "Effective sample size" in capsys.readouterr().out
    assert main(["evaluate", *command, "--model", str(tmp_path / "m.json")]) == 0
    text = capsys.readouterr().out
    for part in ("SNIPS", "NDCG@10", "count 0 in the risk", "compare rankers, not levels"):
        assert part in text
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
    assert "flatter" in found["notices"][-1]
    # A model text does not say how it was trained, and scores of folds are fair.
    for given in (["--model", files["m.dat"]], ["--scores", files["fold.csv"]]):
        assert not any(
            "flatter" in n for n in told(capsys, "evaluate", *command, *given)["notices"]
        )
    with gzip.open(own / "log.csv.gz", "rt") as file:
        rows = file.read().splitlines()
    (tmp_path / "other.csv").write_text("\n".join(rows[: len(rows) // 2]) + "\n")
    command[3] = str(tmp_path / "other.csv")
    found = told(capsys, "evaluate", *command, "--model", files["m.json"])
    assert not any("flatter" in notice for notice in found["notices"])


def test_help_says_what_a_setting_does_in_this_command(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {}
    for command in ("fit", "simulate", "compare"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        texts[command] = " ".join(capsys.readouterr().out.split())
    assert "queries held out to choose C" in texts["fit"]
    assert "simulated users" not in texts["fit"]
    assert "15%" in texts["compare"]
    assert "15%" not in texts["simulate"]
    assert "with and without --sessions, but not the same clicks" in texts["simulate"]


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
    ("command", "message"),
    [
        (["check", "none.txt"], "none.txt does not exist"),
        (["check", "LOG", "--columns", "query"], "meaning=column"),
        (["fit", "--corpus", "DIR", "--log", "LOG"], "needs propensities"),
        (["fit", "--corpus", "DIR", "--log", "LOG", "--eta", "9"], "Bias severity η is '9'"),
        (["fit", "--corpus", "DIR", "--log", "LOG", "--eta", "1", "--cost", "-1"], "The cost C is"),
        (["fit", "--corpus", "DIR", "--log", "LOG", "--method", "em"], "Method is 'em'"),
        (["fit", "--corpus", "DIR", "--log", "LOG", "--part", "all", "--eta", "1"], "--part is"),
        (["check", "LOG", "--corpus", "TRAIN", "--part", "test"], "is one file"),
        (["check", "LOG", "--part", "test"], "give that with --corpus"),
        (["convert", "TRAIN", "-"], "does not stand for standard"),
        (["check", "-"], "does not stand for standard"),
        (
            ["fit", "--corpus", "DIR", "--log", "LOG", "--eta", "1", "--propensities", "CURVE"],
            "give one of them",
        ),
        (["evaluate", "--corpus", "DIR", "--log", "LOG", "--eta", "1"], "either --model FILE or"),
        (
            ["evaluate", "--corpus", "DIR", "--log", "LOG", "--scores", "CURVE"],
            "Estimates need propensities",
        ),
        (
            ["evaluate", "--corpus", "DIR", "--log", "LOG", "--eta", "1", "--scores", "CURVE"],
            "score",
        ),
        (["simulate", "--out", "LOG", "--rankers", "6"], "production rankers is '6'"),
        (["simulate", "--corpus", "DIR", "--out", "TRAIN"], "would overwrite"),
        (["propensities", "LOG", "--out", "LOG"], "would overwrite"),
        (["notebook", "lab", "--corpus", "DIR", "--out", "TRAIN"], "would overwrite"),
        (["notebook", "lab", "--curve", "TRAIN", "--out", "TRAIN"], "would overwrite"),
        (["fit", "--corpus", "DIR", "--log", "LOG", "--eta", "1", "--out", "LOG"], "overwrite"),
        (
            ["fit", "--corpus", "DIR", "--log", "LOG", "--eta=1", "--out=X", "--scores-out=X"],
            "overwrite",
        ),
        # Where a result has no place is said before the work.
        (["fit", "--corpus", "no/such", "--log", "LOG", "--eta", "1", "--out", "no/x"],
         "--out cannot be written to no/x: its directory does not exist"),
        (["simulate", "--out", "DIR"], "it is a directory"),
        (["propensities", "no.csv", "--out", "LOG/x"], "its directory does not exist"),
        (["notebook", "lab", "--out", "no/x"], "its directory does not exist"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_nothing_is_written(
    command: list[str],
    message: str,
    own: Path,
    small_corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {
        "DIR": small_corpus, "LOG": own / "log.csv.gz", "CURVE": own / "curve.csv",
        "TRAIN": small_corpus / "train.txt", "X": tmp_path / "x",
    }  # fmt: skip
    before = {path: path.read_bytes() for path in (places["LOG"], places["TRAIN"])}
    capsys.readouterr()
    given = [str(places.get(part, part)).replace("=X", f"={places['X']}") for part in command]
    given = [part.replace("LOG/", f"{places['LOG']}/") for part in given]
    assert main(given) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert len(errors) == 1
    assert message in errors[0]
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
    ("command", "words"),
    [
        ("fit --cost 0", "The cost C is '0'; it must be a number from 1e-12 to 1e+12 (--cost)."),
        ("fit --cost 1e-300", "it must be a number from 1e-12 to 1e+12 (--cost)."),
        ("fit --cost nan", "it must be a number from 1e-12 to 1e+12 (--cost)."),
        ("fit --eta nan", "Bias severity η is 'nan'"),
        ("fit --eta 5", "Bias severity η is '5'"),
        ("fit --eta 1 --propensities c.csv", "takes the place of --eta"),
        ("fit --eta 1 --part dev", "--part is 'dev'"),
        ("fit --eta 1 --columns query", "The column mapping has"),
        ("evaluate --model m --eta 5", "Bias severity η is '5'"),
        ("evaluate --model m --eta nan", "Bias severity η is 'nan'"),
    ],
)
def test_what_no_file_can_make_right_is_said_before_files_are_read(
    command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [] if "--eta" in command else ["--eta", "1"]
    assert main([*command.split(), "--corpus", "no/such", "--log", "no/such.csv", *more]) == 2
    told = capsys.readouterr().err
    assert words in told and "no/such" not in told
