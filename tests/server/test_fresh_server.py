"""The real server over its agent interface, without a browser."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from scripts.screenshots import server
from scripts.serving import running_server
from scripts.visitor import Visitor
from tests.server.in_time import finished
from ultr_core.lab import Lab
from ultr_core.settings import Settings


def ask(address: str, **request: Any) -> dict[str, Any]:
    body = json.dumps(request).encode()
    call = urllib.request.Request(
        f"{address}/_stcore/agent/interact", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(call, timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def link(settings: Settings) -> dict[str, list[str]]:
    return {name: [str(value)] for name, value in settings.as_dict().items()}


@pytest.fixture(scope="module")
def running(small_corpus: Path) -> Iterator[str]:
    options = ("--server.enableAgentApi", "true")
    with server(*options, after=("--corpus", str(small_corpus))) as address:
        yield address


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_server_that_is_told_to_end_ends_in_order(small_corpus: Path, name: str) -> None:
    async def work() -> int:
        visitor = Visitor(running.address, "about")
        await visitor.open()
        running.process.send_signal(getattr(signal, name))
        code = await asyncio.to_thread(running.process.wait, 20)
        await visitor.close()
        return code

    with running_server(after=("--corpus", str(small_corpus))) as running:
        assert finished(work()) == 0


@pytest.mark.parametrize("path", ["lab", "about"])
def test_first_request_of_a_fresh_server_may_be_a_deep_link(small_corpus: Path, path: str) -> None:
    options = ("--server.enableAgentApi", "true")
    with server(*options, after=("--corpus", str(small_corpus))) as address:
        first = ask(address, page=path, query_params={"eta": ["0.5"], "draws": ["1"]})
    assert first["status"] == "ready"
    text = json.dumps(first, ensure_ascii=False)
    assert '"exception"' not in text
    assert "?" in next(iter(find(first["tree"], "title")))["props"]["body"]
    assert '"eta"' in text


def find(node: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    if node.get("type") == kind:
        yield node
    for child in node.get("children", []):
        yield from find(child, kind)


def test_page_and_command_line_say_the_same(running: str, small_corpus: Path) -> None:
    settings = Settings(clicks=500, draws=2, eta=0.7)
    answer = ask(running, page="lab", query_params=link(settings))
    comparison = Lab(settings, str(small_corpus)).comparison()
    assert comparison.sentence in json.dumps(answer, ensure_ascii=False)


def test_blas_uses_one_thread_after_the_first_page(running: str) -> None:
    ask(running)
    about = ask(running, page="about")
    assert re.search(r"BLAS\b[^.]*\b1\.", json.dumps(about))


def test_many_sessions_at_once_all_get_their_own_answer(running: str) -> None:
    def visit(seed: int) -> str:
        return ask(
            running, page="lab", query_params=link(Settings(clicks=500, draws=1, seed=seed))
        )["status"]

    ask(running, page="lab", query_params=link(Settings(clicks=500, draws=1)))
    started = time.monotonic()
    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(visit, range(12))) == {"ready"}
    assert time.monotonic() - started < 60
