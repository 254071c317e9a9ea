"""One writer per project: a lock that the system releases when its holder dies."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poise.errors import InputError

try:
    import fcntl
except ImportError:  # on Windows, where nothing prevents a second server
    fcntl = None  # type: ignore[assignment]

#: File in the project's folder. It stays there; what counts is whether a process holds it.
NAME = "lock"


@contextmanager
def only_writer(folder: Path, address: str) -> Iterator[None]:
    """Hold a project for the length of a `with` block.

    Parameters
    ----------
    folder : of the project; made if it does not exist
    address : of the page, for the message to a second process

    Raises
    ------
    InputError
        If another process holds it.
    """
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The address contains the token of the app, so only the owner may read the file.
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}): give a writable folder for the project "
            "with --project FOLDER"
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
        yield  # closing the file releases the lock, and so does the end of the process


def _holder(content: str) -> str:
    """Who holds the project, and where to continue, in words."""
    try:
        holder = json.loads(content)
        process, address = int(holder["process"]), str(holder["address"])
    except (ValueError, TypeError, KeyError):
        return " by another poise process: stop that one first"
    there = f"continue at {address}, or " if address else ""
    return f" by another poise (process {process}): {there}stop that one first"


def address_in_use(folder: Path) -> str | None:
    """The address of the app that holds a project; None if nobody holds it.

    Raises
    ------
    InputError
        If a process without an address holds it, such as ``poise assist``.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except OSError:
            content = file.read()
    try:
        address = str(json.loads(content)["address"])
    except (ValueError, TypeError, KeyError):
        address = ""
    if not address:
        raise InputError(f"{folder} is in use{_holder(content)}")
    return address
