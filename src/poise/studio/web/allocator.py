"""Returning freed memory to the system, for servers that run for days."""

import ctypes
import sys
from contextlib import suppress

#: Parameters in glibc's malloc.h, by number, and their values (bytes, or a count).
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = (-1, 1 << 17), (-3, 1 << 18), (-8, 2)


def give_memory_back() -> None:
    """Return freed arrays to the system at once, where the C library is glibc.

    By default glibc raises the size from which it returns a freed array up to 32 MB, and keeps a
    pool for each of several threads. Threads that make arrays with a number for each item then let
    the server's memory grow (docs/decisions/studio.md).
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):  # another C library
        malloc = ctypes.CDLL(None).mallopt
        for parameter, value in (TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX):
            malloc(parameter, value)
