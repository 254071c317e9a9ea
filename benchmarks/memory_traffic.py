"""Order of the rows and memory bandwidth: the tables of docs/decisions/compiled-kernel.md.

    POISE_DATA=folder python benchmarks/memory_traffic.py --folder graphs --sizes 300000 1000000

The graphs are those of benchmarks/coarse_levels.py. Parts:

    order      share of the edges between rows that are close to each other, by order
    kernel     the product without one of its devices at a time
    bytes      bytes per second of the solver's passes in single precision, and of a triad
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from coarse_levels import graphs, table, voronoi
from numba import prange
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

import poise
from poise.linalg import PreparedLaplacian, compiled, prepared
from poise.linalg.lanes import WIDTHS, row_stride
from poise.linalg.packets import NEAR_BYTES, Workspace
from poise.models.components import laplacian

PARTS = ("order", "kernel", "bytes")
NEAR = (2_000, 16_000, 64_000)
#: Numbers in each array of the triad: 160 MB, more than any cache.
TRIAD = 40_000_000
RUNS = 11


def order_of_rows(name: str, graph: poise.Graph) -> None:
    weights = graph.weights.tocsr()
    n = graph.n_nodes
    cells = voronoi(weights, min(256, n // 32))
    orders = {
        "as the points came": np.arange(n),
        "Voronoi cells": np.argsort(cells.group, kind="stable"),
        "reverse Cuthill-McKee": reverse_cuthill_mckee(sparse.csr_matrix(weights), True),
        "tree of pairs": laplacian(graph).order,
    }

    def rows() -> Iterator[Sequence[Any]]:
        ends = np.repeat(np.arange(n), np.diff(weights.indptr))
        for title, nodes in orders.items():
            position = np.empty(n, dtype=np.int64)
            position[nodes] = np.arange(n)
            apart = np.abs(position[ends] - position[weights.indices])
            yield title, *(float(np.mean(apart < distance)) for distance in NEAR)

    header = ("order", *(f"{distance:,}" for distance in NEAR))
    table(f"{name}: share of the edges between rows so close", header, rows())


@dataclass(frozen=True)
class Device:
    """What the product of several columns is made with."""

    sorted_rows: bool = True
    shared_diagonal: bool = True
    padded_rows: bool = True
    prefetch: bool = True


DEVICES = {
    "as it is": Device(),
    "rows not sorted by length": Device(sorted_rows=False),
    "a diagonal for each column": Device(shared_diagonal=False),
    "rows of 48 bytes, not 64": Device(padded_rows=False),
    "no prefetching": Device(prefetch=False),
    "none of these": Device(False, False, False, False),
}


def kernel(name: str, graph: poise.Graph) -> None:
    """Milliseconds of a product in single precision; the variants take turns."""
    layouts = {True: laplacian(graph)}
    block, prepared.SORTED_ROWS = prepared.SORTED_ROWS, 1
    layouts[False] = prepared.prepare(graph.weights, graph.components)
    prepared.SORTED_ROWS = block
    times = []
    for width in WIDTHS:
        products = [
            a_product(layouts[device.sorted_rows], width, device) for device in DEVICES.values()
        ]
        times.append([1e3 * seconds for seconds in medians(products)])
    rows = ([title, *row] for title, row in zip(DEVICES, zip(*times, strict=True), strict=True))
    title = f"{name}: ms of a product, by columns, {numba.get_num_threads()} threads"
    table(title, ("", *map(str, WIDTHS)), rows)


def a_product(p: PreparedLaplacian, width: int, device: Device) -> Callable[[], Any]:
    kind, n = np.float32, p.n
    stride = row_stride(width, 4) if device.padded_rows else width
    diagonals = (n,) if device.shared_diagonal else (n, width)
    arrays = Workspace().arrays([(n, stride), (n, width), diagonals, diagonals], kind)
    for array in arrays:
        array[:] = np.random.default_rng(0).random(array.shape, dtype=kind)
    P, Q, D, inverse = arrays
    is_far = device.prefetch and n * row_stride(width, 4) * 4 > NEAR_BYTES
    nothing = np.zeros((1, 0, 0), kind), np.zeros(0, np.int64)
    operators = compiled.PacketOperators(
        p.indptr, p.indices, p.single, p.ranges, D, inverse, *nothing, is_far
    )
    sums = np.zeros((len(p.ranges) - 1, width), kind)
    return partial(compiled.product, operators, P, Q, sums, (kind(0),) * width)


class Pass(NamedTuple):
    """A pass over memory.

    Attributes
    ----------
    run : makes the pass
    streamed : bytes of every array that is read or written, once each
    gathered : bytes of the rows of `P` that the product picks, one for each entry of the matrix
    """

    run: Callable[[], Any]
    streamed: int
    gathered: int = 0


@numba.njit(parallel=True)
def triad(a: Any, b: Any, c: Any) -> None:
    for i in prange(len(a)):
        a[i] = b[i] + np.float32(3.0) * c[i]


def passes(p: PreparedLaplacian, width: int) -> dict[str, Pass]:
    """The three passes of a step of conjugate gradients, `width` columns in single precision."""
    kind = np.float32
    n, entries, row = p.n, len(p.indices), 4 * width
    stride = row_stride(width, 4)
    shapes = [(n, stride)] + [(n, width)] * 3 + [(n,)] * 2
    P, R, X, Q, D, inverse = arrays = Workspace().arrays(shapes, kind)
    for array in arrays:
        array[:] = np.random.default_rng(0).random(array.shape, dtype=kind)
    sums = np.zeros((3, len(p.ranges) - 1, width), kind)
    one, groups = np.zeros((1, width), kind), np.zeros((p.n_groups, width), kind)
    zero = (kind(0),) * width
    no_coarse, no_columns = np.zeros((1, 0, 0), kind), np.zeros(0, np.int64)
    operators = compiled.PacketOperators(
        p.indptr, p.indices, p.single, p.ranges, D, inverse, no_coarse, no_columns, False
    )
    product = a_product(p, width, Device())
    residual = partial(compiled.advance_residual, operators, one, Q, R, *sums, zero)
    solution = partial(compiled.advance_solution, operators, groups, one, one, R, X, P, zero)
    return {
        # Column and weight of an entry, where each row begins; D, its inverse; P and Q.
        "product": Pass(product, 8 * entries + 12 * n + 2 * n * row, entries * row),
        "residual": Pass(residual, 4 * n + 3 * n * row),  # The inverse; Q, R twice
        "direction": Pass(solution, 4 * n + 5 * n * row),  # The inverse; R, X and P twice
    }


def bytes_a_second(name: str, graph: poise.Graph) -> None:
    """Median times, the passes taking turns, by all threads whatever the load of the machine."""
    p = laplacian(graph)
    arrays = np.random.default_rng(0).random((3, TRIAD), dtype=np.float32)
    for width in WIDTHS:
        all_passes = {"triad": Pass(partial(triad, *arrays), arrays.nbytes)} | passes(p, width)
        seconds = dict(
            zip(all_passes, medians([each.run for each in all_passes.values()]), strict=True)
        )
        limit = arrays.nbytes / seconds["triad"]
        *_, product, residual, direction = all_passes.values()
        parts = [product, residual, direction]
        seconds["a step"] = sum(seconds.values()) - seconds["triad"]
        all_passes["a step"] = Pass(
            product.run, sum(each.streamed for each in parts), sum(each.gathered for each in parts)
        )
        rows = []
        for title, (_, streamed, gathered) in all_passes.items():
            rates = [amount / seconds[title] for amount in (streamed, streamed + gathered)]
            ms = 1e3 * seconds[title]
            shares = [f"{rate / limit:.0%}" for rate in rates]
            rows.append([title, ms, rates[0] / 1e9, shares[0], rates[1] / 1e9, shares[1]])
        streamed_only, both = (
            ("streamed, GB/s", "of the triad"),
            ("and gathered, GB/s", "of the triad"),
        )
        title = f"{name}, {width} columns, single precision, {numba.get_num_threads()} threads"
        table(title, ("pass", "ms", *streamed_only, *both), rows)


def medians(runners: Sequence[Callable[[], Any]]) -> list[float]:
    """Median seconds of each; they take turns, and the first round only compiles."""
    times = np.empty((RUNS + 1, len(runners)))
    with compiled.straight_line_vectorised():
        for turn in range(RUNS + 1):
            for which, run in enumerate(runners):
                before = time.perf_counter()
                run()
                times[turn, which] = time.perf_counter() - before
    return [float(median) for median in np.median(times[1:], axis=0)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sizes", nargs="*", type=int, default=[300_000, 1_000_000])
    parser.add_argument("--folder", type=Path, required=True, help="where graphs are kept")
    arguments = parser.parse_args()
    run = {"order": order_of_rows, "kernel": kernel, "bytes": bytes_a_second}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, graph in graphs(arguments.folder, arguments.sizes):
        for part in arguments.parts:
            run[part](name, graph)
        print(f"\nLoad of the machine: {os.getloadavg()[0]:.1f}.", flush=True)


if __name__ == "__main__":
    main()
