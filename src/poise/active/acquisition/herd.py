"""A sample of the nodes, and how well constrained nodes cover it: what herding looks at."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poise.active.acquisition.feature_points import Singles, Space
from poise.graph import Graph
from poise.linalg.status import Bools, Floats, Ints

#: Rows of the kernel treated at a time: they stay in the processor's cache.
ROWS = 64
#: Points nearer than this share of the widest kernel count as coinciding: they say nothing about
#: how far questions have been spread, and products in single precision resolve no more.
COINCIDE = 0.01


@dataclass(frozen=True, eq=False)
class Kernel:
    """Gaussian kernel ``exp(-d^2 / sigma^2)`` between the nodes of a sample.

    Attributes
    ----------
    squares : (m, m) squared distances within the sample
    sigma : width, in the units of the distances
    """

    squares: Singles
    sigma: float

    @cached_property
    def values(self) -> Singles:
        """(m, m) single precision."""
        return gaussian(self.squares, self.sigma)

    def gains(self, covered: Singles, weights: Floats) -> Floats:
        """(m,) ``sum over x of weights(x) max(k(x, z) - covered(x), 0)`` for each z."""
        result = np.empty(len(covered))
        K, single = self.values, weights.astype(np.float32)
        for first in range(0, len(K), ROWS):
            block = K[first : first + ROWS] - covered
            np.maximum(block, 0.0, out=block)
            result[first : first + ROWS] = block @ single
        return result


@dataclass(frozen=True, eq=False)
class Herd:
    """A sample, and its distance to the nearest constrained node.

    Attributes
    ----------
    space : all nodes as points
    nodes, rows : (m,) the sample, ascending, and its points
    kernel : Kernel of the sample
    nearest : (m,) squared distance to the nearest constrained node, infinite without one
    least : squared distance up to which points count as coinciding
    spacing : smallest distance between two constrained nodes that do not coincide, or infinite
    constrained : the constrained nodes
    """

    space: Space
    nodes: Ints
    rows: Any
    kernel: Kernel
    nearest: Singles
    least: float
    spacing: float = np.inf
    constrained: tuple[int, ...] = ()

    @classmethod
    def of(cls, graph: Graph, size: int, width: float | None, seed: int) -> "Herd":
        """A sample of `size` nodes by `seed`; the kernel has `width`, or that of `usual_width`."""
        space = Space.of(graph)
        nodes = np.arange(graph.n_nodes)
        if size < graph.n_nodes:
            nodes = np.sort(np.random.default_rng(seed).choice(graph.n_nodes, size, replace=False))
        rows = space.rows(nodes)
        squares = space.squares(rows, rows)
        np.fill_diagonal(squares, 0.0)
        sigma = usual_width(squares) if width is None else width / space.unit
        nearest = np.full(len(nodes), np.inf, dtype=np.float32)
        return cls(space, nodes, rows, Kernel(squares, sigma), nearest, (COINCIDE * sigma) ** 2)

    def and_by(self, node: int) -> "Herd":
        """With `node` among the constrained."""
        row, spacing = self.space.rows(np.array([node])), self.spacing
        if self.constrained:
            others = self.space.rows(np.array(self.constrained))
            between = self.space.squares(row, others)[0]
            apart = between[between > self.least]
            spacing = min(spacing, float(np.sqrt(apart.min(initial=np.inf))))
        nearest = np.minimum(self.nearest, self.space.squares(row, self.rows)[0])
        nearest[self.nodes == node] = 0.0  # exactly: products of matrices are rounded
        return replace(
            self,
            nearest=nearest,
            spacing=spacing,
            constrained=(*self.constrained, node),
        )

    def values(self, weights: Floats, candidates: Bools, rng: np.random.Generator) -> Floats:
        """(n,) gains of the nodes of the sample, -1 elsewhere.

        When no node of the sample may be asked, the gains of as many random candidates.
        """
        covered = gaussian(self.nearest, self.kernel.sigma)
        values = np.full(self.space.points.shape[0], -1.0)
        mass = weights.sum() or 1.0
        if candidates[self.nodes].any() or not candidates.any():
            values[self.nodes] = self.kernel.gains(covered, weights) / mass
            return values
        pool = np.flatnonzero(candidates)
        some = rng.choice(pool, min(len(self.nodes), len(pool)), replace=False)
        squares = self.space.squares(self.space.rows(some), self.rows)
        block = gaussian(squares, self.kernel.sigma) - covered
        values[some] = np.maximum(block, 0.0) @ weights / mass
        return values


def gaussian(squares: Singles, sigma: float) -> Singles:
    """``exp(-squares / sigma^2)``; for a width of 0, 1 at distance 0 and nothing elsewhere."""
    if sigma == 0.0:
        return np.asarray(squares == 0.0, dtype=np.float32)
    return np.asarray(np.exp(squares * np.float32(-1.0 / sigma**2)))


def usual_width(squares: Singles) -> float:
    """Root of half the median of the squared distances between different points.

    For directions spread over a sphere of many dimensions, where squared distances are near 2,
    this is 1: the width of the papers, which have unit vectors.
    """
    apart = squares[squares > 0.0]
    return float(np.sqrt(np.median(apart) / 2.0)) if apart.size else 0.0
