"""Vectors of the user's own, joined to the items that they belong to."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from poise.data.text import clean
from poise.data.vectors import Vectors
from poise.errors import InputError
from poise.studio.source.catalogue import Catalogue

#: Names that an error lists.
LISTED_NAMES = 5


def with_vectors(catalogue: Catalogue, vectors: Vectors, names: list[str] | None) -> Catalogue:
    """The catalogue with a vector for each item; items whose vector cannot be used are left out.

    Parameters
    ----------
    names : of the image of each vector; if None, there is a vector for each row of the source
    """
    if names is not None:
        rows = _named_rows(catalogue, vectors, names)
    elif len(vectors) == catalogue.total:
        rows = np.array(catalogue.rows)
    else:
        left_out = catalogue.total - len(catalogue)
        unread = f", {left_out:,} of which cannot be used" if left_out else ""
        advice = "give the name of each row's image, --feature-names names.csv"
        raise InputError(
            f"{vectors.origin} has {len(vectors):,} rows and {catalogue.source} has "
            f"{catalogue.total:,} items{unread}: expected a row for each of them, in their order"
            + (f"; or {advice}" if catalogue.files else "")
        )
    bad = vectors.unusable()
    in_order = len(rows) == len(vectors) and bool((rows == np.arange(len(rows))).all())
    values = vectors.values if in_order else vectors.values[rows]  # without a copy if possible
    reasons = {i: bad[row] for i, row in enumerate(rows.tolist()) if row in bad} if bad else {}
    return replace(catalogue, vectors=values).without(reasons)


def _named_rows(catalogue: Catalogue, vectors: Vectors, names: list[str]) -> npt.NDArray[np.int64]:
    """The row of each image by its name."""
    if not catalogue.files:
        raise InputError("--feature-names is for a folder of images: rows of a table are in order")
    if len(names) != len(vectors):
        raise InputError(
            f"{vectors.origin} has {len(vectors):,} rows, and {len(names):,} names were given: "
            "expected one name for each row"
        )
    rows: dict[str, int] = {}
    for row, name in enumerate(_below(catalogue.root, name) for name in names):
        if name in rows:
            raise InputError(
                f"rows {rows[name] + 1} and {row + 1} of {vectors.origin} have the same name "
                f"{name}: expected each image once"
            )
        rows[name] = row
    lacking = [file.name for file in catalogue.files if file.name not in rows]
    if lacking:
        more = f" and {len(lacking) - LISTED_NAMES:,} more" if len(lacking) > LISTED_NAMES else ""
        raise InputError(
            f"{len(lacking):,} of the {len(catalogue):,} images have no row in {vectors.origin}, "
            f"which has {len(vectors):,}: {', '.join(map(clean, lacking[:LISTED_NAMES]))}{more}; "
            f"names are paths below {catalogue.source}"
        )
    return np.array([rows[file.name] for file in catalogue.files])


def _below(root: Path, name: str) -> str:
    """A path below the folder, as the folder's images are named."""
    path = Path(name)
    if path.is_absolute() and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()
