"""The items of a project: what they are called, what they look like, what is known of them."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data.datasets import load_dataset
from poise.data.embeddings.items import Images, Items, are_images
from poise.data.other_pictures import picture_endings
from poise.data.sources import TABLES, read_columns, read_items
from poise.data.tables import (
    addresses_refused,
    content_columns,
    contents,
    is_address,
    label_column,
    name_images,
    no_column,
    plain,
)
from poise.data.vectors import (
    Vectors,
    parse_vector,
    read_array,
    read_names,
    read_parquet_vectors,
    stack,
)
from poise.errors import DataError, InputError
from poise.progress import Progress, no_progress, paced
from poise.studio.log.events import LONGEST
from poise.studio.source.reading import (
    Encode,
    File,
    Memory,
    Pixels,
    Seen,
    UnreadableError,
    clean,
    content_id,
    find_images,
    load_file,
    located,
    read_images,
    shown_file,
    shown_numbers,
)

#: Longest side of an image as it is shown.
SHOWN = 1200
#: Changes when the same item is shown otherwise.
SHOWN_FORMAT = "1"
#: Shortest side of a picture that a row of numbers may be.
SIDE_OF_A_ROW = 8
#: Folders that stand for no class.
NO_CLASS = frozenset({"unlabelled", "unlabeled", "unknown", "unsorted", "todo"})
#: Names that an error lists.
LISTED = 5


class GoneError(InputError):
    """A file that was there when the project began cannot be shown any more."""


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Items in the order of their source.

    Attributes
    ----------
    name : of the source
    kind : "image", "text" or "vector"
    ids : stable, by content or by the key column: (n,) distinct
    items : what is embedded
    known : id -> class that the source itself gives
    sources : what a person knows each item by: a file's path, a row's number, a key; (n,)
    unreadable : what was left out, a path or a row, and why
    pixels : (n, 64, 64) small grey copies of image files, unless an encoder read them; else None
    source, column : where the items came from, as far as it is known
    root : the folder that image files may lie in
    files : image files as they were when they were read: (n,), or none
    hashes : of the contents, where ids are keys: (n,), or none
    rows : place of each item among all that the source holds, what was left out too: (n,)
    total : how many the source holds
    vectors : (n, d) what people gave to compare the items by, else None
    """

    name: str
    kind: str
    ids: tuple[str, ...]
    items: Items
    known: dict[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    pixels: Pixels | None = None
    source: str = ""
    column: str | None = None
    root: Path = Path()
    files: tuple[File, ...] = ()
    hashes: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
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
    def index(self) -> dict[str, int]:
        """Id -> number."""
        return {item: number for number, item in enumerate(self.ids)}

    @property
    def fingerprint(self) -> str:
        """Hash of all contents in their order."""
        return hashlib.sha256("\n".join(self.contents).encode()).hexdigest()

    @property
    def contents(self) -> tuple[str, ...]:
        """Hash of what each item holds; of copies, all but one may have a number added."""
        return self.hashes or self.ids

    def without(self, reasons: dict[int, str]) -> "Catalogue":
        """The same without some items, given as place in this catalogue -> why."""
        if not reasons:
            return self
        refused = [(self.sources[i], why) for i, why in sorted(reasons.items())]
        kept = [i for i in range(len(self)) if i not in reasons]
        if not kept:
            raise _nothing(f"the items of {self.source}", refused)
        return replace(self.only(kept), unreadable=self.unreadable + _said(refused))

    def only(self, kept: Sequence[int]) -> "Catalogue":
        """Some of the items, given by their places, in this order."""
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
            known={one: self.known[one] for one in ids if one in self.known},
            sources=tuple(self.sources[i] for i in kept),
            pixels=None if self.pixels is None else self.pixels[kept],
            files=tuple(self.files[i] for i in kept) if self.files else (),
            hashes=tuple(self.hashes[i] for i in kept) if self.hashes else (),
            rows=tuple(self.rows[i] for i in kept),
            vectors=None if self.vectors is None else self.vectors[kept],
        )

    def content(self, index: int, size: int = SHOWN) -> tuple[str, bytes]:
        """Media type and bytes of one item, made here: nothing of a file is passed on as it is.

        Parameters
        ----------
        index : its place
        size : longest side of a picture; small ones stay as they are

        Raises
        ------
        GoneError
            If a file is gone, leads elsewhere, or holds something else than before.
        """
        if self.files:
            return self._picture(index, size)
        item: Any = self.items[index]  # type: ignore[index]  # Images have files
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

    def tag(self, index: int, size: int = SHOWN) -> str:
        """What tells the content of one item from any other, as an HTTP entity tag."""
        content = (self.hashes or self.ids)[index]
        text = f"{SHOWN_FORMAT} {self.kind} {size} {content}"
        return f'"{hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]}"'

    def _picture(self, index: int, size: int) -> tuple[str, bytes]:
        file = self.files[index]
        try:
            content, changed = load_file(self.root, file.name)
            touched = (len(content), changed) != (file.size, file.changed)
            if touched and content_id(content) != file.hash:
                raise UnreadableError("it holds something else now")
            return shown_file(content, size)
        except UnreadableError as error:
            raise GoneError(
                f"Could not show {self.sources[index]}: {error}. Put the file back, or start poise "
                "again to go on without it."
            ) from None


