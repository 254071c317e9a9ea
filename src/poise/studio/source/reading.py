"""From a source to the catalogue of its items."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from poise.data.datasets import load_dataset
from poise.data.ids import distinct_ids, text_id
from poise.data.image_reading import Encode, Seen
from poise.data.item_tables import ItemTable
from poise.data.sources import read_items
from poise.data.tables import TABLES
from poise.data.vectors import read_array, read_names
from poise.errors import InputError
from poise.progress import Progress, no_progress
from poise.studio.source.array_items import array_catalogue
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.folder_items import ImageReader, folder_catalogue
from poise.studio.source.names import source_name
from poise.studio.source.own_vectors import with_vectors
from poise.studio.source.table_items import table_catalogue


def read_catalogue(
    source: str,
    *,
    column: str | None = None,
    key: str | None = None,
    label_column: str | None = None,
    use_labels: bool = True,
    vectors: str | None = None,
    features: Path | None = None,
    feature_names: Path | None = None,
    remembered: Path | None = None,
    progress: Progress = no_progress,
    seen: Seen = lambda content: None,
    names: Sequence[str] | None = None,
    encode: Encode | None = None,
) -> Catalogue:
    """The items of a source.

    Parameters
    ----------
    source : str
        A folder of images; a .csv, .tsv, .jsonl or .parquet file with a column of texts or of
        paths of images; a .npy file, or a .npz file with an array `X`; a data set's name.
    column, key, label_column : str, optional
        Columns of a table: what is to be labelled (a common name is recognised), the items' stable
        ids (default: hashes of their contents), their classes (default: "label" or "class").
        Several columns of texts, with commas between them, are joined.
    use_labels : bool
        Whether folders of images and columns of labels are existing labels.
    vectors : str, optional
        Column of a table with vectors to compare the items by.
    features : Path, optional
        A .npy or .npz file with such vectors: a row for each row of the source, or for each image
        of the folder in the order of their paths.
    feature_names : Path, optional
        A .csv file whose first column names the image of each row of `features`.
    remembered : Path, optional
        File that keeps what is known of image files, so that each is read once.
    progress : callable
        Called with (done, total) now and then.
    seen : callable
        Called with the bytes of every image file that is read, from any thread.
    names : sequence of str, optional
        Images of a folder or a table, if not all of them are wanted; the items are in this order.
    encode : callable, optional
        Embeds image files as they are read, so that each is decoded once; it makes no grey copies.

    Raises
    ------
    InputError
        If there is no such source, or nothing in it can be used. One bad item is left out.
    DataError
        If a table or an array is damaged, or holds nothing.
    """
    own = None if features is None else read_array(features)
    image_of_row = None if feature_names is None else read_names(feature_names)
    path = Path(source)
    reader = ImageReader(remembered, progress, seen, encode)
    if path.is_file() and path.suffix.lower() in TABLES:
        table = ItemTable(path, column, key, label_column, use_labels, vectors)
        catalogue = table_catalogue(table, reader, names)
        own = table.vectors if own is None else own
    else:
        missing = bool(path.suffix) and not path.exists()  # that is wrong, rather than its columns
        for name in (column, key, label_column, vectors):
            if name is not None and not missing:
                raise InputError(
                    f"{source} is not a table, so it has no column {name!r}: leave it out"
                )
        if path.is_dir():
            catalogue = folder_catalogue(path, reader, use_labels, names)
        elif missing or path.exists():
            X = np.asarray(read_items(source))
            catalogue = array_catalogue(source_name(source), str(path.resolve()), X, progress)
        else:
            catalogue = _dataset_catalogue(source, progress)
    return catalogue if own is None else with_vectors(catalogue, own, image_of_row)


def _dataset_catalogue(name: str, progress: Progress) -> Catalogue:
    """The items of one of poise's own data sets."""
    data = load_dataset(name, progress=progress)
    if data.texts is not None:
        ids = distinct_ids([text_id(text) for text in data.texts])
        return Catalogue(name, "text", ids, list(data.texts), source=name)
    shape = data.shape if data.shape and math.prod(data.shape) == data.X[0].size else ()
    X = data.X.reshape(len(data.X), *(shape or (-1,)))
    return array_catalogue(name, name, X, progress)
