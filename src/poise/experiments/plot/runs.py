"""The records that are plotted, found by their paths."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from poise.errors import InputError
from poise.experiments.records import Records, read_records
from poise.registry import known_name

LINES = "records.jsonl"


@dataclass(frozen=True, eq=False)
class Run:
    """Records with a name of their own.

    Attributes
    ----------
    label : the experiment's name, or the folder if several have the same
    file : the same as the beginning of a file's name
    models : those of its evaluation models that are shown
    """

    label: str
    file: str
    records: Records
    models: tuple[str, ...]


def read_runs(
    paths: Sequence[Path], *, models: Sequence[str] = (), methods: Sequence[str] = ()
) -> list[Run]:
    """The records at `paths`: folders of records, folders of such folders, or their files.

    Parameters
    ----------
    models : the evaluation models to show; by default all
    methods : the methods to show; by default all
    """
    folders = list(dict.fromkeys(folder for path in paths for folder in _folders(path)))
    found = [(folder, read_records(folder)) for folder in folders]
    for model in models:
        known = [name for _, each in found for name in each.experiment.evaluate]
        known_name("evaluation model in these records", model, list(dict.fromkeys(known)))
    for method in methods:
        known = [one.name for _, each in found for one in each.methods]
        known_name("method in these records", method, list(dict.fromkeys(known)))
    if methods:
        found = [(folder, _only(each, methods)) for folder, each in found]
        found = [(folder, each) for folder, each in found if each.methods]
    names = [each.experiment.name for _, each in found]
    runs: list[Run] = []
    for folder, each in found:
        name = each.experiment.name
        label = name if names.count(name) == 1 else folder.as_posix()
        shown = tuple(m for m in each.experiment.evaluate if not models or m in models)
        file = re.sub(r"[^\w.-]+", "-", label).strip("-.")
        taken = sum(run.file == file for run in runs)
        runs.append(Run(label, f"{file}-{taken + 1}" if taken else file, each, shown))
    return runs


def _folders(path: Path) -> list[Path]:
    if path.name == LINES and path.is_file():
        return [path.parent]
    if not path.is_dir():
        raise InputError(f"there is no folder {path}: give a folder that poise run wrote")
    if (path / LINES).exists():
        return [path]
    inside = sorted(child.parent for child in path.glob(f"*/{LINES}"))
    if not inside:
        raise InputError(f"there are no records in {path}: give a folder that poise run wrote")
    return inside


def _only(records: Records, methods: Sequence[str]) -> Records:
    trials = {key: rows for key, rows in records.trials.items() if key[0] in methods}
    return Records(records.experiment, trials, records.about)
