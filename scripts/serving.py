"""Start the app on a free port of this machine, for tests, pictures and measurements."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Running:
    """A started app: its address and the number of its process."""

    address: str
    pid: int

    def memory(self) -> float:
        """Resident memory in MB (10^6 bytes); NaN where the system does not tell (not Linux)."""
        status = Path(f"/proc/{self.pid}/status")
        if not status.is_file():
            return float("nan")
        lines = status.read_text(encoding="ascii").splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
        return int(kilobytes) * 1024 / 1e6


@contextmanager
def running_server(*options: str, after: tuple[str, ...] = ()) -> Iterator[Running]:
    """A freshly started app. ``options`` are Streamlit's; ``after`` is what follows ``--``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true", *options, "--", *after,
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process)
        yield Running(address, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def server(*options: str, after: tuple[str, ...] = ()) -> Iterator[str]:
    """As :func:`running_server`, giving the address alone."""
    with running_server(*options, after=after) as running:
        yield running.address


def _wait_until_healthy(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit(f"The app ended with code {process.returncode} instead of starting.")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The app did not start within a minute.")
