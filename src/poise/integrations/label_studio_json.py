"""Label Studio's JSON: tasks with annotations and predictions, and the labelling configuration.

Pure functions between plain values and Label Studio's documented format, for files and for its HTTP
API. Of an imported annotation Label Studio keeps the result and replaces the author and the time,
so poise writes those of its own labels into the result as well.

References
----------
Label Studio's guide: "Label Studio task format", "Import pre-annotated data" and the tag "Choices".
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from poise.errors import InputError

#: Version of the model that predictions carry.
MODEL_VERSION = "poise"
#: Keys of a task's data: the id and the source of the item.
ID_KEY, SOURCE_KEY = "poise_id", "poise_source"
#: Where Label Studio serves files of its own machine, if it was told to.
LOCAL_FILES = "/data/local-files/?d="


@dataclass(frozen=True)
class Tags:
    """Names of the tags in a labelling configuration, and the data that they show.

    Attributes
    ----------
    control : name of the tag Choices
    shown : name of the tag Image or Text
    key : key of the task's data that this tag shows
    """

    control: str = "label"
    shown: str = "item"
    key: str = "text"


@dataclass(frozen=True)
class Answer:
    """A class that somebody chose for a task.

    Attributes
    ----------
    by : name of the author; empty if unknown
    time : in ISO 8601; None if unknown
    """

    label: str
    by: str = ""
    time: str | None = None


@dataclass(frozen=True)
class ReadTask:
    """What poise uses of a task.

    Attributes
    ----------
    item : the item's id; empty if poise did not write the task
    source : path or row that the item comes from; empty if poise did not write the task
    data : the task's data
    answers : the newest answer comes last
    """

    item: str
    source: str
    data: dict[str, Any]
    answers: tuple[Answer, ...]


# Writing ----------------------------------------------------------------------------------------


def tags_for(kind: str) -> Tags:
    """The tags for items of a kind: "image", "text" or "vector"."""
    return Tags(key="image" if kind == "image" else "text")


def labelling_config(classes: Mapping[str, str], tags: Tags) -> str:
    """The labelling configuration: one class for each task.

    Parameters
    ----------
    classes : name -> its key on the keyboard, empty for none
    """
    shown = "Image" if tags.key == "image" else "Text"
    choices = "".join(
        f"    <Choice value={quoteattr(name)}{f' hotkey={quoteattr(key)}' if key else ''}/>\n"
        for name, key in classes.items()
    )
    return (
        "<View>\n"
        f'  <{shown} name="{tags.shown}" value="${tags.key}"/>\n'
        f'  <Choices name="{tags.control}" toName="{tags.shown}" choice="single">\n'
        f"{choices}"
        "  </Choices>\n"
        "</View>\n"
    )


def choice(label: str, tags: Tags, own: str) -> dict[str, Any]:
    """A result: the class chosen. `own` makes its id, which must differ from all others."""
    return {
        "id": hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:10],
        "from_name": tags.control,
        "to_name": tags.shown,
        "type": "choices",
        "value": {"choices": [label]},
    }


def annotation(item: str, answer: Answer, tags: Tags) -> dict[str, Any]:
    """An annotation: the answer that somebody gave.

    It names no user of Label Studio, which refuses a file with users it does not know; the user who
    imports it becomes the author there.
    """
    own = {"label": answer.label, "by": answer.by, "time": answer.time}
    result = choice(answer.label, tags, f"{item}\n{answer.by}") | {"meta": {"poise": own}}
    times = {} if answer.time is None else {"created_at": answer.time}
    return {"result": [result], "was_cancelled": False, "ground_truth": False} | times


def prediction(
    item: str, label: str, score: float | None, tags: Tags, version: str = MODEL_VERSION
) -> dict[str, Any]:
    """A prediction with its score; Label Studio sorts tasks by the score. None leaves it out."""
    scored = {} if score is None else {"score": score}
    result = [choice(label, tags, f"{item}\nprediction")]
    return {"model_version": version, "result": result} | scored


def task(
    item: str,
    source: str,
    shown: str,
    tags: Tags,
    answers: Sequence[Answer] = (),
    predicted: tuple[str, float | None] | None = None,
) -> dict[str, Any]:
    """A task.

    Parameters
    ----------
    item, source : id of the item, and where it comes from
    shown : the text, or the address of the image
    answers : labels that people gave
    predicted : class and probability, which may be unknown
    """
    made: dict[str, Any] = {"data": {tags.key: shown, ID_KEY: item, SOURCE_KEY: source}}
    made["annotations"] = [annotation(item, answer, tags) for answer in answers]
    made["predictions"] = [] if predicted is None else [prediction(item, *predicted, tags)]
    return made


def local_file(path: str) -> str:
    """The address at which Label Studio serves a file, by its path below the document root."""
    return LOCAL_FILES + quote(path.encode("utf-8", "surrogateescape"))


# Reading ----------------------------------------------------------------------------------------


def read_task(task: Any, control: str | None = None) -> ReadTask:
    """What poise uses of a task from an export or the API.

    Cancelled annotations, and results of other tags or with several classes, are left out.

    Parameters
    ----------
    control : name of the tag whose classes count; any by default

    Raises
    ------
    InputError
        If it is no task.
    """
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise InputError("it is no task of Label Studio: expected an object with data")
    given = task.get("annotations", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InputError("its annotations are no list of objects, as in an export of Label Studio")
    answers = [answer for one in given if (answer := _answer(one, control)) is not None]
    data = task["data"]
    item, source = data.get(ID_KEY), data.get(SOURCE_KEY)
    return ReadTask(
        item if isinstance(item, str) else "",
        source if isinstance(source, str) else "",
        data,
        tuple(sorted(answers, key=lambda answer: _moment(answer.time))),
    )


def _answer(annotation: dict[str, Any], control: str | None) -> Answer | None:
    results = annotation.get("result")
    if annotation.get("was_cancelled") or not isinstance(results, list):
        return None
    for result in results:
        label = _chosen(result, control)
        if label is None:
            continue
        own = result.get("meta", {}).get("poise") if isinstance(result.get("meta"), dict) else None
        if isinstance(own, dict) and own.get("label") == label:  # nobody changed it there
            by, time = own.get("by"), own.get("time")
        else:
            by = _author(annotation.get("completed_by"))
            time = annotation.get("updated_at") or annotation.get("created_at")
        return Answer(
            label, by if isinstance(by, str) else "", time if isinstance(time, str) else None
        )
    return None


def _chosen(result: Any, control: str | None) -> str | None:
    if not isinstance(result, dict) or result.get("type") != "choices":
        return None
    if control is not None and result.get("from_name") != control:
        return None
    value = result.get("value")
    choices = value.get("choices") if isinstance(value, dict) else None
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], str):
        return choices[0]
    return None


def _author(user: Any) -> str:
    """A name for whoever completed an annotation: given as a number, or with an address."""
    if isinstance(user, dict):
        email = user.get("email")
        return email if isinstance(email, str) else ""
    return f"user {user}" if type(user) is int else ""


def _moment(time: str | None) -> datetime:
    """When it was; the beginning of time if that is unknown or unclear."""
    try:
        found = datetime.fromisoformat(time or "")
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
