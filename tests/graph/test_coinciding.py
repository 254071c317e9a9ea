"""Large groups of coinciding points: the distances of a search, without one."""

import numpy as np
import pytest

import poise
from poise.graph import search
from poise.graph.coinciding import large_groups, next_in_group
from poise.graph.search import nearest_neighbours


def points(n=400, equal=150, d=12, seed=0, dtype=np.float32):
    X = np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)
    rows = np.random.default_rng(seed + 1).permutation(n)[: 2 * equal]
    X[rows[:equal]], X[rows[equal:]] = 0, 3
    return X, np.sort(rows[:equal]), np.sort(rows[equal:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_are_found(dtype):
    X, first, second = points(dtype=dtype)
    groups = sorted(large_groups(X, 150), key=lambda group: X[group[0], 0])
    np.testing.assert_array_equal(groups[0], first)
    np.testing.assert_array_equal(groups[1], second)
    assert large_groups(X, 151) == []
    assert large_groups(X[:3], 4) == []


def test_points_of_one_projection_are_told_apart():
    direction = np.random.default_rng(0).normal(size=2).astype(np.float32)
    aside = np.array([direction[1], -direction[0]])
    X = np.concatenate([np.zeros((10, 2), dtype=np.float32), aside[None]])
    (group,) = large_groups(X, 10)
    np.testing.assert_array_equal(group, np.arange(10))


def test_each_lists_others_of_its_group():
    group = np.array([2, 5, 7, 11])
    near = next_in_group(group, 3)
    for node, row in zip(group, near, strict=True):
        assert sorted({*row.tolist(), node}) == group.tolist()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_the_same_distances_as_a_search(monkeypatch, metric):
    X, first, second = points()
    searched = nearest_neighbours(X, 9, metric=metric)
    monkeypatch.setattr(search, "LARGE_GROUP_POINTS", 100)
    lists = nearest_neighbours(X, 9, metric=metric)
    np.testing.assert_allclose(lists.distances, searched.distances, atol=1e-6)
    own = np.arange(len(X))[:, None]
    assert not (lists.indices == own).any()
    assert all(len(set(row)) == 9 for row in lists.indices.tolist())
    for group in (first, second):
        assert np.isin(lists.indices[group], group).all()
        assert (lists.distances[group] == 0).all()


def test_all_points_coincide():
    graph = poise.knn_graph(np.ones((5_000, 12)), k=6)
    assert graph.n_nodes == 5_000
    assert (graph.weights.data == graph.weights.data[0]).all()
    degrees = np.diff(graph.weights.indptr)
    assert degrees.min() == degrees.max() == 12, "no hub: a circle in which each knows the next six"
