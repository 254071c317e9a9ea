"""CAL: cautious active clustering with a localised kernel."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from poise.active.acquisition.land import MORE, density
from poise.active.acquisition.registry import acquisitions
from poise.active.checks import decay, whole_number
from poise.active.snapshot import Snapshot
from poise.errors import InputError
from poise.graph import Graph
from poise.linalg.spectrum import smallest_eigenpairs
from poise.linalg.status import Floats, Ints
from poise.models.components import laplacian


class Level(NamedTuple):
    """Clusters of the nodes above one threshold, at one width of the kernel."""

    estimate: Floats  # (n,)
    cluster: npt.NDArray[np.int32]  # (n,), -1 below the threshold and in clusters too small
    sizes: Ints


@acquisitions.register("cal")
@dataclass(frozen=True)
class CAL:
    """One label for each cluster above a density threshold, coarse clusters first.

    With the eigenpairs ``lambda_l, phi_l`` of the normalised Laplacian and a smooth cut-off `h`
    (1 up to 1/2, 0 from 1) the localised kernel of degree `N` and the estimate of the support are

        Phi_N(x, y) = sum over l of h(sqrt(lambda_l) / N) phi_l(x) phi_l(y),
        F_N(x) = sum over y of Phi_N(x, y)^2 p(y) / sum over y of Phi_N(x, y)^2,

    `p` the density (`land.density`). A level keeps a share of the nodes, those of largest `F_N`;
    its clusters are the connected pieces of the graph between them. Levels come by `N` (doubling
    up to `bandwidth`), for each `N` by growing share. At the first level with a cluster that holds
    no labelled or pending node, the node of largest `F_N` of each such cluster is asked, largest
    cluster first; when no level has one, nodes follow by the finest `F_N`.

    Parameters
    ----------
    m : int
        Eigenpairs, besides one for each further component (up to 100).
    bandwidth : float, optional
        Largest degree `N`; by default ``sqrt(lambda_m)``, all that `m` eigenpairs resolve.
    widths : int
        Number of degrees, each half the next.
    shares : int
        Number of thresholds for each: the shares kept are i / (shares + 1), i = 1, 2, ...
    smallest : int
        Clusters of fewer nodes are not asked as clusters.

    Notes
    -----
    The paper's kernel is made of Hermite polynomials of the coordinates, and ``sum over samples y
    of Phi_N(x, y)^2`` is its estimate. Those cost n^2 evaluations and suit few dimensions. The
    graph's eigenvectors give a kernel that follows the data in any dimension, and both sums are
    products of (n, m) and (m, m) arrays; but they are orthonormal over the samples, which takes
    the density out of the paper's sum, so `p` puts it back. The paper thresholds at a fraction of
    the maximum and joins nodes within a radius that shrinks from level to level; shares of the
    nodes do not depend on the density's scale, and edges of the graph replace the radius. The paper
    extends labels by its kernel; here the model does that.

    Costs the eigenpairs and some products once, O(n) for each level per query.

    References
    ----------
    A. Cloninger and H. N. Mhaskar, "Cautious active clustering", Appl. Comput. Harmon. Anal. 54,
    2021.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "the graph alone"
    cost: ClassVar[str] = "eigenpairs once, little per query"
    use: ClassVar[str] = "few labels for well separated clusters"

    m: int = 50
    bandwidth: float | None = None
    widths: int = 3
    shares: int = 9
    smallest: int = 5

    def __post_init__(self) -> None:
        whole_number(self.m, "m", 2)
        for name in ("widths", "shares", "smallest"):
            whole_number(getattr(self, name), name, 1)
        if self.bandwidth is not None and decay(self.bandwidth, "bandwidth") == 0:
            raise InputError("bandwidth is 0: give a positive degree, or None for the default")

    def start(self, graph: Graph, given: Ints, seed: int) -> tuple[Level, ...]:
        levels = []
        for estimate in self.estimates(graph):
            ordered = np.sort(estimate)[::-1]
            for i in range(1, self.shares + 1):
                bar = ordered[int(np.ceil(graph.n_nodes * i / (self.shares + 1))) - 1]
                levels.append(self._level(graph, estimate, np.flatnonzero(estimate >= bar)))
        return tuple(levels)

    def advance(self, memory: tuple[Level, ...], node: int) -> tuple[Level, ...]:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        levels: tuple[Level, ...] = snapshot.memory
        values = levels[-1].estimate / (levels[-1].estimate.max() or 1.0)
        for level in levels:
            asked = level.cluster[snapshot.constrained]
            is_open = np.ones(len(level.sizes), dtype=bool)
            is_open[asked[asked >= 0]] = False
            inside = np.flatnonzero((level.cluster >= 0) & snapshot.candidates)
            inside = inside[is_open[level.cluster[inside]]]
            if len(inside):
                cluster = level.cluster[inside]
                # Last of each cluster in this order: the largest estimate, then the finest one.
                order = np.lexsort((values[inside], level.estimate[inside], cluster))
                last = np.append(np.diff(cluster[order]) > 0, True)
                best = inside[order[last]]
                values[best] = 2.0 + level.sizes[level.cluster[best]] / len(values)
                break
        return values

    def estimates(self, graph: Graph) -> list[Floats]:
        """(n,) estimates ``F_N``, coarsest first."""
        m = min(graph.n_nodes, self.m + min(graph.n_components - 1, MORE))
        eigenvalues, phi = smallest_eigenpairs(laplacian(graph), m, "normalised")
        N = self.bandwidth or float(np.sqrt(eigenvalues[-1])) or 1.0
        p = density(graph)
        gram = phi.T @ (p[:, None] * phi)
        estimates = []
        for j in reversed(range(self.widths)):
            filtered = phi * _cut_off(np.sqrt(eigenvalues) * 2.0**j / N)
            mass = np.einsum("ij,ij->i", filtered, filtered)
            F = np.einsum("ij,ij->i", filtered @ gram, filtered)
            # The kernel vanishes on components that none of the eigenvectors sees.
            F = np.divide(F, mass, out=p.copy(), where=mass > 1e-12 * mass.max())
            # Where F is constant, as between components, rounding must not pretend otherwise.
            estimates.append(np.round(F, 9))
        return estimates

    def _level(self, graph: Graph, F: Floats, nodes: Ints) -> Level:
        _, piece = connected_components(graph.weights[nodes][:, nodes], directed=False)
        sizes = np.bincount(piece)
        number = np.where(sizes >= self.smallest, np.cumsum(sizes >= self.smallest) - 1, -1)
        cluster = np.full(graph.n_nodes, -1, dtype=np.int32)
        cluster[nodes] = number[piece]
        return Level(F, cluster, sizes[sizes >= self.smallest])


def _cut_off(t: Floats) -> Floats:
    """Smooth: 1 up to 1/2, 0 from 1 on."""
    s = np.clip(2.0 * t - 1.0, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        down, up = np.exp(-1.0 / (1.0 - s)), np.exp(-1.0 / s)
    return np.asarray(down / (down + up))
