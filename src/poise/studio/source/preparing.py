"""From items to a graph, kept in the project's folder so that a second start costs a read.

``features.npy`` and ``graph.npz`` can be made again from the source; ``project.toml`` says what
they were made of.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph, embed, embeddings, knn_graph
from poise.data.embeddings.items import Items, halved
from poise.data.embeddings.registry import kept_rows, make, write_array
from poise.data.image_reading import Encode
from poise.errors import InputError
from poise.graph.storage import write_graph
from poise.progress import Begin, Progress, no_progress, shifted, without_note
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import centred, is_centred, uncentred
from poise.studio.source.comparing import EUCLIDEAN, Compared, comparison
from poise.studio.source.earlier import (
    Earlier,
    digest,
    fingerprint,
    keep_contents,
    kept_features,
    kept_graph,
    read_earlier,
    version,
)
from poise.studio.source.expecting import Expect, expect_graph
from poise.studio.source.growing import grown
from poise.studio.source.project_files import (
    FEATURES_FILE,
    GRAPH_FILE,
    read_about,
    write_about,
    write_file,
    writing,
)

#: Fewest items of a project.
LEAST_ITEMS = 3
#: Embeddings for which the small grey copies of image files are enough.
OF_PIXELS = frozenset({"raw", "pca", "hog", "vae"})
#: Embeddings so quick that the cache for all projects is not worth its room.
QUICK = frozenset({"raw", "pca", "tfidf"})

Features = npt.NDArray[np.float32]


def prepare(
    catalogue: Catalogue,
    folder: Path,
    *,
    embedding: str | None,
    k: int | None,
    begin: Begin,
    metric: str | None = None,
    about: Mapping[str, str | int] | None = None,
    arrived: tuple[Catalogue, Features] | None = None,
    expect: Expect = lambda line, seconds: None,
) -> tuple[Features, Graph]:
    """Embed the items and join neighbours, or load what an earlier run made of the same items.

    Parameters
    ----------
    folder : of the project
    embedding, k, metric : as for `comparison`
    begin : begins a step of the work
    about : what else ``project.toml`` is to say
    arrived : some of the items with their features, if those are computed already
    expect : called with an estimate before a step that takes long

    Returns
    -------
    features : (n, d) float32
    graph : of n nodes, with these features
    """
    n = len(catalogue)
    if n < LEAST_ITEMS:
        raise InputError(
            f"{catalogue.name} has {n} {'item' if n == 1 else 'items'}: three or more are needed"
        )
    before = read_about(folder)
    own = None if catalogue.vectors is None else _float32(catalogue.vectors)
    compared = comparison(
        catalogue.items,
        before,
        embedding=embedding,
        k=k,
        metric=metric,
        own_vectors=own is not None,
    )
    made: dict[str, Any] = dict(about or {}) | {
        "source": catalogue.source or catalogue.name,
        "items": n,
        **compared._asdict(),
        "version": version(),
        "fingerprint": fingerprint(catalogue.contents, compared.embedding),
    }
    if catalogue.column is not None:
        made["column"] = catalogue.column

    progress = begin("embedding")
    changed = before.get("fingerprint") != made["fingerprint"]
    name, k, metric = compared.embedding, compared.k, compared.metric
    earlier = read_earlier(folder, before, name, k, metric) if changed else None
    if own is not None:  # they are kept where they come from; only the graph depends on them
        features, made["features"] = own, digest(own)
        if before.get("features") != made["features"]:
            before = {}
    else:
        path = folder / FEATURES_FILE
        kept = None if changed else kept_features(path, n, before.get("features"))
        if kept is None:
            kept, before = _new_features(catalogue, folder, name, earlier, progress, arrived), {}
        features, made["features"] = kept, digest(kept)
    progress(n, n)
    if not before:
        write_about(folder, made)  # so that the next step may be interrupted

    graph = _joined(features, folder, compared, before, earlier, begin, expect)
    made["graph"] = graph.fingerprint
    if before != made:
        write_about(folder, made)
    return features, graph


def note_comparison(folder: Path, compared: Compared, about: Mapping[str, str | int]) -> None:
    """Write down how items are compared before all of them are read."""
    write_about(folder, dict(about) | compared._asdict() | {"version": version()})


def _new_features(
    catalogue: Catalogue,
    folder: Path,
    name: str,
    earlier: Earlier | None,
    progress: Progress,
    arrived: tuple[Catalogue, Features] | None,
) -> Features:
    """Features of all items, computed where the project does not have them, and kept."""
    if earlier is not None and earlier.contents is not None:
        features = _beside(earlier, catalogue, name, progress, arrived)
    else:
        features = _embedded_rest(catalogue, name, progress, arrived)
        if is_centred(name):
            features = centred(folder, features, keep=earlier is not None)
    if getattr(embeddings.factory(name), "itemwise", False):
        keep_contents(folder, catalogue.contents)
    write_file(folder / FEATURES_FILE, lambda file: write_array(file, features))
    return features


def _joined(
    features: Features,
    folder: Path,
    compared: Compared,
    before: Mapping[str, Any],
    earlier: Earlier | None,
    begin: Begin,
    expect: Expect,
) -> Graph:
    """The graph of the items: the kept one, the earlier one with the changes, or a new one."""
    progress = begin("joining neighbours")
    k, metric = compared.k, compared.metric
    graph = None
    if before.get("k") == k and before.get("metric", EUCLIDEAN) == metric:
        graph = kept_graph(folder / GRAPH_FILE, features, before.get("graph"))
    if graph is None:
        graph = None if earlier is None else grown(earlier.graph, features)
        if graph is None:
            expect_graph(features, k, metric, expect)
            graph = knn_graph(features, k=k, metric=metric, keep_neighbours=True, progress=progress)
        _keep_graph(folder / GRAPH_FILE, graph)
    progress(len(features), len(features))
    return graph


def _beside(
    earlier: Earlier,
    catalogue: Catalogue,
    name: str,
    progress: Progress,
    arrived: tuple[Catalogue, Features] | None,
) -> Features:
    """Features of all items: those that stayed keep theirs, and the new ones are centred alike."""
    rows = earlier.rows(catalogue.contents)
    features = earlier.features[rows]
    new = np.flatnonzero(rows < 0)
    if new.size:
        done, n = len(rows) - new.size, len(rows)
        computed = _embedded_rest(
            catalogue.only(new.tolist()), name, shifted(progress, done, n), arrived
        )
        features[new] = earlier.uncentred(computed)
    return features


def _embedded_rest(
    catalogue: Catalogue,
    name: str,
    progress: Progress,
    arrived: tuple[Catalogue, Features] | None,
) -> Features:
    """Features of all items; those of items that have arrived are not computed again."""
    if arrived is None:
        return embedded(catalogue, name, progress)
    known, rows = arrived
    row_of = [known.nodes.get(item, -1) for item in catalogue.ids]
    features = rows[row_of]
    new = [i for i, row in enumerate(row_of) if row < 0]
    if new:
        done, n = len(row_of) - len(new), len(row_of)
        features[new] = embedded(catalogue.only(new), name, shifted(progress, done, n))
    return features


def embedded(catalogue: Catalogue, name: str, progress: Progress = no_progress) -> Features:
    """Features of the items of a catalogue, not centred."""
    return embed(
        embeddable(catalogue, name),
        name,
        cached=name not in QUICK,
        progress=without_note(progress),
        **uncentred(name),
    )


def encoder(name: str) -> Encode | None:
    """Embeds image files as they are read, if this embedding can; loaded when first needed."""
    if name not in embeddings or not hasattr(embeddings.factory(name), "reader"):
        return None
    lock, loaded = Lock(), list[Encode]()

    def encode(contents: Sequence[bytes]) -> list[str]:
        with lock:
            if not loaded:
                made: Any = make(name, uncentred(name))
                loaded.append(made.reader(kept_rows(name, made)))
        return loaded[0](contents)

    return encode


def embeddable(catalogue: Catalogue, name: str) -> Items:
    """The items of a catalogue in the form that an embedding wants."""
    if catalogue.pixels is None or name not in OF_PIXELS:
        return catalogue.items
    return halved(catalogue.pixels) if name == "pca" else catalogue.pixels


def _float32(vectors: npt.NDArray[Any]) -> Features:
    """Vectors in the features' type; not copied if they are float32 in the usual order."""
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _keep_graph(path: Path, graph: Graph) -> None:
    """Without the features, which have a file of their own."""
    with writing(path):
        write_graph(
            path,
            graph.fingerprint,
            graph.weights,
            None,
            graph.neighbours,
            graph.construction,
            graph.spacing,
            graph.components,
        )
