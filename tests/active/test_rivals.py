"""Acquisitions of other papers: every kind of graph, and few labels, give a defined result."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import poise

NAMES = [
    "maxherding",
    "uncertainty-herding",
    "dropquery",
    "badge",
    "dial",
    "hierarchical",
    "expected-error",
]


def graphs():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 3))
    X[40:] += 6
    yield "features", poise.knn_graph(X, k=5)
    yield "no features", poise.knn_graph(X, k=5, keep_features=False)
    yield "sparse", poise.knn_graph(sparse.csr_array(np.where(X > 0, X, 0)), k=5)
    yield "cosine", poise.knn_graph(X, k=5, metric="cosine")
    yield "chebyshev", poise.knn_graph(X, k=5, metric="chebyshev")
    yield "jaccard", poise.knn_graph((X > 1).astype(float), k=5, metric="jaccard")
    yield "one neighbour", poise.knn_graph(X, k=1)
    yield "huge", poise.knn_graph(1e100 * X, k=5)
    yield "coinciding", poise.knn_graph(np.repeat(X[:9], 10, axis=0), k=5)
    yield "all the same", poise.knn_graph(np.ones((12, 2)), k=3)
    yield "all zero", poise.knn_graph(np.zeros((12, 2)), k=3)
    yield "weights alone", poise.Graph.from_weights(poise.knn_graph(X, k=5).weights)
    yield "no edges", poise.Graph.from_weights(sparse.csr_array((7, 7)))
    yield "two points", poise.knn_graph(X[:2], k=1)


GRAPHS = dict(graphs())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("classes", [1, 3])
def test_every_graph_from_no_labels(name, kind, classes):
    """Answered and open questions by turns; with one class, no classifier ever comes about."""
    graph = GRAPHS[kind]
    learner = poise.Learner(graph, {}, acquisition=name)
    nodes = []
    for number in range(min(graph.n_nodes, 12)):
        snapshot = learner.snapshot()
        values = learner.acquisition(snapshot)
        assert np.isfinite(values[snapshot.candidates]).all()
        (node,) = learner.ask()
        nodes.append(int(node))
        if number % 3:
            learner.tell(node, number % classes)
    assert len(set(nodes)) == len(nodes)


@pytest.mark.parametrize("name", NAMES)
def test_islands(islands, name):
    graph, y = islands
    learner = poise.Learner(graph, {}, acquisition=name)
    for _ in range(8):
        (node,) = learner.ask()
        learner.tell(node, int(y[node]))
    assert len(learner.labels) == 8


@pytest.mark.parametrize("name", NAMES)
def test_almost_nothing_allowed(blobs, name):
    graph, _y = blobs
    learner = poise.Learner(graph, {3: 0}, acquisition=name)
    learner.exclude([i for i in range(120) if i not in (3, 70, 71)])
    assert sorted(learner.ask(5).tolist()) == [70, 71]


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_the_same_however_it_came_about(blobs, name):
    graph, y = blobs
    acquisition = poise.acquisitions.make(name)
    if not hasattr(acquisition, "start"):
        pytest.skip("remembers nothing")
    nodes = [5, 90, 44, 45]
    labels = {node: int(y[node]) for node in nodes}
    learner = poise.Learner(graph, labels, acquisition=name)
    snapshot = learner.snapshot()

    def values(memory):
        return acquisition(
            dataclasses.replace(
                snapshot,
                constrained=np.array(nodes),
                recall=lambda: memory,
                rng=np.random.default_rng(0),
            )
        )

    at_once = acquisition.start(graph, np.array(nodes), 0)
    step_by_step = acquisition.start(graph, np.array(nodes[:1]), 0)
    for node in nodes[1:]:
        step_by_step = acquisition.advance(step_by_step, node)
    assert (values(at_once) == values(step_by_step)).all()


@pytest.mark.parametrize("name", NAMES)
def test_undo_and_saving_keep_the_questions(blobs, name):
    graph, y = blobs
    learner = poise.Learner(graph, {}, acquisition=name)
    for node in learner.ask(3):
        learner.tell(node, int(y[node]))
    again = poise.Learner.from_json(graph, learner.to_json())
    again.undo()
    again.tell(node, int(y[node]))
    assert learner.ask(2).tolist() == again.ask(2).tolist()
