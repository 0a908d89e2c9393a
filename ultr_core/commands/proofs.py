"""``proofs``: check the paper's claims on a world."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ultr_core.commands.shared import (
    CHECK_FAILED,
    OK,
    add_corpus_option,
    add_json_option,
    add_setting_options,
    print_json,
    print_notes,
    settings_from,
    splits_from,
)
from ultr_core.experiments import build_world, proof_checks, ranker_family
from ultr_core.proofs import Check

NAME = "proofs"
SUMMARY = "Check the paper's claims on a world; exit code 0 if all that should hold do."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_corpus_option(parser)
    add_json_option(parser)
    add_setting_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run all checks and print them."""
    settings = settings_from(options)
    world = build_world(settings, splits_from(options))
    print_notes(world.notices)
    checks = proof_checks(world, ranker_family(world), settings)
    passed = all(check.acceptable for check in checks)
    if options.json:
        print_json(
            {
                "settings": settings.as_dict(),
                "seed": settings.seed,
                "corpus": world.counts(),
                "checks": [check.as_dict() for check in checks],
                "passed": passed,
                "notices": list(world.notices),
            }
        )
    else:
        _print_table(checks)
    return OK if passed else CHECK_FAILED


def _print_table(checks: Sequence[Check]) -> None:
    for check in checks:
        found = check.finding
        print(f"{check.status:28} {check.name:26} section {check.proof.section}")
        print(f"    {check.proof.title}.")
        print(
            f"    measured {found.measured:.6g} {found.relation} {found.expected:.6g}, "
            f"tolerance {found.tolerance:.3g}. {found.sentence}"
        )
    failed = [check.name for check in checks if not check.acceptable]
    print()
    print(f"Failed: {', '.join(failed)}." if failed else "Every check that should hold holds.")
