"""The app in front of two ranks: real processes under an MPI launcher, asked over HTTP."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPCookieProcessor, Request, build_opener
from uuid import uuid4

import numpy as np
import pytest
from tests.distributed.mpi import need_petsc, started

import poise
from poise.distributed.shards import from_graph
from poise.studio.log.state import fold
from poise.studio.log.store import EventStore

need_petsc("starlette", "uvicorn", "PIL")

#: Seconds that anything may take. Time-out of the ranks.
SOON, TIMEOUT = 120.0, 20.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of three clusters, and the texts of its items."""
    folder = tmp_path_factory.mktemp("app")
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 3)) + 5.0 * c for c in range(3)])
    from_graph(poise.knn_graph(X, k=8), folder / "graph", shards=2)
    (folder / "texts.txt").write_text(
        "".join(f"number {i} of kind {i // 300}\n" for i in range(900))
    )
    return folder


def until(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"the condition did not hold within {SOON:g} s")


class Page:
    """What the page in a browser would ask."""

    def __init__(self, address: str) -> None:
        self.base = address.split("/?")[0]
        self.browser = build_opener(HTTPCookieProcessor(CookieJar()))
        with self.browser.open(address) as page:
            assert b"<title>poise" in page.read()

    def get(self, path: str) -> Any:
        with self.browser.open(self.base + path, timeout=SOON) as answer:
            return answer.read()

    def state(self, path: str = "/api/question") -> Any:
        return json.loads(self.get(path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "Origin": self.base}
        sent = Request(self.base + path, json.dumps(body).encode(), headers)
        with self.browser.open(sent, timeout=SOON) as answer:
            return json.load(answer)

    def answer(self) -> str:
        """Answer the question with the kind that its text names; return its item."""
        state = self.state()
        item = state["question"]["item"]
        kind = self.get(f"/api/items/{item}").decode().rpartition(" ")[2]
        if kind not in {each["name"] for each in state["classes"]}:
            self.send("class", {"name": kind})
        self.send("label", {"items": [item], "label": kind}, {item: state["question"]["version"]})
        return str(item)

    def send(self, kind: str, data: dict[str, Any], versions: dict[str, int] | None = None) -> None:
        event = {"kind": kind, "data": data, "versions": versions or {}, "client": uuid4().hex}
        self.post("/api/events", event)


@contextmanager
def served(folder: Path, project: Path) -> Iterator[tuple[Page, Any, Path]]:
    """The page, the launcher, and the file with what it printed."""
    command = ["-m", "poise.distributed", "serve", folder / "graph", project]
    options = ["--items", folder / "texts.txt", "--timeout", TIMEOUT]
    with started(project.with_suffix(".out"), *command, *options) as launcher:
        output = project.with_suffix(".out")
        address = until(lambda: re.search(r"http://\S+", output.read_text()))
        yield Page(address.group()), launcher, output


def labels_of(project: Path) -> dict[str, str]:
    store = EventStore.copy_of(project / "events.db")
    state = fold(store.events())
    store.close()
    return {item: answer.label for item, answer in state.labels.items()}


def test_questions_and_answers_and_a_restart(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "answers.poise"
    with served(folder, project) as (page, launcher, output):
        items = [page.answer() for _ in range(8)]
        assert labels_of(project) == {item: str(int(item) // 300) for item in items}
        page.post("/api/undo", {"client": uuid4().hex})
        assert page.state()["question"]["item"] == items[-1]
        page.answer()
        until(lambda: page.state()["question"]["guess"])
        waiting = page.state()["question"]["item"]
        with pytest.raises(HTTPError) as refused:
            page.get("/api/map")
        assert refused.value.code == 404
        refused.value.close()
        launcher.send_signal(signal.SIGINT)
        assert launcher.wait(SOON) == 0, output.read_text()
        assert "RankLostError" not in output.read_text()
    with served(folder, project) as (page, launcher, _):
        state = page.state()
        assert state["answers"] == 8
        assert state["question"]["item"] == waiting
        launcher.send_signal(signal.SIGTERM)
        launcher.wait(SOON)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_rank_is_named_on_the_page_and_answers_are_safe(
    folder: Path, tmp_path: Path, how: signal.Signals
) -> None:
    project = tmp_path / "answers.poise"
    with served(folder, project) as (page, launcher, output):
        items = [page.answer() for _ in range(3)]
        os.kill(rank(launcher.pid, 1), how)

        def told() -> str:
            try:
                return str(page.state("/api/state")["ending"]["words"])
            except HTTPError as error:
                with error:
                    return str(json.load(error)["error"])
            except (URLError, ConnectionError):  # nothing is there for a moment
                return ""

        assert "RankLostError: rank 0 of 2" in until(told)
        assert launcher.wait(SOON) != 0
    printed = output.read_text()
    assert "RankLostError: rank 0 of 2" in printed
    assert str(project / "events.db") in printed
    assert list(labels_of(project)) == items


def rank(launcher: int, number: int) -> int:
    """The process of a rank below a launcher."""
    found, todo = [], [launcher]
    while todo:
        process = todo.pop()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        todo += map(int, children)
        environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        if f"PMI_RANK={number}".encode() in environment:
            found.append(process)
    return min(found)  # its watchdog started after it
