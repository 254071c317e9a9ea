"""Cells, the planes between them, and which cells a search can skip."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from tests.distributed.serial import clusters

from poise.distributed.bisectors import bounds_to_cells, cells_to_visit
from poise.distributed.centres import cell_centres, home_cells, in_order


@pytest.fixture(scope="module")
def points() -> Any:
    return clusters(2_000, 6)


def test_cells_are_of_like_size(points: Any) -> None:
    skewed = np.concatenate([points, points[:1] + 0.01 * points[:1500]])  # most in one corner
    centres = cell_centres(skewed, 20, 0)
    sizes = np.bincount(home_cells(skewed, centres), minlength=len(centres))
    assert len(centres) == 20
    assert sizes.max() <= 2 * sizes.mean()


def test_many_coinciding_points_take_no_cells_from_others(points: Any) -> None:
    copies = np.concatenate([points, np.repeat(points[:1], 1500, axis=0)])
    centres = cell_centres(copies, 20, 0)
    sizes = np.bincount(home_cells(copies, centres), minlength=len(centres))
    assert len(centres) == 20
    assert np.sort(sizes)[-2] < 400


def test_the_same_seed_makes_the_same_cells(points: Any) -> None:
    assert np.array_equal(cell_centres(points, 9, 3), cell_centres(points, 9, 3))
    assert not np.array_equal(cell_centres(points, 9, 3), cell_centres(points, 9, 4))


def test_a_point_belongs_to_the_nearest_centre(points: Any) -> None:
    centres = cell_centres(points, 9, 0)
    assert np.array_equal(home_cells(points, centres), cdist(points, centres).argmin(axis=1))


def test_there_are_no_more_cells_than_distinct_points() -> None:
    assert len(cell_centres(np.repeat(np.eye(3), 40, axis=0), 8, 0)) == 3


def test_near_cells_have_close_numbers() -> None:
    line = np.random.default_rng(0).permutation(50).astype(float)[:, None]
    ordered = in_order(np.column_stack([line, line]))
    assert np.abs(np.diff(ordered[:, 0])).mean() < 3  # 1 is best, 17 is chance


@given(st.integers(0, 2**31), st.integers(1, 12), st.floats(0, 1e6))
def test_a_bound_is_never_above_a_true_distance(seed: int, cells: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) + far
    centres = X[rng.choice(60, cells, replace=False)]
    home = home_cells(X, centres)
    apart = cdist(X, X)
    for cell in range(cells):
        mine = np.flatnonzero(home == cell)
        bounds = bounds_to_cells(X[mine], cell, centres)
        for other in np.setdiff1d(np.unique(home), [cell]):
            nearest = apart[np.ix_(mine, home == other)].min(axis=1)
            assert (bounds[:, other] <= nearest).all()


def test_the_bounds_leave_cells_out(points: Any) -> None:
    centres = cell_centres(points, 9, 0)
    home = home_cells(points, centres)
    mine = points[home == 4]
    kth = np.sort(cdist(mine, mine), axis=1)[:, 5]
    rows, cells, covered = cells_to_visit(mine, 4, centres, kth, 8)
    assert covered.all()
    assert 0 < len(rows) < 0.9 * 8 * len(mine)
    assert 4 not in cells
    assert np.array_equal(np.lexsort((rows, cells)), np.arange(len(rows)))


def test_no_more_cells_are_visited_than_allowed(points: Any) -> None:
    centres = cell_centres(points, 9, 0)
    mine = points[home_cells(points, centres) == 4]
    rows, cells, covered = cells_to_visit(mine, 4, centres, np.full(len(mine), np.inf), 2)
    assert np.array_equal(np.bincount(rows), np.full(len(mine), 2))
    bounds = bounds_to_cells(mine, 4, centres)
    assert set(cells[rows == 0]) == set(bounds[0].argsort()[:2])
    assert not covered.any()
    none, _, covered = cells_to_visit(mine, 4, centres, np.zeros(len(mine)), 0)
    assert none.size == 0
    assert covered.all()
