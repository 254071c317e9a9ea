"""The app and a browser that shows it: what the tests of the page share."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from PIL import Image

from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening, Source
from poise.studio.project import Project
from poise.studio.web.guard import Doors
from poise.studio.web.server import make_app

#: What the images show, in the order of the class keys 1, 2, 3.
KINDS = ("disc", "pole", "beam")
TOKEN = "the-token-of-this-test"
#: Windows of a desktop, a tablet and a phone.
SIZES = [(1440, 900), (1024, 768), (390, 844)]
#: Seconds that anything may take which does not wait for a person.
SOON = 30.0


# The browser ------------------------------------------------------------------------------------


class Visits:
    """Pages whose complaints are collected: an unexpected one fails the test.

    A complaint is an error on the console (such as what the content policy blocks), an uncaught
    exception, a dialog of the browser, or a request that leaves this machine.
    """

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.complaints: list[str] = []
        self.contexts: list[Any] = []

    def context(self, *, first_visit: bool = False, **options: Any) -> Any:
        """A browser of its own; the welcome card is closed, unless it is the first visit."""
        context = self.browser.new_context(
            **({"viewport": {"width": 1440, "height": 900}} | options)
        )
        context.set_default_timeout(1000 * SOON)
        if not first_visit:
            script = "try { localStorage.setItem('poise-seen-help', 'yes') } catch { }"
            context.add_init_script(script)
        self.contexts.append(context)
        return context

    def open(self, address: str, context: Any = None, **options: Any) -> Any:
        """A page at an address."""
        page = (context or self.context(**options)).new_page()
        self._watch(page)
        page.goto(address)
        return page

    def expect(self, *patterns: str) -> None:
        """Expect complaints that match each pattern: the test fails if there are none so far."""
        for pattern in patterns:
            expected = [words for words in self.complaints if re.search(pattern, words)]
            assert expected, f"no complaint matches {pattern!r}: {self.complaints}"
            self.complaints = [words for words in self.complaints if words not in expected]

    def allow(self, *patterns: str) -> None:
        """Accept complaints that match a pattern, if there are any."""
        either = "|".join(patterns)
        self.complaints = [words for words in self.complaints if not re.search(either, words)]

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert not self.complaints, self.complaints

    def _watch(self, page: Any) -> None:
        complain = self.complaints.append

        def dialog(shown: Any) -> None:
            complain(f"dialog: {shown.message}")
            shown.dismiss()

        def request(sent: Any) -> None:
            if not re.match(r"http://127\.0\.0\.\d+:|data:|blob:", sent.url):
                complain(f"request: {sent.url}")

        def console(message: Any) -> None:
            if message.type == "error":
                complain(message.text)

        page.on("pageerror", lambda error: complain(f"uncaught: {error}"))
        page.on("console", console)
        page.on("dialog", dialog)
        page.on("request", request)


def wait_for(page: Any, what: str, script: str, arg: Any = None) -> None:
    """Wait until a script returns true; a failure tells what the page showed instead."""
    try:
        page.wait_for_function(script, arg=arg)
    except Exception as error:
        texts = {
            name: page.evaluate("id => document.getElementById(id)?.textContent", name)
            for name in ("problem", "saved", "unsaved", "toast", "guess", "purpose-words", "counts")
        }
        screen, item = page.evaluate(
            "() => [document.body.dataset.screen, document.getElementById('stage')?.dataset.item]"
        )
        raise AssertionError(f"{what}: on {screen!r} with item {item}, {texts}") from error


def shown(page: Any, other_than: str | None = None) -> str:
    """The item on the label screen, once it is another one and no other is loading."""
    wait_for(
        page,
        f"expected an item other than {other_than}",
        """old => {
          const stage = document.getElementById("stage"), now = stage?.dataset.item;
          const there = document.body.dataset.screen === "label" && stage.ariaBusy !== "true";
          return there && now && now !== old;
        }""",
        other_than,
    )
    return page.evaluate("document.getElementById('stage').dataset.item")


def saved(page: Any) -> None:
    """Wait until the page says that everything is on disk."""
    words = "() => document.getElementById('saved').textContent === '✓ saved'"
    wait_for(page, "expected ✓ saved", words)


def unsent(page: Any) -> list[dict[str, Any]]:
    """The requests that the browser stores until the server has them on disk."""
    return page.evaluate(
        """() => Object.entries(localStorage)
          .filter(([key]) => key.startsWith("poise-outbox-"))
          .flatMap(([, requests]) => JSON.parse(requests))"""
    )


def reads(page: Any, selector: str, words: str) -> None:
    """Wait until an element has these words."""
    wait_for(
        page,
        f"expected {words!r} at {selector}",
        "([selector, words]) => document.querySelector(selector)?.textContent.includes(words)",
        [selector, words],
    )


def until(condition: Callable[[], Any], seconds: float = SOON) -> Any:
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"the condition did not hold within {seconds:g} s")


def focused(page: Any) -> str:
    """The element that has the focus: its name, id, class and first words."""
    return page.evaluate(
        """() => {
          const { tagName, id, className, textContent } = document.activeElement;
          return `${tagName.toLowerCase()}#${id}.${className} ${textContent.trim().slice(0, 30)}`;
        }"""
    )


def in_sight(page: Any, selector: str) -> bool:
    """Whether all of an element can be seen without scrolling."""
    return page.locator(selector).evaluate(
        """element => {
          const { left, top, right, bottom } = element.getBoundingClientRect();
          const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
          const middle = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          const visible = element.contains(middle) || middle?.contains(element);
          return inside && bottom > top && visible;
        }"""
    )


def answer_alone(page: Any, keys: str) -> None:
    """Answer with these keys, without near-duplicates."""
    for key in keys:
        item = shown(page)
        page.locator("#duplicates-too").evaluate("box => { box.checked = false; }")
        page.keyboard.press(key)
        shown(page, item)
    saved(page)


# The app ----------------------------------------------------------------------------------------


class Inside:
    """The app in this process: a test can look at its project."""

    def __init__(
        self,
        opening: Opening,
        *,
        names: bool = False,
        wait: bool = True,
        token: str = TOKEN,
        root: str = "",
    ) -> None:
        self.opening = opening
        if wait and opening.project is None:
            opening.project = opening.open()
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        port = self.listener.getsockname()[1]
        host = f"127.0.0.1:{port}"
        self.address = f"http://{host}{root}/?token={token}"
        app = make_app(opening, Doors(token, frozenset({host}), port=port, root=root), names=names)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )
        self.thread.start()
        until(lambda: self.server.started)

    @property
    def project(self) -> Project:
        assert self.opening.project is not None
        return self.opening.project

    def labels(self) -> dict[str, str]:
        """Item -> its class, as the server has it."""
        return {item: labelled.label for item, labelled in self.project.state.labels.items()}

    def events(self, *kinds: str) -> list[Event]:
        """The events of these kinds in the log."""
        return [event for event in self.project.store.events() if event.kind in kinds]

    def kind(self, item: str) -> str:
        """What a picture of `make_photos` shows."""
        return self.project.catalogue.sources[self.project.nodes[item]].split("-")[0]

    def key(self, item: str) -> str:
        """The key of the true class."""
        return str(KINDS.index(self.kind(item)) + 1)

    def answer(self, page: Any, n: int) -> list[str]:
        """Answer n questions correctly by keyboard; return their items."""
        items: list[str] = []
        for _ in range(n):
            items.append(shown(page, items[-1] if items else None))
            page.keyboard.press(self.key(items[-1]))
        shown(page, items[-1])
        until(lambda: set(items) <= self.labels().keys())
        saved(page)
        return items

    def end(self) -> None:
        self.server.should_exit = True
        self.server.force_exit = True
        self.thread.join()
        self.listener.close()
        if self.opening.project is not None:
            self.opening.project.close()


class Command:
    """``poise label`` in a process of its own, as a user would start it."""

    def __init__(self, *arguments: str | Path, before: tuple[str, ...] = (), **env: str) -> None:
        start = "from poise.cli.main import main; main()"
        command = [*before, sys.executable, "-c", start, "label", *map(str, arguments)]
        self.process = subprocess.Popen(
            [*command, "--no-browser"], stdout=subprocess.PIPE, text=True, env=os.environ | env
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if address := re.search(r"https?://\S+", line):
                self.address = address.group()
                return
        self.end(signal.SIGKILL)
        raise AssertionError("poise label did not start")

    def end(self, how: int = signal.SIGINT) -> int:
        """End it with a signal; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def log(folder: Path) -> list[Event]:
    """All events of a project, even of one that is open elsewhere."""
    store = EventStore(folder / "events.db")
    try:
        return store.events()
    finally:
        store.close()


# What is labelled -------------------------------------------------------------------------------


def make_photos(folder: Path, n: int = 20, seed: int = 0) -> Path:
    """Write `n` noisy images of each of `KINDS`; their names say what they show."""
    rng = np.random.default_rng(seed)
    side = np.arange(-16, 16)
    x, y = np.meshgrid(side, side)
    shapes = (x**2 + y**2 < 80, abs(x) < 4, abs(y) < 4)
    folder.mkdir(parents=True, exist_ok=True)
    for name, shape in zip(KINDS, shapes, strict=True):
        for number in range(n):
            grey = 60 + 120 * shape + rng.normal(0, 18, shape.shape)
            picture = Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8))
            picture.save(folder / f"{name}-{number:02d}.png")
    return folder


def opened(source: Path, folder: Path, **options: Any) -> Opening:
    """A project of images or of a file, with its classes."""
    settings = {"classes": KINDS} | options
    return Opening(Source(str(source), folder=folder, k=8, **settings))
