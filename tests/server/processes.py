"""What tests of several servers ask of processes and ports of this machine."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path

from tests.server.in_time import LIMIT


def waited(true: Callable[[], bool], seconds: float = LIMIT) -> bool:
    last = time.monotonic() + seconds
    while not true() and time.monotonic() < last:
        time.sleep(0.05)
    return true()


def is_there(pid: int) -> bool:
    """Whether a process runs; the dead whom nobody has looked after do not."""
    with suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    return []


def descendants(pid: int) -> list[int]:
    return [one for child in children(pid) for one in (child, *descendants(child))]


def ask(port: int, path: str = "/", **headers: str) -> tuple[int, HTTPMessage, bytes]:
    """Status, head and body of an answer, on a connection of its own."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def answers(port: int) -> bool:
    with suppress(OSError):
        return ask(port)[0] == 200
    return False


@contextmanager
def many_files() -> Iterator[None]:
    """Let this process open as many files as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
