"""``--curve`` and ``--assumed-curve`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.meaning import mentions, refused_command
from ultr_core.cli import main
from ultr_core.files import write_curve
from ultr_core.lab import Lab
from ultr_core.settings import Settings

FAST = ["--clicks", "600", "--draws", "1"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = []
    for name, values in (("a", [1, 0.7, 0.5]), ("b", [0.5, 0.6, 0.2])):
        write_curve(tmp_path / f"{name}.csv", values)
        names.append(str(tmp_path / f"{name}.csv"))
    return names


def test_compare_gives_what_python_gives(
    files: list[str], small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", *FAST, "--corpus", str(small_corpus), "--json"]
    assert main([*command, "--curve", files[0], "--assumed-curve", files[1]]) == 0
    captured = capsys.readouterr()
    settings = Settings(clicks=600, draws=1, curve=(1, 0.7, 0.5), assumed_curve=(0.5, 0.6, 0.2))
    printed = json.loads(captured.out)
    assert printed == json.loads(
        json.dumps(Lab(settings, str(small_corpus)).comparison().as_dict())
    )
    assert Settings(**printed["settings"]) == settings
    notes = captured.err.splitlines()
    assert any(mentions(note, "0.6", "rank 2") for note in notes)
    assert any(mentions(note, "rank 4", "rank 3") for note in notes)


def test_proofs_and_walks_take_curves(
    files: list[str], small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--curve", files[1], "--assumed-curve", files[1]]
    assert main(["proofs", *FAST[:2], "--corpus", str(small_corpus), *both]) == 0
    assert mentions(capsys.readouterr().out.splitlines()[-1], "every", "should")
    assert main(["proofs", "--derivation", "affine-law", *both]) == 0
    assert main(["proofs", "--derivation", "affine-law", "--curve", files[1]]) == 1
    assert mentions(capsys.readouterr().out, "fails")


def test_a_users_curve_alone_is_pointed_out(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    walk = ["proofs", "--derivation", "ips-unbiased", "--curve", files[0]]
    main(walk)
    assert f"add --assumed-curve {files[0]}." in capsys.readouterr().err
    main([*walk, "--assumed-eta", "0.5"])
    assert not mentions(capsys.readouterr().err, "--assumed-curve")


def test_live_takes_the_users_curve(
    files: list[str], small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["live", "--clicks", "9000", "--interleaved", "100", "--last-rank", "4", "--json"]
    assert main([*command, "--corpus", str(small_corpus), "--curve", files[0]]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["true"] for row in result["curve"]] == [1, 0.7, 0.5, 0.5]


def test_reproduce_uses_a_curve_where_it_can_and_says_where_not(
    files: list[str], small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--corpus", str(small_corpus), "--draws", "1", "--out", str(tmp_path / "out")]
    assert main(["reproduce", "noise", *out, "--curve", files[0]]) == 0
    captured = capsys.readouterr()
    assert mentions(captured.out, "given", "curve")
    assert mentions(captured.err, "ranks 1 to 3")
    # Another curve is another experiment: its results do not go into the same journal.
    assert main(["reproduce", "noise", *out, "--curve", files[1]]) == 2
    assert "--curve" in capsys.readouterr().err
    refused_command(["reproduce", "bias", *out, "--curve", files[0]], "not_used", "--curve", "η")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", ("column_missing", "rank")),
        (b"\x89PNG\xff\xfe", ("not_utf8",)),
        (b"rank,propensity\n1,1\n3,0.5\n", ("rank_missing", "rank 2")),
        (b"rank,propensity\n1,1\n2,0\n", ("curve", 0, "rank 2")),
        (b"rank,propensity\n1,1\n2,x\n", ("not_a_number", "'x'")),
        (b"rank,rank,propensity\n1,1,1\n", ("column_twice", "rank")),
        (b'rank,propensity\n1,"' + b"1" * 200_000, ("not_csv",)),
        (
            b"rank,propensity\n" + b"".join(b"%d,1\n" % rank for rank in range(1, 300)),
            ("curve", 200),
        ),
    ],
)
def test_bad_curves_are_one_sentence_and_code_2(
    content: bytes, fault: tuple[object, ...], tmp_path: Path
) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(content)
    refused_command(["compare", "--curve", str(path)], *fault)


def test_a_curve_beside_its_exponent_is_refused(files: list[str]) -> None:
    given = ["compare", "--curve", files[0], "--eta", "1"]
    refused_command(given, "one_of_two", "--curve", "--eta")
