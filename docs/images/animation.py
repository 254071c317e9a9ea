"""Record the animation of the documentation's front page: ``make picture``. Needs chromium.

A script labels handwritten digits by keyboard, in a real browser, with a real `poise label`, and
takes a screenshot after each step, in light and dark. A line below it says what happens. Every
animation has a still for people who prefer no motion.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, sync_playwright

from poise import load_dataset
from poise.studio.source.reading import read_catalogue

STATIC = Path(__file__).parents[1] / "static"
DATA = "digits"
NAMES = "zero,one,two,three,four,five,six,seven,eight,nine"  # in their order
#: Answers shown one by one, and all answers.
SLOW, ANSWERS = 6, 50
WIDTH, HEIGHT, CAPTION_HEIGHT = 1200, 780, 56
SHOWN_WIDTH = 1000
MOST_BYTES = 1_000_000
#: Then the animation stops, so that it does not disturb for ever.
LOOPS = 3
#: Background and text of the line below the screenshot.
COLOURS = {"light": ("#f4f5f7", "#1f2329"), "dark": ("#0f1115", "#e8eaee")}
NEXT = "item => document.getElementById('stage').dataset.item !== item"
UP_TO_DATE = """() => document.querySelector(".review .row")
  && !document.querySelector(".review .note").textContent"""


@dataclass
class Film:
    """Frames of both schemes, and how long each is shown."""

    page: Page
    milliseconds: list[int] = field(default_factory=list)
    still: int = 0
    frames: dict[str, list[Image.Image]] = field(default_factory=lambda: {"light": [], "dark": []})

    def take(self, caption: str, milliseconds: int) -> None:
        """One frame of each scheme with a caption."""
        self.milliseconds.append(milliseconds)
        for scheme, frames in self.frames.items():
            self.page.emulate_media(color_scheme=scheme)
            time.sleep(0.15)  # the map and the small map draw themselves again
            frames.append(captioned(self.page.screenshot(), caption, scheme))

    def save(self) -> None:
        """The animations, and a still of each."""
        for scheme, frames in self.frames.items():
            path = STATIC / f"app-{scheme}.webp"
            first, *rest = frames
            first.save(
                path,
                save_all=True,
                append_images=rest,
                duration=self.milliseconds,
                loop=LOOPS,
                quality=80,
                method=6,
                minimize_size=True,
            )
            frames[self.still].save(STATIC / f"app-{scheme}-still.webp", quality=80, method=6)
            size = path.stat().st_size
            if size > MOST_BYTES:
                sys.exit(f"animation: {path.name} has {size:,} bytes: expected {MOST_BYTES:,}")


def captioned(screenshot: bytes, caption: str, scheme: str) -> Image.Image:
    """A screenshot with a line of text below it, in the size of the page."""
    ground, ink = COLOURS[scheme]
    whole = Image.new("RGB", (WIDTH, HEIGHT + CAPTION_HEIGHT), ground)
    whole.paste(Image.open(io.BytesIO(screenshot)).convert("RGB"), (0, 0))
    draw = ImageDraw.Draw(whole)
    middle = (WIDTH / 2, HEIGHT + CAPTION_HEIGHT / 2)
    draw.text(middle, caption, fill=ink, font=ImageFont.load_default(24), anchor="mm")
    return whole.resize(
        (SHOWN_WIDTH, round(whole.height * SHOWN_WIDTH / WIDTH)), Image.Resampling.LANCZOS
    )


@contextmanager
def app() -> Iterator[str]:
    """The address of ``poise label`` in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "poise", "label", DATA, "--classes", NAMES, "--no-browser"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = (re.search(r"http://\S+", line) for line in process.stdout)
            yield next(filter(None, found)).group()
        finally:
            process.terminate()
            process.wait()


def answer(page: Page, truth: dict[str, int]) -> None:
    """Press the key of the right class and wait for the next item."""
    item = page.get_attribute("#stage", "data-item")
    assert item is not None
    page.keyboard.press("1234567890"[truth[item]])
    page.wait_for_function(NEXT, arg=item, timeout=120_000)


def record(page: Page, truth: dict[str, int]) -> Film:
    """The story: the first questions one by one, many more, then grid, map, review and export."""
    film = Film(page)
    page.wait_for_selector("#stage[data-item]", timeout=600_000)
    page.get_by_role("button", name="Got it").click()
    time.sleep(1)
    film.take("poise label digits: 1,797 images, no labels", 2000)
    for _ in range(SLOW):
        answer(page, truth)
        time.sleep(0.5)
        film.take("One key for each answer. Every answer changes what is asked next", 650)
    for number in range(SLOW + 1, ANSWERS + 1):
        answer(page, truth)
        if number % 4 == 2:
            time.sleep(0.7)
            film.take("The guess improves, and poise asks where a label helps most", 250)
    time.sleep(3)
    film.still = len(film.milliseconds)
    film.take(f"{ANSWERS} answers, and every image has a class", 1500)
    page.keyboard.press("g")
    page.wait_for_selector("body[data-screen=grid], #grid:not([hidden])", timeout=60_000)
    time.sleep(2)
    film.take("g: twelve similar items, one key for all of them", 2500)
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready=yes]")
    page.get_by_role("radio", name="Prediction").check()
    page.get_by_role("radio", name="Neighbourhoods").check()
    time.sleep(3)
    film.take("m: the map, every item with its predicted class", 3000)
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_function(UP_TO_DATE, timeout=600_000)
    time.sleep(1)
    film.take("v: review, every item with its class and how sure it is", 2500)
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    time.sleep(1.5)
    film.take("e: export as CSV, JSON lines or Parquet", 3000)
    return film


def main() -> None:
    browser_path = shutil.which("chromium")
    if browser_path is None:
        sys.exit("animation: install chromium and put it on the PATH")
    truth = dict(zip(read_catalogue(DATA).ids, load_dataset(DATA).clusters.tolist(), strict=True))
    with app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce"
        )
        page.goto(address)
        film = record(page, truth)
        browser.close()
    film.save()


if __name__ == "__main__":
    main()
