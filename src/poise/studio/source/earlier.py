"""What a project's folder keeps of an earlier run, so that items that stayed cost nothing."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph, __version__, embeddings
from poise.arrays import Ints
from poise.data.image_cache import DAMAGED
from poise.errors import GraphError
from poise.studio.source.centring import is_centred, read_centre
from poise.studio.source.growing import LEAST_SHARE_STAYED
from poise.studio.source.project_files import CONTENTS_FILE, FEATURES_FILE, GRAPH_FILE, write_file

Features = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Earlier:
    """Items as they were, and how they were compared.

    Attributes
    ----------
    graph : with the features
    contents : hash of what each item holds, by which it is found again; None if that is not known
    centre : what was subtracted from the features, if anything
    """

    graph: Graph
    contents: tuple[str, ...] | None
    centre: Features | None

    @property
    def features(self) -> Features:
        """(n, d) of its items."""
        return np.asarray(self.graph.features)

    def rows(self, contents: Sequence[str]) -> Ints:
        """(n,) the row that each of these items had, each used once; -1 for a new one."""
        waiting = {content: i for i, content in enumerate(self.contents or ())}
        return np.array([waiting.pop(content, -1) for content in contents], dtype=np.int64)

    def stayed(self, rows: Ints) -> Graph | None:
        """The graph of the items in these rows, in ascending order; None if most are gone."""
        n = self.graph.n_nodes
        k = self.graph.construction.k if self.graph.construction is not None else None
        if k is None or len(rows) < LEAST_SHARE_STAYED * n or len(rows) <= k:
            return None
        if len(rows) == n:
            return self.graph
        return self.graph.without(np.setdiff1d(np.arange(n), rows))

    def uncentred(self, rows: Features) -> Features:
        """Rows of other items, centred as these are."""
        return rows if self.centre is None else rows - self.centre


def version() -> str:
    """The part of poise's version that results may depend on."""
    return ".".join(__version__.split(".")[:2])


def fingerprint(contents: Sequence[str], embedding: str) -> str:
    """Hash of what features depend on; a new version may compute them differently."""
    made: Any = embeddings.factory(embedding) if embedding in embeddings else None
    way = made().fingerprint() if getattr(made, "itemwise", False) else embedding
    items = hashlib.sha256("\n".join(contents).encode()).hexdigest()
    parts = f"poise {version()}\n{way}\n{items}"
    return hashlib.sha256(parts.encode()).hexdigest()


def read_earlier(
    folder: Path, before: Mapping[str, Any], embedding: str, k: int, metric: str
) -> Earlier | None:
    """What is kept of the project's items, if it is undamaged and they were compared in this way.

    Parameters
    ----------
    before : what ``project.toml`` says
    """
    same = tuple(before.get(name) for name in ("embedding", "k", "metric", "version"))
    count = before.get("items")
    if same != (embedding, k, metric, version()) or type(count) is not int:
        return None
    features = kept_features(folder / FEATURES_FILE, count, before.get("features"))
    if features is None:
        return None
    # A copy, because the file may be written anew.
    graph = kept_graph(folder / GRAPH_FILE, np.array(features), before.get("graph"))
    if graph is None:
        return None
    contents, centre = _contents(folder, before, embedding), None
    if is_centred(embedding):
        centre = read_centre(folder)
        if centre is None or centre.shape != features.shape[1:]:
            contents = centre = None  # new items could not be compared with the old ones
    return Earlier(graph, contents, centre)


def keep_contents(folder: Path, contents: Sequence[str]) -> None:
    """Keep the hashes of what the rows of the features were made of."""
    write_file(folder / CONTENTS_FILE, lambda file: file.write("\n".join(contents).encode()))


def _contents(folder: Path, before: Mapping[str, Any], embedding: str) -> tuple[str, ...] | None:
    """What `keep_contents` wrote, if the features were made of that."""
    try:
        contents = tuple((folder / CONTENTS_FILE).read_text(encoding="utf-8").split("\n"))
    except (OSError, ValueError):
        return None
    good = fingerprint(contents, embedding) == before.get("fingerprint")
    return contents if good else None


def kept_features(path: Path, n: int, expected: object) -> Features | None:
    """The features that were kept, if they are undamaged."""
    try:
        features: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except (*DAMAGED, MemoryError):
        return None
    good = isinstance(features, np.ndarray) and features.dtype == np.float32 and features.ndim == 2
    whole = good and len(features) == n and digest(features) == expected
    return np.asarray(features) if whole else None


def kept_graph(path: Path, features: Features, expected: object) -> Graph | None:
    """The graph that was kept, if it is undamaged."""
    try:
        graph = Graph.load(path, features=features)
    except (GraphError, MemoryError):
        return None
    return graph if graph.fingerprint == expected else None


def digest(features: Features) -> str:
    """Hash of all numbers."""
    return hashlib.sha256(np.ascontiguousarray(features).data).hexdigest()
