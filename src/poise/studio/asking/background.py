"""Work in threads of its own, so that no request waits for it."""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from poise.errors import PoiseError
from poise.linalg.turns import TURNS

T = TypeVar("T")


def in_background(work: Callable[[], T]) -> "Future[T]":
    """The result of work in a daemon thread, which the program does not wait for when it ends."""
    future: Future[T] = Future()
    thread = threading.Thread(
        target=fulfil, args=(future, work), name="poise-background", daemon=True
    )
    thread.start()
    return future


def fulfil(future: "Future[T]", work: Callable[[], T]) -> None:
    """Do the work of a future; whoever asks for the result gets its error."""
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)


class Worker:
    """A thread that does what it is told in order, and in between takes steps of its own.

    A subclass says with `_step` what to work at next, and calls `_start` when it is ready for that.
    Whoever changes what `_step` depends on holds `_changed` and calls `_notify`.
    """

    def __init__(self, name: str) -> None:
        self._changed = threading.Condition()
        self._inbox: deque[tuple[Callable[[], None], Future[Any] | None]] = deque()
        self._stopped = False
        self._ticks = 0
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def wait(self, ready: Callable[[], T | None], seconds: float) -> T | None:
        """What `ready` returns, as soon as that is not None; called without holding any lock."""
        until = time.monotonic() + seconds
        while True:
            with self._changed:
                now = self._ticks
                if self._failure is not None:
                    raise PoiseError(f"the model cannot go on: {self._failure}")
            result = ready()
            left = until - time.monotonic()
            if result is not None or self._stopped or left <= 0:
                return result
            with self._changed:
                if self._ticks == now and not self._stopped:
                    self._changed.wait(left)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._stopped = True
            self._notify()
        self._thread.join()
        for _, future in self._inbox:
            if future is not None:
                future.cancel()  # nobody waits for ever

    def _step(self) -> Callable[[], None] | None:
        """What to work at next, the most urgent first; None while there is nothing to do."""
        raise NotImplementedError

    def _start(self) -> None:
        self._thread.start()

    def _give(self, work: Callable[[], None], future: "Future[Any] | None" = None) -> None:
        """Add work to be done in order; the caller holds `_changed`."""
        self._inbox.append((work, future))
        self._notify()

    def _promise(self, work: Callable[[], T]) -> "Future[T]":
        """The result of work that is done in order."""
        future: Future[T] = Future()
        with self._changed:
            self._give(lambda: fulfil(future, work), future)
        return future

    def _notify(self) -> None:
        self._ticks += 1
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._inbox or self._next_step())
                if self._stopped:
                    return
                work = self._inbox.popleft()[0] if self._inbox else self._next_step()
            try:
                if work is not None:
                    with TURNS.urgent():  # somebody waits for it, or soon will
                        work()
            except Exception as error:
                with self._changed:
                    self._failure = error
                    self._notify()

    def _next_step(self) -> Callable[[], None] | None:
        return None if self._failure is not None else self._step()
