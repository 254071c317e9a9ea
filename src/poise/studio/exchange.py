"""Labels out of a project and into one: CSV, JSON lines, Parquet."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from poise.data.tables import PARQUET_ERRORS
from poise.data.text import parse_json
from poise.errors import InputError
from poise.extras import needed
from poise.studio.asking.predictions import Predictions
from poise.studio.log.classes import free_key
from poise.studio.log.events import Event, check_name
from poise.studio.log.state import State
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue

FORMATS = ("csv", "jsonl", "parquet")
#: In the column `by`: the model, the only person of a project without names, the source itself.
MODEL, PERSON, SOURCE = "model", "person", "source"

#: Texts that a spreadsheet takes for a formula: with an operator in front, and no plain number.
#: Apostrophes before it count, so that an apostrophe of the text's own is not taken away.
FORMULA = re.compile(r"'*(?![+-]?\d+(?:[.,]\d+)?\Z)[=+\-@\t\r\n＝＋－＠]", re.ASCII)


class Row(NamedTuple):
    """An item with its label, or with its predicted class, and what an assistant answered."""

    id: str
    source: str
    label: str
    by: str
    confidence: float | None
    time: str | None
    assistant: str | None = None
    assistant_label: str | None = None


FIELDS = Row._fields


class Labelling(Protocol):
    """Items and their labels: a project, or what is read of one to export its labels."""

    @property
    def catalogue(self) -> Catalogue: ...
    @property
    def state(self) -> State: ...


def rows(labelling: Labelling, predictions: Predictions | None) -> list[Row]:
    """A row for every item that has a label or, with `predictions`, a predicted class.

    In the order of the source. Items that came in after the predictions have none. The last two
    columns are the assistant that answered and its answer, which is not the label.
    """
    exported: list[Row] = []
    catalogue, state = labelling.catalogue, labelling.state
    labels, answers = state.labels, state.assistants.answers
    nodes: Iterable[int] = range(len(catalogue))
    if predictions is None:
        nodes = (catalogue.nodes[item] for item in labels if item in catalogue.nodes)
    for node in sorted(nodes, key=catalogue.rows.__getitem__):
        item, source = catalogue.ids[node], catalogue.sources[node]
        labelled, answer = labels.get(item), answers.get(item)
        said = None if answer is None else state.known.name(answer.number)
        by = None if answer is None or said is None else answer.by
        if labelled is not None:
            given = (labelled.label, labelled.by, None, labelled.time)
            exported.append(Row(item, source, *given, by, said))
        elif predictions is not None and node < len(predictions):
            name, confidence = predictions.of(node)
            exported.append(Row(item, source, name, MODEL, confidence, None, by, said))
    return exported


def written(
    exported: Sequence[Sequence[Any]],
    kind: str,
    fields: Sequence[str] = FIELDS,
    *,
    exact: bool = False,
) -> bytes:
    """The content of a file of rows, with the names of their columns.

    In a CSV file, texts that a spreadsheet would take for a formula get an apostrophe in front,
    unless it is to be `exact`; `read` takes it away again.
    """
    if kind == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(fields)
        # Before Python 3.13 the module does not quote a carriage return by itself.
        quoting = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for row in exported:
            cells = ["" if value is None else value for value in row]
            cells = cells if exact else [_harmless(cell) for cell in cells]
            returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
            (quoting if returns else writer).writerow(cells)
        return buffer.getvalue().encode("utf-8", "replace")
    if kind == "jsonl":
        lines = (
            json.dumps(dict(zip(fields, row, strict=True)), ensure_ascii=False) for row in exported
        )
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    if kind == "parquet":
        arrow = needed("pyarrow", "parquet", "writing Parquet")
        parquet = needed("pyarrow.parquet", "parquet", "writing Parquet")
        known = {
            "confidence": arrow.float64(),
            "probability": arrow.float64(),
            "near": arrow.bool_(),
        }
        kinds = [known.get(name, arrow.string()) for name in fields]
        columns = list(zip(*exported, strict=True)) or [()] * len(fields)
        table = arrow.table(
            [arrow.array(column, type=kind) for column, kind in zip(columns, kinds, strict=True)],
            names=list(fields),
        )
        sink = io.BytesIO()
        parquet.write_table(table, sink)
        return sink.getvalue()
    raise InputError(f"format is {kind!r}: expected {', '.join(FORMATS)}")


def read(content: bytes, name: str) -> list[dict[str, Any]]:
    """The rows of a file that was exported before, or of one like it: id or source, and label."""
    kind = name.rpartition(".")[2].lower()
    table: list[dict[str, Any]]
    try:
        if kind == "parquet":
            parquet = needed("pyarrow.parquet", "parquet", "reading Parquet")
            table = parquet.read_table(io.BytesIO(content)).to_pylist()
        elif kind == "jsonl":
            table = [parse_json(line) for line in content.decode("utf-8-sig").split("\n") if line]
        elif kind == "csv":
            text = io.StringIO(content.decode("utf-8-sig"), newline="")
            table = [
                {name: _as_meant(value) for name, value in row.items()}
                for row in csv.DictReader(text, strict=True)
            ]
        else:
            raise InputError(f"{name} has an unknown ending: expected .csv, .jsonl or .parquet")
    except InputError:
        raise
    except (*PARQUET_ERRORS, csv.Error) as error:
        raise InputError(f"{name} cannot be read as {kind}: {error}") from None
    for number, row in enumerate(table, start=1):
        named = isinstance(row, dict) and (row.get("id") or row.get("source"))  # type: ignore[redundant-expr]
        if not named:
            raise InputError(
                f"row {number} of {name} has no id and no source: expected one of them, as in an "
                "exported file"
            )
    return table


def read_file(path: Path) -> list[dict[str, Any]]:
    """The rows of such a file on disk."""
    return read(path.read_bytes(), path.name)


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def _as_meant(value: Any) -> Any:
    marked = isinstance(value, str) and value.startswith("'") and FORMULA.match(value)
    return value[1:] if marked else value


@dataclass(frozen=True)
class Imported:
    """How many rows were imported, and why the others were not."""

    imported: int
    unchanged: int
    unknown: int
    predictions: int

    def sentence(self, name: str) -> str:
        """The same for whoever imported a file of this name."""
        others = {
            "unchanged": self.unchanged,
            "of unknown items": self.unknown,
            "predicted or empty": self.predictions,
        }
        left = ", ".join(f"{count:,} {why}" for why, count in others.items() if count)
        return f"Imported {self.imported:,} labels from {name}" + (
            f"; left out {left}" * bool(left)
        )


def take_in(project: Project, imported: Iterable[dict[str, Any]]) -> Imported:
    """Record the labels of a file: an event for each class, person and time, all of them or none.

    Rows by the model are left out: it predicts anew. Rows are recognised by id, else by source.
    """
    by_source = dict(zip(project.catalogue.sources, project.catalogue.ids, strict=True))
    groups: dict[tuple[str, str, str | None], list[str]] = {}
    seen: set[str] = set()
    unchanged = unknown = predictions = 0
    for row in imported:
        label, by, time = row.get("label"), str(row.get("by") or PERSON), row.get("time") or None
        if by == MODEL or label is None or str(label) == "":
            predictions += 1
            continue
        item = str(row.get("id") or "")
        if item not in project.nodes:
            item = by_source.get(str(row.get("source") or ""), "")
        if not item or item in seen:
            unknown += 1
            continue
        seen.add(item)
        name = "" if by == PERSON else SOURCE if by == SOURCE else check_name(by)
        labelled = project.state.labels.get(item)
        known = project.state.known
        named = known.name(known.find(str(label))) or str(label)
        if labelled is not None and (labelled.label, labelled.by) == (named, by):
            unchanged += 1
            continue
        groups.setdefault((str(label), name, None if time is None else str(time)), []).append(item)
    events = new_classes(project.state, dict.fromkeys(label for label, _, _ in groups))
    for label, name, time in groups:
        data: dict[str, Any] = {
            "items": groups[label, name, time],
            "label": label,
            "via": "source" if name == SOURCE else "import",
            "by": "" if name == SOURCE else name,
        }
        events.append(Event("label", data | ({} if time is None else {"at": time})))
    project.record_all(events)
    return Imported(sum(map(len, groups.values())), unchanged, unknown, predictions)


def take_in_known(project: Project) -> int:
    """Record the labels that the source itself gives, of items that the log does not mention."""
    events = known_labels(project)
    project.record_all(events)
    return sum(len(event.items) for event in events)


def known_labels(labelling: Labelling) -> list[Event]:
    """Events with the labels that the source gives to items that the log does not mention."""
    state, groups = labelling.state, dict[str, list[str]]()
    for item, label in labelling.catalogue.known.items():
        if state.version.get(item, 0) == 0:
            groups.setdefault(label, []).append(item)
    return new_classes(state, groups) + [
        Event("label", {"items": items, "label": label, "via": "source"})
        for label, items in groups.items()
    ]


def make_class(project: Project, name: str) -> None:
    """Make a class with the first free key, unless there was one of that name before."""
    if name not in project.state.known.past:
        project.record_all(new_classes(project.state, [name]))


def new_classes(state: State, names: Iterable[str]) -> list[Event]:
    """Events that make the classes which do not exist, each with the first free key.

    A name that a class had before it was renamed or merged still means that class.
    """
    keys = dict(state.classes)
    events = []
    for name in names:
        if name in keys or state.known.find(name) is not None:
            continue
        keys[name] = free_key(name, keys.values())
        key = {"key": keys[name]} if keys[name] else {}
        events.append(Event("class", {"name": name} | key))
    return events
