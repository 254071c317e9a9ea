"""For studio.py and studio_load.py: the app's process, and a page that records events and times."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

#: Without a first or a next question after so many seconds, the page counts as broken.
FIRST_QUESTION_SECONDS, NEXT_QUESTION_SECONDS = 900.0, 300.0
#: Wide enough for three columns.
SCREEN = {"width": 1440, "height": 900}

# Runs before the page's own scripts. A key counts from when the browser received it. An item counts
# as painted one frame after the frame that drew it began: up to 17 ms late, never early. When the
# page says "saved", it claims everything that was sent until then.
NOTES = """
(() => {
  const notes = (window.notes = { keys: [], items: [], sent: {}, said: "" });
  try { localStorage.setItem("poise-seen-help", "yes"); } catch { /* a blank page has none */ }
  addEventListener("keydown", (event) => {
    const item = document.getElementById("stage")?.dataset.item;
    notes.keys.push({
      at: event.timeStamp, key: event.key, item, foreseen: document.body.dataset.ahead === item,
    });
  }, true);
  const ask = window.fetch.bind(window);
  window.fetch = async (where, how) => {
    if (how?.method !== "POST" || where !== "/api/events") return ask(where, how);
    const sent = JSON.parse(how.body);
    const note = (notes.sent[sent.client] ??= {
      kind: sent.kind, items: sent.data.items ?? [], label: sent.data.label, claimed: false });
    const response = await ask(where, how);
    note.status = response.status;
    return response;
  };
  addEventListener("DOMContentLoaded", () => {
    const stage = document.getElementById("stage");
    const saved = document.getElementById("saved");
    if (!stage || !saved) return;
    new MutationObserver(() => {
      const note = { at: performance.now(), item: stage.dataset.item, painted: null };
      notes.items.push(note);
      const done = () => { note.painted = performance.now(); };
      requestAnimationFrame(() => requestAnimationFrame(done));
    }).observe(stage, { attributes: true, attributeFilter: ["data-item"] });
    new MutationObserver(() => {
      notes.said = saved.textContent;
      if (notes.said === "✓ saved") for (const one of Object.values(notes.sent)) one.claimed = true;
    }).observe(saved, { childList: true, characterData: true, subtree: true });
  });
})();
"""

# Client ids of the requests that the page keeps until the server acknowledges them.
UNSAVED = """() => Object.entries(localStorage)
  .filter(([key]) => key.startsWith("poise-outbox-"))
  .flatMap(([, requests]) => JSON.parse(requests))
  .map((entry) => entry.body.client)
"""

# Gives classes the keys with which the script answers.
GIVE_KEYS = """async (keys) => {
  for (const [name, key] of Object.entries(keys)) {
    const body = JSON.stringify({ kind: "class", data: { name, key }, client: "key of " + name });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("/api/events", { method: "POST", headers, body });
    if (!response.ok) throw new Error(await response.text());
  }
}"""


class Studio:
    """``poise label`` in a process of its own.

    Parameters
    ----------
    arguments : what follows ``poise label``
    folder : where it is started, and where its project is made
    settings : variables of its environment
    """

    def __init__(
        self, *arguments: str, folder: Path, settings: Mapping[str, str] | None = None
    ) -> None:
        command = [str(Path(sys.executable).with_name("poise")), "label", *arguments]
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [*command, "--no-browser"],
            cwd=folder,
            env={**os.environ, **(settings or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            output.append(line)
            address = re.search(r"http://127\.0\.0\.1:(\d+)/\S+", line)
            if address:
                self.address, self.port = address.group(), int(address.group(1))
                break
        else:
            sys.exit("poise label ended: " + "".join(output))
        # Nobody reads its later output; read it here so that the process never blocks.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    @property
    def most_memory(self) -> float:
        """Peak memory, in GB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1e6  # type: ignore[union-attr]

    def end(self) -> None:
        """Stop it as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()

    def kill(self) -> None:
        """Stop it as a power failure would, except that the disk's cache survives."""
        self.process.kill()
        self.process.wait()


@contextmanager
def studio(*arguments: str, folder: Path, **options: Any) -> Iterator[Studio]:
    """``poise label`` until the block ends."""
    started = Studio(*arguments, folder=folder, **options)
    try:
        yield started
    finally:
        started.end()


@contextmanager
def browser() -> Iterator[BrowserContext]:
    """A headless Chromium with an empty profile."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("studio: install chromium and put it on the PATH")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = started.new_context(viewport=SCREEN)
        context.add_init_script(NOTES)
        try:
            yield context
        finally:
            started.close()


@dataclass(frozen=True)
class Answered:
    """One answer.

    Attributes
    ----------
    seconds : from the key to the next item painted
    foreseen : whether the page knew the next item when the key was pressed
    changes : items that the page showed until the next key; more than one is a flicker
    """

    seconds: float
    foreseen: bool
    changes: int


class Person:
    """Answers the questions of a page correctly, by keyboard.

    Parameters
    ----------
    truth : item -> its class
    keys : class -> key; missing classes, named by digits, are created with ``n``
    """

    def __init__(self, page: Page, truth: Mapping[str, str], keys: Mapping[str, str]) -> None:
        self.page, self.truth, self.keys = page, truth, dict(keys)
        self.answered: list[Answered] = []
        self._pressed = 0.0

    def open(self, address: str) -> float:
        """Open the page; return the time when the first question is painted."""
        self.page.goto(address)
        self.page.wait_for_function(
            "() => notes.items.at(-1)?.painted", timeout=FIRST_QUESTION_SECONDS * 1e3
        )
        return time.perf_counter()

    def answer(self, pause: float = 0.0) -> Answered:
        """Press the key for the item on the screen, `pause` seconds after the last one."""
        time.sleep(max(0.0, self._pressed + pause - time.perf_counter()))
        before = self.page.evaluate("notes.items.length")
        item = self.page.evaluate("notes.items.at(-1).item")
        label = self.truth[item]
        self._pressed = time.perf_counter()
        if label in self.keys:
            self.page.keyboard.press(self.keys[label])
        else:
            self.keys[label] = label  # a class that is named by a digit gets that key
            self.page.keyboard.press("n")
            self.page.keyboard.type(label)
            self.page.keyboard.press("Enter")
        self.page.wait_for_function(
            "(before) => notes.items[before]?.painted",
            arg=before,
            timeout=NEXT_QUESTION_SECONDS * 1e3,
        )
        key, shown = self.page.evaluate("(i) => [notes.keys.at(-1), notes.items[i]]", before)
        if key["item"] != item:
            raise RuntimeError(f"{key['item']} was on the screen when {item} was answered")
        if self.answered:
            last = self.answered[-1]
            changes = before - self._shown
            self.answered[-1] = Answered(last.seconds, last.foreseen, changes)
        self._shown = before
        self.answered.append(Answered((shown["painted"] - key["at"]) / 1e3, key["foreseen"], 1))
        return self.answered[-1]

    def saved(self) -> None:
        """Wait until the page says that everything is saved."""
        self.page.wait_for_function(
            "() => document.getElementById('saved').textContent === '✓ saved'",
            timeout=FIRST_QUESTION_SECONDS * 1e3,
        )
