"""Questions without waiting: one thread owns the learner and works ahead of the people.

While somebody looks at a question, the next one for every possible answer is computed. Where that
takes too long, or where several people answer, questions are queued instead: several are chosen at
once, each the best of its surroundings, with the open ones answered in expectation. `pace.py` says
when. Nobody else touches the learner. The thread takes in what it is told, in order, before it goes
on working ahead, so the next solve knows all answers that came during the last one.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

from poise import Graph, Learner
from poise.active.warm_up import is_warming_up
from poise.models.calibration import Calibration
from poise.studio.asking.background import Worker
from poise.studio.asking.demand import Demand
from poise.studio.asking.foreseeing import NO_ANSWER, Foreseen, Foresight, possible_answers
from poise.studio.asking.pace import DEFAULT_PACE, Load, Pace
from poise.studio.asking.question import Features, Question, ask
from poise.studio.asking.setup import Setup
from poise.studio.asking.telling import explain, free, tell

T = TypeVar("T")


class Asker(Worker):
    """Asks questions. All methods may be called by any thread, and none waits for a solve.

    Parameters
    ----------
    pace : when to think ahead, when to queue questions, and how many
    is_compiling : whether the solver is being compiled at this moment
    """

    #: What chooses questions and explains given ones, with the learner.
    choose, explain = staticmethod(ask), staticmethod(explain)

    def __init__(
        self,
        graph: Graph,
        features: Features,
        setup: Setup,
        *,
        seed: int = 0,
        pace: Pace = DEFAULT_PACE,
        is_compiling: Callable[[], bool] = is_warming_up,
    ) -> None:
        super().__init__("poise-asker")
        self.graph, self.features, self.seed = graph, features, seed
        self.pace, self.is_compiling = pace, is_compiling
        self.learner = setup.learner(graph, seed)
        #: Seconds that the last solves took, without the first, which loads the solver.
        self.solve_seconds: deque[float] = deque(maxlen=3)
        #: What makes probabilities of the scores; None while none may be shown.
        self.calibration: Calibration | None = None
        #: How often the labels have changed, and how many of these changes the learner knows.
        self.changes = self._known = 0
        #: Who has to be served. If several people answer, what follows an answer depends on the
        #: others' answers: nothing is foreseen then, and no open question has its own column.
        self.demand = Demand()
        self._wanted = self._prepared = self._exhausted = self._has_solved = False
        self._queue: deque[Question] = deque()
        self._explained: dict[int, Question] = {}
        self._to_explain: set[int] = set()
        self._to_renew: set[int] = set()
        #: Node -> near-duplicates that get the same answer, unless the person says otherwise.
        self.duplicates_of: Callable[[int], list[int]] = lambda node: []
        self._foreseen = Foreseen()
        self._restarts = 0  # results of work that began before the last one are dropped
        self._touched: set[int] = set()  # nodes that were answered or held since an ask began
        self._start()

    # What happens -----------------------------------------------------------------------------

    def tell(self, nodes: list[int], label: str) -> None:
        """Take in answers, to questions or not, also to nodes that had another label before."""
        self._post(lambda: tell(self.learner, nodes, label), nodes, labels=True)

    def skip(self, nodes: list[int]) -> None:
        """Do not ask about these nodes for a while."""
        self._post(lambda: self.learner.skip(nodes), nodes)

    def exclude(self, nodes: list[int]) -> None:
        """Never ask about these nodes."""
        self._post(lambda: self.learner.exclude(nodes), nodes)

    def release(self, nodes: list[int]) -> None:
        """Take back the questions about these nodes; they may be asked again."""
        self._post(lambda: free(self.learner, set(nodes)), nodes)

    def restart(
        self,
        setup: Setup,
        held: list[int],
        grown: tuple[Graph, Features] | None = None,
        *,
        people: int | None = None,
        keep: bool = False,
    ) -> None:
        """Begin anew with other labels, settings or items; questions that people hold stay open.

        Parameters
        ----------
        people : how many answer from now on
        keep : whether the queued questions are still worth asking. They are kept for several
            people only: a single one gets the best question for the labels as they are now.
        """

        def anew() -> None:
            if grown is not None:
                self.graph, self.features = grown
            self.learner = setup.learner(self.graph, self.seed, anticipate=not self.demand.several)

        with self._changed:
            self._restarts += 1
            kept = keep and self.demand.several
            if people is not None:
                self.demand.people = people
            if not kept:
                self._queue.clear()
                self._explained.clear()
            self._foreseen.clear()
            self._to_explain = {question.node for question in self._queue}
            self._to_renew.clear()
        self._post(anew, [], labels=True)
        for node in held:
            self.hold(node)

    def hold(self, node: int) -> None:
        """Ask about a given node; the reasons come later, see `explained`."""
        with self._changed:
            self._to_explain.add(node)
            self._drop({node})
        self._post(lambda: None, [])

    # What is asked ----------------------------------------------------------------------------

    def foreseen(self, node: int, answer: str, others: Sequence[int] = ()) -> Question | None:
        """The question that follows an answer, if it is known already.

        Parameters
        ----------
        others : nodes that get the same answer
        """
        with self._changed:
            return self._foreseen.after(node, answer, others)

    def follow(self, question: Question) -> None:
        """Ask the question that was foreseen."""
        with self._changed:
            self._explained[question.node] = question
        self._post(lambda: self.learner.pend(question.node), [])

    def next(self) -> Question | None:
        """A question that is ready, else None: wait until there is one."""
        with self._changed:
            if self._queue:
                question = self._queue.popleft()
                self._explained[question.node] = question
                self.demand.taken()
                self._notify()
                return question
            if not self._wanted:  # a caller that asks again while it waits must not wake itself
                self._wanted = True
                self._notify()
            return None

    def explained(self, node: int) -> Question | None:
        """The question about a node that is asked, with its reasons, once they are known.

        A guess that does not know the newest label is withheld, and another one is made. Where
        several people answer, a guess need not know the others' answers since the last round.
        """
        with self._changed:
            question = self._explained.get(node)
            if question is None or question.knows >= self.changes or self.demand.several:
                return question
            if node not in self._to_renew:  # a caller that waits for it must not wake itself
                self._to_renew.add(node)
                self._notify()
            return None

    def ahead(self, node: int) -> dict[str, Question | None] | None:
        """What follows each possible answer; None while that is not known."""
        with self._changed:
            return self._foreseen.likely(node)

    @property
    def waiting(self) -> tuple[Question, ...]:
        """The queue: questions chosen ahead."""
        with self._changed:
            return tuple(self._queue)

    @property
    def wanted_ready(self) -> int:
        """How many questions should be in the queue of several people."""
        demand = self.demand
        return self.pace.ready(demand.people, demand.taken_per_second, demand.round_seconds)

    @property
    def exhausted(self) -> bool:
        """Whether there was nothing left to ask."""
        with self._changed:
            return self._exhausted

    def do(self, work: Callable[[Learner], T]) -> "Future[T]":
        """Do something with the learner that changes nothing."""
        return self._promise(lambda: work(self.learner))

    # The thread -------------------------------------------------------------------------------

    def _post(self, change: Callable[[], None], nodes: list[int], *, labels: bool = False) -> None:
        """Change what the learner knows (with `labels`, its labels) or what it is asked for."""

        def changing() -> None:
            change()
            self._known += labels
            self._prepared = False

        with self._changed:
            self.changes += labels
            for node in nodes:
                self._explained.pop(node, None)
                self._to_explain.discard(node)
                self._to_renew.discard(node)
            self._drop(set(nodes))
            self._foreseen.clear()
            self._exhausted = False
            self._failure = None
            self._give(changing)

    def _drop(self, nodes: set[int]) -> None:
        """Take nodes out of the queue, and out of what is being chosen at this moment."""
        self._touched |= nodes
        self._queue = deque(q for q in self._queue if q.node not in nodes)

    def _step(self) -> Callable[[], None] | None:
        if self._to_explain:
            return self._explain
        if self.demand.several:  # what is solved before the next answer would be solved again
            return self._ask if self._missing() > 0 and not self._exhausted else None
        if self._wanted and not self._queue and not self._exhausted:
            return self._ask
        if not self._prepared and (self.learner.labels or self.learner.pending):
            return self._prepare
        if self._to_renew:
            return self._explain
        load = self._load()
        if not self.pace.queues(load):
            return self._foresee if self._unforeseen() is not None else None
        few = len(self._queue) < self.pace.enough_queued(load, bool(self.learner.labels))
        return self._ask if self.learner.pending and few and not self._exhausted else None

    def _missing(self) -> int:
        """How many questions several people lack: those who have none, and the queue."""
        held = len(self.learner.pending) - len(self._queue)
        return max(self.demand.people - held, 0) + self.wanted_ready - len(self._queue)

    def _load(self) -> Load:
        return Load(self.graph.n_nodes, tuple(self.solve_seconds), self.is_compiling())

    def _explain(self) -> None:
        with self._changed:
            nodes, restarts = sorted(self._to_explain or self._to_renew), self._restarts
        questions = self.explain(self.learner, self.features, nodes, self.calibration)
        with self._changed:
            self._prepared = False
            queued = {question.node for question in self._queue}
            explained = {q.node: replace(q, knows=self._known) for q in questions}
            for node, question in explained.items():
                # Unless an answer or other items have come in the meantime.
                if node in self._to_explain | self._to_renew and restarts == self._restarts:
                    self._to_explain.discard(node)
                    self._to_renew.discard(node)
                    if node not in queued:
                        self._explained[node] = question
            self._queue = deque(explained.get(q.node, q) for q in self._queue)
            self._notify()

    def _ask(self) -> None:
        began = time.perf_counter()
        with self._changed:
            restarts = self._restarts
            self._touched = set(self._to_explain)
            several = self.demand.several
            wanted = self._missing() if several else self.pace.batch(self._load())
        if wanted <= 0:
            return
        questions = self.choose(self.learner, self.features, wanted, self.calibration)
        with self._changed:
            self._prepared = False
            if restarts != self._restarts:
                return
            if several:
                self.demand.round_took(time.perf_counter() - began)
            self._wanted = False
            self._exhausted = not questions
            new = [question for question in questions if question.node not in self._touched]
            self._queue += [replace(question, knows=self._known) for question in new]
            self._notify()

    def _prepare(self) -> None:
        began = time.perf_counter()
        solves = self.learner.prepare()  # without a solve, it says nothing about the speed
        if solves and self._has_solved:
            self.solve_seconds.append(time.perf_counter() - began)
        self._has_solved |= solves
        with self._changed:
            self._prepared = not self._inbox
            self._notify()

    def _unforeseen(self) -> int | None:
        """The open question whose answers are not all thought through yet."""
        if len(self.learner.pending) != 1:
            return None
        (node,) = self.learner.pending
        return None if self._foreseen.has_all(node, self._answers(node)) else node

    def _answers(self, node: int) -> tuple[str, ...]:
        """What may be answered, in the order in which it is thought through."""
        question = self._explained.get(node)
        likely = () if question is None else question.likely
        used = set(map(str, self.learner.labels.values()))
        return possible_answers(used, likely, self.pace.first_classes)

    def _foresee(self) -> None:
        """Find what follows each answer to the open question, until something happens."""
        node = self._unforeseen()
        if node is None:
            return
        duplicates = tuple(self.duplicates_of(node))
        with self._changed:
            known = self._foreseen.begin(node, duplicates)
        missing = [answer for answer in self._answers(node) if answer not in known]
        sight = Foresight(self.learner, self.features, self.calibration, self.pace, self._load())
        for answer, question in sight.following(node, duplicates, missing):
            if question is not None:
                question = replace(question, knows=self._known + (answer != NO_ANSWER))
            with self._changed:
                if self._inbox or self._to_explain or self._wanted or self._stopped:
                    return  # something happened, which comes first
                known[answer] = question
                self._notify()
