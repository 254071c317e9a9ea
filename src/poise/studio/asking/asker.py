"""Questions without waiting: one thread owns the learner and works ahead of the people.

While somebody looks at a question, the next one for every possible answer is computed. Where that
takes too long, or where several people answer, questions are asked ahead instead: some at once,
each the best of its surroundings, with the open ones answered in expectation. Nobody else touches
the learner; what is said to the thread is done in order, before it goes on working ahead. So all
answers that came during a solve are known to the next one.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from math import ceil
from statistics import median
from typing import Any, TypeVar

from poise import Graph, Learner
from poise.errors import NodeIndexError, PoiseError
from poise.linalg.turns import TURNS
from poise.linalg.warm_up import is_warming_up
from poise.models.calibration import Calibration
from poise.studio.asking.demand import FEWEST, Demand
from poise.studio.asking.question import NEW_CLASS, Features, Question, ask, ask_about
from poise.studio.asking.setup import Setup

#: Seconds of a solve from which on questions are asked ahead: people may be as quick. With so many
#: items that is known before the first solve, which takes longest.
SLOW, LARGE = 0.25, 200_000
#: Then as many are asked with one solve, at most `MOST`, as a quick person answers while the next
#: solve runs, one question in `PACE` seconds. More of them are more questions that were chosen
#: without the answers to the ones before.
MOST, PACE = 12, 1.0
#: Until a solve was measured, it is taken to need so many seconds a node.
EXPECTED = 8e-6
#: And so many while the solver is compiled, once after an installation: with more first questions
#: that know nothing of each other's answers, fewer classes are seen early.
COMPILING = 6
#: Seconds of a solve from which on nobody thinks ahead about a skip: it takes a solve of its own,
#: which the answer that is more likely would have to wait for.
DEAR = 0.2
#: With more nodes that get the same answer, what follows is not foreseen: each takes a solve.
MOST_TOGETHER = 4
#: Classes that are thought through first, the most likely ones; the others when nothing else is
#: left to do. What follows an answer that was not thought through costs no solve either.
LIKELY = 12
#: Stands for no answer at all.
NO_ANSWER = "\N{NULL}skip"

T = TypeVar("T")


def fulfil(future: "Future[T]", work: Callable[[], T]) -> None:
    """Do what was promised; whoever asks for the result hears of an error."""
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)


class Asker:
    """Puts questions. All methods may be called by any thread, and none waits for a solve."""

    def __init__(self, graph: Graph, features: Features, setup: Setup, *, seed: int = 0) -> None:
        self.graph, self.features, self.seed = graph, features, seed
        self.learner = setup.learner(graph, seed)
        #: Seconds that the last solves ahead took, without the first, which loads the solver.
        self.solve_seconds: deque[float] = deque(maxlen=3)
        self._has_solved = False
        #: What makes probabilities of the scores; None as long as none must be shown.
        self.calibration: Calibration | None = None
        #: How often the labels have changed, and how many of these changes the learner knows.
        self.changes = self._known = 0
        #: Who has to be served. If several people answer, what an answer leads to depends on the
        #: others' answers: nothing is foreseen then, and no open question has its own column.
        self.demand = Demand()
        self._changed = threading.Condition()
        self._inbox: deque[tuple[Callable[[], None], Future[Any] | None]] = deque()
        self._wanted = False
        self._queue: deque[Question] = deque()
        self._explained: dict[int, Question] = {}
        self._to_explain: set[int] = set()
        self._to_renew: set[int] = set()
        #: The nodes that get the same answer as the open question, see `alike`.
        self._together: dict[int, tuple[int, ...]] = {}
        #: Node -> others that are answered with it, unless the person says otherwise.
        self.alike: Callable[[int], list[int]] = lambda node: []
        self._ahead: dict[int, dict[str, Question | None]] = {}
        self._prepared = False
        self._exhausted = False
        self._stopped = False
        self._ticks = 0
        self._restarts = 0  # what was begun before the last one counts no more
        self._touched: set[int] = set()  # nodes that were answered or held since an ask began
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="poise-asker", daemon=True)
        self._thread.start()

    # What happens -----------------------------------------------------------------------------

    def tell(self, nodes: list[int], label: str) -> None:
        """Answers, to questions or not, also to nodes that had another label before."""

        def told() -> None:
            known = self.learner.labels
            old = [node for node in nodes if node in known]
            new = [node for node in nodes if node not in known]
            if old:
                self.learner.relabel(old, [label] * len(old))
            if new:
                self._free(set(new) - set(self.learner.pending))
                self.learner.tell(new, [label] * len(new))

        self._post(told, nodes, labels=True)

    def skip(self, nodes: list[int]) -> None:
        """Not these nodes for a while."""
        self._post(lambda: self.learner.skip(nodes), nodes)

    def exclude(self, nodes: list[int]) -> None:
        """Never these nodes."""
        self._post(lambda: self.learner.exclude(nodes), nodes)

    def release(self, nodes: list[int]) -> None:
        """Nobody is asked about these nodes any more; they may be asked again."""
        self._post(lambda: self._free(set(nodes)), nodes)

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
        keep : whether the questions asked ahead are still worth asking. They are kept for several
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
            self._ahead.clear()
            self._to_explain = {question.node for question in self._queue}
            self._to_renew.clear()
        self._post(anew, [], labels=True)
        for node in held:
            self.hold(node)

    def hold(self, node: int) -> None:
        """A question about a given node; its reasons come later, see `explained`."""
        with self._changed:
            self._to_explain.add(node)
            self._drop({node})
        self._post(lambda: None, [])

    # What is asked ----------------------------------------------------------------------------

    def foreseen(self, node: int, answer: str, others: Sequence[int] = ()) -> Question | None:
        """The question that follows an answer, if that is known already.

        Parameters
        ----------
        others : nodes that get the same answer
        """
        with self._changed:
            expected = () if answer == NO_ANSWER else self._together.get(node, ())
            same = set(others) == set(expected)
            return self._ahead.get(node, {}).get(answer) if same else None

    def follow(self, question: Question) -> None:
        """Put the question that was foreseen."""
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
            if not self._wanted:  # whoever asks again while waiting must not wake itself
                self._wanted = True
                self._notify()
            return None

    def explained(self, node: int) -> Question | None:
        """The question about a node that is asked, with its reasons, once they are known.

        A guess that does not know the newest label is not given; another one is made. Where several
        people answer, a guess need not know what the others said since the last round.
        """
        with self._changed:
            found = self._explained.get(node)
            if found is None or found.knows >= self.changes or self.demand.several:
                return found
            if node not in self._to_renew:  # whoever waits for it must not wake itself
                self._to_renew.add(node)
                self._notify()
            return None

    def ahead(self, node: int) -> dict[str, Question | None] | None:
        """What follows each possible answer; None as long as it is not known."""
        with self._changed:
            found = self._ahead.get(node, {})
            return dict(found) if NEW_CLASS in found else None

    @property
    def waiting(self) -> tuple[Question, ...]:
        """Questions asked ahead."""
        with self._changed:
            return tuple(self._queue)

    @property
    def exhausted(self) -> bool:
        """Whether there was nothing left to ask."""
        with self._changed:
            return self._exhausted

    def wait(self, ready: Callable[[], T | None], seconds: float) -> T | None:
        """What `ready` gives, as soon as it gives something; called without holding any lock."""
        until = time.monotonic() + seconds
        while True:
            with self._changed:
                now = self._ticks
                if self._failure is not None:
                    raise PoiseError(f"the model cannot go on: {self._failure}")
            found = ready()
            left = until - time.monotonic()
            if found is not None or self._stopped or left <= 0:
                return found
            with self._changed:
                if self._ticks == now and not self._stopped:
                    self._changed.wait(left)

    def do(self, work: Callable[[Learner], T]) -> "Future[T]":
        """Something to be done with the learner that changes nothing."""
        future: Future[T] = Future()
        with self._changed:
            self._inbox.append((lambda: fulfil(future, lambda: work(self.learner)), future))
            self._notify()
        return future

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._stopped = True
            self._notify()
        self._thread.join()
        for _, future in self._inbox:
            if future is not None:
                future.cancel()  # nobody waits for ever

    def _notify(self) -> None:
        self._ticks += 1
        self._changed.notify_all()

    # The thread -------------------------------------------------------------------------------

    def _post(self, change: Callable[[], None], nodes: list[int], *, labels: bool = False) -> None:
        """A change of what the learner knows, of its labels or else, or of what it is asked for."""

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
            self._ahead.clear()
            self._exhausted = False
            self._failure = None
            self._inbox.append((changing, None))
            self._notify()

    def _drop(self, nodes: set[int]) -> None:
        """Take nodes out of what is asked ahead, and of what is being chosen at this moment."""
        self._touched |= nodes
        self._queue = deque(q for q in self._queue if q.node not in nodes)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._inbox or self._step())
                if self._stopped:
                    return
                work = self._inbox.popleft()[0] if self._inbox else None
                step = None if work else self._step()
            try:
                with TURNS.urgent():  # somebody waits for it, or soon will
                    if work is not None:
                        work()
                    elif step is not None:
                        step()
            except Exception as error:
                with self._changed:
                    self._failure = error
                    self._notify()

    def _step(self) -> Callable[[], None] | None:
        """What to work at next, most urgent first."""
        if self._failure is not None:
            return None
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
        if not self._queues():
            return self._foresee if self._unforeseen() is not None else None
        # Fewer would run out before the next solve is done. The first ones need no solve.
        enough = self._at_once() if self.learner.labels else self._at_once() // 2 + 1
        few = len(self._queue) < enough
        return self._ask if self.learner.pending and few and not self._exhausted else None

    def _queues(self) -> bool:
        """Whether questions are asked ahead of one person, rather than answers foreseen."""
        slow = self._solving() > SLOW or self.graph.n_nodes >= LARGE
        return slow or is_warming_up()

    def _solving(self) -> float:
        """Seconds that a solve takes, as far as that is known."""
        return median(self.solve_seconds or [0.0])

    def _missing(self) -> int:
        """How many questions several people lack: those who have none, and those to be ready."""
        held = len(self.learner.pending) - len(self._queue)
        return max(self.demand.people - held, 0) + self.demand.ahead() - len(self._queue)

    def _at_once(self) -> int:
        """How many questions are asked ahead of one person with one solve."""
        if is_warming_up():
            return COMPILING
        seconds = self._solving() or EXPECTED * self.graph.n_nodes
        return min(max(ceil(seconds / PACE), FEWEST), MOST)

    def _explain(self) -> None:
        with self._changed:
            nodes, restarts = sorted(self._to_explain or self._to_renew), self._restarts
        learner = self.learner
        labelled = [node for node in nodes if node in learner.labels]
        free = [node for node in nodes if node not in learner.labels]
        questions = [Question(node) for node in labelled]
        if free:
            self._free(set(free))
            questions += ask_about(learner, self.features, free, self.calibration)
        with self._changed:
            self._prepared = False
            ahead = {question.node for question in self._queue}
            explained = {q.node: replace(q, knows=self._known) for q in questions}
            for node, question in explained.items():
                # Unless an answer came meanwhile, or other items.
                if node in self._to_explain | self._to_renew and restarts == self._restarts:
                    self._to_explain.discard(node)
                    self._to_renew.discard(node)
                    if node not in ahead:
                        self._explained[node] = question
            self._queue = deque(explained.get(q.node, q) for q in self._queue)
            self._notify()

    def _free(self, nodes: set[int]) -> None:
        """Give nodes back to the pool, if something keeps them from it."""
        for node in sorted(nodes):
            with suppress(NodeIndexError):
                self.learner.release(node)

    def _ask(self) -> None:
        began = time.perf_counter()
        with self._changed:
            restarts = self._restarts
            self._touched = set(self._to_explain)
            several = self.demand.several
            wanted = self._missing() if several else self._at_once() if self._queues() else 1
        if wanted <= 0:
            return
        questions = ask(self.learner, self.features, wanted, self.calibration)
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
        before = time.perf_counter()
        solves = self.learner.prepare()  # else it says nothing about the speed
        if solves and self._has_solved:
            self.solve_seconds.append(time.perf_counter() - before)
        self._has_solved |= solves
        with self._changed:
            self._prepared = not self._inbox
            self._notify()

    def _unforeseen(self) -> int | None:
        """The open question whose answers are not thought through yet."""
        if len(self.learner.pending) != 1:
            return None
        (node,) = self.learner.pending
        found = self._ahead.get(node, {})
        return None if all(answer in found for answer in self._answers(node)) else node

    def _answers(self, node: int) -> tuple[str, ...]:
        """What may be answered, in the order in which it is thought through.

        Classes that have no label yet all lead to the same question.
        """
        asked = self._explained.get(node)
        used = set(map(str, self.learner.labels.values()))
        rank = {name: i for i, name in enumerate(() if asked is None else asked.likely)}
        classes = sorted(used, key=lambda name: (rank.get(name, len(rank)), name))
        return (*classes[:LIKELY], NEW_CLASS, NO_ANSWER, *classes[LIKELY:])

    def _foresee(self) -> None:
        node = self._unforeseen()
        if node is None:
            return
        others = self.alike(node)
        with self._changed:
            found = self._ahead.setdefault(node, {})  # what was interrupted goes on
            self._together = {node: tuple(others)}
        whole: Learner | None = None  # with the others' columns, solved once for all answers
        for answer in self._answers(node):
            if answer in found:
                continue
            following = None
            if answer == NO_ANSWER or not others:
                if answer != NO_ANSWER or min(self.solve_seconds, default=0.0) <= DEAR:
                    following = self._after(self.learner, [node], answer)
            elif len(others) <= MOST_TOGETHER:
                if whole is None:
                    whole = self.learner.copy()
                    whole.pend(others)
                    whole.prepare()
                following = self._after(whole, [node, *others], answer)
            with self._changed:
                if self._inbox or self._to_explain or self._wanted or self._stopped:
                    return  # something happened: it comes first
                found[answer] = following
                if answer in (NEW_CLASS, NO_ANSWER):
                    self._notify()

    def _after(self, learner: Learner, nodes: list[int], answer: str) -> Question | None:
        """The question that would follow an answer."""
        twin = learner.copy()
        if answer == NO_ANSWER:
            twin.skip(nodes)
        else:
            twin.tell(nodes, [answer] * len(nodes))
        found = next(iter(ask(twin, self.features, 1, self.calibration)), None)
        known = self._known + (answer != NO_ANSWER)
        return None if found is None else replace(found, knows=known)
