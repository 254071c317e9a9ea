"""A data set of Hugging Face's `datasets` on disk: Arrow files with a ClassLabel."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from poise.data.text import clean
from poise.extras import needed
from poise.integrations.exports.media import content_of, file_names, file_of, text_of
from poise.studio.borrowing import Borrowed
from poise.studio.exchange import Row
from poise.studio.source.catalogue import Catalogue


def write_dataset(project: Borrowed, rows: Sequence[Row], folder: Path) -> None:
    """Write a data set for ``datasets.load_from_disk``.

    Columns: id, source, the item (named by its kind: image, text or vector), label (a ClassLabel),
    by, confidence and time. Images are stored with their bytes and the names of their files.
    """
    library: Any = needed("datasets", "huggingface", "exporting for Hugging Face")
    classes = list(project.state.classes)
    code = {name: number for number, name in enumerate(classes)}
    nodes = [project.catalogue.nodes[row.id] for row in rows]
    kind = project.catalogue.kind
    text = library.Value("string")
    item = {
        "image": library.Image,
        "text": lambda: text,
        "vector": lambda: library.List(library.Value("float64")),
    }[kind]()
    features = library.Features(
        {
            "id": text,
            "source": text,
            kind: item,
            "label": library.ClassLabel(names=classes),
            "by": text,
            "confidence": library.Value("float64"),
            "time": text,
        }
    )
    columns = {
        "id": [row.id for row in rows],
        "source": [row.source for row in rows],
        kind: _items(project, nodes),
        "label": [code[row.label] for row in rows],
        "by": [row.by for row in rows],
        "confidence": [row.confidence for row in rows],
        "time": [row.time for row in rows],
    }
    with _quiet(library):
        library.Dataset.from_dict(columns, features=features).save_to_disk(str(folder))


def _items(project: Borrowed, nodes: list[int]) -> list[Any]:
    catalogue = project.catalogue
    if catalogue.kind == "text":
        return [text_of(catalogue, node) for node in nodes]
    if catalogue.kind == "vector":
        values: Any = catalogue.items
        return [np.asarray(values[node], dtype=np.float64).ravel().tolist() for node in nodes]
    names = file_names(catalogue, nodes)
    return [_image(catalogue, node, name) for node, name in zip(nodes, names, strict=True)]


def _image(catalogue: Catalogue, node: int, name: str) -> dict[str, Any]:
    """An image file by its path, to be read when it is stored; any other image by its bytes."""
    path = str(file_of(catalogue, node) or "")
    if path and clean(path) == path:  # Arrow cannot hold the path of a file that is not UTF-8
        return {"path": path, "bytes": None}
    return {"path": name, "bytes": content_of(catalogue, node)}


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """Without the library's own progress bars, which would run into poise's."""
    shown = library.is_progress_bar_enabled()
    library.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            library.enable_progress_bars()
