"""The app for a large class: several servers at one address.

``python scripts/serve_class.py --servers 2`` starts two servers, each with a training process of
its own, and passes every visitor to one of them, always the same. One server computes on one core
only; two on two cores carry a hundred visitors. Visitors are let in once every server has shown the
first page to a visitor of its own. What follows ``--`` goes to the app, as with ``streamlit run
app.py --``; further options, such as ``--server.baseUrlPath ltr``, to Streamlit.

It ends, and with it all servers, when it is interrupted or terminated, and with code 1 when one of
the servers ends.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.serving import Running, running_server
from scripts.sticky import Sticky
from scripts.visitor import Visitor

_LOOKS = 1.0  # seconds between two looks whether all servers run
_WARMED = 60.0  # seconds after which visitors are let in, whatever is not ready
_MOST = 64


def read_arguments(
    arguments: Sequence[str],
) -> tuple[argparse.Namespace, tuple[str, ...], tuple[str, ...]]:
    """Own options, those of Streamlit and those of the app."""
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--servers", type=int, default=min(_MOST, os.cpu_count() or 1),
        help="how many; by default as many as this machine has cores",
    )  # fmt: skip
    parser.add_argument("--address", default="0.0.0.0", help="where to listen")
    parser.add_argument("--port", type=int, default=8501)
    own, options = parser.parse_known_args(list(arguments[:split]))
    if not 1 <= own.servers <= _MOST:
        parser.error(f"--servers is {own.servers}; it must be from 1 to {_MOST}.")
    if not 0 <= own.port <= 65535:
        parser.error(f"--port is {own.port}; it must be from 0 to 65,535.")
    return own, tuple(options), tuple(arguments[split + 1 :])


async def serve(servers: Sequence[Running], address: str, port: int) -> bool:
    """Pass visitors on until a signal comes (True) or a server has ended (False)."""
    told = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, told.set)
    await asyncio.gather(*(_warm(running) for running in servers))
    listening = await Sticky([running.port for running in servers]).serve(address, port)
    shown = listening.sockets[0].getsockname()
    print(f"{len(servers)} servers at http://{shown[0]}:{shown[1]}", flush=True)
    while not told.is_set() and all(running.lives() for running in servers):
        try:
            async with asyncio.timeout(_LOOKS):
                await told.wait()
        except TimeoutError:
            continue
    listening.close()
    return told.is_set()


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
    with ExitStack() as stack:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # while the servers start
        servers = [
            stack.enter_context(running_server(*options, after=after)) for _ in range(own.servers)
        ]
        try:
            told = asyncio.run(serve(servers, own.address, own.port))
        except OSError as error:
            print(f"Port {own.port} of {own.address} cannot be used: {error}.", file=sys.stderr)
            return 1
    if not told:
        print("One of the servers has ended, so all were stopped.", file=sys.stderr)
    return 0 if told else 1


if __name__ == "__main__":
    sys.exit(main())
