"""A stand-in for Label Studio on loopback: the endpoints that poise uses, by their documentation.

Written from the reference of Label Studio's SDK 2.1 and the responses its server documents; the
score to sort by is the mean score of a task's predictions, and tasks without one come last. Tests
make it fail in the ways that servers fail, and play the people who label.
"""

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

LEGACY_TOKEN = "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e"
TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"
#: A fault answers a request in place of the server, or returns False to let it pass.
Fault = Callable[[Any], bool]


def jwt(kind: str, number: int = 0) -> str:
    """A token in the form of a JWT; nobody checks its signature here."""

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    header = {"alg": "HS256", "typ": "JWT"}
    return f"{part(header)}.{part({'token_type': kind, 'jti': number})}.c2lnbmF0dXJl"


PERSONAL_TOKEN = jwt("refresh")


def choices_config(classes: list[str], shown: str = "Text", key: str = "text") -> str:
    """A labelling configuration with one choice."""
    listed = "".join(f'<Choice value="{name}"/>' for name in classes)
    return (
        f'<View><{shown} name="item" value="${key}"/>'
        f'<Choices name="topic" toName="item" choice="single">{listed}</Choices></View>'
    )


class FakeLabelStudio:
    """One project, number 1, and its server; use `serving` to start it.

    Attributes
    ----------
    requests : method, path with query, and the header Authorization of each
    faults : each is used for one request, in order
    access_lasts : requests for which an access token is valid
    """

    def __init__(self, config: str) -> None:
        self.config, self.version = config, None
        self.tasks: dict[int, dict[str, Any]] = {}
        self.annotations: dict[int, dict[str, Any]] = {}
        self.predictions: dict[int, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.faults: list[Fault] = []
        self.access_lasts = 10**9
        self.most_page_size = 100
        self.address = ""
        self.lock = threading.RLock()
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        self._numbers = 0
        self._access = ("", 0)

    # People -----------------------------------------------------------------------------------

    def add(self, **data: Any) -> int:
        """Import a task; returns its id."""
        with self.lock:
            number = self._number()
            self.tasks[number] = {"id": number, "data": data, "updated_at": self._time()}
            return number

    def remove(self, task: int) -> None:
        with self.lock:
            del self.tasks[task]
            for kept in (self.annotations, self.predictions):
                for number in [n for n, one in kept.items() if one["task"] == task]:
                    del kept[number]

    def annotate(self, task: int, label: str | None, by: int = 1, **fields: Any) -> int:
        """Submit an annotation; without a label the task is skipped. Returns its id."""
        with self.lock:
            number = self._number()
            result = {
                "id": f"r{number}",
                "from_name": "topic",
                "to_name": "item",
                "type": "choices",
                "value": {"choices": [label]},
            }
            time = self._touch(task)
            self.annotations[number] = {
                "id": number,
                "task": task,
                "project": 1,
                "completed_by": by,
                "result": [] if label is None else [result],
                "was_cancelled": label is None,
                "ground_truth": False,
                "created_at": time,
                "updated_at": time,
                **fields,
            }
            return number

    def change(self, annotation: int, label: str) -> None:
        with self.lock:
            one = self.annotations[annotation]
            one["result"][0]["value"]["choices"] = [label]
            one["updated_at"] = self._touch(one["task"])

    def withdraw(self, annotation: int) -> None:
        """Delete an annotation."""
        with self.lock:
            self._touch(self.annotations.pop(annotation)["task"])

    def foresee(self, task: int, score: float, version: str) -> int:
        """A prediction of another model."""
        with self.lock:
            number = self._number()
            self.predictions[number] = {
                "id": number,
                "task": task,
                "result": [],
                "score": score,
                "model_version": version,
            }
            return number

    def in_order(self) -> list[int]:
        """Tasks that nobody has labelled or skipped, as "Label Tasks As Displayed" gives them."""
        with self.lock:
            done = {one["task"] for one in self.annotations.values()}
            return [task for task in self._sorted("tasks:predictions_score") if task not in done]

    def own(self, task: int) -> list[dict[str, Any]]:
        """The predictions of poise for a task."""
        with self.lock:
            given = [one for one in self.predictions.values() if one["task"] == task]
            return [one for one in given if one["model_version"] == "poise"]

    # The server -------------------------------------------------------------------------------

    @contextmanager
    def serving(self) -> Iterator["FakeLabelStudio"]:
        """Serve on a free port of loopback."""
        fake = self

        class Handler(_Handler):
            studio = fake

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = False
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def respond(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        if (method, path) == ("GET", "/api/projects/1/"):
            about = {"id": 1, "title": "Fake", "label_config": self.config}
            counts = {"task_number": len(self.tasks), "model_version": self.version}
            return 200, about | counts
        if (method, path) == ("GET", "/api/tasks/") and query.get("project") == "1":
            return self._list(query)
        if (method, path) == ("POST", "/api/projects/1/import/predictions"):
            return self._import(body)
        found = re.fullmatch(r"/api/predictions/(\d+)/", path)
        number = int(found[1]) if found else 0
        if number not in self.predictions:
            return 404, {"detail": "Not found."}
        if method == "DELETE":
            self._touch(self.predictions.pop(number)["task"])
            return 204, None
        if method == "PATCH":
            one = self.predictions[number]
            one.update({key: body[key] for key in ("result", "score", "model_version")})
            self._touch(one["task"])
            return 200, one
        return 405, {"detail": f'Method "{method}" not allowed.'}

    def is_allowed(self, authorization: str) -> bool:
        access, left = self._access
        if left and authorization == f"Bearer {access}":
            self._access = access, left - 1
            return True
        return authorization == f"Token {LEGACY_TOKEN}"

    def refresh(self, body: Any) -> tuple[int, Any]:
        if not isinstance(body, dict) or body.get("refresh") != PERSONAL_TOKEN:
            return 401, {"detail": "Token is invalid or expired", "code": "token_not_valid"}
        self._access = jwt("access", self._number()), self.access_lasts
        return 200, {"access": self._access[0]}

    def _list(self, query: dict[str, str]) -> tuple[int, Any]:
        wanted = json.loads(query.get("query", "{}"))
        tasks = self._sorted(*wanted.get("ordering", ["tasks:id"]))
        for item in wanted.get("filters", {}).get("items", []):
            since = datetime.strptime(item["value"], TIME_FORMAT)
            assert (item["filter"], item["operator"], item["type"]) == (
                "filter:tasks:updated_at",
                "greater",
                "Datetime",
            )
            tasks = [t for t in tasks if _parsed(self.tasks[t]["updated_at"]) > since]
        page, size = int(query["page"]), min(int(query["page_size"]), self.most_page_size)
        shown = tasks[(page - 1) * size : page * size]
        if page > 1 and not shown:
            return 404, {"detail": "Invalid page."}
        return 200, {
            "tasks": [self._task(task, query.get("fields") == "all") for task in shown],
            "total": len(tasks),
            "total_annotations": len(self.annotations),
            "total_predictions": len(self.predictions),
        }

    def _task(self, task: int, whole: bool) -> dict[str, Any]:
        annotations = [one for one in self.annotations.values() if one["task"] == task]
        predictions = [one for one in self.predictions.values() if one["task"] == task]
        kept = [one for one in annotations if not one["was_cancelled"]]
        return self.tasks[task] | {
            "annotations": annotations if whole else [],
            "predictions": predictions if whole else [],
            "predictions_score": self._score(task),
            "total_annotations": len(kept),
            "cancelled_annotations": len(annotations) - len(kept),
            "total_predictions": len(predictions),
            "is_labeled": bool(kept),
            "project": 1,
            "meta": {},
        }

    def _score(self, task: int) -> float | None:
        """The column "Prediction score": a mean, of one model version if the project names one."""
        scores = [
            one["score"]
            for one in self.predictions.values()
            if one["task"] == task and self.version in (None, one["model_version"])
        ]
        return sum(scores) / len(scores) if scores else None

    def _sorted(self, ordering: str) -> list[int]:
        if ordering == "tasks:id":
            return sorted(self.tasks)
        assert ordering == "tasks:predictions_score"
        scores = {task: self._score(task) for task in self.tasks}
        return sorted(self.tasks, key=lambda task: (scores[task] is None, scores[task] or 0, task))

    def _import(self, body: Any) -> tuple[int, Any]:
        for item in body:
            if item["task"] not in self.tasks:
                return 400, {"detail": 'invalid "task" field: task ID could not be retrieved'}
        for item in body:
            number = self._number()
            fields = ("task", "result", "score", "model_version")
            self.predictions[number] = {"id": number} | {key: item[key] for key in fields}
        return 201, {"created": len(body)}

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _touch(self, task: int) -> str:
        if task in self.tasks:
            self.tasks[task]["updated_at"] = self._time()
        return self._now.strftime(TIME_FORMAT)

    def _time(self) -> str:
        self._now += timedelta(seconds=1)
        return self._now.strftime(TIME_FORMAT)


class _Handler(BaseHTTPRequestHandler):
    studio: FakeLabelStudio
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def handle_any(self) -> None:
        studio, parts = self.studio, urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        authorization = self.headers.get("Authorization", "")
        with studio.lock:
            studio.requests.append((self.command, self.path, authorization))
            if studio.faults and studio.faults.pop(0)(self):
                return
            body = json.loads(sent) if sent else None
            query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
            if (self.command, parts.path) == ("POST", "/api/token/refresh/"):
                self.reply(*studio.refresh(body))
            elif not studio.is_allowed(authorization):
                self.reply(401, {"detail": "Authentication credentials were not provided."})
            elif parts.path in studio.files:
                self.raw(200, studio.files[parts.path], "application/octet-stream")
            else:
                self.reply(*studio.respond(self.command, parts.path, query, body))

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def reply(self, status: int, value: Any) -> None:
        content = b"" if value is None else json.dumps(value).encode()
        self.raw(status, content, "application/json")

    def raw(self, status: int, content: bytes, kind: str = "text/html", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True


def _parsed(time: str) -> datetime:
    return datetime.strptime(time, TIME_FORMAT)


# Faults -----------------------------------------------------------------------------------------


def passing(handler: Any) -> bool:
    """No fault: the request is answered."""
    return False


def status(code: int, **headers: str) -> Fault:
    """An error without an explanation."""

    def fault(handler: Any) -> bool:
        handler.raw(code, b"", **headers)
        return True

    return fault


def page(content: bytes, code: int = 200, kind: str = "text/html") -> Fault:
    """An answer of any content."""

    def fault(handler: Any) -> bool:
        handler.raw(code, content, kind)
        return True

    return fault


def dropped(handler: Any) -> bool:
    """The connection ends before an answer; what was asked is not done."""
    handler.close_connection = True
    handler.connection.close()
    return True
