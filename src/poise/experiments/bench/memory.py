"""Memory of this process, as the kernel reports it."""

from pathlib import Path

from poise.errors import PoiseError

_status = Path("/proc/self/status")


def megabytes(field: str) -> float:
    """`field` of /proc/self/status in MB: "VmRSS" is current memory, "VmHWM" the peak."""
    try:
        lines = _status.read_text().splitlines()
    except OSError:
        raise PoiseError("memory is measured through /proc, which exists only on Linux") from None
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024


def reset_peak() -> None:
    """Reset the peak to the memory that is currently in use."""
    Path("/proc/self/clear_refs").write_text("5")
