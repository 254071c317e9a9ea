"""A sample of the nodes, and how well constrained nodes cover it: what herding looks at."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poise.active.acquisition.feature_points import Singles, Space
from poise.arrays import Bools, Floats, Ints
from poise.checks import real_number, whole_number
from poise.graph import Graph

#: Points nearer than this share of the usual width count as coinciding: they do not show how far
#: questions have been spread, and products in single precision resolve no more.
COINCIDING_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Herd:
    """A sample, and its distance to the nearest constrained node.

    Attributes
    ----------
    space : all nodes as points
    nodes, rows : (m,) the sample, ascending, and its points
    squares : (m, m) squared distances within the sample
    sigma : width of the kernel
    nearest : (m,) squared distance to the nearest constrained node, infinite without one
    constrained : (c,) the constrained nodes
    apart : (c,) squared distance of each to the nearest other that does not coincide with it
    """

    space: Space
    nodes: Ints
    rows: Any
    squares: Singles
    sigma: float
    nearest: Singles
    constrained: Ints
    apart: Singles

    @classmethod
    def of(cls, graph: Graph, labelled: Ints, size: int, width: float | None, seed: int) -> "Herd":
        """A sample of `size` nodes by `seed`; the kernel has `width`, or the `usual_width`."""
        space = Space.of(graph)
        nodes = np.arange(graph.n_nodes)
        if size < graph.n_nodes:
            nodes = np.sort(np.random.default_rng(seed).choice(graph.n_nodes, size, replace=False))
        rows = space.rows(nodes)
        squares = space.squares(rows, rows)
        np.fill_diagonal(squares, 0.0)
        sigma = usual_width(squares) if width is None else width / space.unit
        nearest = np.full(len(nodes), np.inf, dtype=np.float32)
        herd = cls(space, nodes, rows, squares, sigma, nearest, nodes[:0], nearest[:0])
        for node in labelled.tolist():
            herd = herd.and_by(node)
        return herd

    def and_by(self, node: int) -> "Herd":
        """With `node` among the constrained."""
        row = self.space.rows(np.array([node]))
        nearest = np.minimum(self.nearest, self.space.squares(row, self.rows)[0])
        nearest[self.nodes == node] = 0.0  # exactly: products of matrices are rounded
        between = self.nearest[:0]
        if len(self.constrained):
            between = self.space.squares(row, self.space.rows(self.constrained))[0]
            between[between <= (COINCIDING_SHARE * self.sigma) ** 2] = np.inf
        own = between.min(initial=np.inf)
        return replace(
            self,
            nearest=nearest,
            constrained=np.append(self.constrained, node),
            apart=np.append(np.minimum(self.apart, between), own).astype(np.float32),
        )

    @property
    def spacing(self) -> float:
        """Median distance from a constrained node to the nearest other; infinite without any."""
        finite = self.apart[np.isfinite(self.apart)]
        return float(np.sqrt(np.median(finite))) if len(finite) else np.inf

    def narrowing_gains(
        self, weights: Floats, candidates: Bools, rng: np.random.Generator
    ) -> Floats:
        """(n,) `values` in a kernel whose width is at most the `spacing`.

        In the end a node covers only itself.
        """
        return self.values(min(self.sigma, self.spacing), weights, candidates, rng)

    def values(
        self, sigma: float, weights: Floats, candidates: Bools, rng: np.random.Generator
    ) -> Floats:
        """(n,) gains of the nodes of the sample, -1 elsewhere.

        When no node of the sample may be asked, the gains of as many random candidates.

        Parameters
        ----------
        sigma : width of the kernel
        weights : (m,) of the sample
        candidates : (n,) mask
        """
        values = np.full(self.space.points.shape[0], -1.0)
        nodes, squares = self.nodes, self.squares
        if candidates.any() and not candidates[nodes].any():
            pool = np.flatnonzero(candidates)
            nodes = rng.choice(pool, min(len(nodes), len(pool)), replace=False)
            squares = self.space.squares(self.space.rows(nodes), self.rows)
        values[nodes] = gains(squares, sigma, self.nearest, weights)
        return values


@dataclass(frozen=True)
class Herding:
    """What the acquisitions that ask for the best cover of a sample share.

    Parameters
    ----------
    sigma : float, optional
        Width of the kernel.
    sample : int
        Nodes looked at.
    """

    sigma: float | None = None
    sample: int = 4_000

    def __post_init__(self) -> None:
        if self.sigma is not None:
            real_number(
                self.sigma,
                "sigma",
                lambda width: 0 < width < np.inf,
                "expected a positive, finite number, or None for the width of the data",
            )
        whole_number(self.sample, "sample", 1)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Herd:
        return Herd.of(graph, labelled, self.sample, self.sigma, seed)

    def advance(self, memory: Herd, node: int) -> Herd:
        return memory.and_by(node)


def gains(squares: Singles, sigma: float, nearest: Singles, weights: Floats) -> Floats:
    """(z,) mean over the sample of ``max(k(x, z) - covered(x), 0)``, weighted.

    The kernel is ``k = exp(-squares / sigma^2)``, for a width of 0 it is 1 at distance 0 and 0
    elsewhere, and ``covered(x)`` its value at the nearest constrained node.

    Parameters
    ----------
    squares : (z, m) squared distances from some nodes to the sample
    sigma : width of the kernel
    nearest : (m,) squared distances of the sample to the nearest constrained node
    weights : (m,)
    """
    shares = (weights / (weights.sum() or 1.0)).astype(np.float32)
    if sigma == 0.0:
        return np.asarray((squares == 0.0) @ np.where(nearest == 0.0, 0.0, shares))
    from poise.active.acquisition import compiled_gains

    scale = np.float32(-1.0 / (np.log(2.0) * sigma**2))
    return np.asarray(compiled_gains.gains(squares, nearest, scale, shares))


def usual_width(squares: Singles) -> float:
    """Root of half the median of the squared distances between different points.

    For directions spread over a sphere of many dimensions, where squared distances are near 2,
    this is 1: the width of the papers, which have unit vectors.
    """
    # The matrix is symmetric: one half of it has the same median.
    half = np.concatenate([row[i + 1 :] for i, row in enumerate(squares)])
    apart = half[half > 0.0]
    return float(np.sqrt(np.median(apart) / 2.0)) if apart.size else 0.0
