"""How often the gate of ``evaluate --gate`` errs, and what it lets through, in the default world.

    python -m scripts.gate_promise --logs 1000 --seed 1

Prints the rows of `ultr_core.claims.gate_runs` as lines of a Markdown table; what it measured is in
``docs/intervals.md``.
"""

from __future__ import annotations

import argparse

from ultr_core.claims.gate_runs import CELLS, default_world, gate_rows


def main() -> None:
    """Print lines of a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worlds = {eps: default_world(eps) for eps in dict.fromkeys(eps for eps, _ in CELLS)}
    for eps, clicks in CELLS:
        for row in gate_rows(worlds[eps], clicks, given.logs, given.seed):
            print(
                f"| ε₋ = {eps:g}, {clicks:,} | {row.name} | {row.truth} | {row.misses:.1%} "
                f"| {row.passed:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
