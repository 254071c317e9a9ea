"""The log on disk: no acknowledged event is lost or counts twice, whenever a process dies."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from poise.studio.log import store as store_module
from poise.studio.log.events import Event
from poise.studio.log.store import ConflictError, EventStore, StoreError

KILLS = 25
CUTS = 60


def answer(number: int, **changes) -> Event:
    data = {"items": [f"item {number}"], "label": "cat"} | changes.pop("data", {})
    return Event("label", data, client=f"client {number}", **changes)


@pytest.fixture
def store(tmp_path):
    opened = EventStore(tmp_path / "project.poise" / "events.db")
    yield opened
    opened.close()


def test_events_are_there_after_reopening(store):
    written = [store.append(answer(i))[0] for i in range(5)]
    assert [event.seq for event in written] == [1, 2, 3, 4, 5]
    store.close()
    again = EventStore(store.path)
    assert again.events() == written
    assert again.events(after=3) == written[3:]
    again.close()


def test_all_characters_survive(store):
    event = Event("class", {"name": 'naïve "猫" 🐈'}, annotator="Zoë")
    assert store.append(event)[0].data == event.data
    assert store.events()[0].annotator == "Zoë"


def test_a_retry_counts_once(store):
    first = store.append(answer(1))[0]
    assert store.append(answer(1)) == [first]
    assert len(store.events()) == 1


def test_a_client_id_for_another_event_is_refused(store):
    store.append(answer(1))
    with pytest.raises(ConflictError, match="used for another event"):
        store.append(answer(1, data={"label": "dog"}))
    assert [event.data["label"] for event in store.events()] == ["cat"]


def test_several_at_once_are_written_all_or_none(store):
    store.append(answer(1))
    with pytest.raises(ConflictError):
        store.append(answer(2), answer(1, annotator="another"))
    assert len(store.events()) == 1


def test_nothing_can_be_changed_or_removed(store):
    store.append(answer(1))
    other = sqlite3.connect(store.path)
    for statement in ("UPDATE events SET kind = 'skip'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute(statement)
    other.close()


def test_a_full_disk_says_so_and_writes_nothing(store):
    store.append(answer(1))
    store._connection.execute("PRAGMA max_page_count=1")
    many = [answer(number, annotator="x" * 190) for number in range(2, 200)]
    with pytest.raises(StoreError, match="the disk is full; free some space"):
        store.append(*many)
    assert len(store.events()) == 1
    store._connection.execute("PRAGMA max_page_count=1000000")
    store.append(*many)
    assert len(store.events()) == 1 + len(many)


def test_threads_do_not_lose_each_others_events(store):
    def write(part: int) -> None:
        for number in range(20):
            store.append(answer(100 * part + number))

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in store.events()] == list(range(1, 81))


def test_other_files_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.db"
    path.write_bytes(b"these are my notes, not a database" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="damaged or no log of poise"):
        EventStore(path)
    assert path.read_bytes() == before
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        EventStore(other)


def test_a_newer_format_is_refused(store):
    store._connection.execute("PRAGMA user_version=99")
    store.close()
    with pytest.raises(StoreError, match="newer poise"):
        EventStore(store.path)


WRITER = """
import sys
from pathlib import Path
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore

store = EventStore(Path(sys.argv[1]))
first = len(store.events())
print("ready", flush=True)
for number in range(first, 1_000_000):
    store.append(Event("label", {"items": [str(number)], "label": "a"}, client=str(number)))
    print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path):
    """One file through many deaths, each at another moment."""
    path = tmp_path / "events.db"
    rng = np.random.default_rng(0)
    acknowledged: set[int] = set()
    awaited = rng.integers(0, 5, KILLS).tolist()
    for count in awaited:
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        acknowledged |= {int(process.stdout.readline()) for _ in range(count)}
        time.sleep(float(rng.uniform(0, 0.01)))  # at any moment of what comes next
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        lines = process.stdout.read().split("\n")
        acknowledged |= {int(line) for line in lines[:-1]}  # the last may be torn
        process.stdout.close()
        store = EventStore(path)
        kept = [int(event.client) for event in store.events()]
        store.close()
        assert kept == list(range(len(kept))), "in order, none twice, none missing between"
        assert acknowledged <= set(kept)
    assert len(acknowledged) >= sum(awaited) > KILLS


