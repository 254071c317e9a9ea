"""A column's bits depend neither on the other columns nor on the number of threads."""

import numba
import numpy as np
import pytest
from scipy import sparse

from poise.graph import knn_graph
from poise.linalg import PreparedLaplacian, packets, prepare, solve
from poise.linalg.lanes import row_stride


@pytest.fixture(scope="module")
def prepared() -> PreparedLaplacian:
    X = np.random.default_rng(0).normal(size=(3000, 4)).astype(np.float32)
    return prepare(knn_graph(X, k=12).weights)


@pytest.fixture(scope="module")
def grid() -> PreparedLaplacian:
    """A square grid of 22,500 nodes with random weights: work enough for two threads."""
    side = 150
    node = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    heads = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    weights = np.random.default_rng(0).uniform(0.1, 1.0, size=len(tails))
    W = sparse.coo_array((weights, (tails, heads)), shape=(side**2, side**2))
    return prepare(sparse.csr_array(W + W.T))


@pytest.fixture(scope="module")
def columns(prepared: PreparedLaplacian) -> dict[str, np.ndarray]:
    """Fourteen columns: more than one packet of them, and the second is not full."""
    rng = np.random.default_rng(1)
    free = np.ones((prepared.n, 3), dtype=bool)
    for k in range(3):
        free[rng.choice(prepared.n, 10 * (k + 1), replace=False), k] = False
    return {
        "rhs": rng.normal(size=(prepared.n, 14)) * (rng.random((prepared.n, 14)) < 0.01),
        "diagonals": np.column_stack([np.zeros(prepared.n), rng.random((2, prepared.n)).T * 1e-3]),
        "free": free,
        "operator": np.arange(14) % 3,
    }


@pytest.mark.parametrize("preconditioner", ["jacobi", "two-level"])
def test_columns_do_not_see_each_other(prepared, columns, preconditioner) -> None:  # type: ignore[no-untyped-def]
    together = solve(prepared, **columns, preconditioner=preconditioner).require()
    assert len(set(together.steps)) > 1  # columns end at different steps
    rhs, operator = columns["rhs"], columns["operator"]
    # The columns of the last three have one operator, whose diagonal they share.
    for kept in ([0, 10], [1, 2, 3, 5, 6, 7, 8], [4], [2, 5, 8], [0, 3, 6, 9, 12]):
        alone = solve(
            prepared,
            rhs[:, kept],
            diagonals=columns["diagonals"],
            free=columns["free"],
            operator=operator[kept],
            preconditioner=preconditioner,
        ).require()
        np.testing.assert_array_equal(alone.value, together.value[:, kept])
        np.testing.assert_array_equal(alone.steps, together.steps[kept])


@pytest.mark.parametrize("preconditioner", ["jacobi", "two-level"])
@pytest.mark.parametrize("n_columns", [1, 3, 11])
def test_threads_do_not_change_a_bit(  # type: ignore[no-untyped-def]
    grid, preconditioner, n_columns, monkeypatch
) -> None:
    threads = numba.get_num_threads()
    if threads < 2:
        pytest.skip("needs two threads")
    # Small work and a busy machine would choose one thread by themselves.
    monkeypatch.setattr(packets, "MIN_PARALLEL_WORK", 0)
    monkeypatch.setattr(packets, "_busy", lambda threads: False)
    rhs = np.random.default_rng(0).normal(size=(grid.n, n_columns))
    options = {"diagonals": np.full(grid.n, 1e-2), "preconditioner": preconditioner}
    parallel = solve(grid, rhs, **options).require()
    numba.set_num_threads(1)
    try:
        single = solve(grid, rhs, **options).require()
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(single.value, parallel.value)
    # A packet of one lane agrees with wider ones.
    alone = solve(grid, rhs[:, :1], **options).require()
    np.testing.assert_array_equal(alone.value, parallel.value[:, :1])


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
@pytest.mark.parametrize("n_columns", [3, 11])
def test_prefetching_does_not_change_a_bit(grid, n_columns, rtol, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    rhs = np.random.default_rng(0).normal(size=(grid.n, n_columns))
    options = {"diagonals": np.full(grid.n, 1e-2), "rtol": rtol}
    monkeypatch.setattr(packets, "NEAR_BYTES", 10**12)
    near = solve(grid, rhs, **options).require()
    monkeypatch.setattr(packets, "NEAR_BYTES", 0)
    np.testing.assert_array_equal(solve(grid, rhs, **options).value, near.value)


def test_rows_touch_as_few_lines_as_they_can() -> None:
    strides = {(w, size): row_stride(w, size) for w in (1, 4, 12) for size in (4, 8)}
    assert strides == {(1, 4): 1, (1, 8): 1, (4, 4): 4, (4, 8): 4, (12, 4): 16, (12, 8): 12}


def test_the_layout_and_the_solution_are_the_same_every_time(prepared, columns) -> None:  # type: ignore[no-untyped-def]
    again = prepare(prepared.weights)
    np.testing.assert_array_equal(again.order, prepared.order)
    first = solve(prepared, **columns).value
    np.testing.assert_array_equal(solve(again, **columns).value, first)


@pytest.mark.parametrize("preconditioner", ["two-level", "approx-chol"])
def test_other_paths_agree_on_a_graph_of_real_size(prepared, columns, preconditioner) -> None:  # type: ignore[no-untyped-def]
    reference = solve(prepared, **columns, preconditioner="jacobi", rtol=1e-12).require()
    size = np.abs(reference.value).max()
    for backend in ("compiled", "scipy"):
        solution = solve(
            prepared, **columns, preconditioner=preconditioner, backend=backend, rtol=1e-12
        ).require()
        np.testing.assert_allclose(solution.value, reference.value, atol=1e-9 * size)
        assert solution.steps.sum() < reference.steps.sum()


def test_the_user_s_number_of_threads_is_left_alone(prepared, columns) -> None:  # type: ignore[no-untyped-def]
    threads = numba.get_num_threads()
    solve(prepared, **columns)
    assert numba.get_num_threads() == threads
