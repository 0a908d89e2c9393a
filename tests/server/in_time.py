"""Asynchronous work in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT = 120.0  # seconds; how fast the answers come is for scripts/load_test.py to say


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, in time; in a thread of its own, for browser tests keep a loop here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(work, LIMIT)).result()
