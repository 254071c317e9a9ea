"""Tasks with files: run once, reused after a crash, run again if a file is damaged.

A task writes its files to its own folder, and then a record with their checksums. When the task is
requested again, the files are checked against the record and the recorded result is returned.
"""

import json
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.distributed.checksums import FileSum, check_files, write_array, write_bytes
from poise.distributed.plan import work_folder
from poise.errors import GraphError

Facts: TypeAlias = dict[str, Any]
"""What a task returns in addition to its files: a few numbers for JSON."""

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

Task: TypeAlias = Callable[[Path, int], tuple[Arrays, Facts]]
"""(folder of the graph, number) -> arrays for the task's files, and facts."""


def perform(task: Task, stage: str, folder: Path, number: int) -> Facts:
    """Run the task, unless it is finished; its result."""
    done = finished(stage, folder, number)
    if done is not None:
        return done
    task_folder = folder_of(stage, folder, number)
    # A mark per attempt: after the run the marks show which tasks were started twice.
    mark = task_folder / f"attempt-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    write_bytes(mark, b"", durably=False)
    arrays, facts = task(folder, number)
    files = {}
    for name, array in arrays.items():
        path = task_folder / f"{name}.npy"
        files[path.name] = asdict(write_array(path, array, durably=False))
    record = json.dumps({"facts": facts, "files": files}).encode()
    write_bytes(task_folder / "record.json", record, durably=False)
    return facts


def finished(stage: str, folder: Path, number: int) -> Facts | None:
    """The result of a finished task; None if it must be run, or run again."""
    task_folder = folder_of(stage, folder, number)
    try:
        record = json.loads((task_folder / "record.json").read_bytes())
        facts: Facts = record["facts"]
        files = {name: FileSum(**about) for name, about in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    try:
        check_files(task_folder, files, f"{stage} {number}")
    except GraphError:
        return None
    return facts


def attempts(stage: str, folder: Path, number: int) -> int:
    """How often a task was started."""
    return len(list(folder_of(stage, folder, number).glob("attempt-*")))


def folder_of(stage: str, folder: Path, number: int) -> Path:
    """The folder for the files of a task."""
    return work_folder(folder) / stage / f"{number:05d}"


def load(stage: str, folder: Path, number: int, name: str) -> npt.NDArray[Any]:
    """A file of a finished task, memory-mapped."""
    path = folder_of(stage, folder, number) / f"{name}.npy"
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise GraphError(
            f"{stage} {number} of the unfinished graph has no readable {name}.npy ({error}): run "
            "the command again to repair it"
        ) from None
    return array
