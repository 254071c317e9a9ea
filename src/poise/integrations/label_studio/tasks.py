"""A task as poise sees it: what it shows, the class that people chose, and its own prediction."""

import math
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from poise.errors import InputError
from poise.integrations.label_studio.config import Question
from poise.integrations.label_studio_json import MODEL_VERSION, Answer, read_task

#: Where Label Studio puts the text of a task that was imported without a key.
UNNAMED_KEY = "$undefined$"


class Predicted(NamedTuple):
    """A prediction of poise.

    Attributes
    ----------
    label : None while no class is predicted
    score : to sort by; the least is asked first
    """

    label: str | None
    score: float


class Task(NamedTuple):
    """What poise uses of a task.

    Attributes
    ----------
    shown : the text, or the address of the image; None if the task has none
    label : the class that people chose; None if nobody did
    skipped : whether everybody who opened it skipped it
    predictions : id -> prediction of poise
    others : whether it has predictions of other models
    updated : when Label Studio last changed it
    """

    shown: str | None
    label: str | None
    skipped: bool
    predictions: dict[int, Predicted]
    others: bool
    updated: datetime | None


def read(task: Mapping[str, Any], question: Question) -> Task:
    """What poise uses of a task of the API; a task of another form shows nothing."""
    annotations = task.get("annotations") or []
    try:
        found = read_task({**task, "annotations": annotations}, question.tags.control)
    except InputError:
        return Task(None, None, False, {}, False, None)
    decisive = [one for one in annotations if one.get("ground_truth") is True]
    answers = read_task({**task, "annotations": decisive}, question.tags.control).answers
    if not any(answer.label in question.classes for answer in answers):
        answers = found.answers
    label = agreed(answers, question)
    cancelled = [one for one in annotations if one.get("was_cancelled") is True]
    predictions = task.get("predictions")
    given = [
        one
        for one in (predictions if isinstance(predictions, list) else ())
        if isinstance(one, dict)
    ]
    own = {one["id"]: _predicted(one, question) for one in given if _is_own(one)}
    return Task(
        _shown(found.data, question.tags.key),
        label,
        label is None and bool(cancelled),
        own,
        len(own) < len(given),
        _time(task.get("updated_at")),
    )


def agreed(answers: tuple[Answer, ...], question: Question) -> str | None:
    """The class that most people chose; of several, the one of the newest answer.

    Only the newest answer of each person counts. Answers that are no class of the configuration,
    such as one that was renamed, do not count.

    Parameters
    ----------
    answers : the newest one last
    """
    newest: dict[object, str] = {}
    for number, answer in enumerate(answers):
        if answer.label in question.classes:
            author = answer.by or number  # without a name, everybody may be somebody else
            newest.pop(author, None)
            newest[author] = answer.label
    votes = Counter(newest.values())
    most = max(votes.values(), default=0)
    return next((label for label in reversed(newest.values()) if votes[label] == most), None)


def _shown(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key, data.get(UNNAMED_KEY))
    if type(value) in (int, float):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        return None
    return value.encode("utf-8", "replace").decode()  # JSON may hold halves of characters


def _is_own(prediction: Mapping[str, Any]) -> bool:
    return prediction.get("model_version") == MODEL_VERSION and type(prediction.get("id")) is int


def _predicted(prediction: Mapping[str, Any], question: Question) -> Predicted:
    """A prediction that is unlike those that poise writes has the score NaN: it is replaced."""
    score: Any = prediction.get("score")
    results: Any = prediction.get("result")
    is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
    if not is_number or not 0 <= score <= 1 or not isinstance(results, list):
        return Predicted(None, math.nan)
    answers = read_task(
        {"data": {}, "annotations": [{"result": results}]}, question.tags.control
    ).answers
    if results and not answers:
        return Predicted(None, math.nan)
    return Predicted(answers[0].label if answers else None, float(score))


def _time(value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
