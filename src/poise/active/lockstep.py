"""Simulated sessions that advance together: what they need is solved at once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.active.learner import Learner
from poise.active.policies import is_for_batches
from poise.active.trace import Accuracy, Trace
from poise.arrays import Ints
from poise.graph import Graph
from poise.models.growth import grown, growth, plain
from poise.models.harmonic import Columns, Model, Problem, solve_problems
from poise.models.registry import models
from poise.models.result import ScoreResult
from poise.progress import Progress

#: Models to measure accuracy in that are solved with all trials' columns at once.
_together = {"pwll": Model(), "laplace": Model(reweighted=False)}

#: Other models that can be solved as roughly as an accuracy needs.
_takes_rtol = ("poisson", "wnll", "properly-weighted")

#: Fewer columns wait, since nobody needs them yet: a solve is worth it when its packets are full.
MIN_COLUMNS = 96
#: Relative residual of columns that only say which class is largest. Half the time, and at most 4
#: of 70,000 predictions differ (docs/decisions/single-precision.md).
MEASURING_RTOL = 1e-5


@dataclass(frozen=True, eq=False)
class Truth:
    """The known classes, which are the answers.

    Attributes
    ----------
    classes : names
    codes : (n,) positions of the nodes' classes, -1 where not known
    groups : (n,) clusters
    """

    classes: list[Any]
    codes: Ints
    groups: Ints


def advance(
    graph: Graph,
    sessions: "Sequence[Recorder]",
    budget: int,
    batch: int,
    progress: Progress | None,
) -> None:
    """Ask and answer `budget` questions in every session, `batch` at a time."""
    work = Work(graph, sessions)
    tasks = [task for session in sessions for task in session.evaluate()]
    work.do(tasks, steps=0, at_once=budget == 0)
    for_batches = any(session.for_batches for session in sessions)
    for first in range(0, budget, batch):
        size = min(batch, budget - first)
        k = size if for_batches else 1
        for n_asked in range(0, size, k):
            if n_asked:
                work.do([], steps=0)
            for session in sessions:
                session.ask(k)
        for session in sessions:
            session.answer()
        tasks = [task for session in sessions for task in session.evaluate()]
        work.do(tasks, steps=size, at_once=first + size == budget)
        if progress:
            progress(first + size, budget)


@dataclass(frozen=True, eq=False)
class Task:
    """An accuracy to be measured once a problem is solved."""

    session: "Recorder"
    problem: Problem
    measure: Callable[[Columns], None]

    @property
    def n_columns(self) -> int:
        """About how many columns have to be solved for."""
        return 1 if plain(self.problem) else len(self.problem.groups)


class Work:
    """Solves what all sessions need as columns of one solve.

    What the next decision needs is solved at once; accuracies that need a solve of their own wait
    until there are enough of them to fill the solver's packets of columns.
    """

    def __init__(self, graph: Graph, sessions: Sequence["Recorder"]) -> None:
        self.graph, self.sessions = graph, sessions
        self.waiting: list[Task] = []
        # Poisson weights of the decisions' problems, which waiting tasks will need again.
        self.weights: dict[Problem, Columns] = {}
        # Each session's last solution in plain Laplace learning, from which the next one grows.
        self.laplace: dict[Recorder, tuple[Problem, Columns]] = {}
        self.steps = 0
        self.before = time.perf_counter()

    def do(self, tasks: Sequence[Task], *, steps: int, at_once: bool = False) -> None:
        """Accept tasks that belong to `steps` further queries of each session."""
        self.steps += steps
        wanted = [session.learner._now().open_problems() for session in self.sessions]
        problems = list(dict.fromkeys(p for some in wanted for p in some))
        solved = dict(zip(problems, solve_problems(self.graph, problems), strict=True))
        for session, some in zip(self.sessions, wanted, strict=True):
            session.learner._solutions.supply(
                self.graph, some, [solved[problem] for problem in some]
            )
        for task in tasks:
            if task.problem in solved:
                task.measure(solved[task.problem])
            else:
                self.waiting.append(task)
        if self.waiting:
            nothing = np.empty((self.graph.n_nodes, 0))
            self.weights |= {
                replace(p, rtol=MEASURING_RTOL): replace(columns, values=nothing)
                for p, columns in solved.items()
            }
        if at_once or sum(task.n_columns for task in self.waiting) >= MIN_COLUMNS:
            self._measure_waiting()
        if self.steps and not self.waiting:
            after = time.perf_counter()
            each = (after - self.before) / len(self.sessions) / self.steps
            for session in self.sessions:
                session.seconds += [each] * self.steps
            self.before, self.steps = after, 0

    def _measure_waiting(self) -> None:
        last = {session: problem for session, (problem, _) in self.laplace.items()}
        steps = []
        for task in self.waiting:
            before = last.get(task.session)
            steps.append(growth(before, task.problem) if before else None)
            if plain(task.problem):
                last[task.session] = task.problem
        needed = [step or task.problem for task, step in zip(self.waiting, steps, strict=True)]
        problems = list(dict.fromkeys(needed))
        solutions = solve_problems(self.graph, problems, self.weights, rtol=MEASURING_RTOL)
        solved = dict(zip(problems, solutions, strict=True))
        for task, step in zip(self.waiting, steps, strict=True):
            columns = solved[step or task.problem]
            if step:
                columns = grown(*self.laplace[task.session], task.problem, columns)
            if plain(task.problem):
                self.laplace[task.session] = task.problem, columns
            task.measure(columns)
        self.waiting.clear()
        self.weights.clear()


class Recorder:
    """One simulated session and what is measured of it."""

    def __init__(
        self,
        learner: Learner,
        initial: Ints,
        truth: Truth,
        also: Sequence[str],
    ) -> None:
        self.learner, self.initial = learner, initial
        self.classes, self.codes, self.groups = truth.classes, truth.codes, truth.groups
        self.also = tuple(also)
        self.for_batches = is_for_batches(learner.policy)
        self.queries: list[int] = []
        # Shares that are right, overall and by class: in the predicting model, then in the others.
        self.right: list[list[tuple[float, float]]] = [[] for _ in (None, *also)]
        self.counts: list[int] = []
        self.seen: list[int] = []
        self.seconds: list[float] = []

    def ask(self, k: int) -> None:
        self.queries += self.learner.ask(k).tolist()

    def answer(self) -> None:
        nodes = list(self.learner.pending)
        self.learner.tell(nodes, [self.classes[self.codes[node]] for node in nodes])

    def evaluate(self) -> list[Task]:
        """Record how far the session is; the tasks measure the accuracies at this point."""
        labelled = np.array([*self.initial, *self.queries], dtype=np.int64)
        rest = self.codes >= 0
        rest[labelled] = False
        position, now = len(self.counts), self.learner._now()
        self.counts.append(len(self.queries))
        self.seen.append(len(np.unique(self.groups[labelled])))
        tasks = []
        for name, right in zip((None, *self.also), self.right, strict=True):
            # Without labels nothing counts as right; without unlabelled nodes everything does.
            right.append((float(len(labelled) > 0),) * 2)
            if not len(labelled) or not rest.any():
                continue
            if name is not None and name not in _together:
                options = {"rtol": MEASURING_RTOL} if name in _takes_rtol else {}
                result = models.factory(name)(now.graph, now.labels, **options)
                right[position] = self._share_right(result, rest)
                continue
            prediction = now.prediction(now.predicting if name is None else _together[name])

            def measure(
                columns: Columns,
                right: list[tuple[float, float]] = right,
                finish: Callable[[Columns], ScoreResult] = prediction.finish,
            ) -> None:
                right[position] = self._share_right(finish(columns), rest)

            tasks.append(Task(self, prediction.problem, measure))
        return tasks

    def _share_right(self, result: ScoreResult, rest: npt.NDArray[np.bool_]) -> tuple[float, float]:
        code_of = {name: code for code, name in enumerate(self.classes)}
        predicted = np.array([code_of[name] for name in result.classes])[result.codes]
        right = (predicted == self.codes)[rest]
        counts = np.bincount(self.codes[rest])
        hits = np.bincount(self.codes[rest], weights=right)
        return float(right.mean()), float((hits[counts > 0] / counts[counts > 0]).mean())

    def trace(self) -> Trace:
        queries = np.array(self.queries, dtype=np.int64)
        accuracy, *others = (Accuracy(*np.array(right).T) for right in self.right)
        return Trace(
            initial=self.initial,
            queries=queries,
            answers=np.array(self.classes)[self.codes[queries]],
            n_answers=np.array(self.counts, dtype=np.int64),
            accuracy=accuracy.accuracy,
            balanced_accuracy=accuracy.balanced_accuracy,
            clusters_seen=np.array(self.seen, dtype=np.int64),
            n_clusters=int(self.groups.max()) + 1,
            seconds=np.array(self.seconds),
            also=dict(zip(self.also, others, strict=True)),
        )
