"""The items of a widget: texts and images, each prepared when it is about to be shown."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.data.image_kinds import HEIF, PICTURES
from poise.data.images import Pixels, UnreadableError, pillow
from poise.data.showing import shown_file, shown_numbers, shown_picture
from poise.errors import InputError, PoiseError

#: Longest side of an image that is sent, in pixels, and of one beside others.
IMAGE_PIXELS, THUMBNAIL_PIXELS = 1200, 160
#: Endings of file names: where all texts end like this, they are names of image files.
ENDINGS = (*PICTURES, *HEIF)
PURPOSE = "showing images in a notebook"
#: Most characters of a text that are sent.
MAX_CHARACTERS = 100_000
EXPECTED = (
    "expected a list of texts, of image files or of PIL images, an array of uint8 images of shape "
    "(n, height, width) or (n, height, width, 3), or a function of the item's number"
)


@dataclass(frozen=True)
class Content:
    """What a browser shows of an item: a text, or the bytes of an image with their media type."""

    text: str = ""
    media: str = ""
    data: bytes = b""


class Items:
    """The items that a learner or a graph is about, in the order of the nodes.

    Parameters
    ----------
    items : see `EXPECTED`
        A function gets the number of an item and returns a text, an image file's path, an array
        or a PIL image.
    n_nodes : int
    """

    def __init__(self, items: Any, n_nodes: int) -> None:
        self._of = _reader(items, n_nodes)

    def content(self, node: int, small: bool = False) -> Content:
        """What is shown of an item.

        Raises
        ------
        PoiseError
            If it cannot be shown; the message says why.
        """
        pixels = THUMBNAIL_PIXELS if small else IMAGE_PIXELS
        try:
            return _content(self._of(node), pixels)
        except PoiseError:
            raise
        except Exception as error:  # of a caller's function, or of reading a file
            raise InputError(f"item {node} cannot be shown: {error}") from error


def _reader(items: Any, n_nodes: int) -> Callable[[int], Any]:
    """The function that returns an item by its number."""
    if callable(items):
        return items  # type: ignore[no-any-return]
    if isinstance(items, np.ndarray) and items.ndim > 1:
        _check_images(items)
    elif isinstance(items, str | bytes | dict | set) or not hasattr(items, "__len__"):
        raise InputError(f"the items come as {type(items).__name__}: {EXPECTED}")
    else:
        items = _listed(items.tolist() if isinstance(items, np.ndarray) else list(items))
    if len(items) != n_nodes:
        raise InputError(
            f"there are {len(items):,} items and {n_nodes:,} nodes: give one item per node, in "
            "the same order"
        )
    return lambda node: items[node]


def _check_images(images: Pixels) -> None:
    if not (images.ndim in (3, 4) and _is_pixels(images[0] if len(images) else images)):
        raise InputError(
            f"the items are an array of {images.dtype} of shape {images.shape}: {EXPECTED}"
        )
    pillow(PURPOSE)


def _listed(items: list[Any]) -> list[Any]:
    """Items of a list, once all of them are known to be some; names of image files as paths."""
    if items and all(isinstance(item, str) and item.lower().endswith(ENDINGS) for item in items):
        items = [Path(item) for item in items]
    if not all(isinstance(item, str) for item in items):
        pillow(PURPOSE)
    for number, item in enumerate(items):
        if not (isinstance(item, str | PathLike) or _is_picture(item) or _is_pixels(item)):
            raise InputError(f"item {number} is of type {type(item).__name__}: {EXPECTED}")
    return items


def _is_picture(item: Any) -> bool:
    """Whether this is a PIL image."""
    return hasattr(item, "convert") and hasattr(item, "getbands")


def _is_pixels(item: Any) -> bool:
    """Whether these are the pixels of one image, grey or in colour."""
    if not isinstance(item, np.ndarray) or item.dtype != np.uint8 or not item.size:
        return False
    return item.ndim == 2 or (item.ndim == 3 and item.shape[2] == 3)


def _content(item: Any, pixels: int) -> Content:
    """A text, or an image of at most so many pixels a side."""
    if isinstance(item, str):
        return Content(text=item[:MAX_CHARACTERS])
    if isinstance(item, PathLike):
        return _of_file(Path(item), pixels)
    if _is_picture(item):
        return Content("", *shown_picture(item, pixels))
    if _is_pixels(item):
        return Content("", *shown_numbers(item, pixels))
    raise InputError(f"it is of type {type(item).__name__}: {EXPECTED}")


def _of_file(path: Path, pixels: int) -> Content:
    try:
        return Content("", *shown_file(path.read_bytes(), pixels))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnreadableError as error:
        raise InputError(f"{path} cannot be shown: {error}") from None
