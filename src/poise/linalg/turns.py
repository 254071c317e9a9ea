"""A lock for work in many parts: waiting threads get it in the order in which they asked."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

#: Maximum delay of a part of background work, so that it always ends.
BACKGROUND_WAIT_MAX_SECONDS = 1.0


class Turns:
    """A context manager for one thread at a time, first come, first served.

    A standard lock goes to whichever thread takes it first, usually the one that has just released
    it. A thread with a thousand parts would then lock out a thread with one.

    Work that no one waits for runs `in_background`: its parts are delayed while another thread does
    something `urgent`.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()
        self._thread = threading.local()
        self._calm = threading.Condition()
        self._n_urgent = 0

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Delay the background work of other threads."""
        with self._calm:
            self._n_urgent += 1
        try:
            yield
        finally:
            with self._calm:
                self._n_urgent -= 1
                self._calm.notify_all()

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Let urgent work of other threads come first."""
        self._thread.in_background = True
        try:
            yield
        finally:
            self._thread.in_background = False

    def _wait_for_calm(self) -> None:
        """In the background, wait until nothing is urgent, but not for ever."""
        if getattr(self._thread, "in_background", False):
            with self._calm:
                self._calm.wait_for(lambda: not self._n_urgent, BACKGROUND_WAIT_MAX_SECONDS)

    def __enter__(self) -> None:
        self._wait_for_calm()
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            turn = threading.Event()
            self._waiting.append(turn)
        try:
            turn.wait()
        except BaseException:  # interrupted: the turn goes to the next one
            with self._guard:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                else:
                    self._hand_over()
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._taken = False


#: The work-queue threading layer of numba may not be entered by two threads at once. Solves take
#: turns, packet by packet, so that a short solve need not wait for the end of a long one.
TURNS = Turns()
