"""The event log on disk: SQLite, append-only. An event is on disk before it is confirmed.

Write-ahead logging with ``synchronous=FULL``: when `append` returns, the event survives the death
of the process and of the machine. Nothing is ever changed or removed.

A log of an older format stays as it is until an event is written that the older format does not
have. A copy of the old file is made first. See docs/decisions/formats.md.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from poise.errors import InputError, PoiseError
from poise.files import write_bytes
from poise.studio.log.events import Event

#: ``PRAGMA user_version`` and ``application_id`` of our files.
VERSION = 3
APPLICATION = 0x706F6973  # "pois"
#: Approximate upper limit of the write-ahead log; and the time without a write after which it is
#: moved into the file, so that a copy of the file alone has everything.
MAX_LOG_BYTES, IDLE_SECONDS = 4_000_000, 1.0

SCHEMA = """
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  client TEXT NOT NULL UNIQUE,
  time TEXT NOT NULL,
  annotator TEXT NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE TRIGGER no_change BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER no_removal BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""


class StoreError(PoiseError):
    """An event could not be written, or the log could not be read; the message says what to do."""


class ConflictError(InputError):
    """Two different events with one client id."""


class EventStore:
    """The log of one project. Any number of threads may use it; other processes may read it.

    Parameters
    ----------
    path : of the file; it and its folder are made if they do not exist
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._open(path, str(path))
        self._file: tuple[int, int] | None = None
        self._size = 0
        self._note_file()

    @classmethod
    def copy_of(cls, path: Path) -> Self:
        """A copy of the log in memory; events appended to it are lost with it.

        Nothing is written to the folder of the log, which may be read-only or in use.
        """
        store = cls.__new__(cls)
        store._open(path, ":memory:", path)
        store._file = None
        return store

    def _open(self, path: Path, database: str, copied: Path | None = None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._idle: threading.Timer | None = None
        with self._errors_in_words("opened"):
            # Transactions are begun by hand: the module's own way differs between versions.
            self._connection = sqlite3.connect(
                database, isolation_level=None, check_same_thread=False, timeout=10.0
            )
            try:
                if copied is not None:
                    _copy(copied, self._connection)
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        run = self._connection.execute
        (made,) = run("PRAGMA application_id").fetchone()
        (version,) = run("PRAGMA user_version").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and made != APPLICATION:
            raise StoreError(f"{self.path} is a database of another program: choose another place")
        if version > VERSION:
            raise StoreError(
                f"{self.path} was written by a newer poise (format {version}, this one reads "
                f"{VERSION}): upgrade poise"
            )
        self.version = version if tables else VERSION
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=FULL")
        run("PRAGMA wal_autocheckpoint=0")  # see _empty_log
        if not tables:
            # One transaction: a file that was being made when the process died is made again.
            with self._transaction():
                for statement in SCHEMA.split(";\n"):
                    if statement.strip():
                        run(statement)
                run(f"PRAGMA application_id={APPLICATION}")
                run(f"PRAGMA user_version={VERSION}")
        # A file that another program took out of this mode gets its write-ahead log by being read.
        run("SELECT count(*) FROM events").fetchone()

    def append(self, *events: Event) -> list[Event]:
        """Write events, all or none, and return them with their numbers in the log.

        An event whose client id is in the log already is not written again: the earlier one is
        returned, if it is the same.

        Raises
        ------
        ConflictError
            If an earlier event with the same client id is another one.
        StoreError
            If the disk refuses it. Nothing is written then.
        """
        wanted = max((event.format for event in events), default=1)
        with self._lock, self._errors_in_words("written"):
            self._check_file()
            if wanted > self.version and self._file is not None:
                self.back_up(self._free_name())
            with self._transaction():
                written = [self._append(event) for event in events]
                if wanted > self.version:
                    self._connection.execute(f"PRAGMA user_version={wanted}")
            self.version = max(self.version, wanted)
            self._check_file()
            self._empty_log()
        return written

    def _free_name(self) -> Path:
        """A path for a copy of the log in its present format; no earlier copy is overwritten."""
        stem, suffix = f"{self.path.stem}-format-{self.version}", self.path.suffix
        names = (f"{stem}{number}{suffix}" for number in ("", *(f"-{n}" for n in range(2, 1000))))
        return next(p for name in names if not (p := self.path.with_name(name)).exists())

    def _empty_log(self) -> None:
        """Move a long write-ahead log into the file at once, and any other after an idle time.

        SQLite by itself leaves the log as it was until the next write. A copy of both files, in
        which the log was cut short, then mixes pages of two times.
        """
        if self._file is None:
            return
        # Whatever fails here, the events are safe in the write-ahead log.
        with suppress(OSError):
            if Path(f"{self.path}-wal").stat().st_size > MAX_LOG_BYTES:
                self._checkpoint()
        if self._idle is not None:
            self._idle.cancel()
        self._idle = threading.Timer(IDLE_SECONDS, self._checkpoint)
        self._idle.daemon = True
        self._idle.start()

    def _checkpoint(self) -> None:
        with self._lock, suppress(sqlite3.Error, OSError):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._note_file()

    def _note_file(self) -> None:
        """Remember which file this is, and its size, below which it must not fall."""
        about = self.path.stat()
        self._file, self._size = (about.st_dev, about.st_ino), about.st_size

    def _check_file(self) -> None:
        """Refuse to write to a file that was removed or replaced."""
        if self._file is None:
            return
        try:
            about = self.path.stat()
            has_log = Path(f"{self.path}-wal").exists()
        except OSError:
            about, has_log = None, False
        is_same = about is not None and (about.st_dev, about.st_ino) == self._file
        if about is None or not is_same or about.st_size < self._size or not has_log:
            raise StoreError(
                f"{self.path} was removed, replaced or cut while poise was running: nothing more "
                "is saved. Restore the project's folder from a copy, and start poise label again"
            )

    def back_up(self, path: Path) -> int:
        """Write a copy of the whole log, completely or not at all; returns its number of events."""
        with self._lock, self._errors_in_words("copied"):
            (count,) = self._connection.execute("SELECT count(*) FROM events").fetchone()
            content = self._connection.serialize()

        try:
            write_bytes(path, content)
        except OSError as error:
            raise StoreError(
                f"{path} could not be written ({error.strerror}): choose another place"
            ) from None
        return int(count)

    def by_client(self, client: str) -> Event | None:
        """The event that was sent with this id."""
        with self._lock, self._errors_in_words("read"):
            row = self._connection.execute(
                "SELECT seq, client, time, annotator, kind, data FROM events WHERE client = ?",
                (client,),
            ).fetchone()
        return None if row is None else _event(row)

    def find(self, event: Event) -> Event | None:
        """The same event, if it is in the log already; its client id decides."""
        earlier = self.by_client(event.client)
        if earlier is None:
            return None
        same = (earlier.annotator, earlier.kind, earlier.data)
        if same != (event.annotator, event.kind, event.data):
            raise ConflictError(
                f"the id {event.client} was used for another event before: reload the page"
            )
        return earlier

    def _append(self, event: Event) -> Event:
        earlier = self.find(event)
        if earlier is None:
            row = (event.client, event.time, event.annotator, event.kind, _dump(event.data))
            cursor = self._connection.execute(
                "INSERT INTO events (client, time, annotator, kind, data) VALUES (?, ?, ?, ?, ?)",
                row,
            )
            assert cursor.lastrowid is not None
            return replace(event, seq=cursor.lastrowid)
        return earlier

    def events(self, after: int = 0) -> list[Event]:
        """All events with larger numbers, in order."""
        with self._lock, self._errors_in_words("read"):
            rows = self._connection.execute(
                "SELECT seq, client, time, annotator, kind, data FROM events WHERE seq > ? "
                "ORDER BY seq",
                (after,),
            ).fetchall()
        return [_event(row) for row in rows]

    def close(self) -> None:
        """Move everything into the one file, and close it."""
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors_in_words(self, done: str) -> Iterator[None]:
        """Errors of SQLite, with advice."""
        try:
            yield
        except sqlite3.Error as error:
            reason = str(error)
            if "full" in reason:
                advice = "the disk is full; free some space and try again"
            elif "locked" in reason:
                advice = "another program is using it; close that one and try again"
            elif "malformed" in reason or "not a database" in reason:
                advice = "the file is damaged or no log of poise; restore it from a copy"
            elif "readonly" in reason or "unable to open" in reason:
                advice = "the folder or file is not writable; change its permissions"
            else:
                advice = reason
            raise StoreError(f"{self.path} could not be {done}: {advice}") from error


def _copy(path: Path, into: sqlite3.Connection) -> None:
    """Copy a log, with what a running server has in its write-ahead log."""
    address = path.resolve().as_uri()
    alone = not Path(f"{path}-wal").exists()
    # Without a write-ahead log the file has everything, and SQLite must make no files beside it.
    ways = ("?mode=ro&immutable=1",) if alone else ("?mode=ro", "?mode=ro&immutable=1")
    for way in ways:
        source = sqlite3.connect(address + way, uri=True, timeout=10.0)
        try:
            source.backup(into)
            return
        except sqlite3.Error:
            if way == ways[-1]:
                raise
        finally:
            source.close()


def _event(row: tuple[int, str, str, str, str, str]) -> Event:
    seq, client, time, annotator, kind, data = row
    return Event(kind, json.loads(data), annotator, client, time, seq)


def _dump(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
