"""A large source a part at a time: questions begin before the last item is read and embedded.

Items arrive in random order, so that what is there at first is a fair sample of all, however the
source is sorted. What arrives is only ever added at the end.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise import Graph, knn_graph
from poise.progress import Progress, shifted
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import is_centred
from poise.studio.source.preparing import Compared, Features, embedded

#: Items with which questions begin; or as many as there are after so many seconds, but not fewer
#: than `FEWEST`, which a graph should have.
ENOUGH, SECONDS, FEWEST = 1_000, 20.0, 50
#: Nothing begins early if the rest takes no more seconds than this.
SOON = 10.0
#: Items that are read and embedded at a time before questions begin.
STEP = 128
#: Then a part is this share of what is there: few parts, and each pays for what it interrupts.
SHARE = 0.5

Clock = Callable[[], float]
#: The first so many items in the order of arrival -> their catalogue.
Take = Callable[[int], Catalogue]


@dataclass(frozen=True, eq=False)
class Part:
    """What has arrived so far.

    Attributes
    ----------
    catalogue, features, graph : of these items
    rows : the features before they were centred; of those that are new to the project
    wanted : how many items the source was asked for; those that cannot be read are not in
    """

    catalogue: Catalogue
    features: Features
    graph: Graph
    rows: Features
    wanted: int


def arriving(
    take: Take,
    total: int,
    compared: Compared,
    progress: Progress,
    clock: Clock = time.monotonic,
) -> Iterator[Part]:
    """Growing parts of a source; none if all of it is there soon, and never all of it.

    Parameters
    ----------
    take : m -> the catalogue of the first m items in the order of arrival
    total : how many there are
    compared : by which embedding, with how many neighbours, by which metric
    progress : called with (items that are in, total)
    """
    size = before = 0
    began = last = clock()
    known: Catalogue | None = None
    rows: Features | None = None
    centre: Features | float = 0.0
    graph: Graph | None = None
    while (size := _next(before := size, graph is not None)) < total:
        catalogue = take(size)
        old = 0 if known is None else len(known)
        new = list(range(old, len(catalogue)))
        if known is not None and catalogue.ids[: len(known)] != known.ids:
            return  # files went or changed meanwhile: all of them are read once more at the end
        if new:
            more = embedded(
                catalogue.only(new),
                compared.embedding,
                shifted(progress, old, total),
            )
            rows = more if rows is None else np.concatenate([rows, more])
        known = catalogue
        if rows is None or len(rows) < FEWEST:
            continue
        if graph is None:
            now = clock()
            took, last = now - last, now
            if len(rows) < ENOUGH and now - began < SECONDS:
                continue
            # By the newest part alone: after an interruption the first ones cost no time.
            if took * (total - size) / (size - before) <= SOON:
                continue
            centre = rows.mean(axis=0) if is_centred(compared.embedding) else 0.0
            features = rows - centre
            graph = knn_graph(features, compared.k, metric=compared.metric, keep_neighbours=True)
        else:
            graph = graph.extend(rows[graph.n_nodes :] - centre)
            features = np.asarray(graph.features)  # not a copy: they may be large
        yield Part(catalogue, features, graph, rows, size)


def joining(
    take: Take,
    total: int,
    begun: Part,
    compared: Compared,
    uncentred: Callable[[Features], Features],
    progress: Progress,
) -> Iterator[Part]:
    """Growing parts of what is new beside a project's items; never all of it.

    Parameters
    ----------
    take : m -> the catalogue of the first m items, those of the project before the new ones
    total : how many there are
    begun : the items of the project
    compared : as they are
    uncentred : new rows -> as those of the project are compared
    progress : called with (items that are in, total)
    """
    known, features, graph, rows = begun.catalogue, begun.features, begun.graph, begun.rows
    old = size = begun.wanted
    while (size := size + max(ENOUGH, int(SHARE * (size - old)))) < total:
        catalogue = take(size)
        if catalogue.ids[: len(known)] != known.ids:
            return  # files went or changed meanwhile: all of them are read once more at the end
        there = len(known)
        if len(catalogue) == there:
            continue
        more = embedded(
            catalogue.only(range(there, len(catalogue))),
            compared.embedding,
            shifted(progress, there, total),
        )
        known, rows = catalogue, np.concatenate([rows, more])
        graph = graph.extend(uncentred(more))
        features = np.asarray(graph.features)
        yield Part(catalogue, features, graph, rows, size)


def _next(size: int, begun: bool) -> int:
    if begun:
        return size + max(STEP, int(SHARE * size))
    return size + max(STEP, size // 4 if size >= ENOUGH else 0)


def shuffled(n: int) -> npt.NDArray[np.int64]:
    """The order in which items arrive: random, and the same at every start."""
    return np.random.default_rng(n).permutation(n)


def in_order_of_arrival(
    catalogue: Catalogue, features: Features, graph: Graph, before: Catalogue
) -> tuple[Catalogue, Features, Graph]:
    """All items, those that had arrived before first: their nodes keep their numbers."""
    first = [catalogue.index[item] for item in before.ids if item in catalogue.index]
    rest = np.setdiff1d(np.arange(len(catalogue)), first)
    order = np.concatenate([np.array(first, dtype=np.int64), rest])
    graph = graph.reordered(order)
    held = graph.features
    features = held if isinstance(held, np.ndarray) else features[order]  # no copy: may be large
    return catalogue.only(order.tolist()), features, graph
