"""Tasks that leave files: done once, found again after a crash, redone where a file is damaged.

A task writes its files into a folder of its own and then a record with their checksums. Whoever is
asked for the task again finds the record, checks the files and returns what the task returned.
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
"""What a task returns beside its files: a few numbers, small enough for JSON."""

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

Task: TypeAlias = Callable[[Path, int], tuple[Arrays, Facts]]
"""(folder of the graph, number) -> arrays for the task's files, and facts."""


def perform(task: Task, stage: str, folder: Path, number: int) -> Facts:
    """Do the task, unless it was done; what it returned."""
    done = finished(stage, folder, number)
    if done is not None:
        return done
    task_folder = folder_of(stage, folder, number)
    # A mark of every attempt: after the run they show what was begun twice, and why.
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
    """What a finished task returned; None if it must be done, again where a file is damaged."""
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
    """How many times a task was begun."""
    return len(list(folder_of(stage, folder, number).glob("attempt-*")))


def folder_of(stage: str, folder: Path, number: int) -> Path:
    """The folder of a task's files."""
    return work_folder(folder) / stage / f"{number:05d}"


def load(stage: str, folder: Path, number: int, name: str) -> npt.NDArray[Any]:
    """A file of a finished task, memory-mapped."""
    path = folder_of(stage, folder, number) / f"{name}.npy"
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise GraphError(
            f"{stage} {number} of the unfinished graph has no readable {name}.npy ({error}): run "
            "the command again, which repairs it"
        ) from None
    return array
