"""Labels from a folder for each class: what lies in it has this class."""

import os
from pathlib import Path

from poise.data.ids import content_id
from poise.errors import InputError
from poise.integrations.exports.folders import LIST_FILE
from poise.integrations.imports.reading import LabelRow, load, own, text
from poise.studio.exchange import read
from poise.studio.source.folder_items import NO_CLASS
from poise.studio.source.names import class_name


def read_folders(folder: Path) -> list[LabelRow]:
    """A row for each file in a folder of a class.

    Files are recognised by their content, or by their names where the list of an export is there.
    A file that was moved to another folder since then has the class of that folder. Links to
    folders are not followed.
    """
    listed = _listed(folder)
    classes = {text(row.get("folder")): text(row.get("label")) for row in listed.values()}
    found = []
    for name in _files(folder):
        place, base = name.partition("/")[0], name.rpartition("/")[2]
        if place not in classes and place.lower() in NO_CLASS:
            continue
        label = classes.get(place) or class_name(place)
        known = listed.get(base)
        if known is None:
            row = {"id": content_id(load(folder, name)), "source": name}
            found.append(row | {"label": label})
            continue
        row = {"id": text(known.get("id")), "source": text(known.get("source")), "label": label}
        found.append(row | own(known, label))
    if not found:
        raise InputError(
            f"{folder} holds no labels: expected a folder for each class with its files, or an "
            "export for Hugging Face, FiftyOne or cleanlab"
        )
    return found


def _listed(folder: Path) -> dict[str, LabelRow]:
    """Name of a file -> its row in the list of an export; empty if there is none."""
    if not (folder / LIST_FILE).exists():
        return {}
    rows = read(load(folder, LIST_FILE), LIST_FILE)
    return {text(row.get("file")): row for row in rows if text(row.get("file"))}


def _files(folder: Path) -> list[str]:
    """Paths of the files in the folders of classes, hidden ones excepted."""
    names = []
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(path).relative_to(folder).as_posix()
        if below != ".":
            names += [f"{below}/{name}" for name in sorted(files) if not name.startswith(".")]
    return names
