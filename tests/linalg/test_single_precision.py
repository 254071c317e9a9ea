"""Loose tolerances on larger graphs: single precision, and the tolerance is met."""

import numpy as np
import pytest
from scipy import sparse

import poise
from poise.linalg import prepare, solve
from poise.linalg.simultaneous import RTOL_SINGLE, SMALL_MAX_NODES


@pytest.fixture(scope="module")
def cloud():
    X = np.random.default_rng(0).normal(size=(3_000, 6))
    return prepare(poise.knn_graph(X, k=12).weights)


def residual(prepared, rhs, free, q, x):
    A = sparse.diags_array(prepared.degrees + q) - prepared.weights
    scale = np.where(free, 1 / (prepared.degrees + q), 0.0)[:, None]
    return np.linalg.norm(scale * (rhs - A @ x), axis=0) / np.linalg.norm(scale * rhs, axis=0)


@pytest.mark.parametrize("preconditioner", ["jacobi", "two-level"])
@pytest.mark.parametrize("rtol", [RTOL_SINGLE, 1e-4, 1e-3])
def test_the_tolerance_is_met(cloud, preconditioner, rtol):
    rng = np.random.default_rng(1)
    n = cloud.n
    assert n > SMALL_MAX_NODES
    rhs = rng.normal(size=(n, 5))
    q = rng.uniform(0, 0.1, n)
    free = rng.random(n) > 0.01
    q[~free] = 0.0
    solution = solve(
        cloud, rhs, diagonals=q, free=free, rtol=rtol, preconditioner=preconditioner, sweep=False
    ).require()
    assert solution.value.dtype == np.float32
    assert np.all(solution.value[~free] == 0)
    true = residual(cloud, np.where(free[:, None], rhs, 0.0), free, q, solution.value)
    assert np.all(true <= 1.2 * rtol)
    close = solve(cloud, rhs, diagonals=q, free=free, rtol=1e-12).require()
    assert solution.steps.max() < close.steps.max()


def test_a_singular_system(cloud):
    rng = np.random.default_rng(2)
    rhs = rng.normal(size=(cloud.n, 3))
    rhs -= rhs.mean(axis=0)
    rough = solve(cloud, rhs, singular=True, rtol=RTOL_SINGLE).require().value
    close = solve(cloud, rhs, singular=True, rtol=1e-11).require().value
    np.testing.assert_allclose(rough, close, atol=1e-3 * np.abs(close).max())
    np.testing.assert_allclose(rough.sum(axis=0), 0.0, atol=1e-9 * np.abs(close).sum())


def test_a_columns_bits_do_not_depend_on_the_others(cloud):
    rng = np.random.default_rng(3)
    rhs = rng.normal(size=(cloud.n, 13))
    free = np.arange(cloud.n) > 5
    together = solve(cloud, rhs, free=free, rtol=RTOL_SINGLE).value
    for j in (0, 8, 12):
        alone = solve(cloud, rhs[:, j], free=free, rtol=RTOL_SINGLE).value
        np.testing.assert_array_equal(alone, together[:, j])


def test_predictions_hardly_change():
    """What accuracies are measured from, beside the solver's own tolerance."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4_000, 6)) + 1.5 * rng.integers(0, 3, 4_000)[:, None]
    graph = poise.knn_graph(X, k=15)
    from poise.models.harmonic import Problem, solve_problems

    nodes = rng.choice(4_000, 60, replace=False)
    sources = tuple(tuple(nodes[c::3].tolist()) for c in range(3))
    for reweighted in (True, False):
        problem = Problem(sources, 0.0, reweighted=reweighted)
        rough, close = (
            solve_problems(graph, [problem], rtol=rtol)[0].values for rtol in (RTOL_SINGLE, 1e-11)
        )
        assert np.abs(rough - close).max() < 5e-3
        assert (rough.argmax(axis=1) != close.argmax(axis=1)).sum() <= 4
