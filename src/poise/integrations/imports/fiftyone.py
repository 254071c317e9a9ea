"""Labels from a FiftyOne data set in its JSON format."""

from pathlib import Path
from typing import Any

from poise.data.ids import content_id
from poise.errors import InputError
from poise.integrations.exports.fiftyone import DATA_FOLDER, GIVEN, PREDICTED, SAMPLES_FILE
from poise.integrations.imports.reading import (
    LabelRow,
    load,
    own,
    source_below,
    text,
)


def read_samples(
    folder: Path, value: Any, name: str = SAMPLES_FILE, source: Path | None = None
) -> list[LabelRow]:
    """A row for each sample with a classification that somebody gave.

    That is the field "ground_truth", or the only other classification but the predicted one.

    Parameters
    ----------
    folder : of the data set
    value, name : content of the file of samples, and its name
    source : the folder that is labelled, if it is one
    """
    samples = value.get("samples")
    if not isinstance(samples, list):
        raise InputError(f"{folder / name} holds no list of samples: export it from FiftyOne again")
    found = []
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or not text(sample.get("filepath")):
            raise InputError(f"sample {number} of {folder / name} has no filepath: export it again")
        given = _given(sample)
        label = text(given.get("label"))
        if label:
            row = {"id": _id(folder, sample), "source": _place(sample, source), "label": label}
            written = {"label": sample.get("poise_label"), **_author(given)}
            found.append(row | own(written, label))
    return found


def _given(sample: dict[str, Any]) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in sample.items()
        if isinstance(value, dict) and value.get("_cls") == "Classification" and name != PREDICTED
    }
    if GIVEN in fields or len(fields) != 1:
        return fields.get(GIVEN, {})
    return next(iter(fields.values()))


def _author(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given.get(name) for name in ("by", "time")}


def _id(folder: Path, sample: dict[str, Any]) -> str:
    """The item's id: poise's own, or that of the content of a file within the data set."""
    path = sample["filepath"]
    if text(sample.get("poise_id")) or not path.startswith(f"{DATA_FOLDER}/"):
        return text(sample.get("poise_id"))
    return content_id(load(folder, path))


def _place(sample: dict[str, Any], source: Path | None) -> str:
    return text(sample.get("poise_source")) or source_below(sample["filepath"], source)
