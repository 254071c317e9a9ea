"""Every format of ``poise label --import``: recognised by the file, or by what a folder holds."""

from pathlib import Path

from poise.errors import InputError
from poise.integrations.exports.formats import FOLDERS
from poise.integrations.imports import cleanlab, fiftyone, folders, huggingface, label_studio
from poise.integrations.imports.reading import LabelRow, load, load_json
from poise.studio.exchange import FORMATS as TABLES
from poise.studio.exchange import read


def read_labels(path: Path, source: Path | None = None) -> list[LabelRow]:
    """Rows of labels from an exported file or folder, of poise or of another tool.

    Parameters
    ----------
    source : the folder that is labelled, if it is one: paths in a file may lie in it

    Raises
    ------
    InputError
        If it cannot be read; then nothing is imported.
    """
    root = source if source is not None and source.is_dir() else None
    if path.is_dir():
        return _from_folder(path, root)
    ending = path.suffix.lower().lstrip(".")
    if ending == "json":
        return _from_json(path, root)
    if ending not in TABLES:
        raise InputError(
            f"{path} has an unknown ending: expected .csv, .jsonl, .parquet, .json (Label Studio "
            "or FiftyOne), or a folder"
        )
    where = path.resolve()
    return read(load(where.parent, where.name), path.name)


def _from_folder(path: Path, root: Path | None) -> list[LabelRow]:
    if (path / huggingface.STATE_FILE).exists() or (path / huggingface.SPLITS_FILE).exists():
        return huggingface.read_dataset(path, root)
    if (path / FOLDERS["fiftyone"]).exists():
        value = load_json(path, FOLDERS["fiftyone"], dict)
        return fiftyone.read_samples(path, value, source=root)
    if (path / FOLDERS["cleanlab"]).exists():
        return cleanlab.read_labels(path)
    return folders.read_folders(path)


def _from_json(path: Path, root: Path | None) -> list[LabelRow]:
    where = path.resolve()
    value = load_json(where.parent, where.name, list, dict)
    if isinstance(value, list):
        return label_studio.read_tasks(value, path.name, root)
    if "samples" in value:
        return fiftyone.read_samples(where.parent, value, where.name, root)
    raise InputError(
        f"{path} is no export that poise knows: expected a list of tasks (Label Studio's JSON) or "
        "an object with samples (FiftyOne)"
    )
