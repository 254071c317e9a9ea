"""A thread that notices whatever happens to a learner, wherever it was told."""

import logging
import threading
import time
from collections.abc import Callable

from poise import Learner
from poise.active.state import Event

#: How often the thread looks whether another cell has changed the learner.
POLL_SECONDS = 0.2

#: Number of nodes, and everything that happened.
Moment = tuple[int, tuple[Event, ...]]
log = logging.getLogger(__name__)


class Follower:
    """Calls `work` in a thread of its own, at once and after every change of a learner.

    Parameters
    ----------
    work : callable
        Gets the moment that it is called for. It may change the learner, and says with `done` up to
        which moment everything is worked off.
    """

    def __init__(self, learner: Learner, work: Callable[[Moment], None]) -> None:
        self._learner, self._work = learner, work
        self._seen: Moment | None = None
        self._calm = threading.Condition()
        self._wanted = self._closed = False
        self._thread = threading.Thread(target=self._run, name="poise-widget", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look at the learner now instead of with the next poll."""
        with self._calm:
            self._wanted = True
            self._calm.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until everything that happened so far is worked off; return whether it is."""
        end = time.monotonic() + seconds
        self.wake()
        with self._calm:
            return self._calm.wait_for(self._is_up_to_date, max(0.0, end - time.monotonic()))

    def close(self) -> None:
        """End the thread, after the call that it is in."""
        with self._calm:
            self._closed = True
            self._calm.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    @property
    def is_behind(self) -> bool:
        """Whether something has happened since `work` was called, or the thread should end."""
        return self._closed or self.now() != self._seen

    def now(self) -> Moment:
        """The learner at this moment; two are equal if nothing happened in between."""
        return self._learner.graph.n_nodes, self._learner.events

    def done(self, moment: Moment) -> None:
        """Whoever waits need not wait for what happened up to this moment."""
        with self._calm:
            self._seen = moment
            self._calm.notify_all()

    def _is_up_to_date(self) -> bool:
        return self._closed or self._seen == self.now()

    def _run(self) -> None:
        while not self._closed:
            self._wanted = False
            moment = self.now()
            if moment != self._seen:
                self._try(moment)
            with self._calm:
                self._calm.wait_for(lambda: self._closed or self._wanted, POLL_SECONDS)

    def _try(self, moment: Moment) -> None:
        """Do the work; an error, such as one of a callback, must not end the thread."""
        try:
            self._work(moment)
        except Exception:
            log.exception("a widget could not follow its learner")
            self.done(moment)
