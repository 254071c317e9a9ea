"""The HTTP interface, described for programs (OpenAPI 3.1), at ``/api/openapi.json``."""

import re
from typing import Any

import poise

WHO = ("annotator", "who asks, where `poise label --annotators` runs")
EXACT = ("exact", "yes: CSV without an apostrophe before what a spreadsheet takes for a formula")
JSON = "application/json"
BYTES = "application/octet-stream"

#: Method, path, what it does, parameters (name, meaning), names that a posted object holds.
ADDRESSES: tuple[tuple[str, str, str, tuple[tuple[str, str], ...], dict[str, str]], ...] = (
    ("get", "/api/state", "Where the project stands, with the question that is open.", (WHO,), {}),
    ("get", "/api/question", "The same, once the question and its reasons are there.", (WHO,), {}),
    (
        "get",
        "/api/ahead",
        "The question that follows each possible answer, once the likely ones are known.",
        (WHO,),
        {},
    ),
    ("get", "/api/history", "Items that this person has answered, oldest first.", (WHO,), {}),
    ("post", "/api/prepare", "Prepare it again, if that failed.", (), {"annotator": "string"}),
    (
        "get",
        "/api/about",
        "An item's file (path, date, pixels, size), or the other columns of its row.",
        (("item", "its id"),),
        {},
    ),
    ("get", "/api/left-out", "What could not be read, and why.", (), {}),
    (
        "get",
        "/api/items/{id}",
        "The content of an item: a picture, a text, or numbers.",
        (("size", "longest side of a picture in pixels"),),
        {},
    ),
    ("get", "/api/glimpses/{number}", "One of the first pictures, while they are read.", (), {}),
    (
        "post",
        "/api/events",
        "Record a class, label, skip, unsure, clear, undo or setting, or a change of a class: "
        "rename (name, to), merge (name, into), remove (name), colour (name, colour: 0 to 11 or "
        "null), order (names), describe (name, note, examples). A label may use a name that a "
        "class had before. It is on disk when this answers. Sent again with the same `client` it "
        "counts once; 409 if an item is no longer as `versions` says; 507 if the disk does not "
        "take it. To a class, the answer says in `alike` which other class differs only in case, "
        "width or spaces, or null.",
        (),
        {
            "kind": "string",
            "data": "object",
            "client": "string",
            "versions": "object",
            "annotator": "string",
        },
    ),
    (
        "post",
        "/api/undo",
        "Take back this person's last deed and ask about its item again.",
        (),
        {"client": "string", "annotator": "string"},
    ),
    (
        "post",
        "/api/look",
        "Ask about a given item; without one, about the next that the model wants.",
        (),
        {"item": "string", "annotator": "string"},
    ),
    (
        "post",
        "/api/audit",
        "Ask about an item drawn uniformly from those without a label.",
        (),
        {"annotator": "string"},
    ),
    ("get", "/api/map", "Which layouts of the map there are, and which are ready.", (), {}),
    (
        "get",
        "/api/map/points",
        "Places of all items: x, y as little-endian float32, from -1 to 1. 202 while computed.",
        (("layout", "pca or eigenmaps"),),
        {},
    ),
    (
        "get",
        "/api/map/values",
        "Three arrays: label + 1 and predicted class + 1 (uint16, 0 for none; places in `classes` "
        "of the state), and how well each item is known (uint8). 202 while computed.",
        (),
        {},
    ),
    ("get", "/api/map/labels", "Numbers and classes of the labelled items.", (), {}),
    ("get", "/api/choices", "What the settings may be.", (), {}),
    ("get", "/api/map/item", "One item by its number.", (("index", "its number"),), {}),
    ("post", "/api/map/items", "Ids of items by their numbers.", (), {"indices": "array"}),
    (
        "get",
        "/api/review",
        "A page of the table of all items. 202 while the model computes.",
        (
            ("show", "all, labelled, predicted, unsure, skipped, suspicious or disagreed"),
            ("class", "only this class"),
            ("from", "least confidence"),
            ("to", "largest confidence"),
            ("text", "words that begin words of the text or of the name, the best fit first"),
            ("like", "an item: the others by their distance to it, the nearest first"),
            ("sort", "order, confidence, -confidence, suspicion or time"),
            ("offset", "rows before"),
            ("limit", "rows, at most 500"),
        ),
        {},
    ),
    (
        "get",
        "/api/export",
        "Every item's class as a file: id, source, label, by, confidence, time.",
        (("format", "csv, jsonl or parquet"), ("include", "all or labelled"), EXACT),
        {},
    ),
    (
        "get",
        "/api/export/preview",
        "The first rows of that file as text, and their number.",
        (("format", "csv, jsonl or parquet"), ("include", "all or labelled"), EXACT),
        {},
    ),
    (
        "post",
        "/api/import",
        "Labels from a file that was exported before; the body is the file.",
        (("name", "of the file: its ending says the format"),),
        {},
    ),
    ("get", "/api/openapi.json", "This description.", (), {}),
)


def openapi(root: str = "") -> dict[str, Any]:
    """The whole description; `root` is the path that a proxy serves the app at."""
    paths: dict[str, Any] = {}
    for method, path, summary, parameters, body in ADDRESSES:
        entry: dict[str, Any] = {
            "summary": summary,
            "parameters": [
                {
                    "name": name,
                    "in": "query",
                    "description": meaning,
                    "schema": {"type": "string"},
                }
                for name, meaning in parameters
            ],
            "responses": {
                "200": {"description": "done"},
                "403": {"description": "no cookie, or a write from another page"},
                "413": {"description": "the request is too long"},
                "422": {"description": "not understood: `error` says what was expected"},
                "503": {"description": "the project is being prepared"},
            },
        }
        for name in re.findall(r"{(\w+)}", path):
            entry["parameters"].append(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            )
        if method == "post":
            schema: dict[str, Any] = {"type": "string", "format": "binary"}
            if body:
                fields = {name: {"type": kind} for name, kind in body.items()}
                schema = {"type": "object", "properties": fields}
            content = {JSON if body else BYTES: {"schema": schema}}
            entry["requestBody"] = {"required": True, "content": content}
        paths.setdefault(path, {})[method] = entry
    return {
        "openapi": "3.1.0",
        "servers": [{"url": root or "/"}],
        "info": {"title": "poise label", "version": poise.__version__},
        "components": {
            "securitySchemes": {"cookie": {"type": "apiKey", "in": "cookie", "name": "poise-PORT"}}
        },
        "security": [{"cookie": []}],
        "paths": paths,
    }