def source_name(source: str) -> str:
    """What a source is called: the last part of its path, or the data set's name."""
    path = Path(source)
    return clean(path.resolve().name if path.exists() else source) or "items"


def read_catalogue(
    source: str,
    *,
    column: str | None = None,
    key: str | None = None,
    label_column: str | None = None,
    use_labels: bool = True,
    vectors: str | None = None,
    features: Path | None = None,
    feature_names: Path | None = None,
    remembered: Path | None = None,
    progress: Progress = no_progress,
    seen: Seen = lambda content: None,
    names: Sequence[str] | None = None,
    encode: Encode | None = None,
) -> Catalogue:
    """The items of a source.

    Parameters
    ----------
    source : str
        A folder of images; a .csv, .tsv, .jsonl or .parquet file with a column of texts or of
        paths of images; a .npy file, or a .npz file with an array `X`; a data set's name.
    column, key, label_column : str, optional
        Columns of a table: what is to be labelled (a common name is found by itself), the items'
        stable ids (their contents are by default), their classes ("label" or "class" by default).
        Several columns of texts, with commas between them, are joined.
    use_labels : bool
        Whether folders of images and columns of labels are existing labels.
    vectors : str, optional
        Column of a table with vectors to compare the items by.
    features : Path, optional
        A .npy or .npz file with such vectors: a row for each row of the source, or for each image
        of the folder in the order of their paths.
    feature_names : Path, optional
        A .csv file whose first column names the image of each row of `features`.
    remembered : Path, optional
        File in which to keep what is known of image files, so that each is read once.
    progress : callable
        Called with (done, total) now and then.
    seen : callable
        Called with the bytes of every image file that is read, by any thread.
    names : sequence of str, optional
        Images of a folder or a table, if not all of them are wanted; the items are in this order.
    encode : callable, optional
        Embeds image files as they are read, so that each is decoded once; it makes no grey copies.

    Raises
    ------
    InputError
        If there is no such source, or nothing in it can be used. One bad item is left out.
    DataError
        If a table or an array is damaged, or holds nothing.
    """
    given = None if features is None else read_array(features)
    rows = None if feature_names is None else read_names(feature_names)
    path = Path(source)
    if path.is_file() and path.suffix.lower() in TABLES:
        table = _Table(path, column, key, label_column, use_labels, vectors)
        found = table.catalogue(remembered, progress, seen, names, encode)
        return _with_vectors(found, given or table.vectors, rows)
    missing = bool(path.suffix) and not path.exists()  # that is wrong, rather than its columns
    for name in (column, key, label_column, vectors):
        if name is not None and not missing:
            raise InputError(f"{source} is no table, so it has no column {name!r}: leave it out")
    if path.is_dir():
        found = _folder(path, use_labels, remembered, progress, seen, names, encode)
    elif missing or path.exists():
        X = np.asarray(read_items(source))
        found = _array(source_name(source), str(path.resolve()), X, progress)
    else:
        data = load_dataset(source, progress=progress)
        if data.texts is not None:
            hashes = [content_id(text.encode("utf-8", "surrogatepass")) for text in data.texts]
            found = Catalogue(source, "text", _distinct(hashes), list(data.texts), source=source)
            return _with_vectors(found, given, rows)
        shape = data.shape if data.shape and math.prod(data.shape) == data.X[0].size else ()
        X = data.X.reshape(len(data.X), *(shape or (-1,)))
        found = _array(source, source, X, progress)
    return _with_vectors(found, given, rows)


