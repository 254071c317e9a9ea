"""From items to a graph, kept in the project's folder so that a second start costs a read.

``features.npy`` and ``graph.npz`` can be made again from the source; ``project.toml`` says what
they were made of.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poise import Graph, embed, embeddings, knn_graph
from poise.data.embeddings.choosing import suited
from poise.data.embeddings.items import Items, halved
from poise.data.embeddings.registry import kept_rows, make, write_array
from poise.errors import InputError
from poise.graph.storage import write_graph
from poise.progress import Begin, Progress, no_progress, shifted, without_note
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import centred, is_centred, uncentred
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
from poise.studio.source.reading import Encode, clean, keep_whole, said

#: Neighbours of an item, when nobody said how many.
NEIGHBOURS = 10
#: Embeddings whose vectors differ in direction: compared by the angle, the others by the distance.
BY_ANGLE = frozenset({"image-encoder", "photo", "sentence", "text-encoder", "tfidf"})
#: Embeddings for which the small grey copies of image files are enough.
OF_PIXELS = frozenset({"raw", "pca", "hog", "vae"})
#: Embeddings so quick that the cache for all projects is not worth its room.
QUICK = frozenset({"raw", "pca", "tfidf"})

EUCLIDEAN = "euclidean"
#: Why an embedding is used that somebody named.
ASKED = "it was asked for"
#: What ``project.toml`` calls the embedding where people gave vectors of their own.
GIVEN = "given"

Features = npt.NDArray[np.float32]


class Compared(NamedTuple):
    """How items are compared.

    Attributes
    ----------
    embedding : its name
    why : as a sentence without its full stop
    k : neighbours of an item
    metric : "euclidean" or "cosine"
    """

    embedding: str
    why: str
    k: int
    metric: str

    @property
    def is_itemwise(self) -> bool:
        """Whether an item is embedded without the others."""
        name = self.embedding
        return name in embeddings and getattr(embeddings.factory(name), "itemwise", False)


def comparison(
    items: Items,
    before: Mapping[str, Any],
    *,
    embedding: str | None,
    k: int | None,
    metric: str | None,
    given: bool = False,
) -> Compared:
    """How a project compares its items.

    Parameters
    ----------
    before : what ``project.toml`` says
    embedding, k, metric : as for `prepare`
    given : whether people gave vectors of their own
    """
    n = len(items)
    name, why = (GIVEN, "vectors were given") if given else _chosen(items, embedding, before)
    k = min(_neighbours(before) if k is None else k, n - 1)
    return Compared(name, why, k, metric or _metric(before, name))


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
    embedding : raw, pca, tfidf, ...; if None, the project's own, or by the kind of the items
    k : neighbours of an item; all others if there are fewer. None: as many as the project has
        already, so that a new default never changes the graph under somebody's answers, else
        `NEIGHBOURS`
    metric : "euclidean" or "cosine"; as the project has it, else by the embedding, if None
    about : what else ``project.toml`` is to say
    arrived : some of the items, and what they were embedded as already
    expect : told what takes long, with an estimate, before it is begun

    Returns
    -------
    features : (n, d) float32
    graph : of n nodes, with these features
    """
    n = len(catalogue)
    if n < 3:
        raise InputError(
            f"{catalogue.name} has {n} {'item' if n == 1 else 'items'}: three or more are needed"
        )
    given = None if catalogue.vectors is None else _given(catalogue.vectors)
    before = read_about(folder)
    compared = comparison(
        catalogue.items, before, embedding=embedding, k=k, metric=metric, given=given is not None
    )
    name, _, k, metric = compared
    made: dict[str, Any] = dict(about or {}) | {
        "source": catalogue.source or catalogue.name,
        "items": n,
        **compared._asdict(),
        "version": version(),
        "fingerprint": fingerprint(catalogue.contents, name),
    }
    if catalogue.column is not None:
        made["column"] = catalogue.column

    progress = begin("embedding")
    changed = before.get("fingerprint") != made["fingerprint"]
    earlier = read_earlier(folder, before, name, k, metric) if changed else None
    features = given
    given_digest = None if given is None else digest(given)
    if given is not None:  # they are kept where they came from; only the graph depends on them
        before = before if before.get("features") == given_digest else {}
    elif not changed:
        features = kept_features(folder / "features.npy", n, before.get("features"))
    if features is None:
        if earlier is not None and earlier.contents is not None:
            features = _beside(earlier, catalogue, name, progress, arrived)
        else:
            features = _embedded_rest(catalogue, name, progress, arrived)
            if is_centred(name):
                features = centred(folder, features, keep=earlier is not None)
        before = {}
        if compared.is_itemwise:
            keep_contents(folder, catalogue.contents)
        keep_whole(folder / "features.npy", lambda file: write_array(file, features))
    progress(n, n)
    made["features"] = given_digest or digest(features)
    if not before:
        _write_about(folder, made)  # so that what comes next may be interrupted

    progress = begin("joining neighbours")
    graph = None
    if before.get("k") == k and before.get("metric", EUCLIDEAN) == metric:
        graph = kept_graph(folder / "graph.npz", features, before.get("graph"))
    if graph is None:
        graph = None if earlier is None else grown(earlier.graph, features)
        if graph is None:
            expect_graph(features, k, metric, expect)
            graph = knn_graph(features, k=k, metric=metric, keep_neighbours=True, progress=progress)
        _keep_graph(folder / "graph.npz", graph)
    progress(n, n)
    made["graph"] = graph.fingerprint
    if before != made:
        _write_about(folder, made)
    return features, graph


