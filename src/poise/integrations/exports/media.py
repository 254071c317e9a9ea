"""What an item is outside of poise: a file, a text or a picture."""

from pathlib import Path, PurePosixPath

from poise.data.image_files import load_below
from poise.data.images import UnreadableError
from poise.errors import DataError, InputError
from poise.integrations.exports.names import distinct_names
from poise.studio.source.catalogue import Catalogue

#: Endings of pictures that poise makes, by their media type.
ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg"}


def file_of(catalogue: Catalogue, node: int) -> Path | None:
    """The image file that an item is; None if it is none."""
    return catalogue.root / catalogue.files[node].name if catalogue.files else None


def content_of(catalogue: Catalogue, node: int) -> bytes:
    """The bytes of an item as a file: an image file as it is, a text as UTF-8, else a picture."""
    if not catalogue.files:
        return catalogue.content(node)[1]
    try:
        return load_below(catalogue.root, catalogue.files[node].name)[0]
    except UnreadableError as error:
        raise DataError(
            f"{catalogue.sources[node]} cannot be read: {error}; put the file back and export again"
        ) from None


def text_of(catalogue: Catalogue, node: int) -> str:
    """The text that an item is."""
    assert isinstance(catalogue.items, list)  # items of the kind "text" are a list
    return str(catalogue.items[node]).encode("utf-8", "replace").decode()


def file_names(catalogue: Catalogue, nodes: list[int]) -> list[str]:
    """A distinct name for the file of each item, made from the name of its source."""
    if catalogue.files:
        paths = [PurePosixPath(catalogue.files[node].name) for node in nodes]
        endings = [path.suffix if path.suffix.isascii() else "" for path in paths]
    else:
        paths = []
        ending = ".txt" if catalogue.kind == "text" else ".png"
        endings = [ending] * len(nodes)
    stems = [path.stem for path in paths] or [catalogue.sources[node] for node in nodes]
    return distinct_names(stems, endings)


def refuse_vectors(catalogue: Catalogue, what: str, instead: str) -> None:
    """Refuse items that are rows of numbers, which are no files."""
    if catalogue.kind == "vector":
        raise InputError(
            f"{catalogue.name} holds rows of numbers, and {what}: use {instead} instead"
        )
