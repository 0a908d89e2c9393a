"""Every proof holds where it should, and fails when what it claims is broken on purpose."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ultr_core.corpus.ranking import rank_documents, rank_many
from ultr_core.proofs import BREAKS, DERIVATIONS, PROOFS, Check, Derivation, Evidence, run_checks
from ultr_core.proofs.proof import NO_POSITION_BIAS, PROPENSITIES
from ultr_core.risk import true_risks
from ultr_core.users import Cutoff, PositionModel, PowerLaw, TableCurve, simulate_counts

USERS = PositionModel(PowerLaw(1.0), 1.0, 0.1)
NEED_THE_CURVE = {
    "ips-unbiased",
    "risk-converges",
    "errors-fall",
    "noise-keeps-order",
    "affine-law",
    "affine-correction",
    "noisy-hinge",
    "variance",
    "clipped-moments",
    "overtaking",
    "corpus-affine-law",
    "order-preserved",
    "risk-recovered",
}


def make_evidence(
    users: PositionModel = USERS,
    assumed: PowerLaw | TableCurve | Cutoff = USERS.curve,  # type: ignore[assignment]
    draws: int = 20_000,
) -> Evidence:
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 15, size=40)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    relevance = rng.random(offsets[-1]) < 0.25
    presented = rank_documents(rng.random(offsets[-1]) + 0.4 * relevance, offsets)
    # Half of the rankers agree with the presented ranking, which naive estimates reward.
    quality = np.linspace(1.0, -1.0, 24)[:, None]
    agreement = np.tile([0.0, 0.2], 12)[:, None]
    family = rank_many(
        quality * relevance - agreement * presented + rng.random((24, offsets[-1])), offsets
    )
    log = simulate_counts(
        users.click_probability(relevance, presented), presented, offsets, draws, 11
    )
    return Evidence(
        users=users,
        assumed_curve=assumed,
        query_offsets=offsets,
        relevance=relevance,
        presented_ranks=presented,
        family_ranks=family,
        true_risk=true_risks(family, relevance, offsets),
        log=log,
        scores={"random": rng.normal(size=offsets[-1]), "zero": np.zeros(offsets[-1])},
        gap=5e-4,
        gap_tolerance=1e-3,
    )


def assuming(*broken: str) -> set[str]:
    """Names of the proofs that assume something of what a world breaks."""
    return {name for name, proof in PROOFS.items() if set(broken) & set(proof.assumes)}


def by_name(evidence: Evidence) -> dict[str, Check]:
    return {check.name: check for check in run_checks(evidence)}


def test_with_the_right_curve_everything_holds_but_what_needs_no_position_bias() -> None:
    checks = by_name(make_evidence())
    assert set(checks) == set(PROOFS)
    failing = {name for name, check in checks.items() if not check.finding.holds}
    assert failing == assuming(NO_POSITION_BIAS) and "naive-order" in failing
    assert not any(check.finding.fails for check in checks.values())


def test_without_bias_the_naive_order_holds_too() -> None:
    users = PositionModel(PowerLaw(0.0), 1.0, 0.1)
    checks = by_name(make_evidence(users, users.curve))  # type: ignore[arg-type]
    assert all(check.finding.holds and check.finding.should_hold for check in checks.values())


def test_with_the_wrong_curve_exactly_the_claims_that_need_it_fail() -> None:
    checks = by_name(make_evidence(assumed=PowerLaw(2.0)))
    failing = {name for name, check in checks.items() if not check.finding.holds}
    assert failing == assuming(PROPENSITIES, NO_POSITION_BIAS) > NEED_THE_CURVE
    assert all(
        check.finding.status == "does not hold, as predicted"
        for check in checks.values()
        if not check.finding.holds
    )


def test_without_bias_a_wrong_curve_leaves_nothing_but_bias() -> None:
    users = PositionModel(PowerLaw(0.0), 1.0, 0.1)
    check = by_name(make_evidence(users, PowerLaw(1.5)))["errors-fall"]
    assert check.finding.status == "does not hold, as predicted"
    assert "bias" in check.finding.sentence


def test_exact_checks_are_exact() -> None:
    checks = by_name(make_evidence(PositionModel(PowerLaw(0.73), 0.9, 0.17), PowerLaw(0.73)))
    for name in DERIVATIONS:
        assert checks[name].finding.value == 0.0
        assert checks[name].finding.tolerance == 0.0


def test_a_log_of_other_users_is_noticed() -> None:
    evidence = make_evidence()
    others = make_evidence(PositionModel(PowerLaw(0.8), 1.0, 0.1))
    checks = by_name(replace(evidence, log=others.log))
    assert checks["simulation-agrees"].finding.status == "does not hold"
    assert checks["risk-recovered"].finding.status == "does not hold"


def test_users_that_differ_a_little_are_noticed() -> None:
    evidence = make_evidence()
    others = make_evidence(PositionModel(PowerLaw(0.93), 1.0, 0.1))
    check = PROOFS["simulation-agrees"].check(replace(evidence, log=others.log))
    assert check.finding.status == "does not hold"
    error = float(dict(check.finding.details)["standard error"])
    assert check.finding.tolerance < 5.7 * error
    assert PROOFS["simulation-agrees"].check(evidence).finding.status == "holds"


def test_a_wrong_true_risk_is_noticed() -> None:
    evidence = make_evidence()
    checks = by_name(replace(evidence, true_risk=evidence.true_risk[::-1].copy()))
    assert {"corpus-affine-law", "order-preserved"} <= {
        name for name, check in checks.items() if check.finding.status == "does not hold"
    }


def test_an_unfinished_fit_is_noticed() -> None:
    assert (
        by_name(replace(make_evidence(), gap=0.02))["duality-gap"].finding.status == "does not hold"
    )


def test_a_rank_nobody_reaches_is_noticed() -> None:
    users = PositionModel(Cutoff(PowerLaw(1.0), 5), 1.0, 0.1)
    evidence = make_evidence(users)
    assert PROOFS["positivity"].check(evidence).finding.status == "does not hold"
    assert (
        PROOFS["ips-unbiased"].check(replace(evidence, assumed_curve=users.curve)).finding.holds
        is False
    )


def test_checks_become_plain_values() -> None:
    for check in run_checks(make_evidence()):
        content = check.as_dict()
        assert content["holds"] == check.finding.holds
        assert content["sentence"].endswith(".")
        assert "nan" not in content["sentence"]
        assert content["statement"].endswith(".")


def test_every_proof_says_what_it_assumes_and_what_makes_it_fail() -> None:
    for proof in PROOFS.values():
        assert proof.fails_when.endswith(".")
        if proof.fails_when.endswith("cannot happen."):
            assert not (isinstance(proof, Derivation) and proof.breaks)
    for derivation in DERIVATIONS.values():
        assert set(derivation.breaks) <= set(BREAKS)


def test_all_checks_of_a_world_take_little_time() -> None:
    """A slider is answered with them; the best of three, for the machine may be busy."""
    evidence = make_evidence()
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        for name in (*DERIVATIONS, "small-simulation", "errors-fall", "one-slack-solver"):
            PROOFS[name].check(evidence)
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.5
