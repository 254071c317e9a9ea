"""A partitioned graph on disk: shards of rows as plain arrays, and a manifest of their checksums.

::

    GRAPH_DIR/manifest.json             written last: without it the graph is not finished
    GRAPH_DIR/part-00000/indptr.npy     int64, rows + 1: where each row begins, from 0
                         indices.npy    int64: columns, in the numbering of the whole graph's rows
                         data.npy       float64: weights
                         nodes.npy      int64: the item (row of the input) of each row

Rows are numbered so that neighbours tend to have close numbers. The shards hold them in order, and
every range ``first, stop`` means the rows first to stop - 1. Weights are symmetric; the diagonal is
zero.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

import poise
from poise.distributed.checksums import FileSum, check_files, write_array, write_bytes
from poise.errors import GraphError
from poise.graph import Graph

FORMAT = 1
MANIFEST = "manifest.json"
DTYPES = {"indptr": "<i8", "indices": "<i8", "data": "<f8", "nodes": "<i8"}

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


class Rows(NamedTuple):
    """Rows of the weight matrix in CSR form, and the item of each row."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray
    nodes: IntArray


@dataclass(frozen=True)
class Shard:
    """Rows first to stop - 1, their folder and the checksums of its files."""

    name: str
    first: int
    stop: int
    n_entries: int
    files: dict[str, FileSum]


@dataclass(frozen=True)
class Manifest:
    """A partitioned graph: its size, how it was built, and its shards in order."""

    n_nodes: int
    n_entries: int
    k: int | None
    metric: str | None
    kernel: str | None
    symmetrise: str | None
    fingerprint: str
    shards: tuple[Shard, ...]
    report: dict[str, Any] = field(default_factory=dict)
    poise: str = poise.__version__
    dtype: str = "float64"
    format: int = FORMAT


def write_shard(folder: str | os.PathLike[str], number: int, first: int, rows: Rows) -> Shard:
    """Write the rows from row `first` on as shard `number`; each file whole or not at all.

    Returns
    -------
    Shard
        Its entry in the manifest.
    """
    name = f"part-{number:05d}"
    files = {}
    for part, array in rows._asdict().items():
        path = Path(folder) / name / f"{part}.npy"
        files[path.name] = write_array(path, np.ascontiguousarray(array, dtype=DTYPES[part]))
    return Shard(name, first, first + rows.nodes.size, int(rows.data.size), files)


def write_manifest(folder: str | os.PathLike[str], shards: list[Shard], **about: Any) -> Manifest:
    """Write the manifest, which finishes the graph.

    Parameters
    ----------
    folder : path
    shards : list of Shard
        In the order of their rows.
    about
        The fields k, metric, kernel, symmetrise and report of `Manifest`.
    """
    manifest = Manifest(
        n_nodes=shards[-1].stop,
        n_entries=sum(shard.n_entries for shard in shards),
        fingerprint=fingerprint_of(shards),
        shards=tuple(shards),
        **about,
    )
    _check_order(manifest)
    text = json.dumps(asdict(manifest), indent=1) + "\n"
    write_bytes(Path(folder) / MANIFEST, text.encode())
    return manifest


def fingerprint_of(shards: list[Shard] | tuple[Shard, ...]) -> str:
    """SHA-256 over the checksums of all files, shard by shard in order."""
    digest = hashlib.sha256(b"poise partitioned graph")
    for shard in shards:
        for name in sorted(shard.files):
            digest.update(f"{name} {shard.files[name].sha256}\n".encode())
    return digest.hexdigest()


