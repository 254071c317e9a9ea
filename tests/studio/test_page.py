"""The real page in a real browser, the real command, real kills."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.studio.catalogue import read_catalogue
from poise.studio.store import EventStore

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
CLASSES = ",".join("0123456789")


@pytest.fixture(scope="module")
def truth():
    """Item id -> digit."""
    data = poise.load_dataset("digits")
    return dict(zip(read_catalogue("digits").ids, data.classes.tolist(), strict=True))


class Server:
    """``poise label digits`` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        start = "from poise.cli.main import main; main()"
        command = [sys.executable, "-c", start, "label", "digits", "--classes", CLASSES]
        self.process = subprocess.Popen(
            [*command, "--no-browser", "--project", str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"http://\S+", line):
                self.address = found.group()
                return
        raise AssertionError("it did not start")

    def end(self, how: int = signal.SIGINT) -> int:
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        code = self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def server(tmp_path):
    started = Server(tmp_path / "digits.poise")
    yield started
    started.end(signal.SIGKILL)


@pytest.fixture
def page(browser):
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.set_default_timeout(15_000)
    problems = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    yield opened
    assert problems == []
    opened.close()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        launched = p.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


def shown(page, other_than=None):
    """The item on the screen, once it is not `other_than` any more."""
    page.wait_for_function(
        "old => { const now = document.getElementById('stage').dataset.item;"
        " return now && now !== old; }",
        arg=other_than,
    )
    return page.evaluate("document.getElementById('stage').dataset.item")


def key(digit):
    return "1234567890"[digit]


def test_digits_from_no_label_by_keyboard(server, page, truth):
    """90% of the rest right within 60 answers, as a person would do it."""
    page.goto(server.address)
    item = None
    for _ in range(60):
        item = shown(page, item)
        page.keyboard.press(key(truth[item]))
    page.wait_for_function("() => document.getElementById('counts').textContent.startsWith('60 ')")
    with page.expect_download() as download:
        page.get_by_text("Export CSV").click()
    rows = [line.split(",") for line in Path(download.value.path()).read_text().splitlines()[1:]]
    rest = [(identity, label) for identity, label, by, *_ in rows if by == "model"]
    assert len(rest) == 1797 - 60
    assert np.mean([int(label) == truth[identity] for identity, label in rest]) > 0.9


def test_undo_skip_unsure_accept_and_a_new_class(server, page, truth):
    page.goto(server.address)
    first = shown(page)
    page.keyboard.press(key(truth[first]))
    second = shown(page, first)
    page.keyboard.press("u")
    assert shown(page, second) == first
    page.keyboard.press("s")
    third = shown(page, first)
    page.keyboard.press("x")
    fourth = shown(page, third)
    page.keyboard.press("n")
    page.locator("#name").fill("<b>not markup</b>")
    page.keyboard.press("Enter")
    fifth = shown(page, fourth)
    assert page.locator(".class .name").last.text_content() == "<b>not markup</b>"
    assert page.locator("#guess b").text_content() == "<b>not markup</b>"
    page.locator("body").press("Enter")
    shown(page, fifth)
    assert page.locator("#counts").text_content().startswith("2 answers")
    assert "saved" in page.locator("#saved").text_content()


def test_coming_back_lands_on_the_same_question(server, page, truth, tmp_path):
    page.goto(server.address)
    item = None
    for _ in range(5):
        item = shown(page, item)
        page.keyboard.press(key(truth[item]))
    open_question = shown(page, item)
    page.reload()
    assert shown(page) == open_question
    assert server.end() in (0, 130)
    again = Server(tmp_path / "digits.poise")
    try:
        page.goto(again.address)
        assert shown(page) == open_question
    finally:
        again.end(signal.SIGKILL)


def test_kill_minus_nine_loses_no_acknowledged_answer(page, truth, tmp_path):
    folder = tmp_path / "digits.poise"
    acknowledged: dict[str, int] = {}
    rng = np.random.default_rng(0)
    for _ in range(3):
        server = Server(folder)
        try:
            page.goto(server.address)
            item = None
            for _ in range(int(rng.integers(2, 6))):
                item = shown(page, item)
                page.keyboard.press(key(truth[item]))
                shown(page, item)  # the next one is shown when the answer is on disk
                acknowledged[item] = truth[item]
        finally:
            server.end(signal.SIGKILL)
        store = EventStore(folder / "events.db")
        labels = [event for event in store.events() if event.kind == "label"]
        store.close()
        written = [event.items[0] for event in labels]
        assert len(set(written)) == len(written), "none twice"
        found = {event.items[0]: int(event.data["label"]) for event in labels}
        assert acknowledged.items() <= found.items()


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_or_overlaps(server, browser, width, scheme):
    opened = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    opened.goto(server.address)
    shown(opened)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [part.bounding_box() for part in opened.locator("main > section").all()]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one["x"] + 1
                or one["y"] + one["height"] <= other["y"] + 1
                or other["y"] + other["height"] <= one["y"] + 1
            )
            assert apart, "parts of the page do not overlap"
    opened.close()
