"""The proved decay of scores, against the scores themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.models import models
from poise.models.decay import decay_bound


@given(seed=st.integers(0, 10_000), tau=st.floats(0, 1e3), n_labels=st.integers(1, 8))
def test_bounds_the_scores(seed, tau, n_labels):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2)) + 4 * rng.integers(0, 2, (80, 1))
    graph = poise.knn_graph(X, k=5)
    nodes = rng.choice(80, n_labels, replace=False)
    labels = poise.Labels.of({int(i): int(i) % 3 for i in nodes}, 80)
    result = models.factory("pwll")(graph, labels, tau=tau)
    bound = decay_bound(graph, labels.nodes, result.weights, tau)
    assert (bound[labels.nodes] == 1).all()
    assert (result.norms <= bound * (1 + 1e-6) + 1e-7).all()
    assert (result.scores.sum(axis=1) <= bound * (1 + 1e-6) + 1e-7).all()
    assert (bound[~result.reached] == 0).all()


def test_is_exact_on_a_path():
    """Beyond the only label of a path's end every step multiplies by nearly D/(D + tau)."""
    n = 30
    W = np.diag(np.ones(n - 1), 1)
    graph = poise.Graph.from_weights(W + W.T)
    gamma = np.ones(n)
    bound = decay_bound(graph, np.array([0]), gamma, 0.5)
    assert bound[1] == pytest.approx(2 / 2.5)
    assert bound[-1] == pytest.approx((2 / 2.5) ** (n - 2) * (1 / 1.5))


def test_without_tau_nothing_decays():
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(40, 2)), k=4)
    bound = decay_bound(graph, np.array([3]), np.ones(40), 0.0)
    assert set(np.round(bound, 12)) <= {0.0, 1.0}
