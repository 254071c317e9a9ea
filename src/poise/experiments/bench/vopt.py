"""V-Opt and Sigma-Opt on all points, compared with the authors' route on 500 of them."""

import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import AnswerModel, Statistics
from poise.active.learner import Learner
from poise.arrays import Floats, Ints
from poise.experiments.bench.data import imbalanced_mnist, load, one_per_class
from poise.experiments.bench.memory import megabytes, reset_peak
from poise.experiments.bench.peer import graphlearning
from poise.experiments.bench.row import Row
from poise.graph import Graph, knn_graph
from poise.progress import Progress

QUERIES = 100
#: Candidates of the authors' route, and number of its queries that are timed: each takes a minute.
CANDIDATES = 500
PEER_QUERIES = 2
SMALL = 3_000
SMALL_QUERIES = 50
#: Number of sketches with different random signs, because a single one could be good by chance.
SKETCHES = 3


def speed(progress: Progress) -> Iterator[Row]:
    """Seconds per query on mnist_imb_vae, set-up included, and peak memory."""
    graph, codes = imbalanced_mnist()
    rng = np.random.default_rng(0)
    initial = one_per_class(codes, rng)
    labels = {int(node): int(codes[node]) for node in initial}
    # Compilation at the very first solve is not part of a query.
    Learner(graph, labels, acquisition="norm").ask()
    total = 2 * QUERIES + PEER_QUERIES
    theirs = [_authors_query(graph, initial, rng)]
    progress(1, total)
    done, rows = 1, []
    for name in ("vopt", "sigmaopt"):
        reset_peak()
        learner = Learner(graph, labels, acquisition=name, anticipate=False)
        before = time.perf_counter()
        learner.prepare()
        set_up = time.perf_counter() - before
        for _ in range(QUERIES):
            node = int(learner.ask()[0])
            learner.tell(node, int(codes[node]))
            done += 1
            progress(done, total)
        rows.append((name, set_up, time.perf_counter() - before, megabytes("VmHWM")))
    theirs.append(_authors_query(graph, initial, rng))
    progress(total, total)
    peer = float(np.median(theirs))
    for name, set_up, seconds, peak in rows:
        mine = seconds / QUERIES
        yield Row(f"{name} on all points: seconds per query", mine, peer, peer / mine, 50.0)
        yield Row(f"{name} on all points: seconds of set-up, included above", set_up)
        yield Row(f"{name} on all points: peak memory, MB", peak, goal=1500.0, at_most=True)


def _authors_query(graph: Graph, labelled: Ints, rng: np.random.Generator) -> float:
    """Seconds that the authors' route takes to evaluate 500 candidates once."""
    gl = graphlearning()
    free = np.setdiff1d(np.arange(graph.n_nodes), labelled)
    L = sparse.csr_matrix(graph.laplacian())[free][:, free]
    chosen = rng.choice(len(free), CANDIDATES, replace=False)
    B = np.zeros((len(free), CANDIDATES))
    B[chosen, np.arange(CANDIDATES)] = 1.0
    before = time.perf_counter()
    C = gl.utils.conjgrad(L, B)
    _ = np.linalg.norm(C, axis=0) ** 2 / C[chosen, np.arange(CANDIDATES)]
    return time.perf_counter() - before


def quality(progress: Progress) -> Iterator[Row]:
    """Share of the best exact score that the chosen point has, by dense inversion."""
    X, digits = load("mnist_imb_vae")
    codes = digits % 3
    keep = np.random.default_rng(0).choice(len(X), SMALL, replace=False)
    graph, codes = knn_graph(X[keep], k=20), codes[keep]
    L = graph.laplacian().toarray()
    done, total = 0, 4 * SKETCHES * SMALL_QUERIES
    for name in ("vopt", "sigmaopt"):
        for model in ("hard", "soft"):
            acquisition = acquisitions.make(name, model=model, dense=0)  # as on large graphs
            answers = acquisition._answers()  # type: ignore[attr-defined]
            shares = []
            for seed in range(SKETCHES):
                learner = Learner(
                    graph, {0: int(codes[0])}, acquisition=acquisition, seed=seed, anticipate=False
                )
                C = _dense_covariance(L, graph, answers, np.array([0]))
                for _ in range(SMALL_QUERIES):
                    statistics = Statistics(
                        (C * C).sum(axis=0), C.sum(axis=0), np.diag(C), answers.s2
                    )
                    exact: Floats = acquisition.criterion(statistics)  # type: ignore[attr-defined]
                    exact[list(learner.labels)] = 0.0
                    node = int(learner.ask()[0])
                    shares.append(exact[node] / exact.max())
                    learner.tell(node, int(codes[node]))
                    C -= np.outer(C[node], C[node]) / (answers.s2 + C[node, node])
                    done += 1
                    progress(done, total)
            yield Row(
                f"{name}, {model}: least share of the best exact score, {SMALL:,} points, "
                f"{SKETCHES} sketches, {SMALL_QUERIES} queries each",
                float(min(shares)),
                goal=0.99,
            )
            rest = np.setdiff1d(np.arange(SMALL), list(learner.labels))
            guessed = learner.snapshot().memory.estimate()
            yield Row(
                f"{name}, {model}: relative error of C_kk by the sketch, root mean square",
                _error(guessed.variances[rest], np.diag(C)[rest]),
            )
            if name == "vopt":
                yield Row(
                    f"{name}, {model}: relative error of |C e_k|^2 by the sketch",
                    _error(guessed.squares[rest], (C * C).sum(axis=0)[rest]),
                )


def _error(estimate: Floats, exact: Floats) -> float:
    return float(np.sqrt(np.mean((estimate / exact - 1.0) ** 2)))


def _dense_covariance(L: Floats, graph: Graph, answers: AnswerModel, asked: Ints) -> Floats:
    """The covariance by inversion; zero in rows of nodes that are not free."""
    free = np.flatnonzero(answers.free(graph, asked))
    A = L[np.ix_(free, free)] + np.diag(answers.diagonal(graph, asked)[free])
    C = np.zeros_like(L)
    C[np.ix_(free, free)] = np.linalg.inv(A)
    return C
