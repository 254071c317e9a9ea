"""Smallest eigenpairs against dense ones, by both routes, on graphs that are hard in some way."""

import numpy as np
import pytest
from hypothesis import given, settings
from linear_systems import path
from scipy import linalg, sparse

from poise.errors import InputError
from poise.linalg import prepare
from poise.linalg import spectrum as spectrum_module
from poise.linalg.spectrum import smallest_eigenpairs
from strategies import Floats, as_csr, weights_in_pieces

KINDS = ["combinatorial", "normalised", "random-walk"]


@pytest.fixture
def iterative(monkeypatch):  # type: ignore[no-untyped-def]
    """Let graphs of a hundred nodes take the route of large ones."""
    monkeypatch.setattr(spectrum_module, "DENSE_MAX_NODES", 10)


def dense_laplacian(W: Floats, kind: str) -> Floats:
    degrees = W.sum(axis=1)
    L = np.diag(degrees) - W
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    if kind == "combinatorial":
        return L
    return L / root / root[:, None] if kind == "normalised" else L / root[:, None] ** 2


def cloud(n: int = 150, seed: int = 0) -> Floats:
    X = np.random.default_rng(seed).normal(size=(n, 3))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.where(squares <= np.sort(squares, axis=1)[:, [8]], np.exp(-squares), 0.0)
    return np.asarray(np.maximum(W, W.T) * (1 - np.eye(n)))


def check(W: Floats, m: int, kind: str) -> None:
    prepared = prepare(as_csr(W))
    values, vectors = smallest_eigenpairs(prepared, m, kind)  # type: ignore[arg-type]
    A = dense_laplacian(W, kind)
    scale = np.abs(A).sum(axis=1).max() or 1.0
    symmetric = dense_laplacian(W, "normalised" if kind == "random-walk" else kind)
    np.testing.assert_allclose(values, linalg.eigvalsh(symmetric)[:m], atol=1e-10 * scale)
    assert np.abs(A @ vectors - vectors * values).max() <= 1e-9 * scale
    degrees = np.where(W.sum(axis=1) > 0, W.sum(axis=1), 1.0)
    inner = degrees if kind == "random-walk" else np.ones(len(W))
    np.testing.assert_allclose(vectors.T @ (inner[:, None] * vectors), np.eye(m), atol=1e-10)
    assert (np.diff(values) >= -1e-12 * scale).all()
    assert (vectors.max(axis=0) >= -vectors.min(axis=0)).all()
    zeros = min(m, prepared.components.max() + 1)
    assert (values[:zeros] == 0).all()
    assert (values[zeros:] > 0).all()


@settings(max_examples=60)
@given(weights_in_pieces())
def test_pieces_and_isolated_nodes(W):  # type: ignore[no-untyped-def]
    for kind in KINDS:
        for m in {1, len(W) // 2 or 1, len(W)}:
            check(W, m, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 20, 100])
def test_the_iterative_method_agrees_with_the_dense_one(iterative, kind, m):  # type: ignore[no-untyped-def]
    check(cloud(), m, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [3, 30, 130])
def test_repeated_eigenvalues_are_all_found(iterative, kind, m):  # type: ignore[no-untyped-def]
    piece = cloud(12, seed=1)
    check(linalg.block_diag(*[piece] * 11, np.zeros((3, 3))), m, kind)
    check(np.ones((140, 140)) - np.eye(140), m, kind)


@pytest.mark.parametrize("stiff", [False, True])
@pytest.mark.parametrize("n", [200, 1_700])
def test_paths(monkeypatch, n, stiff):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(spectrum_module, "DENSE_MAX_NODES", 10)
    monkeypatch.setattr(spectrum_module, "is_stiff", lambda prepared: stiff)
    values, vectors = smallest_eigenpairs(path(n), 12)
    exact = 2 - 2 * np.cos(np.pi * np.arange(12) / n)
    np.testing.assert_allclose(values, exact, atol=1e-10, rtol=1e-7)
    nodes = np.arange(n) + 0.5
    cosines = np.cos(np.pi * np.outer(nodes, np.arange(12)) / n)
    cosines /= np.linalg.norm(cosines, axis=0)
    np.testing.assert_allclose(np.abs(vectors.T @ cosines), np.eye(12), atol=1e-6)


def test_random_walk_is_the_normalised_one_rescaled():
    prepared = prepare(as_csr(cloud()))
    values, vectors = smallest_eigenpairs(prepared, 5, "normalised")
    same, rescaled = smallest_eigenpairs(prepared, 5, "random-walk")
    assert (values == same).all()
    ratio = np.sqrt(prepared.degrees)[:, None] * rescaled / vectors
    np.testing.assert_allclose(np.abs(ratio), 1.0)


def test_kept_and_reused(iterative, monkeypatch):  # type: ignore[no-untyped-def]
    prepared = prepare(as_csr(cloud()))
    values, vectors = smallest_eigenpairs(prepared, 10)
    monkeypatch.setattr(spectrum_module, "_compute", None)
    fewer, shorter = smallest_eigenpairs(prepared, 4)
    assert (fewer == values[:4]).all()
    assert shorter.base is vectors.base or shorter.base is vectors
    with pytest.raises(ValueError, match="read-only"):
        shorter[0, 0] = 1.0


def test_same_seed_same_bits(iterative):  # type: ignore[no-untyped-def]
    runs = [smallest_eigenpairs(prepare(as_csr(cloud())), 10, "normalised", 3) for _ in range(2)]
    assert (runs[0][1] == runs[1][1]).all()


def test_a_graph_without_edges():
    prepared = prepare(sparse.csr_array((4, 4)))
    for kind in KINDS:
        values, vectors = smallest_eigenpairs(prepared, 3, kind)  # type: ignore[arg-type]
        assert (values == 0).all()
        assert np.array_equal(vectors, np.eye(4)[:, np.argmax(vectors, axis=0)])


@pytest.mark.parametrize("m", [0, -1, 2.5, True])
def test_bad_numbers(m):  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="1 or more"):
        smallest_eigenpairs(path(5), m)


def test_too_many_eigenpairs_are_refused():
    with pytest.raises(InputError, match="6 eigenpairs of a graph with 5 nodes"):
        smallest_eigenpairs(path(5), 6)
    with pytest.raises(InputError, match="no Laplacian is called"):
        smallest_eigenpairs(path(5), 2, "symmetric")  # type: ignore[arg-type]
