"""The app for a large class: several servers at one address.

``python scripts/serve_class.py --servers 2`` starts two servers, each with its share of the cores
for training, and HAProxy, which always sends a visitor to the same server and limits what one
address may request (``scripts/proxy.py``). Each server uses one core; two servers on two cores can
serve a hundred visitors. Visitors are let in once every server has shown its first page. Without
HAProxy one server is started. Options after ``--`` are passed to the app, as with ``streamlit run
app.py --``; further options, such as ``--server.baseUrlPath ltr``, are passed to Streamlit.

A server that stops is restarted; meanwhile its visitors use the other servers and keep their
settings. If a server stops four times within ten minutes, everything is stopped with code 1. If the
script is interrupted or terminated, or its terminal is closed (which ``nohup`` prevents), it ends
with code 0. Everything it started stops with it, on Linux even if it is killed.
"""

from __future__ import annotations

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing runs yet that would have to be ended

import argparse
import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from websockets.exceptions import WebSocketException

from pages.app.resources import PROCESSES, usable_cores
from scripts import proxy
from scripts.serving import Running, end, free_port, start_server, wait_until_healthy
from scripts.visitor import Visitor

_LOOKS = 0.1  # seconds between two looks whether something has ended
_WARMED = 60.0  # seconds after which visitors are let in, whatever is not ready
MOST_SERVERS = 64
RESTARTS = 3
WITHIN = 600.0
"""A server is restarted at most ``RESTARTS`` times within ``WITHIN`` seconds."""

ALONE = (
    "HAProxy is not installed, so one server is started. It can serve about 30 visitors at once. "
    "For more, install HAProxy (Debian and Ubuntu: apt-get install haproxy) and start this again "
    "with --servers 2, or more if there are more than two cores."
)


def read_arguments(
    arguments: Sequence[str],
) -> tuple[argparse.Namespace, tuple[str, ...], tuple[str, ...]]:
    """This script's options, Streamlit's, and the app's."""
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--servers", type=int, default=min(MOST_SERVERS, os.cpu_count() or 1),
        help="number of servers; by default one per core of this machine",
    )  # fmt: skip
    parser.add_argument("--address", default="0.0.0.0", help="where to listen")
    parser.add_argument("--port", type=int, default=8501)
    own, options = parser.parse_known_args(list(arguments[:split]))
    if not 1 <= own.servers <= MOST_SERVERS:
        parser.error(f"--servers is {own.servers}; it must be from 1 to {MOST_SERVERS}.")
    if not 0 <= own.port <= 65535:
        parser.error(f"--port is {own.port}; it must be from 0 to 65,535.")
    return own, tuple(options), tuple(arguments[split + 1 :])


