"""What the shell hands to a page, and to what is drawn on it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from pages.app.launch import Launch
from pages.app.registry import PageInfo
from ultr_core.errors import InputError
from ultr_core.settings import Settings


@dataclass(frozen=True)
class PageContext:
    """What the shell hands to a page.

    ``settings`` is the world asked for, or the sentence that says why it is none; ``launch`` are
    the server's options.
    """

    info: PageInfo
    settings: Settings | InputError
    launch: Launch


CONTEXT: ContextVar[PageContext | None] = ContextVar("page_context", default=None)
