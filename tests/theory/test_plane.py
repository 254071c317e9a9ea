"""Two dimensions: the scheme against a radial solution, and both theorems on clusters."""

import numpy as np
import pytest

from poise.errors import HypothesisError
from poise.theory import clustered, solve_plane, solve_radial
from poise.theory.clustered import clouds


def test_a_single_label_is_nearly_radial():
    """Around one label in the middle, with a decay to zero at the boundary."""
    found = solve_plane([(0.5, 0.5)], [0], lambda x: np.ones(x.shape[:-1]), 400.0, 1.0, cells=160)
    x, u = solve_radial(2, 0.5, np.ones_like, 400.0, alpha=1.0, outer=0.0)
    expected = np.interp(found.distance, x, u)
    near = found.distance < 0.4
    assert np.abs(found.u[0] - expected)[near].max() < 0.02


def test_without_decay_the_classes_sum_to_one():
    found = solve_plane(
        [(0.2, 0.3), (0.7, 0.6), (0.9, 0.1)],
        [0, 1, 1],
        clouds(np.array([[0.3, 0.3], [0.7, 0.7]]), 0.1, 0.05),
        0.0,
        1.5,
        cells=60,
    )
    np.testing.assert_allclose(found.u.sum(axis=0), 1.0, atol=1e-5)
    assert found.u.min() >= 0


def test_both_theorems_on_clustered_densities():
    """Twenty problems: three clusters, two of them labelled."""
    rng = np.random.default_rng(0)
    found = [clustered(rng) for _ in range(10)]
    for one in found:
        assert one.cluster.holds
        assert one.labels.holds
        assert one.largest <= one.cluster.bound
        assert one.smallest >= one.labels.bound
    assert min(one.exponents for one in found) > 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [(0.5, 1.5)]}, "lie in the domain"),
        ({"alpha": 0.0}, "alpha > d - 2"),
        ({"tau": -1.0}, "tau >= 0"),
        ({"density": lambda x: x[..., 0] - 0.5}, "positive and finite"),
        ({"labels": [(0.5, 0.5), (0.5, 0.5)], "classes": [0, 1]}, "labels are apart"),
        ({"classes": []}, "every label has a class"),
    ],
)
def test_outside_the_hypotheses(change, message):
    given = {
        "labels": [(0.5, 0.5)],
        "classes": [0],
        "density": lambda x: np.ones(x.shape[:-1]),
        "tau": 1.0,
        "alpha": 1.0,
    }
    with pytest.raises(HypothesisError, match=message):
        solve_plane(**given | change, cells=20)
