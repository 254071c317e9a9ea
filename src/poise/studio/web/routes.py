"""Every address of the app, once: Starlette's routes and the OpenAPI document come from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from poise.studio.web.guard import HEALTH, refusal
from poise.studio.web.handlers import assistants, exchange, items, map, pages, questions, review
from poise.studio.web.site import Handler, Site

ANNOTATOR = {"annotator": "who asks, where `poise label --annotators` runs"}
LABELS_FILE = {
    "format": "csv, jsonl or parquet",
    "include": "all or labelled",
    "exact": "yes: CSV without an apostrophe before what a spreadsheet takes for a formula",
}


@dataclass(frozen=True)
class Address:
    """One method at one path.

    Attributes
    ----------
    path : as Starlette writes it
    handler : answers the request
    summary : what it does; empty for the page's own files, which the description leaves out
    query : parameters and what they mean
    body : names in the JSON object that is posted, and their JSON types; without names, a POST
        sends a file
    """

    method: str
    path: str
    handler: Handler
    summary: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)


ADDRESSES: tuple[Address, ...] = (
    # The page
    Address("GET", "/", pages.start_page),
    Address("GET", "/login", pages.login_page),
    Address("POST", "/login", pages.login),
    Address("POST", "/logout", pages.logout),
    Address("GET", "/static/{name}", pages.static),
    # Questions and answers
    Address(
        "GET",
        "/api/state",
        questions.state,
        "Where the project stands, with the question that is open.",
        ANNOTATOR,
    ),
    Address(
        "GET",
        "/api/question",
        questions.question,
        "The same, as soon as the question and its reasons are ready.",
        ANNOTATOR,
    ),
    Address(
        "GET",
        "/api/ahead",
        questions.ahead,
        "The question that follows each possible answer, once the likely ones are known.",
        ANNOTATOR,
    ),
    Address(
        "GET",
        "/api/history",
        items.history,
        "Items that this person has answered, oldest first.",
        ANNOTATOR,
    ),
    Address(
        "POST",
        "/api/prepare",
        questions.prepare,
        "Prepare the project again, if that failed.",
        body={"annotator": "string"},
    ),
    Address(
        "POST",
        "/api/events",
        questions.record,
        "Record a class, label, skip, unsure, clear, undo or setting, or a change of a class: "
        "rename (name, to), merge (name, into), remove (name), colour (name, colour: 0 to 11 or "
        "null), order (names), describe (name, note, examples). A label may use an earlier name "
        "of a class. A new class without a key gets the first free one. The event is on disk when "
        "this answers. Sent again with the same `client` it counts once. 409 if an item has "
        "changed since `versions`; 507 if the disk refuses the write. For a class, `alike` in the "
        "answer names another class that differs only in case, width or spaces, or is null.",
        body={
            "kind": "string",
            "data": "object",
            "client": "string",
            "versions": "object",
            "annotator": "string",
        },
    ),
    Address(
        "POST",
        "/api/undo",
        questions.undo,
        "Take back this person's last action and ask about its item again.",
        body={"client": "string", "annotator": "string"},
    ),
    Address(
        "POST",
        "/api/look",
        questions.look,
        "Ask about a given item; without one, about the next that the model wants.",
        body={"item": "string", "annotator": "string"},
    ),
    Address(
        "POST",
        "/api/audit",
        questions.audit,
        "Ask about an item drawn uniformly from those without a label; with `of`, from those that "
        "this assistant answered.",
        body={"annotator": "string", "of": "string"},
    ),
    Address("GET", "/api/choices", questions.choices, "Possible values of the settings."),
    # Assistants
    Address(
        "GET",
        "/api/assistants",
        assistants.listed,
        "Programs that answer questions, and how right they are by what people judged.",
    ),
    Address(
        "POST",
        "/api/assistants",
        assistants.introduce,
        "A program will answer; people judge `audit` of its answers before the others count.",
        body={"name": "string", "audit": "integer"},
    ),
    Address(
        "GET",
        "/api/assistants/questions",
        assistants.questions,
        "Items that an assistant may be asked about.",
        {"name": "of the assistant", "limit": "number of items, at most 64"},
    ),
    Address(
        "POST",
        "/api/assistants/answers",
        assistants.take,
        "An assistant's answer; without `class` it does not know. It is on disk when this answers. "
        "`recorded` is false if the item has an answer or a label by now. With `new_classes` it "
        "may name a new class.",
        body={
            "name": "string",
            "id": "string",
            "class": "string",
            "confidence": "number",
            "new_classes": "boolean",
        },
    ),
    # Items
    Address(
        "GET",
        "/api/items/{id:path}",
        items.content,
        "The content of an item: a picture, a text, or numbers.",
        {"size": "longest side of a picture in pixels"},
    ),
    Address(
        "GET",
        "/api/glimpses/{number}",
        items.glimpse,
        "One of the first pictures, while the items are being read.",
    ),
    Address(
        "GET",
        "/api/about",
        items.about,
        "An item's file (path, date, pixels, size), or the other columns of its row.",
        {"item": "its id"},
    ),
    Address("GET", "/api/left-out", items.left_out, "What could not be read, and why."),
    # The map
    Address("GET", "/api/map", map.layouts, "Which layouts of the map exist, and which are ready."),
    Address(
        "GET",
        "/api/map/points",
        map.points,
        "Positions of all items: x, y as little-endian float32, from -1 to 1. 202 while computed.",
        {"layout": "pca or eigenmaps"},
    ),
    Address(
        "GET",
        "/api/map/values",
        map.values,
        "Three arrays: label + 1 and predicted class + 1 (uint16, 0 for none; positions in "
        "`classes` of the state), and how well each item is known (uint8). 202 while computed.",
    ),
    Address("GET", "/api/map/labels", map.labels, "Nodes and classes of the labelled items."),
    Address("GET", "/api/map/item", map.item, "One item by its node.", {"node": "its number"}),
    Address(
        "POST",
        "/api/map/items",
        map.items,
        "Ids of items by their nodes.",
        body={"nodes": "array"},
    ),
    # Review, export, import
    Address(
        "GET",
        "/api/review",
        review.table,
        "A page of the table of all items. 202 while the model computes.",
        {
            "show": "all, labelled, predicted, unsure, skipped, suspicious, disagreed or assisted",
            "assistant": "with `assisted`, only items that this one answered",
            "class": "only this class",
            "from": "lowest confidence",
            "to": "highest confidence",
            "text": "words that begin words of the text or of the name, the best match first",
            "like": "an item: the others by their distance to it, the nearest first",
            "sort": "order, confidence, -confidence, suspicion or time",
            "offset": "number of rows to leave out first",
            "limit": "number of rows, at most 500",
        },
    ),
    Address(
        "GET",
        "/api/export",
        exchange.export,
        "Every item's class as a file: id, source, label, by, confidence, time, and the assistant "
        "that answered with its answer.",
        LABELS_FILE,
    ),
    Address(
        "GET",
        "/api/export/preview",
        exchange.preview,
        "The first rows of that file as text, and the number of all rows.",
        LABELS_FILE,
    ),
    Address(
        "POST",
        "/api/import",
        exchange.import_labels,
        "Labels from a file that was exported before; the body is the file.",
        {"name": "of the file: its ending says the format"},
    ),
    Address("GET", "/api/openapi.json", pages.description, "This description."),
    Address("GET", HEALTH, pages.health, "Whether the app is running; needs no cookie."),
)


#: Parts that a project may lack, and how their addresses begin. "predictions" of all items and
#: "similar" items, which it may lack too, have no address of their own.
PARTS = {
    "audit": "/api/audit",
    "details": "/api/about",
    "import": "/api/import",
    "map": "/api/map",
    "review": "/api/review",
    "settings": "/api/choices",
}


def routes(site: Site) -> list[Route]:
    """The routes of one app."""

    def handler(address: Address) -> Handler:
        for part in site.opening.lacks:
            if part in PARTS and address.path.startswith(PARTS[part]):
                return partial(_lacking, part)
        return address.handler

    return [
        Route(address.path, partial(handler(address), site), methods=[address.method])
        for address in ADDRESSES
    ]


async def _lacking(part: str, site: Site, request: Request) -> Response:
    return refusal(404, f"this project has no {part}: the page says why under its name")
