"""Start the app on a free port of this machine, for tests, screenshots and measurements."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent

_ENDING = 20.0  # seconds that a server has to end before it is killed
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


@dataclass(frozen=True)
class Running:
    """A started app: its address, the process started, and the processes whose memory counts."""

    address: str
    process: subprocess.Popen[bytes]
    counted: tuple[int, ...]

    @property
    def pid(self) -> int:
        """The id of the process that was started."""
        return self.process.pid

    @property
    def port(self) -> int:
        """The port of the address."""
        return urlsplit(self.address).port or 80

    def lives(self) -> bool:
        """Whether the process is still running."""
        return self.process.poll() is None

    def memory(self) -> float:
        """Resident memory in MB (10^6 bytes); NaN if the system does not report it (not Linux)."""
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


def start_server(
    *options: str,
    after: tuple[str, ...] = (),
    port: int | None = None,
    host: str = "127.0.0.1",
    script: str = "app.py",
) -> Running:
    """Start the app without waiting until it answers; the caller ends it (see `end`).

    ``options`` are Streamlit's; ``after`` is what follows ``--``; without ``port``, any free port
    is used; ``script`` names another app.
    """
    port = free_port() if port is None else port
    command = [
        sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port),
        "--server.address", host, "--server.headless", "true", *options, "--", *after,
    ]  # fmt: skip
    return start_process(command, address_at(port, options, host))


@contextmanager
def running_server(
    *options: str, after: tuple[str, ...] = (), script: str = "app.py"
) -> Iterator[Running]:
    """A freshly started app that answers, ended afterwards; see `start_server`."""
    with _awaited(start_server(*options, after=after, script=script)) as running:
        yield running


@contextmanager
def running_class(servers: int, *options: str, after: tuple[str, ...] = ()) -> Iterator[Running]:
    """Servers freshly started at one address by ``serve_class.py``; otherwise as above."""
    port = free_port()
    command = [
        sys.executable, "scripts/serve_class.py", "--servers", str(servers), "--port", str(port),
        "--address", "127.0.0.1", *options, "--", *after,
    ]  # fmt: skip
    started = start_process(command, address_at(port, options), told=signal.SIGTERM)
    with _awaited(started) as running:
        yield replace(running, counted=_children(running.pid))


def free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def option(options: Sequence[str], name: str) -> str | None:
    """The value of a Streamlit option, written ``--name value`` or ``--name=value``."""
    words = [word for option in options for word in option.split("=", 1)]
    return next((value for key, value in reversed(list(pairwise(words))) if key == name), None)


def address_at(port: int, options: Sequence[str], host: str = "127.0.0.1") -> str:
    """The address, from this machine, of a server with these options that listens at ``host``."""
    path = (option(options, "--server.baseUrlPath") or "").strip("/")
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}" + (f"/{path}" if path else "")


def start_process(
    command: Sequence[str],
    address: str,
    told: signal.Signals = _KILL,
    pass_fds: Sequence[int] = (),
    written: str | None = None,
) -> Running:
    """Start a program that will answer at ``address`` and can read ``written`` as its input.

    It gets the signal ``told`` when this process ends, however it ends (Linux).
    """
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=None if written is None else subprocess.PIPE, pass_fds=pass_fds,
        preexec_fn=_PRCTL and partial(_end_with, os.getpid(), told),
    )  # fmt: skip
    if process.stdin is not None and written is not None:
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(written.encode())
    return Running(address, process, (process.pid,))


def _end_with(parent: int, told: int) -> None:
    """In a new process, before its program runs: make it end when its parent does."""
    assert _PRCTL is not None
    _PRCTL(_PR_SET_PDEATHSIG, told)
    if os.getppid() != parent:  # it has ended meanwhile
        os._exit(1)


@contextmanager
def _awaited(running: Running) -> Iterator[Running]:
    try:
        wait_until_healthy(running)
        yield running
    finally:
        end([running], 2 * _ENDING)


def end(servers: Sequence[Running], patience: float = _ENDING) -> None:
    """Tell all to end, then wait for each; after ``patience`` seconds those left are killed."""
    for running in servers:
        running.process.terminate()
    last = time.monotonic() + patience
    for running in servers:
        try:
            running.process.wait(max(0.0, last - time.monotonic()))
        except subprocess.TimeoutExpired:
            running.process.kill()
            running.process.wait()


@contextmanager
def server(*options: str, after: tuple[str, ...] = ()) -> Iterator[str]:
    """As :func:`running_server`, but yields only the address."""
    with running_server(*options, after=after) as running:
        yield running.address


def wait_until_healthy(running: Running, unless: Callable[[], bool] = lambda: False) -> None:
    """Wait until a server answers, or ``unless`` is true; raises SystemExit if it never does."""
    health = f"{running.address}/_stcore/health"
    for _ in range(1_800):
        if unless():
            return
        if not running.lives():
            code = running.process.returncode
            raise SystemExit(f"The app ended with code {code} instead of starting.")
        try:
            with urllib.request.urlopen(health, timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The app did not start within three minutes.")
