"""Labelling projects in Python, for reading alone."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph
from poise.arrays import Floats
from poise.errors import LabelError
from poise.extras import needed
from poise.integrations.exports.media import file_of, text_of
from poise.progress import no_steps
from poise.studio.borrowing import Borrowed, borrow
from poise.studio.exchange import rows
from poise.studio.source.catalogue import Catalogue


class OpenedProject:
    """A labelling project as it was when it was opened; `open_project` makes it.

    Arrays have a row for each item, in the order of `items`. Nothing is written to the project's
    folder, and later answers do not appear: open it again to see them. Features, graph and
    predictions are loaded or computed when they are first read.
    """

    _borrowed: Borrowed
    _catalogue: Catalogue

    def __init__(self, borrowed: Borrowed) -> None:
        vars(self).update(_borrowed=borrowed, _catalogue=borrowed.catalogue)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} cannot be set: a project is opened for reading alone")

    def __len__(self) -> int:
        return len(self._catalogue)

    def __repr__(self) -> str:
        return (
            f"OpenedProject({str(self._borrowed.folder)!r}: {len(self):,} items of the kind "
            f"{self.kind}, {len(self.labels):,} labelled in {len(self.classes)} classes)"
        )

    @property
    def kind(self) -> str:
        """Kind of the items: "image", "text" or "vector"."""
        return self._catalogue.kind

    @cached_property
    def items(self) -> npt.NDArray[np.object_]:
        """(n,) ids of the items, by which labels and exported files name them."""
        return _objects(self._catalogue.ids)

    @cached_property
    def sources(self) -> npt.NDArray[np.object_]:
        """(n,) where each item comes from: the path of a file, the number of a row, or a key."""
        return _objects(self._catalogue.sources)

    @cached_property
    def contents(self) -> npt.NDArray[Any]:
        """(n,) texts or paths of image files; (n, d) numbers where items are rows of numbers."""
        catalogue = self._catalogue
        if catalogue.files:
            return _objects([file_of(catalogue, node) for node in range(len(self))])
        if catalogue.kind == "text":
            return _objects([text_of(catalogue, node) for node in range(len(self))])
        return np.asarray(catalogue.items)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of the columns of `probabilities`."""
        return self._borrowed.setup.classes

    @cached_property
    def labels(self) -> dict[str, str]:
        """``{item: class}`` of the labelled items; where people disagree, the class that counts."""
        return {
            item: labelled.label
            for item, labelled in self._borrowed.state.labels.items()
            if item in self._catalogue.nodes
        }

    @cached_property
    def answers(self) -> dict[str, dict[str, str]]:
        """``{item: {person: class}}``, who gave which label; "person" if there is only one."""
        return {
            item: {vote.by: vote.label for vote in votes.values()}
            for item, votes in self._borrowed.state.votes.items()
            if item in self._catalogue.nodes
        }

    @property
    def features(self) -> npt.NDArray[np.float32]:
        """(n, d) what items are compared by."""
        return self._borrowed.compared[0]

    @property
    def graph(self) -> Graph:
        """The graph of nearest neighbours; node i is item i."""
        return self._borrowed.compared[1]

    @cached_property
    def predictions(self) -> npt.NDArray[np.object_]:
        """(n,) the class of each item: its label, or the predicted class."""
        found = self._borrowed.predictions
        if found is None:
            raise LabelError("nothing is labelled in this project yet: there are no predictions")
        predicted = _objects(found.classes)[found.codes]
        for item, label in self.labels.items():
            predicted[self._catalogue.nodes[item]] = label
        return predicted

    @cached_property
    def probabilities(self) -> Floats:
        """(n, C) calibrated probabilities of the classes; those of a labelled item are 0 and 1.

        With few labels they are rough guesses: `to_dataframe` and exports leave the confidence out
        until there is evidence for it.
        """
        if not self.labels:
            raise LabelError("nothing is labelled in this project yet: there are no probabilities")
        return self._borrowed.learner.probabilities

    def to_dataframe(self, *, predictions: bool = True) -> Any:
        """A pandas DataFrame with a row for each item, and the columns of ``poise export``.

        Parameters
        ----------
        predictions : bool
            Whether unlabelled items get the predicted class; otherwise they have none.

        Returns
        -------
        pandas.DataFrame
            With the columns id, source, label, by, confidence and time. Needs the extra
            ``dataframe``.
        """
        pandas: Any = needed("pandas", "dataframe", "to_dataframe")
        found = rows(self._borrowed, self._borrowed.predictions if predictions else None)
        known = {row.id: row for row in found}
        frame = pandas.DataFrame({"id": self.items, "source": self.sources})
        for name in ("label", "by", "confidence", "time"):
            frame[name] = [getattr(known.get(item), name, None) for item in self.items]
        frame["confidence"] = frame["confidence"].astype(float)
        frame["time"] = pandas.to_datetime(
            frame["time"], utc=True, errors="coerce", format="ISO8601"
        )
        return frame


def open_project(path: str | Path) -> OpenedProject:
    """Open a labelling project for reading.

    Its folder is not written to: it may be read-only, or belong to a running ``poise label``.

    Parameters
    ----------
    path : str or Path
        The folder that ``poise label`` makes, ``NAME.poise``. Its source (the folder of images, the
        table) must be where it was.

    Returns
    -------
    OpenedProject

    Examples
    --------
    After ``poise label points.npy``, for 24 points of which two have a label:

    >>> import poise
    >>> project = poise.open_project("points.poise")
    >>> sorted(project.labels.values())
    ['left', 'right']
    >>> project.predictions[:3].tolist()
    ['left', 'left', 'left']
    >>> project.probabilities.shape
    (24, 2)
    """
    return OpenedProject(borrow(Path(path), no_steps))


def _objects(values: Any) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
