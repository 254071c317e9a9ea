"""A lock for work in many parts: who waits gets it in the order in which they came."""

import threading
from collections import deque
from types import TracebackType


class Turns:
    """A context manager that one thread is in at a time, first come, first served.

    A standard lock goes to whichever thread takes it first, usually the one that has just released
    it. A thread with a thousand parts to do would then keep out a thread with one.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    def __enter__(self) -> None:
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._guard:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._taken = False
