"""The lab on the command line: the same work as the pages, without a screen."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from threadpoolctl import threadpool_limits

from ultr_core.corpus import load_directory
from ultr_core.errors import InputError
from ultr_core.experiments import (
    Comparison,
    World,
    build_world,
    compare,
    proof_checks,
    ranker_family,
)
from ultr_core.proofs import Check
from ultr_core.settings import PARAMETERS, Settings

OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are input errors like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done, and for ``proofs`` every check that should hold holds; 1: a check failed;
    2: something given cannot be used, said in one sentence on standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        # Greek letters must not break a terminal with another encoding.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        options = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], int] = options.command
        # One BLAS thread, as on the pages: the same sums, so the same numbers to the last digit.
        with threadpool_limits(limits=1):
            return command(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m ultr_core",
        description="Unbiased learning-to-rank with biased feedback, without a screen.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    _add_command(
        commands,
        "compare",
        _compare,
        "Simulate clicks, train every ranker and print its risk on the test queries.",
    )
    _add_command(
        commands,
        "proofs",
        _proofs,
        "Check the paper's claims on a world; exit code 0 if all that should hold do.",
    )
    return parser


def _add_command(
    commands: Any, name: str, command: Callable[[argparse.Namespace], int], summary: str
) -> None:
    parser = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    parser.set_defaults(command=command)
    parser.add_argument(
        "--corpus",
        metavar="DIR",
        help="directory with train.txt, vali.txt and test.txt in LETOR format, plain or gzip; "
        "without it the built-in synthetic corpus is used",
    )
    parser.add_argument("--json", action="store_true", help="print JSON on standard output")
    for parameter in PARAMETERS.values():
        text = f"{parameter.help} ({parameter.range_text}; default {parameter.default:,})"
        parser.add_argument(
            parameter.option, metavar="X", help=text.replace("%", "%%"), default=None
        )


def _settings(options: argparse.Namespace) -> Settings:
    given = {name: getattr(options, name) for name in PARAMETERS}
    settings, notices = Settings.from_options({k: v for k, v in given.items() if v is not None})
    for notice in notices:
        print(f"note: {notice}", file=sys.stderr)
    return settings


def _world(options: argparse.Namespace, settings: Settings) -> World:
    splits = None if options.corpus is None else load_directory(options.corpus)
    world = build_world(settings, splits)
    for notice in world.notices:
        print(f"note: {notice}", file=sys.stderr)
    return world


def _compare(options: argparse.Namespace) -> int:
    settings = _settings(options)
    comparison = compare(_world(options, settings), settings, progress=_progress())
    _print_json(comparison.as_dict()) if options.json else _print_comparison(comparison)
    return OK


def _proofs(options: argparse.Namespace) -> int:
    settings = _settings(options)
    world = _world(options, settings)
    checks = proof_checks(world, ranker_family(world), settings)
    passed = all(check.acceptable for check in checks)
    if options.json:
        _print_json(
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
        _print_checks(checks)
    return OK if passed else CHECK_FAILED


def _progress() -> Callable[[str], None] | None:
    if not sys.stderr.isatty():
        return None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _print_json(content: dict[str, Any]) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def _print_comparison(comparison: Comparison) -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    corpus = comparison.corpus
    print(
        f"{corpus['name']}: {corpus['train']['queries']:,} training, "
        f"{corpus['validation']['queries']:,} validation and {corpus['test']['queries']:,} test "
        f"queries; {comparison.clicks:,} training clicks from {comparison.query_draws:,} query "
        f"draws; {comparison.draws} click logs."
    )
    print()
    print(f"{'ranker':28}{'test risk':>10}  {'95 % interval':18}{'mean rank':>10}")
    for summary in comparison.rankers.values():
        risk = summary.risk
        interval = f"{risk.low:.3f} to {risk.high:.3f}" if risk.n > 1 else "no clicks involved"
        print(f"{summary.label:28}{risk.value:10.3f}  {interval:18}{summary.mean_rank.value:10.3f}")
    print()
    print("Test risk: mean over all test queries of the summed ranks of relevant documents.")
    print(comparison.sentence)


def _print_checks(checks: Sequence[Check]) -> None:
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
