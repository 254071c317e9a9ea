"""The folders where data files are found and kept."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from platformdirs import user_cache_path

from poise.errors import DataError
from poise.files import write_whole


def own_files() -> Path | None:
    """The folder named by the environment variable POISE_DATA, if it is set."""
    named = os.environ.get("POISE_DATA")
    return Path(named) if named else None


def cache() -> Path:
    """The platform's cache folder for poise; the variable POISE_CACHE names another."""
    named = os.environ.get("POISE_CACHE")
    return Path(named) if named else user_cache_path("poise", appauthor=False, opinion=False)


def keep(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file of the cache, whole or not at all."""
    try:
        write_whole(path, write)
    except OSError as error:
        raise DataError(
            f"cannot write {path.parent} ({error.strerror}): free some space, or set POISE_CACHE "
            "to another folder"
        ) from None
