"""Versions of the code and the packages that figures depend on."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("poise", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "approx-chol")
#: Characters of a commit's name that are shown.
SHORT = 12


def versions() -> dict[str, str]:
    """Versions of Python and of `PACKAGES`."""
    result = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            result[package] = version(package)
        except PackageNotFoundError:
            result[package] = "not installed"
    return result


def commit(package: Path = Path(__file__).parents[1]) -> str:
    """The commit of the code in `package` if it is part of a git checkout, else an empty text.

    "with changes" follows the name if the code differs from that commit.
    """
    # Installed into an environment inside another project's checkout, the code is no part of it.
    if not _git(package, "ls-files", "__init__.py"):
        return ""
    name = _git(package, "rev-parse", f"--short={SHORT}", "HEAD")
    changed = _git(package, "status", "--porcelain", "--", ".")
    return f"{name} with changes" if name and changed else name


def _git(folder: Path, *words: str) -> str:
    """What git prints; empty if it fails, or is not installed."""
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
