"""``--curve`` and ``--assumed-curve`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
    assert "divided by 0.6, that of rank 2, the largest" in captured.err
    assert "from rank 4 on the value of rank 3" in captured.err


def test_proofs_and_walks_take_curves(
    files: list[str], small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--curve", files[1], "--assumed-curve", files[1]]
    assert main(["proofs", *FAST[:2], "--corpus", str(small_corpus), *both]) == 0
    assert "Every check that should hold holds." in capsys.readouterr().out
    assert main(["proofs", "--derivation", "affine-law", *both]) == 0
    assert main(["proofs", "--derivation", "affine-law", "--curve", files[1]]) == 1
    assert "fails by" in capsys.readouterr().out


def test_a_users_curve_alone_is_pointed_out(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    walk = ["proofs", "--derivation", "ips-unbiased", "--curve", files[0]]
    main(walk)
    assert f"add --assumed-curve {files[0]}." in capsys.readouterr().err
    main([*walk, "--assumed-eta", "0.5"])
    assert "still believes" not in capsys.readouterr().err


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
    assert "Users follow the given examination curve" in captured.out
    assert "ranks 1 to 3, where lists are longer" in captured.err
    # Another curve is another experiment: its results do not go into the same journal.
    assert main(["reproduce", "noise", *out, "--curve", files[1]]) == 2
    assert "--curve" in capsys.readouterr().err
    assert main(["reproduce", "bias", *out, "--curve", files[0]]) == 2
    assert "bias varies η itself, so that --curve cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column rank"),
        (b"\x89PNG\xff\xfe", "no UTF-8 text"),
        (b"rank,propensity\n1,1\n3,0.5\n", "no propensity for rank 2"),
        (b"rank,propensity\n1,1\n2,0\n", "curve has 0 at rank 2"),
        (b"rank,propensity\n1,1\n2,x\n", "'x' is no number"),
        (b"rank,rank,propensity\n1,1,1\n", "names the column rank twice"),
        (b'rank,propensity\n1,"' + b"1" * 200_000, "is no CSV"),
        (
            b"rank,propensity\n" + b"".join(b"%d,1\n" % rank for rank in range(1, 300)),
            "at most 200",
        ),
    ],
)
def test_bad_curves_are_one_sentence_and_code_2(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(content)
    assert main(["compare", "--curve", str(path)]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1
    assert message in error[0]


def test_a_curve_beside_its_exponent_is_refused(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--curve", files[0], "--eta", "1"]) == 2
    assert "--curve takes the place of --eta" in capsys.readouterr().err
