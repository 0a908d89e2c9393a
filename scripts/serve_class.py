"""The app for a large class: several servers at one address.

``python scripts/serve_class.py --servers 2`` starts two servers, each with a training process of
its own, and passes every visitor to one of them, always the same. One server computes on one core
only; two on two cores carry a hundred visitors. Visitors are let in once every server has shown the
first page to a visitor of its own. What follows ``--`` goes to the app, as with ``streamlit run
app.py --``; further options, such as ``--server.baseUrlPath ltr``, to Streamlit.

It ends, and with it all servers, when it is interrupted or terminated or its terminal is closed
(which ``nohup`` prevents), and with code 1 when one of the servers ends.
"""

from __future__ import annotations

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing runs yet that would have to be ended

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.serving import Running, end, start_server, wait_until_healthy
from scripts.sticky import Sticky
from scripts.visitor import Visitor

_LOOKS = 0.1  # seconds between two looks whether to end
_WARMED = 60.0  # seconds after which visitors are let in, whatever is not ready
MOST_SERVERS = 64


def read_arguments(
    arguments: Sequence[str],
) -> tuple[argparse.Namespace, tuple[str, ...], tuple[str, ...]]:
    """Own options, those of Streamlit and those of the app."""
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--servers", type=int, default=min(MOST_SERVERS, os.cpu_count() or 1),
        help="how many; by default as many as this machine has cores",
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
    """Whether a signal has asked for the end: by Ctrl-C, by termination, by a closed terminal."""

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
        """Let nothing disturb the end."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)


async def serve(servers: Sequence[Running], address: str, port: int, signals: Signals) -> None:
    """Pass visitors on until a signal comes or a server has ended."""

    def goes_on() -> bool:
        return not signals.told and all(running.lives() for running in servers)

    # Whatever goes wrong there, visitors see for themselves.
    warming = asyncio.gather(*(_warm(running) for running in servers), return_exceptions=True)
    while goes_on() and not warming.done():
        await asyncio.wait([warming], timeout=_LOOKS)
    if not goes_on():
        warming.cancel()
        with suppress(asyncio.CancelledError):
            await warming
        return
    listening = await Sticky([running.port for running in servers]).serve(address, port)
    shown = listening.sockets[0].getsockname()
    print(f"{len(servers)} servers at http://{shown[0]}:{shown[1]}", flush=True)
    while goes_on():
        await asyncio.sleep(_LOOKS)
    listening.close()


async def _warm(running: Running) -> None:
    """Let a server build its world before anybody waits for it."""
    visitor = Visitor(running.address, "lab")
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_WARMED):
            await visitor.open()
            await visitor.settled()
    await visitor.close()


def main() -> int:
    """Start, serve, end."""
    own, options, after = read_arguments(sys.argv[1:])
    signals = Signals()
    servers: list[Running] = []
    try:
        while len(servers) < own.servers and not signals.told:
            servers.append(start_server(*options, after=after))
            wait_until_healthy(servers[-1], unless=lambda: signals.told)
        if not signals.told:
            asyncio.run(serve(servers, own.address, own.port, signals))
    except OSError as error:
        print(f"Port {own.port} of {own.address} cannot be used: {error}.", file=sys.stderr)
        return 1
    finally:
        signals.ignore()
        end(servers)
    if not signals.told:
        print("One of the servers has ended, so all were stopped.", file=sys.stderr)
    return 0 if signals.told else 1


if __name__ == "__main__":
    sys.exit(main())
