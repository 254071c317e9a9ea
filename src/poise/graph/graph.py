"""The graph that everything else is computed on."""

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.errors import GraphError
from poise.extras import bridge
from poise.graph.backend import Backend
from poise.graph.components import ordered_components
from poise.graph.construction import Construction
from poise.graph.extend import extended
from poise.graph.features import Features
from poise.graph.laplacian import LaplacianKind, laplacian_of
from poise.graph.neighbours import Neighbours, Spacing
from poise.graph.new_points import place_points
from poise.graph.order import reordered
from poise.graph.parts import checked_parts
from poise.graph.placement import Placement
from poise.graph.report import GraphReport, make_report
from poise.graph.storage import read_graph, write_graph
from poise.graph.weights import canonical_weights, knn_weights, symmetrised
from poise.graph.without import reduced

A = TypeVar("A", bound=npt.NDArray[Any])


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A similarity graph: symmetric, non-negative weights between n nodes.

    It is validated once; nothing changes afterwards and every array is read-only. Create one with
    `knn_graph`, `epsilon_graph`, `Graph.from_weights` or `Graph.load`.

    Parameters
    ----------
    weights : sparse or dense, shape (n, n)
        Kept as float64 CSR: symmetric, zero diagonal, finite, sorted int32 indices, no zeros.
    features : ndarray or csr_array, shape (n, d), optional
        Features of the nodes, for new points and for display. Not copied: do not change the array.
    neighbours : Neighbours, optional
        The lists of neighbours that the weights were computed from.
    construction : Construction, optional
        How the weights were computed from the features.
    spacing : Spacing, optional
        Distances of each node to its nearest and its k-th neighbour.
    """

    weights: sparse.csr_array
    features: Features | None = None
    neighbours: Neighbours | None = None
    construction: Construction | None = None
    spacing: Spacing | None = None
    _stored_components: npt.NDArray[np.int64] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", canonical_weights(self.weights))
        self._check_rest()

    def _check_rest(self) -> None:
        features = checked_parts(self.n_nodes, self.features, self.neighbours, self.spacing)
        object.__setattr__(self, "features", features)

    @classmethod
    def from_weights(cls, weights: Any, features: Any = None) -> Self:
        """A graph from existing weights.

        Parameters
        ----------
        weights : sparse of any format or dense array, shape (n, n), or networkx.Graph
            Square, symmetric up to rounding, non-negative, finite, with a zero diagonal. Where the
            largest is beyond 1e100 or below 1e-100, all are multiplied by a power of two. Node i is
            the i-th of ``list(G)`` for a networkx graph, whose edges count by "weight", or 1.
        features : array-like or sparse, shape (n, d), optional

        Raises
        ------
        GraphError
            If `weights` are not such a matrix; the message says why.
        """
        return cls(weights, features)

    @classmethod
    def _of_stored(cls, components: npt.NDArray[Any] | None, **parts: Any) -> Self:
        """A graph from stored parts, whose weights are canonical already."""
        graph = object.__new__(cls)
        for name in ("weights", "features", "neighbours", "construction", "spacing"):
            object.__setattr__(graph, name, parts.get(name))
        graph._check_rest()
        if components is not None:
            known = components.astype(np.int64)
            if known.shape != (graph.n_nodes,) or known.min() != 0:
                raise GraphError(f"the components do not belong to a graph of {known.size} nodes")
            object.__setattr__(graph, "_stored_components", _read_only(known))
        return graph

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.weights.shape[0])

    @cached_property
    def degrees(self) -> npt.NDArray[np.float64]:
        """Sum of the weights at each node, shape (n,)."""
        return _read_only(np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel())

    @cached_property
    def components(self) -> npt.NDArray[np.int64]:
        """Component of each node: 0 is the largest, equal sizes ordered by smallest node."""
        if self._stored_components is not None:
            return self._stored_components
        return _read_only(ordered_components(self.weights))

    @cached_property
    def component_sizes(self) -> npt.NDArray[np.int64]:
        """Number of nodes of each component, largest first."""
        return _read_only(np.bincount(self.components).astype(np.int64))

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return int(self.component_sizes.size)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the weights in hexadecimal: equal for equal weights, on every machine."""
        digest = hashlib.sha256(f"poise graph {self.n_nodes}".encode())
        for part, dtype in (
            (self.weights.indptr, "<i4"),
            (self.weights.indices, "<i4"),
            (self.weights.data, "<f8"),
        ):
            digest.update(np.ascontiguousarray(part, dtype=dtype).data)
        return digest.hexdigest()

    def laplacian(self, kind: LaplacianKind = "combinatorial") -> sparse.csr_array:
        """``D - W``, or the "normalised" or "random-walk" form; see `laplacian_of`."""
        return laplacian_of(self.weights, kind)

    def report(self) -> GraphReport:
        """What to know before labelling: components, duplicates, distances, advice."""
        return make_report(
            self.weights,
            self.degrees,
            self.component_sizes,
            self.features,
            self.construction,
            self.spacing,
        )

    def out_of_sample_weights(self, X_new: Any) -> sparse.csr_array:
        """Weights between new points and the nodes; ``weights @ scores`` are their scores.

        Each new point takes the kernel-weighted average over its k nearest nodes, with its own
        d_k as the scale (over the nodes within the radius, for an epsilon graph).

        Parameters
        ----------
        X_new : array-like or sparse, shape (m, d)
            In the same features as the nodes.

        Returns
        -------
        csr_array, shape (m, n)
            Non-negative; each row sums to 1.

        Raises
        ------
        GraphError
            If the graph holds no features, or does not know how it was built.
        """
        return self.place(X_new).weights

    def place(self, X_new: Any) -> Placement:
        """Where new points lie: their weights, as above, and how close they are to the nodes.

        ``placement.near`` is False for points far from all nodes, compared with the distances of
        the nodes to their own neighbours; see `poise.graph.placement.closeness_to`.
        """
        return place_points(self.features, self.construction, self.spacing, X_new)

    def extend(self, X_new: Any, *, backend: str | Backend = "auto", seed: int = 0) -> Self:
        """A graph with more points: these nodes keep their numbers, and the new ones follow.

        The neighbours of every new point are searched among all points. If a new point is closer to
        an old point than that one's k-th neighbour, it enters its list. The weights are computed
        from the new lists. Old points are not compared with each other again. With exact searches
        the result is the graph built at once, in a fraction of the time.

        Parameters
        ----------
        X_new : array-like or sparse, shape (m, d)
            In the same features as the nodes; converted to their type. Without rows, nothing
            changes.
        backend, seed
            As in `knn_graph`; "auto" is exact while that takes about a second.

        Returns
        -------
        Graph
            Of n + m nodes, with the same k, metric and kernel.

        Raises
        ------
        GraphError
            If the graph was not made by `knn_graph` with ``keep_neighbours=True``.

        Examples
        --------
        >>> import numpy as np, poise
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> graph = poise.knn_graph(X[:60], k=5, keep_neighbours=True)
        >>> graph.extend(X[60:]).fingerprint == poise.knn_graph(X, k=5).fingerprint
        True
        """
        features, neighbours = extended(
            self.features, self.neighbours, self.construction, X_new, backend=backend, seed=seed
        )
        return self._with_lists(features, neighbours)

    def without(self, nodes: Any, *, backend: str | Backend = "auto", seed: int = 0) -> Self:
        """A graph without some of the nodes: the others keep their order and are renumbered.

        The new node i is the old node ``np.delete(np.arange(n), nodes)[i]``. Only points that
        listed a removed node are searched again. If fewer than k + 1 points are left, each lists
        all others; lists grow to k again when points are added.

        Parameters
        ----------
        nodes : whole numbers
        backend, seed
            As in `knn_graph`; "auto" is exact while that takes about a second.

        Raises
        ------
        GraphError
            If the graph was not made by `knn_graph` with ``keep_neighbours=True``, or fewer than
            two nodes would stay.
        """
        features, neighbours = reduced(
            self.features, self.neighbours, self.construction, nodes, backend=backend, seed=seed
        )
        return self._with_lists(features, neighbours)

    def reordered(self, order: Any) -> Self:
        """The same points in another order: the new node i is the old node ``order[i]``.

        Parameters
        ----------
        order : (n,) every node's number once

        Raises
        ------
        GraphError
            If the graph was not made by `knn_graph` with ``keep_neighbours=True``.
        """
        return self._with_lists(
            *reordered(self.features, self.neighbours, self.construction, order)
        )

    def _with_lists(self, features: Features, neighbours: Neighbours) -> Self:
        """The graph built in the same way from other lists; this one if the lists are its own."""
        if neighbours is self.neighbours or self.construction is None:
            return self
        spacing = neighbours.spacing()
        # All weights are computed again: cheap compared with any search, and always consistent.
        directed = knn_weights(neighbours, self.construction.kernel_function(), spacing.scale)
        weights = symmetrised(directed, self.construction.symmetrise)
        return type(self)(weights, features, neighbours, self.construction, spacing)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to `path` (an .npz file), whole or not at all.

        The file holds only arrays and names. A kernel that is a function of your own is saved by
        name: the loaded graph is complete, except that new points cannot be joined to it.
        """
        write_graph(
            path,
            self.fingerprint,
            self.weights,
            self.features,
            self.neighbours,
            self.construction,
            self.spacing,
            self.components,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, features: Any = None) -> Self:
        """Read a graph that `save` wrote. Safe with untrusted files: nothing in them is run.

        The arrays are mapped into memory: they stay in the file until they are used. Meanwhile the
        file may be replaced, but not overwritten in place.

        Parameters
        ----------
        features : array-like or sparse, shape (n, d), optional
            Used instead of those in the file.

        Raises
        ------
        GraphError
            If there is no such file, or it is damaged, foreign or of a later version.
        """
        fingerprint, parts = read_graph(path)
        if features is not None:
            parts["features"] = features
        graph = cls._of_stored(**parts) if "components" in parts else cls(**parts)
        if graph.fingerprint != fingerprint:
            raise GraphError(
                f"{Path(path).name} is damaged, its weights are not the ones that were saved: "
                "build the graph again"
            )
        return graph

    def map(self, *, learner: Any = None, items: Any = None) -> Any:
        """A `MapWidget`: the nodes as points in a notebook; needs ``poise[notebook]``.

        Parameters
        ----------
        learner : Learner, optional
            Its labels and predictions colour the points, and it is told what is labelled there.
        items : list, array or function, optional
            What the nodes stand for, as in `Learner.widget`.
        """
        return bridge("notebook").MapWidget(self, learner=learner, items=items)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a graph never changes

    def __reduce__(self) -> tuple[Any, ...]:
        # Construct it again: arrays from a pickle would not be read-only.
        parts = (self.weights, self.features, self.neighbours, self.construction, self.spacing)
        return type(self), parts

    def __repr__(self) -> str:
        made = f", {self.construction}" if self.construction else ""
        return f"Graph({self.n_nodes} nodes, {self.weights.nnz // 2} edges{made})"


def _read_only(array: A) -> A:
    array.flags.writeable = False
    return array
