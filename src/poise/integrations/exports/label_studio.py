"""Tasks for Label Studio as JSON, and the labelling configuration as XML."""

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.integrations.exports.media import text_of
from poise.integrations.label_studio_json import (
    Answer,
    Tags,
    labelling_config,
    local_file,
    tags_for,
    task,
)
from poise.studio.borrowing import Borrowed
from poise.studio.exchange import MODEL, PERSON, Row

#: Numbers of a row that are shown to whoever labels it.
SHOWN_NUMBERS = 20


def tasks(project: Borrowed, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A task for each row: every person's label as an annotation, the model's as a prediction."""
    tags = tags_for(project.catalogue.kind)
    return [_task(project, row, tags) for row in rows]


def written_tasks(project: Borrowed, rows: Sequence[Row]) -> str:
    """The tasks as the text of a file."""
    return json.dumps(tasks(project, rows), ensure_ascii=False, indent=1) + "\n"


def written_config(project: Borrowed) -> str:
    """The labelling configuration as the text of a file."""
    return labelling_config(project.state.classes, tags_for(project.catalogue.kind))


def shown_value(project: Borrowed, node: int) -> str:
    """What Label Studio shows of an item: a text, or the address of an image."""
    catalogue = project.catalogue
    if catalogue.kind == "text":
        return text_of(catalogue, node)
    if catalogue.files:
        return local_file(f"{catalogue.root.name}/{catalogue.files[node].name}")
    if catalogue.kind == "image":  # no file: the picture itself is the address
        media, content = catalogue.content(node)
        return f"data:{media};base64,{b64encode(content).decode()}"
    values: Any = catalogue.items
    numbers = np.asarray(values[node], dtype=np.float64).ravel()
    shown = " ".join(f"{value:.4g}" for value in numbers[:SHOWN_NUMBERS].tolist())
    return shown + (" ..." if len(numbers) > SHOWN_NUMBERS else "")


def _task(project: Borrowed, row: Row, tags: Tags) -> dict[str, Any]:
    shown = shown_value(project, project.catalogue.nodes[row.id])
    if row.by == MODEL:
        predicted = (row.label, row.confidence)
        return task(row.id, row.source, shown, tags, (), predicted)
    votes = project.state.votes.get(row.id, {}).values()
    answers = [
        Answer(vote.label, "" if vote.by == PERSON else vote.by, vote.time) for vote in votes
    ]
    return task(row.id, row.source, shown, tags, answers)
