"""What to label, and how it is read and compared: the arguments of ``poise label``."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from poise import embeddings
from poise.data.datasets import datasets
from poise.data.embeddings.items import Items
from poise.data.image_files import find_images
from poise.data.image_reading import Encode, Seen
from poise.data.item_tables import ItemTable
from poise.data.tables import TABLES
from poise.errors import InputError
from poise.progress import Progress
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.comparing import GIVEN, Compared, comparison
from poise.studio.source.names import source_name
from poise.studio.source.project_files import ABOUT_FILE, IMAGES_FILE, read_about
from poise.studio.source.reading import read_catalogue


@dataclass(frozen=True)
class Source:
    """What to label, and how it is read and compared. See ``poise label --help``."""

    name: str
    folder: Path | None = None
    column: str | None = None
    key: str | None = None
    label_column: str | None = None
    use_labels: bool = True
    embedding: str | None = None
    k: int | None = None
    classes: tuple[str, ...] = ()
    labels: Path | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    vectors: str | None = None
    features: Path | None = None
    feature_names: Path | None = None
    metric: str | None = None

    @property
    def project_folder(self) -> Path:
        """The project's folder; by default ``NAME.poise`` in the working directory."""
        if self.folder is not None:
            return self.folder
        return Path(f"{source_name(self.name)}.poise")

    def about(self) -> dict[str, str | int]:
        """What ``project.toml`` keeps to read the same items again, from any working directory."""
        path = Path(self.name)
        about: dict[str, str | int] = {
            "path": str(path.resolve()) if path.exists() else self.name,
            "use_labels": int(self.use_labels),
        }
        optional = {
            "column": self.column,
            "key": self.key,
            "label_column": self.label_column,
            "vectors": self.vectors,
            "feature_file": None if self.features is None else str(self.features.resolve()),
            "feature_names": None
            if self.feature_names is None
            else str(self.feature_names.resolve()),
        }
        return about | {name: value for name, value in optional.items() if value is not None}

    @classmethod
    def of_project(cls, folder: Path) -> "Source":
        """The source of an existing project."""
        about = read_about(folder)
        if "path" not in about:
            raise InputError(
                f"{folder / ABOUT_FILE} does not say what {folder} was made of: "
                "start poise label again with its source"
            )
        return cls(
            str(about["path"]),
            folder,
            about.get("column"),
            about.get("key"),
            about.get("label_column"),
            bool(about.get("use_labels", True)),
            None if about.get("embedding") == GIVEN else about.get("embedding"),
            about.get("k"),
        ).as_before()

    def as_before(self) -> "Source":
        """The same with the vectors of the existing project, unless an embedding was asked for."""
        about = read_about(self.project_folder)
        same = about.get("embedding") == GIVEN and about.get("path") == self.about()["path"]
        if not same or self.embedding or self.vectors or self.features:
            return self
        features, names = about.get("feature_file"), about.get("feature_names")
        return replace(
            self,
            vectors=about.get("vectors"),
            features=None if features is None else Path(features),
            feature_names=None if names is None else Path(names),
        )

    def check(self) -> None:
        """Refuse what can be seen to be wrong before the page opens."""
        path = Path(self.name)
        if not path.exists() and self.name not in datasets and not self.name.startswith("-"):
            known = ", ".join(sorted(datasets))
            if path.suffix or "/" in self.name or "-mod" not in self.name:
                raise InputError(
                    f"there is no {self.name}: give a folder of images, a .csv, .tsv, .jsonl, "
                    f".parquet, .npy or .npz file, or a data set's name ({known})"
                )
        if self.embedding is not None:
            embeddings.factory(self.embedding)  # an unknown name opens no page
        if self.vectors and self.features:
            raise InputError("--vectors and --features both give vectors: leave one out")
        if self.embedding and (self.vectors or self.features):
            raise InputError("--embed computes vectors, and others were given: leave one out")
        if self.feature_names and not self.features:
            raise InputError("--feature-names names the rows of --features X.npy: add that option")
        for file in (self.features, self.feature_names):
            if file is not None and not file.is_file():
                raise InputError(f"there is no file {file}: give the vectors' file again")
        if self.labels is not None and not self.labels.exists():
            raise InputError(f"there is no file {self.labels} to import labels from")

    def read(
        self, progress: Progress, seen: Seen, names: Sequence[str] | None, encode: Encode | None
    ) -> Catalogue:
        """The items; the parameters are those of `read_catalogue`."""
        return read_catalogue(
            self.name,
            column=self.column,
            key=self.key,
            label_column=self.label_column,
            use_labels=self.use_labels,
            vectors=self.vectors,
            features=self.features,
            feature_names=self.feature_names,
            remembered=self.project_folder / IMAGES_FILE,
            progress=progress,
            seen=seen,
            names=names,
            encode=encode,
        )

    def comparison(self, items: Items, own_vectors: bool = False) -> Compared:
        """How its items are compared; see `poise.studio.source.comparing.comparison`."""
        return comparison(
            items,
            read_about(self.project_folder),
            embedding=self.embedding,
            k=self.k,
            metric=self.metric,
            own_vectors=own_vectors,
        )

    def images(self) -> tuple[Path, list[str]]:
        """Folder and names of its image files, if items are compared by what poise makes of them.

        No names where it is no folder and no table whose rows each name an image of their own.
        """
        if self.features is not None or self.vectors is not None:
            return Path(), []
        path = Path(self.name)
        if path.is_dir():
            return path.resolve(), find_images(path.resolve())[0]
        if path.is_file() and path.suffix.lower() in TABLES:
            table = ItemTable(path, self.column, self.key, self.label_column, self.use_labels)
            return path.resolve().parent, table.image_names()
        return path, []
