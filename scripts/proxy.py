"""HAProxy in front of the app's servers: each visitor stays on one server, within limits.

The servers share nothing, so all of a visitor's connections (page, websocket, uploads, files)
must go to one of them. HAProxy sets a cookie that names that server; when it is down, another takes
over and the cookie is set again. Requests reach a server only once their headers are complete.

Everything here is for HAProxy 2.6 or newer, as packaged by Debian and Ubuntu.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.serving import ROOT, Running, address_at, option, start_process

COOKIE = "ultr_lab_server"
BY_ADDRESS = 700
"""Connections from one address, per server: 100 visitors behind one router, each with a
browser's 7 connections at most."""
LONG_BY_ADDRESS = 150
"""Websockets and uploads from one address, per server: an open tab has one websocket."""
BY_SERVER = 800
"""Requests at one server: more than one address may have, and fewer than the 1,024 files that
systems let a process open by default."""
ALL = 2_000
"""Connections in all, per server."""
MOST_SERVERS_COUNTED = 8
"""More servers do not raise the bounds further; 16,000 connections take half a GB at worst."""
HEAD_SECONDS = 10
"""Deadline for the headers of a request, and again for the first 16 kB of its body."""

_OUTSIDE_PATH = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin")
_FORM = 1 << 20  # bytes around an uploaded file
_SPARE_FILES = 200


@dataclass(frozen=True)
class Bounds:
    """How many connections one address, and all addresses, may have open, and the longest body."""

    connections: int
    by_address: int
    long_by_address: int
    body: int


def find() -> str | None:
    """Path of the program, even where Debian puts it outside a user's PATH; None if not found."""
    return shutil.which("haproxy") or shutil.which("haproxy", path=os.pathsep.join(_OUTSIDE_PATH))


def bounds(servers: int, options: Sequence[str], files: int | None = None) -> Bounds:
    """Bounds for this many servers with these Streamlit options.

    A connection needs two files. ``files`` is how many a process may open; by default, the system's
    limit.
    """
    import resource  # which Windows has not

    if files is None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    scale = float(min(servers, MOST_SERVERS_COUNTED))
    if files != resource.RLIM_INFINITY:
        scale = max(0.0, min(scale, (files - _SPARE_FILES) / 2 / ALL))
    connections, by_address, long = (
        max(2, int(scale * number)) for number in (ALL, BY_ADDRESS, LONG_BY_ADDRESS)
    )
    return Bounds(connections, by_address, long, _largest_body(options))


def _largest_body(options: Sequence[str]) -> int:
    """Bytes of the largest upload, as Streamlit reads it: options, environment, file."""
    said = option(options, "--server.maxUploadSize") or os.environ.get(
        "STREAMLIT_SERVER_MAX_UPLOAD_SIZE"
    )
    if said is None:
        settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
        said = settings["server"]["maxUploadSize"]
    return int(said) * (1 << 20) + _FORM


def configuration(
    ports: Sequence[int], bind: str, options: Sequence[str], files: int | None = None
) -> str:
    """The configuration with which HAProxy passes visitors at ``bind`` on to servers at ``ports``.

    The other arguments are as for :func:`bounds`.
    """
    most = bounds(len(ports), options, files)
    health = address_at(0, options).partition(":0")[2] + "/_stcore/health"
    servers = "\n".join(
        f"    server {number} 127.0.0.1:{port} cookie {number}"
        for number, port in enumerate(ports, 1)
    )
    return f"""\
global
    maxconn {most.connections}
    nbthread 1

defaults
    mode http
    timeout http-request {HEAD_SECONDS}s
    timeout http-keep-alive 15s
    timeout client 60s
    timeout client-fin 10s
    timeout connect 5s
    timeout server 60s
    timeout queue 30s
    timeout tunnel 1h
    timeout check 10s
    option redispatch 1
    retries 3
    retry-on conn-failure empty-response

frontend visitors
    bind {bind}
    tcp-request connection track-sc0 src table connections
    tcp-request connection reject if {{ sc0_conn_cur gt {most.by_address} }}
    acl long hdr(Upgrade) -i websocket
    acl long method POST PUT PATCH
    http-request track-sc1 src table long_requests if long
    http-request deny deny_status 429 if long {{ sc1_conn_cur gt {most.long_by_address} }}
    http-request deny deny_status 413 if {{ req.hdr(Transfer-Encoding) -m found }}
    http-request deny deny_status 413 if {{ req.body_size gt {most.body} }}
    http-request wait-for-body time {HEAD_SECONDS}s
    http-request disable-l7-retry unless METH_GET
    default_backend lab

backend connections
    stick-table type ipv6 size 100k expire 1m store conn_cur

backend long_requests
    stick-table type ipv6 size 100k expire 1m store conn_cur

backend lab
    balance leastconn
    cookie {COOKIE} insert indirect nocache httponly attr SameSite=Lax
    option httpchk
    http-check send meth GET uri {health} ver HTTP/1.1 hdr Host localhost
    http-check expect status 200
    default-server check inter 2s fastinter 500ms downinter 1s fall 3 rise 2
    default-server maxconn {BY_SERVER} on-marked-down shutdown-sessions
{servers}
"""


def listen(address: str, port: int) -> socket.socket:
    """A socket on which HAProxy accepts visitors; port 0 is any free port. May raise OSError.

    It outlives an HAProxy process that ends, so that visitors wait and are not turned away.
    """
    family, _, _, _, place = socket.getaddrinfo(
        address or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server(place[:2], family=family, backlog=1024)


def start(
    program: str, ports: Sequence[int], door: socket.socket, options: Sequence[str]
) -> Running:
    """Start HAProxy between ``door`` and the servers; SystemExit with its message if it fails.

    It reads its configuration from a pipe, so no file is left behind however this process ends.
    """
    passed = (door.fileno(),)
    written = configuration(ports, f"fd@{door.fileno()}", options)
    check = subprocess.run(
        [program, "-c", "-q", "-f", "/dev/stdin"],
        input=written, pass_fds=passed, capture_output=True, text=True,
    )  # fmt: skip
    if check.returncode:
        raise SystemExit(f"HAProxy does not accept its configuration: {check.stderr.strip()}")
    address, port = door.getsockname()[:2]
    return start_process(
        [program, "-db", "-q", "-f", "/dev/stdin"], address_at(port, options, address),
        pass_fds=passed, written=written,
    )  # fmt: skip
