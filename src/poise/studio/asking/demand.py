"""Who has to be served: how many people there are, and how fast they take questions."""

import time
from collections import deque
from statistics import median

#: Questions taken within this time are counted.
RECENT_SECONDS = 10.0


class Demand:
    """The people present, how fast they take questions, and how long choosing more takes."""

    def __init__(self) -> None:
        self.people = 1
        self._taken: deque[float] = deque()
        self._rounds: deque[float] = deque(maxlen=3)

    @property
    def several(self) -> bool:
        """Whether more than one person answers."""
        return self.people > 1

    def taken(self) -> None:
        """Somebody got a question."""
        self._taken.append(time.monotonic())
        self._forget()

    def round_took(self, seconds: float) -> None:
        """Choosing the last questions took this long, with the solve."""
        self._rounds.append(seconds)

    @property
    def taken_per_second(self) -> float:
        """Questions taken per second of late."""
        self._forget()
        return len(self._taken) / RECENT_SECONDS

    @property
    def round_seconds(self) -> float:
        """How long choosing questions takes; 0 while it was not measured."""
        return median(self._rounds or [0.0])

    def _forget(self) -> None:
        oldest = time.monotonic() - RECENT_SECONDS
        while self._taken and self._taken[0] < oldest:
            self._taken.popleft()
