"""Downloads from a local server that fails in many ways."""

import errno
import hashlib
import threading
import urllib.error
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from poise.data import download
from poise.data.datasets.public import _openml
from poise.data.datasets.texts import _fetched_news
from poise.data.download import fetch
from poise.errors import DataError

CONTENT = bytes(range(256)) * 2_000
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `CONTENT`; hangs up after `stop_after` bytes, and may not support ranges."""

    stop_after: int | None = None
    ranges = True
    content = CONTENT

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file.gz"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append(wanted)
        start = int(wanted[6:-1]) if wanted and self.server.ranges else 0
        body = self.server.content[start:]
        if wanted and self.server.ranges and not body:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.server.stop_after is None else body[: self.server.stop_after])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_fetches_once(server, tmp_path):
    steps = []
    path = tmp_path / "deep" / "file.gz"
    assert fetch(server.address, path, MD5, lambda done, total: steps.append((done, total))) == path
    assert path.read_bytes() == CONTENT
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    fetch(server.address, path, MD5)
    assert len(server.requests) == 1
    assert [p.name for p in path.parent.iterdir()] == ["file.gz"]


@pytest.mark.parametrize("ranges", [True, False])
def test_resumes_after_an_interruption(server, tmp_path, ranges):
    server.ranges = ranges
    server.stop_after = 100_000
    path = tmp_path / "file.gz"
    with pytest.raises(DataError, match=r"cannot fetch .*connect to a network and try again"):
        fetch(server.address, path, MD5)
    assert not path.exists()
    assert (tmp_path / "file.gz.part").stat().st_size == 100_000
    server.stop_after = None
    fetch(server.address, path, MD5)
    assert path.read_bytes() == CONTENT
    assert server.requests == [None, "bytes=100000-"]


def test_a_part_that_is_already_complete(server, tmp_path):
    (tmp_path / "file.gz.part").write_bytes(CONTENT)
    assert fetch(server.address, tmp_path / "file.gz", MD5).read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing_behind(server, tmp_path):
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(DataError, match="wrong checksum and was deleted") as caught:
        fetch(server.address, tmp_path / "file.gz", MD5)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changed_on_disk(server, tmp_path):
    (tmp_path / "file.gz").write_bytes(b"mine")
    with pytest.raises(DataError, match=r"checksum is wrong; delete it"):
        fetch(server.address, tmp_path / "file.gz", MD5)
    assert (tmp_path / "file.gz").read_bytes() == b"mine"
    assert server.requests == []


def test_no_network(tmp_path):
    with pytest.raises(DataError, match="set POISE_DATA") as caught:
        fetch("http://127.0.0.1:9/file.gz", tmp_path / "file.gz", MD5)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk(server, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download, "_receive", full)
    with pytest.raises(DataError, match="No space left on device"):
        fetch(server.address, tmp_path / "file.gz", MD5)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_created(server, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="cannot write"):
        fetch(server.address, Path(tmp_path / "file" / "file.gz"), MD5)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("load", "opener"), [(_openml, "_openml.urlopen"), (_fetched_news, "_base.urlretrieve")]
)
def test_a_missing_network_is_one_error_without_warnings(load, opener, tmp_path, monkeypatch):
    """scikit-learn warns about every retry, and warnings are errors here."""
    tries = []

    def refuse(*_, **__):
        tries.append(opener)
        raise urllib.error.URLError("no route to host")

    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    monkeypatch.setattr(f"sklearn.datasets.{opener}", refuse)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    arguments = ["isolet"] if load is _openml else []
    with pytest.raises(DataError, match="no route to host"):
        load(*arguments)
    assert len(tries) > 1
