"""Graphs in files: NumPy's .npz with plain arrays, without anything that could run code."""

import json
import os
import struct
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.errors import DataError, GraphError
from poise.graph.arrays import read_arrays, write_arrays
from poise.graph.construction import Construction
from poise.graph.features import Features, is_sparse
from poise.graph.kernel import kernels, registered_name
from poise.graph.neighbours import Neighbours, Spacing
from poise.graph.weights import already_canonical

FORMAT = "poise-graph"
VERSION = 2
"""From version 2 on, the file is mapped into memory, and the weights are in canonical form."""
UNREADABLE = (
    OSError, ValueError, TypeError, LookupError, EOFError, BadZipFile, zlib.error, struct.error
)  # fmt: skip
"""Exceptions raised while reading a file that is damaged or not a graph."""


def write_graph(
    path: str | os.PathLike[str],
    fingerprint: str,
    weights: sparse.csr_array,
    features: Features | None,
    neighbours: Neighbours | None,
    construction: Construction | None,
    spacing: Spacing | None,
    components: npt.NDArray[Any] | None = None,
) -> None:
    """Write the parts of a graph to `path`, whole or not at all.

    A reader sees the old file or the new one, never half of it; a failed write leaves no trace.
    """
    arrays: dict[str, Any] = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "fingerprint": np.array(fingerprint),
        **_matrix_arrays("weights", weights),
    }
    if features is not None:
        arrays |= _matrix_arrays("features", features)
    if construction is not None:
        arrays["construction"] = np.array(json.dumps(_construction_to_plain(construction)))
    for name, part in (("neighbours", neighbours), ("spacing", spacing)):
        if part is not None:
            arrays |= {f"{name}.{field.name}": getattr(part, field.name) for field in fields(part)}
    if components is not None:
        arrays["components"] = components.astype(np.int32)
    target = _target(path)
    try:
        write_arrays(target, arrays)
    except OSError as error:
        raise DataError(
            f"the graph cannot be saved as {str(path)!r}: {error.strerror or error}"
        ) from None


def _target(path: Any) -> Path:
    """The path to write to, if it names a file in an existing folder."""
    try:
        target = Path(path)
    except TypeError:
        raise DataError(f"path is {path!r}: expected the name of a file") from None
    if target.is_dir():
        raise DataError(f"{str(path)!r} is a folder: name a file in it, for example graph.npz")
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r}: create it first")
    return target


def read_graph(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """The fingerprint and the parts that `write_graph` wrote, as arguments of `Graph`.

    From version 2 on, "components" may be among them.

    Raises
    ------
    GraphError
        If there is no such file, or it is damaged, foreign or of a later version.
    """
    name = Path(path).name
    try:
        arrays = read_arrays(Path(path))
        if "format" not in arrays:
            raise GraphError(f"{name} is not a graph that poise saved: use Graph.save")
        return _parts(arrays, name)
    except FileNotFoundError:
        raise GraphError(f"there is no file {str(path)!r}: check the path") from None
    except GraphError:
        raise
    except UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise GraphError(
            f"{name} cannot be read as a graph, it is damaged or not a graph ({reason}): build the "
            "graph again"
        ) from None


def _parts(arrays: dict[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    if str(arrays["format"]) != FORMAT:
        raise GraphError(f"{name} is not a graph that poise saved: use Graph.save")
    version = int(arrays["version"])
    if version > VERSION:
        raise GraphError(
            f"{name} has version {version} and this poise reads up to {VERSION}: update poise"
        )
    parts: dict[str, Any] = {
        "weights": _matrix_from(arrays, "weights"),
        "features": _matrix_from(arrays, "features"),
    }
    if "construction" in arrays:
        parts["construction"] = _construction_from_plain(json.loads(str(arrays["construction"])))
    if "neighbours.indices" in arrays:
        parts["neighbours"] = Neighbours(
            arrays["neighbours.indices"], arrays["neighbours.distances"]
        )
    if "spacing.nearest" in arrays:
        parts["spacing"] = Spacing(arrays["spacing.nearest"], arrays["spacing.scale"])
    if version > 1:
        parts["weights"] = already_canonical(parts["weights"])
        parts["components"] = arrays.get("components")
    return str(arrays["fingerprint"]), parts


def _matrix_arrays(name: str, matrix: Any) -> dict[str, Any]:
    if not is_sparse(matrix):
        return {name: matrix}
    parts = {part: getattr(matrix, part) for part in ("data", "indices", "indptr")}
    return {f"{name}.{part}": value for part, value in parts.items()} | {
        f"{name}.shape": np.array(matrix.shape)
    }


def _matrix_from(arrays: dict[str, Any], name: str) -> Any:
    if f"{name}.shape" not in arrays:
        return arrays.get(name)
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    rows, columns = (int(size) for size in arrays[f"{name}.shape"])
    matrix = sparse.csr_array(parts, shape=(rows, columns))
    matrix.check_format(full_check=True)  # an index out of range would be read as memory
    return matrix


def _construction_to_plain(construction: Construction) -> dict[str, Any]:
    """All fields but the function; "registered" says whether its name identifies the function."""
    plain = {
        field.name: getattr(construction, field.name)
        for field in fields(construction)
        if field.name != "function"
    }
    kernel = construction.function
    return plain | {"registered": kernel is not None and registered_name(kernel) is not None}


def _construction_from_plain(plain: dict[str, Any]) -> Construction:
    known = plain.pop("registered") and plain["kernel"] in kernels
    return Construction(**plain, function=kernels.make(plain["kernel"]) if known else None)
