"""Labels from a JSON export of Label Studio."""

from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from poise.data.ids import text_id
from poise.errors import InputError
from poise.integrations.imports.reading import LabelRow, source_below
from poise.integrations.label_studio_json import LOCAL_FILES, Answer, ReadTask, read_task


def read_tasks(tasks: list[Any], name: str, source: Path | None) -> list[LabelRow]:
    """A row for each task with an answer: the class of most answers, the newest of them.

    Parameters
    ----------
    tasks : of the export
    name : of the file, for errors
    source : the folder that is labelled, if it is one
    """
    found = []
    for number, value in enumerate(tasks, start=1):
        try:
            task = read_task(value)
        except InputError as error:
            raise InputError(f"task {number} of {name} cannot be imported: {error}") from None
        if task.answers:
            found.append(_row(task, source))
    return found


def _row(task: ReadTask, source: Path | None) -> LabelRow:
    answer = _decided(task.answers)
    return {
        "id": task.item or _id_by_content(task),
        "source": task.source or _source_by_address(task, source),
        "label": answer.label,
        "by": answer.by,
        "time": answer.time,
    }


def _decided(answers: tuple[Answer, ...]) -> Answer:
    counts = Counter(answer.label for answer in answers)
    most = max(counts.values())
    return next(answer for answer in reversed(answers) if counts[answer.label] == most)


def _id_by_content(task: ReadTask) -> str:
    """The id that poise gives to the text of a task that it did not write."""
    shown = task.data.get("text")
    return text_id(shown) if isinstance(shown, str) else ""


def _source_by_address(task: ReadTask, source: Path | None) -> str:
    """The image file of a task that poise did not write, by its address below the folder."""
    address = task.data.get("image")
    if not isinstance(address, str) or source is None:
        return ""
    path = unquote(address.partition(LOCAL_FILES)[2]) if LOCAL_FILES in address else address
    _, _, below = path.partition(f"{source.resolve().name}/")
    return below if LOCAL_FILES in address and below else source_below(path, source)
