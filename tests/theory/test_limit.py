"""Graphs against the continuum."""

import numpy as np
import pytest

from poise.theory import compare
from poise.theory.limit import SIGMA, sample


def wavy(x):
    return 1 + 0.5 * np.sin(3 * x[..., 0]) * np.cos(2 * x[..., 1])


def test_the_kernels_moment():
    r = np.linspace(0, 1, 200_001)
    assert np.pi * np.trapezoid(r**3 * np.exp(-4 * r**2), r) == pytest.approx(SIGMA, rel=1e-8)


def test_points_follow_the_density():
    X = sample(wavy, 40_000, np.random.default_rng(0))
    grid = (np.arange(200) + 0.5) / 200
    left = wavy(np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1))
    share = left[:100].sum() / left.sum()
    assert (X[:, 0] < 0.5).mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_reweighted_graphs_converge_and_plain_ones_do_not(alpha):
    found = compare(
        wavy,
        [(0.25, 0.3), (0.75, 0.7)],
        [0, 1],
        tau=20.0,
        alpha=alpha,
        sizes=(1_000, 2_000, 4_000, 8_000),
        trials=2,
        cells=120,
    )
    reweighted, plain = found.slopes
    assert reweighted < -0.3
    assert found.reweighted[-1].mean() < 0.03
    assert plain > -0.05
    assert found.plain.min() > 0.3
