"""What this machine has: cores, free memory, and a refusal before memory runs out."""

import os
from pathlib import Path

from poise.errors import MemoryShortError

#: Needs below this are not looked at: bytes.
SMALL = 200_000_000
#: Memory of the group of processes that this one belongs to: limit and use.
GROUP = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"))


def available_memory() -> int | None:
    """Bytes that can be had without swapping, as far as the system says; None if it does not."""
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
    try:  # systems without that file say at least how much there is
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """What a container may still take; None without a limit."""
    try:
        limit, used = (path.read_text(encoding="ascii").strip() for path in GROUP)
        return None if limit == "max" else max(int(limit) - int(used), 0)
    except (OSError, ValueError):
        return None


def check_room(needed: float, what: str, remedy: str) -> None:
    """Refuse what needs more memory than is free, before it is begun.

    Parameters
    ----------
    needed : bytes
    what : is to be done, as the subject of the sentence
    remedy : what to do instead
    """
    free = available_memory() if needed > SMALL else None
    if free is not None and needed > free:
        raise MemoryShortError(
            f"{what} needs about {gigabytes(needed)} of memory and {gigabytes(free)} are free: "
            f"{remedy}"
        )


def gigabytes(size: float) -> str:
    """A size as people say it."""
    return f"{size / 1e9:,.1f} GB"


def cores() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1