def image_names(
    source: str,
    *,
    column: str | None = None,
    key: str | None = None,
    label_column: str | None = None,
    use_labels: bool = True,
) -> tuple[Path, list[str]]:
    """The folder and the names of the image files that a source holds, without reading them.

    None for what is no folder, nor a table whose rows each name an image of their own.
    """
    path = Path(source)
    if path.is_dir():
        return path.resolve(), find_images(path.resolve())[0]
    if path.is_file() and path.suffix.lower() in TABLES:
        return path.resolve().parent, _Table(path, column, key, label_column, use_labels).images()
    return path, []


# Vectors of people's own --------------------------------------------------------------------------


def _with_vectors(found: Catalogue, given: Vectors | None, names: list[str] | None) -> Catalogue:
    """The catalogue with the vectors that were given, but for items whose vector is of no use."""
    if given is None:
        return found
    if names is not None:
        rows = _named_rows(found, given, names)
    elif len(given) == found.total:
        rows = np.array(found.rows)
    else:
        left_out = found.total - len(found)
        unread = f", {left_out:,} of which cannot be used" if left_out else ""
        advice = "give the name of each row's image, --feature-names names.csv"
        raise InputError(
            f"{given.origin} has {len(given):,} rows and {found.source} has {found.total:,} items"
            f"{unread}: expected a row for each of them, in their order"
            + (f"; or {advice}" if found.files else "")
        )
    bad = given.unusable()
    in_order = len(rows) == len(given) and bool((rows == np.arange(len(rows))).all())
    values = given.values if in_order else given.values[rows]  # as it lies in the file, if it can
    reasons = {i: bad[row] for i, row in enumerate(rows.tolist()) if row in bad} if bad else {}
    return replace(found, vectors=values).without(reasons)


def _named_rows(found: Catalogue, given: Vectors, names: list[str]) -> npt.NDArray[np.int64]:
    """The row of each image by its name."""
    if not found.files:
        raise InputError("--feature-names is for a folder of images: rows of a table are in order")
    if len(names) != len(given):
        raise InputError(
            f"{given.origin} has {len(given):,} rows, and {len(names):,} names were given: "
            "expected one name for each row"
        )
    rows: dict[str, int] = {}
    for row, name in enumerate(_below(found.root, name) for name in names):
        if name in rows:
            raise InputError(
                f"rows {rows[name] + 1} and {row + 1} of {given.origin} have the same name {name}: "
                "expected each image once"
            )
        rows[name] = row
    lacking = [file.name for file in found.files if file.name not in rows]
    if lacking:
        more = f" and {len(lacking) - LISTED:,} more" if len(lacking) > LISTED else ""
        raise InputError(
            f"{len(lacking):,} of the {len(found):,} images have no row in {given.origin}, which "
            f"has {len(given):,}: {', '.join(map(clean, lacking[:LISTED]))}{more}; names are paths "
            f"below {found.source}"
        )
    return np.array([rows[file.name] for file in found.files])


def _below(root: Path, name: str) -> str:
    """A path below the folder, as the folder's images are named."""
    path = Path(name)
    if path.is_absolute() and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()


# Folders ------------------------------------------------------------------------------------------


def _folder(
    path: Path,
    use_labels: bool,
    remembered: Path | None,
    progress: Progress,
    seen: Seen,
    some: Sequence[str] | None = None,
    encode: Encode | None = None,
) -> Catalogue:
    root = path.resolve()
    names, refused = find_images(root) if some is None else (list(some), [])
    if not names and not refused:
        endings = ", ".join(picture_endings())
        raise DataError(f"{path} holds no images: expected files that end in {endings}")
    files, pixels, damaged = _read_once(root, names, remembered, progress, seen, encode)
    unreadable = _said(refused + damaged)
    if not files:
        raise _nothing(f"the images in {path}", unreadable)
    places = {name: place for place, name in enumerate(names)}
    known = {}
    for file in files:
        folder, below, _ = file.name.partition("/")
        if use_labels and below and folder.lower() not in NO_CLASS:
            known[file.id] = _class_name(folder)
    if len(known) == len(files) and len(set(known.values())) == 1:
        known = {}  # all in one folder: that tells nothing apart
    return Catalogue(
        source_name(str(path)),
        "image",
        tuple(file.id for file in files),
        Images(tuple(root / file.name for file in files)),
        known,
        tuple(clean(file.name) for file in files),
        unreadable,
        pixels,
        clean(str(root)),
        root=root,
        files=tuple(files),
        rows=tuple(places[file.name] for file in files),
        total=len(names),
    )


