"""A table of items, read once: what its rows show, and their keys, labels and vectors."""

from collections.abc import Sequence
from pathlib import Path

from poise.data.columns import (
    content_columns,
    contents,
    is_address,
    label_column,
    name_images,
    no_column,
)
from poise.data.tables import read_columns
from poise.data.vectors import Vectors, parse_vector, read_parquet_vectors, stack
from poise.errors import InputError


class ItemTable:
    """The columns of a table that poise uses.

    Parameters
    ----------
    path : of a .csv, .tsv, .jsonl or .parquet file
    column : what the items are; several columns of texts, with commas between them, are joined.
        None: the only column, or one with a common name such as "text"
    key : the items' ids, if they have some
    label_column : their classes; None: a column called "label" or "class", if there is one
    use_labels : whether to read the classes at all
    vectors : vectors to compare the items by, if there are some

    Attributes
    ----------
    column : the name of what the items are
    shows_images : whether `contents` are paths of images, else they are texts
    contents : what each row shows, None where it has nothing
    keys, labels, vectors : of each row, or None
    """

    def __init__(
        self,
        path: Path,
        column: str | None = None,
        key: str | None = None,
        label_column: str | None = None,
        use_labels: bool = True,
        vectors: str | None = None,
    ) -> None:
        self.path, self.key = path, key
        self._column, self._vectors = column, vectors
        self._label, self._use_labels = label_column, use_labels
        self._content: list[str] = []
        # Arrow gives a column as an array; in other files each field is parsed as it is read.
        self._is_arrow = path.suffix.lower() == ".parquet"
        convert = {} if vectors is None or self._is_arrow else {vectors: parse_vector}
        columns = read_columns(path, self._choose, convert)
        self.vectors: Vectors | None = None
        if vectors is not None and self._is_arrow:
            self.vectors = read_parquet_vectors(path, vectors)
        elif vectors is not None:
            self.vectors = stack(columns[vectors], path, vectors)
        self.column = ",".join(self._content) if column is None else column
        self.contents = contents(columns, self._content)
        self.shows_images = name_images(self.contents, self._content)
        self.keys = None if key is None else columns[key]
        self.labels = None if self._label is None else columns[self._label]

    def _choose(self, names: Sequence[str]) -> list[str]:
        for wanted in (self.key, self._label, self._vectors):
            if wanted is not None and wanted not in names:
                raise no_column(self.path, wanted, names)
        if self._column is not None:
            self._content = content_columns(self.path, self._column, names)
        taken = [*self._content, self.key, self._vectors]
        if self._vectors is not None and self._vectors in (*self._content, self.key):
            raise InputError(
                f"the column {self._vectors!r} holds the vectors: show another, --column NAME"
            )
        if not self._use_labels:
            self._label = None
        elif self._label is None:
            self._label = label_column(name for name in names if name not in taken)
        if self._column is None:
            self._content = content_columns(self.path, None, names, (*taken, self._label))
            if self._content == [self._label]:
                self._label = None  # the only column
        used = [*self._content, self.key, self._label]
        if not self._is_arrow:
            used.append(self._vectors)
        return list(dict.fromkeys(name for name in used if name is not None))

    def image_names(self) -> list[str]:
        """The image files that its rows name, if each row names one of its own; else none."""
        names = [value.strip() for value in self.contents if isinstance(value, str)]
        each_its_own = self.shows_images and len(set(names)) == len(self.contents)
        return [name for name in names if name and not is_address(name)] if each_its_own else []
