"""Coarse spaces, and steps as the graph grows: the tables of docs/decisions/preconditioner.md.

    POISE_DATA=folder python benchmarks/coarse_levels.py --folder graphs
    python benchmarks/coarse_levels.py --folder graphs --parts steps --sizes 10000 300000

The graphs are clusters of points of the given sizes (50 clusters, 10 latent dimensions, 32 in all,
10 neighbours), kept in the folder, and mnist_vae if POISE_DATA has it. Parts:

    steps      steps, and work in products with the graph's matrix, by coarse space
    growth     steps of the current solver, by size
"""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

import poise
from poise.linalg import prepare, solve
from poise.linalg.aggregates import _contract, _pairs
from poise.models.components import laplacian

PARTS = ("steps", "growth")
LABELLED = 30
#: A coarse matrix of more rows than this is not inverted, but solved with approximate Cholesky.
DENSE = 2_500
#: The finest levels of pairs that are tried with one exact solve a step.
EXACT_LEVELS = (3, 4, 5)

Vector = np.ndarray[Any, np.dtype[np.float64]]
Map = Callable[[Vector], Vector]


# Graphs -------------------------------------------------------------------------------------------


def clusters(n: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """(n, 32) points of 50 clusters, most of them touching others."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, 10)) * 1.6
    axes = rng.normal(size=(10, 32)) / np.sqrt(10)
    own = rng.integers(50, size=n)
    points = np.empty((n, 32), np.float32)
    for first in range(0, n, 100_000):
        part = centres[own[first : first + 100_000]]
        latent = part + rng.normal(size=part.shape)
        points[first : first + 100_000] = latent @ axes + 0.05 * rng.normal(size=(len(part), 32))
    return points


def graphs(folder: Path, sizes: Sequence[int]) -> Iterator[tuple[str, poise.Graph]]:
    for n in sizes:
        path = folder / f"clusters_{n}.npz"
        if not path.is_file():
            poise.knn_graph(clusters(n), k=10).save(path)
        yield f"clusters, {n:,}", poise.Graph.load(path)
    path = Path(os.environ.get("POISE_DATA", ".")) / "mnist_vae.npz"
    if path.is_file():
        with np.load(path) as file:
            yield "mnist_vae", poise.knn_graph(file["X"], k=10)


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table in Markdown, row by row as they come."""
    print(f"\n{title}\n\n| " + " | ".join(header) + " |")
    print("|---|" + "--:|" * (len(header) - 1))
    for row in rows:
        cells = (
            f"{v:.2f}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else str(v)
            for v in row
        )
        print("| " + " | ".join(cells) + " |", flush=True)


# Coarse spaces ------------------------------------------------------------------------------------


class Level:
    """Groups of the nodes of the level below, and the Laplacian between them."""

    def __init__(self, weights: sparse.csr_array, group: np.ndarray[Any, Any]) -> None:
        m = int(group.max()) + 1
        self.weights, self.group, self.m = weights, group, m
        self.degrees = np.maximum(np.asarray(weights.sum(axis=1)).ravel(), 1e-300)
        self.components = connected_components(weights, directed=False)[1]

    def restrict(self, r: Vector) -> Vector:
        return np.bincount(self.group, weights=r, minlength=self.m)

    def spread(self, x: Vector) -> Vector:
        return x[self.group]

    def exact(self) -> Map:
        """The pseudoinverse of the Laplacian, as a function."""
        if self.m <= DENSE:
            L = np.diag(self.degrees) - self.weights.toarray()
            same = self.components[:, None] == self.components[None, :]
            inverse = np.linalg.inv(L + self.degrees.mean() * same / self.m)
            return lambda b: inverse @ b
        prepared = prepare(self.weights)
        sizes = np.bincount(prepared.components)

        def centred(b: Vector) -> Vector:
            means = np.bincount(prepared.components, weights=b) / sizes
            return b - means[prepared.components]

        options = {"singular": True, "preconditioner": "approx-chol", "rtol": 1e-8}
        return lambda b: np.asarray(solve(prepared, centred(b), **options).require().value)

    def once(self) -> Map:
        """One application of an approximate Cholesky factor."""
        factor = prepare(self.weights).factor
        return lambda b: factor.solve(np.ascontiguousarray(b - b.mean()))[: self.m]


def pairing(weights: sparse.csr_array) -> list[Level]:
    """Levels of pairs, of pairs of pairs, ... as the solver makes them, to 150 groups or more."""
    levels = []
    while weights.shape[0] > 300 and weights.nnz:
        parent = _pairs(weights.indptr, weights.indices, weights.data, False)
        weights = _contract(weights, parent)
        levels.append(Level(weights, parent))
    return levels


def joined(levels: Sequence[Level]) -> Level:
    """Several levels as one: its groups are those of the last one."""
    group = levels[0].group
    for level in levels[1:]:
        group = level.group[group]
    return Level(levels[-1].weights, group)


def voronoi(weights: sparse.csr_array, m: int) -> Level:
    """Cells of m random nodes in the graph's own metric: the groups before pairing."""
    seeds = np.sort(np.random.default_rng(0).permutation(weights.shape[0])[:m])
    lengths = sparse.csr_array((1 / weights.data, weights.indices, weights.indptr), weights.shape)
    *_, source = dijkstra(lengths, indices=seeds, min_only=True, return_predecessors=True)
    group = np.searchsorted(seeds, np.where(source < 0, seeds[0], source))
    return Level(_contract(weights, group), group)


class Equation:
    """``L g = f`` for some labelled nodes, and conjugate gradients that count their steps."""

    def __init__(self, weights: sparse.csr_array) -> None:
        n = weights.shape[0]
        self.weights, self.degrees = weights, np.asarray(weights.sum(axis=1)).ravel()
        components = connected_components(weights, directed=False)[1]
        nodes = np.random.default_rng(1).permutation(n)[:LABELLED]
        share = np.bincount(components[nodes], minlength=components.max() + 1)
        self.f = -(share / np.bincount(components))[components]
        self.f[nodes] += 1.0

    def product(self, p: Vector) -> Vector:
        return np.asarray(self.degrees * p - self.weights @ p)

    def steps(self, precondition: Map, tolerances: Sequence[float] = (1e-5, 1e-7)) -> list[int]:
        """Steps to each tolerance of the residual over the diagonal, as `solve` measures it."""
        r, left, found = self.f.copy(), list(tolerances), []
        scale = np.linalg.norm(r / self.degrees)
        z = precondition(r)
        p, rz = z, r @ z
        for step in range(1, 1_000):
            q = self.product(p)
            r -= rz / (p @ q) * q
            while left and np.linalg.norm(r / self.degrees) <= left[0] * scale:
                found.append(step)
                left.pop(0)
            if not left:
                return found
            z = precondition(r)
            rz, before = r @ z, rz
            p = z + rz / before * p
        raise RuntimeError(f"the tolerance {left[0]} was not reached in 1,000 steps")


def spaces(equation: Equation) -> Iterator[tuple[str, Map, float | str]]:
    """Name, preconditioner, and products of the graph's matrix that one step costs."""
    weights, d = equation.weights, equation.degrees
    n, nnz = weights.shape[0], weights.nnz
    levels = pairing(weights)

    def additive(level: Level, correct: Map) -> Map:
        return lambda r: r / d + level.spread(correct(level.restrict(r)))

    yield "Jacobi", lambda r: r / d, 1.0
    for m in (256, 2_000):
        if m <= n // 32:
            level = voronoi(weights, m)
            yield (
                f"two levels, {m:,} Voronoi cells",
                additive(level, level.exact()),
                1 + m * m / nnz,
            )
    for depth in range(len(levels), 0, -1):
        level = joined(levels[:depth])
        if level.m > DENSE:
            break
        yield (
            f"two levels, {level.m:,} groups by pairing",
            additive(level, level.exact()),
            1 + level.m**2 / nnz,
        )
    for depth in [e for e in EXACT_LEVELS if e < len(levels) and levels[e - 1].m > DENSE]:
        level = joined(levels[:depth])
        name, entries = f"n/{n / level.m:.0f} groups by pairing", level.weights.nnz / nnz
        exact = level.exact()
        yield f"additive, {name}, exact", additive(level, exact), "not counted"
        # A factor of no fill has the entries of the matrix, once forward and once backward.
        yield f"additive, {name}, approx-chol once", additive(level, level.once()), 1 + entries

        def multiplicative(r: Vector, level: Level = level, exact: Map = exact) -> Vector:
            x = 0.7 * r / d
            x = x + level.spread(exact(level.restrict(r - equation.product(x))))
            return x + 0.7 * (r - equation.product(x)) / d

        yield f"multiplicative, {name}, exact", multiplicative, "3 + not counted"
    last = levels[-1].exact()

    def every_level(r: Vector) -> Vector:
        sums, parts = r, []
        for level in levels:
            sums = level.restrict(sums)
            parts.append(last(sums) if level is levels[-1] else sums / level.degrees)
        x = parts.pop()
        for level in reversed(levels[1:]):
            x = parts.pop() + level.spread(x)
        return r / d + levels[0].spread(x)

    yield f"additive over {len(levels)} levels (BPX)", every_level, 1 + levels[-1].m ** 2 / nnz
    # A level eight times smaller than the one before: fewer levels, each with two products.
    sparse_levels = [joined(levels[i : i + 3]) for i in range(0, len(levels), 3)]
    bottom = sparse_levels[-1].exact()

    def cycle(i: int, b: Vector) -> Vector:
        level = sparse_levels[i]
        if level is sparse_levels[-1]:
            return bottom(b)
        below = sparse_levels[i + 1]
        x = 0.7 * b / level.degrees
        r = b - (level.degrees * x - level.weights @ x)
        x = x + below.spread(cycle(i + 1, below.restrict(r)))
        r = b - (level.degrees * x - level.weights @ x)
        return np.asarray(x + 0.7 * r / level.degrees)

    work = 1 + sum(2 * level.weights.nnz / nnz for level in sparse_levels[:-1])
    v_cycle = additive(sparse_levels[0], lambda b: cycle(0, b))
    yield f"Jacobi, and a V-cycle on {len(sparse_levels)} coarse levels", v_cycle, work


# The parts ----------------------------------------------------------------------------------------


def steps(name: str, graph: poise.Graph) -> None:
    equation = Equation(graph.weights.tocsr())

    def rows() -> Iterator[Sequence[Any]]:
        for title, precondition, work in spaces(equation):
            loose, tight = equation.steps(precondition)
            total = loose * work if isinstance(work, float) else "-"
            yield title, loose, tight, work, total

    header = ("coarse space", "steps to 1e-5", "to 1e-7", "work a step", "work to 1e-5")
    table(f"{name}: the Poisson equation, {LABELLED} labels", header, rows())


def growth(name: str, graph: poise.Graph) -> None:
    prepared = laplacian(graph)
    n = graph.n_nodes
    sources = np.full((n, 4), -LABELLED / n)
    for seed in range(4):
        sources[np.random.default_rng(seed).permutation(n)[:LABELLED], seed] += 1.0
    components = graph.components
    means = [np.bincount(components, weights=c) / graph.component_sizes for c in sources.T]
    sources -= np.stack(means, axis=1)[components]
    found = []
    for method in ("jacobi", "two-level"):
        for rtol in (1e-4, 1e-5, 1e-7):
            options = {"singular": True, "preconditioner": method, "rtol": rtol}
            found.append(float(solve(prepared, sources, **options).require().steps.mean()))
    header = (
        "groups",
        *(f"{m}, {t}" for m in ("Jacobi", "as it is") for t in ("1e-4", "1e-5", "1e-7")),
    )
    table(f"{name}: mean steps of four Poisson equations", header, [[prepared.n_groups, *found]])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--sizes", nargs="*", type=int, default=[10_000, 100_000, 300_000, 1_000_000]
    )
    parser.add_argument("--folder", type=Path, required=True, help="where graphs are kept")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, graph in graphs(arguments.folder, arguments.sizes):
        for part in arguments.parts:
            globals()[part](name, graph)
        print(f"\nLoad of the machine: {os.getloadavg()[0]:.1f}.", flush=True)


if __name__ == "__main__":
    main()
