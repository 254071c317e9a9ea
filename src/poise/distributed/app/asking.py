"""The app's questions, chosen at all ranks; the app's asker calls the learner at rank 0."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from poise.distributed.replica import Guess
from poise.studio.asking.asker import Asker
from poise.studio.asking.pace import Pace
from poise.studio.asking.question import CLOSE_DIFFERENCE, FAR_NORM, Question

#: A solve takes too long to compute the question that follows each answer: questions are queued.
QUEUEING = Pace(many_nodes=0)


def questions(guesses: Sequence[Guess], classes: Sequence[Any]) -> list[Question]:
    """What the app shows about some nodes: a guess, and why each is asked."""
    return [_question(guess, classes) for guess in guesses]


def _question(guess: Guess, classes: Sequence[Any]) -> Question:
    if not guess.shares:
        return Question(guess.node)
    order = sorted(range(len(guess.shares)), key=lambda code: -guess.shares[code])
    best, *others = (guess.shares[code] for code in order)
    is_close = bool(others) and best - others[0] < CLOSE_DIFFERENCE
    otherwise = "explore" if guess.norm < FAR_NORM else "confirm"
    names = [str(classes[code]) for code in order]
    reason = "decide" if is_close else otherwise
    return Question(guess.node, names[0], reason=reason, likely=tuple(names))


def choose(learner: Any, features: Any, k: int = 1, calibration: Any = None) -> list[Question]:
    """Up to `k` questions, with one solve."""
    guesses = learner.ask_apart(k)
    return questions(guesses, learner.classes)


def explain(learner: Any, features: Any, nodes: Sequence[int], calibration: Any) -> list[Question]:
    """Questions about given nodes, with what the labels say where they have no label."""
    labelled = [node for node in nodes if node in learner.labels]
    others = [node for node in nodes if node not in learner.labels]
    asked = learner.ask_about(others) if others else []
    return [Question(node) for node in labelled] + questions(asked, learner.classes)


class AskerAtRanks(Asker):
    """Asks one person, always from the queue.

    A guess knows the answers up to the last solve. It is renewed when there is nothing else to do:
    if it were withheld until then, most questions would have none.
    """

    choose, explain = staticmethod(choose), staticmethod(explain)

    def explained(self, node: int) -> Question | None:
        """The question about a node that is asked, with its reasons, once they are known."""
        with self._changed:
            return self._explained.get(node)

    def _step(self) -> Callable[[], None] | None:
        return super()._step() or (self._renew if self._stale() else None)

    def _stale(self) -> list[int]:
        """Nodes whose guesses do not know the newest labels, where there is one class at least."""
        if not self.learner.labels:
            return []
        asked = [*self._explained.values(), *self._queue]
        open_nodes = set(self.learner.pending)
        return [q.node for q in asked if q.knows < self._known and q.node in open_nodes]

    def _renew(self) -> None:
        with self._changed:
            nodes = self._stale()
        learner: Any = self.learner
        renewed = questions(learner.guesses(nodes), learner.classes)
        known = {question.node: replace(question, knows=self._known) for question in renewed}
        with self._changed:
            for node in known.keys() & self._explained.keys():
                self._explained[node] = known[node]
            self._queue = type(self._queue)(known.get(q.node, q) for q in self._queue)
            self._notify()
