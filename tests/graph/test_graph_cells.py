"""The search of very many points: recall, and lists that do not depend on threads or blocks."""

import faiss
import numpy as np
import pytest

from poise.graph.cells import CellSearcher, FaissCells
from poise.graph.search import nearest_neighbours, nearest_nodes
from poise.graph.workers import blocks_in_parallel


def clusters(n, d=16, seed=0):
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(20, d))
    return (centres[rng.integers(20, size=n)] + rng.normal(size=(n, d))).astype(np.float32)


def recall(lists, true):
    """Share of the true neighbours that were found."""
    pairs = zip(lists, true, strict=True)
    return np.mean([len(set(a) & set(b)) for a, b in pairs]) / true.shape[1]


@pytest.fixture(scope="module")
def points():
    return clusters(12_000)


@pytest.fixture(scope="module")
def true(points):
    return nearest_neighbours(points, 10, backend="exact").indices


def test_most_true_neighbours_are_found(points, true):
    lists = nearest_neighbours(points, 10, backend="faiss-cells")
    assert recall(lists.indices, true) > 0.95
    assert (lists.indices != np.arange(len(points))[:, None]).all()
    assert (np.diff(lists.distances, axis=1) >= 0).all()


def test_the_recall_asked_for_decides_how_many_cells_are_looked_into(points, true):
    """Without structure in many dimensions a dozen cells would not do."""
    X = np.random.default_rng(1).normal(size=(12_000, 32)).astype(np.float32)
    few = CellSearcher(X, "euclidean", 0, FaissCells(recall=0.5))
    many = CellSearcher(X, "euclidean", 0, FaissCells(recall=0.95))
    assert few.probes < many.probes
    exact = nearest_neighbours(X, 10, backend="exact").indices
    lists = nearest_neighbours(X, 10, backend=FaissCells(recall=0.95))
    assert recall(lists.indices, exact) > 0.93


def test_every_cell_of_a_partition_gives_exact_lists(points, true):
    every = FaissCells(recall=1.1, fewest=1_000, most=1_000)
    lists = nearest_neighbours(points, 10, backend=every)
    assert recall(lists.indices, true) > 0.9999


def test_lists_do_not_depend_on_the_number_of_threads(points):
    threads = faiss.omp_get_max_threads()
    results = []
    try:
        for number in (1, 2, 3):
            faiss.omp_set_num_threads(number)
            results.append(nearest_neighbours(points, 10, backend="faiss-cells"))
    finally:
        faiss.omp_set_num_threads(threads)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].indices, other.indices)
        np.testing.assert_array_equal(results[0].distances, other.distances)


def test_points_in_a_file_are_searched_like_points_in_memory(points, tmp_path):
    np.save(tmp_path / "points.npy", points)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    in_memory = nearest_neighbours(points, 5, backend="faiss-cells")
    in_file = nearest_neighbours(mapped, 5, backend="faiss-cells")
    np.testing.assert_array_equal(in_memory.indices, in_file.indices)


def test_new_points_are_searched_for_in_the_cells(points):
    queries = points[:50] + np.float32(1e-4)
    lists = nearest_nodes(points, queries, 3, backend="faiss-cells")
    assert np.mean(lists.indices[:, 0] == np.arange(50)) > 0.95


def test_progress_ends_at_the_number_of_points(points):
    seen = []
    nearest_neighbours(
        points[:5_000], 5, backend="faiss-cells", progress=lambda *now: seen.append(now)
    )
    assert seen[-1] == (5_000, 5_000)
    assert seen == sorted(set(seen))


def test_blocks_keep_their_order_and_errors_are_raised():
    assert list(blocks_in_parallel(lambda i: i * i, range(50))) == [i * i for i in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(blocks_in_parallel(lambda i: 1 // (i - 7), range(50)))
