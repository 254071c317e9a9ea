"""Acquisitions by distances alone: brute force, bounds, and graphs that lack something."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

import poise
from poise.active.acquisition.distances import edge_distances
from poise.active.acquisition.typicality import typicality
from poise.errors import GraphError, InputError

NAMES = ["coreset", "dac", "kmeans++", "probcover", "typicality", "typiclust"]


def asked(graph, acquisition, count, labels=None):
    learner = poise.Learner(graph, labels or {}, acquisition=acquisition)
    return learner.ask(count).tolist()


def values_of(graph, acquisition, nodes=()):
    learner = poise.Learner(graph, dict.fromkeys(nodes, 0), acquisition=acquisition)
    return learner.acquisition(learner.snapshot())


def ring(points):
    """A graph that is connected whatever its features are."""
    n = len(points)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1) % n] = W[(i + 1) % n, i] = 1.0
    np.fill_diagonal(W, 0)
    return poise.Graph.from_weights(W, points)


@pytest.fixture(scope="module")
def separated():
    """Six far clouds of 20 to 45 points, and where they are."""
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(6), [45, 40, 35, 30, 25, 20])
    centres = 20 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [0, 2]])
    X = centres[y] + rng.normal(size=(y.size, 2))
    return poise.knn_graph(X, k=6), y


def graphs():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 3))
    X[40:] += 6
    yield "lists", poise.knn_graph(X, k=5, keep_neighbours=True)
    yield "lists alone", poise.knn_graph(X, k=5, keep_neighbours=True, keep_features=False)
    yield "spacing alone", poise.knn_graph(X, k=5, keep_features=False)
    yield "sparse", poise.knn_graph(sparse.csr_array(np.where(X > 0, X, 0)), k=5)
    yield "cosine", poise.knn_graph(X, k=5, metric="cosine")
    yield "manhattan", poise.knn_graph(X, k=5, metric="manhattan")
    yield "chebyshev", poise.knn_graph(X, k=5, metric="chebyshev")
    yield "jaccard", poise.knn_graph((X > 1).astype(float), k=5, metric="jaccard")
    yield "mutual", poise.knn_graph(X, k=3, symmetrise="min")
    yield "epsilon", poise.epsilon_graph(X, 1.0)
    yield "coinciding", poise.knn_graph(np.repeat(X[:9], 10, axis=0), k=5)
    yield "all the same", poise.knn_graph(np.ones((12, 2)), k=3)
    yield "weights alone", poise.Graph.from_weights(poise.knn_graph(X, k=5).weights)
    yield "no edges", poise.Graph.from_weights(sparse.csr_array((7, 7)))


GRAPHS = dict(graphs())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_every_graph_from_no_labels(name, kind):
    graph = GRAPHS[kind]
    learner = poise.Learner(graph, {}, acquisition=name)
    nodes = []
    for _ in range(graph.n_nodes):
        snapshot = learner.snapshot()
        values = learner.acquisition(snapshot)
        assert np.isfinite(values[snapshot.candidates]).all()
        (node,) = learner.ask()
        nodes.append(int(node))
        if len(nodes) == 15:
            break
    assert len(set(nodes)) == len(nodes)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "typiclust"])
def test_islands(islands, name):
    graph, _y = islands
    learner = poise.Learner(graph, {}, acquisition="norm", seeding=name, n_seeding=8)
    nodes = learner.ask(8)
    assert len(set(nodes.tolist())) == 8
    if name in ("coreset", "kmeans++"):  # what cannot be reached is infinitely far
        assert graph.components[nodes[:4]].tolist() == [0, 1, 2, 3]
    if name in ("dac", "probcover"):
        assert graph.components[nodes[0]] == 0
        assert 1 in graph.components[nodes[:3]]


@pytest.mark.parametrize("name", NAMES)
def test_almost_nothing_allowed(blobs, name):
    graph, _y = blobs
    learner = poise.Learner(graph, {3: 0}, acquisition=name)
    learner.exclude([i for i in range(120) if i not in (3, 70, 71)])
    assert sorted(learner.ask(5).tolist()) == [70, 71]


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_the_same_however_it_came_about(blobs, name):
    graph, _y = blobs
    acquisition = poise.acquisitions.make(name)
    learner = poise.Learner(graph, {}, acquisition=name)
    snapshot = learner.snapshot()

    def values(memory, nodes):
        return acquisition(
            dataclasses.replace(
                snapshot,
                constrained=np.array(nodes),
                recall=lambda: memory,
                rng=np.random.default_rng(0),
            )
        )

    nodes = [5, 90, 44, 45]
    at_once = acquisition.start(graph, np.array(nodes), 0)
    step_by_step = acquisition.start(graph, np.array(nodes[:1]), 0)
    for node in nodes[1:]:
        before = values(step_by_step, nodes[:1])
        after = acquisition.advance(step_by_step, node)
        assert (values(step_by_step, nodes[:1]) == before).all()
        step_by_step = after
    assert (values(at_once, nodes) == values(step_by_step, nodes)).all()


@pytest.mark.parametrize("name", NAMES)
def test_undo_and_saving_keep_the_questions(blobs, name):
    graph, y = blobs
    learner = poise.Learner(graph, {}, acquisition=name)
    for node in learner.ask(3):
        learner.tell(node, int(y[node]))
    again = poise.Learner.from_json(graph, learner.to_json())
    assert learner.ask(2).tolist() == again.ask(2).tolist()


class TestCoreSet:
    @pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
    def test_brute_force(self, metric):
        X = np.random.default_rng(0).normal(size=(60, 4))
        graph = poise.knn_graph(X, k=5, metric=metric)
        if metric == "cosine":
            X, metric = X / np.linalg.norm(X, axis=1, keepdims=True), "euclidean"
        expected = cdist(X, X[[3, 40]], {"manhattan": "cityblock"}.get(metric, metric)).min(axis=1)
        assert values_of(graph, "coreset", [3, 40]) == pytest.approx(expected)

    def test_sparse_features_are_the_same(self):
        X = np.random.default_rng(0).normal(size=(60, 8))
        X[X < 0.5] = 0
        dense, thin = poise.knn_graph(X, k=5), poise.knn_graph(sparse.csr_array(X), k=5)
        for nodes in ([], [3, 40]):
            assert values_of(dense, "coreset", nodes) == pytest.approx(
                values_of(thin, "coreset", nodes)
            )

    def test_starts_at_the_mean(self, blobs):
        graph, _y = blobs
        X = graph.features
        assert asked(graph, "coreset", 1) == [np.argmin(np.linalg.norm(X - X.mean(axis=0), axis=1))]

    def test_paths_without_features(self, blobs):
        graph = poise.Graph.from_weights(blobs[0].weights)
        lengths = graph.weights.copy()
        lengths.data = 1 / lengths.data
        expected = shortest_path(lengths, method="FW")[[3, 40]].min(axis=0)
        assert values_of(graph, "coreset", [3, 40]) == pytest.approx(expected)

    @given(arrays(np.int64, st.tuples(st.integers(4, 30), st.just(2)), elements=st.integers(0, 9)))
    @settings(max_examples=40)
    def test_at_most_twice_the_best_radius(self, X):
        D = cdist(X, X)
        chosen = asked(ring(X.astype(float)), "coreset", 3)
        for k in (1, 2, 3):
            best = min(D[list(c)].min(axis=0).max() for c in combinations(range(len(X)), k))
            assert D[chosen[:k]].min(axis=0).max() <= 2 * best + 1e-9


class TestKMeansPlusPlus:
    def test_draws_in_proportion_to_squared_distances(self):
        graph = ring(np.array([[0.0], [1.0], [2.0], [3.0], [0.0]]))
        learner = poise.Learner(graph, {0: 0}, acquisition="kmeans++")
        snapshot = learner.snapshot()
        rng = np.random.default_rng(0)
        draws = [
            np.argmax(learner.acquisition(dataclasses.replace(snapshot, rng=rng)))
            for _ in range(4000)
        ]
        shares = np.bincount(draws, minlength=5) / 4000
        assert shares == pytest.approx(np.array([0, 1, 4, 9, 0]) / 14, abs=0.03)
        assert shares[0] == shares[4] == 0

    def test_first_is_uniform(self):
        graph = ring(np.array([[0.0], [1.0], [2.0], [50.0]]))
        first = [
            poise.Learner(graph, {}, acquisition="kmeans++", seed=s).ask()[0] for s in range(400)
        ]
        assert np.bincount(first) / 400 == pytest.approx(np.full(4, 0.25), abs=0.07)


class TestTypicality:
    @pytest.mark.parametrize("keep", [{}, {"keep_neighbours": True}])
    def test_brute_force(self, keep):
        X = np.random.default_rng(0).normal(size=(80, 3))
        D = np.sort(cdist(X, X), axis=1)[:, 1:8]
        graph = poise.knn_graph(X, k=7, **keep)
        assert typicality(graph) == pytest.approx(1 / D.mean(axis=1))
        without = poise.knn_graph(X, k=7, keep_features=False)
        assert typicality(without) == pytest.approx(1 / D[:, -1])
        other = poise.Graph.from_weights(graph.weights)
        assert (typicality(other) == other.degrees).all()

    def test_one_per_cloud(self, separated):
        graph, y = separated
        nodes = asked(graph, "typicality", 6)
        typical = typicality(graph)
        assert sorted(y[nodes]) == list(range(6))
        for node in nodes:
            assert typical[node] == typical[y == y[node]].max()

    def test_balls(self, blobs):
        graph, _y = blobs
        first, second = asked(graph, poise.acquisitions.make("typicality", proportion=0.25), 2)
        distances = shortest_path(edge_distances(graph), method="FW")[first]
        outside = np.argsort(distances)[30:]
        assert second == outside[np.argmax(typicality(graph)[outside])]


class TestTypiClust:
    @pytest.mark.parametrize("batch", [1, 6])
    def test_densest_of_its_cloud_and_another_each_time(self, separated, batch):
        graph, y = separated
        acquisition = poise.acquisitions.make("typiclust", batch=batch)
        typical = typicality(graph)
        learner = poise.Learner(graph, {}, acquisition=acquisition)
        for _ in range(6):
            snapshot = learner.snapshot()
            codes = snapshot.memory.clusters.codes
            (node,) = learner.ask()
            taken = set(codes[snapshot.constrained].tolist())
            assert codes[node] not in taken
            same = codes == codes[node]
            assert typical[node] == typical[same].max()
            free = [np.sum(codes == c) for c in set(codes.tolist()) - taken]
            assert same.sum() == max(free)
        if batch == 6:
            assert sorted(y[list(learner.pending)]) == list(range(6))

    def test_small_clusters_come_last(self, separated):
        graph, _y = separated
        acquisition = poise.acquisitions.make("typiclust", batch=6, min_size=22)
        learner = poise.Learner(graph, {}, acquisition=acquisition)
        nodes = learner.ask(7)
        sizes = np.bincount(learner.snapshot().memory.clusters.codes)
        codes = acquisition.start(graph, np.zeros(0, dtype=np.int64), 0).clusters.codes
        assert np.bincount(codes)[codes[nodes[:6]]].min() >= 22
        assert sizes.size == 12  # the second round has begun

    def test_clusters_are_kept_at_the_limit(self, blobs):
        graph, _y = blobs
        acquisition = poise.acquisitions.make("typiclust", max_clusters=3)
        memory = acquisition.start(graph, np.array([1, 2]), 0)
        assert acquisition.advance(memory, 5).clusters is memory.clusters

    def test_more_clusters_than_different_points(self):
        graph = poise.knn_graph(np.repeat(np.eye(2), 10, axis=0), k=3)
        assert len(asked(graph, "typiclust", 20)) == 20


class TestProbCover:
    def test_greedy(self, blobs):
        graph, _y = blobs
        radius = 0.4
        D = cdist(graph.features, graph.features)
        edges = (graph.weights.toarray() > 0) & (radius >= D)
        np.fill_diagonal(edges, True)
        acquisition = poise.acquisitions.make("probcover", radius=radius)
        learner = poise.Learner(graph, {7: 0}, acquisition=acquisition)
        covered = edges[7].copy()
        for _ in range(20):
            expected = (edges & ~covered).sum(axis=1)
            assert (learner.acquisition(learner.snapshot()) == expected).all()
            (node,) = learner.ask()
            covered |= edges[node]

    def test_balls_of_an_epsilon_graph_are_exact(self):
        X = np.random.default_rng(0).uniform(size=(70, 2))
        graph = poise.epsilon_graph(X, 0.2)
        assert (values_of(graph, "probcover") == (cdist(X, X) <= 0.2).sum(axis=1)).all()

    @given(arrays(np.int64, st.tuples(st.integers(6, 11), st.just(2)), elements=st.integers(0, 6)))
    @settings(max_examples=40)
    def test_bound(self, X):
        graph = poise.knn_graph(X.astype(float), k=4)
        edges = graph.weights.toarray() > 0
        np.fill_diagonal(edges, True)
        chosen = asked(graph, "probcover", 3)
        for k in (1, 2, 3):
            best = max(edges[list(c)].any(axis=0).sum() for c in combinations(range(len(X)), k))
            assert edges[chosen[:k]].any(axis=0).sum() >= (1 - 1 / np.e) * best

    def test_radius_needs_distances(self, islands):
        with pytest.raises(GraphError, match="radius=None"):
            asked(islands[0], poise.acquisitions.make("probcover", radius=1.0), 1)


class TestDAC:
    @pytest.mark.parametrize("proportion", [0.1, 0.3])
    def test_by_hand(self, blobs, proportion):
        graph, _y = blobs
        D = shortest_path(edge_distances(graph), method="FW")
        learner = poise.Learner(
            graph, {}, acquisition=poise.acquisitions.make("dac", proportion=proportion)
        )
        annulus, seen = set(), set()
        for _ in range(40):
            allowed = annulus or set(range(120)) - seen
            (node,) = learner.ask()
            if not allowed:
                break
            assert int(node) in allowed
            order = np.argsort(D[node])
            close = set(order[: round(60 * proportion)].tolist())
            ball = set(order[: round(120 * proportion)].tolist())
            annulus = (annulus | (ball - seen)) - close
            seen |= ball
        assert seen == set(range(120))
        chosen = list(learner.pending)
        left = np.delete(np.arange(120), chosen)
        (node,) = learner.ask()
        assert D[node][chosen].min() == pytest.approx(D[left][:, chosen].min(axis=1).max())

    def test_small_components_are_one_ball(self, islands):
        graph, _y = islands
        # Half of 1.0 is 34 nodes: six of the largest component are in the annulus.
        nodes = asked(graph, poise.acquisitions.make("dac", proportion=1.0), 30)
        where = graph.components[nodes].tolist()
        assert [c for i, c in enumerate(where) if c not in where[:i]] == [0, 1, 2, 3]
        # Components of 40 and 20 nodes are as large as a ball of 20, those of 6 and 1 are not.
        nodes = asked(graph, poise.acquisitions.make("dac", proportion=0.29), 25)
        assert graph.components[nodes[:2]].tolist() == [0, 1]
        assert graph.components[nodes[2]] < 2
        assert {2, 3} <= set(graph.components[nodes].tolist())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("probcover", {"radius": 0}),
        ("probcover", {"radius": -1.0}),
        ("probcover", {"radius": np.inf}),
        ("probcover", {"radius": np.nan}),
        ("probcover", {"radius": "1"}),
        ("probcover", {"radius": True}),
        ("dac", {"proportion": 0}),
        ("dac", {"proportion": 1.5}),
        ("dac", {"proportion": None}),
        ("typicality", {"proportion": 0.0}),
        ("typiclust", {"max_clusters": 0}),
        ("typiclust", {"min_size": 0}),
        ("typiclust", {"batch": 1.5}),
    ],
)
def test_bad_parameters(name, parameters):
    (parameter,) = parameters
    with pytest.raises(InputError, match=parameter):
        poise.acquisitions.make(name, **parameters)
