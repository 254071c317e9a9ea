"""Values of the acquisitions of other papers, against dense formulas and scikit-activeml."""

import importlib

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

import poise
from poise.active.acquisition import DiAL, DropQuery, ExpectedError, MaxHerding, UncertaintyHerding
from poise.active.acquisition.herd import gains
from poise.active.acquisition.hierarchical import (
    Tree,
    best_pruning,
    cluster_errors,
    cluster_tree,
    label_counts,
)
from poise.errors import InputError

GIVEN = [3, 50, 100]


@pytest.fixture
def pool():
    pytest.importorskip("skactiveml", reason="needs the package scikit-activeml")
    return importlib.import_module("skactiveml.pool")


@pytest.fixture
def learner(blobs):
    def make(acquisition, nodes=GIVEN, **settings):
        graph, y = blobs
        labels = {node: int(y[node]) for node in nodes}
        return poise.Learner(graph, labels, acquisition=acquisition, **settings)

    return make


def values(learner):
    return learner.acquisition(learner.snapshot())


def partly_labelled(y, nodes=GIVEN):
    known = np.full(len(y), np.nan)
    known[nodes] = y[nodes]
    return known


@pytest.mark.parametrize("sigma", [0.0, 0.3, 1.0, 40.0])
def test_gains(sigma):
    """Against the formula in double precision: points far apart, coinciding and covered."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) * np.repeat([0.1, 1.0, 30.0], 100)[:, None]
    X[50] = X[0]
    squares = cdist(X, X) ** 2
    weights = rng.random(300)
    for nearest in (squares[:, :4].min(axis=1), np.full(300, np.inf)):
        with np.errstate(divide="ignore", invalid="ignore"):
            K = np.exp(-squares / sigma**2) if sigma else (squares == 0).astype(float)
            covered = np.exp(-nearest / sigma**2) if sigma else (nearest == 0).astype(float)
        expected = np.maximum(K - covered, 0) @ weights / weights.sum()
        found = gains(squares.astype(np.float32), sigma, nearest.astype(np.float32), weights)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
        assert np.isinf(nearest[0]) or np.all(found[:4] == 0)


class TestMaxHerding:
    def test_formula(self, blobs, learner):
        X = blobs[0].features
        K = np.exp(-(cdist(X, X) ** 2) / 0.8**2)
        gain = np.maximum(K - K[:, GIVEN].max(axis=1), 0).mean(axis=1)
        assert values(learner(MaxHerding(sigma=0.8))) == pytest.approx(gain, abs=1e-5)

    @pytest.mark.parametrize("nodes", [[], GIVEN])
    def test_scikit_activeml_asks_the_same(self, blobs, learner, pool, nodes):
        graph, y = blobs
        theirs = pool.MaxHerding(normalize_samples=False, metric_dict={"gamma": 1 / 0.8**2})
        expected = theirs.query(graph.features, partly_labelled(y, nodes), batch_size=8)
        ours = learner(MaxHerding(sigma=0.8), nodes).ask(8)
        assert ours.tolist() == expected.tolist()

    def test_width_of_directions_is_the_papers(self):
        X = np.random.default_rng(0).normal(size=(300, 200))
        memory = MaxHerding().start(poise.knn_graph(X, k=5, metric="cosine"), np.array([]), 0)
        assert memory.sigma == pytest.approx(1.0, abs=0.01)

    def test_far_from_the_origin_is_no_harder(self, blobs):
        X = blobs[0].features
        near, far = (
            poise.Learner(poise.knn_graph(Z, k=7), {3: 0}, acquisition="maxherding")
            for Z in (X, X + 1e6)
        )
        assert values(far) == pytest.approx(values(near), abs=1e-4)

    def test_a_sample_is_asked_first_and_others_when_it_is_used_up(self, learner):
        first = learner(MaxHerding(sample=20), nodes=[])
        sample = set(MaxHerding(sample=20).start(first.graph, np.array([]), 0).nodes.tolist())
        asked = first.ask(25).tolist()
        assert len(sample) == 20
        assert set(asked[:20]) == sample
        assert len(set(asked)) == 25


class TestUncertaintyHerding:
    def test_formula(self, blobs, learner):
        X = blobs[0].features
        some = learner(UncertaintyHerding(sigma=0.8))
        p = np.sort(some.snapshot().scores, axis=1)
        uncertain = 1 - (p[:, -1] - p[:, -2]) / p.sum(axis=1)
        K = np.exp(-(cdist(X, X) ** 2) / 0.8**2)
        gain = np.maximum(K - K[:, GIVEN].max(axis=1), 0) @ uncertain / uncertain.sum()
        assert values(some) == pytest.approx(gain, abs=1e-5)

    def test_one_class_is_maxherding(self, blobs):
        graph = blobs[0]
        ours, other = (
            values(poise.Learner(graph, {3: 0}, acquisition=name))
            for name in ("uncertainty-herding", "maxherding")
        )
        assert (ours == other).all()

    def test_kernel_narrows_to_the_spacing_of_labels(self, blobs):
        graph = blobs[0]
        X = graph.features
        near = np.argsort(np.linalg.norm(X - X[3], axis=1))[1:5]
        nodes = [3, 50, *near.tolist()]
        D = cdist(X[nodes], X[nodes])
        np.fill_diagonal(D, np.inf)
        learner = poise.Learner(
            graph, dict.fromkeys(nodes, 0), acquisition=UncertaintyHerding(sigma=0.8)
        )
        sigma = np.sqrt(np.median(D.min(axis=1) ** 2))
        assert learner.snapshot().memory.spacing == pytest.approx(sigma, rel=1e-3)
        assert sigma < 0.4
        K = np.exp(-(cdist(X, X) ** 2) / sigma**2)
        gain = np.maximum(K - K[:, nodes].max(axis=1), 0).mean(axis=1)
        assert values(learner) == pytest.approx(gain, abs=1e-4)

    def test_coinciding_labels_narrow_nothing(self):
        graph = poise.knn_graph(np.repeat(np.random.default_rng(0).normal(size=(9, 2)), 5, 0), k=6)
        assert UncertaintyHerding().start(graph, np.array([0, 1, 2]), 0).spacing == np.inf


class TestDiAL:
    def test_formula(self, blobs, learner):
        graph, y = blobs
        L = np.diag(graph.degrees) - graph.weights.toarray()
        K = np.linalg.inv(L + 0.05 * graph.degrees.mean() * np.eye(120))
        alpha = np.full((120, 3), 0.5)
        for node in GIVEN:
            alpha[:, y[node]] += K[:, node] / K[node, node]
        expected = [stats.dirichlet.var(a).sum() for a in alpha]
        assert values(learner(DiAL(tau=0.05, alpha=0.5))) == pytest.approx(expected, rel=1e-4)

    def test_an_open_question_counts_as_expected(self, blobs, learner):
        graph, y = blobs
        some = learner(DiAL(tau=0.05))
        (node,) = some.ask()
        L = np.diag(graph.degrees) - graph.weights.toarray()
        K = np.linalg.inv(L + 0.05 * graph.degrees.mean() * np.eye(120))
        K /= np.diag(K)
        alpha = 1.0 + K[:, GIVEN] @ np.eye(3)[y[GIVEN]]
        alpha += np.outer(K[:, node], alpha[node] / alpha[node].sum())
        expected = [stats.dirichlet.var(a).sum() for a in alpha]
        assert values(some) == pytest.approx(expected, rel=1e-4)


class TestExpectedError:
    def test_brute_force(self, blobs, learner):
        graph, y = blobs
        L = np.diag(graph.degrees) - graph.weights.toarray()

        def harmonic(labels):
            rest = np.setdiff1d(np.arange(120), list(labels))
            f = np.zeros((120, 3))
            for node, code in labels.items():
                f[node, code] = 1
            f[rest] = np.linalg.solve(L[np.ix_(rest, rest)], -L[rest] @ f)
            return f

        labels = {node: int(y[node]) for node in GIVEN}
        f = harmonic(labels)
        computed = values(learner(ExpectedError(size=117)))
        for k in (0, 20, 77, 119):
            risks = [(1 - harmonic({**labels, k: c}).max(axis=1)).mean() for c in range(3)]
            assert -computed[k] == pytest.approx(f[k] @ risks, abs=2e-3)

    def test_one_class_asks_what_reaches_farthest(self, blobs):
        graph = blobs[0]
        learner = poise.Learner(graph, {3: 0}, acquisition=ExpectedError(size=119))
        G = np.linalg.inv(
            np.delete(np.delete(np.diag(graph.degrees) - graph.weights.toarray(), 3, 0), 3, 1)
        )
        reach = np.insert((G / np.diag(G)).sum(axis=0), 3, -1.0)
        assert learner.ask()[0] == np.argmax(reach)

    def test_components_without_a_label_come_first(self, islands):
        graph, y = islands
        first = int(np.flatnonzero(y == 1)[0])
        learner = poise.Learner(graph, {first: 1}, acquisition="expected-error")
        assert y[learner.ask(3)].tolist() == [0, 2, 3]


class TestHierarchical:
    def tree(self, seed):
        """A random tree of six leaves over 40 nodes, and 15 labels of three classes."""
        rng = np.random.default_rng(seed)
        roots, children = list(range(6)), []
        for merge in range(6, 11):
            pair = rng.choice(len(roots), 2, replace=False)
            children.append([roots[i] for i in pair])
            roots = [r for i, r in enumerate(roots) if i not in pair] + [merge]
        leaf = np.concatenate([np.arange(6), rng.integers(0, 6, 34)])
        nodes = rng.choice(40, 15, replace=False)
        return Tree.of(leaf, np.array(children)), nodes, rng.integers(0, 3, 15) * (leaf[nodes] > 2)

    @pytest.mark.parametrize("seed", range(8))
    def test_pruning_by_brute_force(self, seed):
        tree, nodes, codes = self.tree(seed)
        inside = [{v} for v in range(6)]
        for a, b in tree.children:
            inside.append(inside[a] | inside[b])
        counts = np.array(
            [[sum(tree.leaf[nodes[codes == c]] == v) for c in range(3)] for v in range(6)], float
        )
        expected = np.array([counts[sorted(leaves)].sum(axis=0) for leaves in inside])
        assert (label_counts(tree, nodes, codes, 3) == expected).all()

        def prunings(v):
            yield [v]
            if v >= 6:
                for left in prunings(tree.children[v - 6][0]):
                    for right in prunings(tree.children[v - 6][1]):
                        yield left + right

        error, _ = cluster_errors(expected)
        costs = [sum(error[v] * tree.sizes[v] for v in some) for some in prunings(10)]
        chosen = best_pruning(tree, expected).cluster
        assert sum(error[v] * tree.sizes[v] for v in np.unique(chosen)) == pytest.approx(min(costs))
        for v in np.unique(chosen):
            assert set(tree.leaf[chosen == v]) == inside[v] & set(tree.leaf)

    def test_bounds(self):
        error, bound = cluster_errors(np.array([[0.0, 0.0], [8, 2], [5, 5], [10, 0]]))
        width = 1 / 10 + np.sqrt(0.16 / 10)
        assert error.tolist() == pytest.approx([1, 0.2, 1, 0])
        assert bound == pytest.approx([1, 0.2 + width, 0.5 + 0.1 + np.sqrt(0.25 / 10), 0.1])

    def test_nodes_join_the_nearest_of_the_sample(self, blobs):
        graph = blobs[0]
        tree = cluster_tree(graph, 30, seed=0)
        sample = np.sort(np.random.default_rng(0).choice(120, 30, replace=False))
        expected = cdist(graph.features, graph.features[sample]).argmin(axis=1)
        assert (tree.leaf == expected).all()
        assert tree.sizes[-1] == 120

    def test_leaves_pure_clusters_alone(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1, 2], 60)
        X = 30.0 * np.array([[0, 0], [1, 0], [0, 1]])[y] + rng.normal(size=(180, 2))
        mixed = np.where(y == 2, rng.integers(2, 4, 180), y)
        learner = poise.Learner(poise.knn_graph(X, k=6), {}, acquisition="hierarchical")
        nodes = []
        for _ in range(90):
            (node,) = learner.ask()
            learner.tell(node, int(mixed[node]))
            nodes.append(node)
        assert np.mean(y[nodes[30:]] == 2) > 0.6


@pytest.mark.parametrize(
    "make",
    [
        lambda: MaxHerding(sigma=0.0),
        lambda: MaxHerding(sample=0),
        lambda: UncertaintyHerding(sigma=-1),
        lambda: DropQuery(dropout=1.0),
        lambda: DropQuery(masks=0),
        lambda: DropQuery(batch=0),
        lambda: DiAL(tau=0.0),
        lambda: DiAL(alpha=np.inf),
        lambda: ExpectedError(size=0),
        lambda: poise.acquisitions.factory("hierarchical")(sample=1),
    ],
)
def test_bad_settings(make):
    with pytest.raises(InputError, match="is"):
        make()
