"""``python -m ultr_core``: the lab without a screen."""

import os
import signal
import sys
import warnings
from contextlib import suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130


def _stop(*_: object) -> NoReturn:
    """End at once, and leave no half-written file behind."""
    if files := sys.modules.get("ultr_core.files.disk"):
        with suppress(AttributeError):  # it may be half loaded, and has written nothing then
            files.remove_drafts()
    with suppress(OSError):
        os.write(2, b"Stopped.\n")
    os._exit(INTERRUPTED)


def _interrupt(_: int, frame: FrameType | None) -> NoReturn:
    """Stop by an exception, as Python does; while a library loads, end at once.

    There an exception would have to pass through half-loaded extensions, some of which print it
    or turn it into another.
    """
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            _stop()
        frame = frame.f_back
    raise KeyboardInterrupt


def _end(number: int, _: object) -> None:
    """End at once, as without a handler, but leave no half-written file behind."""
    from ultr_core.files.disk import remove_drafts

    remove_drafts()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _silence_warnings() -> None:
    """Let no warning of a library reach the reader, to whom it says nothing, unless asked for."""
    if not sys.warnoptions:
        sys.warnoptions.append("ignore")  # for processes started from here
        warnings.simplefilter("ignore")


def run() -> int:
    """Run the command line, with an end in good order for whatever signal asks for it."""
    # A shell has background jobs ignore Ctrl-C; that stays as it is.
    watched = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if watched:
        signal.signal(signal.SIGINT, _stop)
    _silence_warnings()
    from ultr_core.cli import main

    for name in ("SIGTERM", "SIGHUP"):  # some systems have only the first
        ending = getattr(signal, name, None)
        if ending is not None and signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, _end)
    if watched:
        signal.signal(signal.SIGINT, _interrupt)
    code = main()
    if watched:
        # Who was told so has no more to stop; Python's own end must not be torn apart.
        signal.signal(signal.SIGINT, signal.SIG_IGN if code == INTERRUPTED else _stop)
    return code


if __name__ == "__main__":
    raise SystemExit(run())
