"""What is particular to land, cal and s2."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, dijkstra

import poise
from poise.active.acquisition import CAL, LAND, S2
from poise.active.acquisition.cal import cut_off, levels, merges
from poise.active.acquisition.land import density, distance_to_denser
from poise.errors import InputError
from poise.linalg.spectrum import smallest_eigenpairs
from poise.models.components import laplacian

NAMES = ["land", "cal", "s2"]
SIZES = (60, 100, 80, 120)


@pytest.fixture(scope="module", params=[False, True], ids=["scales", "lists"])
def clouds(request) -> tuple[poise.Graph, np.ndarray]:
    """Four well separated clouds of different size and width, in one component or nearly so."""
    rng = np.random.default_rng(5)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    y = np.repeat(np.arange(4), SIZES)
    X = centres[y] + np.array([0.5, 0.7, 0.6, 0.8])[y, None] * rng.normal(size=(360, 2))
    return poise.knn_graph(X, k=10, keep_neighbours=request.param), y


def path_graph(n: int) -> poise.Graph:
    return poise.Graph.from_weights(np.eye(n, k=1) + np.eye(n, k=-1))


@pytest.mark.parametrize("name", NAMES)
class TestHardCases:
    def test_no_labels(self, blobs, name):
        learner = poise.Learner(blobs[0], {}, acquisition=name)
        assert len(set(learner.ask(5).tolist())) == 5

    def test_every_node_of_islands_without_features(self, islands, name):
        graph, y = islands
        learner = poise.Learner(graph, {}, acquisition=name)
        for _ in range(graph.n_nodes):
            (i,) = learner.ask()
            learner.tell(i, int(y[i]))
        assert len(learner.labels) == graph.n_nodes

    def test_few_candidates(self, blobs, name):
        graph, y = blobs
        learner = poise.Learner(graph, {0: int(y[0]), 119: int(y[119])}, acquisition=name)
        learner.exclude([i for i in range(1, 119) if i not in (30, 77)])
        assert set(learner.ask(2).tolist()) == {30, 77}

    @pytest.mark.parametrize("W", [np.zeros((1, 1)), np.zeros((3, 3)), np.ones((2, 2)) - np.eye(2)])
    def test_tiny_graphs(self, W, name):
        learner = poise.Learner(poise.Graph.from_weights(W), {}, acquisition=name)
        assert sorted(learner.ask(len(W)).tolist()) == list(range(len(W)))

    def test_coinciding_points(self, name):
        X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 12, axis=0)
        learner = poise.Learner(poise.knn_graph(X, k=5), {0: "a"}, acquisition=name)
        assert np.isfinite(learner.acquisition(learner.snapshot())).all()

    def test_many_components(self, name):
        W = np.kron(np.eye(300), np.ones((3, 3)) - np.eye(3))
        learner = poise.Learner(poise.Graph.from_weights(W), {0: "a", 4: "b"}, acquisition=name)
        assert np.isfinite(learner.acquisition(learner.snapshot())).all()


class TestLAND:
    def test_first_picks_are_the_modes(self, clouds):
        graph, y = clouds
        queries = poise.Learner(graph, {}, acquisition="land").ask(4)
        assert sorted(y[queries]) == [0, 1, 2, 3]
        p = density(graph)
        for i in queries:
            assert (p[y == y[i]] <= p[i]).mean() > 0.9

    def test_distances_are_those_of_the_walk(self, blobs):
        graph, _y = blobs
        n, t = graph.n_nodes, 3
        P = (graph.weights / graph.degrees[:, None]).toarray()
        coordinates = LAND(m=n, t=t).coordinates(graph)
        stationary = graph.degrees / graph.degrees.sum()
        steps = np.linalg.matrix_power(P, t)
        for x, y in [(0, 1), (0, 50), (30, 110)]:
            exact = np.sqrt((((steps[x] - steps[y]) ** 2) / stationary).sum())
            assert np.linalg.norm(coordinates[x] - coordinates[y]) == pytest.approx(exact)

    @pytest.mark.parametrize("n", [1, 2, 5, 300])
    def test_distance_to_denser_is_brute_force(self, n):
        rng = np.random.default_rng(n)
        points, p = rng.normal(size=(n, 4)), rng.integers(0, 20, n).astype(float)
        rho = distance_to_denser(points, p)
        rank = np.argsort(np.argsort(-p, kind="stable"))
        for x in range(n):
            gaps = np.linalg.norm(points - points[x], axis=1)
            denser = rank < rank[x]
            assert rho[x] == pytest.approx(gaps[denser].min() if denser.any() else gaps.max())

    def test_the_order_ignores_labels(self, blobs):
        graph, y = blobs
        fixed = poise.Learner(graph, {}, acquisition="land").ask(6)
        learner = poise.Learner(graph, {}, acquisition="land")
        for i in fixed:
            assert learner.ask() == i
            learner.tell(i, int(y[i]))

    @pytest.mark.parametrize("bad", [{"m": 1}, {"m": 2.5}, {"t": 0}, {"t": -1.0}, {"t": np.inf}])
    def test_bad_parameters(self, bad):
        with pytest.raises(InputError):
            LAND(**bad)


class TestCAL:
    def test_one_pick_in_each_cluster_first(self, clouds):
        graph, y = clouds
        assert sorted(y[poise.Learner(graph, {}, acquisition="cal").ask(4)]) == [0, 1, 2, 3]

    def test_a_known_cluster_is_not_asked(self, clouds):
        graph, y = clouds
        for given in (7, 100, 200, 350):
            learner = poise.Learner(graph, {given: int(y[given])}, acquisition="cal")
            assert sorted([y[given], *y[learner.ask(3)]]) == [0, 1, 2, 3]

    def test_the_estimate_is_its_formula(self, blobs):
        graph, _y = blobs
        values, phi = smallest_eigenpairs(laplacian(graph), 20, "normalised")
        for N, F in zip((0.3, 0.6), CAL(m=20, bandwidth=0.6).estimates(graph), strict=True):
            kernel = phi * cut_off(np.sqrt(values) / N) @ phi.T
            np.testing.assert_allclose(F, (kernel**2).sum(axis=1), atol=1e-12)

    def test_clusters_are_pieces_above_a_threshold(self, blobs):
        """A piece ends where the graph above the saddle stops keeping it apart."""
        graph, _y = blobs
        F = np.random.default_rng(0).permutation(120) + 1.0
        order = np.argsort(-F, kind="stable")
        parent, saddle, sizes = merges(graph, order)
        assert (saddle == 120).sum() == 1
        for i in np.flatnonzero((sizes > 1) & (saddle < 120)):
            for place, apart in ((saddle[i], True), (saddle[i] + 1, False)):
                nodes = order[:place]
                _, piece = connected_components(graph.weights[nodes][:, nodes])
                mine = piece == piece[i]
                assert (np.flatnonzero(mine)[0] == i) == apart
                assert mine[parent[i]] != apart
                # The node at which pieces meet may have joined this one first.
                assert not apart or mine.sum() <= sizes[i]

    def test_levels_are_nested(self, blobs):
        graph, _y = blobs
        F = np.random.default_rng(1).random(120)
        nested = levels(graph, F, 1)
        counts = [len(level.sizes) for level in nested]
        assert counts[:-1] == [2**i for i in range(len(counts) - 1)]
        for coarse, fine in pairwise(nested):
            for k in range(len(fine.sizes)):
                assert len(set(coarse.cluster[fine.cluster == k])) == 1

    def test_the_cut_off(self):
        t = np.linspace(0, 2, 201)
        h = cut_off(t)
        assert (h[t <= 0.5] == 1).all()
        assert (h[t >= 1] == 0).all()
        assert (np.diff(h) <= 0).all()

    @pytest.mark.parametrize(
        "bad", [{"bandwidth": 0}, {"bandwidth": -1.0}, {"m": 1}, {"widths": 0}, {"smallest": 0}]
    )
    def test_bad_parameters(self, bad):
        with pytest.raises(InputError):
            CAL(**bad)


class TestS2:
    @pytest.mark.parametrize("cut", [1, 17, 64, 126])
    @pytest.mark.parametrize("length", ["hops", "resistance"])
    def test_bisects_a_path(self, cut, length):
        y = (np.arange(128) >= cut).astype(int)
        learner = poise.Learner(path_graph(128), {0: 0, 127: 1}, acquisition=S2(length))
        for _ in range(7):  # log2(128)
            (i,) = learner.ask()
            learner.tell(i, int(y[i]))
        assert {cut - 1, cut} <= set(learner.labels)

    def test_the_middle_of_the_shortest_path_of_three_classes(self):
        # Labels 0, 1 and 2 at nodes 0, 20 and 28: 1 and 2 are closest.
        learner = poise.Learner(path_graph(40), {0: 0, 20: 1, 28: 2}, acquisition="s2")
        assert learner.ask() == 24
        # The open question is left out, and the next shortest path bisected.
        assert learner.ask() == 10

    def test_length_by_resistance(self):
        # Two ways from 0 to 3: over 1 (two hops, weak) and over 4, 5 (three hops, strong).
        W = np.zeros((6, 6))
        for i, j, w in [(0, 1, 0.1), (1, 3, 0.1), (0, 4, 1.0), (4, 5, 0.5), (5, 3, 1.0)]:
            W[i, j] = W[j, i] = w
        graph = poise.Graph.from_weights(W)
        assert poise.Learner(graph, {0: "a", 3: "b"}, acquisition=S2()).ask() == 1
        chosen = poise.Learner(graph, {0: "a", 3: "b"}, acquisition=S2("resistance")).ask()
        assert chosen in (4, 5)

    def test_the_path_is_the_shortest(self, blobs):
        graph, y = blobs
        labels = {i: int(y[i]) for i in (3, 17, 50, 66, 90, 111)}
        learner = poise.Learner(graph, labels, acquisition="s2")
        d = dijkstra(graph.weights, unweighted=True, indices=list(labels))
        nodes = list(labels)
        shortest = min(
            d[a, nodes[b]]
            for a in range(6)
            for b in range(6)
            if labels[nodes[a]] != labels[nodes[b]]
        )
        (i,) = learner.ask()
        a, b = np.sort(
            [min(d[k, i] for k in range(6) if labels[nodes[k]] == c) for c in (0, 1, 2)]
        )[:2]
        assert a + b == shortest
        assert abs(a - b) <= 1

    def test_a_cut_graph_is_asked_at_random(self):
        learner = poise.Learner(path_graph(10), {4: 0, 5: 1}, acquisition="s2")
        values = learner.acquisition(learner.snapshot())
        assert ((values >= 0) & (values < 1)).all()
        assert len(set(values.tolist())) == 10

    def test_bad_length(self):
        with pytest.raises(InputError, match="there are hops, resistance"):
            S2(length="miles")  # type: ignore[arg-type]
