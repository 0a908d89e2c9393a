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
    """A started app: its address, the process started, and those whose memory counts."""

    address: str
    process: subprocess.Popen[bytes]
    counted: tuple[int, ...]

    @property
    def pid(self) -> int:
        """The number of the process that was started."""
        return self.process.pid

    @property
    def port(self) -> int:
        """The port of the address."""
        return int(self.address.rpartition(":")[2])

    def lives(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def memory(self) -> float:
        """Resident memory in MB (10^6 bytes); NaN where the system does not tell (not Linux)."""
        return sum(_resident(pid) for pid in self.counted)


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.is_file():
        return float("nan")
    lines = status.read_text(encoding="ascii").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(kilobytes) * 1024 / 1e6


def _children(pid: int) -> tuple[int, ...]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return tuple(map(int, listed.read_text().split())) if listed.is_file() else (pid,)


@contextmanager
def running_server(*options: str, after: tuple[str, ...] = ()) -> Iterator[Running]:
    """A freshly started app. ``options`` are Streamlit's; ``after`` is what follows ``--``."""
    port = _free_port()
    command = [
        sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true", *options, "--", *after,
    ]  # fmt: skip
    with _started(command, port) as process:
        yield Running(_address(port), process, (process.pid,))


@contextmanager
def running_class(servers: int, *options: str, after: tuple[str, ...] = ()) -> Iterator[Running]:
    """Freshly started servers at one address, by ``serve_class.py``; the rest as above."""
    port = _free_port()
    command = [
        sys.executable, "scripts/serve_class.py", "--servers", str(servers), "--port", str(port),
        "--address", "127.0.0.1", *options, "--", *after,
    ]  # fmt: skip
    with _started(command, port) as process:
        yield Running(_address(port), process, _children(process.pid))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _address(port: int) -> str:
    return f"http://127.0.0.1:{port}"


@contextmanager
def _started(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_healthy(_address(port), process)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def server(*options: str, after: tuple[str, ...] = ()) -> Iterator[str]:
    """As :func:`running_server`, giving the address alone."""
    with running_server(*options, after=after) as running:
        yield running.address


def _wait_until_healthy(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1_800):
        if process.poll() is not None:
            raise SystemExit(f"The app ended with code {process.returncode} instead of starting.")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The app did not start within three minutes.")