def _chosen(items: Items, wanted: str | None, before: Mapping[str, Any]) -> tuple[str, str]:
    """The embedding, and why: the one asked for, the project's own, or what suits the items.

    A project keeps the embedding it was made with: another would change every distance under
    somebody's answers.
    """
    if wanted is not None:
        embeddings.factory(wanted)  # an unknown name costs no work
        return wanted, before.get("why", ASKED) if before.get("embedding") == wanted else ASKED
    kept = before.get("embedding")
    if isinstance(kept, str) and kept in embeddings:
        return kept, str(before.get("why", "the project was made with it"))
    return suited(items)


def _neighbours(before: Mapping[str, Any]) -> int:
    """As many as the project has, unless it had too few items for more."""
    kept = before.get("k")
    good = type(kept) is int and kept >= 1 and before.get("items") != kept + 1
    return int(kept) if good else NEIGHBOURS  # type: ignore[arg-type]


def _metric(before: Mapping[str, Any], embedding: str) -> str:
    """How vectors are compared: as the project has done so far with this embedding.

    A project that does not say was made when all were compared by their distance.
    """
    usual = "cosine" if embedding in BY_ANGLE else EUCLIDEAN
    if before.get("embedding") != embedding:
        return usual
    kept = before.get("metric", EUCLIDEAN)
    return kept if kept in (EUCLIDEAN, "cosine") else usual


def read_about(folder: Path) -> dict[str, Any]:
    """What ``project.toml`` says: source, column, embedding, k, and what tells the files apart.

    Empty if there is no such file, or it is damaged.
    """
    try:
        return tomllib.loads((folder / "project.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def note(folder: Path, compared: Compared, about: Mapping[str, str | int]) -> None:
    """Write down how items are compared before all of them are there."""
    _write_about(folder, dict(about) | compared._asdict() | {"version": version()})


def _write_about(folder: Path, about: dict[str, Any]) -> None:
    lines = ["# Written by poise. All here but events.db, the answers, can be made again."]
    lines += [f"{name} = {_toml(value)}" for name, value in about.items()]
    text = "\n".join(lines) + "\n"
    keep_whole(folder / "project.toml", lambda file: file.write(text.encode()))


def _toml(value: str | int) -> str:
    """Text as JSON writes it, which TOML reads, but for half characters and one that it forbids."""
    text = json.dumps(clean(value) if isinstance(value, str) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")


def _beside(
    earlier: Earlier,
    catalogue: Catalogue,
    name: str,
    progress: Progress,
    arrived: tuple[Catalogue, Features] | None,
) -> Features:
    """Features of all items: those that stayed keep theirs, and the new ones are compared so."""
    place = earlier.places(catalogue.contents)
    features = earlier.features[place]
    new = np.flatnonzero(place < 0)
    if new.size:
        done, n = len(place) - new.size, len(place)
        rows = _embedded_rest(
            catalogue.only(new.tolist()), name, shifted(progress, done, n), arrived
        )
        features[new] = earlier.uncentred(rows)
    return features


def _embedded_rest(
    catalogue: Catalogue,
    name: str,
    progress: Progress,
    arrived: tuple[Catalogue, Features] | None,
) -> Features:
    """Features of all items, those that are known already not computed again."""
    if arrived is None:
        return embedded(catalogue, name, progress)
    known, rows = arrived
    there = [known.index.get(item, -1) for item in catalogue.ids]
    features = rows[there]
    new = [i for i, place in enumerate(there) if place < 0]
    if new:
        done, n = len(there) - len(new), len(there)
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
    """What embeds image files as they are read, if this embedding can; loaded when first needed."""
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


def _given(vectors: npt.NDArray[Any]) -> Features:
    """Vectors as they are, without a copy if they are float32 in the usual order."""
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _keep_graph(path: Path, graph: Graph) -> None:
    """Without the features, which have a file of their own."""
    with said(path):
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
