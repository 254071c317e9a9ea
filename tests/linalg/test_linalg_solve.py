"""The solver against dense linear algebra, on random graphs, operators and right-hand sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_systems import PRECONDITIONERS, any_systems, path
from scipy import sparse

from poise.errors import ConvergenceError, InputError
from poise.linalg import Status, prepare, solve
from poise.linalg.simultaneous import RTOL, RTOL_SMALL, SMALL_MAX_NODES


@settings(max_examples=100)
@given(any_systems, st.sampled_from(PRECONDITIONERS), st.sampled_from(["compiled", "scipy"]))
def test_every_column_is_the_dense_solution(system, preconditioner, backend):  # type: ignore[no-untyped-def]
    solution = system.solve(rtol=1e-12, preconditioner=preconditioner, backend=backend).require()
    expected = system.dense()
    assert solution.value.shape == expected.shape
    assert np.all(solution.value[~system.free[:, system.operator]] == 0)
    np.testing.assert_allclose(solution.value, expected, atol=1e-9 * max(1, np.abs(expected).max()))


@settings(max_examples=100)
@given(any_systems, st.sampled_from([1e-3, 1e-7, 1e-10]), st.sampled_from(PRECONDITIONERS))
def test_the_tolerance_is_met_and_reported(system, rtol, preconditioner):  # type: ignore[no-untyped-def]
    solution = system.solve(rtol=rtol, preconditioner=preconditioner, sweep=False)
    assert solution.converged
    assert np.all(solution.residual <= rtol)
    true = system.relative_residual(solution.value)
    assert np.all(true <= rtol * 1.001 + 1e-13)
    np.testing.assert_allclose(solution.residual, true, rtol=1e-2, atol=1e-13)


@settings(max_examples=100)
@given(any_systems, st.sampled_from(["jacobi", "two-level"]))
def test_compiled_and_scipy_agree(system, preconditioner):  # type: ignore[no-untyped-def]
    compiled = system.solve(rtol=1e-12, preconditioner=preconditioner, backend="compiled").require()
    reference = system.solve(rtol=1e-12, preconditioner=preconditioner, backend="scipy").require()
    size = max(1.0, np.abs(reference.value).max())
    np.testing.assert_allclose(compiled.value, reference.value, atol=1e-11 * size)
    assert np.all(np.abs(compiled.steps - reference.steps) <= 1)


@settings(max_examples=100)
@given(any_systems, st.sampled_from(PRECONDITIONERS), st.sampled_from(["compiled", "scipy"]))
def test_a_start_does_not_change_the_solution(system, preconditioner, backend):  # type: ignore[no-untyped-def]
    options = {"rtol": 1e-10, "preconditioner": preconditioner, "backend": backend}
    expected = system.dense()
    size = max(1.0, np.abs(expected).max())
    elsewhere = system.solve(start=expected + 1.0, **options).require()
    np.testing.assert_allclose(elsewhere.value, expected, atol=1e-7 * size)
    solution = system.solve(start=expected, **options).require()
    assert np.all(solution.steps == 0)
    np.testing.assert_allclose(solution.value, expected, atol=1e-9 * size)


@pytest.mark.parametrize("backend", ["compiled", "scipy"])
@pytest.mark.parametrize("start", [None, 1.0])
def test_a_zero_right_hand_side_takes_no_steps(backend: str, start: float | None) -> None:
    prepared, free = path(40), np.arange(40) > 0
    rhs = np.zeros((40, 2))
    rhs[5, 1] = 1.0
    solution = solve(prepared, rhs, free=free, start=start, backend=backend).require()
    assert solution.steps[0] == 0
    assert solution.steps[1] > 0
    assert np.all(solution.value[:, 0] == 0)
    assert solution.residual[0] == 0


@pytest.mark.parametrize("backend", ["compiled", "scipy"])
def test_one_step_is_not_enough_and_the_remedy_says_so(backend: str) -> None:
    prepared = path(40)
    rhs = np.zeros((40, 2))
    rhs[20, 0] = 1.0
    solution = solve(prepared, rhs, free=np.arange(40) > 0, max_steps=1, backend=backend)
    assert solution.status.tolist() == [Status.MAX_STEPS, Status.CONVERGED]
    assert solution.steps.tolist() == [1, 0]
    assert not solution.converged
    assert "raise max_steps or rtol" in Status.MAX_STEPS.remedy
    with pytest.raises(ConvergenceError, match=r"column 0 .* after 1 steps .* raise max_steps"):
        solution.require()


@pytest.mark.parametrize("backend", ["compiled", "scipy"])
def test_an_indefinite_operator_breaks_down_and_says_so(backend: str) -> None:
    prepared = path(40)
    rhs = np.random.default_rng(0).normal(size=40)
    q = np.full(40, -0.5)  # diagonal still positive, L + q is not
    solution = solve(prepared, rhs, diagonals=q, free=np.arange(40) > 0, backend=backend)
    assert solution.status.tolist() == [Status.BREAKDOWN]
    with pytest.raises(ConvergenceError, match="not positive definite"):
        solution.require()


@pytest.mark.parametrize(
    ("n", "expected"), [(SMALL_MAX_NODES, RTOL_SMALL), (SMALL_MAX_NODES + 1, RTOL)]
)
def test_small_graphs_have_a_tighter_tolerance(n: int, expected: float) -> None:
    prepared = prepare(sparse.csr_array(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])))
    solution = solve(
        prepared, np.ones(n), diagonals=np.full(n, 0.01), preconditioner="two-level"
    ).require()
    assert expected / 1000 < solution.residual[0] <= expected


def test_one_right_hand_side_may_be_flat() -> None:
    prepared, free = path(10), np.arange(10) > 0
    flat = solve(prepared, np.ones(10), free=free)
    assert flat.value.shape == (10,)
    column = solve(prepared, np.ones((10, 1)), free=free)
    assert column.value.shape == (10, 1)
    np.testing.assert_array_equal(flat.value, column.value[:, 0])


def test_no_columns_and_no_free_nodes_are_no_problem() -> None:
    prepared = path(10)
    assert solve(prepared, np.zeros((10, 0)), free=np.arange(10) > 0).value.shape == (10, 0)
    bound = solve(prepared, np.ones(10), free=np.zeros(10, dtype=bool)).require()
    assert np.all(bound.value == 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rhs": np.ones(9)}, r"rhs has shape \(9,\)"),
        ({"rhs": np.ones((9, 2))}, r"rhs has shape \(9, 2\)"),
        ({"rhs": np.ones((10, 1, 1))}, r"rhs has shape \(10, 1, 1\)"),
        ({"rhs": np.full(10, np.nan)}, "rhs has NaN or infinite"),
        ({"rhs": np.full(10, np.inf)}, "rhs has NaN or infinite"),
        ({"diagonals": np.ones(9)}, r"diagonals has shape \(9,\)"),
        ({"diagonals": np.full(10, np.nan)}, "diagonals have NaN or infinite"),
        ({"diagonals": np.full(10, -5.0)}, "indefinite"),
        ({"free": np.ones(9, dtype=bool)}, r"free has shape \(9,\)"),
        ({"start": np.ones(9)}, r"start has shape \(9,\)"),
        ({"start": np.ones((10, 3))}, "start has"),
        ({"start": np.full(10, np.nan)}, "start has NaN or infinite"),
        ({"operator": [1]}, "operator must hold 1 numbers from 0 to 0"),
        ({"operator": [0, 0]}, "operator must hold 1 numbers"),
        ({"diagonals": np.ones((10, 3))}, "3 operators for 1 columns"),
        ({"rtol": 0.0}, "rtol is 0.0"),
        ({"rtol": float("nan")}, "rtol is nan"),
        ({"preconditioner": "magic"}, "preconditioner is 'magic': there are auto, jacobi"),
        ({"backend": "magic"}, "backend is 'magic': there are compiled, scipy"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], message: str) -> None:
    options: dict[str, object] = {"rhs": np.ones(10), "free": np.arange(10) > 0, **change}
    with pytest.raises(InputError, match=message):
        solve(path(10), options.pop("rhs"), **options)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_a_diagonal_that_is_negative_by_rounding_is_solved(preconditioner: str) -> None:
    prepared = path(50)
    q = np.zeros(50)
    q[20] = -1e-9
    free = np.ones(50, dtype=bool)
    free[0] = False
    rhs = np.ones(50)
    options = {"preconditioner": preconditioner, "backend": "scipy", "rtol": 1e-12}
    solution = solve(prepared, rhs, diagonals=q, free=free, **options).require()
    matrix = np.diag(prepared.degrees + q) - prepared.weights.toarray()
    expected = np.linalg.solve(matrix[1:, 1:], rhs[1:])
    np.testing.assert_allclose(solution.value[1:], expected, rtol=1e-8)
