"""One writer for each project: a lock that the system takes back when its holder dies."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poise.errors import InputError

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps two servers apart
    fcntl = None  # type: ignore[assignment]

#: File in the project's folder. It stays; who holds it is what counts.
NAME = "lock"


@contextmanager
def only_writer(folder: Path, address: str) -> Iterator[None]:
    """Hold a project as long as this lasts.

    Parameters
    ----------
    folder : of the project; made if it is not there
    address : where the page is, told to whoever comes second

    Raises
    ------
    InputError
        If another process holds it.
    """
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The address holds the key to the app: for nobody else's eyes.
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}): give a folder for the project that may "
            "be, --project FOLDER"
        ) from None
    with file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{folder} is in use{_holder(file.read())}") from None
        file.truncate(0)
        json.dump({"process": os.getpid(), "address": address}, file)
        file.flush()
        yield  # closing the file gives the lock back, and so does the end of the process


def _holder(content: str) -> str:
    """Who has it, and where to go on, in words."""
    try:
        found = json.loads(content)
        process, address = int(found["process"]), str(found["address"])
    except (ValueError, TypeError, KeyError):
        return " by another poise: end that one first"
    return f" by another poise (process {process}): go on at {address}, or end that one first"
