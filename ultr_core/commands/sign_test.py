"""``sign-test``: wins against losses of an interleaving experiment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ultr_core.commands.shared import OK, add_json_option, print_json
from ultr_core.fields import Number

if TYPE_CHECKING:
    from ultr_core.risk.sign_test import SignTest

MOST = 10**9  # comparisons


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("wins", metavar="WINS", help="comparisons that the first ranker won")
    parser.add_argument("losses", metavar="LOSSES", help="comparisons that it lost")
    parser.add_argument(
        "ties", metavar="TIES", nargs="?", default="0", help="comparisons without a winner"
    )
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Test and print."""
    from ultr_core.risk.sign_test import comparisons_needed, sign_test

    test = sign_test(
        *(
            Number(name, name.upper(), 0, MOST).checked(getattr(options, name))
            for name in ("wins", "losses", "ties")
        )
    )
    needed = comparisons_needed(test.win_share)
    if options.json:
        print_json({**as_dict(test), "comparisons_needed": needed})
        return OK
    print(test.sentence)
    print(f"Relative risk {test.relative_risk:.3f} compared to equally many wins and losses.")
    print(
        f"Power at this win share {test.power:.0%}; a power of 80% takes "
        + ("more comparisons than can be run." if needed is None else f"{needed:,} decided ones.")
    )
    return OK


def as_dict(test: SignTest) -> dict[str, object]:
    """The test as plain values."""
    return {
        "wins": test.wins,
        "losses": test.losses,
        "ties": test.ties,
        "p_value": test.p_value,
        "relative_risk": test.relative_risk,
        "win_share": {"value": test.win_share, "low": test.low, "high": test.high},
        "power": test.power,
        "significant": test.significant,
        "sentence": test.sentence,
    }
