"""Labels out of a project and into one: CSV, JSON lines, Parquet."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from poise.data.tables import PARQUET_ERRORS
from poise.data.text import parse_json
from poise.errors import InputError
from poise.extras import needed
from poise.studio.asking.predictions import Predictions
from poise.studio.log.classes import KEYS
from poise.studio.log.events import Event, check_name
from poise.studio.project import Project

FORMATS = ("csv", "jsonl", "parquet")
FIELDS = ("id", "source", "label", "by", "confidence", "time")
#: In the column `by`: the model, the only person of a project without names, the source itself.
MODEL, PERSON, SOURCE = "model", "person", "source"

#: What a spreadsheet may run: a beginning that is no plain number. Apostrophes before it count, so
#: that what was there is told from what was put there.
FORMULA = re.compile(r"'*(?![+-]?\d+(?:[.,]\d+)?\Z)[=+\-@\t\r\n＝＋－＠]", re.ASCII)

Row = tuple[str, str, str, str, float | None, str | None]


def rows(project: Project, predictions: Predictions | None) -> list[Row]:
    """A row for every item that has a class, given or, with `predictions`, predicted.

    In the order of the source. Items that came in after the predictions have none.
    """
    found: list[Row] = []
    catalogue = project.catalogue
    for index in sorted(range(len(catalogue)), key=catalogue.rows.__getitem__):
        item, source = catalogue.ids[index], catalogue.sources[index]
        given = project.state.labels.get(item)
        if given is not None:
            found.append((item, source, given.label, given.by, None, given.time))
        elif predictions is not None and index < len(predictions):
            name, confidence = predictions.of(index)
            found.append((item, source, name, MODEL, confidence, None))
    return found


def written(
    found: Sequence[Sequence[Any]],
    kind: str,
    fields: Sequence[str] = FIELDS,
    *,
    exact: bool = False,
) -> bytes:
    """Rows as a file of a format, with the names of their columns.

    Texts that a spreadsheet would take for a formula get an apostrophe in front of them in a CSV
    file, unless it is to be `exact`; `read` takes it away again.
    """
    if kind == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(fields)
        # Before Python 3.13 the module does not quote a carriage return by itself.
        quoting = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for row in found:
            cells = ["" if value is None else value for value in row]
            cells = cells if exact else [_harmless(cell) for cell in cells]
            returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
            (quoting if returns else writer).writerow(cells)
        return buffer.getvalue().encode("utf-8", "replace")
    if kind == "jsonl":
        lines = (
            json.dumps(dict(zip(fields, row, strict=True)), ensure_ascii=False) for row in found
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
        columns = list(zip(*found, strict=True)) or [()] * len(fields)
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
    found: list[dict[str, Any]]
    try:
        if kind == "parquet":
            parquet = needed("pyarrow.parquet", "parquet", "reading Parquet")
            found = parquet.read_table(io.BytesIO(content)).to_pylist()
        elif kind == "jsonl":
            found = [parse_json(line) for line in content.decode("utf-8-sig").split("\n") if line]
        elif kind == "csv":
            text = io.StringIO(content.decode("utf-8-sig"), newline="")
            found = [
                {name: _as_meant(value) for name, value in row.items()}
                for row in csv.DictReader(text, strict=True)
            ]
        else:
            raise InputError(f"{name} is of no known kind: expected .csv, .jsonl or .parquet")
    except InputError:
        raise
    except (*PARQUET_ERRORS, csv.Error) as error:
        raise InputError(f"{name} cannot be read as {kind}: {error}") from None
    for number, row in enumerate(found, start=1):
        named = isinstance(row, dict) and (row.get("id") or row.get("source"))  # type: ignore[redundant-expr]
        if not named:
            raise InputError(f"row {number} of {name} has no id and no source: export has both")
    return found


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def _as_meant(value: Any) -> Any:
    marked = isinstance(value, str) and value.startswith("'") and FORMULA.match(value)
    return value[1:] if marked else value


@dataclass(frozen=True)
class Imported:
    """How many rows were taken in, and why the others were not."""

    imported: int
    unchanged: int
    unknown: int
    predictions: int


def take_in(project: Project, found: Iterable[dict[str, Any]]) -> Imported:
    """Record labels of a file: an event for each class, person and time, all on disk or none.

    Rows by the model are left out: it predicts anew. Rows are recognised by id, else by source.
    """
    by_source = dict(zip(project.catalogue.sources, project.catalogue.ids, strict=True))
    groups: dict[tuple[str, str, str | None], list[str]] = {}
    seen: set[str] = set()
    unchanged = unknown = predictions = 0
    for row in found:
        label, by, time = row.get("label"), str(row.get("by") or PERSON), row.get("time") or None
        if by == MODEL or label is None or str(label) == "":
            predictions += 1
            continue
        item = str(row.get("id") or "")
        if item not in project.index:
            item = by_source.get(str(row.get("source") or ""), "")
        if not item or item in seen:
            unknown += 1
            continue
        seen.add(item)
        name = "" if by == PERSON else SOURCE if by == SOURCE else check_name(by)
        held = project.state.labels.get(item)
        known = project.state.known
        named = known.name(known.find(str(label))) or str(label)
        if held is not None and (held.label, held.by) == (named, by):
            unchanged += 1
            continue
        groups.setdefault((str(label), name, None if time is None else str(time)), []).append(item)
    events = new_classes(project, dict.fromkeys(label for label, _, _ in groups))
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
    """Record the labels that the source itself gives, of items that the log says nothing about."""
    groups: dict[str, list[str]] = {}
    for item, label in project.catalogue.known.items():
        if project.state.version.get(item, 0) == 0:
            groups.setdefault(label, []).append(item)
    events = new_classes(project, groups)
    for label, items in groups.items():
        events.append(Event("label", {"items": items, "label": label, "via": "source"}))
    project.record_all(events)
    return sum(map(len, groups.values()))


def make_class(project: Project, name: str) -> None:
    """A class with the first free key, unless there was one of that name before."""
    if name not in project.state.known.past:
        project.record_all(new_classes(project, [name]))


def new_classes(project: Project, names: Iterable[str]) -> list[Event]:
    """Events that make those of the classes that are not there, each with the first free key.

    A name that a class had before it was renamed or merged still means that class.
    """
    keys = dict(project.state.classes)
    events = []
    for name in names:
        if name in keys or project.state.known.find(name) is not None:
            continue
        free = [key for key in KEYS if key not in keys.values()]
        keys[name] = name if name in free else next(iter(free), "")  # the digit 7 gets the key 7
        given = {"key": keys[name]} if keys[name] else {}
        events.append(Event("class", {"name": name} | given))
    return events
