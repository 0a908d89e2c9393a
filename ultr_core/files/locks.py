"""Locks that tell a file somebody is writing from one that a killed process left behind.

The system gives a lock up with the process that holds it, however that ends, and knows no process
by its number, which another one may have by now.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

UNFOLLOWED = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""Flags to open what stands at a path itself, not what a link leads to; a pipe does not block."""


def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> bool:
    """Lock an open file or directory until it is closed everywhere; whether that was possible.

    False where another process has it and ``wait`` is off, or where its file system has no locks.
    """
    if fcntl is None:
        return False
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def hold(descriptor: int, path: str | Path) -> bool:
    """Lock a draft that was made just now; False if somebody swept it away before."""
    lock(descriptor)
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), found)


def abandoned(path: str | Path) -> bool:
    """Whether what stands at a path is a file or directory that no process holds; see `hold`.

    False where this cannot be known: then nothing is swept.
    """
    try:
        descriptor = os.open(path, UNFOLLOWED)
    except OSError:
        return False
    try:
        mode = os.fstat(descriptor).st_mode
        # A shared lock suffices to learn it, and needs no right to write on any file system.
        return (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and lock(
            descriptor, shared=True, wait=False
        )
    finally:
        os.close(descriptor)
