"""The certificate of exploration: what it says is what is asked."""

import numpy as np
import pytest

import poise
from poise.active.certificate import TAUS, certified_error, exploration_certificate
from poise.errors import GraphError, InputError, LabelError
from poise.models.harmonic import Problem, solve_problems


@pytest.fixture(scope="module")
def ring():
    data = poise.load_dataset("blobs", size=60)
    return poise.knn_graph(data.X, k=15), data


def test_what_it_certifies_is_asked(ring):
    """Where every unexplored cluster comes first, the next question is not near a label."""
    graph, data = ring
    given = {0: 0, 70: 1}
    labels = poise.Labels.of(given, graph.n_nodes)
    certificate = exploration_certificate(graph, labels, radius=0.2, groups=data.clusters)
    assert certificate.groups.tolist() == [2, 3, 4, 5, 6, 7]
    assert certificate.explores.any()
    assert not certificate.explores.all(), "not for the smallest tau"
    distances = np.linalg.norm(data.X[:, None] - data.X[[0, 70]], axis=2).min(axis=1)
    reported = poise.Learner(graph, given).certificate(0.2, data.clusters)
    assert (reported.explores == certificate.explores).all()
    for tau in certificate.taus[certificate.explores]:
        learner = poise.Learner(graph, given, tau=float(tau))
        assert distances[learner.ask()[0]] > 0.2
    assert (certificate.unexplored <= certificate.bound * (1 + 1e-6) + 1e-9).all()
    assert not (certificate.foreseen & ~certificate.explores).any(), "what is foreseen happens"


def test_components_come_first(islands):
    graph, y = islands
    node = int(np.flatnonzero(graph.components == 0)[0])
    labels = poise.Labels.of({node: int(y[node])}, graph.n_nodes)
    certificate = exploration_certificate(graph, labels, radius=np.inf, taus=[1e-3])
    assert (certificate.unexplored == 0).all()
    assert (certificate.bound == 0).all()


def test_the_error_is_certified(ring):
    graph, _ = ring
    problem = Problem(((0, 5), (70,)), 1e-2)
    (columns,) = solve_problems(graph, [problem])
    error = certified_error(graph, problem, columns)
    assert error < 1e-3
    gamma, constrained = columns.weights, [0, 5, 70]
    free = np.setdiff1d(np.arange(graph.n_nodes), constrained)
    W = gamma[:, None] * graph.weights.toarray() * gamma
    A = np.diag(W.sum(axis=1) + problem.tau) - W
    exact = np.linalg.solve(A[np.ix_(free, free)], W[np.ix_(free, [0, 5])].sum(axis=1))
    assert np.abs(exact - columns.values[free, 0]).max() <= error + 1e-12


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"radius": -1.0}, InputError, "0 or more"),
        ({"taus": [0.0]}, InputError, "positive numbers"),
        ({"taus": []}, InputError, "one or more"),
        ({"groups": [0, 1]}, GraphError, "groups has shape"),
    ],
)
def test_bad_input(ring, change, kind, message):
    graph, _ = ring
    labels = poise.Labels.of({0: 0}, graph.n_nodes)
    with pytest.raises(kind, match=message):
        exploration_certificate(graph, labels, **{"radius": 0.1} | change)


def test_no_labels(ring):
    graph, _ = ring
    with pytest.raises(LabelError, match="no labels"):
        exploration_certificate(graph, poise.Labels.of({}, graph.n_nodes), radius=0.1)
    assert len(TAUS) == 13
