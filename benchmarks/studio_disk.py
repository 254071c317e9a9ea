"""For studio.py: what is on disk when a writing process dies, and when its last writes are lost."""

import json
import os
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from poise.studio.log.events import Event
from poise.studio.log.store import EventStore

#: Kills that one file has to bear; then a new one is begun.
KILLS_A_FILE = 50
#: Seconds after which a writer is killed, at most: it takes about 3 ms to open the file.
LONGEST_LIFE = 0.03
#: Answers in the logs that are cut, at least; of each a second one that ends where SQLite has just
#: moved its log into the file.
LOGS = (1, 40, 200, 400, 1000)
LONGEST = 5_000


def answer(number: int) -> tuple[Event, Event]:
    """An answer and the question that follows, as Studio writes them: both or none."""
    label = {"items": [f"item {number}"], "label": f"class {number % 7}", "via": "question"}
    return (
        Event("label", label, client=f"{number}"),
        Event("ask", {"item": f"item {number + 1}"}, client=f"{number} and on"),
    )


def answers_in(path: Path) -> int:
    """Number of answers in a log.

    Raises
    ------
    ValueError
        If they are not the first ones in their order, each once and whole, and nothing else.
    """
    store = EventStore(path)
    try:
        events = store.events()
    finally:
        store.close()
    found = [(event.client, event.kind, event.data) for event in events]
    expected = [
        (event.client, event.kind, event.data)
        for number in range(len(events) // 2)
        for event in answer(number)
    ]
    if found != expected:
        raise ValueError(f"{path} holds {len(found)} events that are no prefix of what was written")
    return len(events) // 2


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Do something in a copy of this process; its id, and where to read what it writes."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(here)
            work(there)
            status = 0
        except BaseException as error:
            print(f"studio: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)  # nothing of this process is ended twice
    os.close(there)
    return child, here


def written_by(child: int, here: int, until: float) -> bytes:
    """What a child wrote until it was killed, at a given moment."""
    said = b""
    while (left := until - time.perf_counter()) > 0:
        if select.select([here], [], [], left)[0]:
            said += os.read(here, 65536)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(here, 65536):  # what it wrote before it died
        said += more
    os.close(here)
    return said


def killed(folder: Path, kills: int, seed: int) -> Iterator[tuple[int, int, str]]:
    """Kill a writer again and again; for each time how much it acknowledged, and what is wrong.

    Each writer goes on with the first answer that was not acknowledged, as a page does: if that
    one is there already, it must not be there twice.

    Yields
    ------
    acknowledged : answers that this writer said were written
    unheard : 1 if the last answer was written and the writer died before it could say so
    problem : empty if there is none
    """
    rng = random.Random(seed)
    before = 0
    for kill in range(kills):
        path = folder / f"{kill // KILLS_A_FILE}" / "events.db"
        if kill % KILLS_A_FILE == 0:
            before = 0

        def write(there: int, path: Path = path, first: int = before) -> None:
            store = EventStore(path)
            for number in range(first, first + 100_000):
                store.append(*answer(number))
                os.write(there, b".")

        def check(there: int, path: Path = path) -> None:
            os.write(there, json.dumps(answers_in(path)).encode())

        child, here = forked(write)
        life = rng.uniform(0, LONGEST_LIFE)
        acknowledged = before + len(written_by(child, here, time.perf_counter() + life))
        # In a process of its own: SQLite must not be carried over a fork.
        child, here = forked(check)
        said = b""
        while more := os.read(here, 65536):
            said += more
        os.close(here)
        os.waitpid(child, 0)
        there, problem = int(said or -1), ""
        if not said:
            problem = f"kill {kill}: the log cannot be read, or is no prefix of what was written"
        elif not acknowledged <= there <= acknowledged + 1:
            problem = f"kill {kill}: {acknowledged} acknowledged, {there} there"
        yield acknowledged - before, int(there > acknowledged), problem
        before = acknowledged


def cut(folder: Path, cuts: int, seed: int) -> Iterator[tuple[int, int, str]]:
    """Cut logs at random places.

    Yields
    ------
    whole, left : answers before and after a cut
    problem : empty if there is none
    """
    rng = random.Random(seed)
    numbers: dict[Path, int] = {}
    for place in range(cuts):
        moved, least = divmod(place % (2 * len(LOGS)), len(LOGS))
        made = folder / f"whole {moved} {LOGS[least]}"
        if made not in numbers:

            def write(
                there: int, made: Path = made, least: int = LOGS[least], moved: int = moved
            ) -> None:
                store = EventStore(made / "events.db")
                size = 0
                for one in range(LONGEST):
                    store.append(*answer(one))
                    before, size = size, (made / "events.db").stat().st_size
                    if one + 1 >= least and (not moved or size > before > 0):
                        break
                os.write(there, str(one + 1).encode())

            child, here = forked(write)  # it ends without closing: the log stays as it is
            os.waitpid(child, 0)
            numbers[made] = int(os.read(here, 100))
            os.close(here)
        number = numbers[made]
        copy = folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        shutil.copyfile(made / "events.db", copy / "events.db")
        log = (made / "events.db-wal").read_bytes()
        offset = rng.randrange(len(log) + 1)
        (copy / "events.db-wal").write_bytes(log[:offset])
        try:
            left = answers_in(copy / "events.db")
        except Exception as error:
            yield number, 0, f"{number} answers, {len(log)} bytes cut to {offset}: {error}"
            continue
        yield number, left, "" if left <= number else f"{left} of {number} answers"
