"""The event log on disk: SQLite, append-only; an answer is there before anybody hears that it is.

Write-ahead logging with ``synchronous=FULL``: when `append` returns, the event survives the death
of the process and of the machine. Nothing is ever changed or removed.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from poise.errors import InputError, PoiseError
from poise.studio.events import Event

#: What ``PRAGMA user_version`` and ``application_id`` of our files say.
VERSION = 1
APPLICATION = 0x706F6973  # "pois"
#: Bytes of the write-ahead log, at most, about.
LONGEST_LOG = 4_000_000

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
    """An event could not be written, or the log not be read; the message says what to do."""


class ConflictError(InputError):
    """Two different events with one client id."""


class EventStore:
    """The log of one project. Any number of threads may use it; other processes may read it.

    Parameters
    ----------
    path : of the file; made if it is not there, its folder too
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._said("opened"):
            # Transactions are begun by hand: the module's own way differs between versions.
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=10.0
            )
            try:
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

    def append(self, *events: Event) -> list[Event]:
        """Write events, all or none, and return them with their places in the log.

        An event whose client id is there already is not written again: the one that is there is
        returned, if it says the same.

        Raises
        ------
        ConflictError
            If one says something else.
        StoreError
            If the disk does not take it. Nothing is written then.
        """
        with self._lock, self._said("written"):
            with self._transaction():
                written = [self._append(event) for event in events]
            self._empty_log()
        return written

    def _empty_log(self) -> None:
        """Move a long write-ahead log into the file.

        SQLite's own way leaves the log as it was until the next write; a copy of both in which the
        log was cut then mixes pages of two times.
        """
        # What was written is safe in the log, whatever happens here.
        with suppress(sqlite3.Error, OSError):
            if Path(f"{self.path}-wal").stat().st_size > LONGEST_LOG:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def by_client(self, client: str) -> Event | None:
        """The event that was sent with this id."""
        with self._lock, self._said("read"):
            row = self._connection.execute(
                "SELECT seq, client, time, annotator, kind, data FROM events WHERE client = ?",
                (client,),
            ).fetchone()
        return None if row is None else _event(row)

    def find(self, event: Event) -> Event | None:
        """The same event, if it is in the log already."""
        found = self.by_client(event.client)
        if found is None:
            return None
        if (found.annotator, found.kind, found.data) != (event.annotator, event.kind, event.data):
            raise ConflictError(
                f"the id {event.client} was used for another event before: reload the page"
            )
        return found

    def _append(self, event: Event) -> Event:
        found = self.find(event)
        if found is None:
            row = (event.client, event.time, event.annotator, event.kind, _dump(event.data))
            cursor = self._connection.execute(
                "INSERT INTO events (client, time, annotator, kind, data) VALUES (?, ?, ?, ?, ?)",
                row,
            )
            assert cursor.lastrowid is not None
            return replace(event, seq=cursor.lastrowid)
        return found

    def events(self, after: int = 0) -> list[Event]:
        """All events with larger numbers, in order."""
        with self._lock, self._said("read"):
            rows = self._connection.execute(
                "SELECT seq, client, time, annotator, kind, data FROM events WHERE seq > ? "
                "ORDER BY seq",
                (after,),
            ).fetchall()
        return [_event(row) for row in rows]

    def close(self) -> None:
        """Put everything into the one file, and let go of it."""
        with self._lock:
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
    def _said(self, done: str) -> Iterator[None]:
        """What SQLite says, as what to do about it."""
        try:
            yield
        except sqlite3.Error as error:
            reason = str(error)
            if "full" in reason:
                advice = "the disk is full; free some space and try again"
            elif "locked" in reason:
                advice = "another program holds it; close that one and try again"
            elif "malformed" in reason or "not a database" in reason:
                advice = "the file is damaged or no log of poise; bring back a copy of it"
            elif "readonly" in reason or "unable to open" in reason:
                advice = "the folder or file may not be written; change its permissions"
            else:
                advice = reason
            raise StoreError(f"{self.path} could not be {done}: {advice}") from error


def _event(row: tuple[int, str, str, str, str, str]) -> Event:
    seq, client, time, annotator, kind, data = row
    return Event(kind, json.loads(data), annotator, client, time, seq)


def _dump(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
