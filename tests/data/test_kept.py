"""Rows kept by content: complete records are found again, all others are ignored."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from poise.data.embeddings import kept as module
from poise.data.embeddings.kept import Kept
from poise.errors import DataError, InputError


def key(i):
    return hashlib.sha256(str(i).encode()).digest()


def row(i, dimensions=3):
    """The row kept under key(i), so that a reader can check it."""
    return np.random.default_rng(i).normal(size=dimensions).astype(np.float32)


def filled(path, count=5):
    store = Kept(path, 3, "a")
    store.add([key(i) for i in range(count)], [row(i) for i in range(count)])
    return store


def assert_right(store, count):
    """Check that all known rows are right; returns their number."""
    mask, rows = store.get([key(i) for i in range(count)])
    for i in range(count):
        np.testing.assert_array_equal(rows[i], row(i) if mask[i] else np.zeros(3))
        assert (key(i) in store) == mask[i]
    return int(mask.sum())


def test_rows_come_back_in_the_order_asked(tmp_path):
    path = tmp_path / "new" / "rows"
    filled(path)
    store = Kept(path, 3, "a")
    assert len(store) == 5
    mask, rows = store.get([key(3), key(9), key(0), key(3), key(4)])
    assert mask.tolist() == [True, False, True, True, True]
    np.testing.assert_array_equal(rows, [row(3), np.zeros(3), row(0), row(3), row(4)])
    assert rows.dtype == np.float32
    empty, none = store.get([])
    assert empty.shape == (0,)
    assert none.shape == (0, 3)


def test_long_stretches_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    filled(tmp_path / "rows", 20)
    assert assert_right(Kept(tmp_path / "rows", 3, "a"), 20) == 20


def test_an_item_is_kept_once(tmp_path):
    store = filled(tmp_path / "rows")
    size = store.path.stat().st_size
    store.add([key(1), key(2)], [row(1), row(2)])
    assert store.path.stat().st_size == size
    store.add([key(7), key(7)], [row(7), row(7)])
    assert len(store) == 6


def test_every_cut(tmp_path):
    """However much of the file was written, it holds the first items and can be continued."""
    path = tmp_path / "rows"
    whole = filled(path).path.read_bytes()
    counts = []
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        store = Kept(path, 3, "a")
        counts.append(assert_right(store, 5))
        store.add([key(i) for i in range(5)], [row(i) for i in range(5)])
        assert assert_right(Kept(path, 3, "a"), 5) == 5
    assert counts == sorted(counts)
    assert (counts[-2], counts[-1]) == (4, 5)


def test_every_damaged_byte(tmp_path):
    """A changed byte costs one item, or all if it is in the header; no row is ever wrong."""
    path = tmp_path / "rows"
    whole = filled(path).path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        assert assert_right(Kept(path, 3, "a"), 5) in (0, 4)
    path.write_bytes(whole + bytes(1_000))  # as after a power cut
    assert assert_right(Kept(path, 3, "a"), 5) == 5


def test_damage_while_it_is_open(tmp_path):
    store = filled(tmp_path / "rows")
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-40])
    mask, _ = store.get([key(i) for i in range(5)])
    assert mask.tolist() == [True, True, True, True, False]
    store.path.write_bytes(b"")
    mask, _ = store.get([key(0)])
    assert not mask.any()
    store.add([key(8)], [row(8)])
    assert assert_right(Kept(store.path, 3, "a"), 9) == 1


@pytest.mark.parametrize(("dimensions", "fingerprint"), [(3, "b"), (4, "a")])
def test_rows_of_another_encoder_are_not_used(tmp_path, dimensions, fingerprint):
    filled(tmp_path / "rows")
    store = Kept(tmp_path / "rows", dimensions, fingerprint)
    assert len(store) == 0
    store.add([key(0)], np.ones((1, dimensions)))
    assert len(Kept(tmp_path / "rows", dimensions, fingerprint)) == 1


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    store = filled(tmp_path / "rows")
    before = store.path.read_bytes()

    def full(file, content):
        file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(module, "_write_all", full)
        with pytest.raises(DataError, match=r"No space left.*POISE_CACHE"):
            store.add([key(8), key(9)], [row(8), row(9)])
    assert store.path.read_bytes() == before
    assert assert_right(store, 10) == 5
    store.add([key(8)], [row(8)])
    assert assert_right(Kept(store.path, 3, "a"), 10) == 6


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot use") as caught:
        Kept(tmp_path / "file" / "rows", 3, "a")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "rows"),
    [([key(0)], np.ones((1, 4))), ([key(0)], np.ones((2, 3))), ([b"short"], np.ones((1, 3)))],
)
def test_rows_that_do_not_fit(tmp_path, keys, rows):
    with pytest.raises(InputError, match="expected a digest of 32 bytes and 3 numbers"):
        Kept(tmp_path / "rows", 3, "a").add(keys, rows)


def test_two_writers_share_a_file(tmp_path):
    """Each finds its own rows, and after the next addition those of the other."""
    one, other = filled(tmp_path / "rows"), Kept(tmp_path / "rows", 3, "a")
    one.add([key(5)], [row(5)])
    other.add([key(6)], [row(6)])
    one.add([key(7)], [row(7)])
    other.add([key(7)], [row(7)])
    for store in (one, other, Kept(tmp_path / "rows", 3, "a")):
        assert assert_right(store, 8) == 8
    assert one.path.stat().st_size == one._offset(8)


def test_many_threads(tmp_path):
    store = Kept(tmp_path / "rows", 3, "a")

    def work(start):
        for i in range(start, 60, 4):
            store.add([key(i)], [row(i)])
            store.get([key(i)])

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert assert_right(Kept(tmp_path / "rows", 3, "a"), 60) == 60


WRITER = """
import sys, numpy as np
from pathlib import Path
from tests.data.test_kept import key, row
from poise.data.embeddings.kept import Kept
store = Kept(Path(sys.argv[1]), 3, "a")
print(len(store), flush=True)
for start in range(len(store), 10**9, 50):
    ids = range(start, start + 50)
    store.add([key(i) for i in ids], [row(i) for i in ids])
    print(start + 50, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill")
def test_a_killed_writer_loses_at_most_a_batch(tmp_path):
    path = tmp_path / "rows"
    said = 0
    for lines in (2, 3, 6, 4):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert int(writer.stdout.readline()) >= said
            for _ in range(lines):
                said = int(writer.stdout.readline())
        finally:
            writer.kill()
            writer.wait()
            writer.stdout.close()
        store = Kept(path, 3, "a")
        assert len(store) >= said
        assert assert_right(store, len(store)) == len(store)