def _read_once(
    root: Path,
    names: Sequence[str],
    remembered: Path | None,
    progress: Progress,
    seen: Seen,
    encode: Encode | None,
) -> tuple[list[File], Pixels | None, list[tuple[str, str]]]:
    """Image files with their ids, from what is remembered where they did not change."""
    memory = Memory.recall(remembered)
    files, pixels, refused = read_images(root, names, memory, progress, seen, encode)
    ids = _distinct([file.hash for file in files], [file.id for file in files])
    files = [replace(file, id=one) for file, one in zip(files, ids, strict=True)]
    if remembered is not None:
        memory.keep(remembered, files, pixels)
    return files, pixels, refused


# Tables -------------------------------------------------------------------------------------------


class _Table:
    """A table, read once, and which of its columns is what."""

    def __init__(
        self,
        path: Path,
        column: str | None,
        key: str | None,
        label: str | None,
        use_labels: bool,
        vectors: str | None = None,
    ) -> None:
        self.path, self.column, self.key = path, column, key
        self.label, self.use_labels = label, use_labels
        self.vector_column = vectors
        self.joined: list[str] = []
        # Arrow gives a column as an array; of the other files each field is parsed as it is read.
        self.arrow = path.suffix.lower() == ".parquet"
        convert = {} if vectors is None or self.arrow else {vectors: parse_vector}
        columns = read_columns(path, self._chosen, convert)
        self.vectors: Vectors | None = None
        if vectors is not None and self.arrow:
            self.vectors = read_parquet_vectors(path, vectors)
        elif vectors is not None:
            self.vectors = stack(columns[vectors], path, vectors)
        self.contents = contents(columns, self.joined)
        self.keys = None if self.key is None else columns[self.key]
        self.labels = None if self.label is None else columns[self.label]

    def _chosen(self, names: Sequence[str]) -> list[str]:
        for given in (self.key, self.label, self.vector_column):
            if given is not None and given not in names:
                raise no_column(self.path, given, names)
        if self.column is not None:
            self.joined = content_columns(self.path, self.column, names)
        taken = [*self.joined, self.key, self.vector_column]
        if self.vector_column is not None and self.vector_column in (*self.joined, self.key):
            raise InputError(
                f"the column {self.vector_column!r} holds the vectors: show another, --column NAME"
            )
        if not self.use_labels:
            self.label = None
        elif self.label is None:
            self.label = label_column(name for name in names if name not in taken)
        if self.column is None:
            self.joined = content_columns(self.path, None, names, (*taken, self.label))
            (self.column,) = self.joined
            if self.column == self.label:
                self.label = None  # the only one
        wanted = [*self.joined, self.key, self.label]
        if not self.arrow:
            wanted.append(self.vector_column)
        return list(dict.fromkeys(name for name in wanted if name is not None))

    def images(self) -> list[str]:
        """The image files that its rows name, if each row names one of its own; else none."""
        names = [value.strip() for value in self.contents if isinstance(value, str)]
        own = name_images(self.contents, self.joined) and len(set(names)) == len(self.contents)
        return [name for name in names if name and not is_address(name)] if own else []

    def catalogue(
        self,
        remembered: Path | None,
        progress: Progress,
        seen: Seen,
        some: Sequence[str] | None,
        encode: Encode | None,
    ) -> Catalogue:
        """Its rows as items, but for those that hold nothing; or `some` of the images they name."""
        if name_images(self.contents, self.joined):
            return self._of_images(remembered, progress, seen, some, encode)
        advance = paced(progress, len(self.contents))
        rows, hashes, refused = [], [], []
        for row, text in enumerate(self.contents):
            if isinstance(text, str) and text.strip():
                rows.append(row)
                hashes.append(content_id(text.encode("utf-8", "surrogatepass")))
            else:
                refused.append((f"row {row + 1}", "it holds no text"))
            advance(row + 1)
        if not rows:
            raise _nothing(f"the rows of {self.path}, column {self.column!r},", refused)
        sources = [f"row {row + 1}" for row in rows]
        texts = [self.contents[row] for row in rows]
        return self._made("text", texts, rows, sources, hashes, _distinct(hashes), refused)

    def _of_images(
        self,
        remembered: Path | None,
        progress: Progress,
        seen: Seen,
        some: Sequence[str] | None,
        encode: Encode | None,
    ) -> Catalogue:
        root = self.path.resolve().parent
        refused: list[tuple[str, str]] = []
        rows: dict[str, list[int]] = {}
        for row, value in enumerate(self.contents):
            name = value.strip() if isinstance(value, str) else ""
            if name:
                rows.setdefault(name, []).append(row)
            else:
                refused.append((f"row {row + 1}", "it names no file"))
        addresses = [name for name in rows if is_address(name)]
        if addresses and len(addresses) == len(rows):
            raise addresses_refused(self.path, str(self.column), addresses[0])
        there = []
        for name in rows if some is None else some:
            try:
                if is_address(name):
                    raise UnreadableError("it is an address, and nothing is fetched")
                located(root, name)
                there.append(name)
            except UnreadableError as error:
                refused.append((name, str(error)))
        read, pixels, damaged = _read_once(root, there, remembered, progress, seen, encode)
        refused += damaged
        if not read:
            folder = "relative to its folder"
            raise _nothing(
                f"the images in column {self.column!r} of {self.path}, {folder},", refused
            )
        places = [(row, i) for i, file in enumerate(read) for row in rows[file.name]]
        if some is None:
            places.sort()
        order = [i for _, i in places]
        files = tuple(read[i] for i in order)
        hashes = [file.hash for file in files]
        made = self._made(
            "image",
            Images(tuple(root / file.name for file in files)),
            [row for row, _ in places],
            [clean(file.name) for file in files],
            hashes,
            # A file in several rows is several items: the first row has the file's own id.
            _distinct(hashes, [file.id for file in files]),
            refused,
        )
        if pixels is not None and order != list(range(len(read))):
            pixels = pixels[order]
        return replace(made, pixels=pixels, root=root, files=files)

    def _made(
        self,
        kind: str,
        items: Items,
        rows: Sequence[int],
        sources: Sequence[str],
        hashes: Sequence[str],
        ids: tuple[str, ...],
        refused: Iterable[tuple[str, str]],
    ) -> Catalogue:
        """The catalogue of some rows."""
        keys = self._keys(rows)
        known = {}
        if self.labels is not None:
            for one, row in zip(keys or ids, rows, strict=True):
                label = _class_name(plain(self.labels[row]))
                if label:
                    known[one] = label
        return Catalogue(
            source_name(str(self.path)),
            kind,
            keys or ids,
            items,
            known,
            keys or tuple(sources),
            _said(refused),
            source=clean(str(self.path.resolve())),
            column=self.column,
            hashes=tuple(hashes) if keys else (),
            rows=tuple(rows),
            total=len(self.contents),
        )

    def _keys(self, rows: Sequence[int]) -> tuple[str, ...] | None:
        """The items' own ids: each is there, fit to be one, and there once."""
        if self.keys is None:
            return None
        seen: dict[str, int] = {}
        for row in rows:
            one = plain(self.keys[row])
            if not one.strip() or not one.isprintable() or len(one) > LONGEST:
                raise InputError(
                    f"row {row + 1} of {self.path} has {one[:60]!r} in the column {self.key!r}: a "
                    f"key is text of 1 to {LONGEST} printable letters"
                )
            if one in seen:
                raise InputError(
                    f"rows {seen[one] + 1} and {row + 1} of {self.path} have the same key "
                    f"{one!r}: give a column whose values differ, or no key"
                )
            seen[one] = row
        return tuple(seen)


