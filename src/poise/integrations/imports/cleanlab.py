"""Labels from the arrays that poise wrote for cleanlab, as they were corrected since then."""

from pathlib import Path

import numpy as np

from poise.data.array_files import read_arrays
from poise.data.image_files import located
from poise.data.images import UnreadableError
from poise.errors import DataError, InputError
from poise.integrations.exports.cleanlab import AUTHORS_FILE, CLASSES_FILE, IDS_FILE, LABELS_FILE
from poise.integrations.imports.reading import LabelRow, load_json, own, texts


def read_labels(folder: Path) -> list[LabelRow]:
    """A row for each label; -1 stands for none."""
    for name in (IDS_FILE, CLASSES_FILE):
        if not (folder / name).exists():
            raise InputError(
                f"{folder} has labels and no {name}, so nobody knows what they belong to: export "
                "with poise export --format cleanlab"
            )
    ids, classes = texts(folder, IDS_FILE), texts(folder, CLASSES_FILE)
    try:
        path = located(folder.resolve(), LABELS_FILE)
        if not path.is_file():
            raise UnreadableError("it is not a file")
        (labels,) = read_arrays(path)
    except (DataError, UnreadableError) as error:
        raise InputError(f"{folder / LABELS_FILE} cannot be imported: {error}") from None
    if labels.shape != (len(ids),) or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"{folder / LABELS_FILE} has the shape {labels.shape} and the type {labels.dtype}: "
            f"expected {len(ids)} whole numbers, one for each line of {IDS_FILE}"
        )
    if len(labels) and not (labels.min() >= -1 and labels.max() < len(classes)):
        raise InputError(
            f"{folder / LABELS_FILE} has labels from {labels.min()} to {labels.max()}: expected "
            f"positions in {CLASSES_FILE}, 0 to {len(classes) - 1}, or -1 for none"
        )
    authors = load_json(folder, AUTHORS_FILE, list) if (folder / AUTHORS_FILE).exists() else []
    authors = authors if len(authors) == len(ids) else [None] * len(ids)
    return [
        {"id": item, "label": classes[code]} | own(author, classes[code])
        for item, code, author in zip(ids, labels.tolist(), authors, strict=True)
        if code >= 0
    ]
