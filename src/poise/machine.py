"""Cores and free memory of this machine, and a check before memory runs out."""

import os
from pathlib import Path

from poise.errors import MemoryShortError

#: Up to so many bytes, free memory is not checked.
UNCHECKED_MAX_BYTES = 200_000_000
#: Memory limit and use of the control group of this process.
CGROUP_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"))


def available_memory() -> int | None:
    """Bytes available without swapping; None if the system does not say."""
    free = _of_machine()
    limited = _of_group()
    return free if limited is None else limited if free is None else min(free, limited)


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:  # systems without that file report at least the total
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """Bytes that a container may still use; None without a limit."""
    try:
        limit, used = (path.read_text(encoding="ascii").strip() for path in CGROUP_FILES)
        return None if limit == "max" else max(int(limit) - int(used), 0)
    except (OSError, ValueError):
        return None


def check_room(needed: float, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than is free, before it starts.

    Parameters
    ----------
    needed : bytes
    what : the work, as the subject of the message
    remedy : what to do instead
    """
    free = available_memory() if needed > UNCHECKED_MAX_BYTES else None
    if free is not None and needed > free:
        raise MemoryShortError(
            f"{what} needs about {gigabytes(needed)} of memory and {gigabytes(free)} are free: "
            f"{remedy}"
        )


def gigabytes(size: float) -> str:
    """A size in gigabytes, as text."""
    return f"{size / 1e9:,.1f} GB"


def cores() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1