# Arrays -------------------------------------------------------------------------------------------


def _array(name: str, source: str, X: npt.NDArray[Any], progress: Progress) -> Catalogue:
    """Rows of numbers as items, but for those that are not finite."""
    if X.dtype.kind not in "buif":
        raise InputError(f"{source} holds {X.dtype}: expected numbers, a row per item")
    if not X.size:
        raise DataError(f"{source} has shape {X.shape}: expected a row of numbers per item")
    X = np.ascontiguousarray(X)
    sources: tuple[str, ...] = ()
    rows, total = tuple(range(len(X))), len(X)
    refused: list[tuple[str, str]] = []
    bad = _not_finite(X)
    if bad.size:
        refused = [(f"row {row + 1}", "it holds what is no finite number") for row in bad.tolist()]
        good = np.delete(np.arange(len(X)), bad)
        if not good.size:
            raise _nothing(f"the rows of {source}", refused)
        X = X[good]
        rows = tuple(good.tolist())
        sources = tuple(f"row {row + 1}" for row in rows)
    ids = _distinct(_of_rows(X, progress))
    kind = "image" if _are_pictures(X) else "vector"
    return Catalogue(
        name,
        kind,
        ids,
        X,
        {},
        sources,
        tuple(refused),
        source=clean(source),
        rows=rows,
        total=total,
    )


