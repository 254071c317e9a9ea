"""Memory that a server running for days gives back."""

import ctypes
import sys
from contextlib import suppress

#: Numbers of the parameters in glibc's malloc.h, and what they are set to (bytes, or a count).
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = (-1, 1 << 17), (-3, 1 << 18), (-8, 2)


def give_memory_back() -> None:
    """Let freed arrays go back to the system at once, where the C library is glibc.

    By itself glibc raises the size from which a freed array goes back to 32 MB, and keeps what
    several threads have freed apart. Arrays of a number for each item, made by threads, then let
    the server's memory grow (docs/decisions/studio.md).
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):  # another C library
        malloc = ctypes.CDLL(None).mallopt
        for parameter, value in (TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX):
            malloc(parameter, value)
