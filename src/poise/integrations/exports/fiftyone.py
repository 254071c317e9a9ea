"""A data set in FiftyOne's JSON format: ``metadata.json`` and ``samples.json``.

FiftyOne's own exports describe their samples by a document of its database, of one version. Without
a version in ``metadata.json``, every version from 0.8 reads the samples as they are.

References
----------
FiftyOne's user guide: "Loading datasets from disk", FiftyOneDataset.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poise.errors import InputError
from poise.files import write_bytes, write_together
from poise.integrations.exports.media import content_of, file_names, file_of
from poise.studio.borrowing import Borrowed
from poise.studio.exchange import MODEL, Row

#: Fields of a sample: the label that somebody gave, and the predicted class.
GIVEN, PREDICTED = "ground_truth", "prediction"
#: Tags of samples with a label, and of those with a prediction.
TAGS = {GIVEN: "labelled", PREDICTED: "predicted"}
METADATA_FILE, SAMPLES_FILE, DATA_FOLDER = "metadata.json", "samples.json", "data"


def write_samples(project: Borrowed, rows: Sequence[Row], folder: Path) -> None:
    """Write a data set for ``fiftyone.Dataset.from_dir`` with the type FiftyOneDataset.

    Samples point to the image files where they are. Images that are no files are written.
    """
    catalogue = project.catalogue
    if catalogue.kind != "image":
        raise InputError(
            f"FiftyOne shows images, and {catalogue.name} holds items of another kind "
            f"({catalogue.kind}): use --format huggingface instead"
        )
    nodes = [catalogue.nodes[row.id] for row in rows]
    samples = []
    for row, node, name in zip(rows, nodes, file_names(catalogue, nodes), strict=True):
        original = file_of(catalogue, node)
        path = f"{DATA_FOLDER}/{name}" if original is None else str(original)
        if original is None:
            write_bytes(folder / path, content_of(catalogue, node), durably=False)
        samples.append(_sample(row, path))
    metadata = {
        "name": catalogue.name,
        "media_type": "image",
        "info": {"default_classes": list(project.state.classes), "made_by": "poise"},
    }
    write_together(
        folder,
        {
            METADATA_FILE: json.dumps(metadata, ensure_ascii=False),
            SAMPLES_FILE: json.dumps({"samples": samples}, ensure_ascii=False),
        },
    )


def _sample(row: Row, path: str) -> dict[str, Any]:
    field = PREDICTED if row.by == MODEL else GIVEN
    label: dict[str, Any] = {"_cls": "Classification", "tags": [], "label": row.label}
    if row.by == MODEL:
        label["confidence"] = row.confidence
    else:
        label |= {"by": row.by, "time": row.time}
    return {
        "filepath": path.encode("utf-8", "replace").decode(),
        "tags": [TAGS[field]],
        "poise_id": row.id,
        "poise_source": row.source,
        "poise_label": row.label,
        field: {name: value for name, value in label.items() if value is not None},
    }