def _are_pictures(X: npt.NDArray[Any]) -> bool:
    """Whether rows are pictures, or look like it: a square of numbers, none of them negative."""
    if are_images(X):
        return True
    side = math.isqrt(X.shape[1])
    square = X.ndim == 2 and side >= SIDE_OF_A_ROW and side * side == X.shape[1]
    return square and bool(X[:200].min() >= 0)


def _not_finite(X: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Rows with NaN or infinity in them."""
    if X.dtype.kind != "f":
        return np.empty(0, dtype=np.int64)
    found = []
    for start in range(0, len(X), 65_536):  # a part at a time: a mask of everything is large
        part = X[start : start + 65_536].reshape(min(65_536, len(X) - start), -1)
        found.append(start + np.flatnonzero(~np.isfinite(part).all(axis=1)))
    return np.concatenate(found).astype(np.int64)


def _of_rows(X: npt.NDArray[Any], progress: Progress) -> list[str]:
    n, width = len(X), X.nbytes // len(X)
    content = X.reshape(-1).view(np.uint8).data
    advance = paced(progress, n)
    found: list[str] = []
    for start in range(0, n, 10_000):
        stop = min(start + 10_000, n)
        found += [content_id(content[i * width : (i + 1) * width]) for i in range(start, stop)]
        advance(stop)
    return found


# Names --------------------------------------------------------------------------------------------


def _distinct(hashes: Sequence[str], before: Sequence[str] | None = None) -> tuple[str, ...]:
    """Ids of items by their contents; copies are told apart by a number.

    A copy keeps the id that it had `before`, so nothing shifts when another copy goes or comes.
    The others take the lowest numbers that are free, in their order; a copy that was renamed finds
    its own again. Where no run before is remembered (rows of a table or an array), a copy that goes
    leaves its number to the next one, which holds the very same.
    """
    if before is None:
        if len(set(hashes)) == len(hashes):
            return tuple(hashes)
        before = [""] * len(hashes)
    taken: set[str] = set()
    ids: list[str] = []
    for one, old in zip(hashes, before, strict=True):
        keeps = (old == one or old.startswith(f"{one}-")) and old not in taken
        ids.append(old if keeps else "")
        if keeps:
            taken.add(old)
    following: dict[str, int] = {}
    for i, one in enumerate(hashes):
        while not ids[i]:
            number = following[one] = following.get(one, 0) + 1
            new = one if number == 1 else f"{one}-{number}"
            if new not in taken:
                ids[i] = new
    return tuple(ids)


def _class_name(text: str) -> str:
    """A folder's name or a field as the name of a class."""
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return shown.strip()[:LONGEST]


def _said(refused: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((clean(name), why) for name, why in refused)


def _nothing(what: str, refused: Sequence[tuple[str, str]]) -> InputError:
    name, why = refused[0]
    return InputError(
        f"none of {what} can be used: {len(refused):,} left out, the first being {clean(name)}: "
        f"{why}"
    )
