"""How much memory a process has used at most."""

from __future__ import annotations

import sys


def peak_memory_mib() -> float:
    """Largest resident memory of this process so far, in MiB; 0 where the system cannot tell."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (1024 * 1024 if sys.platform == "darwin" else 1024)
