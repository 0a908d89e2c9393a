"""A finding: one comparison decides every outcome, and severity is another scale."""

from __future__ import annotations

import math

import pytest

from ultr_core.findings import (
    OUTCOMES,
    SEVERITIES,
    Finding,
    Outcome,
    Relation,
    all_of,
    compared,
    count_outcomes,
)
from ultr_core.inspection.inspection import Inspection


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (Finding("", 0.1, tolerance=0.1), "holds"),
        (Finding("", 0.11, tolerance=0.1), "does not hold"),
        (Finding("", 1.0, "≥", 1.0), "holds"),
        (Finding("", 0.9, "≥", 1.0, 0.05), "does not hold"),
        (Finding("", 1.0, "≥", 0.5, interval=(0.2, 1.8)), "open"),
        (Finding("", 1.0, "≥", 0.5, interval=(0.5, 1.8)), "holds"),
        (Finding("", 1.0, "≥", 0.5, 0.3, (0.2, 1.8)), "holds"),
        (Finding("", 0.4, "≥", 0.5, interval=(0.2, 0.5)), "open"),
        (Finding("", 0.3, "≥", 0.5, interval=(0.2, 0.4)), "does not hold"),
        (Finding("", 0.1, ">"), "holds"),
        (Finding("", 0.0, ">"), "does not hold"),
        (Finding("", 0.1, ">", interval=(-0.1, 0.3)), "open"),
        (Finding("", -0.1, ">", interval=(-0.3, 0.0)), "does not hold"),
        (Finding("", 0.1, "<", 1.0, interval=(0.0, 0.9)), "holds"),
        (Finding("", 0.9, "<", 1.0, interval=(0.5, 1.3)), "open"),
        (Finding("", 1.2, "<", 1.0, interval=(1.0, 1.3)), "does not hold"),
        (Finding("", 1.0, "=", 1.1, 0.2, (0.9, 1.2)), "holds"),
        (Finding("", 1.0, "=", 1.1, 0.2, (0.95, 1.05)), "open"),
        (Finding("", 1.0, "=", 1.1, 0.02, (0.95, 1.05)), "does not hold"),
        (Finding("", 1.0, "=", 1.1, 0.02, (0.8, 1.2)), "open"),
        (Finding("", None, "<"), "not checkable"),
        (Finding("", 3.0, limit=None), "not checkable"),
        (Finding("", 3.0, decided="not checkable"), "not checkable"),
        (Finding("", 3.0, decided="holds"), "holds"),
    ],
)
def test_what_decides(found: Finding, outcome: Outcome) -> None:
    assert found.outcome == outcome
    assert found.holds is (outcome == "holds")


@pytest.mark.parametrize("relation", ["=", "≥", ">", "<"])
def test_what_is_no_number_never_holds(relation: Relation) -> None:
    assert compared(math.nan, relation) == "does not hold"


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("should_hold", [True, False])
def test_only_what_should_hold_and_does_not_is_a_failure(
    outcome: Outcome, should_hold: bool
) -> None:
    found = Finding("", decided=outcome, should_hold=should_hold)
    assert found.fails is (should_hold and outcome == "does not hold")
    assert found.status.startswith(outcome)
    assert (found.status == outcome) is (should_hold or outcome in ("open", "not checkable"))


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        (("holds", "holds"), "holds"),
        (("holds", "open"), "open"),
        (("open", "does not hold", "holds"), "does not hold"),
        ((), "not checkable"),
    ],
)
def test_a_claim_with_parts_needs_all_of_them(parts: tuple[Outcome, ...], outcome: Outcome) -> None:
    assert all_of(parts) == outcome


def test_outcomes_are_counted_with_those_that_do_not_occur() -> None:
    found = count_outcomes(["holds", "does not hold", "holds", "open"])
    assert found == {"holds": 2, "does not hold": 1, "open": 1, "not checkable": 0}


def test_a_check_of_a_file_has_a_severity_and_decides_no_claim() -> None:
    found = [Finding.of_file("k", "T", 3, severity, "S.") for severity in SEVERITIES]
    assert [finding.status for finding in found] == list(SEVERITIES)
    parts = [Inspection("log", "log.csv", "CSV", tuple(found[:n])) for n in range(4)]
    assert [part.severity for part in parts] == ["good", *SEVERITIES]
    assert {finding.outcome for finding in found} == {"not checkable"}
