"""Items from the rows of a table: texts, or images that they name."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from poise.data.columns import addresses_refused, is_address
from poise.data.embeddings.items import Images, Items
from poise.data.ids import distinct_ids, text_id
from poise.data.image_files import located
from poise.data.images import UnreadableError
from poise.data.item_tables import ItemTable
from poise.data.text import clean, plain
from poise.errors import InputError
from poise.progress import paced
from poise.studio.log.events import MAX_CHARACTERS
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.folder_items import ImageReader
from poise.studio.source.names import class_name, left_out, none_usable, source_name


def table_catalogue(
    table: ItemTable, reader: ImageReader, wanted: Sequence[str] | None
) -> Catalogue:
    """The rows of a table that hold something, or the `wanted` of the images that they name."""
    if table.shows_images:
        return _images(table, reader, wanted)
    advance = paced(reader.progress, len(table.contents))
    rows, hashes, refused = [], [], []
    for row, text in enumerate(table.contents):
        if isinstance(text, str) and text.strip():
            rows.append(row)
            hashes.append(text_id(text))
        else:
            refused.append((f"row {row + 1}", "it holds no text"))
        advance(row + 1)
    if not rows:
        raise none_usable(f"the rows of {table.path}, column {table.column!r},", refused)
    sources = [f"row {row + 1}" for row in rows]
    texts = [table.contents[row] for row in rows]
    return _made(table, "text", texts, rows, sources, hashes, distinct_ids(hashes), refused)


def _images(table: ItemTable, reader: ImageReader, wanted: Sequence[str] | None) -> Catalogue:
    root = table.path.resolve().parent
    refused: list[tuple[str, str]] = []
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(table.contents):
        name = value.strip() if isinstance(value, str) else ""
        if name:
            rows.setdefault(name, []).append(row)
        else:
            refused.append((f"row {row + 1}", "it names no file"))
    addresses = [name for name in rows if is_address(name)]
    if addresses and len(addresses) == len(rows):
        raise addresses_refused(table.path, table.column, addresses[0])
    names = []
    for name in rows if wanted is None else wanted:
        try:
            if is_address(name):
                raise UnreadableError("it is a web address, and poise downloads no images")
            located(root, name)
            names.append(name)
        except UnreadableError as error:
            refused.append((name, str(error)))
    read, pixels, damaged = reader.read(root, names)
    refused += damaged
    if not read:
        what = f"the images in column {table.column!r} of {table.path}, relative to its folder,"
        raise none_usable(what, refused)
    # A file in several rows is several items: the first row has the file's own id.
    pairs = [(row, i) for i, file in enumerate(read) for row in rows[file.name]]
    if wanted is None:
        pairs.sort()
    order = [i for _, i in pairs]
    files = tuple(read[i] for i in order)
    hashes = [file.hash for file in files]
    catalogue = _made(
        table,
        "image",
        Images(tuple(root / file.name for file in files)),
        [row for row, _ in pairs],
        [clean(file.name) for file in files],
        hashes,
        distinct_ids(hashes, [file.id for file in files]),
        refused,
    )
    if pixels is not None and order != list(range(len(read))):
        pixels = pixels[order]
    return replace(catalogue, pixels=pixels, root=root, files=files)


def _made(
    table: ItemTable,
    kind: str,
    items: Items,
    rows: Sequence[int],
    sources: Sequence[str],
    hashes: Sequence[str],
    ids: tuple[str, ...],
    refused: Iterable[tuple[str, str]],
) -> Catalogue:
    """The catalogue of some rows."""
    keys = _keys(table, rows)
    known = {}
    if table.labels is not None:
        for item, row in zip(keys or ids, rows, strict=True):
            label = class_name(plain(table.labels[row]))
            if label:
                known[item] = label
    return Catalogue(
        source_name(str(table.path)),
        kind,
        keys or ids,
        items,
        known,
        keys or tuple(sources),
        left_out(refused),
        source=clean(str(table.path.resolve())),
        column=table.column,
        hashes=tuple(hashes) if keys else (),
        rows=tuple(rows),
        total=len(table.contents),
    )


def _keys(table: ItemTable, rows: Sequence[int]) -> tuple[str, ...] | None:
    """The items' own ids: each exists, is fit to be an id, and occurs once."""
    if table.keys is None:
        return None
    row_of: dict[str, int] = {}
    for row in rows:
        key = plain(table.keys[row])
        if not key.strip() or not key.isprintable() or len(key) > MAX_CHARACTERS:
            raise InputError(
                f"row {row + 1} of {table.path} has {key[:60]!r} in the column {table.key!r}: a "
                f"key is text of 1 to {MAX_CHARACTERS} printable characters"
            )
        if key in row_of:
            raise InputError(
                f"rows {row_of[key] + 1} and {row + 1} of {table.path} have the same key "
                f"{key!r}: give a column whose values differ, or no key"
            )
        row_of[key] = row
    return tuple(row_of)
