"""The items of a project: what they are called, what they look like, what is known of them."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data.embeddings.items import Images, Items
from poise.data.ids import content_id
from poise.data.image_cache import File
from poise.data.image_files import load_below
from poise.data.images import Pixels, UnreadableError
from poise.data.showing import shown_file, shown_numbers
from poise.errors import InputError
from poise.studio.source.names import left_out, none_usable

#: Longest side of an image as it is shown, in pixels.
SHOWN_SIDE = 1200
#: Changes when the same item is shown otherwise.
SHOWN_FORMAT = "1"


class GoneError(InputError):
    """A file that was there when the project was opened cannot be shown any more."""


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Items in the order of their source.

    Attributes
    ----------
    name : name of the source
    kind : "image", "text" or "vector"
    ids : (n,) stable and distinct, by content or by the key column
    items : what is embedded
    known : id -> class that the source itself gives
    sources : (n,) where each item comes from: a file's path, a row's number or a key
    unreadable : what was left out, each a path or a row, and why
    pixels : (n, 64, 64) small grey copies of image files, unless an encoder read them; else None
    source, column : where all items come from, as far as it is known
    root : the folder that image files may lie in
    files : (n,) image files as they were when they were read, or none
    hashes : (n,) hashes of the contents, where ids are keys; or none
    rows : (n,) position of each item in the source, counting what was left out
    total : number of items in the source, counting what was left out
    vectors : (n, d) the user's own vectors to compare the items by, else None
    """

    name: str
    kind: str
    ids: Sequence[str]
    items: Items
    known: dict[str, str] = field(default_factory=dict)
    sources: Sequence[str] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    pixels: Pixels | None = None
    source: str = ""
    column: str | None = None
    root: Path = Path()
    files: tuple[File, ...] = ()
    hashes: Sequence[str] = ()
    rows: Sequence[int] = ()
    total: int = 0
    vectors: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if not self.rows:
            object.__setattr__(self, "rows", tuple(range(len(self.ids))))
            object.__setattr__(self, "total", len(self.ids))
        if not self.sources:
            rows = tuple(f"row {number}" for number in range(1, len(self.ids) + 1))
            object.__setattr__(self, "sources", rows)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def nodes(self) -> Mapping[str, int]:
        """Id -> node."""
        return {item: node for node, item in enumerate(self.ids)}

    @property
    def contents(self) -> Sequence[str]:
        """(n,) hash of each item's content; copies of an item may have a number added."""
        return self.hashes or self.ids

    def without(self, reasons: dict[int, str]) -> "Catalogue":
        """The same without some items, given as node -> why it is left out."""
        if not reasons:
            return self
        refused = [(self.sources[i], why) for i, why in sorted(reasons.items())]
        kept = [i for i in range(len(self)) if i not in reasons]
        if not kept:
            raise none_usable(f"the items of {self.source}", refused)
        return replace(self.only(kept), unreadable=self.unreadable + left_out(refused))

    def only(self, kept: Sequence[int]) -> "Catalogue":
        """Some of the items, given by their nodes, in this order."""
        kept = list(kept)
        ids = tuple(self.ids[i] for i in kept)
        items: Items
        if isinstance(self.items, Images):
            items = replace(self.items, paths=tuple(self.items.paths[i] for i in kept))
        elif isinstance(self.items, np.ndarray):
            items = self.items[kept]
        else:
            items = [self.items[i] for i in kept]
        return replace(
            self,
            ids=ids,
            items=items,
            known={item: self.known[item] for item in ids if item in self.known},
            sources=tuple(self.sources[i] for i in kept),
            pixels=None if self.pixels is None else self.pixels[kept],
            files=tuple(self.files[i] for i in kept) if self.files else (),
            hashes=tuple(self.hashes[i] for i in kept) if self.hashes else (),
            rows=tuple(self.rows[i] for i in kept),
            vectors=None if self.vectors is None else self.vectors[kept],
        )

    def content(self, node: int, size: int = SHOWN_SIDE) -> tuple[str, bytes]:
        """Media type and bytes of one item, made anew: no file is passed on as it is.

        Parameters
        ----------
        node : of the item
        size : longest side of a picture; small ones stay as they are

        Raises
        ------
        GoneError
            If a file is gone, leads elsewhere, or holds something else than before.
        """
        if self.files:
            return self._picture(node, size)
        item: Any = self.items[node]  # type: ignore[index]  # Images have files
        if self.kind == "text":
            return "text/plain; charset=utf-8", str(item).encode("utf-8", "replace")
        values = np.asarray(item)
        if self.kind == "image":
            side = math.isqrt(values.size)
            shape = (side, side) if values.ndim == 1 else values.shape
            return shown_numbers(values.reshape(shape), size)
        numbers = values.astype(np.float64).ravel()
        listed = [value if math.isfinite(value) else None for value in numbers.tolist()]
        return "application/json", json.dumps(listed).encode()

    def tag(self, node: int, size: int = SHOWN_SIDE) -> str:
        """HTTP entity tag of what `content` returns."""
        content = self.contents[node]
        text = f"{SHOWN_FORMAT} {self.kind} {size} {content}"
        return f'"{hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]}"'

    def _picture(self, node: int, size: int) -> tuple[str, bytes]:
        file = self.files[node]
        try:
            content, changed = load_below(self.root, file.name)
            touched = (len(content), changed) != (file.size, file.changed)
            if touched and content_id(content) != file.hash:
                raise UnreadableError("it holds something else now")
            return shown_file(content, size)
        except UnreadableError as error:
            raise GoneError(
                f"Could not show {self.sources[node]}: {error}. Put the file back, or start poise "
                "again to go on without it."
            ) from None
