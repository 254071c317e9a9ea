"""Small labelling projects of images, texts and numbers, for exports and imports."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from poise.errors import InputError
from poise.integrations.imports.formats import read_labels
from poise.studio.exchange import make_class, take_in
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source

#: Classes whose names are no names of folders, and the class of every item with a label.
CLASSES = ("a/b", "..", "Ärger", "=1+1")
TIME = "2026-03-0{}T10:00:00.000+00:00"


def make_images(folder: Path, n: int = 24) -> Path:
    """Pictures of four brightnesses with some noise."""
    rng = np.random.default_rng(0)
    for number in range(n):
        values = rng.integers(0, 40, (32, 32)) + 60 * (number % 4)
        path = folder / f"set {2 * number // n}" / f"image {number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(values.astype(np.uint8)).save(path)
    return folder


def make_texts(path: Path, n: int = 24) -> Path:
    """A table of texts about four things, some with quotes, line breaks and odd characters."""
    words = (
        "cats and whiskers",
        "dogs and tails",
        'ships, "sails"\nand ropes',
        "=sums, ünits \U0001f600",
    )
    rows = [f'"{words[i % 4]} number {i}"'.replace('"sails"', '""sails""') for i in range(n)]
    path.write_text("text\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def make_vectors(path: Path, n: int = 24) -> Path:
    rng = np.random.default_rng(0)
    np.save(path, rng.normal(size=(n, 3)) + 5.0 * (np.arange(n) % 4)[:, None])
    return path


def source_of(kind: str, folder: Path) -> Path:
    """The source of a project of a kind."""
    if kind == "image":
        return make_images(folder / "photos")
    return make_texts(folder / "texts.csv") if kind == "text" else make_vectors(folder / "x.npy")


def opened(source: Path, folder: Path):
    """The project of a source, for changes."""
    embedding = {".csv": "tfidf", ".npy": "raw"}.get(source.suffix, "pca")
    return Opening(Source(str(source), folder, embedding=embedding, use_labels=False)).open()


def make_project(kind: str, folder: Path, classes=CLASSES) -> Path:
    """A project with labels of two people and of nobody in particular; others have none."""
    source, made = source_of(kind, folder), folder / "made.poise"
    project = opened(source, made)
    for name in classes:
        make_class(project, name)
    for row in range(12):
        data = {"items": [project.catalogue.ids[row]], "label": classes[row % 4]}
        people = {"by": ("", "Ada", "Zoë <z@example.org>")[row % 3], "at": TIME.format(1 + row % 9)}
        project.record(Event("label", data | {"via": "import"} | people))
    project.close()
    return made


def labels_of(project) -> dict[str, tuple[str, str, str]]:
    """Item -> its class, who gave it, and when."""
    labels = project.state.labels
    return {item: (one.label, one.by, one.time) for item, one in labels.items()}


def imported(source: Path, path: Path, folder: Path, classes=CLASSES):
    """What a new project of the same items knows after an import, and how many rows counted."""
    project = opened(source, folder)
    try:
        for name in classes:
            make_class(project, name)
        counts = take_in(project, read_labels(path, source))
        return labels_of(project), counts
    finally:
        project.close()


def refused(path: Path, source: Path | None = None) -> str:
    """The words in which an import is refused; they take one line."""
    with pytest.raises(InputError) as error:
        read_labels(path, source)
    assert "\n" not in str(error.value)
    return str(error.value)
