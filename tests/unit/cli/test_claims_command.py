"""``claims`` prints every claim with its verdict, and a claim that does not hold is no failure."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.meaning import mentions
from ultr_core.claims import CLAIMS, SECTIONS
from ultr_core.cli import main
from ultr_core.findings import OUTCOMES
from ultr_core.jobs.claims import NOT_REACHED


def test_json_has_every_claim_with_its_fields(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["claims", "--json", "--corpus", str(small_corpus)]) == 0
    found = json.loads(capsys.readouterr().out)
    claims = found["claims"]
    assert [claim["id"] for claim in claims] == list(CLAIMS)
    for claim in claims:
        for field in ("claim", "section", "check", "measured", "verdict", "page"):
            assert isinstance(claim[field], str)
            assert claim[field]
        assert claim["verdict"] in OUTCOMES
        assert claim["interval"] is None or claim["interval"]["low"] <= claim["interval"]["high"]
    assert found["counts"]["does not hold"] >= 1
    assert sum(found["counts"].values()) == len(claims)
    by_origin = found["counts_by_origin"]
    assert set(by_origin) == {"paper", "set-up", "lab", "later"}
    assert sum(sum(counts.values()) for counts in by_origin.values()) == len(claims)
    assert found["settings"]["eta"] == 1.0


def test_table_of_one_section(small_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In full with every number, or in one line a claim after what does not hold or is open."""
    given = ["claims", "--section", "7.6", "--corpus", str(small_corpus)]
    printed = []
    for option in ([], ["--full"]):
        assert main([*given, *option]) == 0
        printed.append(capsys.readouterr().out)
    short, full = printed
    assert "0.0009995 and 0.006133" in full
    entries = [entry.key for entry in CLAIMS.values() if entry.section == "7.6"]
    for out in printed:
        verdicts = "|".join(OUTCOMES)
        listed = re.findall(rf"^  (?:{verdicts}) +([\w.-]+)", out, flags=re.MULTILINE)
        assert listed == entries
    assert short.splitlines()[0] == full.splitlines()[0]
    head, _, table = short.partition("\n7.6 ")
    assert re.search(
        r"^  L9c: [^:]*: 0\.5415 \[0\.4879, 0\.6138\]; .*0\.5$", head, flags=re.MULTILINE
    )
    rows = table.strip().splitlines()[1:]
    assert len(rows) == len(entries) + 2
    assert all(len(row) <= 100 for row in rows)


@pytest.mark.parametrize("option", [(), ("--full",), ("--json",)])
def test_filters_that_leave_nothing_say_which_and_what_would_match(
    option: tuple[str, ...], small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["claims", "--section", "8", "--verdict", "Open", "--corpus", str(small_corpus)]
    assert main([*given, *option]) == 0
    printed = capsys.readouterr()
    notes = [line for line in printed.err.splitlines() if "open" in line]
    assert len(notes) == 1
    holds, fails, *_ = OUTCOMES
    assert mentions(notes[0], SECTIONS["8"], "open", f"{fails} (1)")
    assert not mentions(notes[0], holds)
    assert "8b" not in printed.out


def test_a_corpus_changes_no_claim_on_shipped_results(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the help of --corpus says."""
    found = []
    for corpus in ([], ["--corpus", str(small_corpus)]):
        assert main(["claims", "--json", "--section", "7.3", *corpus]) == 0
        found.append(json.loads(capsys.readouterr().out)["claims"])
    assert found[0] == found[1]


def test_help_says_that_a_failing_claim_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["claims", "--help"])
    assert ended.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert mentions(told, "finding")
    assert NOT_REACHED.rstrip(".") in told


def test_an_unknown_section_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--section", "12"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
