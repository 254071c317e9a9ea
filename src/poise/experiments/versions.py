"""Versions of the packages that figures depend on."""

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("poise", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "approx-chol")


def versions() -> dict[str, str]:
    """Versions of Python and of `PACKAGES`."""
    result = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            result[package] = version(package)
        except PackageNotFoundError:
            result[package] = "not installed"
    return result
