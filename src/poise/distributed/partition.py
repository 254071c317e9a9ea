"""The rows of the graph that one rank holds, ready for solves."""

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from poise.arrays import Floats, Ints
from poise.distributed.components import distributed_components
from poise.distributed.memory import Need, check_memory
from poise.distributed.product import Product, ghosts
from poise.distributed.ranks import Ranks
from poise.distributed.shards import Manifest, Rows, read_manifest, read_rows
from poise.errors import GraphError, RunError


@dataclass(frozen=True, eq=False)
class Partition:
    """The share of one rank in the graph; every array is for its own rows.

    Attributes
    ----------
    ranks : Ranks
    manifest : of the whole graph
    first : row of the whole graph at which the rows of this rank begin
    nodes : (rows,) node of each row
    degrees : (rows,) ``d = W 1``
    components : (rows,) component of each row, 0 the largest
    component_sizes : of all components
    product : ``W x``
    n_fetched : entries of other ranks that a product fetches for each column
    need : estimated memory
    """

    ranks: Ranks
    manifest: Manifest
    first: int
    nodes: Ints
    degrees: Floats
    components: Ints
    component_sizes: Ints
    product: Product
    n_fetched: int
    need: Need

    @property
    def n_nodes(self) -> int:
        """Nodes of the whole graph."""
        return self.manifest.n_nodes

    @property
    def n_rows(self) -> int:
        """Nodes of this rank."""
        return self.nodes.size

    @property
    def fingerprint(self) -> str:
        return self.manifest.fingerprint

    @cached_property
    def _by_item(self) -> Ints:
        return np.argsort(self.nodes, kind="stable")

    def rows_of(self, items: npt.ArrayLike) -> tuple[Ints, Ints]:
        """Which of these nodes are at this rank: their positions in the list, and their rows."""
        wanted = np.asarray(items, dtype=np.int64)
        if not self.n_rows or not wanted.size:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        position = np.searchsorted(self.nodes, wanted, sorter=self._by_item)
        row = self._by_item[np.minimum(position, self.n_rows - 1)]
        listed = np.flatnonzero(self.nodes[row] == wanted)
        return listed, row[listed]

    def component_sums(self, values: Floats) -> Floats:
        """Sums of (rows,) values over each component of the whole graph."""
        n = len(self.component_sizes)
        return self.ranks.total(np.bincount(self.components, weights=values, minlength=n))

    def reached(self, items: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """(rows,) mask of the rows whose component holds one of the nodes `items`."""
        holds = np.zeros(len(self.component_sizes), dtype=np.int64)
        _, rows = self.rows_of(items)
        holds[self.components[rows]] = 1
        return np.asarray(self.ranks.total(holds)[self.components] > 0)

    def in_order(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic] | None:
        """Values of all rows, in the order of the nodes, at rank 0; None at the others."""
        items = self.ranks.at_first(self.nodes)
        gathered = self.ranks.at_first(values)
        if items is None or gathered is None:
            return None
        ordered = np.empty_like(gathered)
        ordered[items] = gathered
        return ordered


def load(ranks: Ranks, folder: str | os.PathLike[str], *, n_classes: int = 10) -> Partition:
    """Read the share of this rank in a partitioned graph; every rank calls it.

    Each rank gets an equal number of rows, in order.

    Raises
    ------
    GraphError, RankError
        If a shard is missing, truncated or of another graph, if the ranks read different graphs, or
        if there is not enough memory.
    """
    ranks.watchdog.doing("reading the graph")
    ranks.check_versions()
    manifest = ranks.together(lambda: read_manifest(folder))
    prints = ranks.texts(manifest.fingerprint)
    if len(set(prints)) > 1:
        odd = next(r for r, text in enumerate(prints) if text != prints[0])
        raise GraphError(
            f"rank {odd} reads another graph than rank 0 ({prints[odd][:12]} and "
            f"{prints[0][:12]}) in {str(folder)!r}: give all machines the same folder"
        )
    if manifest.n_nodes < ranks.size:
        raise RunError(f"{manifest.n_nodes} nodes are too few for {ranks.size} ranks: start fewer")
    need = check_memory(ranks, manifest.n_nodes, manifest.n_entries, n_classes)
    bounds = np.linspace(0, manifest.n_nodes, ranks.size + 1).astype(np.int64)
    first, stop = int(bounds[ranks.rank]), int(bounds[ranks.rank + 1])
    rows = ranks.together(lambda: _checked(read_rows(folder, first, stop, manifest), manifest))
    others = ghosts(rows, first)
    components, sizes = distributed_components(ranks, first, manifest.n_nodes, rows, others)
    return Partition(
        ranks=ranks,
        manifest=manifest,
        first=first,
        nodes=np.array(rows.nodes),
        degrees=np.add.reduceat(np.append(rows.data, 0.0), rows.indptr[:-1])
        * (np.diff(rows.indptr) > 0),
        components=components,
        component_sizes=sizes,
        product=Product(ranks, first, manifest.n_nodes, rows),
        n_fetched=len(others),
        need=need,
    )


def _checked(rows: Rows, manifest: Manifest) -> Rows:
    """Refuse rows that no graph can have."""
    for name, numbers in (("indices", rows.indices), ("nodes", rows.nodes)):
        if numbers.size and (numbers.min() < 0 or numbers.max() >= manifest.n_nodes):
            raise GraphError(
                f"{name} of a shard go beyond the {manifest.n_nodes} nodes: build it again"
            )
    if not (np.isfinite(rows.data).all() and (rows.data >= 0).all()):
        raise GraphError("a shard holds weights that are negative or not finite: build it again")
    return rows
