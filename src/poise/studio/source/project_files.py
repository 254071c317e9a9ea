"""The files of a project beside its log, and the one that describes it: ``project.toml``."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from poise.data.text import clean
from poise.errors import DataError
from poise.files import write_whole

#: Describes the project: its source, how items are compared, and hashes of the other files.
ABOUT_FILE = "project.toml"
#: What is known of image files; see `poise.data.image_cache`.
IMAGES_FILE = "items.npz"
FEATURES_FILE = "features.npy"
#: The mean that was subtracted from the features, if any.
CENTRE_FILE = "centre.npy"
#: Hash of what each row of the features was made of.
CONTENTS_FILE = "contents.txt"
GRAPH_FILE = "graph.npz"
#: All of them can be made again from the source.
FILES = (ABOUT_FILE, IMAGES_FILE, FEATURES_FILE, CENTRE_FILE, CONTENTS_FILE, GRAPH_FILE)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell what to do when a file of the project cannot be written."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"Could not write {path}: {error.strerror or error}. Free some space, or choose "
            "another folder with --project."
        ) from None


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file of the project, whole or not at all."""
    with writing(path):
        write_whole(path, write)


def read_about(folder: Path) -> dict[str, Any]:
    """What ``project.toml`` says: source, column, embedding, k, and hashes of the other files.

    Empty if there is no such file, or it is damaged.
    """
    try:
        return tomllib.loads((folder / ABOUT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def write_about(folder: Path, about: Mapping[str, str | int]) -> None:
    """Write ``project.toml`` anew."""
    lines = ["# Written by poise. All here but events.db, the answers, can be made again."]
    lines += [f"{name} = {_toml(value)}" for name, value in about.items()]
    text = "\n".join(lines) + "\n"
    write_file(folder / ABOUT_FILE, lambda file: file.write(text.encode()))


def _toml(value: str | int) -> str:
    """A value as JSON, which is TOML but for half characters and one that TOML forbids."""
    text = json.dumps(clean(value) if isinstance(value, str) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")
