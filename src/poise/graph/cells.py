"""Approximate search in linear time: many small cells, found in two steps.

With a fixed number of points per cell the number of cells grows with the points, and comparing
every point with every cell would be quadratic. So cells are grouped into regions: the search goes
to the nearest region, to the nearest cell in it, and then to the cells around that one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.graph.backend import SPARE_CANDIDATES, Backend, Searcher, backends, float32_form
from poise.graph.features import Features
from poise.graph.metrics import FloatArray, IntArray, pair_distances
from poise.graph.workers import blocks_in_parallel

Singles = npt.NDArray[np.float32]

#: Points per cell, and points per cell in the sample that the cells are computed from.
POINTS_PER_CELL, SAMPLE_POINTS_PER_CELL = 64, 16
#: Candidate cells around a cell, per cell that is searched and at least.
AROUND_PER_PROBE, MIN_AROUND = 4, 16
#: Regions around a region in which these are sought.
NEAR_REGIONS = 8
#: Rows converted at a time.
BLOCK_ROWS = 16_384
#: Sampled points, and neighbours of each: their exact search decides how many cells are searched.
RECALL_POINTS, RECALL_NEIGHBOURS = 300, 12


class Cells:
    """A partition into small cells around centres.

    Attributes
    ----------
    centres : (C, d) of the cells, those of a region one after the other
    regions : (R, d) centres of the regions
    first : (R + 1,) where the cells of each region begin
    """

    def __init__(self, sample: Singles, n: int, seed: int) -> None:
        count = max(1, n // POINTS_PER_CELL)
        self.regions = _centres(sample, max(1, round(float(np.sqrt(count)))), seed)
        _, nearest = _search(sample, self.regions, 1)
        sizes = np.bincount(nearest[:, 0], minlength=len(self.regions))

        def cells_of(region: int) -> Singles:
            wanted = max(1, round(count * sizes[region] / len(sample)))
            inside = sample[nearest[:, 0] == region]
            return _centres(inside, wanted, seed) if len(inside) else self.regions[[region]]

        parts = list(blocks_in_parallel(cells_of, range(len(sizes))))
        self.centres = np.concatenate(parts)
        self.first = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
        self._around = np.empty((len(self.centres), 0), dtype=np.int64)

    def nearest(self, rows: Singles, probes: int) -> tuple[IntArray, Singles]:
        """The `probes` cells nearest to each row, nearest first, and squares of the distances."""
        probes = min(probes, len(self.centres))
        own = self._cell(rows)
        around = self._neighbourhoods(probes)
        cells = np.empty((len(rows), probes), dtype=np.int64)
        squares = np.empty((len(rows), probes), dtype=np.float32)
        for cell, inside in _groups(own):
            candidates = around[cell]
            squares[inside], numbers = _search(rows[inside], self.centres[candidates], probes)
            cells[inside] = candidates[numbers]
        return cells, squares

    def _cell(self, rows: Singles) -> IntArray:
        """A cell near each row: the nearest one of the nearest region."""
        _, nearest = _search(rows, self.regions, 1)
        own = np.empty(len(rows), dtype=np.int64)
        for region, inside in _groups(nearest[:, 0]):
            first, end = self.first[region], self.first[region + 1]
            _, numbers = _search(rows[inside], self.centres[first:end], 1)
            own[inside] = first + numbers[:, 0]
        return own

    def _neighbourhoods(self, probes: int) -> IntArray:
        """(C, m) the cells around each cell, nearest first, itself among them."""
        wanted = min(max(AROUND_PER_PROBE * probes, MIN_AROUND), len(self.centres))
        if self._around.shape[1] < wanted:
            self._around = self._cells_around(wanted)
        return self._around[:, :wanted]

    def _cells_around(self, wanted: int) -> IntArray:
        """Compares the cells of the nearest regions, of twice as many as hold enough cells."""
        regions = 2 * wanted * len(self.regions) // len(self.centres) + NEAR_REGIONS
        _, near = _search(self.regions, self.regions, min(regions, len(self.regions)))
        sizes = np.diff(self.first)
        around = np.empty((len(self.centres), wanted), dtype=np.int64)
        for region, others in enumerate(near):
            if sizes[others].sum() < wanted:
                others = np.arange(len(self.regions))
            candidates = np.concatenate(
                [np.arange(self.first[r], self.first[r + 1]) for r in others]
            )
            own = slice(self.first[region], self.first[region + 1])
            numbers = _search(self.centres[own], self.centres[candidates], wanted)[1]
            around[own] = candidates[numbers]
        return around


@backends.register("faiss-cells")
@dataclass(frozen=True)
class FaissCells(Backend):
    """faiss inverted lists over many small cells: approximate, for very many points.

    Parameters
    ----------
    recall : float
        Share of the true neighbours to be found, in a sample of the points that is also searched
        exactly: it decides how many cells are searched.
    fewest, most : int
        Bounds of the number of cells searched.
    variance : float
        As for "faiss-ivf".
    """

    recall: float = 0.97
    fewest: int = 12
    most: int = 256
    variance: float = 0.95

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        """Compute cells from a sample, sort all points into them, and decide how many to search."""
        return CellSearcher(points, metric, seed, self)


class CellSearcher:
    """Search among points that were sorted into cells.

    Attributes
    ----------
    cell : (n,) of each point; queries in its order are answered faster
    probes : cells searched for each query
    """

    def __init__(self, points: Any, metric: str, seed: int, settings: FaissCells) -> None:
        import faiss

        n = points.shape[0]
        self._points, self._metric = points, metric
        self._convert = float32_form(points).reduced(points, settings.variance, seed)
        rng = np.random.default_rng(seed)
        learned = max(SAMPLE_POINTS_PER_CELL * n // POINTS_PER_CELL, min(n, 1_000))
        rows = np.sort(rng.choice(n, min(n, learned), replace=False))
        self._cells = Cells(self._convert(points[rows]), n, seed)
        width = self._cells.centres.shape[1]
        self._quantizer = faiss.IndexFlatL2(width)
        self._quantizer.add(self._cells.centres)
        self._index = faiss.IndexIVFFlat(self._quantizer, width, len(self._cells.centres))
        self._index.is_trained = True
        self.cell = np.empty(n, dtype=np.int32)
        self._cells.nearest(self._cells.regions, 1)  # computed once, before threads share it
        sample = self._convert(points[np.sort(rng.choice(n, min(n, RECALL_POINTS), replace=False))])
        wanted = min(RECALL_NEIGHBOURS, n)
        true = np.full((len(sample), wanted), np.inf, dtype=np.float32)

        def sorted_in(start: int) -> tuple[int, Singles, IntArray, Singles]:
            block = self._convert(points[start : start + BLOCK_ROWS])
            near = _search(sample, block, min(wanted, len(block)))[0]
            return start, block, self._cells.nearest(block, 1)[0][:, 0], near

        for start, block, cells, near in blocks_in_parallel(sorted_in, range(0, n, BLOCK_ROWS)):
            self.cell[start : start + BLOCK_ROWS] = cells
            ids = np.arange(start, start + len(block))
            swig = faiss.swig_ptr
            self._index.add_core(len(block), swig(block), swig(ids), swig(cells), None)
            true = np.sort(np.hstack([true, near]), axis=1)[:, :wanted]
        self.probes = self._enough(sample, true, settings)

    def _enough(self, sample: Singles, true: Singles, settings: FaissCells) -> int:
        """The fewest cells that reach the required recall in the sample."""
        limit = true[:, -1:] * (1 + 1e-4) + 1e-12  # blocks of other sizes round sums differently
        probes = settings.fewest
        while probes < min(settings.most, len(self._cells.centres)):
            squares, _ = self._search(sample, true.shape[1], probes)
            if (squares <= limit).mean() >= settings.recall:
                break
            probes = 3 * probes // 2
        return min(probes, len(self._cells.centres))

    def _search(self, rows: Singles, count: int, probes: int) -> tuple[Singles, IntArray]:
        cells, squares = self._cells.nearest(rows, probes)
        self._index.nprobe = cells.shape[1]
        index: Any = self._index  # has the types of C++
        candidates: tuple[Singles, IntArray] = index.search_preassigned(rows, count, cells, squares)
        return candidates

    def __call__(self, queries: Features, count: int) -> tuple[IntArray, FloatArray]:
        """Candidates for each query, with exact distances."""
        wanted = count + SPARE_CANDIDATES if self._convert.axes is None else 3 * count
        wanted = min(wanted, self._points.shape[0])
        _, indices = self._search(self._convert(queries), wanted, self.probes)
        return indices, pair_distances(queries, self._points, indices, self._metric)


def _centres(sample: Singles, count: int, seed: int) -> Singles:
    """Centres of k-means; fewer where there are not enough points."""
    import faiss

    count = min(count, max(1, len(sample) // 4))
    means = faiss.Kmeans(
        sample.shape[1],
        count,
        niter=6,
        seed=seed % 2**31,
        min_points_per_centroid=1,  # or faiss writes a warning to stderr
        max_points_per_centroid=64,
    )
    means.train(sample)
    return np.asarray(means.centroids, dtype=np.float32).reshape(count, sample.shape[1])


def _search(rows: Singles, among: Singles, count: int) -> tuple[Singles, IntArray]:
    """Squares of the distances to the `count` nearest, and their numbers."""
    import faiss

    squares, numbers = faiss.knn(np.ascontiguousarray(rows), np.ascontiguousarray(among), count)
    return squares, numbers


def _groups(numbers: IntArray) -> list[tuple[int, IntArray]]:
    """Each number that occurs, and where."""
    order = np.argsort(numbers, kind="stable")
    values, starts = np.unique(numbers[order], return_index=True)
    return list(zip(values.tolist(), np.split(order, starts[1:]), strict=True))
