"""Laplace learning that grows by labels, against the same labels solved for at once."""

import numpy as np
import pytest
from scipy import sparse

from poise.graph import Graph
from poise.models.growth import grown, growth
from poise.models.harmonic import Problem, solve_problems


def _graph(seed: int, n: int = 60) -> Graph:
    """Two random components."""
    rng = np.random.default_rng(seed)
    W = sparse.random_array((n, n), density=0.15, rng=rng)
    W = W + W.T
    half = np.arange(n) < n // 2
    W = W.multiply(half[:, None] == half[None, :]).tolil()
    for i in range(n - 1):
        if i != n // 2 - 1:
            W[i, i + 1] = W[i + 1, i] = 1.0
    W.setdiag(0)
    return Graph.from_weights(sparse.csr_array(W))


@pytest.mark.parametrize("seed", range(10))
def test_growing_by_labels_is_solving_with_all_of_them(seed):
    rng = np.random.default_rng(seed)
    graph = _graph(seed)
    nodes = rng.choice(graph.n_nodes, 9, replace=False).tolist()
    classes = rng.integers(0, 4, 9).tolist()

    def problem(m: int) -> Problem:
        sources = [
            tuple(i for i, c in zip(nodes[:m], classes, strict=False) if c == j) for j in range(4)
        ]
        return Problem(tuple(s for s in sources if s), reweighted=False)

    before, (columns,) = problem(2), solve_problems(graph, [problem(2)])
    for m in (3, 4, 7, 7, 9):
        step = growth(before, problem(m))
        columns = grown(before, columns, problem(m), *solve_problems(graph, [step]))
        before = problem(m)
        (whole,) = solve_problems(graph, [before])
        np.testing.assert_allclose(columns.values, whole.values, atol=1e-8)


def test_there_is_no_growth_where_a_label_changed_or_was_taken_back():
    before = Problem(((1, 2), (3,)), reweighted=False)
    assert growth(before, Problem(((1,), (2, 3)), reweighted=False)) is None
    assert growth(before, Problem(((1, 2), (4,)), reweighted=False)) is None


@pytest.mark.parametrize("other", [{"shift": 1e-5}, {"reweighted": False, "tau": 0.1}])
def test_there_is_no_growth_outside_plain_laplace_learning(other):
    assert growth(Problem(((1,),), **other), Problem(((1, 2),), **other)) is None
    assert growth(Problem(((1,),), reweighted=False), Problem(((1, 2),), **other)) is None
