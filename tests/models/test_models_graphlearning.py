"""The models against GraphLearning's, with its conjugate gradients run to the end."""

import importlib

import numpy as np
import pytest
from scipy import sparse

from poise.graph import Graph, knn_graph
from poise.models import Labels, laplace, poisson, properly_weighted, pwll, wnll

graphlearning = pytest.importorskip("graphlearning", reason="needs the package graphlearning")


@pytest.fixture(autouse=True)
def _tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tolerance is absolute over all columns and stops at 1e-5 or so: ask for 1e-12."""
    utils = importlib.import_module("graphlearning.utils")
    loose = utils.conjgrad

    def conjgrad(A, b, x0=None, max_iter=1e5, tol=1e-10):  # type: ignore[no-untyped-def]
        return loose(A, b, x0, max_iter, 1e-12)

    monkeypatch.setattr(utils, "conjgrad", conjgrad)


def case(seed: int, n_classes: int) -> tuple[Graph, Labels, sparse.csr_matrix]:
    """A connected graph of neighbours with two labels a class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(250, 3)).astype(np.float32)
    graph = knn_graph(X, k=8)
    assert graph.n_components == 1
    nodes = rng.choice(250, size=2 * n_classes, replace=False).tolist()
    labels = Labels.of({node: i % n_classes for i, node in enumerate(nodes)}, 250, range(n_classes))
    return graph, labels, sparse.csr_matrix(graph.weights)


cases = pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (1, 3), (2, 5)])


@cases
@pytest.mark.parametrize("tau", [0.0, 1e-6, 1e-3, 1.0])
def test_pwll(seed: int, n_classes: int, tau: float) -> None:
    graph, labels, W = case(seed, n_classes)
    model = graphlearning.ssl.laplace(W, reweighting="poisson", tau=tau)
    expected = model.fit(labels.nodes, labels.codes)
    assert np.abs(pwll(graph, labels, tau=tau).scores - expected).max() < 1e-5


@cases
def test_laplace(seed: int, n_classes: int) -> None:
    graph, labels, W = case(seed, n_classes)
    expected = graphlearning.ssl.laplace(W).fit(labels.nodes, labels.codes)
    assert np.abs(laplace(graph, labels).scores - expected).max() < 1e-5


@cases
def test_wnll(seed: int, n_classes: int) -> None:
    graph, labels, W = case(seed, n_classes)
    expected = graphlearning.ssl.laplace(W, reweighting="wnll").fit(labels.nodes, labels.codes)
    assert np.abs(wnll(graph, labels).scores - expected).max() < 1e-5


@cases
@pytest.mark.parametrize("alpha", [2.0, 3.0])
def test_properly_weighted(seed: int, n_classes: int, alpha: float) -> None:
    graph, labels, W = case(seed, n_classes)
    reweighted = graphlearning.graph(W).reweight(
        labels.nodes, method="properly", X=np.asarray(graph.features), alpha=alpha
    )
    expected = graphlearning.ssl.laplace(reweighted).fit(labels.nodes, labels.codes)
    assert np.abs(properly_weighted(graph, labels, alpha=alpha).scores - expected).max() < 1e-5


@cases
def test_poisson(seed: int, n_classes: int) -> None:
    graph, labels, W = case(seed, n_classes)
    expected = graphlearning.ssl.poisson(W).fit(labels.nodes, labels.codes)
    assert np.abs(poisson(graph, labels).scores - expected).max() < 1e-5
