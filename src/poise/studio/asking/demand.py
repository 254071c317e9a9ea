"""How many questions should be ready, so that nobody waits for a solve."""

import time
from collections import deque
from math import ceil
from statistics import median

#: Seconds over which the questions taken are counted.
RECENT = 10.0
#: Questions ready at least, and at most for each person: more would be chosen with older answers.
FEWEST, MOST_EACH = 3, 3


class Demand:
    """The people present, how fast they take questions, and how long choosing more takes.

    Several people: while one round of choosing runs, they take the questions that are ready, and
    the next round can only replace those that were taken before it began. So the questions of two
    rounds are kept ready, and one for each person at least.
    """

    def __init__(self) -> None:
        self.people = 1
        self._taken: deque[float] = deque()
        self._rounds: deque[float] = deque(maxlen=3)

    @property
    def several(self) -> bool:
        return self.people > 1

    def taken(self) -> None:
        """Somebody got a question."""
        self._taken.append(time.monotonic())
        self._forget()

    def round_took(self, seconds: float) -> None:
        """Choosing the last questions took this long, with the solve."""
        self._rounds.append(seconds)

    def ahead(self) -> int:
        """Questions that should be ready, for several people."""
        self._forget()
        per_second = len(self._taken) / RECENT
        in_two_rounds = ceil(2 * per_second * median(self._rounds or [0.0]))
        return max(FEWEST, self.people, min(in_two_rounds, MOST_EACH * self.people))

    def _forget(self) -> None:
        oldest = time.monotonic() - RECENT
        while self._taken and self._taken[0] < oldest:
            self._taken.popleft()
