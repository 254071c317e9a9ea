"""Download a file once: resumable, verified, never half-written under its own name."""

import hashlib
import http.client
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from poise.errors import DataError
from poise.progress import Progress

CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0
#: How scikit-learn's warnings begin when it tries a download again.
RETRIES = ("Retry downloading from url", "A network error occurred while downloading")


def fetch(address: str, path: Path, md5: str, progress: Progress | None = None) -> Path:
    """The file of `address` at `path`, downloaded unless it is there already.

    An interrupted download is kept beside it as NAME.part, and the next call continues it. A file
    whose checksum is wrong is deleted. Progress is in bytes; the total is 0 while it is unknown.

    Raises
    ------
    DataError
        In one line: no network, a wrong checksum, or a full disk.
    """
    if path.is_file():
        if digest(path) == md5:
            return path
        raise DataError(f"{path} is not what was downloaded: its checksum is wrong; delete it")
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _receive(address, part, progress)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"cannot fetch {address} ({reason}): connect to a network and try again, or set "
            "POISE_DATA to a folder that holds the data"
        ) from None
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise DataError(
            f"cannot write {part} ({error.strerror}): free some space, or set POISE_CACHE "
            "to another folder"
        ) from None
    if digest(part) != md5:
        part.unlink()
        raise DataError(
            f"what {address} sent has a wrong checksum and was deleted: try again, or set "
            "POISE_DATA to a folder that holds the data"
        )
    part.replace(path)
    return path


def digest(path: Path) -> str:
    """MD5 of a file, in hexadecimal, which is what publishers give."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


@contextmanager
def silent_retries() -> Iterator[None]:
    """Hide scikit-learn's warnings about retries: if they all fail, poise's own error says so."""
    with warnings.catch_warnings():
        for message in RETRIES:
            warnings.filterwarnings("ignore", message)
        yield


def _receive(address: str, part: Path, progress: Progress | None) -> None:
    """Append what is missing to `part`."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # nothing after `have`: the part is complete
            raise
        return
    with response, part.open("ab" if response.status == 206 else "wb") as file:
        have = have if response.status == 206 else 0
        total = have + int(response.headers.get("Content-Length", 0))
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            have += len(chunk)
            if progress:
                progress(have, total)
        if total and have < total:
            raise http.client.IncompleteRead(b"", total - have)
