"""Versions of what figures depend on."""

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("poise", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "approx-chol")


def versions() -> dict[str, str]:
    """Versions of Python and of what the figures depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
