"""Every format of ``poise export``: which one is meant, and how it is written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from poise.errors import InputError
from poise.files import write_bytes, write_folder, write_together
from poise.integrations.exports import cleanlab, fiftyone, folders, huggingface, label_studio
from poise.studio.borrowing import Borrowed
from poise.studio.exchange import FORMATS as TABLES
from poise.studio.exchange import Row, rows, written

#: Formats that are a folder -> a file in it by which an earlier export is recognised.
FOLDERS = {
    "folders": folders.LIST_FILE,
    "huggingface": "dataset_info.json",
    "fiftyone": fiftyone.SAMPLES_FILE,
    "cleanlab": cleanlab.LABELS_FILE,
}
LABEL_STUDIO = "label-studio"
FORMATS = (*TABLES, *FOLDERS, LABEL_STUDIO)


@dataclass(frozen=True)
class Wanted:
    """What to export, and how.

    Attributes
    ----------
    path : file or folder to write
    kind : one of `FORMATS`
    labelled : whether items without a label are left out
    how : one of `folders.WAYS`, for a folder for each class
    exact : whether texts in CSV stay as they are
    overwrite : whether an earlier export may be replaced
    """

    path: Path
    kind: str
    labelled: bool = False
    how: str = folders.COPY
    exact: bool = False
    overwrite: bool = False

    @property
    def is_folder(self) -> bool:
        """Whether the export is a folder."""
        return self.kind in FOLDERS and self.how != folders.LIST

    def check(self) -> None:
        """Refuse what can be seen to be wrong before anything is read."""
        if self.how != folders.COPY and self.kind != "folders":
            raise InputError(f"--how {self.how} is for --format folders: leave it out")
        if self.kind == LABEL_STUDIO and self.path.suffix.lower() != ".json":
            raise InputError(f"{self.path} must end in .json; the configuration goes beside it")
        if self.kind not in TABLES:
            self._check_free(self.path)
        if self.kind == LABEL_STUDIO:
            self._check_free(config_path(self.path))

    def _check_free(self, path: Path) -> None:
        """Refuse to replace what no export made, or what nobody said may be replaced."""
        if not (path.exists() or path.is_symlink()):
            return
        what, sign = "folder" if self.is_folder else "file", FOLDERS.get(self.kind, "")
        if path.is_symlink() or path.is_dir() != self.is_folder:
            raise InputError(f"{path} exists and is no {what}: give another name with -o")
        if self.is_folder and not any(path.iterdir()):
            return
        if self.is_folder and not (path / sign).is_file():
            raise InputError(
                f"{path} is not empty, and no earlier export ({sign} is missing): give another "
                "name with -o"
            )
        if not self.overwrite:
            raise InputError(f"{path} exists: add --overwrite to replace it, or give another name")


def config_path(tasks: Path) -> Path:
    """The file of Label Studio's labelling configuration, beside that of the tasks."""
    return tasks.with_suffix(".xml")


def format_of(path: Path, named: str | None) -> str:
    """The format that is meant by its name, or by the ending of the file."""
    if named is not None:
        return named
    kind = path.suffix.lower().lstrip(".")
    if kind == "json":
        return LABEL_STUDIO
    if kind not in TABLES:
        raise InputError(
            f"{path} must end in .csv, .jsonl or .parquet, or in .json for Label Studio; or name "
            f"the format: --format {', '.join((*FOLDERS, LABEL_STUDIO))}"
        )
    return kind


def export(project: Borrowed, wanted: Wanted) -> int:
    """Write a project as files of another tool; returns the number of items."""
    wanted.check()
    found = rows(project, None if wanted.labelled else project.predictions)
    if not found and wanted.kind not in TABLES:
        raise InputError(
            "nothing is labelled in this project yet: label some items first, then export again"
        )
    _write(project, found, wanted)
    return len(found)


def _write(project: Borrowed, found: list[Row], wanted: Wanted) -> None:
    path, kind = wanted.path, wanted.kind
    if kind in TABLES:
        write_bytes(path, written(found, kind, exact=wanted.exact))
    elif kind == LABEL_STUDIO:
        write_together(
            path.parent,
            {
                config_path(path).name: label_studio.written_config(project),
                path.name: label_studio.written_tasks(project, found),
            },
        )
    elif not wanted.is_folder:
        write_bytes(path, folders.move_list(project, found))
    else:
        fill: dict[str, Callable[[Path], None]] = {
            "folders": lambda folder: folders.write_folders(project, found, folder, wanted.how),
            "huggingface": lambda folder: huggingface.write_dataset(project, found, folder),
            "fiftyone": lambda folder: fiftyone.write_samples(project, found, folder),
            "cleanlab": lambda folder: cleanlab.write_arrays(project, found, folder),
        }
        write_folder(path, fill[kind])
