"""A small demonstration, and a browser to look at pages with."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from poise.experiments.demo.run import Demo, Settings, run_demo

CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def demo() -> Demo:
    """A small run of the demonstration with all its parts, which takes a second or two."""
    return run_demo(Settings(trials=3, budget=25))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, where it and playwright are installed."""
    if CHROMIUM is None:
        pytest.skip("needs chromium on the PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()
