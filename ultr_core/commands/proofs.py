"""``proofs``: check the paper's claims on a world."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from urllib.parse import parse_qsl

from ultr_core.commands.shared import (
    CHECK_FAILED,
    OK,
    add_corpus_option,
    add_curve_options,
    add_json_option,
    add_setting_options,
    print_json,
    print_notes,
    settings_from,
)
from ultr_core.errors import InputError, quoted
from ultr_core.lab import Lab, small_world, world_notices
from ultr_core.proofs import DERIVATIONS, Check, Line, Walk, Ways, draw_users
from ultr_core.proofs.small_world import DEFAULTS, NOBODY

USERS = 10_000  # simulated for a derivation


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_corpus_option(parser)
    add_json_option(parser)
    parser.add_argument(
        "--derivation",
        metavar="NAME",
        choices=list(DERIVATIONS),
        help=f"walk one derivation line by line on a small query: {', '.join(DERIVATIONS)}",
    )
    parser.add_argument(
        "--query",
        metavar="LINK",
        default="",
        help="the small query and what is broken, other than the default, for example "
        "'list=ABCD&relevant=BD&new=DBAC&other=ABCD&curve=1 1/2 1/3 1/4&broken=trust'",
    )
    add_setting_options(parser)
    add_curve_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run all checks and print them, or walk one derivation."""
    if options.derivation is not None:
        return _walk(options)
    if options.query:
        raise InputError("--query describes a small query; name what to walk with --derivation.")
    settings = settings_from(options)
    lab = Lab(settings, options.corpus)
    world = lab.world()
    notices = world_notices(world, settings)
    print_notes(notices)
    checks = lab.checks()
    passed = not any(check.finding.fails for check in checks)
    if options.json:
        print_json(
            {
                "settings": settings.as_dict(),
                "seed": settings.seed,
                "corpus": world.counts(),
                "checks": [check.as_dict() for check in checks],
                "passed": passed,
                "notices": list(notices),
            }
        )
    else:
        _print_table(checks)
    return OK if passed else CHECK_FAILED


def _walk(options: argparse.Namespace) -> int:
    """Print the lines of one derivation; the exit code says whether all of them hold."""
    settings = settings_from(options)
    world = small_world(settings, _query_texts(options.query))
    proof = DERIVATIONS[options.derivation]
    walk = proof.derive(Ways(world, draw_users(world, USERS, settings.seed)))
    if options.json:
        print_json(
            {
                "name": proof.name,
                "title": proof.title,
                "section": proof.section,
                "query": world.to_query(),
                "lines": [line.as_dict() for line in walk.lines],
                "notes": list(walk.notes),
                "holds": walk.holds,
            }
        )
    else:
        _print_walk(proof.title, walk)
    return OK if walk.holds else CHECK_FAILED


def _query_texts(query: str) -> dict[str, str]:
    """Keys and texts of ``--query``; raises InputError for what is no key, or is given twice."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise InputError(
            f"--query is {quoted(query)}; it must be key=text pairs joined by &, with the keys "
            f"{', '.join(DEFAULTS)}."
        ) from None
    texts: dict[str, str] = {}
    for key, text in pairs:
        if key not in DEFAULTS:
            raise InputError(
                f"--query has the key {quoted(key)}; the keys are {', '.join(DEFAULTS)}."
            )
        if key == "relevant":  # a page's link names the relevant documents one by one
            texts[key] = texts.get(key, "").replace(NOBODY, "") + text or NOBODY
        elif key in texts:
            raise InputError(f"--query gives {key} twice; once is enough.")
        else:
            texts[key] = text
    return texts


def _print_walk(title: str, walk: Walk) -> None:
    print(f"{title}.")
    for number, line in enumerate(walk.lines, start=1):
        print(f"{number:3} {line.relation or ' '} {_verdict(line):24} {line.words}")
        print(f"      {line.formula}")
        print(f"      {_values(line)}")
    for note in walk.notes:
        print(note)


def _verdict(line: Line) -> str:
    if not line.relation:
        return "starts"
    return "holds" if line.holds else f"fails by {line.error}"


def _values(line: Line) -> str:
    value = line.value
    texts = [] if value.enumerated is None else [f"enumerated {value.enumerated}"]
    texts.append(f"closed form {value.closed}{_decimal(value.closed)}")
    if value.estimate is not None:
        found = value.estimate
        texts.append(f"{USERS:,} users {found.value:.4g}, {found.low:.4g} to {found.high:.4g}")
    return "; ".join(texts)


def _decimal(value: Fraction) -> str:
    """What a fraction is in decimals, and whether exactly; nothing for a whole number."""
    if value.denominator == 1:
        return ""
    text = f"{float(value):.6g}"
    return f" {'=' if Fraction(text) == value else '≈'} {text}"


def _print_table(checks: Sequence[Check]) -> None:
    for check in checks:
        print(f"{check.finding.status:28} {check.name:26} section {check.proof.section}")
        print(f"    {check.proof.title}.")
        print(f"    {check.comparison}. {check.finding.sentence}")
        if not check.finding.holds:
            print(f"    Fails when {check.proof.fails_when}")
    failed = [check.name for check in checks if check.finding.fails]
    print()
    print(f"Failed: {', '.join(failed)}." if failed else "Every check that should hold holds.")
