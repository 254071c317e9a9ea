"""Memory of this process, from the kernel."""

from pathlib import Path

from poise.errors import PoiseError

_status = Path("/proc/self/status")


def megabytes(field: str) -> float:
    """`field` of /proc/self/status: "VmRSS" for now, "VmHWM" for the peak."""
    try:
        lines = _status.read_text().splitlines()
    except OSError:
        raise PoiseError("memory is measured through /proc, which only Linux has") from None
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024


def reset_peak() -> None:
    """Let the peak start again from what is in use now."""
    Path("/proc/self/clear_refs").write_text("5")
