"""Where files are looked for and kept."""

import os
import sys
from pathlib import Path


def own_files() -> Path | None:
    """The folder that the variable POISE_DATA names, if it is set."""
    named = os.environ.get("POISE_DATA")
    return Path(named) if named else None


def cache() -> Path:
    """The platform's cache folder for poise; the variable POISE_CACHE names another."""
    named = os.environ.get("POISE_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "poise"
