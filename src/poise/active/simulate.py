"""Simulated labelling: how a learner would have done, had the known classes been asked for."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from poise.active.graphs import check_graph
from poise.active.learner import Learner
from poise.active.policies import as_policy
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.errors import InputError, LabelError
from poise.graph import Graph
from poise.models.growth import grown, growth, plain
from poise.models.harmonic import Columns, Model, Problem, solve_problems
from poise.models.labels import Labels, as_label, as_node
from poise.models.poisson_weights import SHIFT
from poise.models.registry import models
from poise.models.result import ScoreResult
from poise.models.targets import read_classes
from poise.progress import Progress

#: Models to measure accuracy in that are solved with all trials' columns at once.
_together = {"pwll": Model(), "laplace": Model(shift=None)}

#: Other models that can be solved as roughly as an accuracy needs.
_takes_rtol = ("poisson", "wnll", "properly-weighted")

#: Columns that are worth a solve when nobody waits for them: the packets of columns are full then.
ENOUGH = 96
#: Relative residual of columns that only say which class is largest. Half the time, and at most 4
#: of 70,000 predictions differ (docs/decisions/single-precision.md).
MEASURING_RTOL = 1e-5

Initial = Literal["one-per-class"] | int | Sequence[int] | npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Shares of the unlabelled nodes that are right, (E,): of all, and the mean over classes."""

    accuracy: Floats
    balanced_accuracy: Floats


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened in one simulated session of Q queries.

    Attributes
    ----------
    initial : nodes labelled at the start
    queries : (Q,) nodes asked, in order
    answers : (Q,) their classes
    n_answers : (E,) numbers of answers at which was evaluated: 0 .. Q, or every batch
    accuracy, balanced_accuracy : (E,) on the unlabelled nodes, in the paper's PWLL with tau =
        `predict_tau`; a learner predicts so with ``predictor="pwll"``. 0 while there is no label,
        since nothing is predicted, and 1 once every node is labelled
    clusters_seen : (E,) number of clusters with a labelled node
    n_clusters : clusters in all
    seconds : (Q,) time per query: choosing, answering and evaluating; with trials in lockstep, the
        step's time divided by the number of trials, and with batches by their size. Accuracies
        that no choice needs are measured for many steps together, and their time is shared.
    also : the same accuracies in other models, by name
    """

    initial: Ints
    queries: Ints
    answers: npt.NDArray[Any]
    n_answers: Ints
    accuracy: Floats
    balanced_accuracy: Floats
    clusters_seen: Ints
    n_clusters: int
    seconds: Floats
    also: dict[str, Accuracy] = field(default_factory=dict)


def simulate(graph: Graph, y_true: npt.ArrayLike, *, seed: int = 0, **options: Any) -> Trace:
    """One simulated session; the options are those of `simulate_many`."""
    return simulate_many(graph, y_true, seeds=[seed], **options)[0]


def simulate_many(
    graph: Graph,
    y_true: npt.ArrayLike,
    *,
    acquisition: Any = "auto",
    policy: Any = "max",
    tau: Any = None,
    predict_tau: float | None = 0.0,
    shift: float | None = SHIFT,
    also: Sequence[str] = (),
    seeding: Any = None,
    n_seeding: int = 10,
    budget: int = 100,
    batch: int = 1,
    seeds: Sequence[int] = (0,),
    initial: Initial = "one-per-class",
    clusters: npt.ArrayLike | None = None,
    progress: Progress | None = None,
) -> list[Trace]:
    """Simulated sessions that advance together, all their columns in one solve per step.

    Parameters
    ----------
    y_true : (n,) classes; points whose class is not known (-1, NaN, None, pandas' NA) are neither
        asked nor counted
    acquisition, policy, tau, predict_tau, shift, seeding, n_seeding : as for `Learner`
    also : names of other models to measure accuracy in
    budget : queries per session; ends early when nothing is left to ask
    batch : queries asked together, before any of them is answered
    seeds : one session each; a seed fixes the initial labels and every random choice
    initial : "one-per-class", a number of random nodes, or the nodes themselves
    clusters : (n,) finer grouping for `clusters_seen`; the classes by default
    progress : called with (queries done, budget) after every step

    Returns
    -------
    list of Trace, one per seed
    """
    check_graph(graph)
    codes, names = read_classes(y_true, graph.n_nodes, "y_true")
    classes = [as_label(int(name) if names.dtype.kind == "f" else name) for name in names]
    for name in also:
        models.factory(name)  # an unknown name costs no work
    budget = whole_number(budget, "budget", 0)
    batch = whole_number(batch, "batch", 1)
    policy = as_policy(policy)
    batch_policy = getattr(policy, "batch", False)
    groups = codes
    if clusters is not None:
        groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    if groups.shape != codes.shape:
        raise LabelError(f"clusters has shape {groups.shape}: expected ({graph.n_nodes},)")
    unknown = np.flatnonzero(codes < 0)
    sessions = []
    for seed in _checked_seeds(seeds):
        start = initial_nodes(initial, codes, seed)
        learner = Learner(
            graph,
            {int(i): classes[codes[i]] for i in start},
            acquisition=acquisition,
            policy=policy,
            tau=tau,
            predict_tau=predict_tau,
            shift=shift,
            seeding=seeding,
            n_seeding=n_seeding,
            seed=seed,
            anticipate=False,
        )
        learner.exclude(unknown)
        sessions.append(_Recorder(learner, start, classes, codes, groups, also))
    n_known = graph.n_nodes - len(unknown)
    budget = min([budget, *(n_known - len(s.initial) for s in sessions)])
    work = _Work(graph, sessions)
    tasks = [task for session in sessions for task in session.evaluate()]
    work.do(tasks, steps=0, now=budget == 0)
    for first in range(0, budget, batch):
        size = min(batch, budget - first)
        at_once = size if batch_policy else 1
        for n_asked in range(0, size, at_once):
            if n_asked:
                work.do([], steps=0)
            for session in sessions:
                session.ask(at_once)
        for session in sessions:
            session.answer()
        last = first + size == budget
        work.do([task for s in sessions for task in s.evaluate()], steps=size, now=last)
        if progress:
            progress(first + size, budget)
    return [session.trace() for session in sessions]


@dataclass(frozen=True, eq=False)
class _Task:
    """An accuracy to be measured once a problem is solved."""

    session: "_Recorder"
    problem: Problem
    measure: Callable[[Columns], None]

    @property
    def n_columns(self) -> int:
        """How many columns have to be solved for, about."""
        return 1 if plain(self.problem) else len(self.problem.sources)


class _Work:
    """Solves what all sessions need as columns of one solve.

    What the next decision needs is solved at once; accuracies that need a solve of their own wait
    until there are enough of them to fill the solver's packets of columns.
    """

    def __init__(self, graph: Graph, sessions: Sequence["_Recorder"]) -> None:
        self.graph, self.sessions = graph, sessions
        self.waiting: list[_Task] = []
        # The Poisson weights of decisions' problems, which tasks that wait will need again.
        self.weights: dict[Problem, Columns] = {}
        # Each session's last solution in plain Laplace learning, from which the next one grows.
        self.laplace: dict[_Recorder, tuple[Problem, Columns]] = {}
        self.steps = 0
        self.before = time.perf_counter()

    def do(self, tasks: Sequence[_Task], *, steps: int, now: bool = False) -> None:
        """Take on tasks that belong to so many further queries of each session."""
        self.steps += steps
        wanted = [session.learner.open_problems() for session in self.sessions]
        problems = list(dict.fromkeys(p for some in wanted for p in some))
        solved = dict(zip(problems, solve_problems(self.graph, problems), strict=True))
        for session, some in zip(self.sessions, wanted, strict=True):
            session.learner.supply(some, [solved[problem] for problem in some])
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
        if now or sum(task.n_columns for task in self.waiting) >= ENOUGH:
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
        found = solve_problems(self.graph, problems, self.weights, rtol=MEASURING_RTOL)
        solved = dict(zip(problems, found, strict=True))
        for task, step in zip(self.waiting, steps, strict=True):
            columns = solved[step or task.problem]
            if step:
                columns = grown(*self.laplace[task.session], task.problem, columns)
            if plain(task.problem):
                self.laplace[task.session] = task.problem, columns
            task.measure(columns)
        self.waiting.clear()
        self.weights.clear()


class _Recorder:
    """One simulated session and what is measured of it."""

    def __init__(
        self,
        learner: Learner,
        initial: Ints,
        classes: list[Any],
        codes: Ints,
        groups: Ints,
        also: Sequence[str],
    ) -> None:
        self.learner, self.initial = learner, initial
        self.classes, self.codes, self.groups = classes, codes, groups
        self.also = tuple(also)
        self.queries: list[int] = []
        # Shares that are right, of all and by class: in the predicting model, then in the others.
        self.right: list[list[tuple[float, float]]] = [[] for _ in (None, *also)]
        self.counts: list[int] = []
        self.seen: list[int] = []
        self.seconds: list[float] = []

    def ask(self, k: int) -> None:
        self.queries += self.learner.ask(k).tolist()

    def answer(self) -> None:
        nodes = list(self.learner.pending)
        self.learner.tell(nodes, [self.classes[self.codes[node]] for node in nodes])

    def evaluate(self) -> list[_Task]:
        """Note where the session stands; the accuracies there are measured by the tasks."""
        labelled = np.array([*self.initial, *self.queries], dtype=np.int64)
        rest = self.codes >= 0
        rest[labelled] = False
        place = len(self.counts)
        self.counts.append(len(self.queries))
        self.seen.append(len(np.unique(self.groups[labelled])))
        tasks = []
        for name, right in zip((None, *self.also), self.right, strict=True):
            # Nothing to predict from counts as nothing right, nothing to predict as all right.
            right.append((float(len(labelled) > 0),) * 2)
            if not len(labelled) or not rest.any():
                continue
            if name is not None and name not in _together:
                graph, learner = self.learner.graph, self.learner
                labels = Labels.of(learner.labels, graph.n_nodes, learner.classes)
                options = {"rtol": MEASURING_RTOL} if name in _takes_rtol else {}
                result = models.factory(name)(graph, labels, **options)
                right[place] = self._share_right(result, rest)
                continue
            prediction = self.learner.prediction(None if name is None else _together[name])

            def measure(
                columns: Columns,
                right: list[tuple[float, float]] = right,
                finish: Callable[[Columns], ScoreResult] = prediction.finish,
            ) -> None:
                right[place] = self._share_right(finish(columns), rest)

            tasks.append(_Task(self, prediction.problem, measure))
        return tasks

    def _share_right(self, result: ScoreResult, rest: npt.NDArray[np.bool_]) -> tuple[float, float]:
        position = {name: code for code, name in enumerate(self.classes)}
        predicted = np.array([position[name] for name in result.classes])[result.codes]
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


def initial_nodes(initial: Initial, codes: Ints, seed: int) -> Ints:
    """The nodes that are labelled at the start; `codes` is -1 where the class is not known."""
    rng = np.random.default_rng(seed)
    if isinstance(initial, str):
        if initial != "one-per-class":
            raise InputError(f"initial is {initial!r}: expected 'one-per-class', a number or nodes")
        return np.array([rng.choice(np.flatnonzero(codes == c)) for c in range(codes.max() + 1)])
    known = np.flatnonzero(codes >= 0)
    if isinstance(initial, (int, np.integer)):
        if not 0 <= initial <= len(known):
            raise InputError(f"initial is {initial}: expected 0 to {len(known)} nodes")
        return known[rng.choice(len(known), int(initial), replace=False)]
    if not isinstance(initial, Iterable):
        raise InputError(f"initial is {initial!r}: expected 'one-per-class', a number or nodes")
    nodes = [as_node(node, len(codes)) for node in initial]
    for node in nodes:
        if codes[node] < 0 or nodes.count(node) > 1:
            why = "named twice" if codes[node] >= 0 else "not labelled in y_true"
            raise InputError(f"initial holds node {node}, which is {why}: give others")
    return np.array(nodes, dtype=np.int64)


def _checked_seeds(seeds: Any) -> list[int]:
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise InputError(f"seeds is {seeds!r}: expected several, for example seeds=range(3)")
    return [whole_number(seed, "seed", 0) for seed in seeds]
