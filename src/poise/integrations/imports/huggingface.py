"""Labels from a data set of Hugging Face's `datasets` on disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from poise.data.ids import content_id, text_id
from poise.data.image_files import located
from poise.data.images import UnreadableError
from poise.errors import InputError
from poise.extras import needed
from poise.integrations.imports.reading import LabelRow, load_json, source_below, text

#: The file that lists the Arrow files of a data set, and the one that lists its splits.
STATE_FILE, SPLITS_FILE = "state.json", "dataset_dict.json"
#: Columns that an export of poise has.
OWN_COLUMNS = frozenset({"id", "source", "label", "by", "time"})


def read_dataset(folder: Path, source: Path | None) -> list[LabelRow]:
    """A row for each example with a label, of all splits.

    The label is in the column "label", or in the only ClassLabel. Without ids of poise, examples
    are recognised by the content of their text or image.

    Parameters
    ----------
    source : the folder that is labelled, if it is one
    """
    library: Any = needed("datasets", "huggingface", "importing from Hugging Face")
    found: list[LabelRow] = []
    for part in _parts(folder):
        try:
            examples = library.load_from_disk(str(part))
            found += _rows(library, examples, part, source)
        except InputError:
            raise
        except Exception as error:  # whatever it makes of damaged files, the remedy is the same
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"{part} cannot be read ({type(error).__name__}: {reason}): save the data set again"
            ) from None
    return found


def _parts(folder: Path) -> list[Path]:
    """The folder of each split, after a look at the names of all files that will be opened."""
    parts = [folder]
    if (folder / SPLITS_FILE).exists():
        splits = load_json(folder, SPLITS_FILE, dict).get("splits")
        parts = [folder / _plain(folder / SPLITS_FILE, name) for name in _listed(splits)]
    for part in parts:
        files = _listed(load_json(part, STATE_FILE, dict).get("_data_files"))
        for file in files:
            name = _plain(part / STATE_FILE, file.get("filename") if isinstance(file, dict) else 0)
            try:
                located(folder.resolve(), f"{part.relative_to(folder).as_posix()}/{name}")
            except UnreadableError as error:
                raise InputError(f"{part / name} cannot be imported: {error}") from None
    return parts


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def _plain(file: Path, name: Any) -> str:
    """A name that leads nowhere else."""
    if not text(name) or Path(name).name != name or name == ".." or "\\" in name:
        raise InputError(f"{file} names {str(name)[:60]!r}, which is no file beside it")
    return str(name)


def _rows(library: Any, examples: Any, part: Path, source: Path | None) -> Iterator[LabelRow]:
    column = _label_column(library, examples, part)
    feature = examples.features[column]
    images = [n for n, kind in examples.features.items() if isinstance(kind, library.Image)]
    for name in images:
        examples = examples.cast_column(name, library.Image(decode=False))
    has_own = set(examples.column_names) >= OWN_COLUMNS
    for example in examples:
        value = example[column]
        if isinstance(feature, library.ClassLabel):
            label = feature.int2str(value) if type(value) is int and value >= 0 else ""
        else:
            label = text(value)
        if not label:
            continue
        if has_own:
            yield {name: example[name] for name in OWN_COLUMNS} | {"label": label}
        else:
            yield _by_content(example, images, source) | {"label": label}


def _label_column(library: Any, examples: Any, part: Path) -> str:
    kinds = examples.features
    names = [name for name, kind in kinds.items() if isinstance(kind, library.ClassLabel)]
    if "label" in kinds:
        return "label"
    if len(names) != 1:
        raise InputError(
            f"{part} has {len(names)} columns of the type ClassLabel: expected one, or a column "
            "'label'"
        )
    return str(names[0])


def _by_content(example: dict[str, Any], images: list[str], source: Path | None) -> LabelRow:
    if not images:
        return {"id": text_id(text(example.get("text")))}
    image = example[images[0]] or {}
    content = image.get("bytes")
    return {
        "id": content_id(content) if content else "",
        "source": source_below(text(image.get("path")), source),
    }
