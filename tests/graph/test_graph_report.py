"""Graph.report: one graph for each piece of advice."""

import json

import numpy as np
from scipy import sparse

from poise.graph import Graph, knn_graph

RNG = np.random.default_rng(0)


def test_a_good_graph_needs_no_advice():
    report = knn_graph(RNG.normal(size=(500, 4)), 15).report()
    assert report.n_nodes == 500
    assert report.n_components == 1
    assert report.isolated == 0
    assert report.duplicates == 0
    assert report.neighbours[0] >= 15
    assert report.advice == ()
    low, middle, high = report.scale
    assert 0 < low < middle < high


def test_components_call_for_labels_of_their_own_and_a_larger_k():
    X = np.vstack([RNG.normal(size=(60, 2)), RNG.normal(size=(40, 2)) + 100])
    report = knn_graph(X, 6).report()
    assert report.largest_components == (60, 40)
    text = " ".join(report.advice)
    assert "2 components and the largest holds 60.0%" in text
    assert "try k=12" in text


def test_isolated_nodes_are_counted():
    W = sparse.block_diag([np.array([[0, 1], [1, 0]]), sparse.csr_array((3, 3))])
    report = Graph.from_weights(W).report()
    assert report.isolated == 3
    assert report.n_edges == 1
    assert any("3 node(s) have no edge" in sentence for sentence in report.advice)
    assert report.duplicates is None
    assert report.scale is None
    assert report.construction is None


def test_duplicates_are_counted():
    X = RNG.normal(size=(100, 3))
    X[10] = X[20]
    report = knn_graph(X, 5).report()
    assert report.duplicates == 2
    assert any("2 of 100 points coincide" in sentence for sentence in report.advice)
    X[:30] = X[0]
    report = knn_graph(X, 5).report()
    assert any("more than k=5 copies" in sentence for sentence in report.advice)


def test_uneven_distances_and_a_dominant_feature_are_noticed():
    X = np.vstack([1e-3 * RNG.normal(size=(50, 2)), 10 * RNG.normal(size=(50, 2))])
    assert any("uneven" in sentence for sentence in knn_graph(X, 5).report().advice)
    X = RNG.normal(size=(200, 3)) * [1, 1, 1000]
    assert any("Feature 2 holds 100%" in sentence for sentence in knn_graph(X, 5).report().advice)


def test_hubs_are_noticed():
    n = 100
    W = sparse.lil_array((n, n))
    W[0, 1:] = W[1:, 0] = 1
    report = Graph.from_weights(W).report()
    assert report.neighbours == (1, 1, 99)
    assert any("99 neighbours" in sentence for sentence in report.advice)


def test_constant_features_are_noticed():
    report = knn_graph(np.ones((10, 2)), 3).report()
    assert report.duplicates == 10
    assert any("All points are the same" in sentence for sentence in report.advice)


def test_a_report_prints_and_becomes_json():
    graph = knn_graph(np.vstack([RNG.normal(size=(30, 2)), [[50.0, 50.0]]]), 3)
    report = graph.report()
    text = str(report)
    for word in ("nodes", "components", "duplicates", "scale d_k", "k=3, euclidean, gaussian"):
        assert word in text
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["n_nodes"] == 31
    assert plain["advice"] == list(report.advice)
    assert plain["neighbours"] == list(report.neighbours)
