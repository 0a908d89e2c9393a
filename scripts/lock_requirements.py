"""Write the exact versions of an environment that passes to ``requirements-lock.txt``.

    python scripts/lock_requirements.py                 # in an environment of requirements-dev.txt
    python scripts/lock_requirements.py --out FILE

Only installed packages are examined: those that ``requirements-dev.txt`` names, their dependencies,
and so on. Other packages in the environment are left out.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements-dev.txt"
LOCK = ROOT / "requirements-lock.txt"


def requirements(path: Path) -> Iterator[Requirement]:
    """The requirements in a file and in the files that it includes."""
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            yield from requirements(path.parent / text.removeprefix("-r ").strip())
        elif text:
            yield Requirement(text)


def locked(wanted: Iterator[Requirement]) -> dict[str, str]:
    """Name and version of every package needed, sorted; raises LookupError if one is missing.

    Names are normalised, and markers are those of this machine.
    """
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = list(wanted)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        installed = _installed(name)
        found[name] = installed.version
        if not requirement.specifier.contains(installed.version, prereleases=True):
            raise LookupError(f"{name} is installed as {installed.version}, not {requirement}")
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            for text in installed.requires or ():
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    waiting.append(needed)
    return dict(sorted(found.items()))


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise LookupError(f"{name} is not installed") from None


def lock_text(versions: dict[str, str]) -> str:
    """The file: where the versions come from, then one line for each package."""
    return (
        f"# Exact versions with which all checks passed, under Python {platform.python_version()} "
        f"on {platform.system()}.\n"
        "# Made by scripts/lock_requirements.py in an environment of requirements-dev.txt.\n"
        + "".join(f"{name}=={version}\n" for name, version in versions.items())
    )


def main() -> int:
    """Write the file; return 1 if the environment lacks a required package."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=LOCK, help="default requirements-lock.txt")
    out: Path = parser.parse_args().out
    try:
        versions = locked(requirements(REQUIREMENTS))
    except LookupError as error:
        print(f"{error}; install {REQUIREMENTS.name} first.", file=sys.stderr)
        return 1
    out.write_text(lock_text(versions), encoding="utf-8")
    print(f"{len(versions)} versions written to {out}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
