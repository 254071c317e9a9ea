"""Keeps one question of a learner open, and thinks ahead while a person looks at it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from poise import Learner
from poise.active.state import Event
from poise.errors import PoiseError, PoolExhausted
from poise.integrations.notebook.following import Follower, Moment
from poise.models.balance import balance_factors
from poise.models.calibration import Calibration
from poise.models.labels import Label
from poise.models.result import normalise_scores
from poise.studio.asking.predictions import LARGE_HELD_OUT, MAX_UNSEEN_SHARE, unseen

#: Answers whose following questions are computed in advance, the most likely first.
FORESEEN_ANSWERS = 3
#: The calibration is computed again after this many times what the last one took, so that it takes
#: little from the questions.
RENEWAL_REST = 10.0


@dataclass(frozen=True)
class Shown:
    """What is known of the open question.

    Attributes
    ----------
    node : None while nothing is open
    guess : the most likely class; None without labels
    confidence : its calibrated probability; None while there is too little evidence for one
    ahead : nodes that may be asked next
    exhausted : whether nothing is left to ask
    problem : why no question can be asked; empty if one can
    """

    node: int | None = None
    guess: Label | None = None
    confidence: float | None = None
    ahead: tuple[int, ...] = ()
    exhausted: bool = False
    problem: str = ""


class Asking:
    """One question after the other, for all widgets that show the same learner.

    The question is the learner's oldest open one, whoever asked it. If there is none, another is
    asked, so a widget that is made again shows the same item again.
    """

    _all: ClassVar[dict[Learner, "Asking"]] = {}
    _joining: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.shown = Shown()
        self._listeners: list[Callable[[], None]] = []
        self._foreseen: list[tuple[tuple[Event, ...], int]] = []
        self._calibration: Calibration | None = None
        self._calibrated: dict[int, Label] = {}
        self._renewal_time = 0.0
        self._follower = Follower(learner, self._work)

    @classmethod
    def join(cls, learner: Learner, listener: Callable[[], None]) -> "Asking":
        """The one of this learner; `listener` is called in its thread when `shown` changes."""
        with cls._joining:
            asking = cls._all.get(learner)
            if asking is None:
                asking = cls._all[learner] = cls(learner)
                asking._follower.start()
            asking._listeners.append(listener)
        return asking

    def leave(self, listener: Callable[[], None]) -> None:
        """Call this listener no more; the last one ends the thread."""
        with self._joining:
            self._listeners.remove(listener)
            is_last = not self._listeners
            if is_last:
                del self._all[self.learner]
        if is_last:
            self._follower.close()

    def wake(self) -> None:
        """The learner has changed: the next question is wanted now."""
        self._follower.wake()

    def wait(self, seconds: float) -> bool:
        """Wait until `shown` knows all that happened so far; return whether it does."""
        return self._follower.wait(seconds)

    # In the thread ----------------------------------------------------------------------------

    def _work(self, moment: Moment) -> None:
        try:
            moment, node = self._open()
            shown = self._explained(Shown(node))
        except PoolExhausted:
            shown = Shown(exhausted=True)
        except Exception as error:  # of an acquisition of the user's own, for example
            words = str(error) if isinstance(error, PoiseError) else repr(error)
            shown = Shown(problem=f"No question can be asked: {words}")
        self._publish(shown)
        self._follower.done(moment)
        if shown.node is not None:
            self._think_ahead(shown.node)
            if not self._follower.is_behind and self._calibrate():
                self._publish(self._explained(self.shown))

    def _open(self) -> tuple[Moment, int]:
        """The open question, which is asked if there is none, and the moment at which it is."""
        learner = self.learner
        while True:
            moment = self._follower.now()
            pending = learner.pending
            if pending and moment == self._follower.now():
                return moment, pending[0]
            if pending:
                continue
            _, events = moment
            following = [node for before, node in self._foreseen if before == events]
            if following:
                learner.pend(following)
            else:
                learner.ask()

    def _publish(self, shown: Shown) -> None:
        self.shown = shown
        for listener in tuple(self._listeners):
            listener()

    def _explained(self, shown: Shown) -> Shown:
        """With a guess by the labels, as the app makes it."""
        order, probabilities = self._likely(shown.node)
        if not order or self._calibration is None:
            return replace(shown, guess=order[0] if order else None)
        return replace(shown, guess=order[0], confidence=float(np.clip(probabilities.max(), 0, 1)))

    def _likely(self, node: int | None) -> tuple[list[Label], np.ndarray]:
        """The classes with labels, the most likely first at a node, and all probabilities."""
        snapshot = self.learner.snapshot()
        labels = snapshot.labels
        if node is None or not len(labels):
            return [], np.zeros(0)
        scores = self.learner.scores[:, : len(labels.classes)]
        raw = normalise_scores(
            scores[[node]] * balance_factors(scores),
            np.ones(1, dtype=bool),
            labels.counts / len(labels),
        )
        (probabilities,) = (self._calibration or Calibration()).apply(raw)
        order = np.argsort(-probabilities, kind="stable").tolist()
        return [labels.classes[c] for c in order if labels.counts[c]], probabilities

    def _think_ahead(self, node: int) -> None:
        """Compute what follows the likely answers, and no answer; stop if one is given."""
        self._foreseen = []
        likely, _ = self._likely(node)
        for answer in [*likely[:FORESEEN_ANSWERS], None]:
            if self._follower.is_behind:
                return
            twin = self.learner.copy()
            try:
                if answer is None:
                    twin.skip(node)
                else:
                    twin.tell(node, answer)
                after = twin.events
                following = int(twin.pending[0] if twin.pending else twin.ask()[0])
            except Exception:  # nothing is left, or what is wrong shows once it is asked
                continue
            self._foreseen.append((after, following))
            ahead = dict.fromkeys([*self.shown.ahead, following])
            self._publish(replace(self.shown, ahead=tuple(ahead)))

    def _calibrate(self) -> bool:
        """Fit the calibration to the labels of now, if it is due; return whether it was."""
        labels = self.learner.labels
        began = time.monotonic()
        if labels == self._calibrated or began < self._renewal_time:
            return False
        self._calibrated, self._calibration = labels, None
        if len(set(labels.values())) > 1 and unseen(labels) <= MAX_UNSEEN_SHARE:
            # The guess comes from the graph alone, so it is calibrated without the linear model.
            twin = self.learner.copy(predictor="balanced", most_held_out=LARGE_HELD_OUT)
            fitted = twin.calibration
            self._calibration = fitted if fitted.has_evidence else None
        self._renewal_time = time.monotonic() + RENEWAL_REST * (time.monotonic() - began)
        return True
