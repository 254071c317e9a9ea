"""Positions in the plane: shapes are kept, clusters are apart, nothing is outside."""

import numpy as np

import poise
from poise.studio.asking.layout import eigenmaps, principal_plane


def crowds(n=80, gap=3.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(c, 0.4, (n, 5)) for c in (0.0, gap)])


def test_a_plane_keeps_its_shape():
    rng = np.random.default_rng(0)
    flat = rng.uniform(-1, 1, (300, 2)) * [2.0, 1.0]
    turned = np.linalg.qr(rng.normal(size=(6, 6)))[0][:2]
    plane = principal_plane(flat @ turned + 7.0)
    first, second = (
        np.linalg.norm(flat[:-1] - flat[1:], axis=1),
        np.linalg.norm(plane[:-1] - plane[1:], axis=1),
    )
    inside = (np.abs(plane) < 1).all(axis=1)
    kept = inside[:-1] & inside[1:]
    ratio = second[kept] / first[kept]
    assert ratio.std() < 1e-3 * ratio.mean()
    assert np.abs(plane).max() <= 1


def test_one_feature_is_enough():
    assert principal_plane(np.arange(5.0)[:, None]).shape == (5, 2)
    assert np.isfinite(principal_plane(np.ones((5, 3)))).all()


def test_eigenmaps_keep_clusters_apart():
    for gap in (2.0, 50.0):  # one component, and two
        X = crowds(gap=gap)
        plane = eigenmaps(poise.knn_graph(X, k=10), X)
        assert np.isfinite(plane).all()
        assert np.abs(plane).max() <= 1
        middles = plane[:80].mean(axis=0), plane[80:].mean(axis=0)
        spread = max(plane[:80].std(axis=0).max(), plane[80:].std(axis=0).max())
        assert np.linalg.norm(middles[0] - middles[1]) > 2 * spread