def test_a_truncated_log_opens_with_a_prefix(tmp_path):
    path = tmp_path / "events.db"
    store = EventStore(path)
    store._connection.execute("PRAGMA wal_autocheckpoint=0")
    for number in range(40):
        store.append(answer(number))
    whole = path.with_name("events.db-wal").read_bytes()
    rng = np.random.default_rng(1)
    lengths = []
    for cut in sorted(int(c) for c in rng.integers(0, len(whole), CUTS)):
        copy = tmp_path / "copy" / "events.db"
        shutil.rmtree(copy.parent, ignore_errors=True)
        copy.parent.mkdir()
        shutil.copy(path, copy)
        Path(f"{copy}-wal").write_bytes(whole[:cut])
        opened = EventStore(copy)
        kept = [event.client for event in opened.events()]
        opened.close()
        assert kept == [f"client {number}" for number in range(len(kept))]
        lengths.append(len(kept))
    store.close()
    assert lengths == sorted(lengths)
    assert lengths[0] < 10 < 30 < lengths[-1]


# Copies, and files that vanish ----------------------------------------------------------------


def _label(item):
    return Event("label", {"items": [item], "label": "a"})


def test_after_an_idle_time_the_file_alone_has_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "IDLE_SECONDS", 0.05)
    store = EventStore(tmp_path / "events.db")
    store.append(*(_label(f"{i}") for i in range(20)))
    wal = tmp_path / "events.db-wal"
    end = time.monotonic() + 30
    while wal.stat().st_size:
        assert time.monotonic() < end
        time.sleep(0.01)
    shutil.copy(tmp_path / "events.db", tmp_path / "copy.db")
    store.append(_label("20"))  # it goes on
    store.close()
    copied = EventStore(tmp_path / "copy.db")
    assert len(copied.events()) == 20
    copied.close()


@pytest.mark.parametrize("how", ["deleted", "truncated", "replaced", "log deleted"])
def test_writes_to_a_removed_file_are_refused(tmp_path, how):
    path = tmp_path / "events.db"
    store = EventStore(path)
    store.append(_label("1"))
    if how == "deleted":
        path.unlink()
    elif how == "truncated":
        os.truncate(path, 0)
    elif how == "log deleted":
        (tmp_path / "events.db-wal").unlink()
    else:
        (tmp_path / "other").write_bytes(b"x" * 100_000)
        (tmp_path / "other").replace(path)
    with pytest.raises(StoreError, match="removed, replaced or cut"):
        store.append(_label("2"))
    store.close()


def test_a_copy_in_memory_writes_nothing_where_the_log_is(tmp_path):
    path = tmp_path / "events.db"
    running = EventStore(path)
    running.append(_label("1"))
    before = {
        name: (tmp_path / name).read_bytes() for name in sorted(p.name for p in tmp_path.iterdir())
    }
    store = EventStore.copy_of(path)  # what is in the write-ahead log counts
    store.append(_label("2"))
    assert [event.items for event in store.events()] == [["1"], ["2"]]
    store.close()
    del before["events.db-shm"]  # locks of readers; holds nothing that lasts
    assert before == {name: (tmp_path / name).read_bytes() for name in before}
    assert len(running.events()) == 1
    running.close()


def test_a_backup_during_writes(tmp_path):
    running = EventStore(tmp_path / "events.db")
    running.append(*(_label(f"{i}") for i in range(50)))
    store = EventStore.copy_of(tmp_path / "events.db")
    assert store.back_up(tmp_path / "copy.db") == 50
    store.close()
    running.close()
    copied = EventStore(tmp_path / "copy.db")
    assert len(copied.events()) == 50
    copied.close()
    store = EventStore.copy_of(tmp_path / "copy.db")
    with pytest.raises(StoreError, match="choose another place"):
        store.back_up(tmp_path / "copy.db" / "below")
    store.close()
