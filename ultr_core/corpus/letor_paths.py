"""What stands at a path, in words that say what to repair."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def fault_of(path: Path) -> str | None:
    """Why a path is no readable file, as the end of a sentence; None if it is one."""
    mode = _mode(path)
    if isinstance(mode, str):
        return mode
    if stat.S_ISDIR(mode):
        return "is a directory"
    if not stat.S_ISREG(mode):
        return "is no regular file"
    return None if os.access(path, os.R_OK) else "cannot be read (Permission denied)"


def directory_fault(path: Path) -> str | None:
    """Why a path is no readable directory, as the end of a sentence; None if it is one."""
    mode = _mode(path)
    if isinstance(mode, str):
        return mode
    if not stat.S_ISDIR(mode):
        return "is not a directory"
    readable = os.access(path, os.R_OK | os.X_OK)
    return None if readable else "cannot be read (Permission denied)"


def _mode(path: Path) -> int | str:
    """The mode of what stands at a path, or what keeps it from being looked up."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "is a link that leads back to itself"
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            return f"cannot be looked up ({error.strerror})"
        broken = path.is_symlink()
        return "is a broken link: what it leads to does not exist" if broken else "does not exist"
