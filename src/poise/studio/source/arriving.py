"""A large source in parts: questions begin before the last item is read and embedded.

Items arrive in random order, so that the first ones are a fair sample of all, however the source is
sorted. What arrives is only ever added at the end.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise import Graph, knn_graph
from poise.arrays import Ints
from poise.progress import Progress, shifted
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import is_centred
from poise.studio.source.comparing import Compared
from poise.studio.source.earlier import Earlier, fingerprint, read_earlier
from poise.studio.source.preparing import Features, embedded
from poise.studio.source.project_files import read_about

#: Questions begin with this many items,
ENOUGH_ITEMS = 1_000
#: or after this time, but not with fewer items than a graph should have.
ENOUGH_SECONDS, LEAST_ITEMS = 20.0, 50
#: Nothing begins early if the rest takes no longer than this.
SOON_SECONDS = 10.0
#: Items that are read and embedded at a time before questions begin.
STEP_ITEMS = 128
#: Then each part is this share of what has arrived: few parts, so few interruptions.
PART_SHARE = 0.5

Clock = Callable[[], float]
#: The first so many items in the order of arrival -> their catalogue.
Take = Callable[[int], Catalogue]


@dataclass(frozen=True, eq=False)
class Part:
    """What has arrived so far.

    Attributes
    ----------
    catalogue, features, graph : of these items
    rows : features, not centred, of the items that are new to the project
    wanted : how many items the source was asked for, unreadable ones included
    """

    catalogue: Catalogue
    features: Features
    graph: Graph
    rows: Features
    wanted: int


@dataclass(frozen=True, eq=False)
class Arrival:
    """The order in which the items of a source arrive.

    Attributes
    ----------
    order : (n,) rows of the source
    earlier, graph : the items that the project had before, if any: they come first
    """

    order: Ints
    earlier: Earlier | None = None
    graph: Graph | None = None


def plan_arrival(folder: Path, contents: Sequence[str], compared: Compared) -> Arrival | None:
    """How the items of a source arrive in parts; None if they had better come all at once.

    Parameters
    ----------
    folder : of the project
    contents : hash of what each item of the source holds; empty where that is not known yet
    """
    if not compared.is_itemwise:
        return None
    before = read_about(folder)
    if fingerprint(contents, compared.embedding) == before.get("fingerprint"):
        return None  # the project has them all
    total = len(contents)
    earlier = read_earlier(folder, before, compared.embedding, compared.k, compared.metric)
    rows = np.full(total, -1) if earlier is None else earlier.rows(contents)
    old, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
    old = old[np.argsort(rows[old])]
    graph = None if earlier is None else earlier.stayed(rows[old])
    if graph is None:
        return Arrival(shuffled(total))
    if len(new) <= STEP_ITEMS:
        return None  # they will be in before anybody has seen the first question
    return Arrival(np.concatenate([old, new[shuffled(len(new))]]), earlier, graph)


def arriving(
    take: Take,
    total: int,
    compared: Compared,
    progress: Progress,
    clock: Clock = time.monotonic,
) -> Iterator[Part]:
    """Growing parts of a source, but never all of it; none if all of it will be read soon.

    Parameters
    ----------
    take : m -> the catalogue of the first m items in the order of arrival
    total : how many items there are
    compared : by which embedding, with how many neighbours, by which metric
    progress : called with (items that have arrived, total)
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
        if rows is None or len(rows) < LEAST_ITEMS:
            continue
        if graph is None:
            now = clock()
            took, last = now - last, now
            if len(rows) < ENOUGH_ITEMS and now - began < ENOUGH_SECONDS:
                continue
            # By the newest part alone: after an interruption the first ones cost no time.
            if took * (total - size) / (size - before) <= SOON_SECONDS:
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
    """Growing parts of what is new beside a project's items, but never all of it.

    Parameters
    ----------
    take : m -> the catalogue of the first m items; those of the project come before the new ones
    total : how many items there are
    begun : the items of the project
    compared : how the project compares its items
    uncentred : new rows -> the same, centred as those of the project are
    progress : called with (items that have arrived, total)
    """
    known, features, graph, rows = begun.catalogue, begun.features, begun.graph, begun.rows
    old = size = begun.wanted
    while (size := size + max(ENOUGH_ITEMS, int(PART_SHARE * (size - old)))) < total:
        catalogue = take(size)
        if catalogue.ids[: len(known)] != known.ids:
            return  # files went or changed meanwhile: all of them are read once more at the end
        before = len(known)
        if len(catalogue) == before:
            continue
        more = embedded(
            catalogue.only(range(before, len(catalogue))),
            compared.embedding,
            shifted(progress, before, total),
        )
        known, rows = catalogue, np.concatenate([rows, more])
        graph = graph.extend(uncentred(more))
        features = np.asarray(graph.features)
        yield Part(catalogue, features, graph, rows, size)


def _next(size: int, begun: bool) -> int:
    if begun:
        return size + max(STEP_ITEMS, int(PART_SHARE * size))
    return size + max(STEP_ITEMS, size // 4 if size >= ENOUGH_ITEMS else 0)


def shuffled(n: int) -> Ints:
    """The order in which items arrive: random, and the same at every start."""
    return np.random.default_rng(n).permutation(n)


def in_order_of_arrival(
    catalogue: Catalogue, features: Features, graph: Graph, before: Catalogue
) -> tuple[Catalogue, Features, Graph]:
    """All items, with those that arrived before first: their nodes stay the same."""
    first = [catalogue.nodes[item] for item in before.ids if item in catalogue.nodes]
    rest = np.setdiff1d(np.arange(len(catalogue)), first)
    order = np.concatenate([np.array(first, dtype=np.int64), rest])
    graph = graph.reordered(order)
    held = graph.features
    features = held if isinstance(held, np.ndarray) else features[order]  # no copy: may be large
    return catalogue.only(order.tolist()), features, graph
