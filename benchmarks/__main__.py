"""Command line of the benchmarks: ``python -m benchmarks [parts] [--rounds N] [--write]``."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

from benchmarks.parts import HEAD, PARTS, yahoo_here

RESULTS = Path(__file__).with_name("results.md")
PEERS = ("scikit-learn", "lightgbm", "xgboost-cpu", "cvxpy", "clarabel")
PACKAGES = ("numpy", "scipy", *PEERS)


def main() -> None:
    """Run the requested parts and print or write their table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"any of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=3, help="rounds per comparison")
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"write the table to {RESULTS.name}; that of some parts into a section of its own",
    )
    given = parser.parse_args()
    unknown = set(given.parts) - {*PARTS, "yahoo-here"}
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    lines = [*_machine(), "", HEAD, "|---|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for name in given.parts or PARTS:
        try:
            for line in (yahoo_here if name == "yahoo-here" else PARTS[name])(given.rounds):
                print(line, flush=True)
                lines.append(line)
        except ModuleNotFoundError as error:
            parser.error(f"{name} needs {error.name}; install requirements/benchmarks.txt")
        except KeyboardInterrupt:
            lines += ["", f"The run was stopped before `{name}` was complete."]
            break
    if given.write:
        lines += ["", f"At the end the load was {os.getloadavg()[0]:.1f}."]
        size = os.environ.get("ULTR_LEARNER_CLICKS")
        words = (
            f"ULTR_LEARNER_CLICKS={size}" if size else "",
            "python -m benchmarks",
            *given.parts,
        )
        title = " ".join(filter(None, words)) if given.parts else ""
        RESULTS.write_text(with_table(RESULTS.read_text(), title, lines))


def with_table(text: str, title: str, lines: list[str]) -> str:
    """The results with this table in place of that of the same command, or at the end.

    title: the command, for a section; "" for the table of all parts, which is before all sections.
    """
    whole, *sections = text.split("\n## ")
    table = "\n\n" + "\n".join(lines) + "\n"
    if not title:
        whole = "# Results of `python -m benchmarks`" + table
    others = [each for each in sections if not each.startswith(f"`{title}`")]
    own = [f"`{title}`{table}"] if title else []
    return "\n## ".join([whole, *others, *own])


def _machine() -> list[str]:
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} missing")
    return [
        f"{datetime.date.today()}, {_processor()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, one BLAS thread; Python {platform.python_version()}, "
        f"{', '.join(versions)}.",
        "",
        "CPU and wall seconds are medians. Ratios are of CPU medians in the same interleaved run.",
    ]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="ignore") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
