"""Simulated labelling: a learner asks, and known classes are the answers."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from poise.active.graphs import check_graph
from poise.active.learner import Learner
from poise.active.lockstep import Recorder, Truth, advance
from poise.active.trace import Trace
from poise.arrays import Ints
from poise.checks import whole_number
from poise.errors import InputError, LabelError
from poise.graph import Graph
from poise.models.labels import as_label, as_node
from poise.models.poisson_weights import SHIFT
from poise.models.registry import models
from poise.models.targets import read_classes
from poise.progress import Progress

Initial = Literal["one-per-class"] | int | Sequence[int] | npt.NDArray[np.int64]


def simulate(graph: Graph, y_true: npt.ArrayLike, *, seed: int = 0, **options: Any) -> Trace:
    """One simulated session; the options are those of `simulate_many`.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> trace = poise.simulate(poise.knn_graph(X, k=10), y, budget=20)
    >>> len(trace.queries), bool(trace.accuracy[-1] > 0.9)
    (20, True)
    """
    return simulate_many(graph, y_true, seeds=[seed], **options)[0]


def simulate_many(
    graph: Graph,
    y_true: npt.ArrayLike,
    *,
    acquisition: Any = "auto",
    policy: Any = "max",
    tau: Any = None,
    predict_tau: float | None = 0.0,
    model: str = "pwll",
    shift: float = SHIFT,
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
    acquisition, policy, tau, predict_tau, model, shift, seeding, n_seeding : as for `Learner`
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

    Examples
    --------
    >>> import poise
    >>> data = poise.load_dataset("blobs")
    >>> graph = poise.knn_graph(data.X, k=20)
    >>> traces = poise.simulate_many(graph, data.classes, budget=10, seeds=range(3))
    >>> [len(trace.queries) for trace in traces]
    [10, 10, 10]
    """
    check_graph(graph)
    for name in also:
        models.factory(name)  # an unknown name costs no work
    budget = whole_number(budget, "budget", 0)
    batch = whole_number(batch, "batch", 1)
    truth = _read_truth(graph, y_true, clusters)
    unknown = np.flatnonzero(truth.codes < 0)
    sessions = []
    for seed in _checked_seeds(seeds):
        start = initial_nodes(initial, truth.codes, seed)
        learner = Learner(
            graph,
            {int(i): truth.classes[truth.codes[i]] for i in start},
            acquisition=acquisition,
            policy=policy,
            tau=tau,
            predict_tau=predict_tau,
            model=model,
            shift=shift,
            seeding=seeding,
            n_seeding=n_seeding,
            seed=seed,
            anticipate=False,
        )
        learner.exclude(unknown)
        sessions.append(Recorder(learner, start, truth, also))
    n_known = graph.n_nodes - len(unknown)
    budget = min([budget, *(n_known - len(session.initial) for session in sessions)])
    advance(graph, sessions, budget, batch, progress)
    return [session.trace() for session in sessions]


def _read_truth(graph: Graph, y_true: npt.ArrayLike, clusters: npt.ArrayLike | None) -> Truth:
    codes, names = read_classes(y_true, graph.n_nodes, "y_true")
    classes = [as_label(int(name) if names.dtype.kind == "f" else name) for name in names]
    groups = codes
    if clusters is not None:
        groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    if groups.shape != codes.shape:
        raise LabelError(f"clusters has shape {groups.shape}: expected ({graph.n_nodes},)")
    return Truth(classes, codes, groups)


def initial_nodes(initial: Initial, codes: Ints, seed: int) -> Ints:
    """Nodes labelled at the start; `codes` is -1 where the class is not known."""
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
