"""Connected components of a graph whose rows lie at several ranks."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from poise.arrays import Floats, Ints
from poise.distributed.ranks import Ranks, petsc
from poise.distributed.shards import Rows


def distributed_components(
    ranks: Ranks, first: int, n_nodes: int, rows: Rows, others: Ints
) -> tuple[Ints, Ints]:
    """Component of each row of this rank, and the sizes of all components.

    Component 0 is the largest, and equal sizes are ordered by their smallest node, as in
    `poise.graph`. Each rank computes the components of its own rows; components with a common edge
    are then joined.

    Parameters
    ----------
    others : rows of other ranks that have edges with rows of this one, ascending
    """
    n_rows = rows.nodes.size
    columns = np.asarray(rows.indices)
    own = (columns >= first) & (columns < first + n_rows)
    before = np.concatenate([[0], np.cumsum(own)])
    inside = sparse.csr_array(
        (np.ones(int(before[-1]), dtype=np.int8), columns[own] - first, before[rows.indptr]),
        shape=(n_rows, n_rows),
    )
    count, labels_here = csgraph.connected_components(inside, directed=False)
    offset = int(ranks.each(np.array([count]))[: ranks.rank].sum())
    labels = labels_here.astype(np.int64) + offset
    across = np.repeat(labels, np.diff(rows.indptr))[~own]
    labels_there = _values_at(ranks, n_nodes, labels.astype(np.float64), others).astype(np.int64)
    pairs = np.unique(
        np.stack([across, labels_there[np.searchsorted(others, columns[~own])]], axis=1), axis=0
    )
    n_labels = int(ranks.total(np.array([count]))[0])
    joined = ranks.joined(pairs)
    edges = sparse.coo_array(
        (np.ones(len(joined), dtype=np.int8), (joined[:, 0], joined[:, 1])),
        shape=(n_labels, n_labels),
    )
    n_components, of_label = csgraph.connected_components(edges.tocsr(), directed=False)
    component = of_label[labels]
    sizes = ranks.total(np.bincount(component, minlength=n_components))
    smallest = np.full(n_components, np.iinfo(np.int64).max)
    np.minimum.at(smallest, component, rows.nodes)
    order = np.lexsort((ranks.least(smallest), -sizes))
    new_number = np.empty(n_components, dtype=np.int64)
    new_number[order] = np.arange(n_components)
    return new_number[component], sizes[order].astype(np.int64)


def _values_at(ranks: Ranks, n_nodes: int, own: Floats, wanted: npt.NDArray[Any]) -> Floats:
    """Values of rows at other ranks; `own` are the values of the rows of this rank."""
    PETSc = petsc()
    own_vector = PETSc.Vec().createMPI((own.size, n_nodes), comm=ranks.comm)
    own_vector.getArray()[:] = own
    wanted_vector = PETSc.Vec().createSeq(wanted.size)
    where = PETSc.IS().createGeneral(wanted.astype(PETSc.IntType), comm=PETSc.COMM_SELF)
    scatter = PETSc.Scatter().create(own_vector, where, wanted_vector, None)
    scatter.scatter(own_vector, wanted_vector)
    return np.array(wanted_vector.getArray())