class Signals:
    """Whether a signal (Ctrl-C, termination, a closed terminal) has asked this process to end."""

    def __init__(self) -> None:
        self.told = False
        numbers = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
        self._numbers = [number for number in numbers if number is not None]
        for number in self._numbers:
            # What nohup has ignored stays so.
            if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._tell)

    def _tell(self, number: int, frame: FrameType | None) -> None:
        self.told = True

    def ignore(self) -> None:
        """Ignore further signals while everything is stopped."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)


class Kept:
    """A program that is restarted when it ends; ``shows_pages`` unless it is HAProxy."""

    def __init__(self, name: str, start: Callable[[], Running], shows_pages: bool = True) -> None:
        self.name = name
        self.shows_pages = shows_pages
        self.running = start()
        self._start = start
        self._restarted: deque[float] = deque()

    def start_again(self) -> bool:
        """Restart it; False if that has happened too often recently."""
        now = time.monotonic()
        while self._restarted and self._restarted[0] < now - WITHIN:
            self._restarted.popleft()
        if len(self._restarted) >= RESTARTS:
            return False
        self._restarted.append(now)
        self.running = self._start()
        return True

    def how_it_ended(self) -> str:
        """In words: "Server 1 ended (by signal 9)"."""
        code = self.running.process.returncode
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return f"{self.name} ended ({how})"


async def keep(kept: Sequence[Kept], signals: Signals) -> str:
    """Restart programs that end until a signal arrives; return why restarting stopped, or ""."""
    warming: set[asyncio.Task[None]] = set()
    try:
        while not signals.told:
            for one in kept:
                if one.running.lives():
                    continue
                ended = one.how_it_ended()
                if not one.start_again():
                    often = f"{RESTARTS + 1} times within {WITHIN / 60:g} minutes"
                    return f"{ended}, {often}, so all servers were stopped."
                print(f"{ended} and was restarted.", file=sys.stderr, flush=True)
                if one.shows_pages:
                    task = asyncio.create_task(_warm(one.running))
                    warming.add(task)
                    task.add_done_callback(warming.discard)
            await asyncio.sleep(_LOOKS)
        return ""
    finally:
        await _stop(*warming)


async def warm(servers: Sequence[Kept], signals: Signals) -> None:
    """Let all servers build their worlds before any visitor waits for them."""
    tasks = [asyncio.create_task(_warm(one.running)) for one in servers]
    while not signals.told and not all(task.done() for task in tasks):
        await asyncio.wait(tasks, timeout=_LOOKS)
    await _stop(*tasks)


async def _stop(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _warm(running: Running) -> None:
    """Open the first page as a visitor, as soon as the server answers."""
    visitor = Visitor(running.address, "lab")
    with suppress(TimeoutError, WebSocketException):
        async with asyncio.timeout(_WARMED):
            while running.lives():
                with suppress(OSError):
                    await visitor.open()
                    await visitor.settled()
                    break
                await asyncio.sleep(_LOOKS)
    await visitor.close()


def start(
    own: argparse.Namespace, options: Sequence[str], after: tuple[str, ...], signals: Signals,
    owned: ExitStack,
) -> list[Kept]:  # fmt: skip
    """Start servers and, if it is installed, HAProxy; all end with ``owned``."""
    kept: list[Kept] = []
    owned.callback(lambda: end([one.running for one in kept]))
    program = proxy.find()
    try:
        door = proxy.listen(own.address, own.port)
    except OSError as error:
        raise SystemExit(f"Port {own.port} of {own.address} cannot be used: {error}.") from None
    address, port = door.getsockname()[:2]
    if program is None:
        print(ALONE, file=sys.stderr, flush=True)
        door.close()
    owned.push(door)
    # The cores are shared out, unless somebody has chosen.
    each = max(1, usable_cores() // (own.servers if program else 1))
    os.environ.setdefault(PROCESSES, str(each))
    ports: list[int] = []
    for number in range(1, 1 + (own.servers if program else 1)):
        if signals.told:
            return kept
        ports.append(free_port() if program else port)
        host = "127.0.0.1" if program else own.address
        begin = partial(start_server, *options, after=after, port=ports[-1], host=host)
        kept.append(Kept(f"Server {number}", begin))
        wait_until_healthy(kept[-1].running, unless=lambda: signals.told)
    asyncio.run(warm(kept, signals))
    if program is not None and not signals.told:
        kept.append(Kept("HAProxy", partial(proxy.start, program, ports, door, options), False))
        wait_until_healthy(kept[-1].running, unless=lambda: signals.told)
    if not signals.told:
        servers = "1 server" if len(ports) == 1 else f"{len(ports)} servers"
        print(f"{servers} at http://{address}:{port}", flush=True)
    return kept


def main() -> int:
    """Start, serve, end."""
    own, options, after = read_arguments(sys.argv[1:])
    signals = Signals()
    with ExitStack() as owned:
        try:
            kept = start(own, options, after, signals, owned)
            why = asyncio.run(keep(kept, signals))
        finally:
            signals.ignore()
    if why:
        print(why, file=sys.stderr)
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main())