def read_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a finished graph. The shards are not checked: see `check_shard`.

    Raises
    ------
    GraphError
        If there is none, or if it is damaged or in a format that this version does not read.
    """
    path = Path(folder) / MANIFEST
    try:
        plain = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise GraphError(
            f"there is no {MANIFEST} in {str(folder)!r}: it is not a partitioned graph, or it was "
            "not finished; run the command that builds it again"
        ) from None
    except (OSError, ValueError) as error:
        raise GraphError(f"{path} cannot be read ({error}): build the graph again") from None
    written = plain.get("format") if isinstance(plain, dict) else None
    if written != FORMAT:
        raise GraphError(
            f"{path} has format {written!r} and this poise reads format {FORMAT}: update poise, or "
            "build the graph again"
        )
    try:
        shards = [
            Shard(**s | {"files": {name: FileSum(**f) for name, f in s["files"].items()}})
            for s in plain.pop("shards")
        ]
        manifest = Manifest(shards=tuple(shards), **plain)
        _check_order(manifest)
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise GraphError(f"{path} is damaged ({error}): build the graph again") from None
    if manifest.fingerprint != fingerprint_of(shards):
        raise GraphError(
            f"{path} is damaged: its checksums do not add up to its fingerprint; build the graph "
            "again"
        )
    return manifest


def check_shard(folder: str | os.PathLike[str], shard: Shard) -> None:
    """Compare every file of a shard with the checksums of the manifest.

    Raises
    ------
    GraphError
        If a file is missing, truncated, damaged or of another graph; names the shard and the file.
    """
    check_files(Path(folder) / shard.name, shard.files, shard.name)


def read_rows(
    folder: str | os.PathLike[str],
    first: int,
    stop: int,
    manifest: Manifest | None = None,
    *,
    check: bool = True,
) -> Rows:
    """Rows first to stop - 1, which may lie in several shards.

    Parameters
    ----------
    folder : path
    first, stop : int
    manifest : Manifest, optional
        Manifest of the folder, if it was read already.
    check : bool
        First compare the checksums of the shards that hold these rows, which reads them whole.

    Returns
    -------
    Rows
        `indptr` begins with 0. The other arrays are memory-mapped if one shard holds all rows.
    """
    manifest = manifest or read_manifest(folder)
    if not 0 <= first <= stop <= manifest.n_nodes:
        raise GraphError(
            f"there are no rows {first} to {stop} in a graph of {manifest.n_nodes} nodes: expected "
            f"0 <= first <= stop <= {manifest.n_nodes}"
        )
    parts = []
    for shard in manifest.shards:
        if max(first, shard.first) < min(stop, shard.stop):
            if check:
                check_shard(folder, shard)
            parts.append(_part(folder, shard, first - shard.first, stop - shard.first))
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).astype(np.int64)
    empty = Rows(*(np.empty(0, dtype=dtype) for dtype in DTYPES.values()))
    return Rows(
        np.cumsum(counts),
        np.concatenate([empty.indices, *(part.indices for part in parts)]),
        np.concatenate([empty.data, *(part.data for part in parts)]),
        np.concatenate([empty.nodes, *(part.nodes for part in parts)]),
    )


def whole(folder: str | os.PathLike[str]) -> sparse.csr_array:
    """The whole weight matrix in the order of the items, for graphs that fit in memory."""
    manifest = read_manifest(folder)
    rows = read_rows(folder, 0, manifest.n_nodes, manifest)
    n = manifest.n_nodes
    if not np.array_equal(np.sort(rows.nodes), np.arange(n)):
        raise GraphError(f"the nodes of {str(folder)!r} are not the items 0 to {n - 1}")
    from_rows = np.repeat(rows.nodes, np.diff(rows.indptr))
    entries = (rows.data, (from_rows, rows.nodes[rows.indices]))
    return sparse.csr_array(sparse.coo_array(entries, shape=(n, n)))


def from_graph(graph: Graph, folder: str | os.PathLike[str], *, shards: int = 2) -> Manifest:
    """Write a graph that fits in memory as a partitioned one, rows ordered for locality.

    The order is the reverse Cuthill-McKee order, in which neighbours tend to be close.
    """
    if not 1 <= shards <= graph.n_nodes:
        raise GraphError(f"shards is {shards}: expected 1 to {graph.n_nodes}, one node in each")
    nodes = reverse_cuthill_mckee(graph.weights, symmetric_mode=True).astype(np.int64)
    W = graph.weights[nodes][:, nodes]
    W.sort_indices()
    bounds = np.linspace(0, graph.n_nodes, shards + 1).astype(np.int64)
    written = []
    for number, (first, stop) in enumerate(pairwise(bounds)):
        begin, end = W.indptr[first], W.indptr[stop]
        indptr = W.indptr[first : stop + 1].astype(np.int64) - begin
        columns = W.indices[begin:end].astype(np.int64)
        rows = Rows(indptr, columns, W.data[begin:end], nodes[first:stop])
        written.append(write_shard(folder, number, int(first), rows))
    made = graph.construction
    return write_manifest(
        folder,
        written,
        k=made.k if made else None,
        metric=made.metric if made else None,
        kernel=made.kernel if made else None,
        symmetrise=made.symmetrise if made else None,
        report={"n_components": graph.n_components},
    )


def _part(folder: str | os.PathLike[str], shard: Shard, first: int, stop: int) -> Rows:
    """Rows first to stop - 1 of one shard, counted within it and cut to what it holds."""
    first, stop = max(first, 0), min(stop, shard.stop - shard.first)
    arrays = {}
    for name in DTYPES:
        path = Path(folder) / shard.name / f"{name}.npy"
        try:
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise GraphError(f"{shard.name}/{name}.npy cannot be read: {error}") from None
    begin, end = int(arrays["indptr"][first]), int(arrays["indptr"][stop])
    indptr = np.asarray(arrays["indptr"][first : stop + 1]) - begin
    near = slice(begin, end)
    return Rows(indptr, arrays["indices"][near], arrays["data"][near], arrays["nodes"][first:stop])


def _check_order(manifest: Manifest) -> None:
    """Refuse shards that leave rows out or hold them twice."""
    expected = 0
    for shard in manifest.shards:
        if shard.first != expected or shard.stop < shard.first:
            raise GraphError(
                f"{shard.name} holds rows {shard.first} to {shard.stop}: expected it to begin with "
                f"row {expected}; the manifest is damaged, build the graph again"
            )
        expected = shard.stop
    if expected != manifest.n_nodes:
        raise GraphError(
            f"the shards hold {expected} rows and the manifest says {manifest.n_nodes}: build the "
            "graph again"
        )
