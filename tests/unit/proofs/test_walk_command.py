from __future__ import annotations

import json
import re

import pytest

from ultr_core.cli import main
from ultr_core.proofs import DERIVATIONS


@pytest.mark.parametrize("name", list(DERIVATIONS))
def test_every_derivation_can_be_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["proofs", "--derivation", name]) == 0
    printed = capsys.readouterr().out
    assert DERIVATIONS[name].title in printed
    assert not re.search(r"\bfails\b", printed)


def test_json_has_all_values_of_all_lines(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["proofs", "--derivation", "ips-unbiased", "--json", "--query", "broken=cut"]
    assert main(arguments) == 1
    walk = json.loads(capsys.readouterr().out)
    assert walk["query"] == "broken=cut"
    assert [line["holds"] for line in walk["lines"]] == [True, True, True, False, True]
    assert walk["lines"][0]["enumerated"] == walk["lines"][0]["closed_form"] == "5"
    assert walk["lines"][0]["simulated"]["low"] < 5 < walk["lines"][0]["simulated"]["high"]
    assert walk["lines"][3]["error"] == "3"
    assert not walk["holds"]


def test_a_bad_query_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["proofs", "--derivation", "variance", "--query", "clip=3"]) == 2
    assert "from 0 to 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("foo=bar", "foo"),
        ("<script>", "key=text"),
        ("relevent=A", "relevent"),
        ("tau=nan", "tau"),
        ("list=AB&list=ABC", "twice"),
    ],
)
def test_what_is_no_query_is_refused(
    query: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["proofs", "--derivation", "ips-unbiased", "--query", query]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1


def test_a_query_without_a_derivation_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["proofs", "--query", "list=AB"]) == 2
    assert "--derivation" in capsys.readouterr().err


def test_a_link_of_the_page_names_relevant_documents_one_by_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outputs = []
    for query in ("relevant=A&relevant=C", "relevant=AC", "relevant=", "relevant=-"):
        main(["proofs", "--derivation", "ips-unbiased", "--query", query])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2] == outputs[3]
