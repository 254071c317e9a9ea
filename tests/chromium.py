"""Chromium for the tests of pages: the app, reports and the documentation."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
)
INSTALL = "as root run: apt-get install chromium"
#: Without a sandbox, for root; and nothing that asks for an address elsewhere.
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing() -> str:
    """What must be installed before a page can be opened; empty if nothing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "needs playwright: install the extra dev"
    return "" if CHROMIUM else f"needs chromium: {INSTALL}"


@contextmanager
def launched() -> Iterator[Any]:
    """Chromium without a window. Without chromium the test is skipped; in CI it fails."""
    lacking = missing()
    if lacking and os.environ.get("POISE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"the tests of the page {lacking}")
    if lacking:
        pytest.skip(lacking)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
