"""Take screenshots of the labelling app: ``make picture``. Needs chromium and fashionmnist.

A script labels correctly by keyboard, in a real browser, with a real `poise label`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from poise.data.datasets import load_dataset
from poise.studio.source.reading import read_catalogue

HERE = Path(__file__).parent
DATA = "fashionmnist"
NAMES = "T-shirt,trousers,pullover,dress,coat,sandal,shirt,sneaker,bag,boot"  # in their order
ANSWERS = 60
#: Rows are shown, and no note says that the predictions are older than the answers.
UP_TO_DATE = """() => document.querySelector(".review .row")
  && !document.querySelector(".review .note").textContent"""
NEXT = "item => document.getElementById('stage').dataset.item !== item"


def main() -> None:
    browser_path = shutil.which("chromium")
    if browser_path is None:
        sys.exit("picture: install chromium and put it on the PATH")
    truth = dict(zip(read_catalogue(DATA).ids, load_dataset(DATA).clusters.tolist(), strict=True))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = ["poise", "label", DATA, "--classes", NAMES, "--no-browser"]
        command[0] = str(Path(sys.executable).with_name("poise"))
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            address = next(
                filter(None, (re.search(r"http://\S+", line) for line in process.stdout))
            )
            browser = playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address.group())
            label(page, truth)
            take(page)
            browser.close()
        finally:
            process.terminate()
            process.wait()


def label(page: Page, truth: dict[str, int]) -> None:
    """Answer correctly except once, so that one label is suspicious."""
    page.wait_for_selector("#stage[data-item]", timeout=600_000)
    page.get_by_role("button", name="Got it").click()
    for number in range(ANSWERS):
        item = page.get_attribute("#stage", "data-item")
        assert item is not None
        wrong = number == ANSWERS // 2
        page.keyboard.press("1234567890"[(truth[item] + 5 * wrong) % 10])
        page.wait_for_function(
            "item => document.getElementById('stage').dataset.item !== item",
            arg=item,
            timeout=120_000,
        )


def take(page: Page) -> None:
    """Take the screenshots once everything is shown and the predictions include all answers."""
    page.keyboard.press("v")
    page.wait_for_function(UP_TO_DATE, timeout=600_000)
    page.keyboard.press("Escape")
    time.sleep(3)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        time.sleep(1)
        name = "studio-label" if scheme == "light" else "studio-label-dark"
        page.screenshot(path=HERE / f"{name}.png")
    page.emulate_media(color_scheme="light")
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready=yes]")
    page.get_by_role("radio", name="Prediction").check()
    time.sleep(3)
    page.screenshot(path=HERE / "studio-map.png")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Suspicious").click()
    page.wait_for_selector(".review .row", timeout=300_000)
    time.sleep(1)
    page.screenshot(path=HERE / "studio-review.png")


if __name__ == "__main__":
    main()
