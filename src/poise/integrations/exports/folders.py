"""A folder for each class, with copies of its items or links to them; or the list of moves."""

from collections.abc import Sequence
from pathlib import Path

from poise.errors import InputError
from poise.files import write_bytes
from poise.integrations.exports.media import content_of, file_names, file_of, refuse_vectors
from poise.integrations.exports.names import distinct_names
from poise.studio.borrowing import Borrowed
from poise.studio.exchange import FIELDS, Row, written

#: Ways to fill the folders.
COPY, LINK, LIST = WAYS = ("copy", "link", "list")
#: In the folder: a row for each item, with the folder of its class and its file there.
LIST_FILE = "items.csv"
LIST_FIELDS = (*FIELDS, "folder", "file")
#: Columns of the list of moves.
MOVE_FIELDS = (*FIELDS, "from", "to")


def write_folders(project: Borrowed, rows: Sequence[Row], folder: Path, how: str) -> None:
    """Fill a folder with a folder for each class; `how` is `COPY` or `LINK`.

    A class's name becomes a name that every system accepts. The list in `LIST_FILE` has the names
    as they are, ids, authors and times.
    """
    catalogue = project.catalogue
    refuse_vectors(catalogue, "folders hold files", "--how list")
    if how == LINK and not catalogue.files:
        raise InputError(f"the items of {catalogue.name} are no files to link to: use --how copy")
    placed = _placed(project, rows)
    for name in {place for place, _ in placed}:
        (folder / name).mkdir()
    for row, (place, name) in zip(rows, placed, strict=True):
        node = catalogue.nodes[row.id]
        original = file_of(catalogue, node)
        if how == LINK and original is not None:
            (folder / place / name).symlink_to(original)
        else:
            write_bytes(folder / place / name, content_of(catalogue, node), durably=False)
    listed = [(*row, *place) for row, place in zip(rows, placed, strict=True)]
    write_bytes(folder / LIST_FILE, written(listed, "csv", LIST_FIELDS))


def move_list(project: Borrowed, rows: Sequence[Row]) -> bytes:
    """The content of a CSV file that says which file would go where."""
    catalogue = project.catalogue
    moves = []
    for row, place in zip(rows, _placed(project, rows), strict=True):
        original = file_of(catalogue, catalogue.nodes[row.id])
        moves.append((*row, row.source if original is None else str(original), "/".join(place)))
    return written(moves, "csv", MOVE_FIELDS)


def _placed(project: Borrowed, rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Folder and file of each row. No two files have one name, even in different folders."""
    catalogue = project.catalogue
    classes = list(dict.fromkeys(row.label for row in rows))
    folders = dict(zip(classes, distinct_names(classes), strict=True))
    names = file_names(catalogue, [catalogue.nodes[row.id] for row in rows])
    return [(folders[row.label], name) for row, name in zip(rows, names, strict=True)]
