"""A sample of the nodes, and how well constrained nodes cover it: what herding looks at."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from poise.active.acquisition.feature_points import Singles, Space
from poise.graph import Graph
from poise.linalg.status import Bools, Floats, Ints

#: Rows of the kernel treated at a time: they stay in the processor's cache.
ROWS = 64


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
    nodes : (m,) the sample, ascending
    kernel : Kernel of the sample
    nearest : (m,) squared distance to the nearest constrained node, infinite without one
    spacing : smallest positive distance between two constrained nodes, infinite without any
    constrained : the constrained nodes
    """

    space: Space
    nodes: Ints
    kernel: Kernel
    nearest: Singles
    spacing: float = np.inf
    constrained: tuple[int, ...] = ()

    @classmethod
    def of(cls, graph: Graph, size: int, width: float | None, seed: int) -> "Herd":
        """A sample of `size` nodes by `seed`; the kernel has `width`, or that of `usual_width`."""
        space = Space.of(graph)
        nodes = np.arange(graph.n_nodes)
        if size < graph.n_nodes:
            nodes = np.sort(np.random.default_rng(seed).choice(graph.n_nodes, size, replace=False))
        squares = space.squares(nodes, nodes)
        np.fill_diagonal(squares, 0.0)
        sigma = usual_width(squares) if width is None else width / space.unit
        nearest = np.full(len(nodes), np.inf, dtype=np.float32)
        return cls(space, nodes, Kernel(squares, sigma), nearest)

    def and_by(self, node: int) -> "Herd":
        """With `node` among the constrained."""
        to_sample = self._from(node)
        spacing = self.spacing
        if self.constrained:
            between = self.space.squares(np.array([node]), np.array(self.constrained))[0]
            # Coinciding points say nothing about how far the questions have been spread.
            apart = between[between > 1e-6 * self.kernel.sigma**2]
            spacing = min(spacing, float(np.sqrt(apart.min(initial=np.inf))))
        return replace(
            self,
            nearest=np.minimum(self.nearest, to_sample),
            spacing=spacing,
            constrained=(*self.constrained, node),
        )

    def _from(self, node: int) -> Singles:
        place = np.searchsorted(self.nodes, node)
        if place < len(self.nodes) and self.nodes[place] == node:
            return self.kernel.squares[place]
        return self.space.squares(np.array([node]), self.nodes)[0]

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
        block = gaussian(self.space.squares(some, self.nodes), self.kernel.sigma) - covered
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
