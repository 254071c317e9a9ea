"""Two dimensions: the scheme against a radial solution, and both theorems on clusters."""

import math

import numpy as np
import pytest

from poise.errors import HypothesisError
from poise.theory import explore_labels, explore_new_cluster, solve_plane, solve_radial


def clouds(centres, width, background):
    def density(x):
        gaps = ((x[..., None, :] - centres) ** 2).sum(axis=-1)
        return background + np.exp(-gaps / (2 * width**2)).sum(axis=-1)

    return density


def test_a_single_label_is_nearly_radial():
    """Around one label in the middle, with a decay that leaves nothing at the boundary."""
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
    tried = [0, 0]
    looseness = []
    for _ in range(10):
        centres = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.8]]) + rng.uniform(-0.03, 0.03, (3, 2))
        density = clouds(centres, float(rng.uniform(0.05, 0.07)), float(rng.uniform(0.02, 0.1)))
        alpha = float(rng.uniform(0.5, 2.0))
        labels = [tuple(centres[0]), tuple(centres[1])]

        # The unexplored third cluster: a ball of radius 0.08 with a shell of thickness 2s.
        s = 0.08
        flat = solve_plane(labels, [0, 1], density, 0.0, alpha, cells=80)
        away = np.linalg.norm(flat.points - centres[2], axis=-1)
        shell = (away >= 0.08) & (away <= 0.08 + 2 * s)
        delta, rough = float(flat.density[shell].max()), float(flat.roughness[shell].max())
        R = float(np.linalg.norm(flat.labels - centres[2], axis=-1).min()) - 0.08 - 2 * s
        given = {"delta": delta, "s": s, "R": R, "alpha": alpha, "d": 2, "roughness": rough}
        needed = explore_new_cluster(tau=1.0, classes=2, **given).right
        tau = 1.01 * delta * needed**2
        bound = explore_new_cluster(tau=tau, classes=2, **given)
        assert bound.holds
        found = solve_plane(labels, [0, 1], density, tau, alpha, cells=160)
        away = np.linalg.norm(found.points - centres[2], axis=-1)
        largest = found.acquisition[away <= 0.08].max()
        assert largest <= bound.bound
        looseness.append(math.log(max(largest, 1e-300)) / math.log(bound.bound))
        tried[0] += 1

        # Around the labels: the largest radius and tau that the conditions allow.
        near = flat.distance <= 0.2
        lowest, rough = float(flat.density[near].min()), float(flat.roughness[near].max())
        r = 0.09
        kept = {"density": lowest, "alpha": alpha, "d": 2, "roughness": rough, "separation": 0.5}
        while not all(condition.holds for condition in explore_labels(tau=0.0, r=r, **kept)):
            r *= 0.9
        tau = 0.99 * alpha**2 * lowest / 36 / r**2
        conditions = explore_labels(tau=tau, r=r, **kept)
        assert all(condition.holds for condition in conditions)
        found = solve_plane(labels, [0, 1], density, tau, alpha, cells=160)
        assert found.acquisition[found.distance <= r].min() >= conditions[0].bound
        tried[1] += 1
    assert tried == [10, 10]
    assert min(looseness) > 1, "the exponent of the bound is smaller than the true one"


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
